"""Clustering coefficients: the share of the pairs of a vertex's neighbours that are joined.

D. J. Watts, S. H. Strogatz, "Collective dynamics of 'small-world' networks", Nature 393 (1998). Triangles of an
undirected graph are counted by the kernels of `hpgraph.triangles`. With directions or weights it is the diagonal of a
cube: of the square only the places are computed at which the matrix itself has entries (a product under a mask), and
each row is then summed against it.

Squares at a vertex (P. G. Lind, M. C. González, H. J. Herrmann, "Cycles and clustering in bipartite networks", Physical
Review E 72, 2005) are pairs of ways to the corner opposite, so their number follows from the row of A²: of a corner
that p ways lead to, p(p − 1)/2. Rows of the square are computed in turns, and none is kept.
"""

from typing import Any

import numpy as np

from hpgraph.algebra.elementwise import ewise_add, ewise_mult
from hpgraph.algebra.mxm import mxm
from hpgraph.algebra.reduce import reduce
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.out_strength import least_and_largest
from hpgraph.algorithms.triangles import triangle_count, triangles
from hpgraph.containers.graph import Graph, as_simple, by_vertex, naming_arguments, one_of
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import Array, array_module, prefix_sum, to_device
from hpgraph.formats import CSR

FORMS = ("networkx", "ldbc")


@naming_arguments
def clustering(
    G: Graph | Any, vertices: Any = None, *, weight: str | bool | None = None, form: str = "networkx"
) -> Array:
    """The local clustering coefficient: the share of the pairs of a vertex's neighbours that are adjacent.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Loops are ignored.
    vertices : sequence of vertices, names or hpgraph.id, optional
        Vertices to compute it for; by default all.
    weight : None, bool or str
        Whether a triangle counts the cube root of the product of its weights, over the largest weight of the graph
        (Onnela et al.), rather than 1; as for `hpgraph.pagerank`.
    form : {"networkx", "ldbc"}
        Definition for directed graphs. "networkx" is Fagiolo's coefficient: triangles in all directions over the number
        possible with the vertex's arcs. "ldbc" is that of LDBC Graphalytics: arcs between distinct neighbours, in
        either direction, over k(k − 1) for k neighbours. In undirected graphs both are equal.

    Returns
    -------
    float64 array of shape (n,), or (k,) where `vertices` is given
        By index, or in the order given; on the graph's device. 0 for a vertex of fewer than two neighbours.

    Notes
    -----
    Unweighted and undirected it costs as much as `triangles`; otherwise about four numbers an arc beside the graph.

    References
    ----------
    G. Fagiolo, "Clustering in complex directed networks", Physical Review E 76 (2007). J.-P. Onnela et al., "Intensity
    and coherence of motifs in weighted complex networks", Physical Review E 71 (2005). A. Iosup et al., "LDBC
    Graphalytics", VLDB'16.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)
    >>> hpg.clustering(G).round(2).tolist()
    [1.0, 1.0, 0.33, 0.0]
    """
    graph, weighted = with_weights(G, weight)
    one_of(form, "form", FORMS)
    if form == "ldbc" and weighted:
        raise ValueError('form="ldbc" has no weights: use weight=None, or form="networkx"')
    if graph.directed and form == "ldbc":
        coefficients = _ldbc(graph)
    elif graph.directed or weighted:
        coefficients = _by_cubes(graph, weighted)
    else:
        degree = _neighbours(graph)
        coefficients = _ratio(2 * triangles(graph), degree * (degree - 1))
    return (
        by_vertex(coefficients, graph)
        if vertices is None
        else coefficients[to_device(graph.indices_of(vertices), graph.device)]
    )


@naming_arguments
def average_clustering(
    G: Graph | Any,
    vertices: Any = None,
    *,
    weight: str | bool | None = None,
    count_zeros: bool = True,
    form: str = "networkx",
) -> float:
    """The mean of the local clustering coefficients.

    Parameters
    ----------
    G, vertices, weight, form
        As for `clustering`.
    count_zeros : bool
        Whether coefficients that are 0 count.

    Returns
    -------
    float
        NaN for the mean of no values, for which NetworkX raises an error.

    Examples
    --------
    >>> hpg.average_clustering(hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False))
    1.0
    """
    coefficients = clustering(G, vertices, weight=weight, form=form)
    if not count_zeros:
        coefficients = coefficients[coefficients != 0]
    return float(coefficients.mean()) if len(coefficients) else float("nan")


