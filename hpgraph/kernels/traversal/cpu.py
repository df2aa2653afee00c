"""Programs whose first message wins, on the CPU: work space for the compiled traversal, and the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.formats.bits_cpu import bits_count
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cpu.claim import BUFFER
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, ROWS, STEP, Clock, longer
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.cpu.work_stealing import GATE, LEADER, TAIL, blank_board
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import Beginning, ProgramCode, begin
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.structure.empty_rows import empty_rows
from hpgraph.kernels.superstep.cpu import past, settled_words
from hpgraph.kernels.traversal.direction_optimizing import ARCS, OPEN, PROGRESS, QUEUED, ROW, THIN_ROW, run_supersteps
from hpgraph.kernels.traversal.thin import THIN_PER_ROW, unfolded


def traverse(
    code: ProgramCode, out: CSR, in_: CSR, state: tuple[np.ndarray, ...], beginnings: tuple[Beginning | None, ...],
    world: tuple[Any, ...], sources: np.ndarray, *, alpha: float, beta: float, forced: int, limit: int,
) -> Callable[[], np.ndarray]:  # fmt: skip
    """See `hpgraph.kernels.traversal.Traversal`."""
    begin(state, beginnings, sources)
    with team() as workers:
        sourceless, receivers = _without_in_arcs(in_)
        settled = sourceless.copy() if code.cond is None else sourceless | settled_words(code, state, out.shape[0])
        np.bitwise_or.at(settled, sources >> 6, np.uint64(1) << (sources & 63).astype(np.uint64))
        return _run(
            code, out, in_, state, world, sources, settled, receivers, 0, workers,
            alpha=alpha, beta=beta, forced=forced, limit=limit,
        )  # fmt: skip


def go_on(
    code: ProgramCode, out: CSR, in_: CSR, state: tuple[np.ndarray, ...], world: tuple[Any, ...], active: np.ndarray,
    settled: np.ndarray, *, done: int, alpha: float, beta: float, forced: int, limit: int,
) -> np.ndarray:  # fmt: skip
    """Continue a search that began on another device.

    ``settled``: bitmap of the vertices that receive no more messages; bits past the last vertex are set. Returns int64
    array of shape (supersteps, 4): the trace rows as from `traverse`, from superstep `done` + 1 on.
    """
    waiting = 64 * settled.size - bits_count(settled)
    with team() as workers:
        rows = _run(
            code, out, in_, state, world, active, settled, waiting, done, workers,
            alpha=alpha, beta=beta, forced=forced, limit=limit,
        )  # fmt: skip
    return rows()


def _run(
    code: ProgramCode, out: CSR, in_: CSR, state: tuple[np.ndarray, ...], world: tuple[Any, ...], active: np.ndarray,
    settled: np.ndarray, waiting: int, done: int, workers: int, *, alpha: float, beta: float, forced: int, limit: int,
) -> Callable[[], np.ndarray]:  # fmt: skip
    """Run supersteps from the vertices `active`, with `waiting` others unsettled; return a callable for the trace."""
    program, n = functions_of(code), out.shape[0]
    queue = np.empty(n, out.indices.dtype)
    queue[: active.size] = active
    fronts = np.empty(settled.size, np.uint64), np.empty(settled.size, np.uint64)
    buffers, messages = np.empty((workers, BUFFER), queue.dtype), np.empty((workers, BUFFER), code.message)
    board, progress = blank_board(workers), np.zeros(PROGRESS, np.int64)
    board[TAIL] = active.size
    leaving = int((out.indptr[active + 1] - out.indptr[active]).sum())
    progress[[STEP, ACTIVE, ARCS, QUEUED, OPEN]] = done, active.size, leaving, 1, waiting
    # In a symmetric graph the only arc of a reached vertex leads back to its parent.
    dead_end = int(in_.indices is out.indices)
    clock, trace, thin = Clock(), np.empty((ROWS, 4), np.int64), np.empty(ROWS * THIN_PER_ROW, np.uint32)
    while True:
        run_supersteps(
            program.gather, program.update, program.edge_cond, state, world,
            plain(out.indptr), plain(out.indices), plain(out.data), plain(in_.indptr), plain(in_.indices),
            plain(in_.data), queue, settled, *fronts, board, buffers, messages, progress, trace, thin, float(alpha),
            float(beta), forced, limit, dead_end,
        )  # fmt: skip
        if progress[ACTIVE] and progress[STEP] < limit and progress[ROW] == len(trace):
            trace = longer(trace)
        elif progress[ACTIVE] and progress[STEP] < limit and progress[THIN_ROW] == len(thin):
            thin = longer(thin)
        else:
            break
        board[LEADER] = board[GATE] = 0
    trace, thin = clock.convert(trace[: progress[ROW]]), thin[: progress[THIN_ROW]]
    return lambda: unfolded(trace, thin)


@attached
def _without_in_arcs(in_: CSR) -> tuple[np.ndarray, int]:
    """Bitmap of vertices without in-arcs, bits past the last vertex set; and the number of the other vertices."""
    words = empty_rows(in_).words.copy()
    words[-1:] |= past(in_.shape[0])
    return words, 64 * words.size - bits_count(words)
