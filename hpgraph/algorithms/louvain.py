"""Communities of high modularity by the Louvain method."""

from __future__ import annotations

from typing import Any

from hpgraph.algorithms.communities import (
    Communities,
    checked,
    found,
    least_gain,
    level_limit,
    modularity_of,
    smallest_of,
)
from hpgraph.algorithms.random_order import scattered
from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module
from hpgraph.core.suggestions import naming_arguments
from hpgraph.kernels.backend import kernels


@naming_arguments
def louvain(
    G: Graph | Any,
    weight: Any = "weight",
    resolution: float = 1,
    threshold: float = 1e-7,
    max_level: int | None = None,
    seed: int = 0,
) -> Communities:
    """Communities of high modularity: vertices move to those of their neighbours, then whole communities do.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one modularity is that of Leicht and Newman, as NetworkX has it.
    weight : None, bool or str
        What an edge weighs: 1 for None or False; its weight for True, or for a name, which is that of the attribute
        where `G` is a NetworkX graph. Not negative. Edges without weights weigh 1.
    resolution : float
        Above 1 favours smaller communities, below 1 larger ones.
    threshold : float
        A level that raises the modularity by no more is the last.
    max_level : int, optional
        The most levels there are.
    seed : int
        Another seed, other communities. The same seed gives the same on one device, bit for bit, however many threads
        there are.

    Returns
    -------
    Communities
        NetworkX returns what its `communities` does; what its louvain_partitions yields is its `hierarchy`.

    Notes
    -----
    NetworkX lets one vertex move after another, in an order drawn once. Here batches of them choose by the same state,
    drawn anew in each round, and a level ends when a round moves less than 1/200 of the vertices, or less than 1/25 of
    those it looks at: what is left over, the next level does with whole communities. Weights that are no whole numbers
    are rounded to multiples of 2⁻⁵⁰ of their sum or less, so that sums are exact in any order. Communities may
    be disconnected: those of `hpgraph.leiden` are not. Takes some 50 bytes a vertex, and 20 an arc while the first
    level is built.

    References
    ----------
    V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks", J.
    Stat. Mech. (2008) P10008. E. A. Leicht, M. E. J. Newman, "Community structure in directed networks", Physical
    Review Letters 100 (2008). S. Ghosh et al., "Distributed Louvain algorithm for graph community detection", IPDPS'18.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> hpg.louvain(G)
    <Communities: 2 of 6 vertices, modularity 0.3571, 1 level>
    >>> hpg.louvain(G).communities()
    [{0, 1, 2}, {3, 4, 5}]
    """
    graph, level, resolution = checked(G, weight, resolution)
    threshold, limit, key = least_gain(threshold), level_limit(max_level), scattered(seed)
    base = level
    hierarchy: list[Any] = []
    xp, backend = array_module(graph.device), kernels(graph.device)
    alone = xp.arange(graph.n_vertices, dtype=graph.id_dtype)
    quality = modularity_of(level, alone, len(alone), resolution, backend.weight_between(level, alone))
    while len(hierarchy) < limit:
        draw = (key + len(hierarchy)) % 2**64
        moved, moves = backend.move_vertices(level, alone, resolution, draw)
        if not moves:
            break
        # Under their smallest vertices at each level, they are numbered by these in the end.
        coarse, number = backend.aggregate_communities(level, smallest_of(graph.device, moved)[moved])
        count = coarse.arcs.shape[0]
        alone = xp.arange(count, dtype=graph.id_dtype)
        before, quality = quality, modularity_of(coarse, alone, count, resolution, int(coarse.arcs.data.sum()))
        if quality <= before:
            # Simultaneous moves may lower the modularity: discard this level.
            break
        hierarchy.append(number[hierarchy[-1]] if hierarchy else number)
        level = coarse
        if quality - before <= threshold:
            break
    return found(graph, base, hierarchy, resolution)
