"""Parts of a matrix or a vector overwritten: C⟨M⟩(I, J) accum= A (GrB_assign), C(I, J)⟨M⟩ accum= A (GxB_subassign)."""

from __future__ import annotations

from typing import Any, TypeVar

from hpgraph.algebra.assign_matrix import assign_region, subassign_region
from hpgraph.algebra.assign_vector import assign_entries
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.vector import VectorStorage

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
    """Overwrite rows and columns of a matrix, under a mask of the whole matrix: ``C⟨M⟩(I, J) accum= A``.

    Parameters
    ----------
    C : Matrix
        What is written to. It keeps its type of values.
    A : Matrix, Vector, sparse or dense array, or number
        What is written, of shape (rows selected, columns selected); a Vector where one of them is an int; a number for
        all places selected that the mask allows. Where a sparse one has no entry, the entry of `C` goes, unless
        there is an accumulator.
    rows, columns : None, slice, int, array or sequence of integers, array of bool, optional
        Where, as for `extract`. Of a place named twice the last is written.
    mask : Matrix or sparse array, optional
        Of the shape of `C`: the places that may change, by value (`C.structure` for all that are present).
    complement : bool, default False
        Let the places change that the mask leaves out.
    accum : BinaryOp, str or function, optional
        Joins what `C` holds with what is written, where both have an entry.
    replace : bool, default False
        Drop all entries of `C` that the mask does not allow, within the rows and columns and beyond them.

    Returns
    -------
    Matrix
        `C`. What was taken from it before, as its transpose or SciPy's views, stays as it was.

    Raises
    ------
    IndexError
        When an index is out of range.
    ValueError
        When shapes do not fit.
    TypeError
        When types or devices do not fit. `C` is as it was after any error.
    DeviceMemoryError
        When a number is written to more places than memory holds.

    Examples
    --------
    >>> import hpgraph as hpg
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
    """Overwrite rows and columns, or entries of a vector, under a mask of these alone: ``C(I, J)⟨M⟩ accum= A``.

    Parameters
    ----------
    C, A, rows, columns, complement, accum
        As for `assign`.
    mask : Matrix or sparse array, optional
        Of shape (rows selected, columns selected); for a vector what `assign` takes, of as many as are selected.
    replace : bool, default False
        Drop the entries within the rows and columns that the mask does not allow; others stay.

    Returns
    -------
    Matrix or Vector
        `C`.

    Raises
    ------
    IndexError, ValueError, TypeError, DeviceMemoryError
        As for `assign`.

    Examples
    --------
    >>> import hpgraph as hpg
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
