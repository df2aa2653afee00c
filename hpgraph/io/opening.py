"""Graphs in ``.hpg`` files as graphs whose topology stays in the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hpgraph.core.device import normalize_device
from hpgraph.io.files import given_path
from hpgraph.io.hpg_reader import GraphFile
from hpgraph.io.memory import Budget

if TYPE_CHECKING:
    from hpgraph.containers.streamed_graph import StreamedGraph


def open(
    path: str | os.PathLike[str],
    device: str | None = None,
    memory: int | str | None = None,
    host_memory: int | str | None = None,
) -> StreamedGraph:
    """Open a graph in an ``.hpg`` file: its topology stays where it is, and is read as algorithms want it.

    Parameters
    ----------
    path : str or os.PathLike
        The file, as `Graph.save` and `hpgraph.convert` write it. It is another one that takes its place later; nobody
        may write into it while it is open.
    device : {"cpu", "cuda"}, optional
        Where to work; on the CPU by default.
    memory : int or str, optional
        Bytes of the device's memory for the topology, or an amount such as ``"4GiB"``: offsets of rows, buffers, pages
        that are kept. What belongs to vertices, and results, come on top.
    host_memory : int or str, optional
        Bytes of main memory for pages.

    Returns
    -------
    StreamedGraph

    Raises
    ------
    FileFormatError
        Where the file is foreign, damaged or cut short. What is wrong in a page is met when the page is read, as a
        `DamagedPageError` that names it.
    BudgetError
        When the memory does not suffice; with what would.
    ValueError, TypeError
        For what is no path, device or amount of memory.

    Examples
    --------
    >>> import pathlib, tempfile, hpgraph as hpg
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "path.hpg"
    >>> hpg.Graph.from_edges([0, 1], [1, 2], directed=False).save(path)
    >>> G = hpg.open(path, memory="64MiB")
    >>> G
    StreamedGraph: 3 vertices, 4 arcs, undirected, no weights, cpu, 1 pages
    >>> hpg.bfs(G, 0).level.tolist()
    [0, 1, 2]
    """
    place: Path = given_path(path)
    if place.suffix.lower() != ".hpg":
        raise ValueError(f"{place}: .hpg files are opened; hpgraph.convert makes one, hpgraph.read reads others whole")
    device = normalize_device("cpu" if device is None else device)
    bytes_there = None if memory is None else Budget.of(memory).nbytes
    bytes_here = None if host_memory is None else Budget.of(host_memory, "host_memory").nbytes
    from hpgraph.containers.names import Names
    from hpgraph.containers.streamed_graph import StreamedGraph

    file = GraphFile(place)
    out, into = file.pages("out"), file.pages("in") if file.header.directed else None
    graph = StreamedGraph(
        out, into, directed=file.header.directed, device=device, memory=bytes_there, host_memory=bytes_here
    )
    if file.named:
        graph._names = Names(file.names)
    return graph
