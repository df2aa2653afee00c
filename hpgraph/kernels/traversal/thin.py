"""Supersteps of a traversal with a small frontier, by one worker: along a path, a chain of hubs, a strip of roads.

On the shared board, a superstep costs at least some 300 ns. Here the ends of the queue and the tallies are local
variables, claims are plain stores, a vertex is updated as soon as it is claimed, and the clock is read once for
consecutive thin supersteps: 8 ns for one vertex with two arcs.

These supersteps leave four bytes each instead of a row of the trace: for a path of a million vertices, writing the
trace would take longer than the search. `unfolded` expands them into rows on demand.
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu.claim import AT_ONCE, all_set, claim, test
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, prefetch, put, rolled, vertex
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.kernels.runtime.direction import PUSH
from hpgraph.semiring.jit import call
from hpgraph.semiring.stop import is_stopped

# Arcs plus vertices of a superstep below which the leader works alone: waking the other workers costs more than it
# saves.
LEADER_ARCS = 256
# The same on one thread: the range of a row of the table. Larger supersteps buffer claims and update them later, with
# their lines prefetched meanwhile: faster for random targets, slower for ordered ones.
LONE_ARCS = 1 << 16
# Prefetch distances of row pointers and of first arcs, in places of the queue. Then the arcs in a cache line.
PREFETCH_ROWS, PREFETCH_ARCS = 8, 4
ARCS_A_LINE = 16
# Neighbours are tested together while at least this many are left of a row.
LONG = 4 * AT_ONCE
# Marks the trace's row for several thin supersteps, instead of a direction; then their number, 0, and their cycles.
THIN = -1
# Rows of the table of thin supersteps for each row of the trace.
THIN_PER_ROW = 4

# The frontier is queue[head:tail]: `count` vertices with so many arcs, less those with up to `dead_end` arcs. `waiting`
# others are unsettled. Then the superstep, and the row of the table.
Front = namedtuple("Front", "head tail count arcs waiting step row")


@part
def push_thin(does, state, world, out, space, policy, front, most, few):
    """Push from a `Front`, and run supersteps until one is not thin, might pull, or has no room.

    With ``most`` arcs and vertices, a superstep is not thin; with more than ``few`` arcs, it might pull. Returns the
    final `Front`; then the count and the arcs of the last superstep.
    """
    head, tail, count, arcs, waiting, step, row = front
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
                    # Branch-free: the branch is unpredictable.
                    put(queue, tail, v)
                    tail += degree > policy.dead_end
        count = waiting_before - waiting
        if count == 0 or arcs > few or arcs + count >= most or is_stopped():
            break
        if step == policy.limit or row == space.thin.size:
            break
    return Front(head, tail, count, arcs, waiting, step, row), count_before, arcs_before


@part
def counts(row):
    """Vertices and arcs in a row of the table."""
    return np.int64(row) & (LONE_ARCS - 1), np.int64(row) >> 16


def unfolded(trace: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Trace rows with one for each thin superstep; its share of the time is proportional to its vertices and arcs.

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
