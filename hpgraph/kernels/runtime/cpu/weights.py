"""Reading the weight of an arc; a pattern has no array of weights, and every weight is 1.

These are intrinsics, as in `hpgraph.kernels.runtime.cpu.prefetch`: Python functions would be typed and compiled at each
place where a kernel reads a weight.
"""

from typing import Any

from llvmlite import ir
from numba import types

from hpgraph.kernels.runtime.cpu.prefetch import load, prefetch_place
from hpgraph.semiring.intrinsic import instruction, intrinsic


def _read(one: Any, signature: Any) -> Any:
    """Arguments that read a weight: a constant of the type of `one` if there are none."""
    data = signature.args[0]
    if not isinstance(data, types.NoneType):
        return signature, load

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.cast(builder, ir.Constant(ir.IntType(64), 1), types.int64, one)

    return signature, generate


@intrinsic(lambda data, position: 1 if data is None else data[position])
def entry(typingctx: Any, data: Any, position: Any) -> Any:
    """``data[position]``, or 1 where the matrix is a pattern and `data` is None."""
    result = types.int64 if isinstance(data, types.NoneType) else data.dtype
    return _read(types.int64, result(data, types.int64))


@intrinsic(lambda data, position, one: one if data is None else data[position])
def entry_or(typingctx: Any, data: Any, position: Any, one: Any) -> Any:
    """``data[position]``, or 1 in the type of `one` if `data` is None, so that products with it keep that type."""
    kind = types.unliteral(one)
    result = kind if isinstance(data, types.NoneType) else data.dtype
    return _read(kind, result(data, types.int64, one))


@instruction(lambda data, position: types.none(data, types.int64), lambda data, position: None)
def prefetch_entry(context: Any, builder: Any, sig: Any, args: Any) -> None:
    """Prefetch the line of ``data[position]``, if there are values."""
    if not isinstance(sig.args[0], types.NoneType):
        prefetch_place(context, builder, sig.args[0], args[0], args[1])
