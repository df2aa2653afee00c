"""Submatrices and subvectors: C⟨M⟩ accum= A(I, J), w⟨m⟩ accum= u(I) (GrB_extract), and ``A[...]``."""

from typing import Any

import numpy as np

from hpgraph.algebra.selection import Axis, Selection, as_axis, ids_of, index_of, is_whole, size_of
from hpgraph.algebra.write import target
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.public import make_vector, vector_of_entries
from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import array_module, everywhere, to_device
from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.spmv.product_plan import value_dtype


def extract(
    A: Any,
    rows: Any = None,
    columns: Any = None,
    mask: Any = None,
    complement: bool = False,
    accum: Any = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """Extract a submatrix, or a subvector: ``C⟨M⟩ accum= A(I, J)``.

    Parameters
    ----------
    A : Matrix or Vector
        The matrix or vector.
    rows, columns : None, slice, int, array or sequence of integers, array of bool, optional
        Selected indices, in the order of the result; duplicates are allowed, and negative ones count from the end. None
        selects all. A vector has `rows` only. An int gives a Vector: a row or a column of the matrix.
    mask, complement, accum, replace, out
        As for `Matrix.mxm`; the mask has the shape of the result.

    Returns
    -------
    Matrix or Vector
        Of shape (rows selected, columns selected).

    Notes
    -----
    GrB_Matrix_extract, GrB_Col_extract and GrB_Vector_extract. The whole matrix and ranges of whole rows share the
    arrays of `A`; other parts are copied.

    Examples
    --------
    >>> A = hpg.Matrix([[1, 0, 2], [0, 3, 0], [4, 0, 5]])
    >>> hpg.extract(A, [2, 0], slice(None, None, 2)).toarray()
    array([[4, 5],
           [1, 2]])
    >>> hpg.extract(A, None, 2).to_indices()
    (array([0, 2], dtype=int32), array([2, 5]))
    """
    if isinstance(A, VectorStorage):
        if columns is not None:
            raise TypeError("a vector has one axis: give rows alone")
        axis = as_axis(rows, A.size, "index", A.device)
        part: Any = take_entries(A, range(axis, axis + 1) if isinstance(axis, int) else axis)
        return target(part.shape, part.dtype, A.device, mask, complement, accum, replace, out).write(part)
    if not isinstance(A, MatrixStorage):
        raise TypeError(f"A must be a Matrix or a Vector, not {type(A).__name__}: wrap it, hpg.Matrix(A)")
    device = A.device
    i, j = as_axis(rows, A.shape[0], "row", device), as_axis(columns, A.shape[1], "column", device)
    if isinstance(i, int) or isinstance(j, int):
        part = vector_of(take(A.csr, i, j))
        return target(part.shape, part.dtype, device, mask, complement, accum, replace, out).write(part)
    end = target((size_of(i), size_of(j)), A.dtype, device, mask, complement, accum, replace, out)
    return end.write(take(A.csr, i, j))


def take(csr: CSR, rows: Axis, columns: Axis) -> CSR:
    """Submatrix of some rows and columns, canonical."""
    n_rows, n_columns = csr.shape
    device = csr.device
    backend = kernels(device)
    J = range(columns, columns + 1) if isinstance(columns, int) else columns
    stretch = isinstance(J, range) and (J.step == 1 or len(J) < 2)
    low, high = (J[0], J[-1] + 1) if stretch and len(J) else (0, 0 if stretch else n_columns)
    if (low, high) == (0, n_columns) and isinstance(rows, range) and (rows.step == 1 or len(rows) < 2):
        part = _stretch_of_rows(csr, rows)
    elif low == high and n_columns:
        return CSR._empty((size_of(rows), 0 if stretch else len(J)), csr.dtype, device)
    else:
        part = backend.rows_of(csr, ids_of(rows, n_rows, device), low, high)
    if stretch:
        return part
    ids = ids_of(J, n_columns, device)
    part = backend.columns_of(part, ids)
    rising = J.step > 0 if isinstance(J, range) else everywhere(ids[1:] >= ids[:-1])
    return part if rising else part.sorted()


def select(A: Any, where: Selection) -> Any:
    """``A[...]``, for a parsed key."""
    csr = A.csr
    rows, columns = where.rows, where.columns
    if where.pointwise:
        return _places(A, rows, columns, where.shape)
    if isinstance(rows, int) and isinstance(columns, int):
        value = _element(csr, rows, columns)
        if not where.shape:
            return value
        indices, values = (array_module(csr.device).asarray(part) for part in _listed(value))
        made = vector_of_entries(indices, values, 1)
        return made if len(where.shape) == 1 else A._with(_as_row(made, (1, 1)))
    part = take(csr, rows, columns)
    if len(where.shape) == 1:
        return vector_of(part)
    if part.shape != where.shape:
        # A row or a column, the other axis added by None.
        part = _as_row(vector_of(part), part.shape) if part.shape[0] == where.shape[0] else part.transpose()
    return A._with(part)


def vector_of(csr: CSR) -> VectorStorage:
    """A canonical matrix of one row or one column as a vector."""
    size = csr.shape[1] if csr.shape[0] == 1 else csr.shape[0]
    indices = csr.indices if csr.shape[0] == 1 else csr.expand_rows()
    xp = array_module(csr.device)
    values = xp.ones(csr.nnz, dtype=np.bool_) if csr.data is None else csr.data
    return vector_of_entries(indices.astype(index_dtype(size)), values.copy(), size)


def as_row(v: Any) -> CSR:
    """A vector as a matrix of one row."""
    indices, values = v.to_indices()
    indptr = array_module(indices).asarray([0, len(indices)], dtype=np.int64)
    return CSR((1, v.size), indptr, indices.astype(index_dtype(v.size), copy=False), values, validate=False)


def _stretch_of_rows(csr: CSR, rows: range) -> CSR:
    """Consecutive rows: views of the arrays."""
    if is_whole(rows, csr.shape[0]):
        return csr
    if not len(rows):
        return CSR._empty((0, csr.shape[1]), csr.dtype, csr.device)
    offsets = csr.indptr[rows[0] : rows[-1] + 2]
    first, last = (int(offset) for offset in to_device(offsets[[0, -1]], "cpu"))
    data = None if csr.data is None else csr.data[first:last]
    ids = index_dtype(max(len(rows), csr.shape[1]))
    indices = csr.indices[first:last].astype(ids, copy=False)
    return CSR((len(rows), csr.shape[1]), offsets - first, indices, data, validate=False)


def _element(csr: CSR, row: int, column: int) -> Any:
    """The value at one position, 0 for an absent entry; on CUDA this synchronizes the stream."""
    begin, end = (int(offset) for offset in to_device(csr.indptr[row : row + 2], "cpu"))
    columns = csr.indices[begin:end]
    xp = array_module(csr.device)
    at = begin + int(xp.searchsorted(columns, xp.asarray(column, dtype=columns.dtype)))
    if at == end or int(csr.indices[at]) != column:
        return value_dtype(csr.dtype).type(0)
    return np.bool_(True) if csr.data is None else to_device(csr.data[at : at + 1], "cpu")[0]


def _listed(value: Any) -> tuple[Any, Any]:
    return (np.zeros(1, np.int32), np.asarray([value])) if value else (np.zeros(0, np.int32), np.zeros(0, value.dtype))


def _places(A: Any, rows: Any, columns: Any, shape: tuple[int, ...]) -> Any:
    """Individual positions: a vector of the same length, or a matrix of the shape in which they were given."""
    csr = A.csr
    xp = array_module(csr.device)
    found = kernels(csr.device).positions_of(csr, rows.reshape(-1), columns.reshape(-1))
    present = xp.flatnonzero(found >= 0)
    values = xp.ones(len(present), dtype=np.bool_) if csr.data is None else csr.data[found[present]]
    size = len(found)
    made = vector_of_entries(present.astype(index_dtype(size), copy=False), values, size)
    return made if len(shape) == 1 else A._with(_as_row(made, shape))


def _as_row(v: VectorStorage, shape: tuple[int, ...]) -> CSR:
    """A vector's entries, in row-major order, as a matrix of a shape of the same size."""
    indices, values = v.to_indices()
    columns = shape[1]
    ids = index_dtype(max(shape))
    row, column = (indices // columns, indices % columns) if columns else (indices, indices)
    return CSR.from_coo(row.astype(ids, copy=False), column.astype(ids, copy=False), values, shape, copy=False)


def take_entries(v: Any, axis: Axis) -> VectorStorage:
    """Some entries of a vector."""
    if v.format != "list":
        where = index_of(axis)
        values, present = v._held
        return make_vector(values[where].copy(), None if present is None else present.to_bool()[where])
    indices, values = v.to_indices()
    size = len(axis)
    ids = index_dtype(size)
    if isinstance(axis, range):
        if not size:
            return vector_of_entries(indices[:0], values[:0], 0)
        low, high = min(axis[0], axis[-1]), max(axis[0], axis[-1])
        kept = (indices >= low) & (indices <= high) & ((indices - axis.start) % axis.step == 0)
        places, values = (indices[kept] - axis.start) // axis.step, values[kept]
        if axis.step < 0:
            places, values = places[::-1].copy(), values[::-1].copy()
        return vector_of_entries(places.astype(ids), values, size, before=v.format)
    xp = array_module(v.device)
    if not len(indices):
        return vector_of_entries(indices.astype(ids), values, size)
    found = xp.searchsorted(indices, axis)
    found[found == len(indices)] = 0
    kept = xp.flatnonzero(indices[found] == axis)
    return vector_of_entries(kept.astype(ids), values[found[kept]], size, before=v.format)


def entry_of(v: Any, index: int) -> Any:
    """One value of a vector, 0 for an absent entry; on CUDA this synchronizes the stream."""
    found = take_entries(v, range(index, index + 1)).to_indices()[1]
    return to_device(found, "cpu")[0] if len(found) else v.dtype.type(0)
