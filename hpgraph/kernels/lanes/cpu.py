"""Many lanes on the CPU: words of lanes while they meet in a joint frontier, and lane by lane where they do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.lanes import JointOutcome, Starts, Totals, apart, joint
from hpgraph.kernels.runtime.cpu.bit_matrix import SIDE
from hpgraph.kernels.runtime.cpu.claim import BUFFER
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, STEP
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.cpu.trace import ROWS, Clock
from hpgraph.kernels.runtime.cpu.work_stealing import GATE, LEADER, blank_board
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.lane_functions import lane_functions_of
from hpgraph.kernels.runtime.program import Beginning, ProgramCode, begin_lanes
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.structure.empty_rows import empty_rows
from hpgraph.kernels.superstep.cpu import settled_words
from hpgraph.kernels.traversal import direction_optimizing as traversing
from hpgraph.kernels.traversal.thin import THIN_PER_ROW
from hpgraph.semiring.function import Function
from hpgraph.semiring.reads import unread

# Lanes of a group: a word.
MOST_LANES = MOST_SURVEYED = SIDE
# A survey has no properties: its runs only claim.
_COUNTING = apart.Runs(
    Function(lambda state, u, weight, v: False),
    Function(lambda state, v, message, world, step: True),
    Function(lambda state, u, weight, v: True),
    Function(lambda state, lane: ()),
)


class _Group:
    """One run of up to 64 lanes.

    Parameters
    ----------
    code : ProgramCode or None
        The program; None for a survey.
    out, in_ : CSR
        Arcs by their source, and by their target.
    state : tuple of arrays of shape (lanes, n)
        The properties, begun.
    world : tuple of scalars
        Parameters.
    vertices, lanes : arrays
        Who is active at first in which lane.
    k : int
        Number of lanes.
    """

    def __init__(
        self, code: ProgramCode | None, out: CSR, in_: CSR, state: tuple[np.ndarray, ...], world: tuple[Any, ...],
        vertices: np.ndarray, lanes: np.ndarray, k: int,
    ) -> None:  # fmt: skip
        self.code, self.out, self.in_, self.state, self.world, self.k = code, out, in_, state, world, k
        self.n = n = out.shape[0]
        self.dead_end = int(in_.indices is out.indices)
        self.seen = self._deaf()
        self.fronts = np.zeros((2, n), np.uint64)
        np.bitwise_or.at(self.fronts[0], vertices, np.uint64(1) << lanes.astype(np.uint64))
        self.seen |= self.fronts[0]
        self.listed = np.unique(vertices)
        self.pairs = vertices.size
        self.totals = np.zeros((k, 4), np.int64)
        self.totals[:, apart.REACHED] = np.bincount(lanes, minlength=k)
        self.inverse = np.zeros(k)
        self.tables: list[np.ndarray] = []

    def _deaf(self) -> np.ndarray:
        """The lanes in which a vertex receives nothing; all where no arc reaches it."""
        n, k = self.n, self.k
        words = np.full(n, ~np.uint64(0) << np.uint64(k) if k < SIDE else np.uint64(0), np.uint64)
        if self.code is not None and self.code.cond is not None:
            rows = np.stack([
                settled_words(self.code, tuple(values[lane] for values in self.state), n) for lane in range(k)
            ])  # fmt: skip
            apart.by_vertex(rows, n, words)
        words[empty_rows(self.in_).to_indices()] = ~np.uint64(0)
        return words

    def run(self, *, alpha: float, beta: float, forced: int, limit: int, patience: int) -> None:
        """Run the lanes to their end: together for as long as they meet, then each by itself."""
        with team() as workers:
            early = techniques.early_termination
            policy = joint.Policy(float(alpha), float(beta), forced, limit, self.dead_end, early, patience)
            progress = self._together(workers, policy)
            if progress[joint.PARTED]:
                self._by_themselves(workers, policy, progress)
            else:
                self.unfinished = bool(progress[ACTIVE] > 0)

    def _rows(self, csr: CSR) -> Rows:
        return Rows(plain(csr.indptr), plain(csr.indices), plain(csr.data))

    def _together(self, workers: int, policy: joint.Policy) -> np.ndarray:
        code, n, listed = self.code, self.n, self.listed
        queues = np.empty((2, n), self.out.indices.dtype)
        queues[0, : listed.size] = listed
        degree = self.out.indptr[listed + 1] - self.out.indptr[listed]
        board, progress = blank_board(workers), np.zeros(joint.PROGRESS, np.int64)
        words = self.fronts[0, listed]
        carried = int((degree * np.bitwise_count(words)).sum())
        progress[[ACTIVE, joint.LISTED, joint.PAIRS, joint.ARCS, joint.LANE_ARCS, joint.OPEN]] = (
            listed.size, listed.size, self.pairs, degree.sum(), carried, n,
        )  # fmt: skip
        progress[joint.LIVE] = np.bitwise_or.reduce(words).astype(np.int64)
        program, by, messages = None, None, None
        if code is not None:
            functions = lane_functions_of(code)
            edge_cond = None if code.edge_cond is None else functions.edge_cond
            program = joint.Program(functions.gather, functions.update, edge_cond)
            if not _same_from_anyone(code):
                by = np.empty((workers, BUFFER, 2), np.int64)
                messages = np.empty((workers, SIDE * SIDE), code.message)
        counts = np.zeros((workers, SIDE), np.int64) if code is None else None
        scratch = joint.Scratch(
            np.empty((workers, BUFFER), queues.dtype), np.empty((workers, BUFFER), np.uint64), by,
            np.empty((workers, 2, SIDE), np.uint64), messages, counts,
        )  # fmt: skip
        search = joint.Search(self.seen, self.fronts, queues)
        flat = tuple(values.reshape(-1) for values in self.state)
        clock, trace = Clock(), np.empty((ROWS, 5), np.int64)
        while True:
            joint.run_supersteps(
                program, flat, self.world, self._rows(self.out), self._rows(self.in_), search,
                joint.Shared(board, progress, trace, self.totals, self.inverse), scratch, policy,
            )  # fmt: skip
            self.tables.append(clock.convert(trace[: progress[joint.ROW]].copy()))
            if progress[joint.ROW] < len(trace):
                return progress
            progress[joint.ROW] = 0
            board[LEADER] = board[GATE] = 0

    def _by_themselves(self, workers: int, policy: joint.Policy, progress: np.ndarray) -> None:
        n, k, done = self.n, self.k, int(progress[STEP])
        words = (n + SIDE - 1) // SIDE
        settled, active = np.empty((k, words), np.uint64), np.empty((k, words), np.uint64)
        apart.by_lane(self.seen, n, settled)
        apart.by_lane(self.fronts[progress[joint.TURN]], n, active)
        if n % SIDE:
            active[:, -1] &= ~(~np.uint64(0) << np.uint64(n % SIDE))
        del self.seen, self.fronts
        runs, message = _COUNTING, np.dtype(np.int8)
        if self.code is not None:
            single = functions_of(self.code)
            row = lane_functions_of(self.code).row
            runs, message = apart.Runs(single.gather, single.update, single.edge_cond, row), self.code.message
        clock = Clock()
        # What no superstep writes to is never taken from the system.
        sums = np.zeros((min(policy.limit, n) + 2, apart.SUMS), np.int64)
        following = np.zeros(1, np.int64)
        lanes = apart.Lanes(settled, active, following, sums, self.totals, self.inverse)
        course = apart.Course(policy.alpha, policy.beta, policy.forced, policy.limit, policy.dead_end, done)
        # As many lanes as there are workers at a time; those left over have all workers.
        for own in (workers, 1):
            last = k - k % workers if own > 1 else k
            if following[0] >= last:
                continue
            room = apart.Room(
                np.empty((own, n), self.out.indices.dtype), np.empty((own, 2, words), np.uint64),
                np.stack([blank_board(workers if own == 1 else 1)] * own),
                np.empty((own, traversing.PROGRESS), np.int64), np.empty((own, ROWS, 4), np.int64),
                np.empty((own, ROWS * THIN_PER_ROW, 2), np.uint16), np.empty((workers, BUFFER), self.out.indices.dtype),
                np.empty((workers, BUFFER), message),
            )  # fmt: skip
            apart.run_each(
                runs, self.state, self.world, self._rows(self.out), self._rows(self.in_),
                lanes._replace(settled=settled[:last]), room, course,
            )  # fmt: skip
            following[0] = last
        taken = sums[done:]
        taken = taken[: np.count_nonzero(taken[:, apart.RUNS])]
        table = np.empty((len(taken), 5), np.int64)
        table[:, 0] = 2 * taken[:, apart.PULLS] > taken[:, apart.RUNS]
        table[:, 1], table[:, 2] = taken[:, apart.ACTIVE_SUM], taken[:, apart.ARCS_SUM]
        table[:, 3], table[:, 4] = taken[:, apart.CYCLES_SUM] // workers, taken[:, apart.PAIRS_SUM]
        self.tables.append(clock.convert(table))
        self.unfinished = bool(self.totals[:, apart.UNFINISHED].any())


def _same_from_anyone(code: ProgramCode) -> bool:
    """Whether a message depends neither on who sends it nor on the arc."""
    return code.edge_cond is None and set(code.gather.__code__.co_varnames[:2]) <= unread(code.gather)


def _patience(n: int, k: int) -> int:
    """Pairs that may be settled while hardly any lanes meet, before each goes on by itself."""
    return 2 * n * k // SIDE if techniques.joint_frontier else -1


def _summed(tables: list[np.ndarray]) -> np.ndarray:
    """The traces of several groups as one: the same supersteps together."""
    rows = np.zeros((max(map(len, tables), default=0), 5), np.int64)
    for table in reversed(tables):
        rows[: len(table), 1:] += table[:, 1:]
        rows[: len(table), 0] = table[:, 0]
    return rows


def _groups(starts: Starts) -> list[tuple[int, np.ndarray, np.ndarray, int]]:
    """First lane, vertices, lanes from 0, and number of lanes, for each 64 lanes."""
    groups = []
    for first in range(0, starts.k, SIDE):
        begin, end = np.searchsorted(starts.lanes, (first, first + SIDE))
        lanes = starts.lanes[begin:end] - first
        groups.append((first, starts.vertices[begin:end], lanes, min(starts.k - first, SIDE)))
    return groups


def traverse_lanes(
    code: ProgramCode,
    out: CSR,
    in_: CSR,
    state: tuple[np.ndarray, ...],
    beginnings: tuple[Beginning | None, ...],
    world: tuple[Any, ...],
    starts: Starts,
    *,
    alpha: float,
    beta: float,
    forced: int,
    limit: int,
) -> JointOutcome:
    """Run a program whose first message wins in many lanes.

    Parameters
    ----------
    code, out, in_, world, alpha, beta, forced, limit
        As for `traverse`.
    state : tuple of arrays of shape (n, k) in Fortran order
        The properties; changed in place.
    beginnings : tuple of Beginning or None
        What to fill each property with first, if anything.
    starts : Starts
        Who is active at first.

    Returns
    -------
    JointOutcome
    """
    begin_lanes(state, beginnings, starts.vertices, starts.lanes)
    tables, unfinished = [], False
    for first, vertices, lanes, k in _groups(starts):
        rows = tuple(plain(values.T[first : first + k]) for values in state)
        group = _Group(code, out, in_, rows, world, vertices, lanes, k)
        group.run(alpha=alpha, beta=beta, forced=forced, limit=limit, patience=_patience(out.shape[0], k))
        tables.append(np.concatenate(group.tables))
        unfinished |= group.unfinished
    return JointOutcome(lambda: _summed(tables), unfinished)


def survey_lanes(
    out: CSR, in_: CSR, starts: Starts, *, alpha: float, beta: float, forced: int, limit: int
) -> Totals:
    """Search breadth-first in many lanes, and keep totals.

    Parameters
    ----------
    out, in_, starts, alpha, beta, forced, limit
        As for `traverse_lanes`.

    Returns
    -------
    Totals
    """
    tables, totals, inverse = [], [], []
    for _, vertices, lanes, k in _groups(starts):
        group = _Group(None, out, in_, (), (), vertices, lanes, k)
        group.run(alpha=alpha, beta=beta, forced=forced, limit=limit, patience=_patience(out.shape[0], k))
        tables.append(np.concatenate(group.tables))
        totals.append(group.totals)
        inverse.append(group.inverse)
    table = np.concatenate(totals) if totals else np.zeros((0, 4), np.int64)
    columns = np.ascontiguousarray(table.T)
    return Totals(
        columns[apart.REACHED], columns[apart.LEVELS], np.concatenate(inverse) if inverse else np.zeros(0),
        columns[apart.FARTHEST], lambda: _summed(tables),
    )  # fmt: skip
