"""Multi-source relaxation on the CPU: one thread for each search.

Each is the single search of `hpgraph.kernels.relaxation.delta_stepping`, without barriers and atomic operations. If
there are few searches, or a limit, by which each counts its own supersteps, they run one after another on all threads.
"""

import itertools
from collections import namedtuple
from collections.abc import Callable

import numpy as np

from hpgraph.core.config import config
from hpgraph.kernels.relaxation import cpu as single
from hpgraph.kernels.relaxation.buckets import BLOCK, ROW, SCALE, USED, Store
from hpgraph.kernels.relaxation.delta_stepping import FIFO, PROGRESS, SINCE, Course, Functions, work
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import is_stopped, njit, part, tasks, team
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, ROWS, STEP, Clock, board_words, cycles
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.work_stealing import GATE, LEADER
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import begin_sources, bucket_bounds
from hpgraph.kernels.runtime.search import Search, Starts
from hpgraph.kernels.spmv.cpu import plain

MAX_SOURCES = 64
# Sources per thread from which on each search runs on one thread.
MIN_SEARCHES = 2
ENDLESS = int(np.iinfo(np.int64).max)

# The work space of each thread: the arrays of `delta_stepping.relax`, with a leading axis of threads.
Rooms = namedtuple("Rooms", "waiting vertices link drawn buckets boards rings progress scales traces")


def work_space(n: int, sources: int, ids: np.dtype, dtype: np.dtype) -> int:
    """Bytes of work space, without the property."""
    # Blocks with their links, and the blocks of a superstep.
    return config.threads * (n + single.blocks_for(n, config.threads) * (BLOCK * ids.itemsize + 12))


def relax_sources(search: Search) -> tuple[Callable[[], np.ndarray], Starts | None]:
    """Run a program that lowers one property in place by an idempotent monoid, from every source."""
    state, starts = search.state, search.sources
    begin_sources(state, search.beginnings, starts.vertices, starts.source)
    ends = np.searchsorted(starts.source, range(starts.k + 1))
    sources = [starts.vertices[begin:end] for begin, end in itertools.pairwise(ends.tolist())]
    if search.limit >= ENDLESS and np.count_nonzero(np.diff(ends)) >= MIN_SEARCHES * config.threads:
        rows = _run_separately(search, ends)
        return lambda: rows, None
    tables, left = [np.empty((0, 4), np.int64)], []
    for source, active in enumerate(sources):
        if len(active):
            own = (plain(state[0].T[source]),)
            fetch, active = single.relax(search._replace(state=own, beginnings=(None,), sources=active))
            tables.append(fetch())
        left.append(active)
    joined = np.concatenate(tables)
    if not any(map(len, left)):
        return lambda: joined, None
    of_source = np.repeat(np.arange(starts.k, dtype=np.int32), [len(active) for active in left])
    return lambda: joined, Starts(np.concatenate(left), of_source, starts.k)


def _run_separately(search: Search, ends: np.ndarray) -> np.ndarray:
    """Searches, one thread each, with starts between `ends`; returns a trace row for each that has starts."""
    delta, values = search.delta, search.state[0].T
    width, _, last = bucket_bounds(values.dtype, delta, search.ceiling, 0)
    # A width too small to divide by gives each value its own bucket.
    density = 0.0 if delta is None else min(1 / float(width), 1e300) if width > 0 else 1e300
    n, ids = search.out.shape[0], search.out.indices.dtype
    sums, blocks, clock = np.zeros((len(values), 4), np.int64), single.blocks_for(n, 1), Clock()
    with team() as workers:
        rooms = Rooms(
            np.zeros((workers, n), np.uint8), np.empty((workers, blocks * BLOCK), ids),
            np.empty((workers, blocks), np.int32), np.empty((workers, blocks, 2), np.int32),
            np.zeros((workers, 1, ROW), np.int64), np.zeros((workers, board_words(1)), np.int64),
            np.empty((workers, 1, FIFO), ids), np.zeros((workers, PROGRESS), np.int64), np.zeros((workers, SCALE)),
            np.empty((workers, ROWS, 4), np.int64),
        )  # fmt: skip
        relax_apart(
            Functions.of(functions_of(search.code)),
            Rows(plain(search.out.indptr), plain(search.out.indices), plain(search.out.data)), plain(values),
            plain(search.sources.vertices), ends, rooms, (last, density), sums,
        )  # fmt: skip
    return clock.convert(sums[ends[1:] > ends[:-1]])


@part
def _search(functions, arcs, values, sources, rooms, worker, bounds, sums):
    """One search, from its `sources`; `bounds`: the ceiling, and buckets per unit of value."""
    ceiling, density = bounds
    waiting, vertices, link = rooms.waiting[worker], rooms.vertices[worker], rooms.link[worker]
    buckets, board = rooms.buckets[worker], rooms.boards[worker]
    progress, trace, scale = rooms.progress[worker], rooms.traces[worker], rooms.scales[worker]
    board[:], progress[:], buckets[:] = 0, 0, 0
    scale[0], scale[1], scale[2] = values[sources[0]], density, density
    for i in range(sources.size):
        waiting[sources[i]] = 1
        vertices[i] = sources[i]
        scale[0] = min(scale[0], float(values[sources[i]]))
    used = (sources.size + BLOCK - 1) // BLOCK
    for i in range(used):
        link[i] = i - 1
    buckets[0, 0], board[USED] = sources.size, used
    store = Store(vertices, link, rooms.drawn[worker], buckets, board)
    course = Course(ceiling, progress, scale, arcs.indices[:0], values[:0], trace, trace.shape[0])
    goes_on = True
    while goes_on:
        board[LEADER] = board[GATE] = 0
        work(np.int64(0), functions, (values,), arcs, waiting, store, rooms.rings[worker], course)
        for row in range(progress[STEP]):
            sums[1] += trace[row, 1]
            sums[2] += trace[row, 2]
        goes_on = progress[STEP] == trace.shape[0] and progress[ACTIVE] > 0 and not is_stopped()
        progress[STEP] = progress[SINCE] = 0


@part(counts_references=False)
def _searches(worker, functions, arcs, states, sources, ends, rooms, bounds, sums, counter):
    """One worker: take searches until none is left."""
    for search in tasks(counter, states.shape[0]):
        began = cycles()
        if ends[search] < ends[search + 1]:
            chosen = sources[ends[search] : ends[search + 1]]
            _search(functions, arcs, states[search], chosen, rooms, worker, bounds, sums[search])
        sums[search, 3] = cycles() - began


@njit(cache=True, nogil=True)
def relax_apart(functions, arcs, states, sources, ends, rooms, bounds, sums):
    """Relax in each search until no vertex waits.

    ``states`` has a row of values for each search; search i starts from ``sources[ends[i]:ends[i + 1]]``. ``sums`` has
    a row of the trace for each.
    """
    shared = functions, arcs, states, sources, ends, rooms, bounds, sums, np.zeros(1, np.int64)
    in_parallel(rooms.waiting.shape[0], _searches, shared)
