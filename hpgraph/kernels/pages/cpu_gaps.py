"""Encoding and decoding of "gaps" (`gaps.py`) on the CPU."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from hpgraph.kernels.pages.cpu_vectors import REACH, sums, unpack
from hpgraph.kernels.pages.gaps import BLOCK, GROUP, Array, word_bits
from hpgraph.kernels.runtime.cpu.bits import bit_length, lowest_bit
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.semiring.intrinsic import intrinsic

_MAX_WIDTH = 31
_PADDING = 64


def encode(ids: Array, columns: int) -> Array:
    """Encode a page of ids."""
    blocks, groups = -(-len(ids) // BLOCK), -(-len(ids) // GROUP)
    begin = 8 * groups + -(-2 * blocks // 8) * 8
    # The largest block, and the padding.
    out = np.zeros(begin + 4 * _MAX_WIDTH * blocks + 8 + _PADDING, dtype=np.uint8)
    directory, headers = out[: 8 * groups].view(np.uint32), out[8 * groups :][: 2 * blocks].view(np.uint16)
    words = _encode(ids, (1 << word_bits(columns)) - 1, directory, headers, out[begin:].view(np.uint32))
    end = begin + 4 * words + 8
    return out[: -(-end // _PADDING) * _PADDING]


@njit
def _zigzag(distance):
    """Zigzag: 0, -1, 1, -2, ... as 0, 1, 2, 3, ..."""
    return (distance << 1) ^ (distance >> 63)


@njit
def _pack(values, count, width, words, at):
    """Write the lowest bits of values from a word on; branch-free, one word beyond them may be written, as zero."""
    held, filled = np.uint64(0), np.int64(0)
    for i in range(count):
        held |= np.uint64(values[i]) << np.uint64(filled)
        words[at] = np.uint32(held & np.uint64(0xFFFFFFFF))
        filled += width
        at += filled >> 5
        held >>= np.uint64(filled & 32)
        filled &= 31
    words[at] = np.uint32(held)


@njit
def _choose_width(lengths):
    """The least words, and their width, exceptions and width of upper bits, for `lengths[l]` differences of l bits."""
    top = 32
    while top > 0 and lengths[top] == 0:
        top -= 1
    best, width, beyond = 99, 0, 0
    above = 0
    for w in range(top, -1, -1):
        if w <= _MAX_WIDTH and above < BLOCK:
            words = w if above == 0 else w + 1 + ((above * (top - w) + 31) >> 5)
            if words < best:
                best, width, beyond = words, w, above
        above += lengths[w]
    return best, width, beyond, top - width if beyond else 0


@njit(cache=True, nogil=True)
def _encode(ids, mask, directory, headers, words):
    end = 0
    distances, low, high = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64), np.empty(BLOCK + 1, np.int64)
    lengths = np.empty((2, 33), np.int64)
    for block in range(len(headers)):
        begin = block * BLOCK
        count = min(BLOCK, len(ids) - begin)
        before = np.int64(ids[begin]) - 1
        if begin % GROUP == 0:
            directory[begin // GROUP * 2] = end
            directory[begin // GROUP * 2 + 1] = np.uint32(before & mask)
        else:
            before = np.int64(ids[begin - 1])
        signs = np.int64(0)
        for i in range(count):
            id = np.int64(ids[begin + i])
            distances[i] = id - before - 1
            signs |= distances[i]
            before = id
        lengths[:] = 0
        for i in range(count):
            plain = distances[i] & mask
            lengths[0, bit_length(plain) if plain else 0] += 1
        used, width, beyond, upper = _choose_width(lengths[0])
        fold = 0
        # Without negative differences, folding shortens nothing.
        if signs < 0:
            for i in range(count):
                folded = _zigzag(distances[i])
                lengths[1, bit_length(folded) if folded else 0] += 1
            other = _choose_width(lengths[1])
            if other[0] < used:
                used, width, beyond, upper = other
                fold = 1
        headers[block] = width | fold << 5 | beyond << 6 | upper << 11
        exceptions, which = 0, np.int64(0)
        for i in range(count):
            value = _zigzag(distances[i]) if fold else distances[i] & mask
            low[i], high[exceptions] = value & ((1 << width) - 1), value >> width
            which |= np.int64(value >> width != 0) << i
            exceptions += value >> width != 0
        _pack(low, count, width, words, end)
        if beyond:
            words[end + width] = np.uint32(which)
            _pack(high, beyond, upper, words, end + width + 1)
        end += used
    return end


def _bits_in_python(array: Array, begin: int, place: int) -> np.int64:
    at = begin + (int(place) >> 3)
    return np.int64((int.from_bytes(array[at : at + 8].tobytes(), "little") >> (int(place) & 7)) & 0xFFFFFFFF)


@intrinsic(_bits_in_python)
def _bits(typingctx: Any, array: Any, begin: Any, place: Any) -> Any:
    """The 32 bits at a bit offset from a byte of an array; eight bytes of the array are read."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        wide = ir.IntType(64)
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        at = builder.add(args[1], builder.lshr(args[2], wide(3)))
        place = builder.bitcast(builder.gep(data, [at]), wide.as_pointer())
        word = builder.load(place, align=1)
        return builder.and_(builder.lshr(word, builder.and_(args[2], wide(7))), wide(0xFFFFFFFF))

    return types.int64(array, types.int64, types.int64), generate


