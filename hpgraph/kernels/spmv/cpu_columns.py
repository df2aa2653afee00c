"""One column of a dense matrix as the vector that a ``gather`` expects, without the cost of Numba's slices."""

from numba import types
from numba.core import cgutils
from numba.extending import overload
from numba.np.arrayobj import populate_array

from hpgraph.semiring.intrinsic import intrinsic


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
