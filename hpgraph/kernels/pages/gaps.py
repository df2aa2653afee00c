"""The encoding "gaps": the differences of a page's ids, bit-packed in blocks of 32. CPU: `cpu_gaps`; GPU: `gaps.cuh`.

A page's ids, row after row, are one sequence. Each is stored as its difference from the one before, less one: small
within a row, which ascends, and of either sign where a row begins. Differences are taken modulo a power of two that is
at least the number of columns, so that their sums give the ids, and decoding does not depend on rows.

Blocks of 32 differences are packed at a width of their own (frame of reference with exceptions: M. Zukowski et al.,
"Super-scalar RAM-CPU cache compression", ICDE'06; D. Lemire, L. Boytsov, "Decoding billions of integers per second
through vectorization", Software: Practice and Experience 45(1), 2015). The upper bits of differences that do not fit
follow, after a word with a bit for each of these. A 16-bit header holds the width (bits 0 to 4), whether signs are
folded into the lowest bit (bit 5), the number of exceptions (6 to 10) and the width of their upper bits (11 to 15): so
a block's length follows from its header, and the offset of each block of a group from one prefix sum.

A page consists of: for each group of 512 ids, two words, the offset of its first block in the page's words and the id
before its first; the headers, two bytes each, padded to a multiple of 8 bytes; the words of the blocks; zeros, at least
eight bytes, up to a multiple of 64. All is little-endian.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

BLOCK = 32
"""Ids packed at one width: one a lane of a warp."""
GROUP = 512
"""Ids of a group; decoding may start at each. Stored they take about a kilobyte, which a link to host memory
transfers in little more time than its smallest request."""


def word_bits(columns: int) -> int:
    """Bits of an id of `columns` columns; differences are taken modulo two to this power."""
    return max(columns - 1, 1).bit_length()


def directory_bytes(count: int) -> int:
    """Bytes before the words of the blocks of a page of `count` ids: group table and headers."""
    return 8 * -(-count // GROUP) + -(-2 * -(-count // BLOCK) // 8) * 8


def group_ends(directory: Array, count: int, nbytes: int) -> Array:
    """Start of the words of each group of a page in bytes, and the end of the last, from its ids and bytes."""
    groups = -(-count // GROUP)
    begins = directory[: 8 * groups].view(np.uint32)[::2].astype(np.int64) * 4 + directory_bytes(count)
    return np.append(begins, nbytes)
