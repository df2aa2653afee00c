"""Decoding of a block of 32 ids on the CPU, sixteen at a time.

The bit positions of a block's values follow from its width alone. So there is code for each width, with constant
shuffles and shifts (D. Lemire, L. Boytsov, "Decoding billions of integers per second through vectorization", Software:
Practice and Experience 45(1), 2015); LLVM lowers its vectors to any processor.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from hpgraph.semiring.intrinsic import intrinsic

LANES = 16
REACH = 128
"""Bytes from the start of a block that `unpack` may read, for any width."""

_WORD, _WIDE = ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, LANES)


def _constants(values: list[int]) -> ir.Constant:
    return ir.Constant(_VECTOR, values)


def _all(builder: Any, value: Any) -> Any:
    """A vector with all elements equal."""
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, _WORD(0))
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), _constants([0] * LANES))


def _at(context: Any, builder: Any, array_type: Any, array: Any, position: Any) -> Any:
    """A pointer into an array, as a vector's."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [position]), _VECTOR.as_pointer())


def _unpack_in_python(stored: Any, begin: int, width: int, values: Any) -> None:
    packed = int.from_bytes(stored[begin : begin + 4 * width].tobytes(), "little")
    values[:] = [packed >> int(width) * i & (1 << int(width)) - 1 for i in range(2 * LANES)]


@intrinsic(_unpack_in_python)
def unpack(typingctx: Any, stored: Any, begin: Any, width: Any, values: Any) -> Any:
    """Unpack 32 values of a width below 32 from a byte offset into an array of uint32."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        done = builder.append_basic_block("unpacked")
        cases = [builder.append_basic_block(f"width.{width}") for width in range(32)]
        chosen = builder.switch(builder.trunc(args[2], _WORD), done)
        for width, case in enumerate(cases):
            chosen.add_case(_WORD(width), case)
            builder.position_at_end(case)
            for half in (0, 1):
                value = _half(builder, data, args[1], width, half) if width else _constants([0] * LANES)
                place = _at(context, builder, sig.args[3], args[3], _WIDE(half * LANES))
                builder.store(value, place, align=4)
            builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.none(stored, types.int64, types.int64, values), generate


def _half(builder: Any, data: Any, begin: Any, width: int, half: int) -> Any:
    """Sixteen values: each from a word and, if it extends into the next, from that."""
    first = half * LANES * width // 32
    place = builder.gep(data, [builder.add(begin, _WIDE(4 * first))])
    words = builder.load(builder.bitcast(place, _VECTOR.as_pointer()), align=1)
    bits = [(half * LANES + lane) * width - 32 * first for lane in range(LANES)]
    beyond = [bit % 32 + width > 32 for bit in bits]
    zeros = _constants([0] * LANES)
    low = builder.shuffle_vector(words, zeros, _constants([bit // 32 for bit in bits]))
    low = builder.lshr(low, _constants([bit % 32 for bit in bits]))
    if any(beyond):
        # Lanes that need no second word take a zero of the other vector.
        places = [bit // 32 + 1 if more else LANES for bit, more in zip(bits, beyond, strict=True)]
        high = builder.shuffle_vector(words, zeros, _constants(places))
        shifts = [32 - bit % 32 if more else 0 for bit, more in zip(bits, beyond, strict=True)]
        low = builder.or_(low, builder.shl(high, _constants(shifts)))
    return builder.and_(low, _constants([(1 << width) - 1] * LANES))


def _sums_in_python(values: Any, folded: bool, id: int, mask: int, out: Any, begin: int) -> int:
    for i, value in enumerate(values.tolist()):
        id = (id + ((value >> 1) ^ -(value & 1) if folded else value) + 1) & mask
        out[begin + i] = np.uint32(id).astype(np.int32)
    return id


@intrinsic(_sums_in_python)
def sums(typingctx: Any, values: Any, folded: Any, id: Any, mask: Any, out: Any, begin: Any) -> Any:
    """Prefix sums: ids from 32 differences and the id before them, into an array of int32; returns the last."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        last = builder.trunc(args[2], _WORD)
        mask, zeros = _all(builder, builder.trunc(args[3], _WORD)), _constants([0] * LANES)
        one = _constants([1] * LANES)
        for half in (0, 1):
            place = _at(context, builder, sig.args[0], args[0], _WIDE(half * LANES))
            plain = builder.load(place, align=4)
            signs = builder.sub(zeros, builder.and_(plain, one))
            unfolded = builder.xor(builder.lshr(plain, one), signs)
            value = builder.select(context.is_true(builder, sig.args[1], args[1]), unfolded, plain)
            for step in (1, 2, 4, 8):
                # Lanes before the first are zeros of the other vector.
                places = [lane - step if lane >= step else LANES for lane in range(LANES)]
                value = builder.add(value, builder.shuffle_vector(value, zeros, _constants(places)))
            value = builder.add(value, _constants(list(range(1, LANES + 1))))
            value = builder.and_(builder.add(value, _all(builder, last)), mask)
            at = builder.add(args[5], _WIDE(half * LANES))
            builder.store(value, _at(context, builder, sig.args[4], args[4], at), align=4)
            last = builder.extract_element(value, _WORD(LANES - 1))
        return builder.zext(last, _WIDE)

    return types.int64(values, types.boolean, types.int64, types.int64, out, types.int64), generate
