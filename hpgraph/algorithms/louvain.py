"""The Louvain method, and the Leiden method, whose communities are connected."""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.communities import Communities, by_smallest, checked, found, least_gain, level_limit, quality_of
from hpgraph.algorithms.community_measures import code_length
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.objectives import movable_of, objective_of, size_limit, start_of
from hpgraph.algorithms.random_choice import scattered
from hpgraph.containers.graph import Graph, naming_arguments, whole
from hpgraph.core.device import array_module
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.communities.batches import MIN_MOVES, MIN_MOVES_LEIDEN
from hpgraph.kernels.communities.level import Ending, Level, likely_weights


@naming_arguments
def louvain(
    G: Graph | Any,
    weight: Any = "weight",
    resolution: float = 1,
    threshold: float = 1e-7,
    max_level: int | None = None,
    seed: int = 0,
    *,
    start: Any = None,
) -> Communities:
    """Communities of high modularity by the Louvain method: local moving of vertices, then of whole communities.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. For directed graphs the modularity is that of Leicht and Newman, as in NetworkX.
    weight : None, bool or str
        Weight of an edge: 1 for None or False, its weight for True. A string names the attribute of a NetworkX graph,
        and means True otherwise. Weights must not be negative; edges without one have weight 1.
    resolution : float
        Values above 1 favour smaller communities, values below 1 larger ones.
    threshold : float
        The search stops after a level that raises the modularity by at most this.
    max_level : int, optional
        Maximum number of levels.
    seed : int
        Random seed; on one device the same seed gives the same communities for any number of threads.
    start : Communities, integer array of length n, dict, or list of collections of vertices, optional
        Initial communities instead of single vertices. The quality of the result is never lower than theirs.

    Returns
    -------
    Communities
        Its method `communities` returns what NetworkX's louvain_communities does, and its `hierarchy` has what
        louvain_partitions yields.

    Notes
    -----
    NetworkX moves one vertex after another, in a fixed random order. Here, except on small graphs on the CPU, the
    vertices of a batch choose by the same state, in random batches for each round. A level ends when a round moves less
    than 1/200 of the vertices, or less than 1/25 of those it examines; the next level moves the rest as whole
    communities. Weights that are not
    integers are rounded to multiples of at most 2⁻⁵⁰ of their sum, so that sums are exact in any order. Communities
    may be disconnected; those of `hpgraph.leiden` are connected. Memory: about 50 bytes a vertex, and 20 an arc while
    the first level is built.

    References
    ----------
    V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks", J.
    Stat. Mech. (2008) P10008. E. A. Leicht, M. E. J. Newman, "Community structure in directed networks", Physical
    Review Letters 100 (2008). S. Ghosh et al., "Distributed Louvain algorithm for graph community detection", IPDPS'18.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> hpg.louvain(G)
    <Communities: 2 of 6 vertices, modularity 0.3571, 1 level>
    >>> hpg.louvain(G).communities()
    [{0, 1, 2}, {3, 4, 5}]
    """
    graph, weighted = with_weights(G, weight, parallel="sum")
    backend, directed, arcs = kernels(graph.device), graph.directed, graph.out_csr
    # Before the level is made, for which CuPy compiles kernels, too.
    kinds = {not directed and start is None, not directed}
    keeps, total = likely_weights(arcs, weighted)
    backend.begin_moves(arcs, keeps or directed, total, kinds)
    graph, level, resolution = checked(graph, weighted, resolution)
    threshold, limit, key = least_gain(threshold), level_limit(max_level), scattered(seed)
    base = level
    hierarchy: list[Any] = []
    label = first = start_of(graph, start)
    quality = quality_of(level, label, len(label), resolution)
    while len(hierarchy) < limit:
        draw = (key + len(hierarchy)) % 2**64
        # Initial communities may merge even if no vertex leaves its own.
        given = start is not None and not hierarchy
        rest = None if given else backend.finish_levels(
            level, label, quality, resolution, draw, Ending(MIN_MOVES, limit - len(hierarchy), gain=threshold),
            alone=False, refines=False,
        )  # fmt: skip
        if rest is not None:
            hierarchy += [each[hierarchy[-1]] if hierarchy else each for each in rest[0]]
            break
        moved, moves = backend.move_vertices(level, label, resolution, draw, MIN_MOVES, alone=given)
        if not (moves or given):
            break
        coarse, number, label = backend.aggregate_communities(level, moved)
        before, quality = quality, quality_of(coarse, label, len(label), resolution, int(coarse.arcs.data.sum()))
        if quality < before or (quality == before and not given):
            # Simultaneous moves may lower the modularity: discard this level.
            break
        hierarchy.append(number[hierarchy[-1]] if hierarchy else number)
        level = coarse
        if quality - before <= threshold and not given:
            break
    if start is not None and not hierarchy:
        hierarchy = [by_smallest(graph.device, first)]
    return found(graph, base, [backend.in_order(each) for each in hierarchy], resolution)


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
    objective: str = "modularity",
    node_weights: Any = None,
    start: Any = None,
    fixed: Any = None,
    max_size: int | None = None,
    hierarchy: bool = True,
) -> Communities:
    """Connected communities of high quality by the Leiden method: `louvain` with refinement before aggregation.

    Parameters
    ----------
    G, weight, resolution, max_level, seed
        As for `louvain`.
    threshold : float
        The search stops after an iteration that raises the modularity by at most this; for other objectives it is a
        share of the total weight, too.
    n_iterations : int
        Number of iterations over all levels, each of which starts from the communities of the one before; if negative,
        they repeat while the quality rises. Unless negative, an iteration after the first stops at once if it moves at
        most 1/1000 of the vertices. The default is that of leidenalg and igraph.
    objective : str
        The quality function to maximize: "modularity"; "RBConfiguration", modularity on another scale; "CPM", the
        constant Potts model, whose communities have a density of at least `resolution`; or "RBER", for which that is a
        multiple of the graph's density. `hpgraph.community_quality` has the formulas.
    node_weights : number, array of length n or dict, optional
        Weights of the vertices in "CPM" and "RBER", not negative; 1 by default.
    start : Communities, integer array of length n, dict, or list of collections of vertices, optional
        Initial communities instead of single vertices. The quality of the result is never lower than theirs.
    fixed : boolean array of length n, or sequence of vertices, optional
        Vertices that do not move: two of them share a community afterwards if they do in `start`.
    max_size : int, optional
        Maximum number of vertices of a community, also of those in `start`.
    hierarchy : bool
        Whether the result has the parts of each level, or only the communities.

    Returns
    -------
    Communities
        Its `hierarchy` has the parts of each refined level of the last iteration, and the communities themselves; its
        `quality` is that of the objective, with leidenalg's definition.

    Notes
    -----
    After local moving, refinement splits communities into parts that grow along edges, one vertex at a time, while
    that raises the quality. The parts are the vertices of the next level, and start in their communities. Traag et al.
    choose the part that a vertex joins at random; here it joins the best. If over 7/8 of the arcs lead between parts,
    later levels are not refined. Disconnected communities are split at the end, which never lowers the quality, except
    for parts that `fixed` keeps together. Memory: 12 bytes an arc more than `louvain`, and about 100 bytes a vertex
    with `max_size`. If more vertices choose a community at once than it has room for, those of the highest random
    priorities join it, and the others choose again.

    References
    ----------
    V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected communities",
    Scientific Reports 9, 5233 (2019).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> found = hpg.leiden(G)
    >>> found.label.tolist(), round(found.modularity, 4)
    ([0, 0, 0, 1, 1, 1], 0.3571)
    >>> hpg.leiden(G, objective="CPM", resolution=0.5, max_size=2).communities()
    [{0, 1}, {2, 3}, {4, 5}]
    """
    graph, level, resolution = checked(G, weight, resolution)
    threshold, limit, key = least_gain(threshold), level_limit(max_level), scattered(seed)
    times = iterations_of(n_iterations)
    aim = objective_of(graph, level, objective, resolution, node_weights)
    label = start_of(graph, start)
    largest = size_limit(max_size, label)
    searched = aim.level._replace(
        size=array_module(graph.device).ones(len(label), np.int64) if largest else None,
        movable=movable_of(graph, fixed),
    )
    search = Search(graph, searched, aim.resolution, threshold, limit, largest)
    levels = search.run(label, key, times, given=start is not None)
    quality_by = None if objective == "modularity" else aim.quality
    return found(graph, level, levels if hierarchy else levels[-1:], resolution if aim.strengths else 1.0, quality_by)


