"""Powers of a square matrix over a semiring."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from hpgraph.algebra.mxm import mxm
from hpgraph.algebra.operands import as_matrix
from hpgraph.core.device import array_module
from hpgraph.formats import CSR, index_dtype
from hpgraph.scipy_api.matrix import Matrix
from hpgraph.semiring import Semiring, get_semiring


def matrix_power(A: Any, power: int, semiring: Semiring | str = "plus_times") -> Any:
    """A square matrix multiplied by itself: ``A ⊕.⊗ A ⊕.⊗ … ⊕.⊗ A``.

    Parameters
    ----------
    A : Matrix, shape (n, n)
        A sparse array of SciPy or CuPy serves as well.
    power : int, at least 0
        How many factors.
    semiring : Semiring or str, default "plus_times"
        What adds and multiplies; the multiplication must be associative for the result to have a meaning.

    Returns
    -------
    Matrix, shape (n, n)
        The identity, which only plus_times has here, for power 0.

    Raises
    ------
    ValueError
        When the matrix is not square, or the power is negative, or 0 over another semiring.
    TypeError
        When `power` is no integer.
    DeviceMemoryError
        When a product will not fit.

    Notes
    -----
    By repeated squaring, as `scipy.sparse.linalg.matrix_power`: about 2 log₂ power products.

    Examples
    --------
    The walks of three arcs, and the shortest of them:

    >>> import hpgraph as hpg
    >>> A = hpg.Matrix([[0, 1, 2], [0, 0, 1], [1, 0, 0]])
    >>> hpg.matrix_power(A, 3).toarray()
    array([[1, 2, 4],
           [0, 1, 2],
           [2, 0, 1]])
    >>> hpg.matrix_power(A, 3, "min_plus").toarray()
    array([[3, 4, 5],
           [0, 3, 4],
           [4, 0, 3]])
    """
    A, power, semiring = as_matrix(A, "A"), operator.index(power), get_semiring(semiring)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"only a square matrix has powers, not one of shape {A.shape}")
    if power < 0:
        raise ValueError(f"power must be at least 0, not {power}")
    if power == 0:
        if semiring is not get_semiring("plus_times"):
            raise ValueError(f"the power 0 needs the identity of {semiring.name}: it is known for plus_times only")
        return _identity(A)
    result: Any = None
    squared = A
    while True:
        if power & 1:
            result = squared if result is None else mxm(result, squared, semiring)
        power >>= 1
        if not power:
            return A.copy() if result is A else result
        squared = mxm(squared, squared, semiring)


def _identity(A: Any) -> Any:
    xp, n = array_module(A.device), A.shape[0]
    indices = xp.arange(n, dtype=index_dtype(n))
    return Matrix(CSR((n, n), xp.arange(n + 1, dtype=np.int64), indices, xp.ones(n, A.dtype), validate=False))
