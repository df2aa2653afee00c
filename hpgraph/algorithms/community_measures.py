"""How far communities are separated, how short they make the description of a walk, and how two partitions agree."""

from typing import Any

import numpy as np

from hpgraph.algorithms.communities import as_labels, checked, counts_of_two
from hpgraph.containers.graph import Graph
from hpgraph.core.arrays import Array
from hpgraph.core.device import array_module
from hpgraph.core.suggestions import naming_arguments
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.communities.level import Level, summed_by


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
    cut, volume = _cuts(graph, level, communities)
    least = array_module(cut).minimum(volume, level.total - volume)
    with np.errstate(divide="ignore", invalid="ignore"):
        return cut / array_module(cut).where(least > 0, least, np.nan)


@naming_arguments
def map_equation(G: Graph | Any, communities: Any, weight: Any = "weight") -> float:
    """The map equation: bits a step for which communities describe a random walk, in a code of two levels.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        An undirected graph.
    communities, weight
        As for `conductance`.

    Returns
    -------
    float
        The fewer, the better they hold a walk. For a single community the entropy of the strengths of the vertices; NaN
        where there is no edge.

    References
    ----------
    M. Rosvall, C. T. Bergstrom, "Maps of random walks on complex networks reveal community structure", PNAS 105 (2008).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> round(hpg.map_equation(G, [0, 0, 0, 1, 1, 1]), 4), round(hpg.map_equation(G, [0] * 6), 4)
    (2.3207, 2.5567)
    """
    graph, level, _ = checked(G, weight, 1.0, positive=False)
    if graph.directed:
        raise ValueError("G: the map equation of directed graphs needs the flow of a walk, see G.undirected")
    if level.total == 0:
        return float("nan")
    cut, volume = _cuts(graph, level, communities)
    leaving, held = cut / level.total, volume / level.total
    return (
        _information(leaving.sum()[None]) - 2 * _information(leaving) - _information(level.sent / level.total)
        + _information(leaving + held)
    )  # fmt: skip


def _cuts(graph: Graph, level: Level, communities: Any) -> tuple[Any, Any]:
    """The weight between each community and the rest, and of the arcs from its vertices."""
    count, label = as_labels(graph, communities)
    coarse, _ = kernels(graph.device).aggregate_communities(level, label.astype(graph.id_dtype))
    return summed_by(coarse.arcs.expand_rows(), coarse.arcs.data, count), coarse.sent


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
    chance, most = of_a * of_b / every if every else 0.0, (of_a + of_b) / 2
    return (together - chance) / (most - chance) if most != chance else 1.0


def _pairs(counts: Any) -> float:
    counts = counts.astype(np.float64)
    return float((counts * (counts - 1) / 2).sum())
