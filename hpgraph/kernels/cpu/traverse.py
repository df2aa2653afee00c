"""Traversals in which the first message wins (breadth-first search and its kin), whole, in one compiled call.

Direction-optimized: a superstep either pushes from the queue of active vertices, or lets every vertex that may
still receive pull until it finds one active in-neighbour (S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing
breadth-first search", SC'12). The loop over supersteps lies inside the kernel, so a road network of thousands of
levels never pays a return to Python (the kernel fusion of H. Liu and H. H. Huang, SIMD-X, ATC'19), and frontiers too
small to share stay on one thread.

A vertex is settled by its first message. One bit says so: it is the test before a claim, the claim itself, and what
lets a pull pass over 64 settled vertices at a glance.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from hpgraph.kernels.cpu.claim import BUFFER, claim, clear, cycles, flush, list_bits, lowest, mark, test
from hpgraph.kernels.cpu.record import LOOPS, log, total
from hpgraph.kernels.cpu.weights import entry
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.jit import call

PUSH, PULL = 0, 1
# Arcs below which waking the other threads costs more than they save.
SERIAL_ARCS = 4096
# Vertices a worker takes at a time: pushing from the queue, and pulling over rows (a multiple of 64, so that the
# words of the next bitmask have one writer each).
PUSH_CHUNK, PULL_CHUNK = 64, 1024


@njit
def _push(gather, update, edge_cond, state, world, step, indptr, indices, data, queue, begin, end, settled, following,
          tail, buffer):
    """Offer a message along every arc that leaves queue[begin:end]; return the arcs that leave the vertices reached."""
    filled, arcs = 0, 0
    for i in range(begin, end):
        u = np.int64(queue[i])
        for j in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[j])
            if test(settled, v):
                continue
            weight = entry(data, j)
            if not (call(edge_cond, state, u, weight, v) and claim(settled, v)):
                continue
            if call(update, state, v, call(gather, state, u, weight, v), world, step):
                arcs += indptr[v + 1] - indptr[v]
                buffer[filled] = v
                filled += 1
                if filled == BUFFER:
                    filled = flush(buffer, filled, following, tail)
    if filled:
        flush(buffer, filled, following, tail)
    return arcs


@njit
def _pull(gather, update, edge_cond, state, world, step, indptr, indices, data, out_indptr, active, reached, settled,
          begin, end):
    """Let the unsettled among vertices begin..end look for one active in-neighbour each.

    Returns how many found one, the arcs that leave those, and the arcs looked at.
    """
    found, arcs, looked = 0, 0, 0
    for word in range(begin >> 6, (end + 63) >> 6):
        hits, bits = np.uint64(0), np.uint64(0)
        open_ = ~settled[word]
        while open_:
            v = (word << 6) + lowest(open_)
            flag = open_ & (~open_ + np.uint64(1))
            open_ ^= flag
            for j in range(indptr[v], indptr[v + 1]):
                u = np.int64(indices[j])
                looked += 1
                if test(active, u):
                    weight = entry(data, j)
                    if call(edge_cond, state, u, weight, v):
                        hits |= flag
                        if call(update, state, v, call(gather, state, u, weight, v), world, step):
                            bits |= flag
                            found += 1
                            arcs += out_indptr[v + 1] - out_indptr[v]
                        break
        reached[word] = bits
        settled[word] |= hits
    return found, arcs, looked


@njit(parallel=LOOPS, cache=True, nogil=True)
def traverse_first(gather, update, edge_cond, state, world, out_indptr, out_indices, out_data,
                   in_indptr, in_indices, in_data, queue, following, count, settled, active, reached,
                   tally, buffers, cursor, tail, alpha, beta, forced, limit, workers):
    """Run supersteps until nobody is active, or ``limit`` of them.

    ``queue[:count]`` holds the sources. ``settled`` has the bits of those that receive nothing: the sources, and
    whoever may not receive; bits past the last vertex are set. Returns the trace: an int64 array of shape
    (supersteps, 4) with direction, active vertices, arcs looked at, cycles.
    """
    n = out_indptr.size - 1
    everything = out_indptr[n]
    trace = np.empty((64, 4), np.int64)
    # Not the literal 0: for Numba that is a type of its own, and the function would be compiled twice.
    first = np.int64(0)
    direction, step, previous = PUSH, 0, 0
    queued = True
    arcs, looked = np.int64(0), np.int64(0)
    for i in range(count):
        arcs += out_indptr[queue[i] + 1] - out_indptr[queue[i]]
    while count > 0 and step < limit:
        began = cycles()
        if forced >= 0:
            direction = forced
        elif direction == PUSH and arcs > alpha * everything:
            direction = PULL
        elif direction == PULL and (
            (count < beta * n and count < previous) or (2 * arcs < looked and arcs <= alpha * everything)
        ):
            # The frontier dwindles; or the last pull looked at twice the arcs that a push would touch now.
            direction = PUSH
        if direction == PUSH and not queued:
            list_bits(active, queue)
            queued = True
        elif direction == PULL and queued:
            clear(active)
            for i in range(count):
                mark(active, queue[i])
            queued = False
        previous = count
        step += 1
        looked = arcs
        if direction == PUSH:
            tail[0] = 0
            if arcs + count < SERIAL_ARCS:
                arcs = _push(gather, update, edge_cond, state, world, step, out_indptr, out_indices, out_data,
                             queue, first, count, settled, following, tail, buffers[0])
            else:
                cursor[0] = 0
                for worker in prange(workers):
                    mine = np.int64(0)
                    while True:
                        begin = fetch_add(cursor, 0, PUSH_CHUNK)
                        if begin >= count:
                            break
                        mine += _push(gather, update, edge_cond, state, world, step, out_indptr, out_indices,
                                      out_data, queue, begin, min(begin + PUSH_CHUNK, count), settled, following,
                                      tail, buffers[worker])
                    tally[worker, 0] = mine
                arcs = total(tally, 0)
            count = tail[0]
            queue, following = following, queue
        else:
            cursor[0] = 0
            for worker in prange(workers):
                found, leaving, seen = np.int64(0), np.int64(0), np.int64(0)
                while True:
                    begin = fetch_add(cursor, 0, PULL_CHUNK)
                    if begin >= n:
                        break
                    f, a, s = _pull(gather, update, edge_cond, state, world, step, in_indptr, in_indices,
                                    in_data, out_indptr, active, reached, settled, begin,
                                    min(begin + PULL_CHUNK, n))
                    found += f
                    leaving += a
                    seen += s
                tally[worker, 0] = found
                tally[worker, 1] = leaving
                tally[worker, 2] = seen
            count, arcs, looked = total(tally, 0), total(tally, 1), total(tally, 2)
            active, reached = reached, active
        trace = log(trace, step, direction, previous, looked, cycles() - began)
    return trace[:step]