ALL = np.empty(0, np.bool_)
"""Instead of flags of groups: all of them."""


@njit(cache=True, nogil=True)
def decode_gaps(stored, count, columns, mask, out, chosen):
    """Decode the ids of a page, int32; True if the bytes are not such a page, or an id is out of range.

    Of groups for which `chosen` is false only the group table is read, and nothing written; an empty `chosen` selects
    all. Nothing is read beyond `stored`, which is aligned to 8 bytes, and nothing written beyond ``out[:count]``.
    """
    blocks, groups = (count + BLOCK - 1) // BLOCK, (count + GROUP - 1) // GROUP
    begin = 8 * groups + ((2 * blocks + 7) >> 3 << 3)
    words = (len(stored) - begin - 8) >> 2
    if words < 0 or len(out) < count:
        return True
    directory = stored[: 8 * groups].view(np.uint32)
    headers = stored[8 * groups : 8 * groups + 2 * blocks].view(np.uint16)
    values, last = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.int32)
    end, id, highest = np.int64(0), np.int64(0), np.int32(-1)
    for block in range(blocks):
        first = block * BLOCK
        if chosen.size and not chosen[first // GROUP]:
            continue
        if first % GROUP == 0:
            end, id = np.int64(directory[first // GROUP * 2]), np.int64(directory[first // GROUP * 2 + 1])
        header = np.int64(headers[block])
        width, beyond, upper = header & 31, header >> 6 & 31, header >> 11
        length = width if beyond == 0 else width + 1 + ((beyond * upper + 31) >> 5)
        if end + length > words:
            return True
        block_start = begin + 4 * end
        if block_start + REACH <= len(stored):
            unpack(stored, block_start, width, values)
        else:
            for i in range(BLOCK):
                values[i] = _bits(stored, block_start, i * width) & ((1 << width) - 1)
        if beyond:
            which, behind = _bits(stored, block_start + 4 * width, 0), block_start + 4 * width + 4
            high = (np.int64(1) << upper) - 1
            for k in range(beyond):
                if which == 0:
                    return True
                i = lowest_bit(np.uint64(which))
                values[i] |= np.uint32((_bits(stored, behind, k * upper) & high) << width & 0xFFFFFFFF)
                which &= which - 1
        folded = header & 32 != 0
        if first + BLOCK <= count:
            id = sums(values, folded, id, mask, out, first)
        else:
            # The last block's values beyond the page's ids are discarded.
            sums(values, folded, id, mask, last, 0)
            for k in range(first, count):
                out[k] = last[k - first]
        end += length
    for group in range(groups):
        if not chosen.size or chosen[group]:
            for i in range(group * GROUP, min((group + 1) * GROUP, count)):
                highest = max(highest, out[i])
    return highest >= columns
