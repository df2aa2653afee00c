"""hpgraph.linalg against SciPy's functions and dense linear algebra, and products of batches, on either device."""

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from arrays import host
from raising import raises
from scipy.sparse import linalg as theirs

import hpgraph as hpg
from hpgraph.linalg.exponential import by_products
from hpgraph.linalg.norms import estimate


def on(device: str, array: Any) -> Any:
    return hpg.Vector(array).to(device).values if array.ndim == 1 else hpg.Matrix(array).to(device).toarray()


def laplacian(n: int) -> sp.csr_array:
    """Symmetric, positive definite."""
    return sp.csr_array(sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(n, n)))


def unsymmetric(n: int, seed: int = 0) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    return sp.csr_array(
        sp.random_array((n, n), density=0.1, rng=rng, data_sampler=rng.standard_normal) + 3 * sp.eye_array(n)
    )


ORDERS = [(order, None) for order in (None, "fro", 1, -1, np.inf, -np.inf)] + [(None, 0), (1, 1), (np.inf, 0), (2, 1)]


@pytest.mark.parametrize(("order", "axis"), ORDERS)
def test_norms(order: Any, axis: Any, device: str) -> None:
    S = unsymmetric(30)
    found = hpg.linalg.norm(hpg.Matrix(S).to(device), order, axis)
    np.testing.assert_allclose(host(found), theirs.norm(S, order, axis), rtol=1e-12)


def test_the_spectral_norm(device: str) -> None:
    S = unsymmetric(40)
    found = float(host(hpg.linalg.norm(hpg.Matrix(S).to(device), 2)))
    assert found == pytest.approx(np.linalg.norm(S.toarray(), 2), rel=1e-6)


@pytest.mark.parametrize("n", [1, 3, 60, 300])
def test_estimates_of_the_1_norm(n: int, device: str) -> None:
    S = unsymmetric(n, n)
    exact = abs(S).sum(axis=0).max()
    A = hpg.Matrix(S).to(device)
    for est, v, w in (estimate(A), hpg.linalg.onenormest(A, compute_v=True, compute_w=True)):
        # A lower bound, which is rarely less than half.
        assert 0.5 * exact <= float(est) <= exact * (1 + 1e-12)
        np.testing.assert_allclose(S @ host(v), host(w), atol=1e-12)
    assert float(hpg.linalg.onenormest(A)) <= exact * (1 + 1e-12)
    # A hidden column that products with ones do not show.
    alternating = sp.csr_array(np.outer((-1.0) ** np.arange(40), np.eye(40)[7]))
    assert float(estimate(hpg.Matrix(alternating).to(device))[0]) == 40


@pytest.mark.parametrize("columns", [None, 3])
@pytest.mark.parametrize("scale", [0.01, 1.0, 40.0])
def test_exponentials(scale: float, columns: int | None, device: str) -> None:
    S = -scale * laplacian(40) + 0.1 * unsymmetric(40)
    B = np.random.default_rng(2).standard_normal(40 if columns is None else (40, columns))
    A, b = hpg.Matrix(S).to(device), on(device, B)
    expected = scipy.linalg.expm(S.toarray()) @ B
    np.testing.assert_allclose(host(hpg.linalg.expm_multiply(A, b)), expected, rtol=1e-8, atol=1e-11)
    times = [0.0, 0.5, 1.0]
    several = host(by_products(A, b, times))
    for time, row in zip(times, several, strict=True):
        np.testing.assert_allclose(row, scipy.linalg.expm(time * S.toarray()) @ B, rtol=1e-8, atol=1e-11)
    spread = hpg.linalg.expm_multiply(A, b, start=0.0, stop=1.0, num=3, endpoint=True)
    np.testing.assert_allclose(host(spread), several, rtol=1e-8, atol=1e-11)


def test_an_exponential_of_complex_values(device: str) -> None:
    S, B = 1j * laplacian(30), np.random.default_rng(3).standard_normal(30)
    found = by_products(hpg.Matrix(S).to(device), on(device, B), [1.0])[0]
    np.testing.assert_allclose(host(found), scipy.linalg.expm(S.toarray()) @ B, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "name",
    ["spsolve", "splu", "spilu", "factorized", "spsolve_triangular", "cg", "gmres", "cgs", "minres", "lsqr", "lsmr"],
)
def test_systems(name: str, device: str) -> None:
    S = laplacian(50)
    if name == "spsolve_triangular":
        S = sp.csr_array(sp.tril(S))
    x = np.random.default_rng(4).standard_normal(50)
    A, b = hpg.Matrix(S).to(device), on(device, S @ x)
    solver = getattr(hpg.linalg, name)
    if name in ("splu", "spilu"):
        found = solver(A).solve(b)
    elif name == "factorized":
        found = solver(A)(b)
    else:
        found = solver(A, b)
    found = host(found[0] if isinstance(found, tuple) else found)
    np.testing.assert_allclose(found, x, atol=1e-3)


