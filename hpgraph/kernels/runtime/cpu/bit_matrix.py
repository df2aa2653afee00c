"""A square of 64 x 64 bits as 64 words, and its transpose: from a word per vertex to a word per source, and back."""

import numpy as np

from hpgraph.kernels.runtime.cpu.part import part

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
