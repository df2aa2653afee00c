"""Graph files by the suffix of their name: `read` and `write`."""

import contextlib
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, as_graph, whole
from hpgraph.core.devices import Devices
from hpgraph.core.errors import FileFormatError, HpgraphError
from hpgraph.core.number import value_type
from hpgraph.formats.duplicates import Duplicates, checked_duplicates
from hpgraph.io.arc_stream import ArcStream, Block, hpg_stream, of_arcs
from hpgraph.io.hpg_reader import read_hpg
from hpgraph.io.hpg_writer import check_compression, write_hpg, write_pages
from hpgraph.io.kinds import EDGE_LISTS, KINDS, kind_of
from hpgraph.io.memory import Budget
from hpgraph.io.remote import here, to_be_written
from hpgraph.io.stream import shortened

# Characters of a parser's message that the error repeats.
_LONGEST_REASON = 300
# Formats that list edges one by one, parallel ones too.
_LISTS = "edge list", "Arrow", "GraphML", "DOT"


def read(
    path: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    comments: str | Sequence[str] | None = ("#", "%"),
    delimiter: str | None = None,
    n_vertices: int | None = None,
    names: bool | None = None,
    dtype: Any = None,
    progress: bool | None = None,
    memory: int | str | None = None,
    device: Any = "cpu",
    duplicates: Duplicates | None = None,
    columns: bool | Sequence[str] | None = None,
) -> Graph:
    r"""Read a graph from a file; the suffix of its name says the format.

    ======================================  ====================================================================
    ``.mtx``                                Matrix Market; entry (i, j) is the arc i - 1 -> j - 1
    ``.el`` ``.wel`` ``.txt`` ``.tsv``      edge list, SNAP's too: a line holds source, target and perhaps a weight,
    ``.csv``                                between blanks, tabs, commas or semicolons; a header line is recognized
    ``.parquet`` ``.arrow`` ``.feather``    table with columns as those of an edge list; needs pyarrow
    ``.graphml``                            GraphML; nodes become names, the attribute weight of edges weights
    ``.dot`` ``.gv``                        DOT, of Graphviz, without subgraphs; as GraphML
    ``.gml`` ``.gexf`` ``.net`` ``.json``   GML, GEXF, Pajek, and JSON node-link, by NetworkX; as GraphML
    ``.gt``                                 graph-tool's; names by the property name or label, the property weight
    ``.graph`` ``.metis``                   METIS
    ``.gr`` ``.col``                        DIMACS: arcs with weights, or edges without
    ``.sg`` ``.wsg``                        the GAP Benchmark Suite's
    ``out.NAME``                            KONECT's, without times; both sides of a bipartite network are vertices
    ``.v`` ``.e``                           LDBC Graphalytics': two files and, perhaps, ``.properties``
    ``.npz``                                sparse array saved by `scipy.sparse.save_npz`, or by `write`
    ``.hpg``                                hpgraph's own, in pages; `hpgraph.open` leaves them in the file
    ======================================  ====================================================================

    Text and GAPBS's files may end in ``.gz`` or ``.zst`` (which needs pyarrow) besides.

    Parameters
    ----------
    path : str or os.PathLike
        The file; "-" for standard input, an edge list, or what a suffix says ("-.mtx"); or a URL: ``https://``, and
        with fsspec ``s3://``, ``gs://``, ``zip://`` and others.
    directed : bool, optional
        Whether (u, v) is an arc u -> v only. By default as the file says: a Matrix Market file whose header says
        ``symmetric`` and an array that is symmetric are undirected, an edge list is directed.
    comments : str, sequence of str or None, optional
        What a comment line of an edge list begins with. In a file of numbers a comment may also end a line.
    delimiter : str, optional
        What stands between the fields of an edge list, one character; a blank means any run of blanks. Found from
        the first lines by default.
    n_vertices : int, optional
        Number of vertices of an edge list whose ids are vertex numbers; 1 + the largest id by default.
    names : bool, optional
        What the ids of an edge list are. False: vertex numbers, taken as they are. True: names, whatever they look
        like. By default ids that are not whole numbers are names; whole numbers are vertex numbers, unless more than
        half of 0 .. largest goes unused: those are names as well. Names are kept as ``Graph.names``, and vertices then
        go by them, numbers too (``bfs(G, 1001)``); text is numbered in order of appearance, numbers in ascending order.
    dtype : dtype, optional
        Of the weights. By default int64 where the file's are whole numbers and float64 otherwise. A file without
        weights makes a graph without weights.
    progress : bool, optional
        Show a progress bar when reading takes longer than a second; as ``hpgraph.config.progress`` says by default.
    memory : int or str, optional
        Bytes that reading may take at its peak, or an amount such as ``"4GiB"``; three quarters of what is free by
        default.
    device : str or list of str, optional
        Where the graph is to lie, as for `Graph.to`.
    duplicates : {"min", "max", "sum", "first", "keep", "error"}, optional
        Which weight an edge has that is given more than once, as for `Graph`. By default the least.
    columns : sequence of str, or bool, optional
        Columns of a table, or data of the edges of GraphML or DOT, to keep as `Graph.edge_columns`, as for
        `from_edges`; True is all. By default those that `write` wrote as columns.

    Raises
    ------
    FileFormatError
        The file is cut short or does not hold what its suffix says; with the line number. Also for a line of more
        than a mebibyte.
    DeviceMemoryError
        What the file holds, or says that it holds, needs more memory than it may take.
    ValueError
        For an unknown suffix or an argument that does not fit the format.
    FileNotFoundError
        There is no such file.

    Warns
    -----
    DuplicateEdgesWarning
        When an edge is given with unlike weights, and `duplicates` is left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "roads.csv"
    >>> _ = path.write_text("from,to,km\nBonn,Mainz,170\nMainz,Trier,160\n")
    >>> G = hpg.read(path, directed=False)
    >>> G.n_vertices, G.n_edges, G.names.tolist()
    (3, 4, ['Bonn', 'Mainz', 'Trier'])
    """
    device, duplicates = Devices.of(device), checked_duplicates(duplicates)
    weight_dtype = _weight_dtype(dtype)
    budget = Budget.of(memory)
    with here(path) as place:
        kind = kind_of(place)
        if columns is not None and kind not in ("Arrow", "GraphML", "DOT"):
            raise ValueError(f"columns is for tables, GraphML and DOT; {place} needs none: leave it out")
        if kind == "hpg":
            return _of_hpg(place, directed, weight_dtype, budget, duplicates).to(device)
        more = _more(kind, place, comments, delimiter, n_vertices, names)
        if columns is not None:
            more["columns"] = () if columns is False else [columns] if isinstance(columns, str) else columns
        with _errors_named(place, kind):
            arcs = KINDS[kind].read(place, progress, budget, **more)
        budget.check(16 * (arcs.n_vertices + 1), f"a graph of {arcs.n_vertices} vertices, as {place} says,")
        weight = arcs.weight if weight_dtype is None else _cast(arcs.weight, weight_dtype, place)
    graph = arcs.graph(weight, arcs.directed if directed is None else bool(directed), duplicates)
    return graph.to(device)


