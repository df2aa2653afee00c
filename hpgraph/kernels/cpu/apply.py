"""APPLY: what every vertex makes of its combined message, and the sums over all vertices (HPGraph, 2018, Figure 4)."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from hpgraph.kernels.cpu.record import LOOPS, add_up
from hpgraph.semiring.jit import call

# Vertices whose contributions are summed one after another; the blocks' sums are then added in order, so that a sum
# does not depend on the number of threads. A multiple of 64: each word of a bitmask has one writer.
BLOCK = 4096


@njit(parallel=LOOPS, cache=True, nogil=True)
def apply_update(update, aggregate, load, state, message, received, world, step, active, n_sums):
    """Update the vertices whose bit in ``received`` is set; set the bits of those that changed in ``active``.

    Returns the sums of what ``aggregate`` contributes for the vertices updated, and an array of how many changed and
    how many were updated.
    """
    n = message.size
    blocks = (n + BLOCK - 1) // BLOCK
    sums = np.zeros((blocks, n_sums), np.float64)
    counts = np.zeros((blocks, 2), np.int64)
    for block in prange(blocks):
        for word in range(block * (BLOCK // 64), min((block + 1) * (BLOCK // 64), (n + 63) // 64)):
            bits = np.uint64(0)
            wanted = received[word]
            if wanted:
                for v in range(word * 64, min(word * 64 + 64, n)):
                    flag = np.uint64(1) << np.uint64(v & 63)
                    if wanted & flag:
                        before = call(load, state, v)
                        counts[block, 1] += 1
                        if call(update, state, v, message[v], world, step):
                            bits |= flag
                            counts[block, 0] += 1
                        call(aggregate, state, before, v, world, step, sums[block])
            active[word] = bits
    return add_up(sums), add_up(counts)


@njit(parallel=LOOPS, cache=True, nogil=True)
def apply_aggregate(aggregate, load, state, world, n, n_sums):
    """The sums of what ``aggregate`` contributes when nothing has changed: the world before the first superstep."""
    blocks = (n + BLOCK - 1) // BLOCK
    sums = np.zeros((blocks, n_sums), np.float64)
    for block in prange(blocks):
        for v in range(block * BLOCK, min((block + 1) * BLOCK, n)):
            call(aggregate, state, call(load, state, v), v, world, 0, sums[block])
    return add_up(sums)


@njit(parallel=LOOPS, cache=True, nogil=True)
def settle(cond, state, n):
    """Bitmask of the vertices that may not receive; bits past the last vertex are set."""
    words = (n + 63) // 64
    settled = np.empty(words, np.uint64)
    for word in prange(words):
        bits = np.uint64(0)
        for k in range(64):
            v = word * 64 + k
            if v >= n or not call(cond, state, v):
                bits |= np.uint64(1) << np.uint64(k)
        settled[word] = bits
    return settled
