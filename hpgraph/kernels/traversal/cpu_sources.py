"""Traversal from many sources on the CPU: with a joint frontier while frontiers overlap, then a search for each source.

If frontiers have no vertex in common, as in a road network, a joint frontier saves nothing, and words of bits take more
memory than the bits of one search. Each then continues as a traversal from one source, on one thread; those that only
count start anew, with a plain queue.
"""

import time
from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.core.config import config
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.bits import SIDE
from hpgraph.kernels.runtime.cpu.claim import BUFFER
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, ROWS, STEP, Clock, Loop, board_words
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.direction import PULL, PUSH
from hpgraph.kernels.runtime.functions import functions_of, source_functions_of
from hpgraph.kernels.runtime.program import ProgramCode, begin_sources
from hpgraph.kernels.runtime.search import Search, Starts
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.structure.empty_rows import empty_rows
from hpgraph.kernels.superstep.cpu import past, settled_words
from hpgraph.kernels.traversal import JointOutcome, SourceTotals, Totals, joint, separate
from hpgraph.kernels.traversal.delivery import Program
from hpgraph.kernels.traversal.direction_optimizing import PROGRESS
from hpgraph.kernels.traversal.joint_steps import Policy, Scratch, Words
from hpgraph.kernels.traversal.thin import THIN_PER_ROW
from hpgraph.semiring.function import Function
from hpgraph.semiring.reads import is_straight, unread

# A survey has no properties: its searches only claim.
_COUNTING = separate.Runs(
    Function(lambda state, u, weight, v: False),
    Function(lambda state, v, message, world, step: True),
    Function(lambda state, u, weight, v: True),
    Function(lambda state, source: ()),
)
# Sources of a group: one word. Pulls of two to eight words a vertex were measured: the frontier's words then exceed the
# cache, and 64 sources take as long (kron18) or up to three times as long (urand18) as in a group of their own.
MAX_SOURCES = SIDE
# Several groups of a survey: if the frontiers of one hardly overlap, it and the rest search separately.
MAX_SURVEYED = 8 * SIDE
SHORT, parents_of_levels, begin_parents, kernel_of_searches = 0, None, None, None


class _Totals:
    """Results of a group of searches: trace rows of each part, with the supersteps before it; sums by source.

    ``sums`` (int64 array of shape (k, 4)): vertices reached, their levels' sum, the last level, vertices still active;
    ``parted`` (bool): whether this group of a survey was given up, as frontiers hardly overlap.
    """

    def __init__(self, starts: Starts) -> None:
        self.tables: list[tuple[int, np.ndarray]] = []
        self.sums, self.inverse = np.zeros((starts.k, 4), np.int64), np.zeros(starts.k)
        self.sums[:, separate.VISITED] = np.bincount(starts.source, minlength=starts.k)
        self.unfinished = self.parted = False


