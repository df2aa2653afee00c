"""Arrays to and from callers: containers own their arrays, and return copies or read-only views; SciPy's classes.

A container keeps several layouts of the same entries. If one of them shared a caller's array, writing to that array
would make the layouts inconsistent: ``A @ x`` would use the new values and ``A.T @ x`` the old ones.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from hpgraph.core.device import array_module, is_cuda
from hpgraph.formats.checks import as_ids, as_offsets, index_dtype

Sharing = Literal["copy", "read-only", "shared"]


def own(array: Any, given: Any) -> Any:
    """`array`, converted from the argument `given`, and copied if it still shares the caller's memory."""
    if array is None:
        return None
    xp = array_module(array)
    if array is not given:
        elsewhere = isinstance(given, list | tuple | range) or array_module(given) is not xp
        if elsewhere or not xp.may_share_memory(array, xp.asarray(given)):
            return array
    made = xp.empty(array.shape, array.dtype)
    # Unlike `array.copy()`, this compiles no kernel in CuPy.
    xp.copyto(made, array)
    return made


def read_only(array: Any) -> Any:
    """A read-only view of an array, or on CUDA, which has none, a copy."""
    if array is None or is_cuda(array):
        return None if array is None else array.copy()
    view = array.view()
    view.flags.writeable = False
    return view


def hand_out(array: Any, copy: bool) -> Any:
    """An array for a caller: a copy, or a read-only view."""
    return array.copy() if copy and array is not None else read_only(array)


def rows_of_scipy(matrix: Any, pattern: bool, copy: bool) -> tuple[Any, tuple[Any, Any, Any], bool]:
    """Shape, offsets, columns and values of SciPy's or CuPy's matrix; with `copy`, whether to copy them still."""
    if matrix.format != "csr":
        check_places(matrix)
    csr = matrix.tocsr()
    # SciPy allows arrays longer than the last offset.
    arrays = csr.indptr, csr.indices[: csr.nnz], None if pattern else csr.data[: csr.nnz]
    return csr.shape, arrays, copy and not _is_made_anew(csr, matrix)


def check_places(matrix: Any) -> None:
    """Reject entries beyond the shape: SciPy's and CuPy's conversions write out of bounds for them."""
    rows, columns = matrix.shape
    kind = getattr(matrix, "format", None)
    if kind == "coo":
        as_ids(matrix.row, "row", rows, "row")
        as_ids(matrix.col, "col", columns, "column")
    elif kind in ("csr", "csc", "bsr"):
        height, width = matrix.blocksize if kind == "bsr" else (1, 1)
        segments, bound, axis = rows // height, columns // width, "column"
        if kind == "csc":
            segments, bound, axis = columns, rows, "row"
        # SciPy allows arrays longer than the last offset.
        used = min(max(int(matrix.indptr[-1]), 0), len(matrix.indices))
        as_offsets(matrix.indptr, "indptr", segments, used)
        as_ids(matrix.indices[:used], "indices", bound, axis if kind != "bsr" else "block")


def _is_made_anew(csr: Any, matrix: Any) -> bool:
    """Whether the CSR form of a matrix shares nothing with it: SciPy and CuPy copy in conversions to CSR."""
    known = type(matrix).__module__.startswith(("scipy.", "cupyx."))
    return csr is not matrix and known and matrix.format != "csr"


def scipy_of_csr(csr: Any, dtype: Any = None, sharing: Sharing = "shared") -> Any:
    """A matrix in the CSR class of SciPy or CuPy.

    ``sharing``: whether indices and values are copies, read-only views, or shared; the last is for functions that only
    read them, and for a matrix without other references.
    """
    hand_out = _HAND_OUT[sharing]
    # SciPy requires one type for both; 32 bits whenever the offsets fit, so that the indices need no copy.
    offsets = index_dtype(max(csr.nnz, *csr.shape)) if csr.indices.dtype == np.int32 else np.dtype(np.int64)
    indptr, indices = csr.indptr.astype(offsets), csr.indices
    indices = hand_out(indices) if indices.dtype == offsets else indices.astype(offsets)
    if csr.data is None:
        data = array_module(csr.indices).ones(csr.nnz, dtype=np.float64 if dtype is None else dtype)
    else:
        data = hand_out(csr.data)
    if not is_cuda(csr.indices):
        from scipy import sparse

        return sparse.csr_array((data, indices, indptr), shape=csr.shape, copy=False)
    from cupyx.scipy import sparse

    return sparse.csr_matrix((cupy_values(data), indices, indptr), shape=csr.shape)


_HAND_OUT: dict[Sharing, Callable[[Any], Any]] = {
    "copy": lambda array: array.copy(),
    "read-only": read_only,
    "shared": lambda array: array,
}


def cupy_values(data: Any) -> Any:
    """The values, checked to be of a type that CuPy's sparse matrices support."""
    if data.dtype not in (np.bool_, np.float32, np.float64, np.complex64, np.complex128):
        raise TypeError(f"CuPy's sparse matrices cannot hold {data.dtype}: first convert with .astype(numpy.float64)")
    return data
