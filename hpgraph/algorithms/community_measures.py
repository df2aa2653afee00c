"""How far communities are apart, how short they make the description of a walk, and how two partitions agree."""

from typing import Any

import numpy as np

from hpgraph.algorithms.communities import as_labels, checked, counts_of_two
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.pagerank import pagerank
from hpgraph.containers.graph import Graph, naming_arguments
from hpgraph.core.device import Array, array_module, device_of
from hpgraph.formats import occurrences
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.communities.level import Level, level_of, loops_of, summed_by


@naming_arguments
def conductance(G: Graph | Any, communities: Any, weight: Any = "weight") -> Array:
    """The conductance of each community: the weight that leaves it, as a share of what it has or what the rest has.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    communities : Communities, integer array of length n, dict, or list of collections of vertices
        As for `hpgraph.modularity`.
    weight : None, bool or str
        As for `hpgraph.louvain`.

    Returns
    -------
    float64 array of length c
        In the order of the labels, or of the list: 0 for communities without arcs to others, 1 for those without any
        inside, NaN where a community or the rest has no arcs. NetworkX's `conductance` of each; in directed graphs arcs
        in both directions leave, and only those from a vertex are its own.

    References
    ----------
    J. Yang, J. Leskovec, "Defining and evaluating network communities based on ground-truth", Knowledge and Information
    Systems 42 (2015).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], directed=False)
    >>> hpg.conductance(G, [{0, 1, 2}, {3, 4}]).round(3).tolist()
    [0.333, 0.333]
    """
    graph, level, _ = checked(G, weight, 1.0, positive=False)
    label = as_labels(graph, communities)[1]
    cut, volume, _ = _cuts(level, label)
    smaller_volume = array_module(cut).minimum(volume, level.total - volume)
    with np.errstate(divide="ignore", invalid="ignore"):
        return cut / array_module(cut).where(smaller_volume > 0, smaller_volume, np.nan)


@naming_arguments
def silhouette(G: Graph | Any, communities: Any, weight: Any = "weight") -> Array:
    """The silhouette of each community: how much nearer its vertices are to it than to the nearest other one.

    Parameters
    ----------
    G, communities, weight
        As for `conductance`. Two vertices are as near as the arcs between them weigh, in either direction.

    Returns
    -------
    float64 array of length c
        In the order of the labels, or of the list: the mean of ``(a - b) / max(a, b)`` over the vertices of each, where
        a vertex has a mean weight of `a` to the others of its community, and of `b`, the largest there is, to those of
        another one. 1 where no arc leaves and -1 where none is inside; a vertex alone, or without arcs, counts as 0.

    References
    ----------
    P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster analysis", Journal
    of Computational and Applied Mathematics 20 (1987), section 2, of similarities.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], directed=False)
    >>> hpg.silhouette(G, [{0, 1, 2}, {3, 4}]).round(3).tolist()
    [0.833, 0.833]
    """
    graph, level, _ = checked(G, weight, 1.0, positive=False)
    count, label = as_labels(graph, communities)
    xp, n, row = array_module(label), graph.n_vertices, level.arcs.expand_rows()
    apart = xp.flatnonzero(row != level.arcs.indices)
    # The weight from each vertex to each community, by a key for the two.
    key, number = xp.unique(row[apart] * np.int64(count) + label[level.arcs.indices[apart]], return_inverse=True)
    weights = xp.ones(len(apart), np.int64) if level.arcs.data is None else level.arcs.data[apart]
    vertex, community, size = key // max(count, 1), key % max(count, 1), occurrences(label, count)
    in_own = community == label[vertex]
    mean = summed_by(number.reshape(-1), weights, len(key)) / xp.maximum(size[community] - in_own, 1)
    inside, outside = xp.zeros(n), xp.zeros(n)
    inside[vertex[in_own]] = mean[in_own]
    # The last of a vertex's is its largest.
    order = xp.lexsort(xp.stack((mean[~in_own], vertex[~in_own].astype(np.float64))))
    vertex, mean = vertex[~in_own][order], mean[~in_own][order]
    last = xp.flatnonzero(xp.diff(vertex, append=n))
    outside[vertex[last]] = mean[last]
    larger = xp.maximum(inside, outside)
    score = xp.where((larger > 0) & (size[label] > 1), (inside - outside) / xp.where(larger > 0, larger, 1), 0)
    return occurrences(label, count, score) / size


