"""Communities of high modularity by the Louvain method, and by the Leiden method, each of them connected."""

from typing import Any

import numpy as np

from hpgraph.algorithms.communities import (
    Communities,
    checked,
    found,
    least_gain,
    level_limit,
    modularity_of,
    smallest_of,
)
from hpgraph.algorithms.random_choice import scattered
from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module
from hpgraph.core.number import whole
from hpgraph.core.suggestions import naming_arguments
from hpgraph.formats import CSR, occurrences
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.communities.level import Level


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


@naming_arguments
def leiden(
    G: Graph | Any,
    weight: Any = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: int = 0,
    *,
    threshold: float = 1e-5,
    n_iterations: int = 2,
) -> Communities:
    """Communities of high modularity, each connected: as `louvain`, with a refinement phase before aggregation.

    Parameters
    ----------
    G, weight, resolution, max_level, seed
        As for `louvain`.
    threshold : float
        A level that raises the modularity by no more is the last of its iteration, and so is an iteration. Those that
        raise it by less than the default are up to half of all, and change the modularity less than another seed does.
    n_iterations : int
        Number of runs over all levels, from single vertices on, each of which starts with the communities of the last
        one; negative repeats while the modularity rises. The default is that of leidenalg and igraph.

    Returns
    -------
    Communities
        Its `hierarchy` holds the refined parts of each level of the last iteration, and the communities themselves.

    Notes
    -----
    Refinement splits the communities after local moving into parts that grow along edges, one vertex at a time, as far
    as that raises the modularity. The parts are the vertices of the next level and start in their communities. Traag et
    al. draw the part that a vertex joins at random; here it joins the best. Communities that are not connected in the
    end are split, which never lowers the modularity. It needs as much memory as `louvain`.

    References
    ----------
    V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected communities",
    Scientific Reports 9, 5233 (2019).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> found = hpg.leiden(G)
    >>> found.label.tolist(), round(found.modularity, 4)
    ([0, 0, 0, 1, 1, 1], 0.3571)
    """
    graph, level, resolution = checked(G, weight, resolution)
    threshold, limit, key = least_gain(threshold), level_limit(max_level), scattered(seed)
    times = whole(n_iterations, "n_iterations")
    if times == 0:
        raise ValueError("n_iterations must be at least 1, or negative to go on while it helps, not 0")
    search = _Search(graph, level, resolution, threshold, limit)
    hierarchy: list[Any] = []
    quality, iteration = -np.inf, 0
    while iteration != times:
        made, better = search.iteration(hierarchy[-1] if hierarchy else None, (key + (iteration << 32)) % 2**64)
        if better <= quality:
            break
        gain, quality, hierarchy = better - quality, better, made
        iteration += 1
        if gain <= threshold:
            break
    return found(graph, level, hierarchy, resolution)


class _Search:
    """What all iterations have in common."""

    def __init__(self, graph: Graph, level: Level, resolution: float, threshold: float, limit: float) -> None:
        self._graph, self._base, self._resolution = graph, level, resolution
        self._threshold, self._limit = threshold, limit
        self._backend, self._xp = kernels(graph.device), array_module(graph.device)

    def iteration(self, label: Any, key: int) -> tuple[list[Any], float]:
        """All levels, from some communities on; the partition after each, and the modularity of the last one."""
        graph, backend, level, xp = self._graph, self._backend, self._base, self._xp
        label = xp.arange(graph.n_vertices, dtype=graph.id_dtype) if label is None else self._represented(label)
        quality = self._quality(level, label)
        parts: Any = None
        hierarchy: list[Any] = []
        while len(hierarchy) < self._limit:
            draw = key + 2 * len(hierarchy)
            moved, _ = backend.move_vertices(level, label, self._resolution, draw % 2**64)
            refined = backend.refine_communities(level, moved, self._resolution, (draw + 1) % 2**64)
            # Under their smallest vertices at each level, they are numbered by these in the end.
            coarse, number = backend.aggregate_communities(level, self._represented(refined))
            inherited = self._inherited(moved, number, coarse)
            before, better = quality, self._quality(coarse, inherited)
            if better < before:
                # Simultaneous moves may lower the modularity: discard this level.
                break
            parts = number if parts is None else number[parts]
            hierarchy.append(parts)
            level, label, quality = coarse, inherited, better
            if quality - before <= self._threshold or len(label) == len(number):
                break
        connected = self._connected(level, label)
        hierarchy.append(connected if parts is None else connected[parts])
        return hierarchy, quality

    def _represented(self, label: Any) -> Any:
        """Communities, each under the number of its smallest vertex."""
        return smallest_of(self._graph.device, label)[label]

    def _inherited(self, label: Any, number: Any, coarse: Level) -> Any:
        """The communities of the parts: each under the number of one of its own."""
        xp, count = self._xp, coarse.arcs.shape[0]
        community = xp.zeros(count, label.dtype)
        # All vertices of a part are in one community, so concurrent writes agree.
        community[number] = label
        least = xp.full(len(label), count, np.int64)
        self._backend.minimum_at(least, community, xp.arange(count))
        return least[community].astype(label.dtype)

    def _quality(self, level: Level, label: Any) -> float:
        between = self._backend.weight_between(level, label)
        return modularity_of(level, label, len(label), self._resolution, between)

    def _connected(self, level: Level, label: Any) -> Any:
        """The communities; disconnected ones are split."""
        xp, arcs = self._xp, level.arcs
        row = arcs.expand_rows()
        inside = label[row] == label[arcs.indices]
        indptr = xp.zeros(len(label) + 1, np.int64)
        xp.cumsum(occurrences(row[inside], len(label)), out=indptr[1:])
        within = CSR(arcs.shape, indptr, arcs.indices[inside], validate=False, copy=False)
        return self._backend.components(within, True)[1]
