"""Arrays in random order on the CPU: elements go to random blocks, which are shuffled in cache, in parallel.

Every permutation is as likely as any other (P. Sanders, "Random permutations on distributed, external and hierarchical
memory", Information Processing Letters 67 (1998)); within a block by R. Durstenfeld's exchanges (CACM 7(7), 1964).
"""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, prefetch, put, tasks, team
from hpgraph.kernels.sampling import shuffles
from hpgraph.kernels.sampling.cpu_random import GOLDEN, below, mixed
from hpgraph.kernels.structure.cpu_mirrored import LINE, MAX_BLOCKS
from hpgraph.kernels.structure.cpu_undirected import BLOCK, block_starts


def shuffled(values: Any, seed: int) -> Any:
    """`hpgraph.kernels.sampling.Sampling.shuffled` on the CPU."""
    count = len(values)
    if count <= shuffles.MAX_SERIAL:
        return shuffles.few_shuffled(values, seed)
    out, bits = np.empty_like(values), min((count // BLOCK).bit_length(), MAX_BLOCKS.bit_length() - 1)
    with team() as shares:
        fill = np.zeros((shares, 1 << bits), np.int64)
        _divide(np.uint64(seed), np.uint64(64 - bits), values, fill, None)
        starts, fill = block_starts(fill)
        _divide(np.uint64(seed), np.uint64(64 - bits), values, fill, out)
        _shuffle(np.uint64(seed), starts, out, np.int64(shares))
    return out


@njit(cache=True, nogil=True, parallel=LOOPS)
def _divide(seed, shift, values, fill, out):
    """Write each element to its block, in order, or, where `out` is None, count them."""
    shares = fill.shape[0]
    for share in prange(shares):
        place = fill[share]
        for i in range(values.size * share // shares, values.size * (share + 1) // shares):
            block = np.int64(mixed(seed + np.uint64(i) * GOLDEN) >> shift)
            at = peek(place, block)
            put(place, block, at + 1)
            if out is not None:
                prefetch(out, at + LINE)
                put(out, at, peek(values, i))


@njit(cache=True, nogil=True, parallel=LOOPS)
def _shuffle(seed, starts, out, threads):
    following, key = np.zeros(1, np.int64), mixed(~seed)
    for _ in prange(threads):
        for block in tasks(following, starts.size - 1):
            _exchange(key, peek(starts, block), peek(starts, block + 1), out)


@part
def _exchange(key, begin, end, out):
    """Exchange each element with one drawn from it and those before it."""
    for at in range(end - 1, begin, -1):
        other = begin + below(mixed(key + np.uint64(at) * GOLDEN), at - begin + 1)
        one = peek(out, at)
        put(out, at, peek(out, other))
        put(out, other, one)