def stream(
    place: Path, progress: bool | None, budget: Budget, comments: str | Sequence[str] | None, delimiter: str | None,
    n_vertices: int | None, names: bool | None,
) -> ArcStream:  # fmt: skip
    """The arcs of a file some at a time, where its format allows it; parameters are those of `read`."""
    kind = kind_of(place)
    more = _more(kind, place, comments, delimiter, n_vertices, names)
    with _errors_named(place, kind):
        if kind == "hpg":
            arcs = hpg_stream(place)
        elif (batches := KINDS[kind].stream) is not None:
            arcs = batches(place, progress, budget, **more)
        else:
            arcs = of_arcs(KINDS[kind].read(place, progress, budget))

    def blocks() -> Iterator[Block]:
        with _errors_named(place, kind):
            yield from arcs.blocks()

    return replace(arcs, blocks=blocks)


@contextlib.contextmanager
def _errors_named(place: Path, kind: str) -> Iterator[None]:
    """Turn a parser's errors for a damaged file into one that names it; errors of the library and of arguments pass."""
    try:
        yield
    except HpgraphError:
        raise
    except (ValueError, LookupError, ArithmeticError, EOFError, RecursionError, struct.error, zlib.error) as error:
        if type(error) is ValueError and str(place) in str(error):
            raise
        reason = f"it cannot be read as {kind} ({type(error).__name__}: {shortened(str(error), _LONGEST_REASON)})"
        raise FileFormatError(place, reason) from error


def _more(
    kind: str, place: Path, comments: str | Sequence[str] | None, delimiter: str | None, n_vertices: int | None,
    names: bool | None,
) -> dict[str, Any]:  # fmt: skip
    """Further arguments of a reader, checked: all for edge lists, those about vertices for tables."""
    if n_vertices is not None:
        n_vertices = whole(n_vertices, "n_vertices", "a whole number or None", least=0)
    if kind == "edge list":
        marks = _marks(comments)
        mark = _delimiter(delimiter, marks)
        return {"comments": marks, "delimiter": mark, "n_vertices": n_vertices, "names": names}
    _only_for_edge_lists(place, delimiter=delimiter)
    if kind == "Arrow":
        return {"n_vertices": n_vertices, "names": names}
    _only_for_edge_lists(place, n_vertices=n_vertices, names=names)
    return {}


