"""Supersteps of a run on several devices: each updates its own vertices, and sends the changes to the others.

Every device holds all properties that messages depend on (strategy P of GTS: M.-S. Kim et al., SIGMOD'16). Where arcs
are in memory, messages are only to a device's own vertices, so none is transferred: after the updates devices exchange
the active vertices, and the new values of those that were updated.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.core.devices import Devices, bring, copy_between
from hpgraph.engine.divided_arcs import told_by_senders
from hpgraph.formats import Bitmask, Frontier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hpgraph.containers.divided_graph import DividedGraph
    from hpgraph.engine.divided_arcs import ShardArcs
    from hpgraph.engine.state import Run

# Share of a range of vertices above which all of it is copied: contiguous copies are several times as fast as copies of
# selected elements with their ids.
WHOLE_RANGE = 0.25


class _Share:
    """One device's share of a run: the arcs that reach its vertices, its copy of the properties, its supersteps."""

    def __init__(self, run: Run, part: ShardArcs, state: tuple[Any, ...], settled: Bitmask | None) -> None:
        self.part, self.shard, self.state = part, part.shard, state
        first, last = part.shard.first, part.shard.last
        with self.shard.device.here:
            own = array_module(self.shard.device.kind).zeros(run.n, np.bool_)
            own[first:last] = True
            self.own = Bitmask.from_bool(own)
            bits = None if settled is None else Bitmask(run.n, bring(settled.words, self.shard.device).copy())
            self.steps = self._work_space(run, bits)

    def _work_space(self, run: Run, settled: Bitmask | None) -> Any:
        return run.memory_space(self.state, settled)

    def superstep(self, run: Run, push: bool, frontier: Frontier, step: int) -> None:
        """Messages to the device's own vertices."""
        if push and not self.part.gathering.nnz:
            return
        with self.shard.device.here:
            if run.code.cells:
                self.steps.turn(tuple(run.world.values()), step)
            (self.steps.push if push else self.steps.pull)(self.part, frontier)

    def apply(self, run: Run, step: int) -> tuple[Any, Any, np.ndarray]:
        """Update the vertices that received: those active now, those whose values may differ (None: all), the sums."""
        with self.shard.device.here:
            updated = None
            if run.everyone:
                self.steps.address(Frontier(run.n, bits=self.own.copy(), size=self.shard.last - self.shard.first))
            elif run.code.sends is not None:
                # A vertex that changed need not send.
                updated = self.steps.addressed().to_indices()
            active, sums = self.steps.apply(run.arcs, tuple(run.world.values()), step, False)
            ids = run.below_ceiling(active.ids, self.state[0])
            # The work space overwrites its lists in the next superstep.
            return ids.copy(), None if run.everyone else ids if updated is None else updated, sums


class _ShareInPages(_Share):
    """The same where arcs lie in pages.

    What is pulled comes to the device's own vertices from the pages of their rows. What is pushed leaves from them, and
    messages to other devices' vertices travel.
    """

    def _work_space(self, run: Run, settled: Bitmask | None) -> Any:
        return run.window_space(self.state, settled)

    def superstep(self, run: Run, push: bool, frontier: Frontier, step: int) -> None:
        """Messages to its own vertices, or from them."""
        part: Any = self.part
        if push:
            frontier = Frontier(frontier.n, bits=self.own if frontier.everyone else frontier.bits & self.own)
        if run.code.cells:
            self.steps.turn(tuple(run.world.values()), step)
        for window in part.parts(frontier, push, self.steps):
            (self.steps.push if push else self.steps.pull)(window, frontier)

    def apply(self, run: Run, step: int) -> tuple[Any, Any, np.ndarray]:
        """As of arcs in memory."""
        with self.shard.device.here:
            # Other vertices of the same pages may have received some of their messages, not all.
            self.steps.keep(self.own)
            ends = super().apply(run, step)
            if run.everyone:
                self.steps.messages.fill(run.code.reduce.identity_for(run.code.message))
            return ends

    def deliver(self, taker: _ShareInPages) -> None:
        """Messages of this device's vertices to another's."""
        first, last, device = taker.shard.first, taker.shard.last, taker.shard.device
        with self.shard.device.here:
            messages, received = self.steps.heard(first, last)
            if not received.any():
                return
        with device.here:
            there = Bitmask(last - first, bring(received.words, device), validate=False)
            taker.steps.join(bring(messages, device), there, first)


