"""The general loop over shards: each device does the superstep of its own vertices, and tells the others what is new.

Every device has all properties that messages are made of (strategy P of GTS: M.-S. Kim et al., SIGMOD'16). Messages
go to a shard's own vertices alone, so none travels: after the updates devices exchange who is active, and the new
values of whoever was updated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.core.devices import Devices, bring, copy_between
from hpgraph.core.work_clock import now
from hpgraph.engine.divided_arcs import told_by_senders
from hpgraph.engine.divided_columns import WHOLE_RANGE
from hpgraph.engine.divided_pages import OfPages, supersteps_of_pages
from hpgraph.engine.superstep import Listed
from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.runtime.direction import PULL, PUSH
from hpgraph.kernels.superstep import pushes_repeat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hpgraph.containers.divided_graph import DividedGraph
    from hpgraph.engine.divided_arcs import ShardArcs
    from hpgraph.engine.state import Run


class _OfShard:
    """One device's part in a run: its copy of the properties, and its work space."""

    def __init__(self, run: Run, part: ShardArcs, state: tuple[Any, ...], settled: Any) -> None:
        self.part, self.shard, self.state = part, part.shard, state
        n, first, last = run.n, part.shard.first, part.shard.last
        with self.shard.device.here:
            xp = array_module(self.shard.device.kind)
            own = xp.zeros(n, np.bool_)
            own[first:last] = True
            self.own = Frontier(n, bits=Bitmask.from_bool(own), size=last - first)
            bits = None if settled is None else Bitmask(n, bring(settled.words, self.shard.device).copy())
            kind = run.backend.ShapedSupersteps if run.code.is_shaped else run.backend.Supersteps
            self.steps = kind(run.code, state, bits, run.sources.dtype)

    def superstep(self, run: Run, push: bool, frontier: Frontier, step: int) -> None:
        """Messages to the shard's vertices."""
        if push and not self.part.gathering.nnz:
            return
        with self.shard.device.here:
            if run.code.cells:
                self.steps.turn(tuple(run.world.values()), step)
            (self.steps.push if push else self.steps.pull)(self.part, frontier)

    def apply(self, run: Run, step: int) -> tuple[Any, Any, np.ndarray]:
        """Update who received: who is active now, whose properties may have changed (None for all), and the sums."""
        with self.shard.device.here:
            updated = None
            if run.everyone:
                self.steps.address(self.own)
            elif run.code.sends is not None:
                # Who changed need not send.
                updated = self.steps.addressed().to_indices()
            active, sums = self.steps.apply(run.arcs, tuple(run.world.values()), step, False)
            ids = run.below_ceiling(active.ids, self.state[0])
            # The work space writes over its lists in the next superstep.
            return ids.copy(), None if run.everyone else ids if updated is None else updated, sums


def divided_supersteps(run: Run, frontier: Frontier, settled: Bitmask | None) -> tuple[Listed, Any]:
    """Run a program on a divided graph superstep by superstep; as `hpgraph.engine.superstep.supersteps`.

    Parameters
    ----------
    run : Run
        Its properties are filled, and lie on the first device.
    frontier : Frontier
        Who is active at first.
    settled : Bitmask or None
        Where each vertex receives only once, who does not any more.

    Returns
    -------
    rows : Listed
        The trace.
    active : array of vertex ids, or None
        Who was still active at the end; None for nobody.
    """
    arcs: Any = run.arcs
    graph, code, n = arcs.graph, run.code, run.n
    first = graph.shards[0].device
    if code.aggregate is not None and n:
        run.note_sums(run.backend.aggregate(code, run.state, tuple(run.world.values())))
    if graph.place is not None:
        if not frontier.everyone:
            frontier = Frontier(n, ids=_sorted(graph.place[frontier.ids]))
        if settled is not None:
            settled = Bitmask.from_indices(graph.place[settled.to_indices()], n)
    own = tuple(graph.in_order_of_shards(values) for values in run.state)
    kind: Any = OfPages if arcs.in_windows else _OfShard
    shards = [kind(run, part, copies(own, part.shard.device, i), settled) for i, part in enumerate(arcs.parts())]
    may_push = not run.everyone and pushes_repeat(code, shards[0].steps)
    # Who pushes to another's vertex asks conditions of it.
    exchanged = tuple(range(len(own))) if arcs.in_windows and may_push else told_by_senders(code)
    table: list[np.ndarray] = []
    frontiers = _everywhere(shards, [frontier.ids], n) if not frontier.everyone else _everyone(shards, n)
    done = 0
    while frontiers[0].size and done < run.limit:
        began, step, active = now(), done + 1, frontiers[0].size
        push, looked = arcs.direction(frontiers, run.policy, may_push, shards)
        if arcs.in_windows:
            supersteps_of_pages(run, push, shards, frontiers, step)
        else:
            for shard, sending in zip(shards, frontiers, strict=True):
                shard.superstep(run, push, sending, step)
        ends = [shard.apply(run, step) for shard in shards]
        _exchange(shards, [updated for _, updated, _ in ends], exchanged)
        run.note_sums(np.sum([sums for _, _, sums in ends], axis=0))
        changed = [ids for ids, _, _ in ends]
        everyone = run.everyone and any(map(len, changed))
        frontiers = _everyone(shards, n) if everyone else _everywhere(shards, changed, n)
        table.append(np.array([[PUSH if push else PULL, active, looked, now() - began]], np.int64))
        done += 1
        if run.has_converged(done):
            frontiers = _everywhere(shards, [ids[:0] for ids in changed], n)
            break
    bring_home(run, graph, [shard.state for shard in shards])
    with first.here:
        left = frontiers[0]
        if not left.size:
            return Listed(table, done), None
        ids = left.ids.copy()
        return Listed(table, done), ids if graph.order is None else _sorted(graph.order[ids])


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


def _everyone(shards: list[_OfShard], n: int) -> list[Frontier]:
    return [Frontier(n, device=shard.shard.device.kind) for shard in shards]


def _everywhere(shards: list[_OfShard], ids: list[Any], n: int) -> list[Frontier]:
    """The union of lists of vertices, ascending from one list to the next, as a frontier on each device."""
    made = []
    for shard in shards:
        with shard.shard.device.here:
            lists = [bring(some, shard.shard.device) for some in ids]
            made.append(Frontier(n, ids=lists[0] if len(lists) == 1 else array_module(lists[0]).concatenate(lists)))
    return made


def _exchange(shards: list[_OfShard], updated: list[Any], properties: tuple[int, ...]) -> None:
    """Tell every device the values of whoever was updated: whole ranges, or ids and values."""
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
    """Every shard's own values into the run's properties; or, where they are wanted apart, into pieces.

    Parameters
    ----------
    run : Run
    graph : DividedGraph
    states : sequence of tuples of arrays of length n
        The properties on the device of each shard, by the shards' numbers; those on the first device are written to.
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
