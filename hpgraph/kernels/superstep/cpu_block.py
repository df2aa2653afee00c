"""Join messages from other blocks and devices to a block's own; update every vertex of a block."""

import numpy as np
from numba import prange

from hpgraph.kernels.runtime.cpu.claim import mark, test
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.prefetch import peek_each, put_each
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.spmv.cpu_fold import join
from hpgraph.kernels.superstep.cpu_frontier import BLOCK
from hpgraph.kernels.sweep.cpu_sums import add_each
from hpgraph.semiring.jit import call


@njit(cache=True, nogil=True, error_model="numpy")
def join_listed(reduce, message, received, identity, first, ids, sent):
    """Join messages to those of the vertices `first` + `ids`, each once."""
    for k in range(ids.size):
        v = first + np.int64(ids[k])
        if test(received, v):
            message[v] = join(reduce, message[v], sent[k])
        else:
            mark(received, v)
            message[v] = join(reduce, identity, sent[k])


@njit(cache=True, nogil=True, error_model="numpy")
def join_all(reduce, message, sent):
    """Join messages one by one."""
    for v in range(message.size):
        message[v] = join(reduce, message[v], sent[v])


@njit(error_model="numpy", forceinline=True)
def _update(renew, tally, properties, nowhere, ids, message, v, world, step, total):
    before = peek_each(properties, v)
    after, changed = call(renew, before, ids[v], message[v], world, step)
    put_each(properties, nowhere, v, after)
    return add_each(total, call(tally, before, after, ids[v], world, step, changed))


@njit(error_model="numpy")
def _update_block(renew, tally, nothing, properties, nowhere, ids, message, world, step, begin, end, sums):
    total = nothing
    for v in range(begin, end):
        total = _update(renew, tally, properties, nowhere, ids, message, v, world, step, total)
    for k in range(len(total)):
        sums[k] = total[k]


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def update_each(renew, tally, nothing, properties, nowhere, ids, message, world, step, sums):
    """Update all vertices; a row of `sums` receives the number of changed vertices of a block, and their sums."""
    for block in prange(sums.shape[0]):
        end = min((block + 1) * BLOCK, message.size)
        _update_block(renew, tally, nothing, properties, nowhere, ids, message, world, step, block * BLOCK, end,
                      sums[block])  # fmt: skip
