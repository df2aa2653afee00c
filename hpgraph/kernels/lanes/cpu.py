"""Multi-source traversal on the CPU: with a joint frontier while frontiers overlap, and as separate searches after."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.core.config import config
from hpgraph.formats import CSR
from hpgraph.kernels.lanes import JointOutcome, LaneTotals, Totals, apart, joint
from hpgraph.kernels.lanes.delivery import Program
from hpgraph.kernels.lanes.joint_steps import Policy, Scratch, Words
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cpu.bit_matrix import SIDE
from hpgraph.kernels.runtime.cpu.claim import BUFFER
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, ROWS, STEP, Clock
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.cpu.work_stealing import GATE, LEADER, blank_board
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.lane_functions import lane_functions_of
from hpgraph.kernels.runtime.program import ProgramCode, begin_lanes
from hpgraph.kernels.runtime.search import Search, Starts
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.structure.empty_rows import empty_rows
from hpgraph.kernels.superstep.cpu import past, settled_words
from hpgraph.kernels.traversal import direction_optimizing as traversing
from hpgraph.kernels.traversal.thin import THIN_PER_ROW
from hpgraph.semiring.function import Function
from hpgraph.semiring.reads import is_straight, unread

# Sources of a group: one word. Pulls of two to eight words a vertex were measured: the frontier's words then exceed the
# cache, and 64 sources take as long (kron18) or up to three times as long (urand18) as in a group of their own.
MAX_LANES = MAX_SURVEYED = SIDE
# Cycles per vertex of a separate search, a lower bound until measured: 41 to 550 were, the least on graphs that fit a
# core's cache. And the cycles of switching to separate searches, some 100 us for any graph.
MIN_PRICE, PARTING = 32.0, 1 << 18
# A survey has no properties: its searches only claim.
_COUNTING = apart.Runs(
    Function(lambda state, u, weight, v: False),
    Function(lambda state, v, message, world, step: True),
    Function(lambda state, u, weight, v: True),
    Function(lambda state, lane: ()),
)


class _Group:
    """One run of up to 64 sources.

    ``code``: the program; None for a survey; ``state`` (tuple of arrays of shape (sources, n)): initial properties.
    """

    def __init__(
        self, code: ProgramCode | None, out: CSR, in_: CSR, state: tuple[np.ndarray, ...], world: tuple[Any, ...],
        vertices: np.ndarray, lanes: np.ndarray, k: int,
    ) -> None:  # fmt: skip
        self.code, self.out, self.in_, self.state, self.world, self.k = code, out, in_, state, world, k
        self.n = out.shape[0]
        self.vertices, self.lanes = vertices, lanes
        self.totals = np.zeros((k, 4), np.int64)
        self.totals[:, apart.VISITED] = np.bincount(lanes, minlength=k)
        self.inverse = np.zeros(k)
        # Rows of the trace, each table with the number of supersteps before it.
        self.tables: list[tuple[int, np.ndarray]] = []
        self.unfinished = False

    def run(self, *, alpha: float, beta: float, forced: int, limit: int) -> None:
        """Run to the end: with a joint frontier while that is faster, then as separate searches.

        One separate search measures their cost when first needed, once for a graph and kind of program.
        """
        dead_end = int(self.in_.indices is self.out.indices)
        policy = Policy(float(alpha), float(beta), forced, limit, dead_end, techniques.early_termination, 0.0, 0.0)
        with team() as workers:
            settled, active = self._closed(), _rows_of_bits(self.vertices, self.lanes, self.k, self.n)
            # If a message depends on its sender, each source has its own: only the arcs could be shared, and the bits
            # of a separate search are cheaper to test.
            one_by_one = self.code is not None and not _same_from_anyone(self.code)
            if one_by_one or self.k <= joint.FEW or not techniques.joint_frontier:
                self._by_themselves(workers, policy, settled, active, 0, self.k, 0)
                return
            self._together(workers, policy, settled, active)

    def _see_price(self, workers: int, policy: Policy, state: tuple[np.ndarray, ...]) -> None:
        """Measure a separate search: run the first one again, on a copy of its initial properties."""
        first = self.vertices[self.lanes == self.lanes[0]]
        lane = _Group(self.code, self.out, self.in_, state, self.world, first, np.zeros(first.size, np.int64), 1)
        active = _rows_of_bits(lane.vertices, lane.lanes, 1, self.n)
        lane._by_themselves(workers, policy, lane._closed(), active, 0, 1, 0)

    @property
    def _kind(self) -> tuple[Any, ...]:
        """Programs that write properties of the same types cost about the same."""
        if self.code is None:
            return ()
        return tuple(values.dtype for values in self.state)

    def _closed(self) -> np.ndarray:
        """A bitmap for each source of its start and of vertices that receive nothing, such as those without in-arcs."""
        code, k, n = self.code, self.k, self.n
        rows = _rows_of_bits(self.vertices, self.lanes, k, n)
        rows |= empty_rows(self.in_).words
        if code is not None and code.cond is not None:
            for lane in range(k):
                rows[lane] |= settled_words(code, tuple(values[lane] for values in self.state), n)
        rows[:, -1:] |= past(n)
        return rows

    def _csr(self, csr: CSR) -> Rows:
        return Rows(plain(csr.indptr), plain(csr.indices), plain(csr.data))

    def _together(self, workers: int, policy: Policy, settled: np.ndarray, active: np.ndarray) -> None:
        code, n, vertices, lanes = self.code, self.n, self.vertices, self.lanes
        seen, fronts = np.empty(n, np.uint64), np.zeros((2, n), np.uint64)
        apart.by_vertex(settled, n, seen)
        np.bitwise_or.at(fronts[0], vertices, np.uint64(1) << lanes.astype(np.uint64))
        listed = np.unique(vertices)
        queues = np.empty((2, n), self.out.indices.dtype)
        queues[0, : listed.size] = listed
        degree = self.out.indptr[listed + 1] - self.out.indptr[listed]
        board, progress = blank_board(workers), np.zeros(joint.PROGRESS, np.int64)
        bits = fronts[0, listed]
        carried = int((degree * np.bitwise_count(bits)).sum())
        progress[[ACTIVE, joint.LISTED, joint.PAIRS, joint.ARCS, joint.LANE_ARCS, joint.OPEN]] = (
            listed.size, listed.size, vertices.size, degree.sum(), carried, n,
        )  # fmt: skip
        progress[joint.LIVE] = np.bitwise_or.reduce(bits).astype(np.int64)
        program = None
        if code is not None:
            functions = lane_functions_of(code)
            straight = code.update is None or is_straight(code.update)
            settle = functions.settle if straight and is_straight(code.gather) else None
            program = Program(functions.gather, functions.update, settle)
        counts = np.zeros((workers, SIDE), np.int64) if code is None else None
        scratch = Scratch(
            np.empty((workers, BUFFER), queues.dtype), np.empty((workers, BUFFER), np.uint64),
            np.empty((workers, 2, SIDE), np.uint64), counts,
        )  # fmt: skip
        words = Words(seen, fronts, queues)
        flat = tuple(values.reshape(-1) for values in self.state)
        clock, trace = Clock(), np.empty((ROWS, 5), np.int64)
        prices, kind = _prices(self.out), self._kind
        price = prices.get(kind)
        # Initial properties of the first source, until the price is known.
        first = lanes[:1] if price is None else lanes[:0]
        begun = tuple(values[first] for values in self.state)
        while True:
            least = MIN_PRICE if price is None else price
            # Switch to separate searches when the joint frontier has cost more than two of these would have.
            policy = policy._replace(price=least, patience=2 * n * least + PARTING)
            joint.run_supersteps(
                program, flat, self.world, self._csr(self.out), self._csr(self.in_), words,
                joint.Shared(board, progress, trace, self.totals, self.inverse), scratch, policy,
            )  # fmt: skip
            rows = clock.convert(trace[: progress[joint.ROW]].copy())
            self.tables.append((int(progress[STEP]) - len(rows), rows))
            if progress[joint.PARTED] and price is None:
                self._see_price(workers, policy, begun)
                # A search that ended early gives no estimate: then the frontier stays joint.
                price = prices.get(kind, np.inf)
                progress[joint.DEARER] = progress[joint.PARTED] = 0
            elif progress[joint.ROW] < len(trace):
                break
            progress[joint.ROW] = 0
            board[LEADER] = board[GATE] = 0
        self.unfinished |= bool(progress[ACTIVE] > 0) and not progress[joint.PARTED]
        if progress[joint.PARTED]:
            apart.by_lane(seen, n, settled)
            apart.by_lane(fronts[progress[joint.TURN]], n, active)
            active[:, -1:] &= ~past(n)
            del words, seen, fronts, queues
            self._by_themselves(workers, policy, settled, active, 0, self.k, int(progress[STEP]))

    def _by_themselves(
        self, workers: int, policy: Policy, settled: np.ndarray, active: np.ndarray, first: int, end: int, done: int
    ) -> None:
        """Run the sources from `first` to `end` as separate searches."""
        n, words = self.n, settled.shape[1]
        runs, message = _COUNTING, np.dtype(np.int8)
        if self.code is not None:
            single = functions_of(self.code)
            row = lane_functions_of(self.code).row
            runs, message = apart.Runs(single.gather, single.update, single.edge_cond, row), self.code.message
        clock = Clock()
        # Pages that no superstep writes to are never allocated.
        sums = np.zeros((min(policy.limit, n) + 2, apart.SUMS), np.int64)
        following = np.array([first], np.int64)
        lanes = apart.Lanes(settled, active, following, sums, self.totals, self.inverse)
        course = apart.Course(policy.alpha, policy.beta, policy.forced, policy.limit, policy.dead_end, done)
        ids = self.out.indices.dtype
        claims = traversing.Claims(np.empty((workers, BUFFER), ids), np.empty((workers, BUFFER), message))
        csr = self._csr(self.out), self._csr(self.in_)

        def room(own: int) -> apart.Room:
            return apart.Room(
                np.empty((own, n), ids), np.empty((own, 2, words), np.uint64),
                np.stack([blank_board(workers if own == 1 else 1)] * own),
                np.empty((own, traversing.PROGRESS), np.int64), np.empty((own, ROWS, 4), np.int64),
                np.empty((own, ROWS * THIN_PER_ROW), np.uint32),
            )  # fmt: skip

        # One search per worker; the remaining searches get all workers.
        last = end - (end - first) % workers
        if first < last:
            several = lanes._replace(settled=settled[:last])
            apart.run_each(runs, self.state, self.world, *csr, several, room(workers), claims, course)
        if last < end:
            one = room(1)
        for lane in range(last, end):
            following[0] = lane
            apart.start(lane, csr[0].indptr, lanes, one, course)
            over = False
            while not over:
                step = int(one.progress[0, STEP])
                apart.run_each(runs, self.state, self.world, *csr, lanes, one, claims, course)
                over = apart.fold(lane, step, lanes, one, course)
        taken = sums[done:]
        taken = taken[: np.count_nonzero(taken[:, apart.RUNS])]
        table = np.empty((len(taken), 5), np.int64)
        table[:, 0] = 2 * taken[:, apart.PULLS] > taken[:, apart.RUNS]
        table[:, 1], table[:, 2] = taken[:, apart.ACTIVE_SUM], taken[:, apart.ARCS_SUM]
        table[:, 3], table[:, 4] = taken[:, apart.CYCLES_SUM] // workers, taken[:, apart.PAIRS_SUM]
        self.tables.append((done, clock.convert(table)))
        self.unfinished |= bool(self.totals[:, apart.UNFINISHED].any())
        cycles, pairs = taken[:, [apart.CYCLES_SUM, apart.PAIRS_SUM]].sum(axis=0).tolist()
        # A short search gives no estimate for others.
        if pairs >= n // SIDE:
            _prices(self.out)[self._kind] = cycles / max(pairs, 1)


def _same_from_anyone(code: ProgramCode) -> bool:
    """Whether a message depends neither on its sender nor on the arc."""
    return code.edge_cond is None and set(code.gather.__code__.co_varnames[:2]) <= unread(code.gather)


def _rows_of_bits(vertices: np.ndarray, lanes: np.ndarray, k: int, n: int) -> np.ndarray:
    """A bitmap of vertices for each source."""
    rows = np.zeros((k, (n + SIDE - 1) // SIDE), np.uint64)
    np.bitwise_or.at(rows, (lanes, vertices >> 6), np.uint64(1) << (vertices & 63).astype(np.uint64))
    return rows


def work_space(n: int, lanes: int, ids: np.dtype) -> int:
    """Bytes of work space, without the properties."""
    row = (n + SIDE - 1) // SIDE * 8
    # Bitmaps of settled and active vertices for each source; then words of a joint frontier, or space for each thread.
    together, room = n * (8 + 2 * 8 + 2 * ids.itemsize), n * ids.itemsize + 2 * row
    return 2 * min(lanes, SIDE) * row + max(together, config.threads * room)


@attached
def _prices(out: CSR) -> dict[tuple[Any, ...], float]:
    """Cycles of a separate search for each vertex that it reaches, by kind of program."""
    return {}


def _summed(tables: list[tuple[int, np.ndarray]]) -> np.ndarray:
    """The sum of the traces of several groups, by superstep."""
    rows = np.zeros((max((done + len(table) for done, table in tables), default=0), 5), np.int64)
    for done, table in tables:
        here = rows[done : done + len(table)]
        # Direction of the group that settles most.
        here[:, 0] = np.where(table[:, 4] >= here[:, 4], table[:, 0], here[:, 0])
        here[:, 1:] += table[:, 1:]
    return rows


def _groups(starts: Starts) -> list[tuple[int, np.ndarray, np.ndarray, int]]:
    """First source, vertices, sources from 0, and number of sources, for each 64 sources."""
    groups = []
    for first in range(0, starts.k, SIDE):
        begin, end = np.searchsorted(starts.lanes, (first, first + SIDE))
        lanes = starts.lanes[begin:end] - first
        groups.append((first, starts.vertices[begin:end], lanes, min(starts.k - first, SIDE)))
    return groups


def traverse_lanes(search: Search) -> JointOutcome:
    """Run a program whose first message wins from many sources."""
    begin_lanes(search.state, search.beginnings, search.sources.vertices, search.sources.lanes)
    tables: list[tuple[int, np.ndarray]] = []
    unfinished = False
    for first, vertices, lanes, k in _groups(search.sources):
        rows = tuple(plain(values.T[first : first + k]) for values in search.state)
        group = _Group(search.code, search.out, search.in_, rows, search.world, vertices, lanes, k)
        group.run(alpha=search.alpha, beta=search.beta, forced=search.forced, limit=search.limit)
        tables.extend(group.tables)
        unfinished |= group.unfinished
    return JointOutcome(lambda: _summed(tables), unfinished)


def survey_lanes(search: Search) -> Totals:
    """Breadth-first search from many sources that keeps totals."""
    tables: list[tuple[int, np.ndarray]] = []
    totals, inverse = [], []
    for _, vertices, lanes, k in _groups(search.sources):
        group = _Group(None, search.out, search.in_, (), (), vertices, lanes, k)
        group.run(alpha=search.alpha, beta=search.beta, forced=search.forced, limit=search.limit)
        tables.extend(group.tables)
        totals.append(group.totals)
        inverse.append(group.inverse)
    table = np.concatenate(totals) if totals else np.zeros((0, 4), np.int64)
    columns = np.ascontiguousarray(table.T)
    found = LaneTotals(
        columns[apart.VISITED], columns[apart.LEVELS], np.concatenate(inverse) if inverse else np.zeros(0),
        columns[apart.FARTHEST],
    )  # fmt: skip
    return Totals(lambda: found, lambda: _summed(tables))
