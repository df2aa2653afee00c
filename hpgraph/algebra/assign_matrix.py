"""Assignment to a matrix: C⟨M⟩(I, J) accum= A (GrB_assign), C(I, J)⟨M⟩ accum= A (GxB_subassign), A[...] = x.

All of them reduce to one step: replace the region of rows I and columns J by another matrix's entries. Accumulator and
mask are applied first, to the region extracted from the matrix.
"""

from typing import Any

import numpy as np

from hpgraph.algebra.extract import as_row, take
from hpgraph.algebra.operands import as_operand, check_same_device
from hpgraph.algebra.selection import Axis, Selection, as_axis, ids_of, index_of, is_whole, size_of
from hpgraph.algebra.write import as_matrix_mask, restrict, write
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import array_module, check_memory, is_sparse_matrix, to_device, unmasked
from hpgraph.core.number import beyond_range
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.checks import bits_type
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_binary
from hpgraph.semiring.entry import entry_function


def assign_region(
    C: Any, A: Any, rows: Any, columns: Any, mask: Any, complement: bool, accum: Any, replace: bool
) -> Any:
    """`hpgraph.assign` to a matrix."""
    i, j = _axes(C, rows, columns)
    allowed = as_matrix_mask(mask, C.shape, C.device)
    if np.isscalar(A) and allowed is not None and not complement:
        # A number is expanded only to the positions that the mask allows.
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
    """``A[...] = x``, for a parsed key; ``x`` is broadcast, and cast to the type of the matrix, as in NumPy."""
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
    """A matrix with one value at all entries of a pattern."""
    xp, dtype = array_module(places.device), _scalar_dtype(value, dtype)
    try:
        return places.with_data(xp.full(places.nnz, value, dtype=dtype), copy=False)
    except OverflowError:
        raise beyond_range(dtype) from None


