"""Arrays in random order, by a permutation of places that is computed for each alone.

A network of Feistel over words of an even number of bits, with SplitMix64 as its rounds, permutes these; a place beyond
the end is permuted again until it is not (R. Mitchell et al., "Bandwidth-optimal random shuffling for GPUs", ACM TOPC 9
(2022)). Few elements are shuffled by NumPy: few bits make few permutations.
"""

from typing import Any

import numpy as np

from hpgraph.core.device import array_module

# Rounds of the network; elements up to which NumPy shuffles in cache, faster.
ROUNDS, MAX_SERIAL = 8, 1 << 19


def few_shuffled(values: Any, seed: int) -> Any:
    """`hpgraph.kernels.sampling.Sampling.shuffled` of few elements, on either device."""
    return values[array_module(values).asarray(np.random.default_rng(seed).permutation(len(values)))]


def half_bits(count: int) -> int:
    """Half of the bits of the network's words."""
    return ((count - 1).bit_length() + 1) // 2
