"""The products of a matrix and a vector over a semiring: GrB_mxv and GrB_vxm."""

from __future__ import annotations

from typing import Any

from hpgraph.algebra.masked_product import multiply_masked
from hpgraph.algebra.multiply import multiply
from hpgraph.algebra.operands import as_matrix
from hpgraph.kernels.spmv.product_plan import swapped
from hpgraph.semiring import BinaryOp, Semiring, get_semiring


def mxv(
    A: Any,
    x: Any,
    semiring: Semiring | str = "plus_times",
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """The product of a matrix and a vector over a semiring: ``y⟨mask⟩ accum= A ⊕.⊗ x``.

    Parameters
    ----------
    A : Matrix, shape (m, n)
        A sparse array of SciPy or CuPy serves as well. ``A.T`` is as good as a matrix of its own.
    x : array or Vector, shape (n,)
        The vector, on the matrix's device. Absent entries of a `Vector` take no part.
    semiring : Semiring or str, default "plus_times"
        What adds and multiplies; the operator's first operand is the matrix entry.
    mask : Bitmask, array of bool or Vector, shape (m,), optional
        Entries of the result to compute. An array or a Vector counts by value: where it is true (present and not
        zero); for the places that are present whatever their value, give ``vector.structure``, a Bitmask.
    complement : bool, default False
        Compute the entries that the mask leaves out.
    accum : BinaryOp, str or function, optional
        Joins what `out` holds with what the product gives: ``out[i] = accum(out[i], t[i])``. Entries without a
        product are not changed.
    replace : bool, default False
        Whether entries of `out` that the mask does not allow are dropped, rather than kept; in an array they become
        the identity of the semiring's addition.
    out : array or Vector, shape (m,), optional
        Written in place, at the entries that the mask allows only. It is left as it was if an error is raised.

    Returns
    -------
    array or Vector, shape (m,)
        `out` where given; else a Vector if `x` is one, and an array otherwise. Where there is no product, an array
        holds the identity of the semiring's addition (for instance 0 for plus, inf for min), and a Vector is
        absent.

    Raises
    ------
    ValueError
        When lengths do not fit, or no semiring or operator has the name.
    TypeError
        When operands lie on different devices, the semiring does not work on their types, or the result cannot
        be cast to the type of `out`.

    Notes
    -----
    The operation is GrB_mxv of the GraphBLAS C API specification. Over bool, plus and times are logical or and and.

    Examples
    --------
    >>> import numpy as np, hpgraph as hpg
    >>> A = hpg.Matrix([[0, 4.0, 1.0], [0, 0, 0], [0, 2.0, 0]])
    >>> A.mxv(np.array([np.inf, 0, 3.0]), "min_plus")
    array([ 4., inf,  2.])
    >>> distance = np.array([3.0, 0, 9.0])
    >>> hpg.mxv(A, distance, "min_plus", mask=distance > 5, accum="min", out=distance)
    array([3., 0., 2.])
    """
    A, ring = as_matrix(A, "A"), get_semiring(semiring)
    if type(x) is A._array_type and x.ndim == 1 and mask is accum is out is None and not complement:
        return multiply(A, x, ring)
    return multiply_masked(A, ring, x, mask, complement, accum, replace, out)


def vxm(
    x: Any,
    A: Any,
    semiring: Semiring | str = "plus_times",
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """The product of a vector and a matrix over a semiring: ``yᵀ⟨mask⟩ accum= xᵀ ⊕.⊗ A``.

    The vector, of shape (m,), is the first operand of the semiring's operator; other parameters, the result, which has
    an entry for each column, and errors are those of `mxv`.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> A = hpg.Matrix([[0, 4.0], [2.0, 0]])
    >>> hpg.vxm(hpg.Vector.from_indices([1], [3.0], 2), A, "min_plus").to_indices()
    (array([0], dtype=int32), array([5.]))
    """
    turned, ring = as_matrix(A, "A").T, swapped(get_semiring(semiring))
    return mxv(turned, x, ring, mask, complement, accum, replace, out)
