"""Norms of a matrix, exact ones and an estimate by products only."""

import importlib
from typing import Any

import numpy as np

from hpgraph.core.device import Device, array_module, everywhere, is_cuda
from hpgraph.scipy_api.matrix import Matrix


def device_of_operator(A: Any) -> Device:
    """The device on which a matrix, an array or a linear operator multiplies."""
    if is_cuda(A) or type(A).__module__.startswith("cupyx."):
        return "cuda"
    device: Device = getattr(A, "device", "cpu")
    return device if device == "cuda" else "cpu"


def library(A: Any) -> Any:
    """The module of linear algebra for the device of a matrix."""
    return importlib.import_module(
        "scipy.sparse.linalg" if device_of_operator(A) == "cpu" else "cupyx.scipy.sparse.linalg"
    )


def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """The norm of a sparse matrix, or of its rows or columns: `scipy.sparse.linalg.norm`.

    Parameters
    ----------
    x : Matrix, or sparse array or matrix of SciPy or CuPy
    ord : {None, "fro", 1, -1, 2, inf, -inf} or number, optional
        As in SciPy. 2 is the largest singular value, found by `svds`.
    axis : int or pair of ints, optional
        As in SciPy.

    Returns
    -------
    scalar or array
        Of CuPy on the GPU.

    Examples
    --------
    >>> float(hpg.linalg.norm(hpg.Matrix([[3, 0], [0, 4]])))
    5.0
    """
    linalg, csr = library(x), x.tocsr()
    if ord == 2 and axis is None and device_of_operator(x) == "cuda":
        return linalg.svds(csr.astype(np.promote_types(csr.dtype, np.float32)), k=1, return_singular_vectors=False)[0]
    return linalg.norm(csr, ord, axis)


def onenormest(A: Any, t: int = 2, itmax: int = 5, compute_v: bool = False, compute_w: bool = False) -> Any:
    """A lower bound of the 1-norm of a matrix, usually exact, by few products: `scipy.sparse.linalg.onenormest`.

    Parameters
    ----------
    A : Matrix, sparse or dense array, or linear operator, shape (n, n)
        An operator must have `matmat` and `rmatmat`.
    t, itmax : int
        Number of columns multiplied at once, and maximum number of iterations.
    compute_v, compute_w : bool
        Whether to return a vector of norm 1, and its product with A, whose norm is the estimate.

    Returns
    -------
    est : float
    v, w : array, shape (n,)
        If requested, on the device of A.

    Notes
    -----
    SciPy's on the CPU; on the GPU the same algorithm over CuPy's arrays.

    References
    ----------
    N. J. Higham, F. Tisseur, "A block algorithm for matrix 1-norm estimation, with an application to 1-norm
    pseudospectra", SIAM J. Matrix Anal. Appl. 21 (2000), algorithm 2.4.

    Examples
    --------
    >>> float(hpg.linalg.onenormest(hpg.Matrix([[1.0, 0, 0], [5, 8, 2], [0, -1, 0]])))
    9.0
    """
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be square, not of shape {A.shape}")
    if device_of_operator(A) == "cpu":
        return library(A).onenormest(A, t, itmax, compute_v, compute_w)
    if t < 1 or itmax < 2:
        raise ValueError(f"t must be at least 1 and itmax at least 2, not {t} and {itmax}")
    est, v, w = estimate(A if hasattr(A, "matmat") else Matrix(A), t, itmax)
    vectors = [array for array, requested in ((v, compute_v), (w, compute_w)) if requested]
    return (est, *vectors) if vectors else est


def estimate(A: Any, t: int = 2, itmax: int = 5) -> tuple[float, Any, Any]:
    """An estimate of the 1-norm, the vector at which it is attained, and their product; synchronizes the stream."""
    xp, n = array_module(device_of_operator(A)), A.shape[0]
    if n <= max(t, 4):
        product = A.matmat(xp.eye(n, dtype=np.float64))
        sizes = abs(product).sum(axis=0)
        best = int(sizes.argmax())
        return float(sizes[best]), xp.eye(n)[best], product[:, best]
    random = np.random.default_rng(0)
    X = xp.asarray(random.choice([-1.0, 1.0], (n, t)) / n)
    X[:, 0] = 1 / n
    signs, columns, visited = xp.zeros((n, t)), xp.zeros(0, np.int64), xp.zeros(n, bool)
    est, w, place = 0.0, X[:, 0], -1
    for step in range(1, itmax + 1):
        product = A.matmat(X)
        sizes = abs(product).sum(axis=0)
        best = int(sizes.argmax())
        better = float(sizes[best]) > est
        if better or step == 2:
            place, w = (int(columns[best]) if step > 1 else -1), product[:, best]
        if step > 1 and not better:
            break
        est = float(sizes[best])
        # The sign of each element, 1 for 0; for complex ones x / |x|.
        size = abs(product)
        before, signs = signs, xp.where(size == 0, 1, product / xp.where(size == 0, 1, size))
        if step > 1 and everywhere(abs(before.conj().T @ signs).max(axis=0) >= n * (1 - 1e-12)):
            break
        heights = abs(A.rmatmat(signs)).max(axis=1)
        if step > 1 and float(heights.max()) == float(heights[place]):
            break
        order = xp.argsort(-heights)
        if everywhere(visited[order[:t]]):
            break
        columns = order[~visited[order]][:t]
        visited[columns] = True
        X = xp.zeros((n, len(columns)))
        X[columns, xp.arange(len(columns))] = 1
    v = xp.zeros(n)
    v[place] = 1
    return max(est, float(abs(w).sum())), v, w
