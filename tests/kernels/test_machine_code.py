"""Machine code in which registers would be read too early, and what becomes of it."""

import numpy as np
import pytest
from cuda_build import sections

from hpgraph.core.machine_code import CYCLES, hold_back, mended
from hpgraph.kernels.runtime.cuda.nvrtc import compile_only
from hpgraph.kernels.spmv.cuda_spmm import specialize_dense
from hpgraph.semiring import get_semiring

# What CUDA 13.0 makes of a row's begin in a product: CS2R R14; @!P2 IMAD.WIDE.U32 R14, R11, 0x400; IADD3 R11, R4, R14.
READ_EARLY = [
    (0x00000000000E7805, 0x000FE4000001FF00),
    (0x000004000B0EA825, 0x010FC600078E00FF),
    (0x0000000E040B7210, 0x000FCA0007F5E0FF),
]


def held(word):
    return word >> 105 & 15


def test_an_early_reader_is_held_back():
    words = np.array(READ_EARLY, np.uint64)
    before = words.copy()
    hold_back(words)
    assert [held(int(high) << 64) for _, high in words] == [3, 3, 5]
    assert (words[1:] == before[1:]).all() and words[0, 0] == before[0, 0]
    again = words.copy()
    hold_back(again)
    assert (again == words).all()


def test_late_reads_and_other_registers_are_unchanged():
    late = [READ_EARLY[0], (0x918, 5 << 41), *READ_EARLY[2:]]
    other = [READ_EARLY[0], (0x0000001E100B7210, 0x000FCA0007F5E0FF), *READ_EARLY[1:]]
    for code in (late, other[:2]):
        words = np.array(code, np.uint64)
        hold_back(words)
        assert (words == np.array(code, np.uint64)).all()


def instructions(cubin):
    """The instructions of each kernel, as numbers of 128 bits, and where the first lies in the file."""
    for name, content in sections(cubin):
        if name.startswith(".text."):
            words = [int.from_bytes(content[i : i + 16], "little") for i in range(0, len(content), 16)]
            yield cubin.index(content), words


def readers(code):
    """Cycles from each CS2R to an instruction that names its registers, of those within a few instructions."""
    for i, word in enumerate(code):
        cleared, cycles = word >> 16 & 255, 0
        for here, after in zip(code[i : i + 6], code[i + 1 : i + 7], strict=False):
            cycles += held(here)
            # Instructions of the uniform datapath name registers of its own.
            named = set() if after & 0x180 == 0x80 else {after >> 24 & 255, after >> 32 & 255, after >> 64 & 255}
            if word & 0xFFF == 0x805 and named & {cleared, cleared + 1}:
                yield cycles
                break


def test_a_kernel_that_was_spoiled_is_mended():
    pytest.importorskip("cuda.core")
    float64 = np.dtype(np.float64)
    ring = get_semiring("plus_times")
    gather = ring.gather(float64, float64, float64)
    special = specialize_dense(gather, ring.add, float64, np.dtype(np.int32), float64, float64)
    cubin = compile_only("spmm.cuh", special.prologue, names=["hpgraph::dense_rows<Product>"])
    # The compiler installed leaves nothing to mend, or its version is among those of the patch.
    assert mended(cubin, "sm_90", (13, 3)) == cubin
    spoiled = bytearray(cubin)
    for place, code in instructions(cubin):
        for i in (i for i, word in enumerate(code) if word & 0xFFF == 0x805):
            for j in range(i, i + 6):
                hurried = code[j] & ~(15 << 105) | 1 << 105
                spoiled[place + 16 * j : place + 16 * j + 16] = hurried.to_bytes(16, "little")
    spoiled = bytes(spoiled)
    assert min(cycles for _, code in instructions(spoiled) for cycles in readers(code)) < CYCLES
    for arch, compiler in (("sm_80", (13, 3)), ("sm_90", (13, 4)), ("sm_90", (12, 9))):
        assert mended(spoiled, arch, compiler) == spoiled
    whole = mended(spoiled, "sm_90", (13, 0))
    assert min(cycles for _, code in instructions(whole) for cycles in readers(code)) >= CYCLES
