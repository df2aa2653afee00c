"""Dense matrices in a product's inner loop: one column as the vector that a ``gather`` expects; rows fetched ahead."""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import overload
from numba.np.arrayobj import populate_array

from hpgraph.kernels.runtime.cpu.prefetch import prefetch_place
from hpgraph.semiring.intrinsic import instruction, intrinsic

# Bytes of a line of the cache.
LINE = 64


@intrinsic(lambda array, c: array[:, c])
def _column(typingctx, array, c):
    """``array[:, c]``, borrowed: reference counting would be an atomic operation in an inner loop."""
    view = types.Array(array.dtype, 1, "A")

    def generate(context, builder, signature, args):
        matrix = context.make_array(signature.args[0])(context, builder, args[0])
        strides = cgutils.unpack_tuple(builder, matrix.strides)
        column = context.make_array(view)(context, builder)
        populate_array(
            column, data=builder.gep(matrix.data, [args[1]]), shape=cgutils.unpack_tuple(builder, matrix.shape)[:1],
            strides=strides[:1], itemsize=matrix.itemsize, meminfo=None,
        )  # fmt: skip
        return column._getvalue()

    return view(array, types.int64), generate


def columns(state, c):
    """The arrays of a tuple: column `c` of those with two dimensions in C order, the others unchanged."""
    return tuple(array[:, c] if array.ndim == 2 else array for array in state)


@overload(columns)
def _columns(state, c):
    parts = [f"_column(state[{i}], c)" if array.ndim == 2 else f"state[{i}]" for i, array in enumerate(state)]
    namespace = {"_column": _column}
    exec(f"def impl(state, c):\n    return ({''.join(part + ', ' for part in parts)})\n", namespace)
    return namespace["impl"]


@instruction(lambda state, row: types.none(state, types.int64), lambda state, row: None)
def fetch_row(context: Any, builder: Any, sig: Any, args: Any) -> None:
    """Prefetch all lines of a row of a matrix in C order, if it is all that a product reads, for reading."""
    if [array.ndim for array in sig.args[0]] != [2]:
        return
    kind, given = sig.args[0][0], builder.extract_value(args[0], 0)
    count = cgutils.unpack_tuple(builder, context.make_array(kind)(context, builder, given).shape)[1]
    first, step = builder.mul(args[1], count), LINE // context.get_abi_sizeof(context.get_data_type(kind.dtype))
    with cgutils.for_range_slice(builder, count.type(0), count, count.type(step), count.type) as (column, _):
        prefetch_place(context, builder, kind, given, builder.add(first, column))