def _of_hpg(
    path: Path, directed: bool | None, weight_dtype: np.dtype[Any] | None, budget: Budget, duplicates: Duplicates | None
) -> Graph:
    """The graph of an ``.hpg`` file, taken for directed or not, and with weights of a type, as asked."""
    with _errors_named(path, "hpg"):
        graph = read_hpg(path, budget)
    csr, names = graph.out_csr, graph._names
    if weight_dtype is not None and csr.data is not None and csr.dtype != weight_dtype:
        csr = csr.with_data(_cast(csr.data, weight_dtype, path), copy=False)
        columns, graph = graph._columns_held, Graph._from_csr(csr, graph.directed, names)
        graph._columns_held = columns
    if directed is None or bool(directed) == graph.directed:
        return graph
    return Graph(graph, directed=bool(directed), duplicates=duplicates)


def write(graph: Any, path: str | os.PathLike[str], *, compression: str | None = None) -> None:
    """Write a graph to a file that `read` turns back into the same graph; the suffix of its name says the format.

    The file is there whole or not at all: one that stood there before stays until the new one is complete.

    Parameters
    ----------
    graph : Graph, or anything `hpgraph.as_graph` takes
        The graph; from the GPU it is copied to the CPU first. A graph in pages is written page by page as ``.hpg``,
        into the file that it was opened from if that is `path`; other formats want it in memory.
    path : str or os.PathLike
        Where to, a URL that fsspec writes to included; the suffixes are those of `read`. ``.npz`` and ``.hpg`` keep
        everything. Tables keep the columns of edges, GraphML and DOT those of vertices too, others none. ``.mtx``,
        ``.graph``, ``.gr``, ``.col`` and ``.sg`` keep no names. An edge list, or a table, of a graph with names leaves
        out vertices without an edge, and `read` numbers the others anew. ``.wel`` and ``.wsg`` want weights. Names keep
        their type, and those of several types, or of others than text and numbers, are refused; so is what a format
        cannot hold.
    compression : {"gaps", "none"}, optional
        How ``.hpg`` stores ids: as gaps between them, half or a quarter of the size, or as they are. Gaps by default,
        if there are fewer than 2³¹ vertices.

    Raises
    ------
    ValueError
        For an unknown suffix, names that the format cannot hold, or a compression that it has not.
    OSError
        Where it cannot be written; nothing has changed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "path.el"
    >>> hpg.io.write(hpg.Graph.from_edges([0, 1], [1, 2]), path)
    >>> print(path.read_text(), end="")
    # hpgraph: 3 vertices, 2 edges, directed
    0 1
    1 2
    """
    with to_be_written(path) as place:
        kind = kind_of(place)
        if kind == "hpg":
            whole: Any = as_graph(graph)
            checked = check_compression(compression, whole.n_vertices)
            if whole.in_pages:
                write_pages(whole, place, compression=checked)
            else:
                write_hpg(whole.to("cpu"), place, compression=checked)
            return
        if compression is not None:
            raise ValueError(f"compression is for .hpg files; {place} needs none: leave it out")
        whole = as_graph(graph).to("cpu")
        if kind not in _LISTS:
            whole.require_simple(f"{place}, which is no list of edges,")
        KINDS[kind].write(whole, place)


def _weight_dtype(dtype: Any) -> np.dtype[Any] | None:
    if dtype is None:
        return None
    chosen = value_type(dtype)
    if chosen.kind not in "biuf":
        raise TypeError(f"dtype must be boolean, integer or floating, not {chosen}")
    return chosen


def _cast(weight: Any, dtype: np.dtype[Any], path: Path) -> Any:
    if weight is None or weight.dtype == dtype:
        return weight
    with np.errstate(invalid="ignore", over="ignore"):
        cast = weight.astype(dtype)
        wrong = np.flatnonzero(cast != weight) if dtype.kind in "biu" else np.empty(0, np.intp)
    if wrong.size:
        raise ValueError(
            f"dtype={dtype} cannot hold the weight {weight[wrong[0]]} of {path}; dtype=None finds one that can"
        )
    return cast


def _marks(comments: str | Sequence[str] | None) -> tuple[str, ...]:
    marks = (comments,) if isinstance(comments, str) else tuple(comments or ())
    if not all(isinstance(mark, str) and mark.strip() for mark in marks):
        raise ValueError(f"comments must be strings that a comment line begins with, or None, not {comments!r}")
    return marks


def _delimiter(delimiter: str | None, comments: tuple[str, ...]) -> str | None:
    if delimiter is None:
        return None
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n"' or delimiter in comments:
        raise ValueError(
            f"delimiter must be one character that is no quote, line end or comment mark, or None, not {delimiter!r}"
        )
    return delimiter


def _only_for_edge_lists(path: Path, **arguments: object) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{name} is for edge lists ({', '.join(EDGE_LISTS)}); {path} needs none: leave it out")
