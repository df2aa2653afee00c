"""The transpose, with mask and accumulator: GrB_transpose."""

from typing import Any

from hpgraph.algebra.operands import as_matrix
from hpgraph.algebra.write import target
from hpgraph.semiring import BinaryOp


def transpose(
    A: Any,
    *,
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """The transpose of a matrix: ``C⟨mask⟩ accum= Aᵀ``.

    Parameters
    ----------
    A : Matrix, shape (m, n)
        Or a sparse array of SciPy or CuPy.
    mask, complement, accum, replace, out
        As for `ewise_add`; of shape (n, m).

    Returns
    -------
    Matrix, shape (n, m)
        `out` if given. ``A.T`` is the same without a copy, and a valid operand of any operation.

    Examples
    --------
    The least of A and its transpose, at the places of either:

    >>> A = hpg.Matrix([[0, 4], [3, 0]])
    >>> hpg.transpose(A, accum="min", out=A.copy()).toarray()
    array([[0, 3],
           [3, 0]])
    """
    transposed = as_matrix(A, "A").T
    result = target(transposed.shape, transposed.dtype, transposed.device, mask, complement, accum, replace, out)
    return result.write(transposed.csr)
