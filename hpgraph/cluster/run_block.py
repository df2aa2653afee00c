"""The loop over supersteps of one block.

A superstep: the engine's kernels send messages along the block's arcs; *fold* takes them to the blocks that own their
targets, which update; *spread* takes changed values to the blocks that have these vertices as sources. All blocks
choose the same direction and stop in the same superstep, because they decide by the same sums.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.cluster.block_state import COLUMNS, BlockResult, BlockState
from hpgraph.cluster.blocks import Block
from hpgraph.cluster.compiling import compiling_once
from hpgraph.cluster.degrees import degrees_of
from hpgraph.cluster.exchange import Exchange, Told, some_of
from hpgraph.cluster.job import Job, Share, received
from hpgraph.cluster.memory import memory_on
from hpgraph.cluster.mesh import Mesh
from hpgraph.cluster.programs import PREPARED
from hpgraph.cluster.reading import reading_of
from hpgraph.core.work_clock import now
from hpgraph.engine.complaint import naming_what_does_not_compile
from hpgraph.formats import CSR, Bitmask, Frontier
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.runtime.direction import PULL, PUSH, product_pushes
from hpgraph.kernels.superstep import pushes_repeat
from hpgraph.kernels.superstep.block import block_code
from hpgraph.placement.in_memory import InMemory

# Counts over all blocks: active vertices, their out-arcs, whether to save, arcs relaxed within blocks.
ACTIVE, LEAVING, SAVE, INNER = 0, 1, 2, 3
COUNTS = 4
COUNTS = 4
NOBODY = np.empty(0, np.uint32)


class BlockRun:
    """One block in one epoch of a run."""

    def __init__(self, job: Job, block: Block, share: Share, mesh: Mesh) -> None:
        self.job, self.block, self.share = job, block, share
        self.numbering = number = block.numbering
        self.exchange = Exchange(number, mesh, job.backwards)
        self.declared = received(job.program, job.key)
        self.code = block_code(self.declared.code(job.dtypes))
        self.reading = reading_of(self.code)
        # For messages against the arcs, the block is transposed.
        edges = "out" if job.backwards else "in"
        self.arcs = InMemory(block.resident, edges, self.declared.weighted, self.code.message.itemsize)
        self.everyone = self.declared.activity == "all"
        # A relaxation pushes.
        relaxes = self.code.update is None and self.code.reduce.idempotent and not self.code.reduce.ends_on_anything
        self.mode = "push" if relaxes and job.mode == "auto" else job.mode
        self.own, self.n_own = number.own, number.own.stop - number.own.start
        self.nobody = some_of(NOBODY, self.n_own)
        self.own_words = number.words(number.block)
        self.memory = memory_on(block.device)(number, job.dtypes)
        self.properties, self.vertices = self.memory.properties, block.resident_vertices
        self.backend = kernels(block.device)
        self.world = dict(job.world)
        #: How often the last superstep raised the bound of a relaxation, or tried to.
        self.raises = 0
        # Folder of the last checkpoint, which the next one replaces.
        self.last_place: str | None = None

    @property
    def name(self) -> str:
        """The program's declarations."""
        return self.declared.name

    def go(
        self,
        saved: Callable[[], tuple[BlockState, Bitmask | None] | None],
        save: Callable[[BlockRun, BlockState], None],
        report: Callable[[int, int], None],
    ) -> BlockResult:
        """Run all supersteps.

        ``saved``: reads the state from a checkpoint into `properties`; returns None if there is none.
        """
        with naming_what_does_not_compile(self.code, lambda: self.arcs.sending.dtype):
            self.degree = degrees_of(self.block, self.exchange.mesh, self.job.backwards, self.job.counted)
            self.arcs_leaving = int(self.degree.sum())
            came = saved()
            if came is None:
                moment, settled = self._begin()
            else:
                moment, settled = self._restored(came[0]), came[1]
                self.world = moment.world
            self.steps = self._work_space(settled)
            frontier = self._spread_all(moment)
            begun = self.exchange.mesh.sent
            moment = self._loop(moment, frontier, save, report)
        columns = np.array(moment.rows, np.int64).reshape(-1, COLUMNS)
        properties = {name: self.memory.own(i) for i, (name, _) in enumerate(self.code.properties)}
        active = moment.active if moment.counts[ACTIVE] else NOBODY
        active = np.arange(self.n_own, dtype=np.uint32) if active is None else active
        return BlockResult(properties, active, self.world, moment.step, columns, begun)

    def _targets(self) -> CSR:
        """Arcs by target, for the vertices that can have in-arcs in this block."""
        rows, number = self.arcs.by_target, self.numbering
        if self.job.backwards:
            return rows
        # The column's vertices have the first numbers.
        last = max(number.range(peer).stop for peer in number.grid.column_of(number.block))
        return CSR((last, rows.shape[1]), rows.indptr[: last + 1], rows.indices, rows.data, validate=False)

    def _work_space(self, settled: Bitmask | None) -> Any:
        # At first only own vertices are settled; others are once a message was sent to them.
        whole = None
        if settled is not None:
            whole = Bitmask.zeros(self.numbering.size, self.memory.device)
            whole.words[self.own_words] = self.memory.put(settled.words)
        self.settled = whole
        state = (*self.properties, self.vertices)
        return kernels(self.memory.device).Supersteps(self.code, state, whole, self.numbering.dtype)

    def _restored(self, moment: BlockState) -> BlockState:
        """The block state to resume from."""
        return moment

    def _begin(self) -> tuple[BlockState, Bitmask | None]:
        """Fill the properties; return the initial state and the settled vertices."""
        job, share, put = self.job, self.share, self.memory.put
        for (name, _), values, beginning in zip(self.code.properties, self.properties, job.beginnings, strict=True):
            if beginning is None:
                values[self.own] = put(share.arrays[name])
            else:
                values.fill(beginning[0])
        active = share.active
        world = tuple(self.world.values())
        if job.starts:
            with compiling_once(job.key, "starts"):
                starting = self.backend.starting(self.code, self._own_state(), world)
                active = self.memory.get(starting.to_indices()).astype(np.uint32)
        chosen = slice(None) if active is None else put(active)
        for values, beginning in zip(self.properties, job.beginnings, strict=True):
            if beginning is not None and beginning[1] is not None:
                ids = self.vertices[self.own]
                values[self.own][chosen] = ids[chosen] if beginning[1] == "id" else beginning[1]
        if job.prepare is not None:
            for name, own in PREPARED[job.prepare](self.block, self.degree, job.dtypes[0]).items():
                place = [name for name, _ in self.code.properties].index(name)
                self.properties[place][self.own] = put(own)
        if self.everyone:
            active = None
        once = self.code.reduce.ends_on_anything and not self.everyone
        settled = None
        if once:
            settled = Bitmask.full(self.n_own) if active is None else Bitmask.from_indices(
                active.view(np.int32), self.n_own)  # fmt: skip
        sums = np.zeros(len(self.declared.aggregators))
        if self.code.aggregate is not None:
            with compiling_once(job.key, "aggregate"):
                sums = self.backend.aggregate(self.code, self._own_state(), world)
        counts, sums = self.sum(0, self._counts(active), sums)
        self.world.update(zip(self.declared.aggregators, sums, strict=True))
        return BlockState(0, active, self.world, counts), settled

    def _own_state(self) -> tuple[np.ndarray, ...]:
        return tuple(values[self.own] for values in (*self.properties, self.vertices))

    def _counts(self, active: np.ndarray | None, save: bool = False) -> np.ndarray:
        size = self.n_own if active is None else len(active)
        leaving = self.arcs_leaving if active is None else self.degree[active].sum()
        return np.array([size, leaving, save, 0], np.int64)

    def sum(self, step: int, counts: np.ndarray, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums over all blocks: along one side of the grid, then along the other, always in the same order."""
        beside = (counts.dtype, len(counts)), (sums.dtype, len(sums))
        for told in (self.exchange.spread, self.exchange.control):
            came = told(step, Told(self.nobody, [], [counts, sums]), [], beside)
            counts, sums = self._added(counts, sums, came)
        return counts, sums

    def _added(
        self, counts: np.ndarray, sums: np.ndarray, came: dict[int, Told]
    ) -> tuple[np.ndarray, np.ndarray]:
        parts = {self.numbering.block: (counts, sums), **{peer: (t.beside[0], t.beside[1]) for peer, t in came.items()}}
        total_counts, total_sums = np.zeros_like(counts), np.zeros_like(sums)
        for peer in sorted(parts):
            total_counts += parts[peer][0]
            total_sums += parts[peer][1]
        return total_counts, total_sums

    def _spread_all(self, moment: BlockState) -> Frontier:
        """Send the values that other blocks read, of all own vertices, and the active vertices."""
        for told, read in ((self.exchange.spread, self.reading.of_source),
                           (self.exchange.control, self.reading.of_target)):  # fmt: skip
            read = tuple(i for i in read if self._differs(i, moment))
            if read:
                self._published(told, moment.step, self._told(None, read, []), read)
        if self.everyone:
            return self._frontier(None, {})
        mine = self._told(moment.active, (), [])
        return self._frontier(mine.who, self.exchange.spread(moment.step, mine, []))

    def _differs(self, i: int, moment: BlockState) -> bool:
        """Whether a property may differ from its fill value in other blocks."""
        beginning = self.job.beginnings[i]
        return (
            moment.step > 0 or self.job.prepare is not None or beginning is None or beginning[1] is not None
        )

    def _frontier(self, own: Frontier | None, came: dict[int, Told]) -> Frontier:
        """The active vertices among this block's sources, in local numbers."""
        number = self.numbering
        if self.everyone:
            return Frontier(number.size, device=self.memory.device)
        parts = [(number.block, own), *((peer, told.who) for peer, told in came.items())]
        some = {member: who or Frontier(number.grid.size(member)) for member, who in parts}
        size = sum(who.size for who in some.values())
        if self.mode != "push" and 32 * size > number.size:
            # A large frontier is pulled from, as bits; each range has its own words.
            bits = Bitmask.zeros(number.size)
            for member, who in some.items():
                bits.words[number.words(member)] = who.bits.words
            return self.memory.frontier(Frontier(number.size, bits=bits, size=size))
        lists = [
            (some[member].ids + first).astype(number.dtype, copy=False)
            for member, first in number.first.items() if member in some
        ]  # fmt: skip
        return self.memory.frontier(Frontier(number.size, ids=np.concatenate(lists)))

    def _loop(
        self, moment: BlockState, frontier: Frontier, save: Callable[[BlockRun, BlockState], None],
        report: Callable[[int, int], None],
    ) -> BlockState:  # fmt: skip
        job, stop = self.job, self.declared.functions["converged"]
        may_push = not self.everyone and pushes_repeat(self.code, self.steps)
        saved_at = time.monotonic()
        while moment.counts[ACTIVE] and moment.step < job.limit:
            began, sent, step = now(), self.exchange.mesh.sent, moment.step + 1
            leaving = int(moment.counts[LEAVING])
            sparse = product_pushes(leaving, job.arcs, job.alpha)
            push = may_push and (self.mode == "push" or (self.mode == "auto" and sparse))
            # One block decides for all when to save.
            due = (
                job.checkpoint is not None and self.numbering.block == 0 and time.monotonic() - saved_at >= job.every
            )
            active, counts, sums, frontier = self.superstep(step, frontier, push, due)
            self.world.update(zip(self.declared.aggregators, sums, strict=True))
            spent = now() - began
            looked = (leaving if push else job.arcs) + int(counts[INNER])
            row = (
                PUSH if push else PULL, int(moment.counts[ACTIVE]), looked, spent, self.exchange.mesh.sent - sent,
                self.messages, self.raises,
            )  # fmt: skip
            moment = BlockState(step, active, self.world, counts, moment.rows)
            moment.rows.append(row)
            if stop is not None and stop(self.code.world(step, *self.world.values())):  # type: ignore[operator]
                return BlockState(step, NOBODY, self.world, np.zeros_like(counts), moment.rows)
            report(step, int(counts[ACTIVE]))
            if counts[SAVE]:
                save(self, moment)
                saved_at = time.monotonic()
        return moment

    def superstep(
        self, step: int, frontier: Frontier, push: bool, due: bool
    ) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, Frontier]:
        """Run one superstep.

        Returns ``active`` (uint32 array or None): the own vertices that are active now.
        """
        steps = self.steps
        if self.code.cells:
            steps.turn(tuple(self.world.values()), step)
        with compiling_once(self.job.key, "push" if push else f"pull{frontier.everyone}"):
            if push:
                steps.push(self.arcs, frontier)
            elif frontier.everyone and self.code.cond is None:
                key = "targets", self.job.backwards, self.declared.weighted
                steps.pull_all(self.block.once(key, self._targets))
            else:
                steps.pull(self.arcs, frontier)
        self._fold(step)
        return self._update(step, due)

    def _update(self, step: int, due: bool) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, Frontier]:
        """Update the vertices that received, and exchange; what `superstep` returns."""
        steps, world = self.steps, tuple(self.world.values())
        updated = self._updated()
        with compiling_once(self.job.key, "apply"):
            if self.everyone:
                some, sums = steps.update_all(self.own, world, step)
                active = None
            else:
                changed, sums = steps.apply(self.arcs, world, step, False)
                active = (self.memory.get(changed.ids) - self.own.start).astype(np.uint32)
        counts = self._counts(active, due)
        if self.everyone and not some:
            counts[ACTIVE] = 0
        return self._tell(step, active, updated, counts, sums)

    def _tell(
        self, step: int, active: np.ndarray | None, updated: np.ndarray | None, counts: np.ndarray, sums: np.ndarray
    ) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, Frontier]:
        """Send active vertices and changed properties to other blocks; what `superstep` returns."""
        beside = (counts.dtype, len(counts)), (sums.dtype, len(sums))
        source, target, exchange = self.reading.of_source, self.reading.of_target, self.exchange
        told = self._told(active, source, [counts, sums])
        came = self._published(exchange.spread, step, told, source, beside)
        counts, sums = self._added(counts, sums, came)
        own = told.who
        told = Told(self.nobody, [], [counts, sums])
        if target:
            told = self._told(active if updated is None else updated, target, [counts, sums])
        came_beside = self._published(exchange.control, step, told, target, beside)
        counts, sums = self._added(counts, sums, came_beside)
        return active, counts, sums, self._frontier(own, came)

    def _published(
        self, tell: Callable[..., dict[int, Told]], step: int, told: Told, read: tuple[int, ...],
        beside: tuple[Any, ...] = (),
    ) -> dict[int, Told]:  # fmt: skip
        """Exchange values of properties with other blocks."""
        came = tell(step, told, [self.memory.place(i) for i in read], beside)
        self.memory.heard(came, read)
        return came

    def _updated(self) -> np.ndarray | None:
        """The vertices to be updated, if properties may change without activating their vertex.

        `sends` may keep a changed vertex inactive, and a change to NaN counts as none.
        """
        floats = any(self.job.dtypes[i].kind == "f" for i in self.reading.of_target)
        if self.everyone or not self.reading.of_target or not (floats or self.code.sends is not None):
            return None
        received = self.memory.get(self.steps.received(self.own_words))
        return Bitmask(self.n_own, received).to_indices().astype(np.uint32)

    def _told(self, ids: np.ndarray | None, read: tuple[int, ...], beside: list[np.ndarray]) -> Told:
        if ids is not None and len(ids) == self.n_own:
            ids = None
        return Told(None if ids is None else some_of(ids, self.n_own), [self.memory.own(i, ids) for i in read], beside)

    def _fold(self, step: int) -> None:
        """Exchange messages with the owners of their targets."""
        number, steps, own, put, get = self.numbering, self.steps, self.own, self.memory.put, self.memory.get
        outgoing = {}
        self.messages = 0
        for peer in self.exchange.beside_targets:
            if self.everyone:
                outgoing[peer] = Told(None, [get(steps.messages_of(number.range(peer)))], [])
            else:
                ids, messages = map(get, steps.take(number.range(peer), number.words(peer)))
                size = number.grid.size(peer)
                outgoing[peer] = Told(None if len(ids) == size else some_of(ids, size), [messages], [])
            self.messages += len(outgoing[peer].values[0])
        for said in self.exchange.fold(step, outgoing, self.code.message).values():
            with compiling_once(self.job.key, f"bring{self.everyone}"):
                if self.everyone:
                    steps.join_all(own, put(said.values[0]))
                else:
                    ids = np.arange(self.n_own, dtype=np.uint32) if said.ids is None else said.ids
                    steps.join_listed(own, put(ids), put(said.values[0]))