class SeveralDevices:
    """The supersteps of a run whose arcs lie on several devices, in memory or in pages."""

    def __init__(self, run: Run, frontier: Frontier, settled: Bitmask | None) -> None:
        arcs: Any = run.arcs
        self.run, self.graph = run, arcs.graph
        graph, n = arcs.graph, run.n
        if graph.place is not None:
            if not frontier.everyone:
                frontier = Frontier(n, ids=_sorted(graph.place[frontier.ids]))
            if settled is not None:
                settled = Bitmask.from_indices(graph.place[settled.to_indices()], n)
        own = tuple(graph.in_order_of_shards(values) for values in run.state)
        kind: Any = _ShareInPages if arcs.in_windows else _Share
        self.shards: list[Any] = [
            kind(run, part, copies(own, part.shard.device, i), settled) for i, part in enumerate(arcs.parts())
        ]
        self.steps = self.shards[0].steps
        # A push to another device's vertex asks conditions of it.
        pushes_to_others = arcs.in_windows and run.may_push(self.steps)
        self.exchanged = tuple(range(len(own))) if pushes_to_others else told_by_senders(run.code)
        self.frontiers = _everyone(self.shards, n) if frontier.everyone else _everywhere(self.shards, [frontier.ids], n)

    @property
    def active(self) -> int:
        """Number of active vertices."""
        return self.frontiers[0].size

    def send(self, may_push: bool, step: int) -> tuple[bool, int]:
        """Send along the arcs of the frontier; returns whether by push, and how many arcs were visited."""
        run = self.run
        arcs: Any = run.arcs
        push, looked = arcs.direction(self.frontiers, run.policy, may_push, self.shards)
        arcs.each(lambda i: self.shards[i].superstep(run, push, self.frontiers[i], step))
        if push and arcs.in_windows:
            for giver, taker in itertools.permutations(self.shards, 2):
                giver.deliver(taker)
        return push, looked

    def apply(self, step: int) -> np.ndarray:
        """Update the vertices that received a message, and exchange their values; the sums of `aggregate`."""
        run, shards = self.run, self.shards
        ends = [shard.apply(run, step) for shard in shards]
        _exchange(shards, [updated for _, updated, _ in ends], self.exchanged)
        changed = [ids for ids, _, _ in ends]
        everyone = run.everyone and any(map(len, changed))
        self.frontiers = _everyone(shards, run.n) if everyone else _everywhere(shards, changed, run.n)
        sums: np.ndarray = np.sum([sums for _, _, sums in ends], axis=0)
        return sums

    def run_small(self, done: int) -> None:
        """Never: each superstep exchanges values."""

    def finish(self) -> Any:
        """The vertices that are still active, or None; the properties are on the first device then, or in pieces."""
        graph = self.graph
        bring_home(self.run, graph, [shard.state for shard in self.shards])
        left = self.frontiers[0]
        if not left.size:
            return None
        with graph.shards[0].device.here:
            ids = left.ids.copy()
            return ids if graph.order is None else _sorted(graph.order[ids])


def _sorted(ids: Any) -> Any:
    """Ids in ascending order."""
    return array_module(ids).sort(ids)


def copies(state: tuple[Any, ...], device: Devices, number: int) -> tuple[Any, ...]:
    """Properties on the device of a shard of that number: the very arrays for the first shard, else copies."""
    if number == 0:
        return state
    with device.here:
        made = tuple(bring(values, device) for values in state)
        return tuple(there.copy() if there is values else there for there, values in zip(made, state, strict=True))


def _everyone(shards: list[_Share], n: int) -> list[Frontier]:
    return [Frontier(n, device=shard.shard.device.kind) for shard in shards]


def _everywhere(shards: list[_Share], ids: list[Any], n: int) -> list[Frontier]:
    """The union of lists of vertices, ascending from one list to the next, as a frontier on each device."""
    made = []
    for shard in shards:
        with shard.shard.device.here:
            lists = [bring(some, shard.shard.device) for some in ids]
            made.append(Frontier(n, ids=lists[0] if len(lists) == 1 else array_module(lists[0]).concatenate(lists)))
    return made


def _exchange(shards: list[_Share], updated: list[Any], properties: tuple[int, ...]) -> None:
    """Copy the values of updated vertices to every device: whole ranges, or ids and values."""
    for giver, ids in zip(shards, updated, strict=True):
        first, last = giver.shard.first, giver.shard.last
        whole = ids is None or len(ids) > WHOLE_RANGE * (last - first)
        if first == last or (not whole and not len(ids)):
            continue
        for taker in shards:
            if taker is giver:
                continue
            there = None if whole else bring(ids, taker.shard.device)
            for number in properties:
                source, target = giver.state[number], taker.state[number]
                if there is None:
                    copy_between(source[first:last], target[first:last])
                    continue
                with giver.shard.device.here:
                    values = source[ids]
                with taker.shard.device.here:
                    target[there] = bring(values, taker.shard.device)


def bring_home(run: Run, graph: DividedGraph, states: Sequence[tuple[Any, ...]]) -> None:
    """Copy every shard's own values to the run's properties, or into pieces that stay on their devices.

    ``states``: the properties on each shard's device, in the shards' numbering; those on the first are written to.
    """
    if run.apart:
        pieces = []
        for shard, state in zip(graph.shards, states, strict=True):
            with shard.device.here:
                pieces.append([values[shard.first : shard.last].copy() for values in state])
        run.pieces = tuple(graph.in_pieces(of) for of in zip(*pieces, strict=True))
        return
    for shard, state in zip(graph.shards[1:], states[1:], strict=True):
        if shard.first < shard.last:
            for source, target in zip(state, states[0], strict=True):
                copy_between(source[shard.first : shard.last], target[shard.first : shard.last])
    with graph.shards[0].device.here:
        for values, found in zip(run.state, states[0], strict=True):
            if found is not values:
                values[...] = graph.in_own_order(found)
