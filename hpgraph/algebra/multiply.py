"""The product of a matrix and a dense vector or matrix, whole, into an array of its own: what solvers call in loops."""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.algebra.operands import as_operand
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.core.device import array_module
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.spmv.product_plan import plan
from hpgraph.semiring import Semiring, get_semiring

_PLUS_TIMES = get_semiring("plus_times")


class _Plan(NamedTuple):
    """What ``A ⊕.⊗ x`` needs for one type of x, made once."""

    stored: Any
    gather: Any
    reduce: Any
    dtype: np.dtype[Any]
    backend: Any
    empty: Any


def multiply(A: MatrixStorage, x: Any, semiring: Semiring = _PLUS_TIMES, out: Any = None) -> Any:
    """``A ⊕.⊗ x``.

    ``A`` (Matrix, shape (m, n)); ``x`` (array, shape (n,)): on the matrix's device; ``out`` (array, shape (m,),
    optional): where to write, of the product's type; perhaps in another GPU's memory. Returns array, shape (m,).
    """
    x, how = _planned(A, x, semiring)
    if len(x) != A.shape[1]:
        raise ValueError(f"x must have length {A.shape[1]} for a matrix of shape {A.shape}, not {len(x)}")
    if out is None:
        out = how.empty(A.shape[0], how.dtype)
    how.backend.pull(how.stored, how.gather, how.reduce, (x if x.flags.c_contiguous else x.copy(),), out)
    return out


def product_dtype(A: MatrixStorage, x: Any, semiring: Semiring) -> np.dtype[Any]:
    """The type of ``A ⊕.⊗ x``."""
    return _planned(A, x, semiring)[1].dtype


def multiply_dense(A: MatrixStorage, X: Any) -> Any:
    """``A @ X``.

    ``A`` (Matrix, shape (m, n)); ``X`` (array, shape (n, k)): on the matrix's device. Returns array, shape (m, k).
    """
    X, how = _planned(A, X, _PLUS_TIMES)
    rows, columns = A.shape
    if len(X) != columns:
        raise ValueError(f"A of shape {A.shape} cannot be multiplied by an array of shape {X.shape}")
    if X.shape[1] == 1:
        return multiply(A, X[:, 0]).reshape(rows, 1)
    out = how.empty((rows, X.shape[1]), how.dtype)
    if out.size:
        X = X if X.flags.c_contiguous else X.copy()
        how.backend.pull_dense(how.stored, how.gather, how.reduce, (X,), out)
    return out


def _planned(A: MatrixStorage, x: Any, semiring: Semiring) -> tuple[Any, _Plan]:
    """An array, as kernels take it, and what a product with one of its type needs."""
    try:
        return x, A._plans[semiring, x.dtype]
    except KeyError:
        x = as_operand(x, "x", A.device)
    stored = A.rows
    code = plan(semiring, stored.dtype, x.dtype)
    found = _Plan(stored, *code, kernels(A.device), array_module(A.device).empty)
    A._plans[semiring, x.dtype] = found
    return x, found
