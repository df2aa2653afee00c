"""Programs whose first message wins, on the CPU: work space for the compiled traversal, and the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.formats.bits_cpu import bits_count
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cpu.claim import BUFFER
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, STEP
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.cpu.work_stealing import TAIL, blank_board
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import Beginning, ProgramCode, begin
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.structure.empty_rows import empty_rows
from hpgraph.kernels.superstep.cpu import settled_words
from hpgraph.kernels.traversal import direction_optimizing as traversing
from hpgraph.kernels.traversal.thin import recorded


def traverse(
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
) -> Callable[[], np.ndarray]:
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
    callable
        Gives the trace rows, an int64 array of shape (supersteps, 4): direction, active vertices, arcs looked at,
        nanoseconds.
    """
    begin(state, beginnings, sources)
    with team():
        # No pull needs to look at a vertex that no arc reaches.
        settled = settled_words(code, state, out.shape[0]) | empty_rows(in_).words
        np.bitwise_or.at(settled, sources >> 6, np.uint64(1) << (sources & 63).astype(np.uint64))
        rows = _run(
            code, out, in_, state, world, sources, settled, _receivers(in_), 0,
            alpha=alpha, beta=beta, forced=forced, limit=limit,
        )  # fmt: skip
    return rows


def go_on(
    code: ProgramCode,
    out: CSR,
    in_: CSR,
    state: tuple[np.ndarray, ...],
    world: tuple[Any, ...],
    active: np.ndarray,
    settled: np.ndarray,
    *,
    done: int,
    alpha: float,
    beta: float,
    forced: int,
    limit: int,
) -> np.ndarray:
    """Go on with a search that another device began.

    Parameters
    ----------
    code, out, in_, state, world, alpha, beta, forced, limit
        As for `traverse`.
    active : array of vertex ids, without duplicates
        Who is active now.
    settled : uint64 array
        A bit for everyone who receives nothing any more, set past the last vertex too.
    done : int
        Supersteps so far.

    Returns
    -------
    int64 array of shape (supersteps, 4)
        The trace rows that `traverse` gives, from superstep `done` + 1 on.
    """
    open_ = 64 * settled.size - bits_count(settled)
    return _run(
        code, out, in_, state, world, active, settled, open_, done, alpha=alpha, beta=beta, forced=forced, limit=limit
    )()


def _run(
    code: ProgramCode, out: CSR, in_: CSR, state: tuple[np.ndarray, ...], world: tuple[Any, ...], active: np.ndarray,
    settled: np.ndarray, open_: int, done: int, *, alpha: float, beta: float, forced: int, limit: int,
) -> Callable[[], np.ndarray]:  # fmt: skip
    """Superstep after superstep from the vertices `active`; `open_` others may still hear. Gives the trace rows."""
    program = functions_of(code)
    n, words = out.shape[0], (out.shape[0] + 63) // 64
    with team() as workers:
        queue = np.empty(n, out.indices.dtype)
        queue[: active.size] = active
        board, progress = blank_board(workers), np.zeros(traversing.PROGRESS, np.int64)
        leaving = int((out.indptr[active + 1] - out.indptr[active]).sum())
        progress[[STEP, ACTIVE, traversing.ARCS, traversing.QUEUED, traversing.OPEN]] = (
            done, active.size, leaving, 1, open_,
        )  # fmt: skip
        board[TAIL] = active.size
        buffers, messages = np.empty((workers, BUFFER), queue.dtype), np.empty((workers, BUFFER), code.message)
        fronts = np.empty(words, np.uint64), np.empty(words, np.uint64)
        # In a symmetric graph the only arc of a vertex that was reached leads back to whoever reached it.
        dead_end = int(in_.indices is out.indices)
        return recorded(
            lambda trace, thin: traversing.run_supersteps(
                program.gather, program.update, program.edge_cond, state, world,
                plain(out.indptr), plain(out.indices), plain(out.data),
                plain(in_.indptr), plain(in_.indices), plain(in_.data),
                queue, settled, *fronts, board, buffers, messages, progress, trace, thin, float(alpha),
                float(beta), forced, limit, dead_end,
            ),
            board, progress, traversing.ROW, traversing.THIN_ROW, limit,
        )  # fmt: skip


@attached
def _receivers(in_: CSR) -> int:
    """How many vertices some arc reaches."""
    return in_.shape[0] - empty_rows(in_).count()
