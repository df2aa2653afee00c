"""Supersteps of a traversal whose frontier is thin, by one worker: along a path, a chain of hubs, a strip of roads.

On the board that workers share, a superstep costs some 300 ns however little it does. Here the ends of the queue and
the tallies are local variables, claims are plain stores, a vertex is updated as soon as it is claimed, and the clock
is read once for all the thin supersteps that follow each other: 8 ns where one vertex sends two arcs.

These supersteps leave four bytes each instead of a row of the trace: a path of a million vertices would take longer to
write its trace than to be searched. `unfolded` makes rows of them for whoever looks.
"""

from __future__ import annotations

import numpy as np

from hpgraph.kernels.runtime.cpu.claim import AT_ONCE, all_set, claim, test
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, prefetch, put, rolled, vertex
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.kernels.runtime.direction import PUSH
from hpgraph.semiring.jit import call
from hpgraph.semiring.stop import is_stopped

# Arcs plus vertices of a superstep below which the leader works alone: waking helpers would cost more than they save.
LEADER_ARCS = 256
# The same on one thread, where there is no helper: what a row of the table has room for. Larger ones gather claims and
# serve them later, with their lines fetched meanwhile: quicker where targets lie at random, slower where in order.
LONE_ARCS = 1 << 16
# Prefetch distances: of row pointers and of first arcs, in places of the queue. Then how many arcs share a cache line.
PREFETCH_ROWS, PREFETCH_ARCS = 8, 4
ARCS_A_LINE = 16
# Neighbours are tested together for as long as so many are left of a row.
LONG = 4 * AT_ONCE
# Instead of a direction, in the trace's row for several thin supersteps: their number, 0, and the cycles of them all.
THIN = -1
# Room for so many thin supersteps for each row of the trace.
THIN_PER_ROW = 4


@part
def push_thin(does, state, world, out, space, policy, head, tail, count, arcs, waiting, step, row, most, few):
    """Push from queue[head:tail], and superstep after superstep until one is not thin, might pull, or has no room.

    ``count`` vertices with ``arcs`` are active, of whom the queue leaves out those with up to ``dead_end`` arcs;
    ``waiting`` others may still hear. With ``most`` arcs and vertices, a superstep is not thin; with more than ``few``
    arcs, it might pull. Returns all of these as they are then, and what else changed: head, tail, count, arcs,
    waiting, step, row; then the count and the arcs of the superstep before.
    """
    indptr, indices, queue, settled = out.indptr, out.indices, space.queue, space.settled
    while True:
        step += 1
        put(space.thin, row, np.uint32(count | arcs << 16))
        row += 1
        count_before, arcs_before, waiting_before = count, arcs, waiting
        arcs = 0
        end = tail
        wide = end - head > PREFETCH_ARCS
        while head < end:
            if wide:
                prefetch(indptr, vertex(queue, min(head + PREFETCH_ROWS, end - 1)))
                soon = peek(indptr, vertex(queue, min(head + PREFETCH_ARCS, end - 1)))
                prefetch(indices, soon)
                prefetch(indices, soon + ARCS_A_LINE)
                prefetch(indices, soon + 2 * ARCS_A_LINE)
            u = vertex(queue, head)
            head += 1
            j, last = peek(indptr, u), peek(indptr, u + 1)
            while last - j >= LONG:
                if not all_set(settled, indices, j):
                    break
                j += AT_ONCE
            while j < last:
                rolled()
                v = vertex(indices, j)
                j += 1
                if test(settled, v):
                    continue
                weight = entry(out.data, j - 1)
                if not call(does.edge_cond, state, u, weight, v):
                    continue
                claim(settled, v, True)
                if call(does.update, state, v, call(does.gather, state, u, weight, v), world, step):
                    degree = peek(indptr, v + 1) - peek(indptr, v)
                    waiting -= 1
                    arcs += degree
                    # No branch: which vertex of a tree is a leaf, no processor foresees.
                    put(queue, tail, v)
                    tail += degree > policy.dead_end
        count = waiting_before - waiting
        if count == 0 or arcs > few or arcs + count >= most or is_stopped():
            break
        if step == policy.limit or row == space.thin.size:
            break
    return head, tail, count, arcs, waiting, step, row, count_before, arcs_before


@part
def counts(row):
    """Vertices and arcs in a row of the table."""
    return np.int64(row) & (LONE_ARCS - 1), np.int64(row) >> 16


def unfolded(trace: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Trace rows with one for each thin superstep, whose shares of the time are those of its vertices and arcs.

    ``trace`` (int64 array of shape (rows, 4)): direction, active vertices, arcs and time; `THIN`, a number of
    supersteps, 0 and their time; ``table`` (uint32 array of length thin supersteps): active vertices, and arcs in the
    upper 16 bits. Returns int64 array of shape (supersteps, 4).
    """
    if not len(table):
        return trace
    several = trace[:, 0] == THIN
    times = np.where(several, trace[:, 1], 1)
    rows, places = np.repeat(trace, times, axis=0), np.repeat(several, times)
    batch = times[several]
    active, arcs = table & (LONE_ARCS - 1), table >> 16
    work = np.add(active, arcs, dtype=np.int64)
    total = np.add.reduceat(work, np.cumsum(batch) - batch)
    rows[places, 3] = rows[places, 3] * work // np.repeat(total, batch)
    rows[places, 0], rows[places, 1], rows[places, 2] = PUSH, active, arcs
    return rows
