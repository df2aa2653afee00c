"""Programs with one monotone property, on the CPU: work space for the compiled loop, and the call."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hpgraph.kernels.relaxation import delta_stepping as relaxing
from hpgraph.kernels.relaxation.buckets import BLOCK, ROW, USED, blocks_of, room
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, ROWS, STEP, Clock, longer
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.cpu.work_stealing import GATE, LEADER, blank_board
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import begin, bucket_bounds
from hpgraph.kernels.runtime.search import Search
from hpgraph.kernels.spmv.cpu import arrays


def relax(search: Search) -> tuple[Callable[[], np.ndarray], np.ndarray]:
    """See `hpgraph.kernels.relaxation.Relaxation`."""
    out, state, sources, delta, limit = search.out, search.state, search.sources, search.delta, search.limit
    program = functions_of(search.code)
    n = out.shape[0]
    begin(state, search.beginnings, sources)
    with team() as workers:
        waiting = np.zeros(n, np.uint8)
        waiting[sources] = 1
        blocks = room(n, workers)
        vertices, link = np.empty(blocks * BLOCK, out.indices.dtype), np.empty(blocks, np.int32)
        buckets, rings = np.zeros((workers, ROW), np.int64), np.empty((workers, relaxing.FIFO), vertices.dtype)
        used = blocks_of(sources.size)
        vertices[: sources.size], link[:used], buckets[0, 0] = sources, np.arange(-1, used - 1), sources.size
        board, progress = blank_board(workers), np.zeros(relaxing.PROGRESS, np.int64)
        board[USED] = used
        width, _, last = bucket_bounds(state[0].dtype, delta, search.ceiling, 0)
        # A width too small to divide by gives each value its own bucket.
        density = 0.0 if delta is None else min(1 / float(width), 1e300) if width > 0 else 1e300
        scale = np.array([state[0][sources].min() if sources.size else 0, density, density], np.float64)
        rows = whole(
            lambda trace: relaxing.relax(
                program.gather, program.reduce, program.cond, program.edge_cond, last, state,
                *arrays(out), waiting, vertices, link,
                np.empty((blocks, 2), np.int32), buckets, board, rings, progress, scale, trace, limit,
            ),
            board, progress, limit,
        )  # fmt: skip
    return lambda: rows, waiting.nonzero()[0].astype(out.indices.dtype)


def whole(run: Callable[[np.ndarray], None], board: np.ndarray, progress: np.ndarray, limit: int) -> np.ndarray:
    """The trace of a run: when it is full, the kernel is called again with a longer one and continues."""
    clock = Clock()
    trace = np.empty((ROWS, 4), np.int64)
    run(trace)
    while progress[STEP] == len(trace) < limit and progress[ACTIVE] > 0:
        trace = longer(trace)
        board[LEADER] = board[GATE] = 0
        run(trace)
    return clock.convert(trace[: progress[STEP]])
