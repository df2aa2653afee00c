"""The product of a sparse and a dense matrix on the GPU: column after column, each a product with a vector."""

from __future__ import annotations

from typing import Any

from hpgraph.formats import RowFormat
from hpgraph.kernels.runtime.cuda.specialization import contiguous
from hpgraph.kernels.spmv import check_pull_dense
from hpgraph.kernels.spmv.cuda import pull


def pull_dense(rows: RowFormat, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any) -> None:
    """Product with a dense matrix: `hpgraph.kernels.spmv.cuda.pull` for every column.

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

    Notes
    -----
    Reads the matrix k times, by whatever way is quickest for a vector, and takes memory for a column of either operand.
    A kernel that kept k sums a row at once lost terms of rows of one entry behind a row of thousands, in some
    specializations that NVRTC 13.0 made for sm_90: whoever writes another begins with the test of such a matrix, which
    has to run on a GPU.
    """
    import cupy

    if not hasattr(gather, "semiring"):
        raise TypeError(
            f"a dense operand on the GPU needs the gather of a semiring, not {gather!r}: make one with "
            "Semiring.gather, or call pull for each column"
        )
    check_pull_dense(rows, state, out)
    (operand,) = contiguous(state)
    if not out.size:
        return
    found = cupy.empty(out.shape[0], out.dtype)
    for column in range(operand.shape[1]):
        pull(rows, gather, reduce, (cupy.ascontiguousarray(operand[:, column]),), found)
        out[:, column] = found
