"""Graphs in ``.hpg`` files as graphs whose topology stays in the file."""

import os
from pathlib import Path
from typing import Any, cast, overload

from hpgraph.containers.divided_graph import DividedGraph, divide
from hpgraph.containers.divided_streamed_graph import DividedStreamedGraph
from hpgraph.containers.names import Names
from hpgraph.containers.streamed_graph import StreamedGraph, plain_bytes
from hpgraph.core.device import free_memory
from hpgraph.core.devices import Devices, require_current
from hpgraph.formats import Pages
from hpgraph.io.hpg_reader import GraphFile
from hpgraph.io.memory import Budget
from hpgraph.io.remote import given_path


@overload
def open(
    path: str | os.PathLike[str], device: None = None, memory: int | str | None = None,
    host_memory: int | str | None = None,
) -> StreamedGraph: ...  # fmt: skip


@overload
def open(
    path: str | os.PathLike[str], device: Any, memory: int | str | None = None, host_memory: int | str | None = None
) -> Any: ...


def open(
    path: str | os.PathLike[str],
    device: Any = None,
    memory: int | str | None = None,
    host_memory: int | str | None = None,
) -> StreamedGraph | DividedGraph:
    """Open a graph in an ``.hpg`` file: its topology stays in the file, and is read as algorithms need it.

    Parameters
    ----------
    path : str or os.PathLike
        The file, as `Graph.save` and `hpgraph.convert` write it. These replace a file rather than overwrite it; it must
        not be modified while it is open.
    device : str or list of str, optional
        Where to work; on the CPU by default. Of several GPUs each gets a part of the graph. If three times its plain
        arcs fit the `memory` of each, it is a `DividedGraph`. Of a larger one each streams the pages of its own
        vertices: a `DividedStreamedGraph`.
    memory : int or str, optional
        Bytes of the device's memory for the topology, or an amount such as ``"4GiB"``: offsets of rows, buffers, pages
        that are kept. What belongs to vertices, and results, come on top. Of several GPUs it is that of each; where the
        arcs lie there, what belongs to vertices counts too (`DividedGraph.memory`).
    host_memory : int or str, optional
        Bytes of main memory for pages. With a GPU 0 keeps none there: they are read from the file each time.

    Returns
    -------
    StreamedGraph, DividedGraph or DividedStreamedGraph

    Raises
    ------
    FileFormatError
        If the file has another format, is damaged or truncated. Damage in a page is found when the page is read, and
        raises a `DamagedPageError` that names it.
    BudgetError
        When the memory does not suffice; with what would.
    ValueError, TypeError
        For what is no path, device or amount of memory.

    Examples
    --------
    >>> import pathlib, tempfile
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
    wanted = Devices.of("cpu" if device is None else device)
    if len(wanted) == 1 and wanted.indices:
        require_current(wanted.indices[0], "the device to work on")
    bytes_there = None if memory is None else Budget.of(memory).nbytes
    bytes_here = None if host_memory is None else Budget.of(host_memory, "host_memory", 0).nbytes
    file = GraphFile(place)
    options: dict[str, Any] = {"memory": bytes_there, "host_memory": bytes_here}
    if len(wanted) == 1:
        return in_pages(file, StreamedGraph, device=wanted.kind, **options)
    graph = in_pages(file, StreamedGraph)
    if _fits_divided(graph, wanted, bytes_there):
        return divide(graph.in_memory(), wanted, memory=bytes_there)
    return in_pages(file, DividedStreamedGraph, devices=wanted, **options)


def in_pages(file: GraphFile, kind: type[StreamedGraph], **options: Any) -> StreamedGraph:
    """The graph in the pages of a file, with its names."""
    file.require_simple("a graph in pages")
    directed = file.header.directed
    graph = kind(file.pages("out"), file.pages("in") if directed else None, directed=directed, **options)
    graph._names = Names(file.names) if file.named else None
    return graph


# Properties and messages of a search, its lists and bits, as multi_gpu.bytes_of_vertex counts them; two sides' offsets.
BYTES_OF_VERTEX = 64


def _fits_divided(graph: StreamedGraph, devices: Devices, memory: int | None) -> bool:
    """Whether each GPU has room for its part, three times its arcs as on one, and for the data of all vertices."""
    if memory is None:
        with next(iter(devices)).here:
            memory = free_memory(devices.kind) // 2
    arcs = plain_bytes(cast(Pages, graph.pages(False)), graph.directed)
    return 3 * arcs / len(devices) + BYTES_OF_VERTEX * graph.n_vertices <= memory
