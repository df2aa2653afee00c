"""Label-correcting traversals: a value is lowered in place as messages arrive, and whoever changed sends again.

The generalized Bellman–Ford loop for any idempotent monoid (min for distances, max for widths, ...), whole in one
compiled call. With a ``priority`` the active set is split in near and far (A. Davidson et al., "Work-efficient
parallel GPU methods for single-source shortest paths", IPDPS'14, a two-bucket Δ-stepping): vertices whose value lies
beyond the current threshold wait until the near ones have settled.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from hpgraph.kernels.cpu.claim import BUFFER, claim, cycles, flush, release
from hpgraph.kernels.cpu.record import LOOPS, log, total
from hpgraph.kernels.cpu.traverse import PUSH, PUSH_CHUNK, SERIAL_ARCS
from hpgraph.kernels.cpu.weights import entry
from hpgraph.semiring.atomics import compare_and_swap, fetch_add
from hpgraph.semiring.jit import call


@njit
def _combine(reduce, values, v, message):
    """values[v] = reduce(values[v], message), safe among threads; whether that changed it."""
    while True:
        old = values[v]
        new = call(reduce, old, message)
        # A NaN never equals itself: comparing twice keeps it from counting as a change for ever.
        if new == old or new != new:
            return False
        if compare_and_swap(values, v, old, new):
            return True


@njit
def _relax(gather, reduce, cond, edge_cond, state, world, indptr, indices, data, queue, begin, end, queued, waiting,
           near, tail, far, far_tail, prioritized, threshold,
           ceiling, buffer):
    """Send the messages of queue[begin:end]; return the arcs that leave the vertices newly queued, and arcs sent."""
    filled, arcs, sent = 0, 0, 0
    values = state[0]
    for i in range(begin, end):
        u = np.int64(queue[i])
        # Before reading u's value: whoever improves u from here on queues it again.
        release(queued, u)
        sent += indptr[u + 1] - indptr[u]
        for j in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[j])
            if not call(cond, state, v):
                continue
            weight = entry(data, j)
            if not call(edge_cond, state, u, weight, v):
                continue
            if _combine(reduce, values, v, call(gather, state, u, weight, v)):
                stands = values[v]
                if prioritized and stands > ceiling:
                    continue
                if not prioritized or stands < threshold:
                    if claim(queued, v):
                        arcs += indptr[v + 1] - indptr[v]
                        buffer[filled] = v
                        filled += 1
                        if filled == BUFFER:
                            filled = flush(buffer, filled, near, tail)
                elif claim(waiting, v):
                    far[fetch_add(far_tail, 0, 1)] = v
    if filled:
        flush(buffer, filled, near, tail)
    return arcs, sent


@njit
def _split(values, indptr, queued, waiting, queue, far, far_count, below, least, threshold):
    """Move the vertices of the far pile that are now near to the queue; forget those settled meanwhile.

    The least of them is near in any case: where a bucket is too narrow for the precision of the values, ``threshold``
    would never pass it.

    Returns how many are queued, the arcs that leave them, and how many stay in the pile.
    """
    count, arcs, kept = 0, 0, 0
    for i in range(far_count):
        v = np.int64(far[i])
        if values[v] < below:  # reached over a shorter way since: it has been in a near queue and is done
            release(waiting, v)
        elif values[v] < threshold or values[v] == least:
            release(waiting, v)
            if claim(queued, v):
                queue[count] = v
                count += 1
                arcs += indptr[v + 1] - indptr[v]
        else:
            far[kept] = v
            kept += 1
    return count, arcs, kept


@njit
def _least(values, far, far_count):
    """The least value in the far pile."""
    least = values[far[0]]
    for i in range(1, far_count):
        if values[far[i]] < least:
            least = values[far[i]]
    return least


@njit(parallel=LOOPS, cache=True, nogil=True)
def relax(gather, reduce, cond, edge_cond, state, world, indptr, indices, data, queue, near, far, count,
          queued, waiting, tally, buffers, cursor, tail, far_tail, prioritized, threshold, delta, ceiling, limit,
          workers):
    """Relax until nobody is active, or for ``limit`` supersteps.

    ``queue[:count]`` and the bitmask ``queued`` hold the sources; ``waiting`` is all zero. Where ``prioritized``,
    vertices whose value is ``threshold`` or more wait; it moves up by ``delta``, past empty buckets;
    beyond ``ceiling`` nobody sends. Returns the trace, as
    ``traverse_first`` does, and how many vertices were left active.
    """
    values = state[0]
    trace = np.empty((64, 4), np.int64)
    step = 0
    # Not the literal 0: for Numba that is a type of its own, and the function would be compiled twice.
    first = np.int64(0)
    arcs = np.int64(0)
    for i in range(count):
        arcs += indptr[queue[i] + 1] - indptr[queue[i]]
    while count > 0 and step < limit:
        began = cycles()
        size = count
        tail[0] = 0
        if arcs + count < SERIAL_ARCS:
            arcs, sent = _relax(gather, reduce, cond, edge_cond, state, world, indptr, indices, data, queue, first,
                                count, queued, waiting, near, tail, far, far_tail, prioritized, threshold, ceiling,
                                buffers[0])
        else:
            cursor[0] = 0
            for worker in prange(workers):
                mine, mine_sent = np.int64(0), np.int64(0)
                while True:
                    begin = fetch_add(cursor, 0, PUSH_CHUNK)
                    if begin >= count:
                        break
                    a, s = _relax(gather, reduce, cond, edge_cond, state, world, indptr, indices, data, queue, begin,
                                  min(begin + PUSH_CHUNK, count), queued, waiting, near, tail, far, far_tail,
                                  prioritized, threshold, ceiling, buffers[worker])
                    mine += a
                    mine_sent += s
                tally[worker, 0] = mine
                tally[worker, 1] = mine_sent
            arcs, sent = total(tally, 0), total(tally, 1)
        count = tail[0]
        queue, near = near, queue
        while count == 0 and far_tail[0] > 0:
            below, least = threshold, _least(values, far, far_tail[0])
            threshold = max(threshold + delta, least + delta)
            count, arcs, far_tail[0] = _split(values, indptr, queued, waiting, queue, far, far_tail[0], below, least,
                                              threshold)
        step += 1
        trace = log(trace, step, PUSH, size, sent, cycles() - began)
    return trace[:step], count + far_tail[0]
