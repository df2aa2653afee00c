"""Arguments of kernels and C structs as they lie in memory, beside what ctypes makes of the same declarations."""

import ctypes

import numpy as np
import pytest

from hpgraph.kernels.runtime.cuda.structs import Layout, packed, struct


class Array:
    """Stands for an array on the GPU: its address is all that is packed."""

    def __init__(self, address):
        self.ptr, self.data = address, self


def fields(**types):
    return type("Fields", (ctypes.Structure,), {"_fields_": list(types.items())})


def test_struct_is_laid_out_as_in_c():
    kind = fields(
        array=ctypes.c_void_p, none=ctypes.c_void_p, small=ctypes.c_int8, wide=ctypes.c_int64, real=ctypes.c_float
    )
    expected = bytes(kind(0x7F00DEADBEEF, None, -3, -5, 1.5))
    found = struct(Array(0x7F00DEADBEEF), None, np.int8(-3), -5, np.float32(1.5))
    # What pads it is zero in both.
    assert found == expected


def test_struct_within_begins_where_64_bits_may():
    inner = fields(a=ctypes.c_int32, b=ctypes.c_int8)
    outer = fields(one=ctypes.c_int64, inner=inner, two=ctypes.c_int64)
    within = struct(np.int32(7), np.int8(1))
    assert struct(1, within, 2) == bytes(outer(1, inner(7, 1), 2))


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_layout_packs_numbers_and_arrays_by_its_declaration(index):
    limits = Layout("Limits", most="i64", may="int")
    layout = Layout("Space<{Index}>", list="*", single="Index", limits=limits, pair=("u64", 2), far="double")
    ids = ctypes.c_int32 if index == "int32" else ctypes.c_int64
    inner = fields(most=ctypes.c_int64, may=ctypes.c_int)
    kind = fields(list=ctypes.c_void_p, single=ids, limits=inner, pair=ctypes.c_uint64 * 2, far=ctypes.c_double)
    made = layout.of(Index=np.dtype(index))
    expected = bytes(kind(4096, 9, inner(1 << 40, True), (ctypes.c_uint64 * 2)(2**64 - 1, 1), 0.25))
    assert made.size == ctypes.sizeof(kind)
    assert made(4096, 9, 1 << 40, True, 2**64 - 1, 1, 0.25) == expected
    assert made(Array(4096), np.int16(9), np.int64(1 << 40), 1, np.uint64(2**64 - 1), 1, np.float32(0.25)) == expected
    assert made(None, 9, 1, 0, 1, 1, 0.0)[:8] == bytes(8)
    # That of no memory, less the bytes before a part's own rows.
    assert made(-8, 9, 1, 0, 1, 1, 0.0)[:8] == (2**64 - 8).to_bytes(8, "little")


def test_arguments_are_found_by_their_addresses():
    given = (
        Array(12345), None, struct(np.int32(1), np.float64(2.5)), np.uint64(2**63), 7, True, 0.5,
        np.complex64(1 + 2j), np.array(-2, np.int16), np.float16(1.5),
    )  # fmt: skip
    expected = (
        np.uint64(12345), np.uint64(0), given[2], given[3], np.int64(7), np.bool_(True), np.float64(0.5), given[7],
        given[8], given[9],
    )  # fmt: skip
    block = packed(given)
    addresses = np.frombuffer(ctypes.string_at(block.address, 8 * len(given)), np.uint64)
    for address, value in zip(addresses.tolist(), expected, strict=True):
        wanted = value if isinstance(value, bytes) else value.tobytes()
        assert ctypes.string_at(address, len(wanted)) == wanted
        assert address % 16 == addresses[0] % 16


def test_memory_is_used_again_only_once_it_is_given_back():
    first, second = packed((np.int64(1), np.uint64(3))), packed((np.int64(2), np.uint64(4)))
    assert first.address != second.address
    assert first.memory.view(np.uint64).tolist() == [1, 0, 3, 0]
    second.set_last(9)
    assert second.memory.view(np.uint64).tolist() == [2, 0, 9, 0]
    second.free.append(second)
    assert packed((np.int64(5), np.uint64(6))) is second
