"""Arrays in random order on the GPU, by a permutation of places that is computed for each alone; few elements by NumPy.

A place is a row and a column of a table hardly larger than the array. Rounds alternately add SplitMix64's hash of the
row to the column and of the column to the row, modulo their numbers: a Feistel network over any number of places (J.
Black, P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002; R. Mitchell et al., "Bandwidth-optimal random
shuffling for GPUs", ACM TOPC 9 (2022)). Places of the table beyond the array's end are permuted again (cycle walking).
NumPy shuffles few elements, for which a Feistel network gives too few of the permutations.
"""

import math
from typing import Any

import numpy as np

from hpgraph.core.device import array_module

# Rounds of the network; elements up to which NumPy shuffles in cache, faster.
ROUNDS, MAX_SERIAL = 6, 1 << 19


def few_shuffled(values: Any, seed: int) -> Any:
    """`hpgraph.kernels.sampling.Sampling.shuffled` of few elements, on either device."""
    return values[array_module(values).asarray(np.random.default_rng(seed).permutation(len(values)))]


def table_of(count: int) -> tuple[int, int]:
    """Rows and columns of the table, fewer than 2³² of each."""
    columns = math.isqrt(count - 1) + 1
    return -(-count // columns), columns
