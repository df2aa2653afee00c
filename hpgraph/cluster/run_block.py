"""A run of a program over one block: its beginning, the engine's loop, its result."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hpgraph.cluster.block_arcs import ACTIVE, SAVE, BlockArcs
from hpgraph.cluster.blocks import Block
from hpgraph.cluster.compiling import compiling_once
from hpgraph.cluster.exchange import NO_VERTEX, Exchange, degrees_of, some_of
from hpgraph.cluster.job import COLUMNS, BlockResult, BlockState, Job, Share, received
from hpgraph.cluster.memory import Memory
from hpgraph.cluster.mesh import Mesh
from hpgraph.cluster.relaxation import RelaxingArcs, relaxes
from hpgraph.engine.program_errors import reworded
from hpgraph.engine.state import Run
from hpgraph.engine.superstep import supersteps
from hpgraph.formats import Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.superstep.block import block_code


class BlockRun:
    """One block in one epoch of a run."""

    def __init__(self, job: Job, block: Block, share: Share, mesh: Mesh) -> None:
        self.job, self.share = job, share
        declared, number = received(job.program, job.key), block.numbering
        code = block_code(declared.code(job.dtypes))
        self.memory = Memory(block.device, number, job.dtypes)
        pushes = code.update is None and code.reduce.idempotent and not code.reduce.ends_on_anything
        policy = replace(job.policy, mode="push") if pushes and job.policy.mode == "auto" else job.policy
        degree = degrees_of(block, mesh, job.backwards, job.counted)
        arcs = RelaxingArcs if relaxes(job, declared, code) else BlockArcs
        self.exchange = Exchange(number, mesh, job.backwards)
        self.arcs = arcs(job, block, declared, code, self.exchange, self.memory, degree)
        self.run = self.arcs.run = Run(
            kernels(block.device), declared, code, self.arcs, (*self.memory.properties, block.resident_vertices), (),
            dict(job.world), np.empty(0, number.dtype), policy, job.limit, job.delta, job.ceiling,
        )  # fmt: skip
        self.last_place: str | None = None

    def go(
        self,
        restored: "Callable[[BlockRun], BlockState | None]",
        save: "Callable[[BlockRun, BlockState], None]",
        report: Callable[[int, int], None],
    ) -> BlockResult:
        """Run all supersteps, from the state that `restored` reads into `memory` if there is one, or from the start."""
        run, arcs = self.run, self.arcs
        with reworded(run.code, arcs):
            state = restored(self) or self._begin()
            run.world.update(state.world)
            arcs.notes = [(*row, 0) for row in state.rows[:, 4:].tolist()]
            frontier = arcs.begin(state)
            begun, saved_at = self.exchange.mesh.sent, time.monotonic()
            if self.job.checkpoint is not None and arcs.numbering.block == 0:
                arcs.is_due = lambda: time.monotonic() - saved_at >= self.job.every

            def after(done: int, tables: list[np.ndarray]) -> None:
                nonlocal saved_at
                report(done, int(arcs.counts[ACTIVE]))
                if arcs.counts[SAVE]:
                    save(self, BlockState(done, arcs.active_ids, run.world, arcs.counts, arcs.rows(tables)))
                    saved_at = time.monotonic()

            trace, left = supersteps(
                run, frontier, state.settled, done=state.step, tables=[state.rows[:, :4]], after=after
            )
        properties = {name: self.memory.own(i) for i, (name, _) in enumerate(run.code.properties)}
        return BlockResult(properties, NO_VERTEX if left is None else left, run.world, arcs.rows([trace()]), begun)

    def _begin(self) -> BlockState:
        """Initialize the properties; returns the initial state."""
        job, run, arcs, put = self.job, self.run, self.arcs, self.memory.put
        properties, own, ids = self.memory.properties, arcs.own, run.state[-1][arcs.own]
        for (name, _), values, beginning in zip(run.code.properties, properties, job.beginnings, strict=True):
            if beginning is None:
                values[own] = put(self.share.arrays[name])
            else:
                values.fill(beginning[0])
        active, world = self.share.active, tuple(run.world.values())
        own_state = tuple(values[own] for values in run.state)
        if job.starts:
            with compiling_once(job.key, "starts"):
                starting = run.backend.starting(run.code, own_state, world)
                active = self.memory.get(starting.to_indices()).astype(np.uint32)
        chosen: Any = slice(None) if active is None else put(active)
        for values, beginning in zip(properties, job.beginnings, strict=True):
            if beginning is not None and beginning[1] is not None:
                values[own][chosen] = ids[chosen] if beginning[1] == "id" else beginning[1]
        for (name, _), values in zip(run.code.properties, properties, strict=True):
            if (make := job.of_degrees.get(name)) is not None:
                values[own] = put(make(arcs.degree))
        if run.all_active:
            active = None
        settled, sums = None, np.zeros(len(run.declared.aggregators))
        if run.code.reduce.ends_on_anything and not run.all_active:
            settled = Bitmask.full(arcs.n_own) if active is None else some_of(active, arcs.n_own).bits
        if run.code.aggregate is not None:
            with compiling_once(job.key, "aggregate"):
                sums = run.backend.aggregate(run.code, own_state, world)
        counts, sums = self.exchange.total(0, [arcs.counted(active), sums])
        run.note_sums(sums)
        return BlockState(0, active, run.world, counts, np.empty((0, COLUMNS), np.int64), settled)
