"""Eigenvectors of the smallest eigenvalues of a graph's Laplacian, for spectral layouts and clusterings."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from hpgraph.algorithms.arc_sums import inverse
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import array_module, check_memory, to_device
from hpgraph.formats import CSR
from hpgraph.semiring.counter_random import uniform

# Below so many vertices all eigenvectors are computed. On the CPU that takes 0.7 ms for 100 vertices, 2 to 4 for 200,
# 10 to 15 for 400, where Lanczos's method takes 1 to 4, 1 to 9 and 1 to 24: most for paths, least where all are near.
_DENSE = {"cpu": 200, "cuda": 500}
# Of the eigenvalues: more digits than layouts and k-means need.
_TOLERANCE = 1e-8


def smoothest(arcs: Sequence[CSR], k: int, *, normalized: bool, seed: int) -> Any:
    """Eigenvectors of the least eigenvalues of a Laplacian, the least first.

    Below 200 vertices on the CPU, and 500 on the GPU, by LAPACK or cuSOLVER; else by Lanczos's method (SciPy's or
    CuPy's ``eigsh``), which multiplies by our matrices.

    The sum of `arcs` is symmetric, with float64 weights or none where all are 1; loops do not count. The Laplacian is
    ``I - D^-1/2 A D^-1/2`` if `normalized`, else ``D - A``. Returns an array of shape (n, k) on the arcs' device.
    """
    n, device = arcs[0].shape[0], arcs[0].device
    xp = array_module(device)
    check_memory(8 * n * (3 * k + 20), f"{k} eigenvectors of {n} numbers", device)
    matrices = [matrix_of_csr(part.without_diagonal()) for part in arcs]
    degree = sum(A @ xp.ones(n) for A in matrices)
    # Sought are the largest eigenvalues of a multiple of the identity minus the Laplacian: the multiple is above all of
    # its eigenvalues, which are at most 2, or twice the largest degree.
    if normalized:
        share = xp.sqrt(inverse(degree))
        kept = xp.ones(n)
    else:
        share, kept = xp.ones(n), 2 * degree.max() - degree
    if n < _DENSE[device] or n <= 2 * k + 1:
        dense = sum(A.toarray().astype(np.float64) for A in matrices) * share[:, None] * share
        return xp.linalg.eigh(dense + xp.diag(kept))[1][:, ::-1][:, :k].copy()

    def product(x: Any) -> Any:
        x = x.reshape(-1)
        sent = share * x
        moved = matrices[0] @ sent
        for A in matrices[1:]:
            moved += A @ sent
        moved *= share
        moved += x if normalized else kept * x
        return moved

    linalg = importlib.import_module("scipy.sparse.linalg" if device == "cpu" else "cupyx.scipy.sparse.linalg")
    operator = linalg.LinearOperator((n, n), matvec=product, dtype=np.float64)
    start = to_device(uniform(seed, np.arange(n)) + 0.5, device)
    values, vectors = linalg.eigsh(operator, k=k, which="LA", v0=start, tol=_TOLERANCE)
    return vectors[:, (-values).argsort()]