def iterations_of(n_iterations: Any) -> int:
    """Maximum number of iterations of a search; negative for no limit."""
    times = whole(n_iterations, "n_iterations")
    if times == 0:
        raise ValueError("n_iterations must be at least 1, or negative to continue while the quality improves, not 0")
    return times


# If a larger share of a level's arcs leads between its refined parts, later levels are not refined: each would cost as
# much as the first. The share is .93 to .97 for random graphs of 16 edges a vertex, whose modularity is within .0001 of
# that with all levels refined; it is .83 for 3 edges a vertex, whose modularity would be .004 lower.
MAX_LEFT = 7 / 8
# Levels with a smaller share of the graph's arcs are not refined either: on a GPU a level takes about 2 ms whatever its
# size, and the modularity is within .0001 on grids, meshes and real graphs (.9137 and .9137 on cnr-2000).
MIN_LEFT = 1 / 64
# Share of moves of an unrefined level that ends the levels.
MIN_MOVES_LEVEL = 1 / 100


class _Found(NamedTuple):
    """The part of each vertex for each refined level; the last level, and the communities of its vertices."""

    parts: list[Any]
    level: Level
    label: Any
    quality: float

    @property
    def communities(self) -> Any:
        """The community of each vertex of the graph."""
        return self.label[self.parts[-1]] if self.parts else self.label


