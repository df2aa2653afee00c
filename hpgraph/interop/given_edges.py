"""Graphs of edges in any form in which other libraries and Python hold them."""

from collections.abc import Iterable
from typing import Any

from hpgraph.containers.graph import Graph
from hpgraph.containers.networkx_edges import edges_of_networkx, is_networkx
from hpgraph.core.suggestions import naming_arguments
from hpgraph.formats.duplicates import Duplicates, checked_duplicates
from hpgraph.interop.edge_table import edges_of_rows, edges_of_table, is_rows, is_table
from hpgraph.interop.foreign_graphs import edges_of_foreign, library_of
from hpgraph.interop.vertex_ids import numbered_ends


@naming_arguments
def from_edges(
    edges: Any,
    target: Any = None,
    weight: Any = None,
    *,
    source: Any = None,
    directed: bool | None = None,
    n_vertices: int | None = None,
    names: bool | Iterable[Any] | None = None,
    duplicates: Duplicates | None = None,
) -> Graph:
    """A graph of edges in whatever form they come.

    Parameters
    ----------
    edges : table, list of tuples, (m, 2) array, graph of another library, or m sources
        A table has a row for each edge: a data frame of pandas, Polars or cuDF, an Arrow table, a DuckDB relation,
        whatever else has Arrow's PyCapsule interface, or a dict of columns. Rows of a list or an array are
        ``(source, target)`` or ``(source, target, weight)``. Graphs are those of igraph, networkit, NetworkX, PyTorch
        Geometric, and matrices of python-graphblas.
    target, weight : hashable, or arrays or sequences of length m
        Of a table, the titles of its columns; beside m sources, the targets and weights. ``weight=False`` leaves the
        weights of a table or a graph out.
    source : hashable, optional
        Of a table, the title of the column of sources. Columns that are not named are known by their titles, such as
        "source", "src" or "from", or else are the first two, and a third of three.
    directed : bool, optional
        False adds the reverse of each arc. By default as the graph of another library is, else True.
    n_vertices : int, optional
        Number of vertices; ids are then indices. By default one more than the largest.
    names : bool or sequence, optional
        Ids that are text, or no numbers, are always names of vertices. True takes whole numbers for names too, False
        for indices. By default they are indices in m sources and targets; in tables and rows they are names where they
        leave more than half of the indices up to the largest unused, or are negative, as `hpgraph.read` has it.
        A sequence has a name for each index.
    duplicates : {"min", "max", "sum", "first", "error"}, optional
        As for `Graph`: by default an edge given more than once has the least of its weights.

    Returns
    -------
    Graph
        On the CPU, or on the device of arrays of indices. Its `repr` says the first names, where ids became names.

    Raises
    ------
    ValueError
        When a column is not there, or a row has no id or no weight.
    TypeError
        When edges, ids or weights are of no type that fits.
    IndexError, DeviceMemoryError
        As `Graph.from_edges`.
    MissingExtraError
        When a table needs pyarrow, and it is not installed.

    Warns
    -----
    DuplicateEdgesWarning
        When an edge is given with unlike weights, and `duplicates` is left out.
    SparseIdsWarning
        When ids in arrays are taken for indices and fewer than one in fifty of the vertices, of more than 10,000, can
        have an edge.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.from_edges([("ann", "bob"), ("bob", "eve")])
    Graph: 3 vertices, 2 arcs, directed, no weights, cpu, named 'ann', 'bob', 'eve'
    >>> hpg.from_edges({"who": ["a", "b"], "whom": ["b", "c"], "km": [3.5, 1.0]}, source="who", target="whom",
    ...                weight="km", directed=False)
    Graph: 3 vertices, 4 arcs, undirected, float64 weights, cpu, named 'a', 'b', 'c'
    """
    checked_duplicates(duplicates)
    given = edges_given(edges, source, target, weight, names if names is not None else n_vertices)
    if given is None:
        if target is None or source is not None:
            raise TypeError(
                f"no edges are known in {type(edges).__name__}: give a table, a list of tuples, an (m, 2) array, or "
                "sources and targets"
            )
        ends = numbered_ends(edges, target, names=names if isinstance(names, bool) else None)
        given = {"source": ends[0], "target": ends[1], "weight": weight, "names": ends[2]}
    if names is not None and not isinstance(names, bool):
        if given.get("names") is not None:
            raise ValueError("names: the ids are names already; a name for each index is for ids that are indices")
        given["names"] = names
    if n_vertices is not None:
        if given.get("names") is not None and names is None:
            raise ValueError("n_vertices is for ids that are indices, and these are names: leave it out")
        given["n_vertices"] = n_vertices
    if names is False:
        given["names"] = False
    if directed is not None:
        given["directed"] = directed
    return Graph.from_edges(**given, duplicates=duplicates)


def edges_given(data: Any, source: Any, target: Any, weight: Any, names: Any) -> dict[str, Any] | None:
    """What `Graph.from_edges` is to be given for a table, rows, or a graph of another library; None for others."""
    indices, names = names is not None, names if isinstance(names, bool) else None
    if library := library_of(data):
        return edges_of_foreign(data, library, weight)
    if is_networkx(data):
        return edges_of_networkx(data, None if weight is False else weight or "weight")
    if target is not None and source is None and not isinstance(target, str):
        return None
    if is_table(data):
        return edges_of_table(data, source, target, weight, names, indices)
    return edges_of_rows(data, names, indices) if target is None and is_rows(data) else None