@pytest.mark.parametrize("name", ["eigsh", "svds", "lobpcg"])
def test_eigenvalues_and_singular_values(name: str, device: str) -> None:
    S = sp.csr_array(laplacian(60) + sp.diags_array(np.arange(60.0)))
    A = hpg.Matrix(S).to(device)
    if name == "lobpcg":
        start = on(device, np.random.default_rng(5).standard_normal((60, 3)))
        values, vectors = hpg.linalg.lobpcg(A, start, maxiter=200, tol=1e-8)
    elif name == "eigsh":
        values, vectors = hpg.linalg.eigsh(A, k=3, which="LA")
    else:
        vectors, values, _ = hpg.linalg.svds(A, k=3)
    exact = np.linalg.eigvalsh(S.toarray())[-3:]
    np.testing.assert_allclose(np.sort(host(values)), exact, rtol=1e-6)
    vectors, values = host(vectors), host(values)
    np.testing.assert_allclose(S @ vectors, vectors * values, atol=1e-3)


def test_integers_and_other_classes_are_solved() -> None:
    S = sp.csr_array(np.array([[2, 1], [0, 4]]))
    for given in (hpg.Matrix(S), S, S.tocsc(), S.toarray()):
        assert hpg.linalg.spsolve(given, np.array([4.0, 8.0])).tolist() == [1.0, 2.0]
    np.testing.assert_allclose(hpg.linalg.inv(hpg.Matrix(S)).toarray(), np.linalg.inv(S.toarray()))
    np.testing.assert_allclose(hpg.linalg.expm(hpg.Matrix(S)).toarray(), scipy.linalg.expm(S.toarray()))
    values, _ = hpg.linalg.eigs(hpg.Matrix(unsymmetric(30)), k=2)
    exact = np.linalg.eigvals(unsymmetric(30).toarray())
    assert all(np.abs(exact - value).min() < 1e-8 for value in values)


@pytest.mark.parametrize("shape", [(4,), (2, 3), (0,)])
def test_batches(shape: tuple[int, ...], device: str) -> None:
    rng = np.random.default_rng(6)
    S = sp.csr_array(sp.random_array((5, 7), density=0.4, rng=rng))
    dense, A = S.toarray(), hpg.Matrix(S).to(device)
    X, Y = rng.standard_normal((*shape, 7, 2)), rng.standard_normal((*shape, 5, 2))

    def moved(array: Any) -> Any:
        return on(device, array.reshape(-1)).reshape(array.shape)

    for found, expected in (
        (A @ moved(X), dense @ X),
        (A.matmat(moved(X)), dense @ X),
        (A.rmatmat(moved(Y)), dense.T @ Y),
        (moved(np.swapaxes(Y, -1, -2)) @ A, np.swapaxes(Y, -1, -2) @ dense),
        (A.matvec(moved(X[..., 0])), X[..., 0] @ dense.T),
        (A.rmatvec(moved(Y[..., 0])), Y[..., 0] @ dense),
    ):
        np.testing.assert_allclose(host(found), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="cannot be multiplied"):
        A @ moved(Y)
    with pytest.raises(ValueError, match="x must have shape"):
        A.matvec(moved(Y[..., 0]))
    without = hpg.Matrix((3, 0)).to(device) @ moved(np.ones((*shape, 0, 2)))
    assert without.shape == (*shape, 3, 2) and not without.any()


def test_linear_operators(device: str) -> None:
    S = unsymmetric(20)
    A = hpg.linalg.aslinearoperator(hpg.Matrix(S).to(device))
    x = np.random.default_rng(7).standard_normal((20, 2))
    for found, expected in ((A @ on(device, x), S @ x), (A.H @ on(device, x[:, 0]), S.T @ x[:, 0])):
        np.testing.assert_allclose(host(found), expected, rtol=1e-12)


def test_mistakes() -> None:
    A = hpg.Matrix(np.ones((2, 3)))
    raises(ValueError, "square", hpg.linalg.onenormest, A)
    raises(ValueError, "square", hpg.linalg.expm_multiply, A, np.ones(3))


def test_what_cupy_lacks(device: str) -> None:
    if device == "cpu":
        pytest.skip("SciPy has all of them")
    with pytest.raises(NotImplementedError, match="CuPy has no"):
        hpg.linalg.gcrotmk(hpg.Matrix(laplacian(5)).to(device), on(device, np.ones(5)))