def _run(search: Search) -> _Totals:
    """The searches of one group of at most 64 sources."""
    starts, code, n = search.sources, search.code, search.out.shape[0]
    totals = _Totals(starts)
    with team() as workers:
        # If a message depends on its sender, each source has its own: only the arcs could be shared, and the bits of a
        # separate search are cheaper to test.
        if starts.k > joint.WORD_COST and techniques.joint_frontier and (code is None or _same_from_anyone(code)):
            left = _jointly(search, workers, totals)
        else:
            active = np.zeros((starts.k, (n + SIDE - 1) // SIDE), np.uint64)
            flags = np.uint64(1) << (starts.vertices & 63).astype(np.uint64)
            np.bitwise_or.at(active, (starts.source, starts.vertices >> 6), flags)
            left = 0, active | _closed(search), active
        if left is not None:
            _separately(search, workers, totals, *left)
    return totals


def _separately(
    search: Search, workers: int, totals: _Totals, done: int, settled: np.ndarray, active: np.ndarray
) -> None:
    """Continue the searches of bitmaps of settled and of active vertices, a row for each source."""
    code, out, in_, n, ids = search.code, search.out, search.in_, search.out.shape[0], search.out.indices.dtype
    course = separate.Course(
        float(search.alpha), float(search.beta), search.forced, search.limit, int(in_.indices is out.indices), done
    )
    # A page that no superstep writes to is never allocated.
    sums = np.zeros((min(search.limit, n) + 2, separate.SUMS), np.int64)
    room = separate.Room(
        np.empty((workers, n), ids), np.empty((workers, 2, settled.shape[1]), np.uint64),
        np.zeros((workers, board_words(1)), np.int64), np.empty((workers, PROGRESS), np.int64),
        np.empty((workers, ROWS, 4), np.int64), np.empty((workers, ROWS * THIN_PER_ROW), np.uint32),
        np.empty((workers, BUFFER), ids), np.empty((workers, BUFFER), np.int8 if code is None else code.message),
    )  # fmt: skip
    clock = Clock()
    separate.run_each(
        _runs(code), search.state, search.world, _rows(out), _rows(in_),
        separate.Sources(settled, active, sums, totals.sums, totals.inverse), room, course,
    )  # fmt: skip
    taken = sums[done:]
    taken = taken[: np.count_nonzero(taken[:, separate.RUNS])]
    table = taken[:, separate.PULLS :].copy()
    table[:, 0] = 2 * taken[:, separate.PULLS] > taken[:, separate.RUNS]
    table[:, 3] //= workers
    totals.tables.append((done, clock.convert(table)))
    totals.unfinished |= bool(totals.sums[:, separate.UNFINISHED].any())


def _jointly(search: Search, workers: int, totals: _Totals) -> tuple[int, np.ndarray, np.ndarray] | None:
    """Run with a joint frontier; returns the state for `_separately`, if that is faster. A survey then restarts."""
    code, out, in_, (vertices, sources, k), n = search.code, search.out, search.in_, search.sources, search.out.shape[0]
    flags = np.uint64(1) << sources.astype(np.uint64)
    words = Words(_word_of_each(_closed(search), n), np.zeros((2, n), np.uint64), np.empty((2, n), out.indices.dtype))
    np.bitwise_or.at(words.seen, vertices, flags)
    np.bitwise_or.at(words.fronts[0], vertices, flags)
    listed = np.unique(vertices)
    words.queues[0, : listed.size] = listed
    degree, bits = out.indptr[listed + 1] - out.indptr[listed], words.fronts[0, listed]
    loop = Loop(workers, joint.PROGRESS, {joint.ROW: np.empty((ROWS, 5), np.int64)})
    progress = loop.progress
    progress[[ACTIVE, joint.LISTED, joint.PAIRS, joint.ARCS, joint.SOURCE_ARCS, joint.OPEN, joint.LIVE]] = (
        listed.size, listed.size, vertices.size, degree.sum(), (degree * np.bitwise_count(bits)).sum(), n,
        np.bitwise_or.reduce(bits).astype(np.int64),
    )  # fmt: skip
    scratch = Scratch(
        np.empty((workers, BUFFER), out.indices.dtype), np.empty((workers, BUFFER), np.uint64),
        np.empty((workers, 2, SIDE), np.uint64), np.zeros((workers, SIDE), np.int64) if code is None else None,
    )  # fmt: skip
    policy = Policy(
        float(search.alpha), float(search.beta), search.forced, search.limit, int(in_.indices is out.indices),
        techniques.early_termination,
    )  # fmt: skip
    flat = tuple(values.reshape(-1) for values in search.state)
    while True:
        shared = joint.Shared(loop.board, progress, loop.tables[joint.ROW], totals.sums, totals.inverse)
        joint.run_supersteps(_program(code), flat, search.world, _rows(out), _rows(in_), words, shared, scratch, policy)
        if not loop.goes_on(search.limit):
            break
    totals.tables.append((0, loop.convert(loop.rows(joint.ROW))))
    if not progress[joint.SEPARATE]:
        totals.unfinished = bool(progress[ACTIVE])
        return None
    if code is None and search.forced != PULL:
        totals.parted = True
        return None
    settled, active = np.empty((2, k, (n + SIDE - 1) // SIDE), np.uint64)
    separate.by_source(words.seen, n, settled)
    separate.by_source(words.fronts[progress[joint.TURN]], n, active)
    active[:, -1:] &= ~past(n)
    return int(progress[STEP]), settled, active


def _count(search: Search, first: int) -> _Totals:
    """The searches of a survey from source number `first` on, each by itself from its start."""
    out, vertices = search.out, plain(search.sources.vertices[first:])
    n, k, ids = out.shape[0], len(vertices), out.indices.dtype
    totals = _Totals(Starts(vertices, np.arange(k), k))
    with team() as workers:
        # A page that no superstep writes to is never allocated.
        counting = separate.Counting(
            np.empty((workers, n + 1), ids), np.zeros((workers, n), np.uint8),
            np.zeros((workers, min(search.limit, n) + 2, 2), np.int64),
        )  # fmt: skip
        began = time.perf_counter_ns()
        separate.count_each(_rows(out), vertices, counting, totals.sums, totals.inverse, search.limit)
        spent = time.perf_counter_ns() - began
    steps = int(totals.sums[:, separate.FARTHEST].max(initial=0)) + 1
    senders, arcs = counting.sums[:, : steps + 1].sum(axis=0).T
    work = (senders + arcs)[:-1]
    nanoseconds = (spent / max(work.sum(), 1) * work).astype(np.int64)
    table = np.column_stack([np.full(steps, PUSH), senders[:-1], arcs[:-1], nanoseconds, senders[1:]])
    totals.tables.append((0, table[: np.count_nonzero(table[:, 1])]))
    totals.unfinished = bool(totals.sums[:, separate.UNFINISHED].any())
    return totals


def _closed(search: Search) -> np.ndarray:
    """Bitmaps of the vertices that receive nothing, such as those without in-arcs: a row, or one for each source."""
    code, n = search.code, search.out.shape[0]
    closed = empty_rows(search.in_).words[None].copy()
    if code is not None and code.cond is not None:
        states = [tuple(values[source] for values in search.state) for source in range(search.sources.k)]
        closed = closed | np.stack([settled_words(code, state, n) for state in states])
    closed[:, -1:] |= past(n)
    return closed


def _word_of_each(rows: np.ndarray, n: int) -> np.ndarray:
    """A word for each vertex of bitmaps by source; one row stands for all sources."""
    words = np.zeros(n, np.uint64)
    for source, row in enumerate(rows):
        flag = np.uint64(1 << source) if len(rows) > 1 else ~np.uint64(0)
        words |= np.unpackbits(row.view(np.uint8), count=n, bitorder="little") * flag
    return words


def _rows(csr: CSR) -> Rows:
    return Rows(plain(csr.indptr), plain(csr.indices), plain(csr.data))


@lru_cache(maxsize=256)
def _runs(code: ProgramCode | None) -> Any:
    if code is None:
        return _COUNTING
    functions = functions_of(code)
    return separate.Runs(functions.gather, functions.update, functions.edge_cond, source_functions_of(code).row)


@lru_cache(maxsize=256)
def _program(code: ProgramCode | None) -> Any:
    if code is None:
        return None
    functions = source_functions_of(code)
    straight = (code.update is None or is_straight(code.update)) and is_straight(code.gather)
    return Program(functions.gather, functions.update, functions.settle if straight else None)


def _same_from_anyone(code: ProgramCode) -> bool:
    """Whether a message depends neither on its sender nor on the arc."""
    return code.edge_cond is None and set(code.gather.__code__.co_varnames[:2]) <= unread(code.gather)


def work_space(n: int, sources: int, ids: np.dtype) -> int:
    """Bytes of work space, without the properties."""
    row = (n + SIDE - 1) // SIDE * 8
    # Bitmaps of settled and active vertices for each source; then words of a joint frontier, or space for each thread.
    together, room = n * (8 + 2 * 8 + 2 * ids.itemsize), n * (ids.itemsize + 1) + 2 * row
    return 2 * min(sources, SIDE) * row + max(together, config.threads * room)


def _groups(search: Search) -> list[Search]:
    """The search of each 64 sources, its properties of shape (sources, n)."""
    starts, groups = search.sources, []
    for first in range(0, starts.k, SIDE):
        begin, end = np.searchsorted(starts.source, (first, first + SIDE))
        own = Starts(starts.vertices[begin:end], starts.source[begin:end] - first, min(starts.k - first, SIDE))
        rows = tuple(plain(values.T[first : first + SIDE]) for values in search.state)
        groups.append(search._replace(sources=own, state=rows))
    return groups


def _summed(found: list[_Totals]) -> np.ndarray:
    """The sum of all traces by superstep; its direction is that of the part that settles most."""
    tables = [table for totals in found for table in totals.tables]
    rows = np.zeros((max((done + len(table) for done, table in tables), default=0), 5), np.int64)
    for done, table in tables:
        overlap = rows[done : done + len(table)]
        overlap[:, 0] = np.where(table[:, 4] >= overlap[:, 4], table[:, 0], overlap[:, 0])
        overlap[:, 1:] += table[:, 1:]
    return rows


def traverse_sources(search: Search) -> JointOutcome:
    """Run a program whose first message wins from many sources."""
    begin_sources(search.state, search.beginnings, search.sources.vertices, search.sources.source)
    found = [_run(group) for group in _groups(search)]
    return JointOutcome(lambda: _summed(found), any(totals.unfinished for totals in found))


def survey_sources(search: Search) -> Totals:
    """Breadth-first search from many sources that keeps totals."""
    found: list[_Totals] = []
    for group in _groups(search):
        survey = _run(group)
        if survey.parted:
            found.append(_count(search, SIDE * len(found)))
            break
        found.append(survey)
    sums = np.concatenate([np.zeros((0, 4), np.int64), *(totals.sums for totals in found)]).T.copy()
    inverse = np.concatenate([np.zeros(0), *(totals.inverse for totals in found)])
    of_sources = SourceTotals(sums[separate.VISITED], sums[separate.LEVELS], inverse, sums[separate.FARTHEST])
    return Totals(lambda: of_sources, lambda: _summed(found))
