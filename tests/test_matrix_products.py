"""The products of a Matrix by ``@``, against SciPy, on each device and layout."""

import numpy as np
import pytest
import scipy.sparse
from arrays import host

import hpgraph as hpg
from hpgraph.core.device import array_module, cuda_available, to_device

S = scipy.sparse.random_array((37, 53), density=0.15, rng=5, format="csr") - 0.5 * scipy.sparse.random_array(
    (37, 53), density=0.1, rng=6, format="csr"
)
RNG = np.random.default_rng(7)
X, Y = RNG.standard_normal(53), RNG.standard_normal(37)


@pytest.fixture(params=["csr", "hyb"])
def A(request: pytest.FixtureRequest, device: str) -> hpg.Matrix:
    return hpg.Matrix(S, format=request.param).to(device)


class TestMatmul:
    def test_vectors_on_either_side(self, A: hpg.Matrix, device: str) -> None:
        x, y = to_device(X, device), to_device(Y, device)
        for found, expected in [
            (A @ x, S @ X),
            (y @ A, Y @ S),
            (A.T @ y, S.T @ Y),
            (x @ A.T, X @ S.T),
            (A.dot(x), S @ X),
            (A.matvec(x), S @ X),
            (A.rmatvec(y), S.T @ Y),
            (A @ x[:, None], S @ X[:, None]),
            (A.matvec(x[:, None]), S @ X[:, None]),
            (A.rmatvec(y[:, None]), S.T @ Y[:, None]),
        ]:
            assert isinstance(found, array_module(device).ndarray) and found.dtype == np.float64
            np.testing.assert_allclose(host(found), expected, rtol=1e-12, atol=1e-12)

    @pytest.mark.parametrize("k", [0, 1, 2, 7])
    def test_dense_matrices_on_either_side(self, A: hpg.Matrix, device: str, k: int) -> None:
        left, right = RNG.standard_normal((k, 37)), RNG.standard_normal((53, k))
        for found, expected in [
            (A @ to_device(right, device), S @ right),
            (A.matmat(to_device(np.asfortranarray(right), device)), S @ right),
            (to_device(left, device) @ A, left @ S),
            (A.rmatmat(to_device(left.T, device)), S.T @ left.T),
        ]:
            assert found.shape == expected.shape
            np.testing.assert_allclose(host(found), expected, rtol=1e-12, atol=1e-12)

    def test_sparse_matrices_on_either_side(self, A: hpg.Matrix, device: str) -> None:
        for found in (A @ A.T, A @ A.T.tocsr(), A.dot(A.T)):
            assert isinstance(found, hpg.Matrix) and found.device == device
            np.testing.assert_allclose(host(found.toarray()), (S @ S.T).toarray(), rtol=1e-12, atol=1e-12)
        # On the left SciPy's array goes by its own rules: it takes ours for one of its kind.
        found = A.tocsr() @ A.T
        np.testing.assert_allclose(host(found.toarray()), (S @ S.T).toarray(), rtol=1e-12, atol=1e-12)

    @pytest.mark.parametrize(
        ("matrix", "vector", "result"),
        [
            ("float32", "float32", "float32"), ("float32", "float64", "float64"), ("int32", "float32", "float64"),
            ("int8", "int8", "int8"), ("bool", "bool", "bool"), ("bool", "int64", "int64"),
        ],
    )  # fmt: skip
    def test_types_are_promoted_as_in_scipy(self, device: str, matrix: str, vector: str, result: str) -> None:
        R = (S * 10).astype(matrix)
        x = (X * 3).astype(vector)
        found = hpg.Matrix(R).to(device) @ to_device(x, device)
        expected = R @ x
        assert found.dtype == result == expected.dtype
        np.testing.assert_allclose(host(found), expected, rtol=1e-5, atol=1e-4)

    def test_vectors_of_any_layout_in_memory(self, A: hpg.Matrix, device: str) -> None:
        wide = np.zeros((53, 3))
        wide[:, 1] = X
        np.testing.assert_allclose(host(A @ to_device(wide, device)[:, 1]), S @ X)
        np.testing.assert_allclose(host(A @ to_device(X[::-1].copy(), device)[::-1]), S @ X)
        if device == "cpu":
            frozen = X.copy()
            frozen.flags.writeable = False
            np.testing.assert_allclose(A @ frozen, S @ X)
            np.testing.assert_allclose(A @ X.astype(">f8"), S @ X)
            np.testing.assert_allclose(A @ X.tolist(), S @ X)
            np.testing.assert_allclose(A @ np.asmatrix(X).T, S @ X[:, None])

    def test_numbers_that_are_not_finite(self, device: str) -> None:
        M = hpg.Matrix([[1.0, 0, 2.0], [0, 0, 0], [np.inf, 1.0, 0]]).to(device)
        x = to_device(np.array([np.nan, 1.0, np.inf]), device)
        np.testing.assert_array_equal(host(M @ x), [np.nan, 0, np.nan])

    def test_same_bits_each_time(self, A: hpg.Matrix, device: str) -> None:
        x = to_device(X, device)
        first = host(A @ x)
        for _ in range(3):
            np.testing.assert_array_equal(host(A @ x), first)

    @pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0), (1, 1)])
    def test_empty_matrices(self, device: str, shape: tuple[int, int]) -> None:
        M = hpg.Matrix(scipy.sparse.csr_array(shape)).to(device)
        xp = array_module(device)
        assert host(M @ xp.ones(shape[1])).tolist() == [0] * shape[0]
        assert host(xp.ones(shape[0]) @ M).tolist() == [0] * shape[1]
        assert (M @ xp.ones((shape[1], 2))).shape == (shape[0], 2)

    def test_wrong_lengths(self, A: hpg.Matrix, device: str) -> None:
        xp = array_module(device)
        for _ in range(2):
            with pytest.raises(ValueError, match=r"x must have length 53 for a matrix of shape \(37, 53\), not 3"):
                A @ xp.ones(3)
            A @ xp.ones(53)
        with pytest.raises(ValueError, match=r"A of shape \(37, 53\) cannot be multiplied by .* \(3, 2\)"):
            A @ xp.ones((3, 2))
        with pytest.raises(ValueError, match=r"use A \* x to scale A"):
            A @ 3
        with pytest.raises(ValueError, match=r"use A \* x to scale A"):
            3 @ A
        with pytest.raises(ValueError, match=r"x must have shape \(53,\) or \(53, 1\), not \(53, 2\)"):
            A.matvec(xp.ones((53, 2)))
        with pytest.raises(ValueError, match=r"X must have two dimensions"):
            A.matmat(xp.ones(53))

    def test_types_that_no_kernel_serves(self, A: hpg.Matrix, device: str) -> None:
        for _ in range(2):
            with pytest.raises(TypeError, match=r"x must be bool, .* not float16: convert it with \.astype"):
                A @ to_device(X.astype(np.float16), device)
            A @ to_device(X, device)

    @pytest.mark.skipif(not cuda_available(), reason="takes two devices")
    def test_devices_that_differ(self) -> None:
        import cupy

        A = hpg.Matrix(S)
        with pytest.raises(TypeError, match=r'x lies on the GPU and the matrix on "cpu": give cupy\.asnumpy'):
            A @ cupy.asarray(X)
        with pytest.raises(TypeError, match=r'x lies on the CPU and the matrix on "cuda": give cupy\.asarray'):
            A.to("cuda") @ X
