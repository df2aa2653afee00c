"""Programs whose first message wins, on the CPU: work space for the compiled traversal, and the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cpu.claim import BUFFER
from hpgraph.kernels.runtime.cpu.progress import ACTIVE
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.cpu.trace import whole
from hpgraph.kernels.runtime.cpu.work_stealing import TAIL, blank_board
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import Beginning, ProgramCode, begin
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.structure.empty_rows import empty_rows
from hpgraph.kernels.superstep.cpu import settled_words
from hpgraph.kernels.traversal import direction_optimizing as traversing


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
    program = functions_of(code)
    n, words = out.shape[0], (out.shape[0] + 63) // 64
    begin(state, beginnings, sources)
    with team() as workers:
        # No pull needs to look at a vertex that no arc reaches.
        settled = settled_words(code, state, n) | empty_rows(in_).words
        np.bitwise_or.at(settled, sources >> 6, np.uint64(1) << (sources & 63).astype(np.uint64))
        queue = np.empty(n, out.indices.dtype)
        queue[: sources.size] = sources
        board, progress = blank_board(workers), np.zeros(traversing.PROGRESS, np.int64)
        leaving, receivers = int((out.indptr[sources + 1] - out.indptr[sources]).sum()), _receivers(in_)
        progress[[ACTIVE, traversing.ARCS, traversing.QUEUED, traversing.OPEN]] = sources.size, leaving, 1, receivers
        board[TAIL] = sources.size
        buffers, messages = np.empty((workers, BUFFER), queue.dtype), np.empty((workers, BUFFER), code.message)
        fronts = np.empty(words, np.uint64), np.empty(words, np.uint64)
        rows = whole(
            lambda trace: traversing.traverse_first(
                program.gather, program.update, program.edge_cond, state, world,
                plain(out.indptr), plain(out.indices), plain(out.data),
                plain(in_.indptr), plain(in_.indices), plain(in_.data),
                queue, settled, *fronts, board, buffers, messages, progress, trace, float(alpha), float(beta),
                forced, limit,
            ),
            board, progress, limit,
        )  # fmt: skip
    return lambda: rows


@attached
def _receivers(in_: CSR) -> int:
    """How many vertices some arc reaches."""
    return in_.shape[0] - empty_rows(in_).count()