def _scalar_dtype(value: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The promoted type of a number and values of a type: a Python number is weakly typed."""
    return np.result_type(value, dtype) if isinstance(value, int | float | complex) else np.asarray(value).dtype


def _source(x: Any, C: MatrixStorage, shape: tuple[int, int], as_column: bool, *, checked: bool) -> CSR:
    """The assigned value as a matrix of the region's shape; with `checked` its type must be castable to that of C."""
    if np.isscalar(x) or getattr(x, "ndim", None) == 0:
        check_memory(
            shape[0] * shape[1] * (C.dtype.itemsize + 4), f"a number at {shape[0] * shape[1]} places", C.device
        )
        made = _full_like(all_places(shape, C.device), x, C.dtype)
    elif isinstance(x, VectorStorage):
        row = as_row(x)
        made = row.transpose() if as_column else row
    elif isinstance(x, MatrixStorage) or is_sparse_matrix(x):
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
    check_same_device("A", made.device, "C", C.device)
    kind = np.dtype(bool) if made.data is None else made.data.dtype
    if checked and not np.can_cast(kind, C.dtype, "same_kind"):
        raise TypeError(f"values of type {kind} cannot be written to C, which is {C.dtype}: convert with .astype")
    return made


def _broadcast(x: Any, A: MatrixStorage, shape: tuple[int, int], where: Selection) -> CSR:
    """The entries that ``A[...] = x`` writes to a region, by NumPy's rules."""
    if isinstance(x, VectorStorage) and not np.isscalar(x):
        x = MatrixStorage._of(as_row(x))
        if isinstance(where.columns, int) and x.shape[1] == shape[0]:
            x = x.T
    if isinstance(x, MatrixStorage) or is_sparse_matrix(x):
        refuse_complex(x, A.dtype, "matrix")
        made = (x if isinstance(x, MatrixStorage) else _matrix_like(x)).csr
        if 0 in made.shape and made.shape != shape:
            raise ValueError(f"shape mismatch: {made.shape} cannot be broadcast to {shape}")
        if made.shape != shape and made.shape == shape[::-1] and 1 in shape and isinstance(where.columns, int):
            made = made.transpose()
        if any(given not in (1, wanted) for given, wanted in zip(made.shape, shape, strict=True)):
            raise ValueError(f"shape mismatch: {made.shape} cannot be broadcast to {shape}")
        check_same_device("x", made.device, "the matrix", A.device)
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
    """A SciPy sparse array as a matrix; a one-dimensional array is a row."""
    return MatrixStorage(x.reshape(1, -1) if x.ndim == 1 else x)


def broadcast(array: Any, shape: tuple[int, ...]) -> Any:
    """An array broadcast to the shape of the region, as in SciPy: axes of length 1 are ignored."""
    if [length for length in array.shape if length != 1] == [length for length in shape if length != 1]:
        return array.reshape(shape)
    extra = max(array.ndim - len(shape), 0)
    if set(array.shape[:extra]) == {1}:
        array = array.reshape(array.shape[extra:])
    try:
        return array_module(array).broadcast_to(array, shape)
    except ValueError:
        raise ValueError(f"shape mismatch: {array.shape} cannot be broadcast to {shape}") from None


def assigned_values(x: Any, A: MatrixStorage | VectorStorage) -> Any:
    """Values cast to the type of a matrix or a vector, as in NumPy's assignment; copied."""
    xp = array_module(A.device)
    refuse_complex(x, A.dtype, "matrix" if isinstance(A, MatrixStorage) else "vector")
    try:
        with np.errstate(invalid="ignore"):
            # A new array: the matrix may keep it.
            return xp.array(unmasked(x, "x"), dtype=A.dtype)
    except OverflowError:
        raise beyond_range(A.dtype) from None


def _dense(array: Any) -> CSR:
    """All elements of a dense array as entries, zeros too."""
    xp = array_module(array)
    return all_places(array.shape, "cuda" if xp is not np else "cpu").with_data(xp.ascontiguousarray(array).reshape(-1))


def _set_places(A: MatrixStorage, where: Selection, x: Any) -> None:
    """Write to individual positions; for duplicates the last one counts."""
    xp = array_module(A.device)
    row, column = where.rows.reshape(-1), where.columns.reshape(-1)
    present = None
    if isinstance(x, VectorStorage):
        x, present = x.toarray(), x.structure.to_bool()
    elif isinstance(x, MatrixStorage) or is_sparse_matrix(x):
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
    # Absent entries delete the matrix's entries.
    cleared = restrict(A.csr, places.with_data(None), True)
    kept = present[last]
    written = CSR.from_coo(
        places.expand_rows()[kept], places.indices[kept], values[last][kept], A.shape, duplicates="error"
    )
    A._rebind(joined(cleared, written, A.dtype))


# Maximum number of changed rows for which the unchanged rows between them are copied whole.
COPIED_ROWS = 64


def replaced(csr: CSR, source: CSR, i: Axis, j: Axis, dtype: np.dtype[Any]) -> CSR:
    """The matrix with the region of rows i and columns j replaced by the entries of `source`, of its shape."""
    rows, columns = csr.shape
    if is_whole(i, rows) and is_whole(j, columns):
        return source if csr.data is None and source.data is None else source.astype(dtype)
    if size_of(i) <= COPIED_ROWS:
        return _spliced(csr, source, i, j, dtype)
    return joined(_outside(csr, i, j), _spread(source, i, j, csr.shape), dtype)


def _spliced(csr: CSR, source: CSR, i: Axis, j: Axis, dtype: np.dtype[Any]) -> CSR:
    """`replaced` if few rows change: only these are computed, and the rows between them are copied."""
    xp = array_module(csr.device)
    rows = ids_of(i, csr.shape[0], csr.device)
    changed = xp.unique(rows)
    before = take(csr, changed, range(csr.shape[1]))
    local = xp.searchsorted(changed, rows)
    after = joined(_outside(before, local, j), _spread(source, local, j, before.shape), dtype)
    values = None if csr.data is None and after.data is None else (csr.astype(dtype).data, after.astype(dtype).data)
    # A few offsets on the host: the position of each changed row, before and after.
    places = csr.indptr[changed], csr.indptr[changed + 1], after.indptr[:-1], after.indptr[1:]
    bounds = to_device(xp.stack(places), "cpu")
    parts: list[tuple[int, slice]] = []
    end = 0
    for first, last, new_first, new_last in bounds.T.tolist():
        parts += [(0, slice(end, first)), (1, slice(new_first, new_last))]
        end = last
    parts.append((0, slice(end, None)))
    ids = csr.indices, after.indices.astype(csr.indices.dtype, copy=False)
    indices = xp.concatenate([ids[which][piece] for which, piece in parts])
    data = None if values is None else xp.concatenate([values[which][piece] for which, piece in parts])
    more = xp.zeros(csr.shape[0] + 1, dtype=np.int64)
    more[changed + 1] = after.degrees - before.degrees
    return CSR(csr.shape, csr.indptr + xp.cumsum(more), indices, data, validate=False)


def _outside(csr: CSR, i: Axis, j: Axis) -> CSR:
    """The entries outside rows i and columns j."""
    return kernels(csr.device).keep_entries(csr, ~within(csr, i, j))


def within(csr: CSR, i: Axis, j: Axis) -> Any:
    """Mask of the entries in rows i and columns j."""
    xp = array_module(csr.device)
    in_row, in_column = xp.zeros(csr.shape[0], dtype=bool), xp.zeros(csr.shape[1], dtype=bool)
    in_row[index_of(i)] = True
    in_column[index_of(j)] = True
    return in_column[csr.indices] & in_row[csr.expand_rows()]


def _spread(source: CSR, i: Axis, j: Axis, shape: tuple[int, int]) -> CSR:
    """The region's entries at their positions in the matrix; for duplicate rows and columns the last."""
    device = source.device
    row_ids, column_ids = ids_of(i, shape[0], device), ids_of(j, shape[1], device)
    ids = index_dtype(max(shape))
    row, column = source.expand_rows(), source.indices
    kept = None
    for axis, place in ((i, row), (j, column)):
        if not isinstance(axis, int | range):
            is_last = last_of_each(axis)
            if is_last is not None:
                kept = is_last[place] if kept is None else kept & is_last[place]
    data = source.data
    if kept is not None:
        row, column, data = row[kept], column[kept], None if data is None else data[kept]
    return CSR.from_coo(
        row_ids[row].astype(ids, copy=False), column_ids[column].astype(ids, copy=False), data, shape,
        duplicates="error", copy=False,
    )  # fmt: skip


def last_of_each(axis: Any) -> Any:
    """Mask of the last occurrence of each index; None if all are distinct."""
    xp = array_module(axis)
    reverse = axis[::-1]
    unique, first = xp.unique(reverse, return_index=True)
    if len(unique) == len(axis):
        return None
    flags = xp.zeros(len(axis), dtype=bool)
    flags[len(axis) - 1 - first] = True
    return flags


def joined(held: CSR, written: CSR, dtype: np.dtype[Any]) -> CSR:
    """The union; entries of the source take precedence."""
    merge = kernels(held.device).merge
    if held.data is None and written.data is None:
        bits = np.dtype(bool)
        first, second = (entry_function(get_binary(name), bits, bits, bits) for name in ("first", "second"))
        return merge(held, written, second, first, second, None)
    # Values are only moved, so a few kernels suffice for all types.
    bits = bits_type(dtype)
    a, b = (csr.astype(dtype) for csr in (held, written))
    a, b = (csr.with_data(csr.data.view(bits), copy=False) for csr in (a, b))
    first, second = (entry_function(get_binary(name), bits, bits, bits) for name in ("first", "second"))
    made = merge(a, b, second, first, second, bits)
    return CSR(made.shape, made.indptr, made.indices, made.data.view(dtype), validate=False)


def all_places(shape: tuple[int, int], device: str) -> CSR:
    """The pattern of a full matrix."""
    xp = array_module(device)
    rows, columns = shape
    indptr = xp.arange(rows + 1, dtype=np.int64) * columns
    indices = xp.tile(xp.arange(columns, dtype=index_dtype(max(shape))), rows)
    return CSR(shape, indptr, indices, None, validate=False)
