"""Relaxations over blocks: values reach a fixed point within a block before they are sent, in buckets.

Arcs between two vertices of one block need no exchange. After each superstep the engine's loop
(`hpgraph.kernels.relaxation`) therefore relaxes them to a fixed point, and only changes of vertices with arcs in other
blocks are sent. If values settle in ascending order, as distances do, values above a bound are not sent: all blocks
process values up to it, agree by their sums that none is left, and raise it together (U. Meyer, P. Sanders,
"Δ-stepping: a parallelizable shortest path algorithm", J. Algorithms 49, 2003).

The result is that of plain supersteps, because a message of a better value supersedes those that were not sent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hpgraph.cluster.block_state import BlockState
from hpgraph.cluster.blocks import Block
from hpgraph.cluster.compiling import compiling_once
from hpgraph.cluster.exchange import Told
from hpgraph.cluster.job import Job, Share, received
from hpgraph.cluster.mesh import Mesh
from hpgraph.cluster.reading import reading_of
from hpgraph.cluster.run_block import ACTIVE, INNER, BlockRun
from hpgraph.core.device import to_device
from hpgraph.engine.forms import RELAXATION, form_of
from hpgraph.formats import CSR, Bitmask, Frontier
from hpgraph.kernels.runtime.search import Search
from hpgraph.placement.in_memory import InMemory

# A bucket widens if a round of messages relaxes fewer arcs of a block, and narrows towards its first width if it
# relaxes PLENTY times as many. A round takes about 1.5 ms, an arc of a relaxation 6 ns.
MIN, PLENTY = 1 << 18, 16
_NO_LIMIT = np.iinfo(np.int64).max


class RelaxationRun(BlockRun):
    """A `BlockRun` of a program that `relaxes`."""

    def __init__(self, job: Job, block: Block, share: Share, mesh: Mesh) -> None:
        super().__init__(job, block, share, mesh)
        self.values = self.properties[0][self.own]
        kind = self.values.dtype.type
        #: The bound, and the width of a bucket; None if all values may be sent.
        self.bound = None if job.delta is None else kind(min(job.delta, self._ceiling))
        self.width = job.delta
        self.low = self.bound
        # Rounds of messages, and arcs relaxed by all blocks, since the bound was raised.
        self.rounds, self.served = 0, 0
        # Properties have their values already, so none is filled; the CPU's loop counts the vertex ids among them.
        self._begun = (None,) if block.device == "cuda" else (None, None)
        self.own_state = tuple(values[self.own] for values in (*self.properties, self.vertices))

    @property
    def _ceiling(self) -> float:
        return float("inf") if self.job.ceiling is None else self.job.ceiling

    def _work_space(self, settled: Bitmask | None) -> Any:
        self.inner = self.block.once(("inner", self.job.backwards, self.declared.weighted), self._inner)
        # Vertices with arcs in other blocks, and their values as last sent.
        self.edge = self.memory.put(np.flatnonzero(self.degree > self.memory.get(self.inner.degrees)))
        self.told = self.values[self.edge]
        return super()._work_space(settled)

    def _inner(self) -> CSR:
        """The arcs between own vertices, numbered from the first of the range."""
        edges = "out" if self.job.backwards else "in"
        csr, own = InMemory(self.block.graph, edges, self.declared.weighted).sending, self.own
        begin, end = csr.indptr[own.start], csr.indptr[own.stop]
        target = csr.indices[begin:end]
        inside = (target >= own.start) & (target < own.stop)
        indptr = np.concatenate([[0], np.cumsum(inside)])[csr.indptr[own.start : own.stop + 1] - begin]
        data = None if csr.data is None else csr.data[begin:end][inside]
        indices = target[inside] - target.dtype.type(own.start)
        there = [to_device(array, self.memory.device) for array in (indptr, indices, data)]
        return CSR((self.n_own, self.n_own), there[0], there[1], there[2], validate=False)

    def _restored(self, moment: BlockState) -> BlockState:
        # A checkpoint does not hold the bound: every vertex sends once more.
        return replace(moment, active=np.arange(self.n_own, dtype=np.uint32))

    def _update(self, step: int, due: bool) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, Frontier]:
        with compiling_once(self.job.key, "apply"):
            changed, _ = self.steps.apply(self.arcs, tuple(self.world.values()), step, False)
        served, total, self.raises = self._settle(changed.ids - self.own.start), 0, 0
        while True:
            active = self._news()
            counts = self._counts(active, due)
            counts[INNER] = served
            found = self._tell(step, active, None, counts, np.empty(0))
            self.rounds += 1
            self.served += int(found[1][INNER])
            # The trace counts all rounds of a superstep.
            total += int(found[1][INNER])
            found[1][INNER] = total
            if found[1][ACTIVE] or not self._raise(step):
                return found
            served = self._settle((self.values > self.low).nonzero()[0])

    def _settle(self, sources: Any) -> int:
        """Relax the arcs between own vertices to a fixed point; the number of arcs relaxed."""
        if self.bound is not None:
            sources = sources[self.values[sources] <= self.bound]
        if not len(sources) or not self.inner.nnz:
            return 0
        with compiling_once(self.job.key, "relax"):
            rows, _ = self.backend.relax(Search(
                self.code, self.inner, self.own_state, self._begun, tuple(self.world.values()),
                sources.astype(self.inner.indices.dtype), _NO_LIMIT, delta=self.job.delta,
                ceiling=None if self.bound is None else float(self.bound),
            ))  # fmt: skip
        return int(rows()[:, 2].sum())

    def _news(self) -> np.ndarray:
        """Vertices whose values must be sent to other blocks; marks them as sent."""
        values = self.values[self.edge]
        # A NaN differs from itself, and lowers no value.
        news = (values != self.told) & (values == values)
        if self.bound is not None:
            news &= values <= self.bound
        self.told[news] = values[news]
        return self.memory.get(self.edge[news]).astype(np.uint32)

    def _raise(self, step: int) -> bool:
        """Raise the bound above the least value beyond it; false if there is none."""
        if self.bound is None:
            return False
        self.raises += 1
        beyond = self.values[self.values > self.bound]
        least = np.array([float(beyond.min()) if len(beyond) else np.inf])
        for told in (self.exchange.spread, self.exchange.control):
            came = told(step, Told(self.nobody, [], [least]), [], ((least.dtype, 1),))
            least = np.minimum.reduce([least, *(said.beside[0] for said in came.values())])
        if not least[0] < np.inf or least[0] > self._ceiling:
            return False
        self._adapt()
        kind = self.values.dtype.type
        self.low, self.bound = self.bound, kind(min(max(kind(least[0] + self.width), kind(least[0])), self._ceiling))
        return True

    def _adapt(self) -> None:
        assert self.width is not None and self.job.delta is not None
        each = self.served / (self.rounds * self.numbering.grid.blocks)
        if each < MIN:
            self.width *= 2
        elif each > PLENTY * MIN:
            self.width = max(self.width / 2, self.job.delta)
        self.rounds, self.served = 0, 0


def relaxes(job: Job) -> bool:
    """Whether a job's program is a relaxation that may run to a fixed point within a block."""
    declared = received(job.program, job.key)
    code = declared.code(job.dtypes)
    if job.mode != "auto" or code.update is not None or form_of(declared, code).loop != RELAXATION:
        return False
    # Properties read of targets would have to be sent as well.
    return not reading_of(code).of_target
