"""Parts of a matrix or a vector: C⟨M⟩ accum= A(I, J), w⟨m⟩ accum= u(I) (GrB_extract), and what ``A[...]`` gives."""

from __future__ import annotations

from typing import Any

from hpgraph.algebra.selection import as_axis, size_of
from hpgraph.algebra.take import take, take_entries, vector_of
from hpgraph.algebra.write import target
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.vector import VectorStorage


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
    """Some rows and columns of a matrix, or some entries of a vector: ``C⟨M⟩ accum= A(I, J)``.

    Parameters
    ----------
    A : Matrix or Vector
        From what.
    rows, columns : None, slice, int, array or sequence of integers, array of bool, optional
        Which, in the order of the result; an index may occur more than once, and a negative one counts from the end.
        None is all. A vector has `rows` alone. An int leaves a vector: a row or a column of the matrix.
    mask, complement, accum, replace, out
        What part of the result is written where, as in `Matrix.mxm`; the mask has the shape of the result.

    Returns
    -------
    Matrix or Vector
        Of shape (rows selected, columns selected).

    Raises
    ------
    IndexError
        When an index is out of range; the message has the index and the bound.
    ValueError, TypeError
        When `mask` or `out` do not fit.

    Notes
    -----
    GrB_Matrix_extract, GrB_Col_extract and GrB_Vector_extract. The whole matrix and stretches of whole rows share the
    arrays of `A`; other parts are copied.

    Examples
    --------
    >>> import hpgraph as hpg
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
