"""Assignment to parts of a matrix or vector: C⟨M⟩(I, J) accum= A (GrB_assign), C(I, J)⟨M⟩ accum= A (GxB_subassign)."""

from typing import Any, TypeVar

import numpy as np

from hpgraph.algebra.assign_matrix import (
    assign_region,
    assigned_values,
    broadcast,
    last_of_each,
    set_selected,
    subassign_region,
)
from hpgraph.algebra.extract import as_row, vector_of
from hpgraph.algebra.operands import as_mask
from hpgraph.algebra.selection import Axis, as_axis, index_of, parse, size_of
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.public import make_vector
from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import array_module, everywhere
from hpgraph.formats import Bitmask

Target = TypeVar("Target", bound=MatrixStorage | VectorStorage)


def assign(
    C: Target,
    A: Any,
    rows: Any = None,
    columns: Any = None,
    mask: Any = None,
    complement: bool = False,
    accum: Any = None,
    replace: bool = False,
) -> Target:
    """Assign to rows and columns of a matrix, under a mask of the whole matrix: ``C⟨M⟩(I, J) accum= A``.

    Parameters
    ----------
    C : Matrix
        The matrix to modify. Its value type does not change.
    A : Matrix, Vector, sparse or dense array, or number
        The source, of shape (rows selected, columns selected); a Vector if one of them is an int; a number for all
        selected positions that the mask allows. Absent entries of a sparse source delete entries of `C`, unless there
        is an accumulator.
    rows, columns : None, slice, int, array or sequence of integers, array of bool, optional
        Selected rows and columns, as for `extract`. For duplicate indices the last one counts.
    mask : Matrix or sparse array, optional
        Of the shape of `C`: the positions that may change, by value (`C.structure` for all present entries).
    complement : bool, default False
        Whether to use the complement of the mask.
    accum : BinaryOp, str or function, optional
        Combines entries of `C` and of the source if both are present.
    replace : bool, default False
        Whether to drop all entries of `C` outside the mask, also outside the selected rows and columns.

    Returns
    -------
    Matrix
        `C`. Objects derived from it before, such as its transpose or SciPy views, are unchanged.

    Raises
    ------
    IndexError
        If an index is out of range.
    ValueError
        If shapes do not fit.
    TypeError
        If types or devices do not fit. `C` is unchanged after any error.
    DeviceMemoryError
        If memory is too small for all positions that a number is assigned to.

    Examples
    --------
    >>> C = hpg.Matrix([[1, 2, 0], [0, 3, 4]])
    >>> hpg.assign(C, [[7, 0]], 1, slice(0, 2)).toarray()
    array([[1, 2, 0],
           [7, 0, 4]])
    >>> hpg.assign(C, 10, mask=C.structure, accum="plus").toarray()
    array([[11, 12,  0],
           [17, 10, 14]])
    """
    if isinstance(C, VectorStorage):
        if columns is not None:
            raise TypeError("a vector has one axis: give rows alone")
        return assign_entries(C, A, rows, mask, complement, accum, replace)
    return assign_region(C, A, rows, columns, mask, complement, accum, replace)


def subassign(
    C: Target,
    A: Any,
    rows: Any = None,
    columns: Any = None,
    mask: Any = None,
    complement: bool = False,
    accum: Any = None,
    replace: bool = False,
) -> Target:
    """Assign to rows and columns, or entries of a vector, under a mask of these only: ``C(I, J)⟨M⟩ accum= A``.

    Parameters
    ----------
    C, A, rows, columns, complement, accum
        As for `assign`.
    mask : Matrix or sparse array, optional
        Of shape (rows selected, columns selected); for a vector a mask as for `assign`, of the length of the selection.
    replace : bool, default False
        Whether to drop the selected entries outside the mask; entries that are not selected are kept.

    Returns
    -------
    Matrix or Vector
        `C`.

    Examples
    --------
    >>> C = hpg.Matrix([[1, 2, 0], [0, 3, 4]])
    >>> hpg.subassign(C, [[8, 9]], 0, [0, 2], mask=hpg.Matrix([[True, False]])).toarray()
    array([[8, 2, 0],
           [0, 3, 4]])
    """
    if isinstance(C, VectorStorage):
        if columns is not None:
            raise TypeError("a vector has one axis: give rows alone")
        return assign_entries(C, A, rows, mask, complement, accum, replace, within=True)
    return subassign_region(C, A, rows, columns, mask, complement, accum, replace)


def assign_entries(
    w: Any, u: Any, indices: Any, mask: Any, complement: bool, accum: Any, replace: bool, *, within: bool = False
) -> Any:
    """`hpgraph.assign` or `hpgraph.subassign` of `u` to a vector `w`, treated as a matrix of one row."""
    row = MatrixStorage._of(as_row(w))
    if isinstance(indices, int | np.integer):
        indices = [indices]
    size = size_of(as_axis(indices, w.size, "row", w.device)) if within else w.size
    allowed = as_mask(mask, "mask", size, w.device)
    places = None if allowed is None else MatrixStorage._of(as_row(VectorStorage._of(*_places(allowed), size)))
    if isinstance(u, list | tuple):
        u = array_module(w.device).asarray(u)
    if not isinstance(u, VectorStorage) and getattr(u, "ndim", 0) == 1:
        u = make_vector(u)
    write = subassign_region if within else assign_region
    write(row, u, [0], indices, places, complement, accum, replace)
    return w._become(vector_of(row.csr))


def set_entries(v: Any, axis: Axis, x: Any) -> None:
    """``v[...] = x`` for a parsed key: in place, in the type of `v`; absent entries of a Vector `x` become absent."""
    if v.format == "list":
        row = MatrixStorage._of(as_row(v))
        set_selected(row, parse((0, index_of(axis)), row.shape, row.device), x)
        v._become(vector_of(row.csr))
        return
    values, present = v._held
    shape = () if isinstance(axis, int) else (size_of(axis),)
    xp = array_module(v.device)
    given = make_vector(x) if isinstance(x, VectorStorage) else x
    flags = None
    if isinstance(given, VectorStorage):
        flags = None if given.format == "full" else broadcast(given.structure.to_bool(), shape)
        given = given.toarray()
    array = broadcast(assigned_values(given, v), shape)
    where = index_of(axis)
    kept = None if isinstance(axis, int | range) else last_of_each(axis)
    if kept is not None:
        where, array, flags = axis[kept], array[kept], None if flags is None else flags[kept]
    values[where] = array
    if present is not None or flags is not None:
        bits = xp.ones(v.size, dtype=bool) if present is None else present.to_bool()
        bits[where] = True if flags is None else flags
        v._present = None if everywhere(bits) else Bitmask.from_bool(bits)


def _places(allowed: Bitmask) -> tuple[Any, Any]:
    indices = allowed.to_indices()
    return indices, array_module(indices).ones(len(indices), dtype=bool)