@naming_arguments
def map_equation(G: Graph | Any, communities: Any, weight: Any = "weight", *, damping: float = 0.85) -> float:
    """The map equation: bits a step for which communities describe a random walk, in a code of two levels.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one the walk jumps to the source of a random arc with a probability of 1 - `damping`,
        or where no arc leaves; only its steps along arcs are described.
    communities, weight
        As for `conductance`.
    damping : float, in [0, 1]
        Of directed graphs, the probability of following an arc.

    Returns
    -------
    float
        The fewer, the better they hold a walk. For a single community the entropy of the visits of the vertices; NaN
        where there is no edge.

    References
    ----------
    M. Rosvall, C. T. Bergstrom, "Maps of random walks on complex networks reveal community structure", PNAS 105 (2008).
    R. Lambiotte, M. Rosvall, "Ranking and clustering of nodes in networks with smart teleportation", Physical Review E
    85 (2012).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> round(hpg.map_equation(G, [0, 0, 0, 1, 1, 1]), 4), round(hpg.map_equation(G, [0] * 6), 4)
    (2.3207, 2.5567)
    """
    graph, level, walk = walk_of(G, weight, damping)
    label = as_labels(graph, communities)[1]
    if level.total == 0:
        return float("nan")
    return code_length(walk, label) + visit_entropy(walk)


def walk_of(G: Any, weight: Any, damping: float) -> tuple[Graph, Level, Level]:
    """The graph, its level, and that whose arcs weigh what a random walk carries along them."""
    graph, weighted = with_weights(G, weight, parallel="sum")
    graph, level, _ = checked(graph, weighted, 1.0, positive=False)
    if level.total == 0:
        return graph, level, level._replace(flow=True)
    if not graph.directed:
        # A walk has one step along a loop, which modularity counts at both of its ends.
        at, data = loops_of(graph.out_csr), level.arcs.data
        loops = summed_by(level.arcs.indices[at], None if data is None else data[at], len(level.sent))
        steps = level.sent - loops
        return graph, level, level._replace(sent=steps, received=steps, total=int(steps.sum()), flow=True)
    arcs, sent = graph.out_csr if weighted else graph.out_csr.pattern, level.sent.astype(np.float64)
    rank = pagerank(graph, damping=damping, tol=1e-13, max_iteration=1000, personalization=sent, weight=weighted).rank
    flow = (rank / array_module(sent).where(sent > 0, sent, 1.0))[arcs.expand_rows()]
    walk = level_of(arcs.with_data(flow if arcs.data is None else flow * arcs.data), True, True)
    return graph, level, walk._replace(flow=True)


def code_length(level: Level, label: Any) -> float:
    """The map equation less the entropy of the visits of all vertices, which no communities change."""
    cut, sent, received = _cuts(level, label)
    across = (cut if level.directed else 2 * cut) / 2
    net = (sent - received) / 2
    leaving, entering = (across + net) / level.total, (across - net) / level.total
    return (
        _information(entering.sum()[None]) - _information(entering) - _information(leaving)
        + _information(leaving + received / level.total)
    )  # fmt: skip


def visit_entropy(walk: Level) -> float:
    """Bits a step of the walk, where its vertices are not divided."""
    return -_information(walk.received / walk.total)


def _cuts(level: Level, label: Any) -> tuple[Any, Any, Any]:
    """The weight of the arcs between each community and the rest, from its vertices, and to them."""
    coarse = kernels(device_of(label)).aggregate_communities(level, label.astype(level.arcs.indices.dtype))[0]
    return summed_by(coarse.arcs.expand_rows(), coarse.arcs.data, len(coarse.sent)), coarse.sent, coarse.received


def _information(share: Any) -> float:
    """The sum of ``p log2 p``."""
    xp = array_module(share)
    return float((share * xp.log2(xp.where(share > 0, share, 1))).sum())


@naming_arguments
def adjusted_rand_index(first: Any, second: Any) -> float:
    """The adjusted Rand index of two partitions of the same vertices: 1 if equal, about 0 if independent.

    Parameters
    ----------
    first, second : Communities or integer array of length n
        A label for each vertex; which labels does not matter.

    Returns
    -------
    float
        The pairs that are together in both, less those that chance would put there, as a share of the most there may
        be: scikit-learn's adjusted_rand_score. 1 where both have one community, or n.

    References
    ----------
    L. Hubert, P. Arabie, "Comparing partitions", Journal of Classification 2 (1985).

    Examples
    --------
    >>> hpg.adjusted_rand_index([0, 0, 1, 1], [5, 5, 2, 2])
    1.0
    >>> round(hpg.adjusted_rand_index([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    counts = counts_of_two(first, second)
    together, of_a, of_b = map(_pairs, counts)
    every = _pairs(counts[0].sum(keepdims=True))
    expected, maximum = of_a * of_b / every if every else 0.0, (of_a + of_b) / 2
    return (together - expected) / (maximum - expected) if maximum != expected else 1.0


def _pairs(counts: Any) -> float:
    counts = counts.astype(np.float64)
    return float((counts * (counts - 1) / 2).sum())
