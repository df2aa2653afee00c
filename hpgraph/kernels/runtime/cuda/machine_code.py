"""Patches machine code that reads a register too early (a compiler bug).

On Hopper a register that CS2R clears can be read six cycles later. The hardware has no interlock for it: each
instruction encodes how many cycles the next is stalled. If a predicated instruction writes the same register in
between, compilers of CUDA 13.0 to 13.3 may leave only five, and a read then gets the old value. That depends on the
other warps in those cycles: of sums over rows of one entry a few in a hundred were 0, different ones in each run. Here
the stall is raised to six cycles where it is shorter.
"""

from __future__ import annotations

import struct

import numpy as np

ARCHITECTURES = ("sm_90", "sm_90a")
CYCLES = 6
# Identifies the patch in the names under which machine code is cached.
MENDS = b"CS2R, a predicated write, read after 6 cycles"
# An instruction is two words of 64 bits. The low one: twelve bits say which it is, and where its operands come from;
# then a predicate, and bytes that name the registers it writes and reads. One more is named in the high word.
_OPCODE, _CLEAR = 0xFFF, 0x805
_PREDICATE, _ALWAYS = 12, 7
_WRITTEN, _READ = 16, (24, 32)
_HIGH_READ = 0
# Of the high word: by how many cycles the next is held back, and a bit that goes with few of them.
_HELD, _HELD_MAX, _SOON = 41, 15, 1 << 45


def mended(cubin: bytes, arch: str) -> bytes:
    """Machine code in which what CS2R clears, and a predicate writes, is read after `CYCLES` at the earliest."""
    if arch not in ARCHITECTURES:
        return cubin
    found = bytearray(cubin)
    for begin, end in _code(cubin):
        words = np.frombuffer(found, np.uint64, (end - begin) // 8, begin).reshape(-1, 2)
        hold_back(words)
    return bytes(found)


def hold_back(words: np.ndarray) -> None:
    """Raise the stall before a read of a register that follows a CS2R and a predicated write of it.

    ``words`` (uint64 array of shape (instructions, 2)): low and high words; changed in place.
    """
    for i in np.flatnonzero(words[:, 0] & np.uint64(_OPCODE) == _CLEAR).tolist():
        cleared = int(words[i, 0]) >> _WRITTEN & 255
        registers = (cleared, cleared + 1)
        cycles, written = 0, False
        for j in range(i, min(i + CYCLES, len(words) - 1)):
            cycles += int(words[j, 1]) >> _HELD & _HELD_MAX
            if cycles >= CYCLES:
                break
            low, high = (int(word) for word in words[j + 1])
            read = (*(low >> place & 255 for place in _READ), high >> _HIGH_READ & 255)
            if written and any(register in registers for register in read):
                held = min((int(words[i, 1]) >> _HELD & _HELD_MAX) + CYCLES - cycles, _HELD_MAX)
                kept = int(words[i, 1]) & ~(_HELD_MAX << _HELD | _SOON)
                words[i, 1] = kept | held << _HELD
                break
            written |= low >> _PREDICATE & 7 != _ALWAYS and low >> _WRITTEN & 255 in registers


def _code(cubin: bytes) -> list[tuple[int, int]]:
    """Where the sections of machine code begin and end in an ELF file."""
    (offset,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, strings = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, offset + i * size) for i in range(count)]
    names = headers[strings][4]
    return [
        (begin, begin + length)
        for name, _, _, _, begin, length in headers
        if cubin.startswith(b".text.", names + name)
    ]
