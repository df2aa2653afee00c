"""Arcs in pages: windows over the pages that a superstep reads, and the cost of loading them.

On several devices each loads the pages of its own vertices. All push or all pull, by the time of the slowest. A pull
reads the rows of a device's own vertices; a push reads the same rows, and messages to other devices' vertices are
transferred.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from hpgraph.containers.divided_streamed_graph import DividedStreamedGraph
from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.core.device import array_module
from hpgraph.core.devices import move_array, on_each
from hpgraph.core.placements import not_served
from hpgraph.formats import Bitmask, Frontier, index_dtype
from hpgraph.kernels.out_of_core import Resident, Store, Survey, Traffic
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.placement import Arcs, Share, reading_of
from hpgraph.placement.hub_cache import hub_cache_of
from hpgraph.placement.on_devices import OnDevices

# Vertices a second that check their cached hub: sequential reads, and probes of a bitmask.
_LOOKS = {"cpu": 2e8, "cuda": 1e11}


class _Streamed:
    """The common part of pages on one device and on several."""

    in_shards, joins = False, True
    ranges: "list[PageRange]"
    each: Callable[..., list[Any]]

    @property
    def sending(self) -> Resident:
        """Resident part of the arcs by sending vertex, of the first device: offsets, types, number."""
        side = self.ranges[0].sides[0]
        return (side.sender if side.has_sender else side.target).resident

    def direction(self, shares: Sequence[Share], policy: Any, may_push: bool) -> tuple[bool, int]:
        """Whether a superstep pushes, by the time to load pages either way, and how many arcs it visits."""
        takes_one, sides = shares[0].steps.takes_one, self.ranges[0].sides
        sent: list[list[Survey]] | None = None
        if may_push and policy.mode != "pull" and all(side.has_sender for side in sides):
            sent = self.each(shares, lambda share: share.arcs.sent(share))
        if not all(side.has_target for side in sides):
            if sent is None:
                raise not_served("in pages", "this gathers along arcs", where="has pages by source alone")
            return self._chosen(shares, True, sent)
        gathered: list[list[Survey]] = []

        def pulled() -> tuple[int, float]:
            gathered.extend(self.each(shares, lambda share: share.arcs.gathered(share)))
            return _cost(gathered)

        arcs = sum(side.arcs for range_ in self.ranges for side in range_.sides)
        looks = 4 * shares[0].frontier.n / _LOOKS[self.ranges[0].device_kind] if len(shares) == 1 else 0.0
        if policy.of_pages(None if sent is None else _cost(sent), pulled, arcs, takes_one, looks):
            return self._chosen(shares, True, sent)
        if not gathered:
            pulled()
        return self._chosen(shares, False, gathered)

    def _chosen(self, shares: Sequence[Share], push: bool, wanted: Any) -> tuple[bool, int]:
        for share, rows in zip(shares, wanted, strict=True):
            share.arcs.wanted = rows
        return push, sum(one.arcs for of in wanted for one in of)

    def parts(self, share: Share, push: bool) -> Iterator[tuple[Any, Frontier]]:
        """The windows, or selected rows, that a superstep reads."""
        own: PageRange = share.arcs
        frontier = own.senders(share) if push else share.frontier
        for part in own.windows(push, share.steps.takes_one):
            yield part, frontier

    @property
    def traffic(self) -> np.ndarray:
        """Traffic of each superstep, added up over all devices; the predicted time is that of the slowest."""
        tables = np.stack([own.table() for own in self.ranges])
        totals: np.ndarray = tables.sum(axis=0)
        totals[:, 3] = tables[:, :, 3].max(axis=0)
        return totals


class InPages(_Streamed, Arcs):
    """The arcs of a graph in pages."""

    def __init__(self, graph: StreamedGraph, edges: str, weighted: bool, code: ProgramCode | None = None) -> None:
        self.ranges = [PageRange(graph, edges, weighted, _repeats(code))]

    def shares(self, *what: Any) -> list[Share]:
        """One share, of all vertices."""
        parts = super().shares(*what)
        parts[0].arcs = self.ranges[0]
        return parts


class PagesOnDevices(_Streamed, OnDevices):
    """The same where each of several devices has the pages of its own vertices."""

    def __init__(self, graph: DividedStreamedGraph, edges: str, weighted: bool, code: ProgramCode) -> None:
        self.graph, self.ranges, repeats = graph, [], _repeats(code)
        for shard in graph.shards:
            with shard.device.here:
                self.ranges.append(PageRange(shard.graph, edges, weighted, repeats, (shard.first, shard.last)))
        self.exchanged = reading_of(code).of_source

    def arcs_of_shards(self) -> "list[PageRange]":
        """The pages of each shard."""
        return self.ranges

    def each(self, shares: Sequence[Share], work: Callable[[Share], Any]) -> list[Any]:
        """The results of `work` for each share, on its device, concurrently: all load pages at once."""
        return on_each([share.device for share in shares], lambda number: work(shares[number]))

    def direction(self, shares: Sequence[Share], policy: Any, may_push: bool) -> tuple[bool, int]:
        """As on one device; a push evaluates conditions of other devices' vertices."""
        if may_push:
            self.exchanged = tuple(range(len(shares[0].state)))
        return super().direction(shares, policy, may_push)

    def exchange_messages(self, shares: Sequence[Share], push: bool) -> None:
        """After a push, messages to other devices' vertices."""
        if not push:
            return
        for giver, taker in itertools.permutations(shares, 2):
            taken_range = slice(taker.first, taker.last)
            with giver.device.here:
                ids, messages = giver.steps.take(
                    taken_range, slice(taken_range.start // 64, -(-taken_range.stop // 64))
                )
            if len(ids):
                with taker.device.here:
                    taker.steps.join_listed(
                        taken_range, move_array(ids, taker.device), move_array(messages, taker.device)
                    )


class NumberedInPages(InPages):
    """The arcs of a graph in pages by source; pages by target do not hold the arcs' numbers."""

    def __init__(self, graph: StreamedGraph) -> None:
        super().__init__(graph, "in", weighted=False)
        self.graph = graph
        self.places = index_dtype(graph.n_edges)

    def direction(self, shares: Sequence[Share], policy: Any, may_push: bool) -> tuple[bool, int]:
        """Always a push; and how many arcs it visits."""
        return self._chosen(shares, True, [shares[0].arcs.sent(shares[0])])


def _repeats(code: ProgramCode | None) -> bool:
    """Whether a message that arrives twice changes the result; tuples are refused."""
    if code is not None and code.is_shaped:
        raise not_served("in pages", f"{code.name} has tuples at vertices or as messages")
    return code is None or not code.reduce.idempotent


class PageRange:
    """The pages of a range of vertices (`own`; None: all) on one device, and those that a superstep reads."""

    def __init__(
        self, graph: StreamedGraph, edges: str, weighted: bool, repeats: bool, range: tuple[int, int] | None = None
    ) -> None:
        self._weighted = weighted and graph.weighted
        self._graph = graph
        self.device_kind = graph.device
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
        self.sides = [_Side(graph, backwards, self._weighted) for backwards in ways]
        self.own: Bitmask | None = None
        if range is not None:
            bits = array_module(graph.device).zeros(graph.n_vertices, np.bool_)
            bits[slice(*range)] = True
            self.own = Bitmask.from_bool(bits)
        self.wanted: list[Survey] = []
        self._traffic: list[Traffic] = []

    def senders(self, share: Share) -> Frontier:
        """The active vertices of the range."""
        frontier = share.frontier
        if self.own is None:
            return frontier
        return Frontier(frontier.n, bits=self.own if frontier.all_active else frontier.bits & self.own)

    def sent(self, share: Share) -> list[Survey]:
        """The pages that a push of the range's vertices loads."""
        senders = self.senders(share)
        wanted = [side.sender.survey(None if senders.all_active else senders, spread=True) for side in self.sides]
        senders.arcs = sum(one.arcs for one in wanted)
        return wanted

    def gathered(self, share: Share) -> list[Survey]:
        """The pages that a pull to the range's vertices loads: only unvisited ones if one message suffices."""
        if not share.steps.takes_one:
            return [side.target.survey(None) for side in self.sides]
        # On one device, vertices first check their cached hub.
        caches = [
            None if self._weighted or self.own is not None else hub_cache_of(side.target, self._graph)
            for side in self.sides
        ]
        for cache in caches:
            if cache is not None:
                share.steps.pull(cache, share.frontier)
        waiting = share.steps.waiting()
        if self.own is not None:
            waiting = waiting & self.own
        return [
            side.target.survey(waiting, None if cache is None else cache.more, spread=True)
            for side, cache in zip(self.sides, caches, strict=True)
        ]

    def windows(self, push: bool, in_place: bool) -> Iterator[Any]:
        """The windows, or selected rows, that a superstep reads; their cost is recorded."""
        taken = Traffic(0, 0, 0, 0.0)
        # Not cached: the graph may free these stores before the next superstep.
        wanted, self.wanted = self.wanted, []
        for side, want in zip(self.sides, wanted, strict=True):
            store = side.sender if push else side.target
            before = store.moved
            yield from store.visits(want) if push or in_place else store.windows(want)
            taken = Traffic(
                taken.pages + len(want.pages), taken.wanted + want.nbytes, taken.moved + store.moved - before,
                taken.predicted + want.seconds,
            )  # fmt: skip
        self._traffic.append(taken)

    def table(self) -> np.ndarray:
        """For each superstep: pages, bytes wanted, bytes moved, nanoseconds predicted."""
        rows = [(t.pages, t.wanted, t.moved, t.predicted * 1e9) for t in self._traffic]
        return np.array(rows, np.int64).reshape(-1, 4)


class _Side:
    """Pages in one direction; stores are requested each time, since the graph frees those of unused weights."""

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


def _cost(surveys: list[list[Survey]]) -> tuple[int, float]:
    """Number of arcs in total, and seconds of the slowest."""
    return sum(survey.arcs for of in surveys for survey in of), max(
        sum(survey.seconds for survey in of) for of in surveys
    )
