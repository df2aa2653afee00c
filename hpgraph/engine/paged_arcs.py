"""Arcs that are not in memory: windows over the pages that a superstep reads, and the cost of loading them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.placements import not_served
from hpgraph.engine.hub_cache import hub_cache_of
from hpgraph.kernels.out_of_core import Traffic
from hpgraph.kernels.runtime.direction import product_pushes

if TYPE_CHECKING:
    from hpgraph.containers.streamed_graph import StreamedGraph
    from hpgraph.engine.direction import Direction
    from hpgraph.formats import Frontier
    from hpgraph.kernels.out_of_core import Resident, Store, Survey, WindowWorkSpace

# Vertices a second that check their cached hub: sequential reads, and probes of a bitmask.
_LOOKS = {"cpu": 2e8, "cuda": 1e11}


class PagedArcs:
    """`hpgraph.engine.arcs.Arcs` of a graph whose topology stays in host memory or in a file."""

    in_one_part, in_windows, in_shards = False, True, False

    def __init__(self, graph: StreamedGraph, edges: str, weighted: bool, repeats: bool = True) -> None:
        self._weighted = weighted and graph.weighted
        self._graph = graph
        ways = [edges == "out"]
        if edges == "all" and graph.directed:
            if repeats or self._weighted:
                raise not_served(
                    "in pages",
                    'edges = "all" on a directed graph in pages takes a program without weights to which it is all the '
                    'same that a message comes twice (reduce = "any", "min" or "max"; hpgraph.convert(..., '
                    "directed=False) writes the file that serves others)",
                )
            ways = [False, True]
        self._sides = [_Side(graph, backwards, self._weighted) for backwards in ways]
        self.traffic: list[Traffic] = []
        self._next: list[tuple[Store, Survey]] = []

    @property
    def sending(self) -> Resident:
        """Resident part of the arcs by sending vertex: offsets, types, number."""
        side = self._sides[0]
        return (side.sender if side.has_sender else side.target).resident

    def direction(
        self, frontier: Frontier, policy: Direction, may_push: bool, steps: WindowWorkSpace
    ) -> tuple[bool, int]:
        """Whether a superstep pushes, and how many arcs it visits: by the time to load the pages of either direction.

        Where the first message wins, unvisited vertices first check their cached hub (see `hub_cache`); then the
        direction that loads less is taken. Elsewhere a push is worth its atomic operations if few arcs leave the
        frontier, or if it loads less than half.
        """
        sides = self._sides
        sent: list[Survey] | None = None
        leaving = 0
        if may_push and policy.mode != "pull" and all(side.has_sender for side in sides):
            sent = [side.sender.survey(frontier, spread=True) for side in sides]
            frontier.arcs = leaving = sum(one.arcs for one in sent)
        if not all(side.has_target for side in sides):
            if sent is None:
                raise not_served("in pages", "this gathers along arcs", where="has pages by source alone")
            return self._chosen(True, sent)
        if sent is not None and policy.mode == "push":
            return self._chosen(True, sent)
        there = sum(side.arcs for side in sides)
        sparse = sent is not None and product_pushes(leaving, there, policy.alpha)
        sending = np.inf if sent is None else sum(one.seconds for one in sent)
        if steps.takes_one:
            if sparse and sending < 4 * len(steps.state[0]) / _LOOKS[self._graph.device]:
                return self._chosen(True, sent)
            gathered = self._waiting(frontier, steps)
            push = sending < sum(one.seconds for one in gathered)
        else:
            if sparse:
                return self._chosen(True, sent)
            gathered = [side.target.survey(None) for side in sides]
            push = sending < sum(one.seconds for one in gathered) / 2
        return self._chosen(push, sent if push else gathered)

    def _waiting(self, frontier: Frontier, steps: WindowWorkSpace) -> list[Survey]:
        """The pages of in-arcs of vertices still unvisited after the check of their cached hub."""
        heads = [None if self._weighted else hub_cache_of(side.target, self._graph) for side in self._sides]
        for head in heads:
            if head is not None:
                steps.pull(head, frontier)
        waiting = steps.waiting()
        return [
            side.target.survey(waiting, None if head is None else head.more, spread=True)
            for side, head in zip(self._sides, heads, strict=True)
        ]

    def _chosen(self, push: bool, wanted: list[Survey] | None) -> tuple[bool, int]:
        assert wanted is not None
        stores = [side.sender if push else side.target for side in self._sides]
        self._next = list(zip(stores, wanted, strict=True))
        return push, sum(one.arcs for one in wanted)

    def parts(self, frontier: Frontier, push: bool, steps: WindowWorkSpace) -> Iterator[Any]:
        """The windows, or selected rows, that a superstep reads; their cost is recorded in `traffic`."""
        taken = Traffic(0, 0, 0, 0.0)
        # Not kept: the graph may give these stores back before the next superstep.
        chosen, self._next = self._next, []
        for store, wanted in chosen:
            before = store.moved
            yield from store.visits(wanted) if push or steps.takes_one else store.windows(wanted)
            taken = Traffic(
                taken.pages + len(wanted.pages), taken.wanted + wanted.nbytes, taken.moved + store.moved - before,
                taken.predicted + wanted.seconds,
            )  # fmt: skip
        self.traffic.append(taken)

    def table(self) -> np.ndarray:
        """What each superstep took: pages, bytes wanted, bytes moved, nanoseconds predicted."""
        rows = [(t.pages, t.wanted, t.moved, t.predicted * 1e9) for t in self.traffic]
        return np.array(rows, np.int64).reshape(-1, 4)


class _Side:
    """The pages of arcs by source and by target, in one direction of a directed graph.

    Stores are requested from the graph each time, never kept: they share its budget, and the graph frees those with
    weights for a program without weights, and vice versa.
    """

    def __init__(self, graph: StreamedGraph, backwards: bool, weighted: bool) -> None:
        self._graph, self._backwards, self._weighted = graph, backwards, weighted
        by_sender, by_target = graph.pages(backwards), graph.pages(not backwards)
        self.has_sender, self.has_target = by_sender is not None, by_target is not None
        either = by_sender if by_target is None else by_target
        assert either is not None
        self.arcs = either.nnz

    @property
    def sender(self) -> Store:
        """Pages by sending vertex."""
        return self._store(self._backwards)

    @property
    def target(self) -> Store:
        """Pages by gathering vertex."""
        return self._store(not self._backwards)

    def _store(self, by_target: bool) -> Store:
        store = self._graph.store(by_target, self._weighted)
        assert store is not None
        return store
