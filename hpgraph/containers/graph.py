"""Graph: its methods put together, and the conversions that algorithms apply to their argument."""

from typing import TYPE_CHECKING, Any

from hpgraph.containers.graph_sets import GraphSets
from hpgraph.containers.vertex_array import by_vertex as by_vertex
from hpgraph.containers.vertex_array import named as named
from hpgraph.containers.vertices import id as id
from hpgraph.core.device import to_device
from hpgraph.core.number import one_of as one_of
from hpgraph.core.number import real as real
from hpgraph.core.number import whole as whole
from hpgraph.core.suggestions import naming_arguments as naming_arguments
from hpgraph.core.suggestions import no_attribute


class Graph(GraphSets):
    """A graph on the CPU or on the GPU.

    Parameters
    ----------
    data : SciPy or CuPy sparse array or matrix, Matrix, tuple of arrays, table, rows, CSR, COO, ELL, HYB or Graph
        A square matrix has the arc i -> j, of that weight, for each stored entry (i, j); a stored zero is an arc too.
        Boolean matrices and patterns make graphs without weights. A tuple is ``(source, target)`` or ``(source, target,
        weight)``, as for `from_edges`. Tables, lists of tuples, and graphs of NetworkX, igraph, networkit,
        python-graphblas and PyTorch Geometric are taken as by `hpgraph.from_edges`. Arrays of two dimensions are not:
        they could be dense matrices, which `scipy.sparse.csr_array` takes, or rows of edges, which `hpgraph.from_edges`
        takes.
    source, target, weight : hashable, optional
        Titles of a table's columns; ``weight=False`` leaves weights out.
    directed : bool, optional
        None determines it on first use: undirected if every arc has its reverse, of the same weight. False makes edges
        undirected: missing reverses are added. True leaves the arcs unchanged.
    names : sequence of hashable values, or bool, optional
        A name for each vertex, which then denotes it everywhere: ``bfs(G, "libc6")``, or ``bfs(G, 1001)`` if names are
        numbers; `hpgraph.id` denotes an index. Names 0, 1, ..., n - 1 in this order are treated as indices. For a table
        or rows, True declares that integers are names, False that they are indices.
    copy : bool, default True
        Whether to copy arrays that the graph could share with `data`: indices and values of a canonical CSR, columns
        and weights of sorted arcs. Copying takes a few percent of the construction time; False saves the memory, but
        such arrays must no longer be written to, or push and pull see different graphs.
    duplicates : {"min", "max", "sum", "first", "keep", "error"}, optional
        Weight of an edge that occurs more than once: the minimum, the maximum, the sum, or the first; "keep" keeps
        parallel edges, "error" raises an error. By default the minimum, with a `DuplicateEdgesWarning` if weights
        differ. With ``directed=False``, (u, v) and (v, u) are one edge, except in a symmetric matrix. For edges without
        weights, "sum" counts occurrences.
    device : str or list of str, optional
        Device of the graph, as for `Graph.to`; by default that of `data`.

    Raises
    ------
    ValueError, IndexError, TypeError
        If a matrix is not square, the numbers of names and vertices differ, or an edge occurs twice and `duplicates` is
        "error"; if an entry is outside the shape of its matrix; if `data` cannot be converted.

    Warns
    -----
    DuplicateEdgesWarning, SparseIdsWarning
        If an edge occurs with different weights, and `duplicates` is not given; if ids in arrays leave nearly all
        indices unused, as for `from_edges`.

    Attributes
    ----------
    n_vertices, n_edges : int
        Number of vertices, and of stored arcs: an undirected edge counts twice, a loop once.
    weighted, dtype : bool, numpy.dtype or None
        Whether arcs have weights, and their type.
    id_dtype : numpy.dtype
        Type of vertex ids: int32 while they fit.
    multigraph : bool
        Whether parallel edges were kept, each as a separate arc. `Graph.simple` merges them.
    device : {"cpu", "cuda"}
        The graph's device; for a graph in pages, the device of vertex data and of computations.
    out_csr : CSR
        The arcs by source: row u holds the targets of u's arcs, ascending, and their weights.

    Notes
    -----
    Graphs are immutable. Layouts are built on first use and cached, by any number of threads. Arrays of the graph
    (`weights`, degrees, `names`) are read-only; on CUDA, which has no read-only arrays, they are copies.

    Examples
    --------
    >>> import scipy.sparse
    >>> hpg.Graph(scipy.sparse.csr_array([[0, 1.5, 0], [0, 0, 2.0], [0, 0, 0]]))
    Graph: 3 vertices, 2 arcs, directed, float64 weights, cpu
    """

    if not TYPE_CHECKING:  # type checkers report missing attributes

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(type(self), name)


def as_graph(obj: Any) -> Graph:
    """A `Graph` from anything that its constructor takes; a graph is returned as it is.

    Examples
    --------
    >>> import numpy
    >>> hpg.as_graph((numpy.array([0, 1]), numpy.array([1, 0]))).directed
    False
    """
    if type(obj) is Graph and obj._index < 0:
        return obj
    return obj.at_hand if isinstance(obj, Graph) else Graph(obj)


def as_simple(obj: Any, weight: str = "min") -> Graph:
    """`as_graph` with parallel edges merged into one of that weight, for algorithms on simple graphs."""
    graph = as_graph(obj)
    return graph.simple(weight) if graph.multigraph else graph


def undirected_only(obj: Any, weight: str) -> tuple[Graph, Any]:
    """`as_simple` of an undirected graph, and its arcs; a directed one is refused."""
    graph = as_simple(obj, weight)
    # Before the test of direction: a graph whose arcs are not in memory raises the more useful error.
    arcs = graph.out_csr
    if graph.directed:
        raise ValueError("G must be undirected: G.undirected takes arcs in both directions")
    return graph, arcs


def vertex_names(graph: Graph, vertices: Any) -> Any:
    """Names of vertices if the graph has names, else indices."""
    return vertices if graph.names is None else graph.names[to_device(vertices, "cpu")]
