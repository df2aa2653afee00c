"""Machine code of CUDA's compilers for Hopper, in which one instruction may be read too early: `PATCHES`, CS2R."""

import struct

import numpy as np

from hpgraph.core.patches import PATCHES

# Cycles until a register that CS2R clears can be read. The hardware does not wait by itself: each instruction gives the
# cycles by which the next is delayed. If an instruction with a predicate writes the same register in between, a
# compiler may leave only five, and the read then returns the former value, depending on the other warps in those
# cycles.
CYCLES = 6
# An instruction is two words of 64 bits. The low one: twelve bits for the operation and the source of its operands;
# then a predicate, and bytes that name the registers it writes and reads. The high word names one more.
_OPCODE, _CLEAR = 0xFFF, 0x805
_PREDICATE, _ALWAYS = 12, 7
_WRITTEN, _READ = 16, (24, 32)
_HIGH_READ = 0
# Of the high word: by how many cycles the next is held back, and a bit that goes with few of them.
_HELD, _HELD_MAX, _SOON = 41, 15, 1 << 45


def mended(cubin: bytes, arch: str, compiler: tuple[int, ...]) -> bytes:
    """Machine code of a version of the compiler in which what CS2R clears is read after `CYCLES` at the earliest."""
    if arch not in ("sm_90", "sm_90a") or not PATCHES["CS2R"].is_for(compiler):
        return cubin
    patched = bytearray(cubin)
    for begin, end in _code(cubin):
        words = np.frombuffer(patched, np.uint64, (end - begin) // 8, begin).reshape(-1, 2)
        hold_back(words)
    return bytes(patched)


def hold_back(words: np.ndarray) -> None:
    """Hold back instructions that read a register too early; ``words``: uint64, (instructions, 2), low and high."""
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
                delay = min((int(words[i, 1]) >> _HELD & _HELD_MAX) + CYCLES - cycles, _HELD_MAX)
                other_bits = int(words[i, 1]) & ~(_HELD_MAX << _HELD | _SOON)
                words[i, 1] = other_bits | delay << _HELD
                break
            written |= low >> _PREDICATE & 7 != _ALWAYS and low >> _WRITTEN & 255 in registers


def _code(cubin: bytes) -> list[tuple[int, int]]:
    """Where the sections of machine code begin and end in an ELF file."""
    (offset,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, strings = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, offset + i * size) for i in range(count)]
    names = headers[strings][4]
    return [
        (begin, begin + length) for name, _, _, _, begin, length in headers if cubin.startswith(b".text.", names + name)
    ]
