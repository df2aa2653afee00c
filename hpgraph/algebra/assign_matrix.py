"""Parts of a matrix overwritten: C⟨M⟩(I, J) accum= A (GrB_assign), C(I, J)⟨M⟩ accum= A (GxB_subassign), A[...] = x.

All of them reduce to one step: replace the region of rows I and columns J by another matrix's entries. Accumulator and
mask are applied first, to the region extracted from the matrix.
"""

from typing import Any

import numpy as np

from hpgraph.algebra.extract import as_row, take
from hpgraph.algebra.operands import as_operand
from hpgraph.algebra.region import all_places, joined, replaced, within
from hpgraph.algebra.selection import Axis, Selection, as_axis, size_of
from hpgraph.algebra.write import as_matrix_mask, restrict, write
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import array_module, check_memory, unmasked
from hpgraph.core.number import beyond_range
from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.backend import kernels


def assign_region(
    C: Any, A: Any, rows: Any, columns: Any, mask: Any, complement: bool, accum: Any, replace: bool
) -> Any:
    """`hpgraph.assign` to a matrix."""
    i, j = _axes(C, rows, columns)
    allowed = as_matrix_mask(mask, C.shape, C.device)
    if np.isscalar(A) and allowed is not None and not complement:
        # Of a number only what the mask allows is ever made.
        places = kernels(C.device).keep_entries(allowed, within(allowed, i, j))
        made = write(_full_like(places, A, C.dtype), MatrixStorage._of(C.csr), places, False, accum, masked=True).csr
        return C._rebind(restrict(made, allowed) if replace else made)
    source = _source(A, C, (size_of(i), size_of(j)), isinstance(j, int), checked=True)
    if accum is not None:
        source = write(source, MatrixStorage._of(take(C.csr, i, j)), accum=accum).csr
    whole = replaced(C.csr, source, i, j, C.dtype)
    return write(whole, C, allowed, complement, None, replace)


def subassign_region(
    C: Any, A: Any, rows: Any, columns: Any, mask: Any, complement: bool, accum: Any, replace: bool
) -> Any:
    """`hpgraph.subassign` to a matrix."""
    i, j = _axes(C, rows, columns)
    shape = size_of(i), size_of(j)
    allowed = as_matrix_mask(mask, shape, C.device)
    region = MatrixStorage._of(take(C.csr, i, j))
    if np.isscalar(A) and allowed is not None and not complement:
        write(_full_like(allowed, A, C.dtype), region, allowed, False, accum, replace, masked=True)
    else:
        source = _source(A, C, shape, isinstance(j, int), checked=True)
        write(source, region, allowed, complement, accum, replace)
    return C._rebind(replaced(C.csr, region.csr, i, j, C.dtype))


def set_selected(A: Any, where: Selection, x: Any) -> None:
    """``A[...] = x``, once the key is read.

    ``A``: what is written to; ``x``: what is written, broadcast as NumPy does. As in NumPy it takes the type of the
    matrix, whatever is lost.
    """
    if where.pointwise:
        _set_places(A, where, x)
        return
    shape = size_of(where.rows), size_of(where.columns)
    source = _broadcast(x, A, shape, where)
    A._rebind(replaced(A.csr, source, where.rows, where.columns, A.dtype))


def _axes(C: Any, rows: Any, columns: Any) -> tuple[Axis, Axis]:
    if not isinstance(C, MatrixStorage):
        raise TypeError(f"C must be a Matrix, not {type(C).__name__}: wrap it, hpg.Matrix(C), and keep that")
    return as_axis(rows, C.shape[0], "row", C.device), as_axis(columns, C.shape[1], "column", C.device)


def _full_like(places: CSR, value: Any, dtype: np.dtype[Any]) -> CSR:
    """A number at some places."""
    xp = array_module(places.device)
    return places.with_data(xp.full(places.nnz, value, dtype=_scalar_dtype(value, dtype)), copy=False)


