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
        On the same device.
    semiring, mask, complement, accum, replace, out
        As for `Matrix.mxv`.

    Returns
    -------
    array or Vector, shape (m,)
        `out` where given, else what `x` is.

    Raises
    ------
    ValueError, TypeError
        As for `Matrix.mxv`.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> A = hpg.Matrix([[0, 4.0], [2.0, 0]])
    >>> hpg.mxv(A, hpg.Vector.from_indices([1], [3.0], 2), "min_plus").to_indices()
    (array([0], dtype=int32), array([7.]))
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

    Parameters
    ----------
    x : array or Vector, shape (m,)
    A : Matrix, shape (m, n)
        On the same device.
    semiring, mask, complement, accum, replace, out
        As for `Matrix.vxm`.

    Returns
    -------
    array or Vector, shape (n,)
        `out` where given, else what `x` is.

    Raises
    ------
    ValueError, TypeError
        As for `Matrix.mxv`.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> A = hpg.Matrix([[0, 4.0], [2.0, 0]])
    >>> hpg.vxm(hpg.Vector.from_indices([1], [3.0], 2), A, "min_plus").to_indices()
    (array([0], dtype=int32), array([5.]))
    """
    turned, ring = as_matrix(A, "A").T, swapped(get_semiring(semiring))
    return mxv(turned, x, ring, mask, complement, accum, replace, out)
