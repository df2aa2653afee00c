"""Instructions on the bits of one word, and the transpose of 64 x 64 bits, from a word per vertex to one per source."""

import numpy as np
from numba import types

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.semiring.intrinsic import instruction


@instruction(lambda word: types.int64(types.uint64), lambda word: int(word).bit_count())
def popcount(context, builder, signature, args):
    """Number of set bits of a uint64."""
    return context.cast(builder, builder.ctpop(args[0]), types.uint64, types.int64)


@instruction(lambda word: types.int64(types.uint64), lambda word: (int(word) & -int(word)).bit_length() - 1)
def lowest_bit(context, builder, signature, args):
    """Position of the lowest set bit of a nonzero uint64."""
    return builder.cttz(args[0], context.get_constant(types.boolean, True))


@instruction(lambda number: types.int64(types.int64), lambda number: int(number).bit_length())
def bit_length(context, builder, signature, args):
    """Bits of an int64 above zero: the steps of a binary search in a range of that length."""
    zeros = builder.ctlz(args[0], context.get_constant(types.boolean, True))
    return builder.sub(context.get_constant(types.int64, 64), zeros)


SIDE = 64


@part
def _exchange(words, half, mask):
    """Swap the upper right with the lower left of each square of twice `half` rows and columns."""
    for begin in range(0, SIDE, 2 * half):
        for i in range(begin, begin + half):
            apart = ((words[i] >> np.uint64(half)) ^ words[i + half]) & mask
            words[i + half] ^= apart
            words[i] ^= apart << np.uint64(half)


@part
def transpose(words):
    """Transpose in place: bit j of word i becomes bit i of word j (H. Warren, "Hacker's Delight", section 7-3)."""
    _exchange(words, 32, np.uint64(0x00000000FFFFFFFF))
    _exchange(words, 16, np.uint64(0x0000FFFF0000FFFF))
    _exchange(words, 8, np.uint64(0x00FF00FF00FF00FF))
    _exchange(words, 4, np.uint64(0x0F0F0F0F0F0F0F0F))
    _exchange(words, 2, np.uint64(0x3333333333333333))
    _exchange(words, 1, np.uint64(0x5555555555555555))
