"""Random numbers and weighted draws in CPU kernels."""

import numpy as np

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek
from hpgraph.semiring import counter_random

bits, mixed = part(counter_random.random_bits), part(counter_random.mixed)
GOLDEN = np.uint64(counter_random.GOLDEN)
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


@part
def below(word, count):
    """A number in 0, ..., count - 1 from 64 random bits: the high half of their product; count < 2³²."""
    many = np.uint64(count)
    return np.int64(((word >> _HALF) * many + (((word & _LOW) * many) >> _HALF)) >> _HALF)


@part
def unit(word):
    """A multiple of 2⁻⁵³ in [0, 1) from 64 random bits."""
    return np.float64(word >> np.uint64(11)) * 2.0**-53


@part
def by_weight(running, begin, end, word):
    """The position in begin..end whose interval of the running sums contains random bits; its weight is positive.

    Galloping search from the position it would have if all weights were equal.
    """
    total, share = peek(running, end - 1), unit(word)
    x = share * total
    low, high, step = begin, end, 1
    guess = begin + min(np.int64(share * (end - begin)), end - begin - 1)
    if peek(running, guess) > x:
        high = guess
        while high - step >= low and peek(running, high - step) > x:
            high -= step
            step += step
        low = max(low, high - step + 1)
    else:
        low = guess + 1
        while low + step <= high and not peek(running, low + step - 1) > x:
            low += step
            step += step
        high = min(high, low + step - 1)
    while low < high:
        middle = (low + high) >> 1
        if peek(running, middle) > x:
            high = middle
        else:
            low = middle + 1
    if low < end:
        return low
    # The product was rounded up to the total: take the last entry of positive weight.
    low, high = begin, end - 1
    while low < high:
        middle = (low + high) >> 1
        if peek(running, middle) >= total:
            high = middle
        else:
            low = middle + 1
    return low
