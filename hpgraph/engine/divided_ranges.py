"""The general loop over shards with divided attributes: each device holds those of its own vertices.

Strategy S of GTS (M.-S. Kim et al., SIGMOD'16): in every superstep a device fetches what its columns need of the
others' attributes, a piece of the columns at a time, and gathers along the arcs from there. Nobody updates before all
have gathered. A run's properties begin in main memory, and end apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.core.devices import Devices, bring, copy_between
from hpgraph.core.work_clock import now
from hpgraph.engine.divided_arcs import reads_ids, told_by_senders
from hpgraph.engine.divided_columns import columns_of
from hpgraph.engine.superstep import Listed
from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.runtime.direction import PULL
from hpgraph.kernels.superstep.block import VERTEX, block_code

if TYPE_CHECKING:
    from hpgraph.engine.divided_arcs import DividedArcs
    from hpgraph.engine.divided_columns import Columns, Fetched
    from hpgraph.engine.state import Run
    from hpgraph.kernels.runtime.program import ProgramCode


class _Offsets(NamedTuple):
    """Where the arcs that leave a piece's vertices would begin, for who counts those of a frontier."""

    indptr: Any


class _Leaving(NamedTuple):
    """What an update asks of a part."""

    sending: _Offsets


class _Range:
    """One device's part in a run: the attributes of its vertices, and room for others'."""

    def __init__(self, run: Run, code: ProgramCode, columns: Columns, number: int, settled: Any) -> None:
        arcs: Any = run.arcs
        graph = arcs.graph
        self.columns, self.shard, self.number = columns, graph.shards[number], number
        first, last = self.shard.first, self.shard.last
        self.own = slice(columns.first, columns.first + last - first)
        with self.shard.device.here:
            self.xp = xp = array_module(self.shard.device.kind)
            self.state = tuple(xp.zeros((columns.n, *values.shape[1:]), values.dtype) for values in run.state)
            for there, values in zip(self.state, run.state, strict=True):
                there[self.own] = bring(_of_range(values, graph, first, last), self.shard.device)
            if code.names_vertices:
                vertex = xp.zeros(columns.n, VERTEX)
                vertex[self.own] = xp.arange(first, last)
                self.state = (*self.state, vertex)
            flags = xp.zeros(columns.n, np.bool_)
            flags[self.own] = True
            self.updated = Frontier(columns.n, bits=Bitmask.from_bool(flags), size=last - first)
            self.flags = xp.zeros(columns.n, np.bool_)
            bits = None
            if settled is not None:
                flags = xp.zeros(columns.n, np.bool_)
                flags[self.own] = bring(_of_range(settled, graph, first, last), self.shard.device)
                bits = Bitmask.from_bool(flags)
            indptr = xp.zeros(columns.n + 1, np.int64)
            indptr[self.own.start + 1 : self.own.stop + 1] = arcs.leaving(self.shard).degrees
            self.leaving = _Leaving(_Offsets(indptr.cumsum()))
            kind = run.backend.ShapedSupersteps if code.is_shaped else run.backend.JoinedSupersteps
            self.steps: Any = kind(code, self.state, bits, run.sources.dtype)
            self.active: Any = None

    def values(self, number: int) -> Any:
        """A property of its own vertices."""
        return self.state[number][self.own]

    def gather(self, run: Run, ranges: list[_Range], told: tuple[int, ...], everyone: bool, step: int) -> int:
        """Messages to its vertices; how many arcs were looked at."""
        looked, begun = 0, False
        with self.shard.device.here:
            if run.code.cells:
                self.steps.turn(tuple(run.world.values()), step)
            for piece in self.columns.pieces:
                for fetched in piece.fetched:
                    giver = ranges[fetched.giver]
                    for number in told:
                        self._fetch(giver, giver.values(number), fetched, self.state[number])
                    if not everyone:
                        self._fetch(giver, giver.active, fetched, self.flags)
                frontier = Frontier(self.columns.n, device=self.shard.device.kind)
                if not everyone:
                    self.flags[self.own] = self.active
                    size = int(self.flags.sum())
                    frontier = Frontier(self.columns.n, bits=Bitmask.from_bool(self.flags), size=size)
                    self.flags[...] = False
                # The first one is pulled even from nobody, so that nothing said before is heard again.
                if begun and not (frontier.size and piece.gathering.nnz):
                    continue
                before = self.steps.take() if begun else None
                self.steps.pull(piece, frontier)
                if before is not None:
                    self.steps.join(*before)
                begun, looked = True, looked + piece.gathering.nnz
        return looked

    def _fetch(self, giver: _Range, values: Any, fetched: Fetched, into: Any) -> None:
        """Values of another's vertices into one of its own arrays."""
        with giver.shard.device.here:
            chosen = values[fetched.chosen]
        with self.shard.device.here:
            copy_between(chosen, into[fetched.place])

    def apply(self, run: Run, step: int) -> tuple[int, np.ndarray]:
        """Update who received: how many are active now, and the sums."""
        with self.shard.device.here:
            if run.everyone:
                self.steps.address(self.updated)
            active, sums = self.steps.apply(self.leaving, tuple(run.world.values()), step, False)
            ids = run.below_ceiling(active.ids, self.state[0])
            self.active = self.xp.zeros(self.own.stop - self.own.start, np.bool_)
            self.active[ids - self.own.start] = True
            return len(ids), sums


