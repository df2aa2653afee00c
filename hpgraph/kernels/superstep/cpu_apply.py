"""Passes over all vertices, or all of a block: sums, masks by `cond`, updates, and messages that are joined."""

from collections import namedtuple
from typing import Any

import numpy as np
from numba import prange, types

from hpgraph.kernels.runtime.cpu.claim import mark, test
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part
from hpgraph.kernels.runtime.cpu.prefetch import peek_each, put_each
from hpgraph.kernels.spmv.cpu_fold import join
from hpgraph.kernels.superstep.cpu_frontier import BLOCK
from hpgraph.semiring.intrinsic import intrinsic
from hpgraph.semiring.jit import call


@intrinsic(lambda sums, parts: tuple(a + b for a, b in zip(sums, parts, strict=True)))
def add_each(typingctx: Any, sums: Any, parts: Any) -> Any:
    """Elementwise sum of a tuple of float64 and a tuple of floats; LLVM may reassociate it, to vectorize a loop."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        added = []
        for k, kind in enumerate(sig.args[1]):
            part = context.cast(builder, builder.extract_value(args[1], k), kind, types.float64)
            added.append(builder.fadd(builder.extract_value(args[0], k), part, flags=["reassoc"]))
        return context.make_tuple(builder, sig.return_type, added)

    return sums(sums, parts), generate


@part
def _aggregate_block(aggregate, load, state, world, begin, end, sums):
    for v in range(begin, end):
        call(aggregate, state, call(load, state, v), v, world, 0, sums)


@njit(parallel=LOOPS, cache=True, nogil=True)
def apply_aggregate(aggregate, load, state, world, n, sums):
    """Sums of ``aggregate`` over unchanged vertices, one row per block: the world before the first superstep."""
    for block in prange(sums.shape[0]):
        _aggregate_block(aggregate, load, state, world, block * BLOCK, min((block + 1) * BLOCK, n), sums[block])


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


# Functions that update a vertex and its sums, and their data: current and next properties, and the world.
Updates = namedtuple("Updates", "renew tally zeros state following world step")


@njit(error_model="numpy", forceinline=True)
def update(updates, v, vertex, message, sums):
    """Update the vertex at place `v`, whose id is `vertex`; return the sums with its contribution."""
    state, world, step = updates.state, updates.world, updates.step
    before = peek_each(state, v)
    after, changed = call(updates.renew, before, vertex, message, world, step)
    put_each(state, updates.following, v, after)
    return add_each(sums, call(updates.tally, before, after, vertex, world, step, changed))


@njit(error_model="numpy")
def _update_block(updates, ids, message, begin, end, sums):
    total = updates.zeros
    for v in range(begin, end):
        total = update(updates, v, ids[v], message[v], total)
    for k in range(len(total)):
        sums[k] = total[k]


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def update_each(renew, tally, zeros, properties, nowhere, ids, message, world, step, sums):
    """Update all vertices; a row of `sums` receives the number of changed vertices of a block, and their sums."""
    for block in prange(sums.shape[0]):
        updates = Updates(renew, tally, zeros, properties, nowhere, world, step)
        end = min((block + 1) * BLOCK, message.size)
        _update_block(updates, ids, message, block * BLOCK, end, sums[block])
