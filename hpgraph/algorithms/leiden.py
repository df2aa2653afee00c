"""Communities of high modularity by the Leiden method, each of them connected."""

from __future__ import annotations

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
from hpgraph.algorithms.random_order import scattered
from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module
from hpgraph.core.number import whole
from hpgraph.core.suggestions import naming_arguments
from hpgraph.formats import CSR, occurrences
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.communities.level import Level


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