def _columns(arcs: DividedArcs, number: int, room: int) -> Columns:
    """The arcs of a shard in pieces, which the graph keeps."""
    graph, shard = arcs.graph, arcs.shards[number]
    columns: Columns = graph.once(
        f"columns of shard {number}, {room} at a time, {arcs.side}",
        lambda: columns_of(arcs.gathering(shard), arcs.shards, number, room),
    )
    return columns


def _of_range(values: Any, graph: Any, first: int, last: int) -> Any:
    """Values in main memory, by the graph's ids, of a range of the shards' numbers."""
    if graph.order is None:
        return values[first:last]
    with graph.shards[0].device.here:
        return values[bring(graph.order[first:last], Devices("cpu"))]


def ranged_supersteps(run: Run, frontier: Frontier, settled: Bitmask | None) -> tuple[Listed, Any]:
    """Run a program on a divided graph superstep by superstep; as `hpgraph.engine.divided_superstep`.

    Parameters
    ----------
    run : Run
        Its properties are filled, and lie in main memory; they end in its `pieces`.
    frontier : Frontier
        Who is active at first, and `settled` who does not receive any more; in main memory.
    settled : Bitmask or None

    Returns
    -------
    rows : Listed
    active : array of vertex ids, or None
    """
    arcs: Any = run.arcs
    graph, code = arcs.graph, run.code
    assert run.plan is not None
    closed = None if settled is None else settled.to_bool()
    told = told_by_senders(code)
    if reads_ids(code):
        # Numbers in a piece are others: who has which is one more property.
        told, code = (*told, len(run.state)), block_code(code)
    room = run.plan.room
    ranges = [_Range(run, code, _columns(arcs, i, room), i, closed) for i in range(len(graph.shards))]
    if code.aggregate is not None and run.n:
        run.note_sums(_first_sums(run, code, ranges))
    everyone, active = frontier.everyone, frontier.size
    if not everyone:
        _activate(ranges, graph, frontier.bits.to_bool())
    table: list[np.ndarray] = []
    done = 0
    while active and done < run.limit:
        began, step, sending = now(), done + 1, active
        looked = sum(own.gather(run, ranges, told, everyone, step) for own in ranges)
        ends = [own.apply(run, step) for own in ranges]
        run.note_sums(np.sum([sums for _, sums in ends], axis=0))
        active = sum(count for count, _ in ends)
        everyone = run.everyone
        if everyone and active:
            active = run.n
        table.append(np.array([[PULL, sending, looked, now() - began]], np.int64))
        done += 1
        if run.has_converged(done):
            active = 0
    pieces = []
    for own in ranges:
        with own.shard.device.here:
            pieces.append([own.values(number).copy() for number in range(len(run.state))])
    run.pieces = tuple(graph.in_pieces(of) for of in zip(*pieces, strict=True))
    return Listed(table, done), _left(graph, ranges, everyone, run.sources.dtype) if active else None


def _first_sums(run: Run, code: ProgramCode, ranges: list[_Range]) -> np.ndarray:
    """The sums of `aggregate` over all vertices as they are."""
    sums = []
    for own in ranges:
        if own.own.stop > own.own.start:
            with own.shard.device.here:
                state = tuple(own.values(number) for number in range(len(own.state)))
                sums.append(run.backend.aggregate(code, state, tuple(run.world.values())))
    total: np.ndarray = np.sum(sums, axis=0)
    return total


def _activate(ranges: list[_Range], graph: Any, flags: Any) -> None:
    """Tell each device who of its own is active."""
    for own in ranges:
        with own.shard.device.here:
            own.active = bring(_of_range(flags, graph, own.shard.first, own.shard.last), own.shard.device)


def _left(graph: Any, ranges: list[_Range], everyone: bool, ids: np.dtype) -> Any:
    """Who is still active, by the graph's ids, on the first device."""
    home = graph.shards[0].device
    with home.here:
        xp = array_module(home.kind)
        if everyone:
            return xp.arange(graph.n_vertices, dtype=ids)
        active = xp.zeros(graph.n_vertices, np.bool_)
        for own in ranges:
            active[own.shard.first : own.shard.last] = bring(own.active, home)
        return graph.in_own_order(active).nonzero()[0].astype(ids)
