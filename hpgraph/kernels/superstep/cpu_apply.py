"""Passes over all vertices: the sums before the first superstep, and who may not receive."""

from __future__ import annotations

import numpy as np
from numba import prange

from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.superstep.cpu_frontier import BLOCK
from hpgraph.semiring.jit import call


@njit(parallel=LOOPS, cache=True, nogil=True)
def apply_aggregate(aggregate, load, state, world, n, sums):
    """What ``aggregate`` contributes when nothing has changed, a row a block: the world before the first superstep."""
    for block in prange(sums.shape[0]):
        for v in range(block * BLOCK, min((block + 1) * BLOCK, n)):
            call(aggregate, state, call(load, state, v), v, world, 0, sums[block])


@njit(parallel=LOOPS, cache=True, nogil=True)
def settle(cond, state, n, settled):
    """Write the bitmask of the vertices that may not receive; bits past the last vertex are set."""
    for word in prange(settled.size):
        bits = np.uint64(0)
        for k in range(64):
            v = word * 64 + k
            if v >= n or not call(cond, state, v):
                bits |= np.uint64(1) << np.uint64(k)
        settled[word] = bits
