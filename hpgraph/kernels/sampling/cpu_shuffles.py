"""Arrays in random order on the CPU, in parallel: the permutations of `hpgraph.kernels.sampling.shuffles`."""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, peek, prange, put, team
from hpgraph.kernels.sampling import shuffles
from hpgraph.kernels.sampling.shuffles import ROUNDS
from hpgraph.kernels.structure.cpu_symmetry import mixed
from hpgraph.semiring.counter_random import GOLDEN

_STEP, _HALF = np.uint64(GOLDEN), np.uint64(32)


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
                    key = seed + np.uint64(turn) * _STEP
                    if turn & 1:
                        column += ((mixed(key ^ (row * _STEP)) >> _HALF) * columns) >> _HALF
                        column -= columns if column >= columns else np.uint64(0)
                    else:
                        row += ((mixed(key ^ (column * _STEP)) >> _HALF) * rows) >> _HALF
                        row -= rows if row >= rows else np.uint64(0)
                place = row * columns + column
                if place < np.uint64(values.size):
                    break
            put(out, i, peek(values, np.int64(place)))
