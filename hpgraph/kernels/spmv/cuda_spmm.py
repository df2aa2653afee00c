"""SpMM on the GPU: the product that `spmm.cuh` is compiled for, and its launches."""

import functools
from typing import Any

import numpy as np

from hpgraph.formats import CSR, RowFormat
from hpgraph.formats.storage import attached
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK, bins
from hpgraph.kernels.runtime.cuda.specialization import DeviceGather, Specialization, contiguous, specialize
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cuda import pull, tail_of, ways_of
from hpgraph.kernels.spmv.cuda_choice import CHOICE_ENTRIES, shape_of
from hpgraph.kernels.spmv.layout_cost import RATES, rows_seconds
from hpgraph.semiring.c_types import c_type
from hpgraph.semiring.cuda import INCLUDE, LinkedCode, binary_functor

DENSE_ROWS = ("dense_rows", "dense_long")
# Most columns that adjacent threads process; and least bytes that a gather transfers.
WIDEST, SECTOR = 32, 32


@functools.lru_cache(maxsize=256)
def specialize_dense(
    gather: Any, reduce: Any, weight_dtype: np.dtype[Any] | None, index_dtype: np.dtype[Any],
    operand_dtype: np.dtype[Any], message_dtype: np.dtype[Any],
) -> Specialization:  # fmt: skip
    """`specialize` for a dense operand; the gather of a semiring reads a column of it."""
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
    """SpMM: `hpgraph.kernels.spmv.cuda.pull` for every column at once; ``out`` (shape (n, k), C order) is overwritten.

    Reads the matrix in CSR, once for every `WIDEST` columns. If a few columns are predicted to take less time one by
    one, by blocks of columns, they are computed so, with memory for a column of either operand.
    """
    if not hasattr(gather, "semiring"):
        raise TypeError(
            f"a dense operand on the GPU needs the gather of a semiring, not {gather!r}: make one with "
            "Semiring.gather, or call pull for each column"
        )
    (operand,) = contiguous(state)
    if not out.size:
        return
    if _apart_is_quicker(rows, gather, reduce, operand, out):
        _apart(rows, gather, reduce, operand, out)
    else:
        _together(rows.csr, gather, reduce, operand, out)


def _apart_is_quicker(rows: RowFormat, gather: Any, reduce: Any, operand: Any, out: Any) -> bool:
    columns = operand.shape[1]
    if columns == 1:
        return True
    read, written = columns * operand.itemsize, columns * out.itemsize
    # An entry transfers a whole sector in any case; a row that fills one uses all of it.
    if read >= SECTOR or rows.nnz < CHOICE_ENTRIES:
        return False
    csr = rows.csr
    known, key = _known(csr), (gather, reduce, operand.dtype, out.dtype, columns, techniques.switched)
    if key not in known:
        ways = ways_of(csr, gather, reduce, (operand.dtype,), out.dtype, frozenset(), timed=False)
        way = min(ways, key=lambda name: ways[name][0])
        # One by one pays by blocks of columns alone: on roads and lattices two columns took up to 1.8 times as long.
        together = rows_seconds(shape_of(csr, SECTOR, written), RATES["cuda"])
        known[key] = way == "blocks" and ways[way][0] * columns < together
    return known[key]


@attached
def _known(csr: CSR) -> dict[tuple[Any, ...], bool]:
    return {}


def _apart(rows: RowFormat, gather: Any, reduce: Any, operand: Any, out: Any) -> None:
    import cupy

    found = cupy.empty(out.shape[0], out.dtype)
    for column in range(operand.shape[1]):
        pull(rows, gather, reduce, (cupy.ascontiguousarray(operand[:, column]),), found)
        out[:, column] = found


def _together(csr: CSR, gather: Any, reduce: Any, operand: Any, out: Any) -> None:
    import cupy

    columns = operand.shape[1]
    special = specialize_dense(
        gather, reduce, None if csr.data is None else csr.data.dtype, csr.indices.dtype, operand.dtype, out.dtype
    )
    module = special.load("spmm.cuh", *DENSE_ROWS)
    tiles = -(-columns // WIDEST)
    width = -(-columns // tiles)
    dealt, a_block = struct(columns, np.uint32(width)), BLOCK // width

    def launch(name: str, tasks: int, *arguments: Any) -> None:
        if tasks:
            module.function(f"hpgraph::{name}<Product>")((-(-tasks // a_block), tiles), (BLOCK,), arguments)

    binned = bins(csr)
    part = cupy.empty((binned.pieces, columns), out.dtype)
    short = len(binned.slots)
    launch(
        "dense_rows", binned.pieces + short, struct(operand, columns), tail_of(csr)[0], binned.arguments,
        np.int64(short), dealt, out, part,
    )  # fmt: skip
    long_rows = binned.long_slots, binned.first_piece, np.int64(binned.long_rows)
    launch("dense_long", binned.long_rows, *long_rows, dealt, out, part)
