"""Supersteps of edge-vertex programs on the CPU."""

from __future__ import annotations

import numpy as np
from numba import prange

from hpgraph.formats import Frontier
from hpgraph.kernels.runtime.cpu.claim import claim
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part as inlined
from hpgraph.kernels.runtime.cpu.prefetch import vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.cpu.weights import entry_or
from hpgraph.kernels.runtime.shaped_functions import shaped_functions_of
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.superstep import Part, cpu, cpu_frontier, cpu_shaped
from hpgraph.kernels.superstep.cpu_frontier import ROWS
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.jit import call
from hpgraph.semiring.stop import is_stopped


class EdgeSupersteps(cpu.Supersteps):
    """Work space of one run; see `hpgraph.kernels.superstep.cpu.Supersteps`."""

    def push(self, part: Part, frontier: Frontier) -> None:
        """The active vertices hear from the arcs that leave them, and send along them (top-down)."""
        self._hear(part, frontier)
        super().push(part, frontier)

    def pull(self, part: Part, frontier: Frontier) -> None:
        """Every vertex combines the messages of its active in-neighbours (bottom-up).

        Parameters
        ----------
        part : Part
            Arcs by their target.
        frontier : Frontier
            Who sends.
        """
        self._hear(part, frontier)
        # A product would make messages of arcs that have no part, four abreast, and change these.
        self._pull_some(None, part.gathering, frontier)

    def _hear(self, part: Part, frontier: Frontier) -> None:
        """Replies come first: they are of arcs as they were before the superstep."""
        if self._functions.reply is None:
            return
        ids = np.arange(self.n, dtype=part.sending.indices.dtype) if frontier.everyone else plain(frontier.ids)
        with team() as workers:
            cpu_frontier.hear_many(
                self._functions, self.state, self._arcs(part.sending), self._inbox, ids, workers
            )


class ShapedEdgeSupersteps(cpu_shaped.ShapedSupersteps):
    """The same of a program whose properties or messages are tuples; see `cpu_shaped.ShapedSupersteps`."""

    def push(self, part: Part, frontier: Frontier) -> None:
        """The active vertices hear from the arcs that leave them, and send along them."""
        self._hear(part, frontier)
        super().push(part, frontier)

    def pull(self, part: Part, frontier: Frontier) -> None:
        """Active vertices hear from the arcs that leave them; then every one combines what its in-neighbours send."""
        self._hear(part, frontier)
        super().pull(part, frontier)

    def _hear(self, part: Part, frontier: Frontier) -> None:
        reply, condition = shaped_functions_of(self.code).replies
        if reply is None:
            return
        with team() as workers:
            hear_tuples(
                self._calls, reply, condition, self.state, self._arcs(part.sending), self._inbox, plain(frontier.ids),
                workers,
            )  # fmt: skip


@inlined(error_model="numpy", forceinline=True)
def _hear_tuple(calls, reply, condition, state, arcs, inbox, u):
    found, value = False, call(calls.neutral, inbox.identity)
    for j in range(arcs.indptr[u], arcs.indptr[u + 1]):
        v = vertex(arcs.indices, j)
        weight = entry_or(arcs.data, j, arcs.one)
        if call(condition, state, u, weight, v):
            value = call(calls.join, value, call(reply, state, u, weight, v))
            found = True
    if found:
        call(calls.put, inbox.messages, u, value)
        claim(inbox.received, u, False)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def hear_tuples(calls, reply, condition, state, arcs, inbox, frontier, workers):
    """All of `frontier` hear from the arcs that leave them."""
    counter = np.zeros(1, np.int64)
    for _ in prange(workers):
        while True:
            begin = fetch_add(counter, 0, ROWS)
            if begin >= frontier.size or is_stopped():
                break
            for i in range(begin, min(begin + ROWS, frontier.size)):
                _hear_tuple(calls, reply, condition, state, arcs, inbox, np.int64(frontier[i]))
