"""Vertex programs on the CPU: work space for the compiled traversals, and the calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.formats import CSR, HYB, Bitmask
from hpgraph.kernels.attached import attached
from hpgraph.kernels.cpu import apply as _apply
from hpgraph.kernels.cpu import relax as relaxing
from hpgraph.kernels.cpu import traverse as traversing
from hpgraph.kernels.cpu.bins import BLOCK, ROW, USED, blocks_of, room
from hpgraph.kernels.cpu.claim import BUFFER, now
from hpgraph.kernels.cpu.crew import GATE, LEADER, TAIL, blank_board
from hpgraph.kernels.cpu.product import plain, pull
from hpgraph.kernels.cpu.product_push import push
from hpgraph.kernels.cpu.record import ACTIVE, STEP
from hpgraph.kernels.cpu.threads import team
from hpgraph.kernels.empty_rows import empty_rows
from hpgraph.kernels.functions import functions_of
from hpgraph.kernels.program import Beginning, ProgramCode, begin, buckets

# Supersteps that the first trace has room for.
_ROWS = 4096


class _Clock:
    """Both clocks read before a call and after it, so that the kernel's cycles can be told in nanoseconds."""

    def __init__(self) -> None:
        self.began, self.cycles = time.perf_counter_ns(), now()

    def convert(self, rows: np.ndarray) -> np.ndarray:
        """Trace rows with nanoseconds in the column that holds cycles."""
        rate = (time.perf_counter_ns() - self.began) / max(now() - self.cycles, 1)
        rows[:, 3] = rows[:, 3] * rate
        return rows


def _whole(run: Callable[[np.ndarray], None], board: np.ndarray, progress: np.ndarray, limit: int) -> np.ndarray:
    """The trace of a run: whenever a trace is full, the kernel is called again with a longer one and goes on."""
    clock = _Clock()
    trace = np.empty((_ROWS, 4), np.int64)
    run(trace)
    while progress[STEP] == len(trace) < limit and progress[ACTIVE] > 0:
        trace = np.concatenate([trace, np.empty_like(trace)])
        board[LEADER] = board[GATE] = 0
        run(trace)
    return clock.convert(trace[: progress[STEP]])


def first(
    code: ProgramCode,
    out: CSR,
    in_: CSR,
    state: tuple[np.ndarray, ...],
    beginnings: tuple[Beginning | None, ...],
    world: tuple[Any, ...],
    sources: np.ndarray,
    *,
    alpha: float,
    beta: float,
    forced: int,
    limit: int,
) -> np.ndarray:
    """Run a program whose first message wins.

    Parameters
    ----------
    code : ProgramCode
        The program.
    out, in_ : CSR
        Arcs by their source, and by their target, of `n` vertices.
    state : tuple of arrays of length n
        The properties; changed in place.
    beginnings : tuple of Beginning or None
        What to fill each property with first, if anything.
    world : tuple of scalars
        Parameters.
    sources : array of vertex ids, without duplicates
        Who is active at first.
    alpha, beta : float
        Push turns to pull above `alpha` of all arcs, pull to push below `beta` of all vertices.
    forced : {-1, 0, 1}
        0 pushes always, 1 pulls always, -1 chooses.
    limit : int
        Supersteps at the most.

    Returns
    -------
    int64 array of shape (supersteps, 4)
        Direction, active vertices, arcs looked at, nanoseconds.
    """
    program = functions_of(code)
    n, words = out.shape[0], (out.shape[0] + 63) // 64
    begin(state, beginnings, sources)
    with team() as workers:
        # No pull needs to look at a vertex that no arc reaches.
        settled = _settled(code, state, n) | empty_rows(in_).words
        np.bitwise_or.at(settled, sources >> 6, np.uint64(1) << (sources & 63).astype(np.uint64))
        queue = np.empty(n, out.indices.dtype)
        queue[: sources.size] = sources
        board, progress = blank_board(workers), np.zeros(traversing.PROGRESS, np.int64)
        leaving, receivers = int((out.indptr[sources + 1] - out.indptr[sources]).sum()), _receivers(in_)
        progress[[ACTIVE, traversing.ARCS, traversing.QUEUED, traversing.OPEN]] = sources.size, leaving, 1, receivers
        board[TAIL] = sources.size
        buffers, messages = np.empty((workers, BUFFER), queue.dtype), np.empty((workers, BUFFER), code.message)
        fronts = np.empty(words, np.uint64), np.empty(words, np.uint64)
        return _whole(
            lambda trace: traversing.traverse_first(
                program.gather, program.update, program.edge_cond, state, world,
                plain(out.indptr), plain(out.indices), plain(out.data),
                plain(in_.indptr), plain(in_.indices), plain(in_.data),
                queue, settled, *fronts, board, buffers, messages, progress, trace, float(alpha), float(beta),
                forced, limit,
            ),
            board, progress, limit,
        )  # fmt: skip


