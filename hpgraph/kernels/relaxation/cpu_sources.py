"""Multi-source relaxation on the CPU: work space for the compiled loop, and the call."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.core.config import config
from hpgraph.formats import CSR
from hpgraph.kernels.relaxation import cpu as single
from hpgraph.kernels.relaxation import joint as relaxing
from hpgraph.kernels.relaxation.buckets import BLOCK, BUCKETS, ROW, USED, Store, blocks_of, room
from hpgraph.kernels.relaxation.cpu import whole
from hpgraph.kernels.relaxation.delta_stepping import Functions
from hpgraph.kernels.relaxation.joint_buckets import NOWHERE, Values, Waiting
from hpgraph.kernels.relaxation.separate import relax_apart, rooms
from hpgraph.kernels.relaxation.values import value_functions
from hpgraph.kernels.relaxation.warm_up import WARM_UP_ARCS, start_apart
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cpu.progress import Clock
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.cpu.work_stealing import blank_board
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import ProgramCode, begin_sources, bucket_bounds
from hpgraph.kernels.runtime.search import Search, Starts
from hpgraph.kernels.spmv.cpu import plain

# Sources of a joint run: a bit each of one word.
MAX_SOURCES = 64
# A joint run repeats an arc for all sources at once, so that its buckets may be wider than those of a single search
# (the best of 1, 2, 4 and 8 times the width on a Kronecker and a uniform graph).
WIDER = 4
# The joint run may spend 1 / TRIAL of the cost of separate searches before it must be cheaper. If it ends before twice
# that is spent its values are discarded: they are worth less than transposing them back.
TRIAL = 20
# Arcs sampled to compare two searches, before a joint run of the others.
SAMPLE = 4096
# Sources per thread from which on each search runs on one thread.
MIN_SEARCHES = 2
# Vertices of a piece of the transposition.
PIECE = 1024
ENDLESS = int(np.iinfo(np.int64).max)


def relax_sources(search: Search) -> tuple[Callable[[], np.ndarray], Starts | None]:
    """Run a program that lowers one property in place by an idempotent monoid, from every source."""
    code, out, state, starts, limit = search.code, search.out, search.state, search.sources, search.limit
    delta, ceiling = search.delta, search.ceiling
    begin_sources(state, search.beginnings, starts.vertices, starts.source)
    rows, left = [np.empty((0, 4), np.int64)], []
    for first in range(0, starts.k, MAX_SOURCES):
        group = range(first, min(first + MAX_SOURCES, starts.k))
        ends = np.searchsorted(starts.source, (*group, group.stop))
        sources = [starts.vertices[begin:end] for begin, end in itertools.pairwise(ends.tolist())]
        # With a limit each search counts its own supersteps.
        if limit >= ENDLESS and sum(map(bool, map(len, sources))) >= MIN_SEARCHES * config.threads:
            values = plain(state[0].T[group.start : group.stop])
            rows.extend(_several(code, out, values, sources, delta, ceiling))
            left.extend([np.empty(0, out.indices.dtype)] * len(group))
            continue
        for source, active in zip(group, sources, strict=True):
            if len(active):
                own = (plain(state[0].T[source]),)
                fetch, active = single.relax(search._replace(state=own, beginnings=(None,), sources=active))
                rows.append(fetch())
            left.append(active)
    joined = np.concatenate(rows)
    if not any(map(len, left)):
        return lambda: joined, None
    of_source = np.repeat(np.arange(starts.k, dtype=np.int32), [len(active) for active in left])
    return lambda: joined, Starts(np.concatenate(left), of_source, starts.k)


def work_space(n: int, sources: int, ids: np.dtype, dtype: np.dtype) -> int:
    """Bytes of work space, without the property."""
    # Blocks with their links, and the blocks of a superstep.
    k, buckets = min(sources, MAX_SOURCES), room(n, config.threads) * (BLOCK * ids.itemsize + 12)
    together = n * (k * dtype.itemsize + 9) + buckets + k * WARM_UP_ARCS * ids.itemsize
    return max(together if _would_pay(k, 1.0) else 0, config.threads * (n + buckets))


@attached
def _paying(out: CSR) -> dict[tuple[Any, ...], bool]:
    """Whether a joint run was faster than separate searches, by kind of program."""
    return {}


def _several(
    code: ProgramCode,
    out: CSR,
    states: np.ndarray,
    sources: list[np.ndarray],
    delta: float | None,
    ceiling: float | None,
) -> list[np.ndarray]:
    """Run some sources to the end, jointly while that is faster; return the trace rows of each stage.

    Two separate searches come first: their overlap bounds at little cost what a joint run of the others could save, and
    a trial measures it. Both are done once for a graph and kind of program.
    """
    rows = []
    paying, kind = _paying(out), (functions_of(code).gather, states.dtype, delta)
    tried = [source for source, active in enumerate(sources) if len(active)][:2]
    if delta is not None and paying.get(kind, len(tried) > 1 and _would_pay(len(states), 1.0)):
        if kind not in paying:
            chosen = [sources[source] if source in tried else sources[source][:0] for source in range(len(states))]
            rows.append(_apart(code, out, states, chosen, delta, ceiling))
            sources = [active[:0] if source in tried else active for source, active in enumerate(sources)]
            width, _, _ = bucket_bounds(states.dtype, WIDER * delta, ceiling, 0)
            paying[kind] = _would_pay(len(states), _in_common(out, states[tried[0]], states[tried[1]], float(width)))
        if paying[kind]:
            found, sources, paying[kind] = _together(code, out, states, sources, delta, ceiling)
            rows.append(found)
    if any(map(len, sources)):
        rows.append(_apart(code, out, states, sources, delta, ceiling))
    return rows


def _would_pay(k: int, common: float) -> bool:
    """Whether a joint run of k sources is cheaper than separate searches, if two overlap at such a share of arcs."""
    meeting = 1 + (k - 1) * common
    return meeting > relaxing.VISIT + min(meeting, k / relaxing.OCTET)


def _in_common(out: CSR, values: np.ndarray, others: np.ndarray, width: float) -> float:
    """The share of arcs along which two searches send in the same bucket, estimated on a sample.

    The median difference stands for the difference of their origins, which are chosen to maximize the overlap.
    """
    at = out.indices[np.linspace(0, out.nnz - 1, min(out.nnz, SAMPLE)).astype(np.int64)]
    with np.errstate(invalid="ignore"):
        ahead = values[at].astype(np.float64) - others[at]
    ahead = ahead[np.isfinite(ahead)]
    if not ahead.size or not width > 0:
        return 0.0
    return float(np.clip(1 - np.abs(ahead - np.median(ahead)) / width, 0, 1).sum() / at.size)


def _together(
    code: ProgramCode,
    out: CSR,
    states: np.ndarray,
    sources: list[np.ndarray],
    delta: float,
    ceiling: float | None,
) -> tuple[np.ndarray, list[np.ndarray], bool]:
    """Joint run while that is faster: trace rows, the waiting vertices of each source, and whether it was faster."""
    functions = value_functions(code)
    (k, n), ids = states.shape, out.indices.dtype
    interleaved = np.empty((n, k), states.dtype)
    _turn(states, interleaved)
    values = Values(interleaved.reshape(-1), np.int64(k), np.zeros(k))
    width, _, last = bucket_bounds(states.dtype, WIDER * delta, ceiling, 0)
    program = relaxing.SourceFunctions(functions.gather, functions.reduce, functions.allows, last)
    arcs = Rows(plain(out.indptr), plain(out.indices), plain(out.data))
    waiting = Waiting(np.zeros(n, np.uint64), np.full(n, NOWHERE, np.int8))
    standing = np.array([len(active) for active in sources])
    queue = np.empty((k, max(standing) + WARM_UP_ARCS), ids)
    for source, active in enumerate(sources):
        queue[source, : len(active)] = active
        waiting.words[active] |= np.uint64(1 << source)
    with team() as workers:
        start_apart(program, arcs, values, waiting.words, standing, queue)
        those = np.unique(np.concatenate([row[:size] for row, size in zip(queue, standing, strict=True)]))
        waiting.places[those] = BUCKETS
        blocks, used = room(n, workers), blocks_of(those.size)
        store = Store(
            np.empty(blocks * BLOCK, ids), np.empty(blocks, np.int32), np.empty((blocks, 2), np.int32),
            np.zeros((workers, ROW), np.int64), blank_board(workers),
        )  # fmt: skip
        store.vertices[: those.size], store.link[:used] = those, np.arange(-1, used - 1)
        store.buckets[0, BUCKETS], store.board[USED] = those.size, used
        density = _density(width, delta)
        progress, scale = np.zeros(relaxing.JOINT_PROGRESS, np.int64), np.array([0, density, density, 0])
        patience = out.nnz * k // TRIAL
        sending = np.empty((workers, k), states.dtype)
        rows = whole(
            lambda trace: relaxing.relax(
                program, arcs, values, waiting, store, relaxing.Course(progress, scale, trace, patience), sending
            ),
            store.board, progress, ENDLESS,
        )  # fmt: skip
    parted = bool(progress[relaxing.APART])
    if parted and progress[relaxing.SPENT] < 2 * patience:
        return rows, sources, False
    _turn(interleaved, states)
    flags = np.uint64(1) << np.arange(k, dtype=np.uint64)
    left = waiting.words.nonzero()[0]
    words = waiting.words[left]
    return rows, [left[words & flag != 0].astype(ids) for flag in flags], not parted


def _apart(
    code: ProgramCode,
    out: CSR,
    states: np.ndarray,
    sources: list[np.ndarray],
    delta: float | None,
    ceiling: float | None,
) -> np.ndarray:
    """Separate searches, one thread each, from their waiting vertices; returns one trace row per search."""
    functions = functions_of(code)
    width, _, last = bucket_bounds(states.dtype, delta, ceiling, 0)
    sums = np.zeros((len(states), 4), np.int64)
    ends = np.cumsum([0, *map(len, sources)])
    clock = Clock()
    with team() as workers:
        relax_apart(
            Functions(functions.gather, functions.reduce, functions.cond, functions.edge_cond, last),
            Rows(plain(out.indptr), plain(out.indices), plain(out.data)), states, np.concatenate(sources), ends,
            rooms(out.shape[0], workers, out.indices.dtype), _density(width, delta), sums,
        )  # fmt: skip
    return clock.convert(sums[ends[1:] > ends[:-1]])


def _density(width: Any, delta: float | None) -> float:
    """Buckets per unit of value; a width too small to divide by gives each value its own bucket."""
    return 0.0 if delta is None else min(1 / float(width), 1e300) if width > 0 else 1e300


def _turn(values: np.ndarray, turned: np.ndarray) -> None:
    """Transposed copy, in pieces that stay in the cache."""
    longer = int(values.shape[1] > values.shape[0])
    for begin in range(0, values.shape[longer], PIECE):
        piece = slice(begin, begin + PIECE)
        if longer:
            turned[piece] = values[:, piece].T
        else:
            turned[:, piece] = values[piece].T
