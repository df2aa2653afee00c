"""Arrays in random order on the CPU, in parallel: the permutations of `hpgraph.kernels.sampling.shuffles`."""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, peek, prange, put, team
from hpgraph.kernels.sampling import shuffles
from hpgraph.kernels.sampling.cpu_random import GOLDEN, mixed
from hpgraph.kernels.sampling.shuffles import ROUNDS

_HALF = np.uint64(32)


def shuffled(values: Any, seed: int) -> Any:
    """`hpgraph.kernels.sampling.Sampling.shuffled` on the CPU."""
    if len(values) <= shuffles.MAX_SERIAL:
        return shuffles.few_shuffled(values, seed)
    out = np.empty_like(values)
    with team() as threads:
        _shuffle(np.uint64(seed), *map(np.uint64, shuffles.table_of(len(values))), values, out, np.int64(threads))
    return out


@njit(cache=True, nogil=True, parallel=LOOPS)
def _shuffle(seed, rows, columns, values, out, shares):
    for share in prange(shares):
        for i in range(values.size * share // shares, values.size * (share + 1) // shares):
            place = np.uint64(i)
            while True:
                row = place // columns
                column = place - row * columns
                for turn in range(ROUNDS):
                    key = seed + np.uint64(turn) * GOLDEN
                    if turn & 1:
                        column += ((mixed(key ^ (row * GOLDEN)) >> _HALF) * columns) >> _HALF
                        column -= columns if column >= columns else np.uint64(0)
                    else:
                        row += ((mixed(key ^ (column * GOLDEN)) >> _HALF) * rows) >> _HALF
                        row -= rows if row >= rows else np.uint64(0)
                place = row * columns + column
                if place < np.uint64(values.size):
                    break
            put(out, i, peek(values, np.int64(place)))
