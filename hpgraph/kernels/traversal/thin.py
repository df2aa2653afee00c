"""Supersteps of a traversal whose frontier is thin, by one worker: along a path, a chain of hubs, a strip of roads.

On the board that workers share, a superstep costs some 300 ns however little it does. Here the ends of the queue and
the tallies are local variables, claims are plain stores, a vertex is updated as soon as it is claimed, and the clock
is read once for all the thin supersteps that follow each other: 8 ns where one vertex sends two arcs.

These supersteps leave four bytes each instead of a row of the trace: a path of a million vertices would take longer to
write its trace than to be searched. `unfolded` makes rows of them for whoever looks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hpgraph.kernels.runtime.cpu import trace as tracing
from hpgraph.kernels.runtime.cpu.claim import claim, test
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, STEP
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.kernels.runtime.cpu.work_stealing import GATE, LEADER
from hpgraph.kernels.runtime.direction import PUSH, traversal_direction
from hpgraph.semiring.jit import call
from hpgraph.semiring.stop import is_stopped

# Arcs plus vertices of a superstep below which the leader works alone: waking helpers would cost more than they save.
# The table of thin supersteps holds 16 bits of either.
LEADER_ARCS = 256
# Instead of a direction, in the trace's row for several thin supersteps: their number, 0, and the cycles of them all.
THIN = -1
# Room for so many thin supersteps for each row of the trace.
THIN_PER_ROW = 4

choose_direction = part(traversal_direction)


@part
def push_thin(gather, update, edge_cond, state, world, indptr, indices, data, queue, settled, head, tail, count, arcs,
              waiting, step, limit, dead_end, alpha, beta, forced, thin, row):
    """Push from queue[head:tail], and superstep after superstep until one is not thin, is to pull, or has no room.

    ``count`` vertices with ``arcs`` are active, of whom the queue leaves out those with up to ``dead_end`` arcs;
    ``waiting`` others may still hear. Returns all of these as they are then, and what else changed: head, tail, count,
    arcs, waiting, step, row; then the count and the arcs of the superstep before.
    """
    n = indptr.size - 1
    m = peek(indptr, n)
    while True:
        step += 1
        thin[row, 0], thin[row, 1] = count, arcs
        row += 1
        count_before, arcs_before = count, arcs
        count, arcs = 0, 0
        end = tail
        while head < end:
            u = vertex(queue, head)
            head += 1
            for j in range(peek(indptr, u), peek(indptr, u + 1)):
                v = vertex(indices, j)
                if test(settled, v):
                    continue
                weight = entry(data, j)
                if not call(edge_cond, state, u, weight, v):
                    continue
                claim(settled, v, True)
                if call(update, state, v, call(gather, state, u, weight, v), world, step):
                    degree = peek(indptr, v + 1) - peek(indptr, v)
                    count += 1
                    arcs += degree
                    if degree > dead_end:
                        queue[tail] = v
                        tail += 1
        waiting -= count
        if count == 0 or arcs + count >= LEADER_ARCS or step == limit or row == thin.shape[0] or is_stopped():
            break
        if forced < 0:
            direction = choose_direction(
                PUSH, count, count_before, arcs, arcs_before, arcs_before, waiting, n, m, alpha, beta
            )
            if direction != PUSH:
                break
    return head, tail, count, arcs, waiting, step, row, count_before, arcs_before


def recorded(
    run: Callable[[np.ndarray, np.ndarray], None], board: np.ndarray, progress: np.ndarray, rows: int, thin: int,
    limit: int,
) -> Callable[[], np.ndarray]:  # fmt: skip
    """Call a traversal with ever longer traces until it is done.

    Parameters
    ----------
    run : callable
        The kernel; takes the trace, and the table of thin supersteps.
    board, progress : int64 arrays
        What it works with.
    rows, thin : int
        Where ``progress`` says how many rows of the two are filled.
    limit : int
        Supersteps at the most.

    Returns
    -------
    callable
        Gives the trace, a row a superstep, in nanoseconds.
    """
    clock = tracing.Clock()
    trace = np.empty((tracing.ROWS, 4), np.int64)
    table = np.empty((tracing.ROWS * THIN_PER_ROW, 2), np.uint16)
    run(trace, table)
    while progress[ACTIVE] > 0 and progress[STEP] < limit:
        if progress[rows] == len(trace):
            trace = tracing.longer(trace)
        elif progress[thin] == len(table):
            table = tracing.longer(table)
        else:
            break
        board[LEADER] = board[GATE] = 0
        run(trace, table)
    trace, table = clock.convert(trace[: progress[rows]]), table[: progress[thin]]
    return lambda: unfolded(trace, table)


def unfolded(trace: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Trace rows with one for each thin superstep, whose shares of the time are those of its vertices and arcs.

    Parameters
    ----------
    trace : int64 array of shape (rows, 4)
        Direction, active vertices, arcs and time; `THIN`, a number of supersteps, 0 and their time.
    table : array of shape (thin supersteps, 2)
        Active vertices and arcs.

    Returns
    -------
    int64 array of shape (supersteps, 4)

    Examples
    --------
    >>> unfolded(np.array([[THIN, 2, 0, 400], [1, 9, 30, 200]]), np.array([[1, 2], [2, 3]], np.uint16)).tolist()
    [[0, 1, 2, 150], [0, 2, 3, 250], [1, 9, 30, 200]]
    """
    if not len(table):
        return trace
    several = trace[:, 0] == THIN
    counts = np.where(several, trace[:, 1], 1)
    rows, places = np.repeat(trace, counts, axis=0), np.repeat(several, counts)
    batch = counts[several]
    work = table.sum(axis=1, dtype=np.int64)
    total = np.add.reduceat(work, np.cumsum(batch) - batch)
    rows[places, 3] = rows[places, 3] * work // np.repeat(total, batch)
    rows[places, 0], rows[places, 1:3] = PUSH, table
    return rows
