"""Square clustering: which share of the squares that could be at a vertex are there.

P. G. Lind, M. C. González, H. J. Herrmann, "Cycles and clustering in bipartite networks", Physical Review E 72 (2005).
The squares at a vertex are pairs of ways to the corner opposite, so their number follows from the row of A²: of
a corner that p ways lead to, p(p − 1)/2. Rows of the square are computed in turns, and none is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algebra.mxm import mxm
from hpgraph.algebra.reduce import reduce
from hpgraph.algorithms.triangles import triangles
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.public import matrix_of_csr
from hpgraph.containers.vertex_array import by_vertex
from hpgraph.core.arrays import Array
from hpgraph.core.device import array_module, to_device
from hpgraph.core.suggestions import naming_arguments
from hpgraph.formats import CSR

# Ways of two arcs that a turn looks at, but for a row that has more: the part of the square that they make lies in
# memory at once, in at most 12 bytes for each.
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
    u and w, d being degrees, less 2t and q. Takes time by the ways of two arcs from each vertex.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.square_clustering(hpg.Graph.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 0, 4], directed=False)).round(2).tolist()
    [0.5, 1.0, 0.5, 0.33, 0.0]
    """
    graph = as_graph(G)
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
        most = WAYS + (int(ends[begin - 1]) if begin else 0)
        end = max(begin + 1, int(np.searchsorted(ends, most, "right")))
        squares[begin:end] = _squares(adjacency, rows[begin:end], degree)
        begin = end
    d, t = degree[rows], triangles(graph)[rows]
    possible = (d - 1) * around[rows] - d * (d - 1) - 2 * t - squares
    found = xp.where(possible > 0, squares / xp.maximum(possible, 1), 0.0)
    return by_vertex(found, graph) if chosen is None else found


def _sums_around(adjacency: CSR) -> Any:
    """The degrees of each vertex's neighbours, added up."""
    xp = array_module(adjacency.indices)
    before = xp.zeros(adjacency.nnz + 1, np.int64)
    xp.cumsum(adjacency.degrees[adjacency.indices], out=before[1:])
    return before[adjacency.indptr[1:]] - before[adjacency.indptr[:-1]]


def _squares(adjacency: CSR, rows: Any, degree: Any) -> Any:
    """How many squares there are at some vertices."""
    matrix = matrix_of_csr(adjacency)
    ways = mxm(matrix[rows], matrix, "plus_pair")
    pairs = reduce(ways._with(ways.csr.with_data(ways.csr.data * (ways.csr.data - 1), copy=False)), "sum", 1).toarray()
    # One of the corners is the vertex itself, which as many ways lead back to as it has neighbours.
    own = degree[rows]
    return (pairs - own * (own - 1)) // 2
