"""Programs with one monotone property, on the CPU: work space for the compiled loop, and the call."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.kernels.relaxation import FEW
from hpgraph.kernels.relaxation import delta_stepping as relaxing
from hpgraph.kernels.relaxation.buckets import BLOCK, BUCKETS, FINEST, ROW, SPAN, USED
from hpgraph.kernels.runtime.cpu.kernel import interruptible
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, ROWS, STEP, Loop
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import begin, bucket_bounds
from hpgraph.kernels.runtime.search import Search
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cpu import arrays
from hpgraph.semiring.reads import unread

# A search has at most one source for this many vertices.
FEW_SOURCES = 16


def relax(search: Search) -> tuple[Callable[[], np.ndarray], np.ndarray]:
    """See `hpgraph.kernels.relaxation.Relaxation`."""
    out, state, sources, delta, limit = search.out, search.state, search.sources, search.delta, search.limit
    program, n = relaxing.Functions.of(functions_of(search.code)), out.shape[0]
    begin(state, search.beginnings, sources)
    if search.delta is None and n + out.indices.size <= FEW:
        return _relax_few(search)
    with team() as workers:
        waiting = np.zeros(n, np.uint8)
        waiting[sources] = 1
        blocks = blocks_for(n, workers)
        vertices, link = np.empty(blocks * BLOCK, out.indices.dtype), np.empty(blocks, np.int32)
        buckets, rings = np.zeros((workers, ROW), np.int64), np.empty((workers, relaxing.FIFO), vertices.dtype)
        used = -(-sources.size // BLOCK)
        vertices[: sources.size], link[:used], buckets[0, 0] = sources, np.arange(-1, used - 1), sources.size
        loop = Loop(workers, relaxing.PROGRESS, {STEP: np.empty((ROWS, 4), np.int64)})
        loop.board[USED] = used
        width, _, last = bucket_bounds(state[0].dtype, delta, search.ceiling, 0)
        scale, store = _scale(search, width), (vertices, link, np.empty((blocks, 2), np.int32), buckets, loop.board)
        step = max(out.indices.size // relaxing.SAMPLE, 1)
        # A copy, as a stride would be another type.
        sample = out.indices[::step].copy() if scale[SPAN] < 0 else out.indices[:0]
        initial = state[0][sample]
        while True:
            course = last, loop.progress, scale, sample, initial, loop.tables[STEP], limit
            relaxing.relax(program, state, arrays(out), waiting, store, rings, course)
            if not loop.goes_on(limit):
                break
        trace = loop.convert(loop.rows(STEP))
    return lambda: trace, waiting.nonzero()[0].astype(out.indices.dtype)


def _relax_few(search: Search) -> tuple[Callable[[], np.ndarray], np.ndarray]:
    """`relax` in one bucket on one thread, if ordering would save less than compiling it takes."""
    out, state, sources = search.out, search.state, search.sources
    program, n = relaxing.Functions.of(functions_of(search.code)), out.shape[0]
    waiting, queues = np.zeros(n, np.uint8), np.empty((2, n), out.indices.dtype)
    waiting[sources], queues[0, : sources.size] = 1, sources
    _, _, last = bucket_bounds(state[0].dtype, None, search.ceiling, 0)
    loop = Loop(1, relaxing.PROGRESS, {STEP: np.empty((ROWS, 4), np.int64)})
    loop.progress[ACTIVE] = sources.size
    with interruptible():
        while True:
            what = loop.progress, loop.tables[STEP], last, search.limit
            relaxing.relax_few(program, state, arrays(out), waiting, tuple(queues), *what)
            if not loop.goes_on(search.limit):
                break
    trace = loop.convert(loop.rows(STEP))
    return lambda: trace, waiting.nonzero()[0].astype(out.indices.dtype)


def blocks_for(n: int, workers: int) -> int:
    """Blocks for two copies of every vertex, and for a partly filled block in each bucket of each worker."""
    return 2 * -(-n // BLOCK) + workers * (BUCKETS + 2)


def _scale(search: Search, width: Any) -> np.ndarray:
    """Start and width of buckets: by `delta`, or by the waiting values if the search is ordered."""
    values, reduce = search.state[0][search.sources], search.code.reduce
    descends = reduce.name == "max"
    best = (values.max() if descends else values.min()) if values.size else 0
    if search.delta is None:
        # First one bucket: a search that repeats few arcs needs no others.
        density, span = 0.0, -BUCKETS if values.size and _is_ordered(search) else 0
        narrowest = -FINEST if descends else FINEST
    else:
        # A width too small to divide by gives each value its own bucket.
        density, span = min(1 / float(width), FINEST) if width > 0 else FINEST, 0
        narrowest = density
    return np.array([best, density, narrowest, span], np.float64)


def _is_ordered(search: Search) -> bool:
    """Whether to order vertices by value: a search from few vertices, along arcs of different weights.

    Where messages depend on no weight, they arrive in the order of supersteps. A limit counts supersteps.
    """
    code, n = search.code, search.out.shape[0]
    weighs = search.out.data is not None and code.gather.__code__.co_varnames[1] not in unread(code.gather)
    few = FEW_SOURCES * search.sources.size <= n
    return techniques.adaptive_buckets and code.reduce.name in ("min", "max") and weighs and few and search.limit >= n
