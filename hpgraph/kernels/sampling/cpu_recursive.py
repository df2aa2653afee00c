"""Recursive edges on the CPU, in parallel: the draws of `hpgraph.kernels.sampling.recursive`."""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, put, team
from hpgraph.kernels.sampling import recursive
from hpgraph.kernels.sampling.cpu_draws import MAX_SERIAL
from hpgraph.kernels.sampling.cpu_random import GOLDEN, mixed
from hpgraph.kernels.sampling.recursive import LEVELS, WORDS, Recursion

_BYTE, _PATH = np.uint64(8), np.uint64(255)
_HALF, _WORD = np.uint64(32), np.uint64((1 << 32) - 1)


def recursive_edges(model: Recursion, count: int, ids: Any) -> tuple[Any, Any]:
    """`hpgraph.kernels.sampling.Sampling.recursive_edges` on the CPU."""
    if count <= MAX_SERIAL:
        return recursive.recursive_edges(model, count, ids)
    source, target = np.empty(count, ids), np.empty(count, ids)
    with team() as threads:
        factors = tuple(map(np.uint64, model.factors))
        _draw(np.int64(model.levels), model.table, np.uint64(model.seed), factors, source, target, np.int64(threads))
    return source, target


@part
def _path(table, bits):
    """The row's bits above the column's, of `LEVELS` levels."""
    entry = np.uint64(peek(table, bits & _PATH))
    # Branch-free: the branch is unpredictable.
    own = np.uint64(0) - np.uint64((bits >> _BYTE) < (entry >> _BYTE))
    return (entry ^ ((entry ^ bits) & own)) & _PATH


@part
def _permuted(vertex, factors, mask, half):
    for factor in factors:
        vertex = (vertex * factor + (factor >> np.uint64(32))) & mask
        vertex ^= vertex >> half
    return vertex


@njit(cache=True, nogil=True, parallel=LOOPS)
def _draw(levels, table, seed, factors, source, target, shares):
    mask, half = np.uint64((np.int64(1) << levels) - 1), np.uint64((levels + 1) // 2)
    words = (levels + 2 * LEVELS - 1) // (2 * LEVELS)
    beyond, low, width = np.uint64(words * 2 * LEVELS - levels), np.uint64((1 << LEVELS) - 1), np.uint64(LEVELS)
    for share in prange(shares):
        for edge in range(source.size * share // shares, source.size * (share + 1) // shares):
            row, column = np.uint64(0), np.uint64(0)
            for at in range(words):
                word = mixed(seed + np.uint64(edge * WORDS + at) * GOLDEN)
                one, other = _path(table, word & _WORD), _path(table, word >> _HALF)
                row = (((row << width) | (one >> width)) << width) | (other >> width)
                column = (((column << width) | (one & low)) << width) | (other & low)
            put(source, edge, source.dtype.type(_permuted(row >> beyond, factors, mask, half)))
            put(target, edge, target.dtype.type(_permuted(column >> beyond, factors, mask, half)))