@naming_arguments
def transitivity(G: Graph | Any) -> float:
    """The share of all pairs of edges with a vertex in common whose other ends are joined: 3 × triangles / pairs.

    Directions, loops and weights make no difference.

    Returns
    -------
    float
        0 where there are no triangles.

    Examples
    --------
    >>> hpg.transitivity(hpg.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    0.6
    """
    graph = as_simple(G)
    closed = 3 * triangle_count(graph)
    degree = _neighbours(graph)
    return closed / (int((degree * (degree - 1)).sum()) // 2) if closed else 0.0


def _neighbours(graph: Graph) -> Any:
    """Number of distinct neighbours of each vertex in either direction, without itself."""
    plain = graph.undirected
    return plain.out_degree - plain.loops()


def _ratio(numerator: Any, denominator: Any) -> Any:
    """Quotients, 0 where the denominator is 0."""
    xp = array_module(numerator)
    return xp.where(numerator == 0, 0.0, numerator / xp.maximum(denominator, 1))


def _by_cubes(graph: Graph, weighted: bool) -> Any:
    """Triangles in all directions, by the symmetric matrix S = X + Xᵀ of the arcs' values X: the diagonal of S³."""
    xp, arcs = array_module(graph.device), graph.out_csr.without_diagonal()
    values = xp.ones(arcs.nnz)
    if weighted:
        smallest, largest = least_and_largest(graph.out_csr) if graph.n_edges else (1.0, 1.0)
        if not (0 < largest < np.inf and smallest > -np.inf):
            unfit = smallest if smallest == -np.inf else largest
            raise ValueError(f"weights must be finite, and the largest positive, not {unfit}; or weight=None")
        values = xp.cbrt(arcs.data.astype(np.float64) / largest)
    one_way = matrix_of_csr(arcs.with_data(values))
    both = ewise_add(one_way, one_way.T, "plus") if graph.directed else one_way
    # A symmetric matrix equals its transpose; passing it as such avoids a transposition.
    walks = _row_sums(ewise_mult(mxm(both, both.T, mask=both.structure), both, "times"))
    neighbours = both.csr.degrees
    if not graph.directed:
        return _ratio(walks, neighbours * (neighbours - 1))
    degree = arcs.degrees + one_way.T.csr.degrees
    return _ratio(walks, 2 * (degree * (degree - 1) - 2 * (degree - neighbours)))


def _ldbc(graph: Graph) -> Any:
    neighbours = matrix_of_csr(graph.undirected.out_csr.without_diagonal()).structure
    transposed = matrix_of_csr(graph.in_csr.without_diagonal()).structure
    # For a vertex and a neighbour: the number of the vertex's other neighbours with an arc to that one.
    arcs = _row_sums(mxm(neighbours, transposed.T, "plus_pair", mask=neighbours))
    degree = neighbours.csr.degrees
    return _ratio(arcs, degree * (degree - 1))


def _row_sums(matrix: Any) -> Any:
    return reduce(matrix, "sum", 1).toarray()


# Paths of two arcs in a block of rows (a single row may have more): the block of the square takes at most 12 bytes
# for each of them.
WAYS = 1 << 24


@naming_arguments
def square_clustering(G: Graph | Any, vertices: Any = None) -> Array:
    """The share of possible squares at each vertex that exist.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Directions, loops and weights make no difference.
    vertices : sequence of vertices, names or hpgraph.id, optional
        Vertices to compute it for; by default all.

    Returns
    -------
    float64 array of shape (n,), or (k,) where `vertices` is given
        By index, or in the order given; on the graph's device.

    Notes
    -----
    With q squares at a vertex, and t triangles, it is q over the sum of d(u) + d(w) − 2 over pairs of its neighbours
    u and w, d being degrees, less 2t and q. The time is proportional to the number of paths of two arcs.

    Examples
    --------
    >>> hpg.square_clustering(hpg.Graph.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 0, 4], directed=False)).round(2).tolist()
    [0.5, 1.0, 0.5, 0.33, 0.0]
    """
    graph = as_simple(G)
    adjacency = graph.undirected.out_csr.with_data(None).without_diagonal()
    xp = array_module(graph.device)
    chosen = None if vertices is None else to_device(graph.indices_of(vertices), graph.device)
    rows = xp.arange(graph.n_vertices) if chosen is None else chosen
    if not len(rows) or not adjacency.nnz:
        return by_vertex(xp.zeros(len(rows)), graph) if chosen is None else xp.zeros(len(rows))
    degree, around = adjacency.degrees, _sums_around(adjacency)
    squares = xp.empty(len(rows), np.int64)
    ends = to_device(xp.cumsum(around[rows]), "cpu")
    begin = 0
    while begin < len(rows):
        max_ways = WAYS + (int(ends[begin - 1]) if begin else 0)
        end = max(begin + 1, int(np.searchsorted(ends, max_ways, "right")))
        squares[begin:end] = _squares(adjacency, rows[begin:end], degree)
        begin = end
    d, t = degree[rows], triangles(graph)[rows]
    possible = (d - 1) * around[rows] - d * (d - 1) - 2 * t - squares
    coefficients = xp.where(possible > 0, squares / xp.maximum(possible, 1), 0.0)
    return by_vertex(coefficients, graph) if chosen is None else coefficients


def _sums_around(adjacency: CSR) -> Any:
    """Sum of the degrees of each vertex's neighbours."""
    before = prefix_sum(adjacency.degrees[adjacency.indices])
    return before[adjacency.indptr[1:]] - before[adjacency.indptr[:-1]]


def _squares(adjacency: CSR, rows: Any, degree: Any) -> Any:
    """Number of squares at each of some vertices."""
    matrix = matrix_of_csr(adjacency)
    ways = mxm(matrix[rows], matrix, "plus_pair")
    pairs = reduce(ways._with(ways.csr.with_data(ways.csr.data * (ways.csr.data - 1), copy=False)), "sum", 1).toarray()
    # The row includes the vertex itself as opposite corner, with as many paths as it has neighbours.
    degrees = degree[rows]
    return (pairs - degrees * (degrees - 1)) // 2
