"""What is measured of the operations entry by entry: unions, intersections, selections, functions, transposes, rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import array_module
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import Semiring, get_binary, get_monoid

Contestants = dict[str, Callable[[], Any]]
# Of the values, 1 to 64, some half are above.
MIDDLE = 30


def _peer(A: hpg.Matrix) -> tuple[str, Any, Any]:
    """The device's own sparse library, the matrix in it, and its module."""
    if A.device == "cpu":
        import scipy.sparse

        return "SciPy", A.tocsr(), scipy.sparse
    import cupyx.scipy.sparse

    return "CuPy", A.tocsr(), cupyx.scipy.sparse


def unions(A: hpg.Matrix) -> Contestants:
    """A + Aᵀ, the transpose being at hand."""
    B = A.T
    name, S, _ = _peer(A)
    _, R, _ = _peer(B)
    plus = lambda a, b: a + b  # noqa: E731
    made: Contestants = {
        "hpgraph": lambda: A.ewise_add(B),
        "a Python operator": lambda: A.ewise_add(B, plus),
        "A + B": lambda: A + B,
        name: lambda: S + R,
    }
    if A.device == "cpu":
        import graphblas as gb

        X, Y = gb.io.from_scipy_sparse(S), gb.io.from_scipy_sparse(R)
        made["python-graphblas"] = lambda: X.ewise_add(Y, gb.binary.plus).new()
    return made


def intersections(A: hpg.Matrix) -> Contestants:
    """A times Aᵀ, entry by entry."""
    B = A.T
    name, S, _ = _peer(A)
    _, R, _ = _peer(B)
    times = lambda a, b: a * b  # noqa: E731
    made: Contestants = {
        "hpgraph": lambda: A.ewise_mult(B),
        "a Python operator": lambda: A.ewise_mult(B, times),
        "A.multiply(B)": lambda: A.multiply(B),
        name: lambda: S.multiply(R),
    }
    if A.device == "cpu":
        import graphblas as gb

        X, Y = gb.io.from_scipy_sparse(S), gb.io.from_scipy_sparse(R)
        made["python-graphblas"] = lambda: X.ewise_mult(Y, gb.binary.times).new()
    return made


def selections(A: hpg.Matrix) -> Contestants:
    """The entries above a value, with their values."""
    name, S, _ = _peer(A)
    above = lambda value: value > MIDDLE  # noqa: E731
    made: Contestants = {
        "hpgraph": lambda: A.select("valuegt", MIDDLE),
        "a Python operator": lambda: A.select(above),
        name: lambda: S.multiply(S > MIDDLE),
    }
    if A.device == "cpu":
        import graphblas as gb

        X = gb.io.from_scipy_sparse(S)
        # In the values' type: it reads the bytes of a Python number as such (2025.2), and then keeps too many.
        middle = gb.Scalar.from_value(MIDDLE, X.dtype)
        made["python-graphblas"] = lambda: gb.select.valuegt(X, middle).new()
    return made


def lower_triangles(A: hpg.Matrix) -> Contestants:
    """The entries below the diagonal."""
    name, S, sparse = _peer(A)
    made: Contestants = {"hpgraph": lambda: hpg.tril(A, -1), name: lambda: sparse.tril(S, -1, format="csr")}
    if A.device == "cpu":
        import graphblas as gb

        X = gb.io.from_scipy_sparse(S)
        made["python-graphblas"] = lambda: gb.select.tril(X, -1).new()
    return made


def comparisons(A: hpg.Matrix) -> Contestants:
    """Where A and Aᵀ differ."""
    B = A.T
    name, S, _ = _peer(A)
    _, R, _ = _peer(B)
    return {"hpgraph": lambda: A != B, name: lambda: S != R}


def functions(A: hpg.Matrix) -> Contestants:
    """The square root of every entry."""
    name, S, _ = _peer(A)
    root = lambda value: np.sqrt(value)  # noqa: E731
    return {"hpgraph": lambda: A.apply("sqrt"), "a Python operator": lambda: A.apply(root), name: lambda: S.sqrt()}


def transposes(A: hpg.Matrix) -> Contestants:
    """The transpose by rows, made anew."""
    name, S, _ = _peer(A)
    csr = A.csr
    # What A.T.csr does the first time; then it is kept.
    turn = kernels(A.device).transpose
    return {"hpgraph": lambda: turn(csr), name: lambda: S.T.tocsr()}


def row_sums(A: hpg.Matrix) -> Contestants:
    """The sum of each row."""
    name, S, _ = _peer(A)
    xp = array_module(A.device)
    return {"hpgraph": lambda: A.reduce("plus", 1).values, name: lambda: xp.asarray(S.sum(axis=1)).ravel()}


def rows(A: hpg.Matrix) -> Contestants:
    """A tenth of the rows, chosen at random."""
    name, S, _ = _peer(A)
    chosen = np.random.default_rng(1).choice(A.shape[0], A.shape[0] // 10, replace=False)
    rows = array_module(A.device).asarray(chosen)
    made: Contestants = {"hpgraph": lambda: A[rows, :], name: lambda: S[rows]}
    if A.device == "cpu":
        import graphblas as gb

        X = gb.io.from_scipy_sparse(S)
        made["python-graphblas"] = lambda: X[chosen, :].new()
    return made


def vector_products(A: hpg.Matrix) -> Contestants:
    """A times a vector."""
    name, S, _ = _peer(A)
    x = array_module(A.device).ones(A.shape[1], A.dtype)
    own = Semiring(get_monoid("plus"), get_binary(lambda a, b: a * b))
    return {"hpgraph": lambda: A.mxv(x), "a Python operator": lambda: A.mxv(x, own), name: lambda: S @ x}


ENTRYWISE: dict[str, tuple[str, Callable[[hpg.Matrix], Contestants]]] = {
    "union": ("A + Aᵀ", unions),
    "intersection": ("A ∘ Aᵀ", intersections),
    "selection": ("A where above a value", selections),
    "triangle": ("lower triangle", lower_triangles),
    "comparison": ("A != Aᵀ", comparisons),
    "function": ("√A", functions),
    "transpose": ("Aᵀ", transposes),
    "rowsum": ("sums of rows", row_sums),
    "rows": ("a tenth of the rows", rows),
    "vector": ("A x", vector_products),
}
