"""Complex matrices and vectors on every device, beside SciPy's: products, the algebra over plus and times, solvers."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device

SINGLE, DOUBLE = np.dtype("complex64"), np.dtype("complex128")


def sparse(rows: int = 60, columns: int = 45, dtype: Any = DOUBLE, density: float = 0.15) -> Any:
    """Random rows of either part, one of them long and some empty."""
    rng = np.random.default_rng(rows + columns)
    there = rng.random((rows, columns)) < density
    there[::7] = False
    there[min(3, rows - 1)] = True
    values = rng.integers(-9, 9, (rows, columns)) / 2 + 1j * rng.integers(-9, 9, (rows, columns)) / 4
    return scipy.sparse.csr_array(np.where(there, values, 0).astype(dtype))


def vector(length: int, dtype: Any = DOUBLE) -> Any:
    rng = np.random.default_rng(length)
    x = rng.integers(-5, 5, length) / 2
    return x.astype(dtype) if np.dtype(dtype).kind != "c" else (x + 1j * x[::-1]).astype(dtype)


def host(found: Any) -> Any:
    found = found.values if isinstance(found, hpg.Vector) else found
    found = found.toarray() if hasattr(found, "toarray") else found
    return np.asarray(to_device(found, "cpu") if hasattr(found, "dtype") else found)


def agree(found: Any, expected: Any) -> None:
    expected = np.asarray(expected.toarray() if hasattr(expected, "toarray") else expected)
    found = host(found)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    tolerance = 1e-4 if expected.dtype in (SINGLE, np.float32) else 1e-11
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("of_matrix", "of_vector", "layout"),
    [
        ("complex64", "complex64", "csr"), ("complex64", "complex64", "hyb"), ("complex128", "complex128", "csr"),
        ("complex128", "complex128", "hyb"), ("complex128", "bool", "csr"),
    ],
)  # fmt: skip
def test_products_with_arrays(of_matrix: str, of_vector: str, layout: str, device: str) -> None:
    S, x, y = sparse(dtype=of_matrix), vector(45, of_vector), vector(60, of_vector)
    A = hpg.Matrix(S, format=layout).to(device)
    agree(A @ to_device(x, device), S @ x)
    agree(A.T @ to_device(y, device), S.T @ y)
    X = np.stack([x, 2 * x if of_vector != "bool" else x, x[::-1]], axis=1)
    agree(A @ to_device(X, device), S @ X)
    agree(to_device(np.ascontiguousarray(y), device) @ A, y @ S)


@pytest.mark.parametrize(("dtype", "of_vector"), [("bool", SINGLE), ("float32", DOUBLE)])
def test_real_matrices_times_complex_vectors(dtype: str, of_vector: Any, device: str) -> None:
    S, x = sparse().real.astype(dtype), vector(45, of_vector)
    agree(hpg.Matrix(S).to(device) @ to_device(x, device), S @ x)


def test_what_solvers_call_is_conjugated(device: str) -> None:
    S, y = sparse(), vector(60)
    A = hpg.hyb_array(S).to(device)
    agree(A.rmatvec(to_device(y, device)), S.conj().T @ y)
    agree(A.rmatmat(to_device(np.stack([y, 1j * y], axis=1), device)), S.conj().T @ np.stack([y, 1j * y], axis=1))
    agree(A.H, S.conj().T)
    agree(A.H @ to_device(y, device), S.conj().T @ y)


# Those with real matrices are in algebra/test_mxm.py.
@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE])
def test_products_of_matrices(dtype: Any, device: str) -> None:
    S, R = sparse(dtype=dtype), sparse(45, 70, dtype=dtype)
    A, B = hpg.Matrix(S).to(device), hpg.Matrix(R).to(device)
    agree(A @ B, S @ R)
    if dtype == SINGLE:
        # Masks ask nothing more of the types.
        return
    M = scipy.sparse.random_array((60, 70), density=0.1, rng=np.random.default_rng(0), format="csr")
    mask, kept = hpg.Matrix(M).to(device), (M != 0).toarray()
    agree(hpg.mxm(A, B, mask=mask), np.where(kept, (S @ R).toarray(), 0))
    agree(hpg.mxm(A, B, mask=mask, complement=True), np.where(kept, 0, (S @ R).toarray()))


def test_products_of_many_entries(device: str) -> None:
    """Rows that take every path: longer than a table, than a piece, than a window."""
    S = sparse(40, 3000, density=0.4)
    R = sparse(3000, 2500, density=0.02)
    agree(hpg.Matrix(S).to(device) @ hpg.Matrix(R).to(device), S @ R)
    x = vector(3000)
    agree(hpg.Matrix(S, format="hyb").to(device) @ to_device(x, device), S @ x)


def test_single_precision_stays_single(device: str) -> None:
    S, R = sparse(dtype=SINGLE), sparse(dtype=SINGLE)[::-1]
    A, B = hpg.Matrix(S).to(device), hpg.Matrix(R).to(device)
    agree(A + B, S + R)
    agree(A * (2 - 1j), S * SINGLE.type(2 - 1j))
    agree(A / 2, S / 2)
    agree(abs(A), abs(S))
    agree(A.imag, S.imag)
    agree(A.power(2), S.power(2))
    agree(A.sum(1), S.sum(1))
    agree(A.mean(0), S.mean(0))
    agree(A[3:40, [1, 5, 7]], S[3:40, [1, 5, 7]])
    np.testing.assert_allclose(hpg.reduce(A, "std"), S.data.std(), rtol=1e-4)


def test_entry_by_entry(device: str) -> None:
    S, R = sparse(), sparse()[::-1]
    A, B, real = (hpg.Matrix(T).to(device) for T in (S, R, S.real))
    agree(A + B, S + R)
    agree(A - real, S - S.real)
    agree(A * B, S * R)
    agree(A * (2 - 1j), S * (2 - 1j))
    agree(A / 2, S / 2)
    agree(-A, -S)
    agree(abs(A), abs(S))
    agree(A.conj(), S.conj())
    agree(np.conjugate(A) if device == "cpu" else A.conjugate(), S.conj())
    agree(A.real, S.real)
    agree(A.imag, S.imag)
    agree(A.power(2), S.power(2))
    agree(A.sqrt(), S.sqrt())
    agree(A != B, S != R)
    agree(real != A, S.real != S)
    agree(hpg.ewise_mult(A, B, "minus"), np.where((S != 0).toarray() & (R != 0).toarray(), (S - R).toarray(), 0))
    agree(hpg.ewise_add(A, B, "any"), np.where((S != 0).toarray(), S.toarray(), R.toarray()))


def test_operators_by_name(device: str) -> None:
    S = sparse()
    A = hpg.Matrix(S).to(device)
    for name, expected in (
        ("conj", S.conj()), ("abs", abs(S)), ("real", S.real), ("imag", S.imag), ("ainv", -S), ("identity", S)
    ):  # fmt: skip
        agree(hpg.apply(A, name), expected)
    agree(hpg.apply(A, "times", right=2j), S * 2j)
    inverse = hpg.apply(A, "minv").csr
    np.testing.assert_allclose(host(inverse.data), 1 / S.data, rtol=1e-14)
    agree(hpg.select(A, "valueeq", S.data[0]), np.where(S.toarray() == S.data[0], S.toarray(), 0))
    agree(hpg.tril(A), scipy.sparse.tril(S))


def test_sums(device: str) -> None:
    S = sparse()
    A = hpg.Matrix(S).to(device)
    for axis in (None, 0, 1):
        agree(A.sum(axis), S.sum(axis))
        agree(A.mean(axis), S.mean(axis))
    agree(A.diagonal(), S.diagonal())
    agree(A.trace(), S.trace())
    np.testing.assert_allclose(hpg.reduce(A, "plus"), S.data.sum(), rtol=1e-4)
    np.testing.assert_allclose(hpg.reduce(A[4:6], "times"), S[4:6].data.prod(), rtol=1e-3)
    np.testing.assert_allclose(hpg.reduce(A, "mean"), S.data.mean(), rtol=1e-4)
    np.testing.assert_allclose(hpg.reduce(A, "std"), S.data.std(), rtol=1e-4)
    assert hpg.reduce(A, "any") and hpg.reduce(A, "count") == S.nnz
    agree(A.mxv(to_device(vector(45), device), "plus_first"), S.sum(1))


def test_parts_and_assignment(device: str) -> None:
    S = sparse()
    A = hpg.Matrix(S).to(device)
    agree(A[3:40, [1, 5, 7]], S[3:40, [1, 5, 7]])
    agree(A[:, 4:20], S[:, 4:20])
    agree(A.T.T[::-1], S[::-1])
    assert complex(A[3, 4]) == S[3, 4]
    dense = S.toarray()
    A[2, 3], dense[2, 3] = 5j, 5j
    A[5:7, :], dense[5:7] = A[1:3, :], dense[1:3]
    A[[9, 11], [2, 3]], dense[[9, 11], [2, 3]] = [1j, 2], [1j, 2]
    agree(A, dense)
    agree(hpg.hstack([A, A.real]), np.hstack([dense, dense.real]))
    agree(hpg.kron(A[:4, :5], A[:3, 1:4]), np.kron(dense[:4, :5], dense[:3, 1:4]))
    square = A[:20, :20]
    agree(hpg.matrix_power(square, 3), np.linalg.matrix_power(dense[:20, :20], 3))
    with pytest.raises(TypeError, match="complex values cannot be written to a matrix of float"):
        R = A.real
        R[0:2, 0:2] = A[0:2, 0:2]


def test_duplicates_are_summed_and_symmetry_is_seen(device: str) -> None:
    row, column, values = np.array([0, 1, 0]), np.array([1, 0, 1]), np.array([1 + 2j, 3j, 4 - 1j])
    given = tuple(to_device(array, device) for array in (values, row, column))
    A = hpg.Matrix((given[0], given[1:]), shape=(2, 2))
    agree(A, [[0, 5 + 1j], [3j, 0]])
    assert not A.csr.is_symmetric() and (A + A.T).csr.is_symmetric()


def test_vectors(device: str) -> None:
    S, x = sparse(), vector(45)
    A = hpg.Matrix(S).to(device)
    v = hpg.Vector(to_device(x, device))
    agree(A.mxv(v), S @ x)
    agree(v + 1j, x + 1j)
    few = hpg.Vector.from_indices(to_device(np.array([1, 4]), device), to_device(np.array([1j, 2.0]), device), 45)
    full = np.zeros(45, DOUBLE)
    full[[1, 4]] = [1j, 2]
    agree(A.mxv(few).toarray(), S @ full)
    assert complex(v.reduce("plus")) == pytest.approx(x.sum())


def test_conversions(device: str) -> None:
    S = sparse()
    A = hpg.Matrix(S).to(device)
    agree(A.astype("complex64"), S.astype("complex64"))
    agree(hpg.Matrix(S.real).to(device).astype(complex), S.real.astype(complex))
    with pytest.warns(np.exceptions.ComplexWarning):
        agree(A.astype(float), S.real)
    agree(hpg.Matrix(A.tocsr()), S)
    agree(A.to("cpu"), S)
    made = hpg.random(30, 20, 0.2, dtype="complex64", device=device)
    assert made.dtype == SINGLE and made.nnz == 120 and abs(host(made.csr.data).imag).max() > 0


def test_order_is_scipys_where_it_has_one(device: str) -> None:
    S, R = sparse(), sparse()[::-1]
    A, B = hpg.Matrix(S).to(device), hpg.Matrix(R).to(device)
    agree(A < B, S < R)
    agree(A > B, S > R)
    agree(A.maximum(B), S.maximum(R))
    agree(A.minimum(B), S.minimum(R))
    assert complex(A.max()) == S.max() and complex(A.min()) == S.min()


@pytest.mark.parametrize("name", ["min_plus", "max_times", "plus_min", "plus_lt", "max_second"])
def test_semirings_that_need_an_order_are_refused(name: str, device: str) -> None:
    A = hpg.Matrix(sparse()).to(device)
    for refuse in (lambda: A.mxv(to_device(vector(45), device), name), lambda: A.mxm(A.T, name)):
        raises(TypeError, r"is not defined on complex numbers .*complex128.*take \.real", refuse)


def test_no_conversion_drops_imaginary_parts(device: str) -> None:
    A = hpg.Matrix(sparse(45, 45)).to(device)
    for refuse in (
        lambda: hpg.apply(A, "conj", dtype="float64"),
        lambda: hpg.ewise_add(A, A, dtype="int64"),
        lambda: hpg.ewise_mult(A, A, out=A.real),
        lambda: A.mxv(to_device(vector(45), device), out=to_device(np.ones(45), device)),
    ):
        raises(TypeError, "complex128", refuse)
    agree(hpg.apply(A, "abs", dtype="float32"), abs(sparse(45, 45)).astype("float32"))


def test_what_else_needs_an_order_is_refused(device: str) -> None:
    A = hpg.Matrix(sparse(45, 45)).to(device)
    algebra = (lambda: hpg.reduce(A, "argmax"), lambda: hpg.apply(A, "floor"))
    for refuse in (A.argmax, A.argmin, lambda: A.max(axis=1), *algebra):
        raises(TypeError, "complex", refuse)
    raises(TypeError, r"float32 or float64, not complex128: take \.real or abs\(\)", hpg.Graph, A)
    raises(TypeError, r"adjacency matrix must be .* not complex128: take \.real", hpg.Graph, A.csr)
    if device == "cpu":
        raises(TypeError, r"csgraph must be .* not complex128: take \.real", hpg.csgraph.shortest_path, A)


@pytest.mark.parametrize("device", ["cuda"], indirect=True)
def test_python_functions_of_complex_numbers_stay_on_the_cpu(device: str) -> None:
    A = hpg.Matrix(sparse()).to(device)
    with pytest.raises(TypeError, match=r"cannot be linked into a kernel on the GPU.*\.to\(\"cpu\"\)"):
        hpg.apply(A, lambda value: value + 1)


def test_python_functions(device: str) -> None:
    if device == "cuda":
        pytest.skip("refused there, by name")
    S = sparse()
    agree(hpg.apply(hpg.Matrix(S), lambda value: value * 2j), S * 2j)
    agree(hpg.apply(hpg.Matrix(S.real), lambda value: value * 2j), S.real * 2j)
