"""The vertices of largest closeness, without the distances of the others."""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.components import connected_components
from hpgraph.containers.graph import Graph, naming_arguments, undirected_only, vertex_names, whole
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.config import config
from hpgraph.core.device import Array, anywhere, array_module, check_memory, to_device
from hpgraph.formats import CSR
from hpgraph.kernels.traversal.cpu_cut_searches import NO_LIMIT, bounding_searches, cut_searches

# Maximum number of levels whose sizes are bounded by numbers of walks: each takes a product with the adjacency matrix.
_LEVELS = 30
# Walks are no longer counted beyond this number, since the next level's may overflow.
_MANY = 1e250
# Bound of the relative rounding error of sums of floats.
_ROUNDING = 1e-9
# Replaces a lower bound of 0 on the closeness that counts.
_LEAST = 1e-290
# Number of searches between two updates of the threshold, at first and at most.
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
        Number of vertices; all if there are fewer.

    Returns
    -------
    TopCloseness
        ``vertices``: names if the graph has names, else indices, on the graph's device; ``closeness``: the values of
        `closeness_centrality`, float64. Of equal ones the smallest index comes first.

    Notes
    -----
    Searches run on the CPU, one a thread; a graph on the GPU is copied to it. Numbers of non-backtracking walks bound
    the sizes of levels, and thus each vertex's closeness; searches start in the order of these bounds, until they fall
    below the k-th value found. A search either stops once its vertex cannot be among the k, or uses the sizes of its
    levels to lower the bounds of all other vertices, which pays on lattices and roads: the kind is chosen that visits
    fewer arcs for each vertex ruled out.

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
    graph, arcs = undirected_only(G, "min")
    n = graph.n_vertices
    k = min(whole(k, "k", least=1), n)
    check_memory(64 * n, "bounds of closeness", graph.device)
    label = connected_components(graph).label
    arcs = arcs.without_diagonal().pattern
    xp = array_module(graph.device)
    reached = xp.unique(label, return_inverse=True, return_counts=True)
    reached = reached[2][reached[1].reshape(-1)]
    bound = to_device(_sum_bounds(arcs, reached), "cpu")
    arcs, reached = arcs.to("cpu"), to_device(reached, "cpu").astype(np.int64)
    # Closeness is this over the sum of distances.
    share = (reached - 1.0) ** 2 / max(n - 1, 1)
    bound = share / np.maximum(bound, 1)
    result, value = _largest(arcs, reached, share, bound, k)
    vertices = vertex_names(graph, to_device(result.astype(graph.id_dtype), graph.device))
    return TopCloseness(vertices, to_device(value, graph.device))


def _largest(arcs: CSR, reached: Any, share: Any, bound: Any, k: int) -> tuple[Any, Any]:
    """The k vertices of largest closeness, and their values; lowers the upper `bound`s of all vertices in place."""
    done, vertices, value, lowest = np.zeros(len(bound), np.bool_), np.empty(0, np.int64), np.empty(0), 0.0
    left = np.arange(len(bound))
    # Arcs visited for each vertex ruled out, by bounding searches and by pruned ones: both are tried first.
    first = max(k, config.threads), _FIRST
    cost, size = [0.0, 0.5], list(first)
    while len(left):
        cut = cost[1] < cost[0]
        if cut:
            batch = left[np.argsort(-bound[left], kind="stable")[: size[1]]]
            limits = np.floor(share[batch] / max(lowest, _LEAST) * (1 + _ROUNDING))
            sums, passed = cut_searches(arcs, batch, reached, np.minimum(limits, NO_LIMIT).astype(np.int64))
            done[batch] = True
            batch, sums = batch[sums >= 0], sums[sums >= 0]
        else:
            batch, sums, passed = bounding_searches(arcs, reached, share, bound, done, lowest, size[0])
        vertices, value = np.concatenate([vertices, batch]), np.concatenate([value, share[batch] / np.maximum(sums, 1)])
        best = np.lexsort([vertices, -value])[:k]
        vertices, value = vertices[best], value[best]
        lowest = value[-1] * (1 - _ROUNDING) if len(value) == k else 0.0
        before, left = len(left), left[~done[left] & (bound[left] >= lowest)]
        # The cost of the other kind decays, so that it is tried again.
        cost[cut], cost[not cut] = passed / (before - len(left)), cost[not cut] / 2
        size[cut], size[not cut] = min(2 * size[cut], _MAX_BLOCK), first[not cut]
    return vertices, value


def _sum_bounds(arcs: CSR, reached: Any) -> Any:
    """Lower bounds of each vertex's distance sum: no level has more vertices than there are walks without step back."""
    xp, degree = array_module(reached), arcs.degrees.astype(np.float64)
    matrix = matrix_of_csr(arcs)
    before, walks = xp.ones(len(degree)), degree
    left = reached - 1.0
    total = xp.zeros(len(degree))
    for level in range(1, _LEVELS + 1):
        size = xp.minimum(walks, left)
        total += level * size
        left -= size
        if not anywhere(left > 0):
            return total
        ahead = matrix @ walks
        back = degree if level == 1 else (degree - 1) * before
        # Rounded up: overcounted walks weaken the bound, but it stays valid.
        following = xp.maximum(ahead * (1 + _ROUNDING) - back, 0.0)
        before, walks = walks, following
        if float(walks.max()) > _MANY:
            break
    return total + (level + 1) * left
