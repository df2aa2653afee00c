"""The product of a sparse and a dense matrix on the GPU: what `spmm.cuh` is compiled for, and its launches."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hpgraph.formats import CSR, HYB, SELL, RowFormat
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK, bins
from hpgraph.kernels.runtime.cuda.specialization import DeviceGather, Specialization, contiguous, specialize
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.spmv import check_pull_dense
from hpgraph.kernels.spmv.cuda import tail_of
from hpgraph.kernels.spmv.origin import csr_of
from hpgraph.semiring.c_types import c_type
from hpgraph.semiring.cuda import INCLUDE, LinkedCode, binary_functor

DENSE_ROWS = ("dense_slab", "dense_tail", "dense_long")


@functools.lru_cache(maxsize=256)
def specialize_dense(
    gather: Any,
    reduce: Any,
    weight_dtype: np.dtype[Any] | None,
    index_dtype: np.dtype[Any],
    operand_dtype: np.dtype[Any],
    message_dtype: np.dtype[Any],
) -> Specialization:
    """`specialize` for a dense operand; the gather of a semiring reads a column of it.

    Parameters
    ----------
    gather : Gather
        Of a semiring.
    reduce : Monoid
    weight_dtype : dtype or None
    index_dtype, operand_dtype, message_dtype : dtype

    Returns
    -------
    Specialization
    """
    multiply = gather.semiring.multiply
    weight, message = message_dtype if weight_dtype is None else weight_dtype, c_type(message_dtype)
    source, ltoir = INCLUDE, tuple[LinkedCode, ...]()
    if multiply.position is not None:
        value = {"source": "u", "target": "v", "column": "column"}[multiply.position]
    elif multiply.cpp == "pair":
        value = "1"
    else:
        code = binary_functor(multiply, weight, operand_dtype, "Multiply", message_dtype)
        source, ltoir = code.source, code.ltoir
        value = "Multiply::apply(w, x[u * columns + column])"
    source += f"""struct Gather {{
    const {c_type(operand_dtype)}* x;
    long long columns;
    __device__ {message} operator()(long long u, {c_type(weight)} w, long long v, long long column) const {{
        return ({message}){value};
    }}
}};
"""
    made = DeviceGather(source, ltoir, (operand_dtype,), weight, message_dtype)
    return specialize(made, reduce, None, weight_dtype, index_dtype, (operand_dtype,), message_dtype, False)


def pull_dense(rows: RowFormat, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any) -> None:
    """Product with a dense matrix: `hpgraph.kernels.spmv.cuda.pull` for every column at once.

    Parameters
    ----------
    rows : CSR, HYB or SELL, shape (n, m)
    gather : Gather
        Of a semiring (`Semiring.gather`).
    reduce : Monoid
    state : tuple of one array, shape (m, k)
        The dense operand.
    out : array, shape (n, k), C order
        Overwritten.

    Raises
    ------
    TypeError
        When `gather` is not that of a semiring.
    ValueError
        When `out` has not the shape that `rows` and `state` ask for, or is not in C order.
    """
    import cupy

    if not hasattr(gather, "semiring"):
        raise TypeError(
            f"a dense operand on the GPU needs the gather of a semiring, not {gather!r}: make one with "
            "Semiring.gather, or call pull for each column"
        )
    check_pull_dense(rows, state, out)
    if isinstance(rows, SELL):
        rows = csr_of(rows)
    (operand,) = contiguous(state)
    n, columns = rows.shape[0], operand.shape[1]
    if columns == 0:
        return
    indices, data = (rows.indices, rows.data) if isinstance(rows, CSR) else (rows.tail_indices, rows.tail_data)
    special = specialize_dense(
        gather, reduce, None if data is None else data.dtype, indices.dtype, operand.dtype, out.dtype
    )
    module = special.load("spmm.cuh", *DENSE_ROWS)
    log_columns = min(5, (columns - 1).bit_length())
    tiles = -(-columns // (1 << log_columns))
    shape = np.int64(columns), np.int32(log_columns)
    reader = struct(operand, columns)

    def launch(name: str, blocks: int, tiles: int, *arguments: Any) -> None:
        if blocks:
            module.function(f"hpgraph::{name}<Product>")((blocks, tiles), (BLOCK,), arguments)

    tail = struct(*tail_of(rows))
    if isinstance(rows, HYB):
        slab, width = struct(rows.ell.indices, rows.ell.data), np.int64(rows.width)
        launch("dense_slab", -(-n * 32 // BLOCK), tiles, reader, slab, np.int64(n), width, *shape, out)
    binned = bins(rows)
    part = cupy.empty((binned.pieces, columns), out.dtype)
    short = len(binned.slots)
    launch(
        "dense_tail", -(-(binned.pieces + short) * 32 // BLOCK), tiles, reader, tail, binned.arguments,
        np.int64(short), *shape, out, part,
    )  # fmt: skip
    launch(
        "dense_long", -(-binned.long_rows * columns // BLOCK), 1, tail, binned.long_slots, binned.first_piece,
        np.int64(binned.long_rows), np.int64(columns), out, part,
    )  # fmt: skip
