"""Programs whose first message wins, on the CPU: work space for the compiled traversal, and the call."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.formats import CSR, attached
from hpgraph.formats.convert_cpu import bits_count
from hpgraph.kernels.runtime.cpu.claim import BUFFER
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, ROWS, STEP, Loop
from hpgraph.kernels.runtime.cpu.threads import single, team
from hpgraph.kernels.runtime.cpu.work_stealing import TAIL
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import begin
from hpgraph.kernels.runtime.search import Search
from hpgraph.kernels.spmv.cpu import arrays
from hpgraph.kernels.structure.empty_rows import empty_rows
from hpgraph.kernels.superstep.cpu import past, settled_words
from hpgraph.kernels.traversal.direction_optimizing import (
    ARCS,
    OPEN,
    PROGRESS,
    QUEUED,
    ROW,
    THIN_ROW,
    Functions,
    run_supersteps,
)
from hpgraph.kernels.traversal.thin import THIN_PER_ROW, unfolded

# Arcs up to which one thread is faster: lines that go back and forth between two cores cost more than misses of the
# cache of one. On two quiet cores of a Xeon one thread takes .24 to 1.0 of the time of two on seven kinds of graphs of
# 10⁵ to 10⁶ arcs, but 1.6 on one that is searched bottom-up; at 4·10⁶ .2 to 1.9.
LONE_THREAD_ARCS = 1 << 20


def traverse(search: Search) -> Callable[[], np.ndarray]:
    """See `hpgraph.kernels.traversal.Traversal`."""
    code, sources = search.code, search.sources
    begin(search.state, search.beginnings, sources)
    with team() if search.out.nnz > LONE_THREAD_ARCS else single() as workers:
        settled, receivers = _without_in_arcs(search.in_)
        is_open = code.cond is None
        settled = settled.copy() if is_open else settled | settled_words(code, search.state, search.out.shape[0])
        if len(sources) == 1:
            # Takes a tenth of the time.
            settled[int(sources[0]) >> 6] |= np.uint64(1 << (int(sources[0]) & 63))
        else:
            np.bitwise_or.at(settled, sources >> 6, np.uint64(1) << (sources & 63).astype(np.uint64))
        return _run(search, settled, receivers, 0, workers or 1)


def go_on(search: Search, settled: np.ndarray, done: int) -> Callable[[], np.ndarray]:
    """Continue another device's search after `done` supersteps; bits of `settled` past the last vertex are set.

    Returns a callable for the trace, which is unfolded on demand: for a path, that takes longer than the search.
    """
    waiting = 64 * settled.size - bits_count(settled)
    with team() as workers:
        return _run(search, settled, waiting, done, workers)


def _run(search: Search, settled: np.ndarray, waiting: int, done: int, workers: int) -> Callable[[], np.ndarray]:
    """Run supersteps from the active vertices, with `waiting` others unsettled; return a callable for the trace."""
    code, out, in_, active, limit = search.code, search.out, search.in_, search.sources, search.limit
    program, n = Functions.of(functions_of(code)), out.shape[0]
    queue = np.empty(n, out.indices.dtype)
    queue[: active.size] = active
    rows = min(ROWS, n + 2)
    fronts = np.empty(settled.size, np.uint64), np.empty(settled.size, np.uint64)
    claims = np.empty((workers, BUFFER), queue.dtype), np.empty((workers, BUFFER), code.message)
    tables: dict[int, Any] = {ROW: np.empty((rows, 4), np.int64), THIN_ROW: np.empty(rows * THIN_PER_ROW, np.uint32)}
    loop = Loop(workers, PROGRESS, tables)
    board, progress = loop.board, loop.progress
    board[TAIL] = active.size
    if active.size == 1:
        leaving = out.indptr[active[0] + 1] - out.indptr[active[0]]
    else:
        leaving = np.add.reduce(out.indptr[active + 1] - out.indptr[active])
    progress[STEP], progress[ACTIVE], progress[ARCS] = done, active.size, leaving
    progress[QUEUED], progress[OPEN] = 1, waiting
    # In a symmetric graph the only arc of a reached vertex leads back to its parent.
    dead_end = int(in_.indices is out.indices)
    policy = float(search.alpha), float(search.beta), search.forced, limit, dead_end
    while True:
        space = queue, settled, *fronts, board, progress, tables[ROW], tables[THIN_ROW]
        run_supersteps(program, search.state, search.world, arrays(out), arrays(in_), space, claims, policy)
        if not loop.goes_on(limit):
            break
    return lambda: unfolded(loop.convert(loop.rows(ROW)), loop.rows(THIN_ROW))


@attached
def _without_in_arcs(in_: CSR) -> tuple[np.ndarray, int]:
    """Bitmap of vertices without in-arcs, bits past the last vertex set; and the number of the other vertices."""
    words = empty_rows(in_).words.copy()
    words[-1:] |= past(in_.shape[0])
    return words, 64 * words.size - bits_count(words)
