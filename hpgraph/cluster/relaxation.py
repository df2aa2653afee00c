"""Relaxations over blocks: values reach a fixed point within a block before they are sent, in buckets.

Only changes of vertices with arcs in other blocks are sent. If values settle in ascending order, as distances do,
values above a bound are not sent: all blocks process values up to it, agree by their sums that none is left, and raise
it together (U. Meyer, P. Sanders, "Δ-stepping: a parallelizable shortest path algorithm", J. Algorithms 49, 2003). The
result is that of plain supersteps, because a message of a better value supersedes those that were not sent.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hpgraph.cluster.block_arcs import ACTIVE, INNER, BlockArcs
from hpgraph.cluster.compiling import compiling_once
from hpgraph.cluster.job import BlockState, Job
from hpgraph.core.device import prefix_sum, to_device
from hpgraph.engine.declarations import Declarations
from hpgraph.engine.forms import RELAXATION, form_of
from hpgraph.formats import CSR, Frontier
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.runtime.search import Search
from hpgraph.placement import End, Share, reading_of
from hpgraph.placement.in_memory import InMemory

# A bucket widens if a round of messages relaxes fewer arcs of a block, and narrows towards its first width if it
# relaxes NARROWING times as many. A round takes about 1.5 ms, an arc of a relaxation 6 ns.
MIN_ARCS, NARROWING = 1 << 18, 16
_NO_LIMIT = np.iinfo(np.int64).max


class RelaxingArcs(BlockArcs):
    """The arcs of a program that `relaxes`."""

    def begin(self, state: BlockState) -> Frontier:
        """As for any program; a checkpoint does not contain the bound, so every vertex sends once more."""
        self.values = self.memory.properties[0][self.own]
        self.ceiling = float("inf") if self.job.ceiling is None else self.job.ceiling
        #: The bound, and the width of a bucket; None if all values may be sent.
        self.bound = None if self.job.delta is None else self.values.dtype.type(min(self.job.delta, self.ceiling))
        self.low, self.width = self.bound, self.job.delta
        # Rounds of messages, and arcs relaxed by all blocks, since the bound was raised.
        self.rounds, self.relaxed = 0, 0
        self.inner = self.block.once(("inner", self.job.backwards, self.run.declared.weighted), self._inner)
        # Vertices with arcs in other blocks, and their values as last sent.
        self.edge = self.memory.put(np.flatnonzero(self.degree > self.memory.get(self.inner.degrees)))
        self.sent_values = self.values[self.edge]
        return super().begin(replace(state, active=np.arange(self.n_own, dtype=np.uint32)) if state.step else state)

    def _inner(self) -> CSR:
        """The arcs between own vertices, numbered from the first of the range."""
        edges, own = "out" if self.job.backwards else "in", self.own
        csr = InMemory(self.block.graph, edges, self.run.declared.weighted).sending
        begin, end = csr.indptr[own.start], csr.indptr[own.stop]
        target = csr.indices[begin:end]
        inside = (target >= own.start) & (target < own.stop)
        indptr = prefix_sum(inside)[csr.indptr[own.start : own.stop + 1] - begin]
        data = None if csr.data is None else csr.data[begin:end][inside]
        indices = target[inside] - target.dtype.type(own.start)
        arrays = [to_device(array, self.memory.device) for array in (indptr, indices, data)]
        return CSR((self.n_own, self.n_own), arrays[0], arrays[1], arrays[2], validate=False)

    def exchange_values(self, shares: Sequence[Share], ends: Sequence[End], all_active: bool) -> np.ndarray:
        """Relax within the block and exchange, until some value must be sent or none is left below the ceiling."""
        (share,), (end,) = shares, ends
        relaxed, total, self.raises = self._settle(end.changed.ids - self.own.start), 0, 0
        while True:
            active = self._changes()
            counts = self.counted(active)
            counts[INNER] = relaxed
            share.frontier, sums = self.publish(active, None, counts, np.empty(0))
            self.rounds += 1
            self.relaxed += int(self.counts[INNER])
            total += int(self.counts[INNER])
            if self.counts[ACTIVE] or not self._raise():
                break
            relaxed = self._settle((self.values > self.low).nonzero()[0])
        # The trace sums all rounds of a superstep.
        self.counts[INNER] = total
        self.note()
        return sums

    def _settle(self, sources: Any) -> int:
        """Relax the arcs between own vertices to a fixed point; returns the number of arcs relaxed."""
        if self.bound is not None:
            sources = sources[self.values[sources] <= self.bound]
        if not len(sources) or not self.inner.nnz:
            return 0
        run = self.run
        state = tuple(values[self.own] for values in run.state)
        # Properties have their values already, so none is filled; the CPU's loop counts the vertex ids among them.
        filled = (None,) if self.block.device == "cuda" else (None, None)
        with compiling_once(self.job.key, "relax"):
            rows, _ = run.backend.relax(Search(
                run.code, self.inner, state, filled, tuple(run.world.values()),
                sources.astype(self.inner.indices.dtype), _NO_LIMIT, delta=self.job.delta,
                ceiling=None if self.bound is None else float(self.bound),
            ))  # fmt: skip
        return int(rows()[:, 2].sum())

    def _changes(self) -> np.ndarray:
        """Vertices whose values must be sent to other blocks; marks them as sent."""
        values = self.values[self.edge]
        # A NaN differs from itself, and lowers no value.
        changed = (values != self.sent_values) & (values == values)
        if self.bound is not None:
            changed &= values <= self.bound
        self.sent_values[changed] = values[changed]
        return self.memory.get(self.edge[changed]).astype(np.uint32)

    def _raise(self) -> bool:
        """Raise the bound above the least value beyond it; false if there is none."""
        if self.bound is None:
            return False
        self.raises += 1
        beyond = self.values[self.values > self.bound]
        least = np.array([float(beyond.min()) if len(beyond) else np.inf])
        least = self.exchange.total(self.step, [least], np.minimum)[0]
        if not least[0] < np.inf or least[0] > self.ceiling:
            return False
        self._adapt()
        kind = self.values.dtype.type
        self.low, self.bound = self.bound, kind(min(max(kind(least[0] + self.width), kind(least[0])), self.ceiling))
        return True

    def _adapt(self) -> None:
        assert self.width is not None and self.job.delta is not None
        each = self.relaxed / (self.rounds * self.numbering.grid.blocks)
        if each < MIN_ARCS:
            self.width *= 2
        elif each > NARROWING * MIN_ARCS:
            self.width = max(self.width / 2, self.job.delta)
        self.rounds, self.relaxed = 0, 0


def relaxes(job: Job, declared: Declarations, code: ProgramCode) -> bool:
    """Whether a job's program is a relaxation that may run to a fixed point within a block."""
    if job.policy.mode != "auto" or code.update is not None:
        return False
    # Properties read of targets would have to be sent as well.
    return form_of(declared, declared.code(job.dtypes)).loop == RELAXATION and not reading_of(code).of_target