class Search:
    """The Leiden method for the objective of a level: iterations over all levels, and their shared settings."""

    def __init__(
        self, graph: Graph, level: Level, resolution: float, threshold: float, limit: float, largest: int
    ) -> None:
        self._graph, self._base, self._resolution = graph, level, resolution
        self._threshold, self._limit, self._largest = threshold, limit, largest
        self._backend, self._xp = kernels(graph.device), array_module(graph.device)
        kinds = {False, not level.is_two_sided and level.movable is None}
        total = max(level.total, level.strength)
        self._backend.begin_moves(level.arcs, level.arcs.data is not None, total, kinds)

    def run(self, label: Any, key: int, times: int, *, given: bool) -> list[Any]:
        """The levels of the last iteration that raised the quality; ``given``: `label` are not singletons."""
        found = self._iteration(label, np.nan, key % 2**64, given=given)
        gain, iteration = np.inf, 1
        # An iteration of few moves would gain at most .0001 of modularity in a third of the time; unknown for flows.
        least = MIN_MOVES_LEIDEN[0] if times > 0 and not self._base.flow else -1.0
        while iteration != times and gain > self._threshold:
            draw = (key + (iteration << 32)) % 2**64
            label = self._backend.represented(found.communities)
            made = self._iteration(label, found.quality, draw, given=True, least=least)
            if not made.quality > found.quality:
                break
            gain, found = made.quality - found.quality, made
            iteration += 1
        connected = self._connected(found.level, found.label)
        return [self._backend.in_order(each) for each in (*found.parts, found._replace(label=connected).communities)]

    def _iteration(self, label: Any, quality: float, key: int, *, given: bool, least: float = -1.0) -> _Found:
        """Run all levels from communities `label`, whose quality is NaN if not known yet.

        ``given``: the communities are not singletons, so that vertices may leave them to be alone. ``least``: the
        iteration stops before its first aggregation if at most this share of the vertices moves.
        """
        level, depth, left = self._base, 0, (MIN_LEFT * self._base.arcs.nnz, MAX_LEFT)
        found, refines, part = _Found([], level, label, quality), True, None
        while depth < self._limit:
            draw = key + 2 * depth
            ending = Ending(MIN_MOVES_LEIDEN, self._limit - depth, -1.0 if depth else least, left)
            rest = None if self._largest else self._backend.finish_levels(
                level, label, quality, self._resolution, draw % 2**64, ending, alone=given, refines=refines
            )  # fmt: skip
            if rest is not None:
                more, level, label, quality = rest
                parts = [*found.parts, *(each[found.parts[-1]] if found.parts else each for each in more)]
                label = label if part is None else label[part]
                return _Found(parts, level if more else found.level, label, quality)
            if np.isnan(quality):
                quality = self.quality(level, label)
                found = found._replace(quality=quality)
            moved, moves = self._backend.move_vertices(
                level, label, self._resolution, draw % 2**64, MIN_MOVES_LEIDEN, alone=given, limit=self._largest
            )
            if depth == 0 and least >= 0 and int(moves) <= least * len(label):
                break
            if not refines and int(moves) == 0:
                break
            refining = (self._resolution, (draw + 1) % 2**64) if refines else None
            coarse, number, inherited = self._backend.aggregate_communities(level, moved, refining)
            better = self.quality(coarse, inherited)
            if better < quality:
                # Simultaneous moves may lower the modularity: the next level is of the communities before them.
                coarse, number, inherited = self._backend.aggregate_communities(level, label, refining)
                better = quality
            if refines:
                parts = [*found.parts, number[found.parts[-1]] if found.parts else number]
                found = _Found(parts, coarse, inherited, better)
                refines = left[0] <= coarse.arcs.nnz <= left[1] * level.arcs.nnz
            else:
                part = number if part is None else number[part]
                found = found._replace(label=inherited[part], quality=better)
            level, label, quality, depth = coarse, inherited, better, depth + 1
            if len(label) == len(number) or (part is not None and int(moves) <= MIN_MOVES_LEVEL * len(number)):
                break
        return found

    def quality(self, level: Level, label: Any) -> float:
        """The objective, up to a term that is the same for all partitions."""
        if level.flow:
            return -code_length(level, label)
        return quality_of(level, label, len(label), self._resolution)

    def _connected(self, level: Level, label: Any) -> Any:
        """The communities with disconnected ones split, except for parts whose vertices are fixed together."""
        xp, part = self._xp, self._backend.components_within(level.arcs.pattern, label)[1]
        if level.movable is None:
            return part
        fixed = xp.flatnonzero(~level.movable)
        least = xp.full(len(label), len(label), np.int64)
        self._backend.minimum_at(least, label[fixed], part[fixed].astype(np.int64))
        together = xp.arange(len(label))
        together[part[fixed]] = least[label[fixed]]
        return by_smallest(self._graph.device, together[part].astype(label.dtype))