def _scalar_dtype(value: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of a number beside values of a type: a Python number has none of its own."""
    return np.result_type(value, dtype) if isinstance(value, int | float | complex) else np.asarray(value).dtype


def _source(x: Any, C: MatrixStorage, shape: tuple[int, int], as_column: bool, *, checked: bool) -> CSR:
    """What is written, as a matrix of the region's shape; with `checked` its type must go into that of C."""
    if np.isscalar(x) or getattr(x, "ndim", None) == 0:
        check_memory(
            shape[0] * shape[1] * (C.dtype.itemsize + 4), f"a number at {shape[0] * shape[1]} places", C.device
        )
        made = _full_like(all_places(shape, C.device), x, C.dtype)
    elif isinstance(x, VectorStorage):
        row = as_row(x)
        made = row.transpose() if as_column else row
    elif isinstance(x, MatrixStorage) or hasattr(x, "tocsr"):
        made = (x if isinstance(x, MatrixStorage) else MatrixStorage(x)).csr
    else:
        array = as_operand(x, "A", C.device)
        if array.ndim == 1 and 1 in shape:
            array = array.reshape(-1, 1) if as_column else array.reshape(1, -1)
        if array.ndim != 2:
            raise ValueError(f"A must have two dimensions, shape {shape}, not shape {array.shape}")
        made = _dense(array)
    if made.shape != shape:
        raise ValueError(f"A must have shape {shape}, that of the rows and columns selected, not {made.shape}")
    if made.device != C.device:
        raise TypeError(f'A lies on "{made.device}" and C on "{C.device}": move one of them with .to()')
    kind = np.dtype(bool) if made.data is None else made.data.dtype
    if checked and not np.can_cast(kind, C.dtype, "same_kind"):
        raise TypeError(f"values of type {kind} cannot be written to C, which is {C.dtype}: convert with .astype")
    return made


def _broadcast(x: Any, A: MatrixStorage, shape: tuple[int, int], where: Selection) -> CSR:
    """What ``A[...] = x`` writes to a region, in NumPy's manner."""
    if isinstance(x, VectorStorage) and not np.isscalar(x):
        x = MatrixStorage._of(as_row(x))
        if isinstance(where.columns, int) and x.shape[1] == shape[0]:
            x = x.T
    if isinstance(x, MatrixStorage) or hasattr(x, "tocsr"):
        refuse_complex(x, A.dtype, "matrix")
        made = (x if isinstance(x, MatrixStorage) else _matrix_like(x)).csr
        if 0 in made.shape and made.shape != shape:
            raise ValueError(f"shape mismatch: {made.shape} cannot be broadcast to {shape}")
        if made.shape != shape and made.shape == shape[::-1] and 1 in shape and isinstance(where.columns, int):
            made = made.transpose()
        if any(given not in (1, wanted) for given, wanted in zip(made.shape, shape, strict=True)):
            raise ValueError(f"shape mismatch: {made.shape} cannot be broadcast to {shape}")
        if made.device != A.device:
            raise TypeError(f'x lies on "{made.device}" and the matrix on "{A.device}": move one of them with .to()')
        if made.shape != shape:
            repeated = (np.zeros(wanted, np.int64) if given == 1 else range(wanted)
                        for given, wanted in zip(made.shape, shape, strict=True))  # fmt: skip
            xp = array_module(A.device)
            made = take(made, *(axis if isinstance(axis, range) else xp.asarray(axis) for axis in repeated))
        return made if made.data is None and A.is_pattern else made.astype(A.dtype)
    xp = array_module(A.device)
    array = broadcast(assigned_values(x, A), where.shape).reshape(shape)
    check_memory(array.size * (A.dtype.itemsize + 4), f"values at {array.size} places", A.device)
    return all_places(shape, A.device).with_data(xp.ascontiguousarray(array).reshape(-1))


def refuse_complex(x: Any, dtype: np.dtype[Any], what: str) -> None:
    """Refuse to write a complex `x` to a real `dtype`, although NumPy's assignment casts."""
    is_complex = getattr(x, "dtype", np.dtype(bool)).kind == "c" or isinstance(x, complex)
    if is_complex and dtype.kind != "c":
        raise TypeError(f"complex values cannot be written to a {what} of {dtype}: give .real")


def _matrix_like(x: Any) -> MatrixStorage:
    """A sparse array of SciPy's as a matrix; one of one dimension is a row."""
    return MatrixStorage(x.reshape(1, -1) if x.ndim == 1 else x)


def broadcast(array: Any, shape: tuple[int, ...]) -> Any:
    """An array in the shape of what it is assigned to, as SciPy has it: axes of length 1 do not matter."""
    if [length for length in array.shape if length != 1] == [length for length in shape if length != 1]:
        return array.reshape(shape)
    try:
        return array_module(array).broadcast_to(array, shape)
    except ValueError:
        raise ValueError(f"shape mismatch: {array.shape} cannot be broadcast to {shape}") from None


def assigned_values(x: Any, A: MatrixStorage | VectorStorage) -> Any:
    """Numbers in the type of a matrix or a vector, as NumPy's assignment casts them; copied."""
    xp = array_module(A.device)
    refuse_complex(x, A.dtype, "matrix" if isinstance(A, MatrixStorage) else "vector")
    try:
        with np.errstate(invalid="ignore"):
            # Made anew: the matrix may keep it.
            return xp.array(unmasked(x, "x"), dtype=A.dtype)
    except OverflowError:
        raise beyond_range(A.dtype) from None


def _dense(array: Any) -> CSR:
    """All entries of a dense array, zeros too."""
    xp = array_module(array)
    return all_places(array.shape, "cuda" if xp is not np else "cpu").with_data(xp.ascontiguousarray(array).reshape(-1))


def _set_places(A: MatrixStorage, where: Selection, x: Any) -> None:
    """Write to places named one by one: of a place named twice the last."""
    xp = array_module(A.device)
    row, column = where.rows.reshape(-1), where.columns.reshape(-1)
    present = None
    if isinstance(x, VectorStorage):
        x, present = x.toarray(), x.structure.to_bool()
    elif isinstance(x, MatrixStorage) or hasattr(x, "tocsr"):
        source = x if isinstance(x, MatrixStorage) else _matrix_like(x)
        x = source.toarray()
        present = source.astype(bool).structure.toarray()
    values = assigned_values(x, A)
    shape = where.rows.shape
    values = broadcast(values, shape).reshape(-1)
    present = None if present is None else broadcast(present, shape).reshape(-1)
    if not len(row):
        return
    ids = index_dtype(max(A.shape))
    places = CSR.from_coo(row.astype(ids), column.astype(ids), xp.arange(len(row), 0, -1), A.shape, duplicates="min")
    last = len(row) - places.data
    if present is None:
        A._rebind(joined(A.csr, places.with_data(values[last]), A.dtype))
        return
    # Absent ones take the matrix's entries away.
    cleared = restrict(A.csr, places.with_data(None), True)
    kept = present[last]
    written = CSR.from_coo(
        places.expand_rows()[kept], places.indices[kept], values[last][kept], A.shape, duplicates="error"
    )
    A._rebind(joined(cleared, written, A.dtype))
