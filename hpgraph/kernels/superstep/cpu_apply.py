"""Passes over all vertices: the sums before the first superstep, and the vertices masked by `cond`."""

import numpy as np
from numba import prange

from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.superstep.cpu_frontier import BLOCK
from hpgraph.semiring.jit import call


@part
def _aggregate_block(aggregate, load, state, world, begin, end, sums):
    for v in range(begin, end):
        call(aggregate, state, call(load, state, v), v, world, 0, sums)


@njit(parallel=LOOPS, cache=True, nogil=True)
def apply_aggregate(aggregate, load, state, world, n, sums):
    """Sums of ``aggregate`` over unchanged vertices, one row per block: the world before the first superstep."""
    for block in prange(sums.shape[0]):
        _aggregate_block(aggregate, load, state, world, block * BLOCK, min((block + 1) * BLOCK, n), sums[block])


# For one block: no parallel loop, which halves the compile time.
@njit(cache=True, nogil=True, counts_references=False)
def apply_aggregate_alone(aggregate, load, state, world, n, sums):
    """`apply_aggregate` of one block."""
    _aggregate_block(aggregate, load, state, world, 0, n, sums[0])


@njit(parallel=LOOPS, cache=True, nogil=True)
def settle(cond, state, n, settled):
    """Write the bitmask of the vertices masked by `cond`; bits past the last vertex are set."""
    for word in prange(settled.size):
        bits = np.uint64(0)
        for k in range(64):
            v = word * 64 + k
            if v >= n or not call(cond, state, v):
                bits |= np.uint64(1) << np.uint64(k)
        settled[word] = bits
