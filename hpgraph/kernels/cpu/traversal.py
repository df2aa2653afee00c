"""Vertex programs on the CPU: work space for the compiled traversals, and the calls."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from hpgraph.formats import CSR, HYB, Bitmask
from hpgraph.kernels.cpu import apply as _apply
from hpgraph.kernels.cpu.claim import BUFFER, now
from hpgraph.kernels.cpu.product import plain, pull
from hpgraph.kernels.cpu.product_push import push
from hpgraph.kernels.cpu.relax import relax as _relax
from hpgraph.kernels.cpu.threads import team
from hpgraph.kernels.cpu.traverse import traverse_first as _first
from hpgraph.kernels.functions import functions_of
from hpgraph.kernels.program import Beginning, ProgramCode, begin, buckets


def _scratch(workers: int, ids: np.dtype, counters: int) -> tuple[np.ndarray, ...]:
    """A tally and a buffer of vertices for each worker, and counters that all of them share, each on a cache line.

    Made here because what Numba makes of an allocation takes long to compile.
    """
    line = 8
    shared = np.zeros((counters, line), np.int64)
    return np.zeros((workers, line), np.int64), np.empty((workers, BUFFER), ids), *shared


class _Clock:
    """Both clocks read before a call and after it, so that the kernel's cycles can be told in nanoseconds."""

    def __init__(self) -> None:
        self.began, self.cycles = time.perf_counter_ns(), now()

    def convert(self, rows: np.ndarray) -> np.ndarray:
        """Trace rows with nanoseconds in the column that holds cycles."""
        rate = (time.perf_counter_ns() - self.began) / max(now() - self.cycles, 1)
        rows[:, 3] = rows[:, 3] * rate
        return rows


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
    n = out.shape[0]
    begin(state, beginnings, sources)
    with team() as workers:
        settled = _settled(code, state, n)
        np.bitwise_or.at(settled, sources >> 6, np.uint64(1) << (sources & 63).astype(np.uint64))
        queue = np.empty(n, out.indices.dtype)
        queue[: sources.size] = sources
        words = (n + 63) // 64
        clock = _Clock()
        rows = _first(
            program.gather, program.update, program.edge_cond, state, world,
            plain(out.indptr), plain(out.indices), plain(out.data),
            plain(in_.indptr), plain(in_.indices), plain(in_.data),
            queue, np.empty_like(queue), sources.size, settled, np.empty(words, np.uint64), np.empty(words, np.uint64),
            *_scratch(workers, queue.dtype, 2), float(alpha), float(beta), forced, limit, workers,
        )  # fmt: skip
    return clock.convert(rows)


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
        words = (n + 63) // 64
        queued, waiting = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
        np.bitwise_or.at(queued, sources >> 6, np.uint64(1) << (sources & 63).astype(np.uint64))
        queue = np.empty(n, out.indices.dtype)
        queue[: sources.size] = sources
        step, start, end = buckets(state[0].dtype, delta, ceiling, state[0][sources].min() if sources.size else 0)
        clock = _Clock()
        rows, left = _relax(
            program.gather, program.reduce, program.cond, program.edge_cond, state, world,
            plain(out.indptr), plain(out.indices), plain(out.data),
            queue, np.empty_like(queue), np.empty_like(queue), sources.size,
            queued, waiting, *_scratch(workers, queue.dtype, 3), delta is not None or ceiling is not None,
            start, step, end, limit, workers,
        )  # fmt: skip
    rows = clock.convert(rows)
    active = Bitmask(n, queued | waiting).to_indices() if left else np.empty(0, queue.dtype)
    return rows, active


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