def relax(
    code: ProgramCode,
    out: CSR,
    state: tuple[np.ndarray, ...],
    beginnings: tuple[Beginning | None, ...],
    world: tuple[Any, ...],
    sources: np.ndarray,
    *,
    delta: float | None,
    ceiling: float | None,
    limit: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Run a program that lowers one property in place by an idempotent monoid.

    Parameters
    ----------
    code : ProgramCode
        The program; it has no `update`.
    out : CSR
        Arcs by their source.
    state : tuple of one array
        The property; changed in place.
    beginnings : tuple of Beginning or None
        What to fill it with first, if anything.
    world : tuple of scalars
        Parameters.
    sources : array of vertex ids, without duplicates
        Who is active at first.
    delta : float or None
        Width of a bucket: vertices with a value beyond the current bucket wait. None: nobody waits.
    ceiling : float or None
        Vertices with a value beyond it send nothing.
    limit : int
        Supersteps at the most.

    Returns
    -------
    rows : int64 array of shape (supersteps, 4)
        As `first`.
    active : array of vertex ids
        Who would have gone on.
    """
    program = functions_of(code)
    n = out.shape[0]
    begin(state, beginnings, sources)
    with team() as workers:
        waiting = np.zeros(n, np.uint8)
        waiting[sources] = 1
        blocks = room(n, workers)
        store, link = np.empty(blocks * BLOCK, out.indices.dtype), np.empty(blocks, np.int32)
        bins = np.zeros((workers, ROW), np.int64)
        used = blocks_of(sources.size)
        store[: sources.size], link[:used], bins[0, 0] = sources, np.arange(-1, used - 1), sources.size
        board, progress = blank_board(workers), np.zeros(relaxing.PROGRESS, np.int64)
        board[USED] = used
        width, _, last = buckets(state[0].dtype, delta, ceiling, 0)
        # A width below what numbers can divide by makes bins of single values.
        density = 0.0 if delta is None else min(1 / float(width), 1e300) if width > 0 else 1e300
        scale = np.array([state[0][sources].min() if sources.size else 0, density], np.float64)
        rows = _whole(
            lambda trace: relaxing.relax(
                program.gather, program.reduce, program.cond, program.edge_cond, state,
                plain(out.indptr), plain(out.indices), plain(out.data),
                waiting, bins, store, link, np.empty((blocks, 2), np.int32), board, progress, scale, last, trace, limit,
            ),
            board, progress, limit,
        )  # fmt: skip
    return rows, waiting.nonzero()[0].astype(out.indices.dtype)


def apply(
    code: ProgramCode,
    state: tuple[np.ndarray, ...],
    message: np.ndarray,
    received: Bitmask,
    world: tuple[Any, ...],
    step: int,
    active: Bitmask,
) -> tuple[np.ndarray, int, int]:
    """Update the vertices that received a message.

    Parameters
    ----------
    code : ProgramCode
        The program.
    state : tuple of arrays of length n
        The properties; changed in place.
    message : array of length n
        Combined messages.
    received : Bitmask
        Who is updated.
    world : tuple of scalars
        Parameters and last sums.
    step : int
        Number of the superstep, from 1.
    active : Bitmask
        Overwritten: who changed.

    Returns
    -------
    sums : float64 array
        What `aggregate` contributed, added up over the updated vertices.
    changed, updated : int
        How many vertices changed, and were updated.
    """
    program = functions_of(code)
    blocks = -(-message.size // _apply.BLOCK)
    sums, counts = np.zeros((blocks, code.aggregates)), np.zeros((blocks, 2), np.int64)
    with team():
        _apply.apply_update(
            program.update, program.aggregate, program.load, state, message, received.words, world, step, active.words,
            sums, counts,
        )  # fmt: skip
    changed, updated = counts.sum(axis=0).tolist()
    return sums.sum(axis=0), changed, updated


def aggregate(code: ProgramCode, state: tuple[np.ndarray, ...], world: tuple[Any, ...]) -> np.ndarray:
    """The sums of `aggregate` over all vertices as they are.

    Parameters
    ----------
    code : ProgramCode
        The program.
    state : tuple of arrays of length n
        The properties.
    world : tuple of scalars
        Parameters and sums.

    Returns
    -------
    float64 array
    """
    program = functions_of(code)
    n = state[0].size
    sums = np.zeros((-(-n // _apply.BLOCK), code.aggregates))
    with team():
        _apply.apply_aggregate(program.aggregate, program.load, state, world, n, sums)
    return sums.sum(axis=0)


def pull_messages(
    code: ProgramCode,
    rows: CSR | HYB,
    state: tuple[np.ndarray, ...],
    active: Bitmask | None,
    message: np.ndarray,
    received: Bitmask,
) -> None:
    """Every vertex that may receive combines the messages of its active in-neighbours.

    Parameters
    ----------
    code : ProgramCode
        The program.
    rows : CSR or HYB
        Arcs by the vertex that gathers.
    state : tuple of arrays of length n
        The properties.
    active : Bitmask or None
        Who sends; None: all.
    message : array of length n
        Written: the combined message, the monoid's identity where none came.
    received : Bitmask
        Overwritten: who got one.
    """
    program = functions_of(code)
    pull(rows, program.offer, code.reduce, state, message, active=active, received=received, **_closed(code, state))


def push_messages(
    code: ProgramCode,
    arcs: CSR,
    state: tuple[np.ndarray, ...],
    frontier: np.ndarray,
    message: np.ndarray,
    received: Bitmask,
) -> None:
    """The active vertices send along the arcs that leave them; the same outcome as `pull_messages`.

    Parameters
    ----------
    code : ProgramCode
        The program.
    arcs : CSR
        Arcs by the vertex that sends.
    state : tuple of arrays of length n
        The properties.
    frontier : array of vertex ids
        Who sends.
    message : array of length n
        Written where a message came.
    received : Bitmask
        Overwritten: who got one.
    """
    program = functions_of(code)
    message.fill(code.reduce.identity_for(code.message))
    touched = push(arcs, program.offer, code.reduce, state, frontier, message, **_closed(code, state))
    received.words[:] = Bitmask.from_indices(touched, received.n).words


def _closed(code: ProgramCode, state: tuple[np.ndarray, ...]) -> dict[str, Any]:
    """The mask of a product: whoever `cond` keeps from receiving is left out."""
    if code.cond is None:
        return {}
    n = state[0].size
    with team():
        words = _settled(code, state, n)
    if n % 64:
        words[-1] &= ~_past(n)
    return {"mask": Bitmask(n, words), "complement": True}


@attached
def _receivers(in_: CSR) -> int:
    """How many vertices some arc reaches."""
    return in_.shape[0] - empty_rows(in_).count()


def _past(n: int) -> np.uint64:
    """The bits of the last word that lie past the last of n vertices."""
    return ~np.uint64(0) << np.uint64(n % 64) if n % 64 else np.uint64(0)


def _settled(code: ProgramCode, state: tuple[np.ndarray, ...], n: int) -> np.ndarray:
    """Bitmask of the vertices that may not receive; bits past the last vertex are set."""
    words = np.zeros((n + 63) // 64, np.uint64)
    if code.cond is not None:
        _apply.settle(functions_of(code).cond, state, n, words)
    elif n:
        words[-1] = _past(n)
    return words
