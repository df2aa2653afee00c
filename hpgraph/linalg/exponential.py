"""The action of the matrix exponential on vectors, by products with the matrix only."""

from typing import Any

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.linalg.norms import device_of_operator, estimate, library
from hpgraph.scipy_api.construct import eye
from hpgraph.scipy_api.matrix import Matrix

# Largest norm, by the number of terms of the Taylor polynomial, with a backward error of 2**-53: table 3.1.
_THETA = {
    5: 2.4e-3, 10: 1.4e-1, 15: 6.4e-1, 20: 1.4, 25: 2.4, 30: 3.5, 35: 4.7, 40: 6.0, 45: 7.2, 50: 8.5, 55: 9.9
}  # fmt: skip
_MAX_TERMS, _MAX_POWERS, _COLUMNS = 55, 8, 2


def expm_multiply(
    A: Any, B: Any, start: Any = None, stop: Any = None, num: Any = None, endpoint: Any = None, traceA: Any = None
) -> Any:
    """The action of the matrix exponential on vectors: `scipy.sparse.linalg.expm_multiply`.

    Parameters
    ----------
    A : Matrix, or sparse array or matrix of SciPy or CuPy, shape (n, n)
        On the CPU also a linear operator.
    B : array, shape (n,) or (n, k)
        On the device of A.
    start, stop, num, endpoint
        Times t of the exponentials of t A, as for `numpy.linspace`; by default only t = 1.
    traceA : number, optional
        The trace of A; on the GPU it is computed if not given.

    Returns
    -------
    array, shape of B, with a leading axis of times if these are given

    Notes
    -----
    SciPy's on the CPU; on the GPU the same algorithm over CuPy's arrays, which synchronizes the stream at each term.

    References
    ----------
    A. H. Al-Mohy, N. J. Higham, "Computing the action of the matrix exponential, with an application to exponential
    integrators", SIAM J. Sci. Comput. 33 (2011), algorithm 3.2.

    Examples
    --------
    >>> hpg.linalg.expm_multiply(hpg.Matrix([[0.0, 1.0], [0.0, 0.0]]), np.array([1.0, 2.0])).tolist()
    [3.0, 2.0]
    """
    if device_of_operator(A) == "cpu":
        return library(A).expm_multiply(A, B, start, stop, num, endpoint, traceA)
    A = A if isinstance(A, Matrix) else Matrix(A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be square, not of shape {A.shape}")
    if B.ndim not in (1, 2) or len(B) != A.shape[1]:
        raise ValueError(f"B must have {A.shape[1]} rows, not shape {B.shape}")
    if start is stop is num is endpoint is None:
        return by_products(A, B, [1.0], traceA)[0]
    begin, end = (default if time is None else time for time, default in ((start, 0.0), (stop, 1.0)))
    times = np.linspace(begin, end, 50 if num is None else num, endpoint=endpoint is None or endpoint)
    return by_products(A, B, times.tolist(), traceA)


def by_products(A: Matrix, B: Any, times: list[float], trace: Any = None) -> Any:
    """The exponential of t A times B for each time t, each computed from the one before."""
    shift = (A.trace() if trace is None else trace) / max(A.shape[0], 1)
    centred = A - shift * eye(A.shape[0], device=A.device)
    B = B.astype(np.result_type(centred.dtype, B.dtype, np.float64), copy=False)
    rows, now = [], 0.0
    for time in times:
        B = _advance(centred, shift, B, time - now)
        rows.append(B)
        now = time
    return array_module(A.device).stack(rows)


def _advance(A: Any, shift: Any, B: Any, time: float) -> Any:
    """The exponential of `time` times the shifted matrix, with the shift put back, times B."""
    if time == 0 or not B.size:
        return B.copy()
    terms, steps = _effort(A, abs(time), B.shape[1] if B.ndim == 2 else 1)
    grown = np.exp(time * complex(shift) / steps)
    grown = grown.real if B.dtype.kind == "f" else grown
    for _ in range(steps):
        total, term = B, B
        last = _size(term)
        for k in range(1, terms + 1):
            term = (A @ term) * (time / (steps * k))
            size = _size(term)
            total = total + term
            if last + size <= 2.0**-53 * _size(total):
                break
            last = size
        B = total * grown
    return B


def _effort(A: Any, time: float, columns: int) -> tuple[int, int]:
    """Number of terms of the polynomial and of steps that minimize the work: code fragment 3.1."""
    norm = time * float(abs(A).sum(axis=0).max())
    if norm == 0:
        return 1, 1
    limit = 2 * _COLUMNS * _MAX_POWERS * (_MAX_POWERS + 3) * _THETA[_MAX_TERMS] / (columns * _MAX_TERMS)
    bounds = {1: norm}
    if norm > limit:
        roots = {p: time * estimate(_Power(A, p), _COLUMNS)[0] ** (1 / p) for p in range(2, _MAX_POWERS + 2)}
        bounds = {p: max(roots[p], roots[p + 1]) for p in range(2, _MAX_POWERS + 1)}
    efforts = [
        (terms * max(1, int(np.ceil(bound / theta))), terms, max(1, int(np.ceil(bound / theta))))
        for p, bound in bounds.items() for terms, theta in _THETA.items() if terms >= p * (p - 1) - 1
    ]  # fmt: skip
    _, terms, steps = min(efforts)
    return terms, steps


def _size(B: Any) -> float:
    """The infinity norm."""
    return float((abs(B).sum(axis=1) if B.ndim == 2 else abs(B)).max())


class _Power:
    """A power of a matrix as a linear operator."""

    def __init__(self, A: Any, exponent: int) -> None:
        self.shape, self.device, self._A, self._exponent = A.shape, A.device, A, exponent

    def matmat(self, X: Any) -> Any:
        """The product, factor by factor."""
        for _ in range(self._exponent):
            X = self._A.matmat(X)
        return X

    def rmatmat(self, X: Any) -> Any:
        """The product of the conjugate transpose."""
        for _ in range(self._exponent):
            X = self._A.rmatmat(X)
        return X
