"""The vertices of largest closeness, without the distances of the others."""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.components import connected_components
from hpgraph.algorithms.vertex_values import vertex_names
from hpgraph.containers.graph import Graph, undirected_only
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.arrays import Array
from hpgraph.core.device import array_module, check_memory, to_device
from hpgraph.core.number import whole
from hpgraph.core.reductions import anywhere
from hpgraph.core.suggestions import naming_arguments
from hpgraph.formats import CSR

# Most levels whose sizes are bounded by numbers of walks: each takes a product of the adjacency matrix.
_LEVELS = 30
# Numbers of walks from which on they are not continued: of the next level they may exceed any float.
_MANY = 1e250
# By how much sums of floats may be too small, in shares of themselves.
_ROUNDING = 1e-9
# Searches between two updates of the least closeness that counts; at first few.
_FIRST, _MAX_BLOCK = 32, 4096


class TopCloseness(NamedTuple):
    """Result of `hpgraph.top_closeness`: vertices by falling closeness, and this."""

    vertices: Array
    closeness: Array


@naming_arguments
def top_closeness(G: Graph | Any, k: int = 10) -> TopCloseness:
    """The k vertices of largest closeness centrality.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        An undirected graph; distances are numbers of arcs.
    k : int
        How many vertices; all where there are fewer.

    Returns
    -------
    TopCloseness
        ``vertices``: names where the graph has names, else indices, on the graph's device; ``closeness``: the values of
        `closeness_centrality`, float64. Of equal ones the smallest index comes first.

    Notes
    -----
    Searches run on the CPU, one a thread; a graph on the GPU is copied to it. Numbers of walks without steps back bound
    the sizes of levels, and so each vertex's closeness; vertices are searched from in the order of these bounds, until
    they fall below the k-th value found, and a search ends once its vertex cannot be among the k. On lattices and roads
    few searches end early.

    References
    ----------
    E. Bergamini, M. Borassi, P. Crescenzi, A. Marino, H. Meyerhenke, "Computing top-k closeness centrality faster in
    unweighted graphs", ACM TKDD 13 (2019).

    Examples
    --------
    >>> found = hpg.top_closeness(hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False), 2)
    >>> found.vertices.tolist(), found.closeness.tolist()
    ([1, 2], [0.75, 0.75])
    """
    # Imported here, since it imports Numba.
    from hpgraph.kernels.traversal.cpu_cut_searches import distance_sums

    graph, arcs = undirected_only(G, "min")
    n = graph.n_vertices
    k = min(whole(k, "k", least=1), n)
    check_memory(64 * n, "bounds of closeness", graph.device)
    label = connected_components(graph).label
    arcs = arcs.without_diagonal().pattern
    xp = array_module(graph.device)
    reached = xp.unique(label, return_inverse=True, return_counts=True)
    reached = reached[2][reached[1].reshape(-1)]
    least = to_device(_least_sums(arcs, reached), "cpu")
    arcs, reached = arcs.to("cpu"), to_device(reached, "cpu")
    # Closeness is this over the sum of distances.
    share = (reached - 1.0) ** 2 / max(n - 1, 1)
    bound = share / np.maximum(least, 1)
    order = np.argsort(-bound, kind="stable")
    found, value = np.empty(0, np.int64), np.empty(0)
    begin, size, lowest = 0, max(k, _FIRST), 0.0
    while begin < n and not bound[order[begin]] < lowest:
        some = order[begin : begin + size]
        limits = share[some] / lowest if lowest > 0 else np.full(len(some), np.inf)
        limits = np.minimum(np.floor(limits * (1 + _ROUNDING)), 1 << 60).astype(np.int64)
        sums = distance_sums(arcs, some, reached[some], limits)
        kept = sums >= 0
        found = np.concatenate([found, some[kept]])
        value = np.concatenate([value, share[some[kept]] / np.maximum(sums[kept], 1)])
        best = np.lexsort([found, -value])[:k]
        found, value = found[best], value[best]
        lowest = value[-1] * (1 - _ROUNDING) if len(value) == k else 0.0
        begin, size = begin + len(some), min(2 * size, _MAX_BLOCK)
    vertices = vertex_names(graph, to_device(found.astype(graph.id_dtype), graph.device))
    return TopCloseness(vertices, to_device(value, graph.device))


def _least_sums(arcs: CSR, reached: Any) -> Any:
    """Lower bounds of the sums of each vertex's distances, from bounds on the number of vertices on its levels.

    No level has more vertices than walks that never step back lead to it: their number is that of the walks to the
    neighbours, a step shorter, but for those that come from the vertex itself.
    """
    xp, degree = array_module(reached), arcs.degrees.astype(np.float64)
    matrix = matrix_of_csr(arcs)
    before, walks = xp.ones(len(degree)), degree
    left = reached - 1.0
    total = xp.zeros(len(degree))
    for level in range(1, _LEVELS + 1):
        met = xp.minimum(walks, left)
        total += level * met
        left -= met
        if not anywhere(left > 0):
            return total
        ahead = matrix @ walks
        back = degree if level == 1 else (degree - 1) * before
        # Rounded up: too many walks make a bound weaker, never wrong.
        following = xp.maximum(ahead * (1 + _ROUNDING) - back, 0.0)
        before, walks = walks, following
        if float(walks.max()) > _MANY:
            break
    return total + (level + 1) * left
