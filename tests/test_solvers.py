"""Solvers of SciPy and CuPy take a Matrix where they take a CSR matrix, and come to the same answers."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from scipy.sparse import linalg

import hpgraph as hpg
from hpgraph.core.device import cuda_available

LAYOUTS = ["csr", "hyb"]


def load(folder: Path, name: str) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array(scipy.io.mmread(folder / f"{name}.mtx.gz")).astype(np.float64)


@pytest.fixture(scope="module")
def stiffness(data_dir: Path) -> scipy.sparse.csr_array:
    """bcsstk13: symmetric, positive definite, of condition 10¹⁰; scaled to a unit diagonal, 10⁴ or so remains."""
    S = load(data_dir, "bcsstk13")
    scale = scipy.sparse.diags_array(1 / np.sqrt(S.diagonal()))
    return scipy.sparse.csr_array(scale @ S @ scale)


@pytest.fixture(scope="module")
def mesh(data_dir: Path) -> scipy.sparse.csr_array:
    """jagmesh7: the pattern of a finite-element mesh, here its Laplacian, shifted to be regular."""
    pattern = load(data_dir, "jagmesh7")
    pattern.data[:] = 1
    pattern.setdiag(0)
    shift = 0.1 * scipy.sparse.eye_array(pattern.shape[0])
    return scipy.sparse.csr_array(scipy.sparse.csgraph.laplacian(pattern) + shift)


@pytest.fixture(scope="module")
def crystal(data_dir: Path) -> scipy.sparse.csr_array:
    """cryg2500: not symmetric."""
    return load(data_dir, "cryg2500")


def count(A: Any, solve: Any) -> tuple[Any, int]:
    """What a solver returns, and its number of iterations."""
    steps: list[None] = []
    return solve(A, lambda _: steps.append(None)), len(steps)


@pytest.mark.parametrize("layout", LAYOUTS)
class TestSciPy:
    def test_cg_on_an_ill_conditioned_matrix(self, stiffness: scipy.sparse.csr_array, layout: Any) -> None:
        x_true = np.random.default_rng(1).standard_normal(stiffness.shape[0])
        b = stiffness @ x_true

        def solve(A: Any, callback: Any) -> Any:
            return linalg.cg(A, b, rtol=1e-8, maxiter=20_000, callback=callback)

        (_, _), steps = count(stiffness, solve)
        (x, info), ours = count(hpg.Matrix(stiffness, format=layout), solve)
        # Rounding steers a long iteration, its end not: it stops about as early with as small a residual.
        assert info == 0 and 0.8 * steps <= ours <= 1.25 * steps
        assert np.linalg.norm(b - stiffness @ x) <= 2e-8 * np.linalg.norm(b)

    def test_linear_operators(self, crystal: scipy.sparse.csr_array, layout: Any) -> None:
        operator = linalg.aslinearoperator(hpg.Matrix(crystal, format=layout))
        X = np.random.default_rng(9).standard_normal((crystal.shape[0], 3))
        assert operator.shape == crystal.shape and operator.dtype == crystal.dtype
        for found, expected in [
            (operator @ X, crystal @ X),
            (operator.T @ X[:, 0], crystal.T @ X[:, 0]),
            ((2 * operator).H @ X[:, 1], 2 * crystal.T @ X[:, 1]),
        ]:
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def within(solver: Any) -> dict[str, float]:
    """The tolerance, by the name that this release of CuPy has for it."""
    return {"rtol" if "rtol" in inspect.signature(solver).parameters else "tol": 1e-10}


@pytest.mark.skipif(not cuda_available(), reason="no CUDA GPU here")
@pytest.mark.parametrize("layout", LAYOUTS)
class TestCuPy:
    def test_cg(self, mesh: scipy.sparse.csr_array, layout: Any) -> None:
        import cupy
        import cupyx.scipy.sparse
        from cupyx.scipy.sparse import linalg as cupyx_linalg

        b = cupy.asarray(np.random.default_rng(0).standard_normal(mesh.shape[0]))
        native = cupyx.scipy.sparse.csr_matrix(mesh)
        expected, _ = cupyx_linalg.cg(native, b, **within(cupyx_linalg.cg))
        x, info = cupyx_linalg.cg(hpg.Matrix(native, format=layout), b, **within(cupyx_linalg.cg))
        assert info == 0
        cupy.testing.assert_allclose(x, expected, rtol=1e-7, atol=1e-9)

    def test_gmres(self, crystal: scipy.sparse.csr_array, layout: Any) -> None:
        import cupy
        import cupyx.scipy.sparse
        from cupyx.scipy.sparse import linalg as cupyx_linalg

        shifted = scipy.sparse.csr_matrix(scipy.sparse.eye_array(crystal.shape[0]) - 1e-6 * crystal)
        b = cupy.asarray(np.random.default_rng(1).standard_normal(crystal.shape[0]))
        native = cupyx.scipy.sparse.csr_matrix(shifted)
        expected, _ = cupyx_linalg.gmres(native, b, **within(cupyx_linalg.gmres))
        x, info = cupyx_linalg.gmres(hpg.Matrix(native, format=layout), b, **within(cupyx_linalg.gmres))
        assert info == 0
        cupy.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-8)
