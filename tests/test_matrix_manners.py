"""SciPy's manners: operators, comparisons, functions and reductions of a Matrix beside those of a csr_array."""

import operator
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device

DTYPES = ["float64", "int8", "bool"]


def sparse(dtype: str, seed: int, shape: tuple[int, int] = (7, 9)) -> Any:
    """Some entries, one of them an explicit zero."""
    S = scipy.sparse.random_array(shape, density=0.4, rng=seed, format="csr")
    S.data = (20 * S.data - (0 if dtype == "bool" else 10)).astype(dtype)
    S.data[1] = 0
    return S


def agree(found: Any, wanted: Any) -> None:
    """The same shape, type and values; sparse where SciPy's is."""
    assert isinstance(found, hpg.Matrix | hpg.Vector) == scipy.sparse.issparse(wanted)
    found, wanted = (value.toarray() if hasattr(value, "toarray") else value for value in (found, wanted))
    found = to_device(found, "cpu") if hasattr(found, "dtype") else np.asarray(found)
    assert found.shape == np.shape(wanted) and found.dtype == np.asarray(wanted).dtype
    np.testing.assert_allclose(found.astype(float), np.asarray(wanted).astype(float), rtol=1e-6)


def both(function: Any, S: Any, *others: Any, device: str) -> None:
    """The function of SciPy's operands and of ours."""
    moved = [
        hpg.Matrix(x).to(device) if scipy.sparse.issparse(x) else to_device(x, device) if np.ndim(x) else x
        for x in others
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agree(function(hpg.Matrix(S).to(device), *moved), function(S, *others))


ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [*ARITHMETIC, *COMPARISONS], ids=lambda function: function.__name__)
def test_operators(function: Any, dtype: str, device: str) -> None:
    if dtype == "bool" and function in (operator.sub, operator.truediv):
        pytest.skip("NumPy has neither over bool")
    S, R = sparse(dtype, 1), sparse(dtype, 2)
    for other in (R, R.toarray(), 2, np.float32(2), np.nan):
        if np.ndim(other) or function not in (operator.add, operator.sub):
            both(function, S, other, device=device)
    if function in COMPARISONS:
        both(function, S, 0, device=device)
        both(function, S, -1.5, device=device)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_of_two(dtype: str, device: str) -> None:
    S, R = sparse(dtype, 1), sparse(dtype, 2)
    for other in (R, R.toarray(), 0, 2):
        both(lambda A, B: A.maximum(B), S, other, device=device)
        both(lambda A, B: A.minimum(B), S, other, device=device)


def test_products_broadcast(device: str) -> None:
    S, D = sparse("float64", 1), sparse("float64", 2).toarray()
    thin, tall = sparse("float64", 4, (1, 5)), sparse("float64", 4, (5, 1))
    pairs = [
        (S, D[:1]), (S, D[:, :1]), (S, D[0]), (S, np.array([[3.0]])), (S, scipy.sparse.csr_array(D[:1])),
        (S, scipy.sparse.csr_array(D[:, :1])), (S, scipy.sparse.csr_array([[3.0]])),
        (thin, np.arange(20.0).reshape(4, 5)), (tall, np.arange(20.0).reshape(5, 4)), (thin, np.arange(4.0)[:, None]),
        (thin, scipy.sparse.csr_array(np.arange(4.0)[:, None])),
    ]  # fmt: skip
    for A, B in pairs:
        both(lambda A, B: A.multiply(B), A, B, device=device)
    both(lambda A, B: B + A, S, D, device=device)
    both(lambda A, B: B - A, S, D, device=device)
    both(lambda A, B: B * A, S, D[:1], device=device)
    with pytest.raises(ValueError, match=r"inconsistent shapes \(7, 9\) and \(7, 8\)"):
        hpg.Matrix(S).to(device).multiply(to_device(D[:, :8], device))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [None, 0, 1, -1, -2])
def test_reductions(dtype: str, axis: int | None, device: str) -> None:
    full = scipy.sparse.csr_array(np.arange(12).reshape(3, 4) - 20).astype(dtype)
    for S in (sparse(dtype, 1), full, scipy.sparse.csr_array((3, 4), dtype=dtype)):
        for name in ("min", "max", "argmin", "argmax"):
            both(lambda A, name=name: getattr(A, name)(axis=axis), S, device=device)


@pytest.mark.parametrize("name", ["min", "max", "nanmin", "nanmax", "argmin", "argmax"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_nan(name: str, axis: int | None, device: str) -> None:
    S = sparse("float64", 1)
    S.data[[0, 5, 9]] = np.nan
    S.data[S.indptr[3] : S.indptr[4]] = np.nan
    both(lambda A: getattr(A, name)(axis=axis), S, device=device)
    if axis is not None or not name.startswith("arg"):
        both(lambda A: getattr(A, name)(axis=axis, explicit=True), S, device=device)


@pytest.mark.parametrize(
    "name",
    [
        "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "deg2rad", "expm1", "floor", "log1p", "rad2deg", "rint",
        "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "conj", "conjugate",
    ],
)  # fmt: skip
def test_functions(name: str, device: str) -> None:
    for dtype in ("float64", "float32", "int64"):
        S = sparse(dtype, 1)
        with np.errstate(all="ignore"):
            both(lambda A: getattr(A, name)(), S, device=device)


def test_products_in_place() -> None:
    S = sparse("float64", 1, (4, 4))
    A = hpg.Matrix(S)
    for shape in ((4,), (3, 4), (2, 3, 4)):
        wanted = np.ones(shape)
        kept = made = wanted.copy()
        made @= A
        assert made is kept
        np.testing.assert_allclose(made, wanted @ S.toarray())
    with pytest.raises(ValueError, match=r"shape \(4, 1\), does not fit an array of shape \(4, 4\)"):
        np.matmul(np.ones((4, 4)), A[:, [0]], out=np.empty((4, 4)))


def test_square(device: str) -> None:
    both(lambda A: np.square(A), sparse("float64", 1), device=device)


def test_small_integers_make_float32_where_numpy_makes_float16(device: str) -> None:
    A = hpg.Matrix(sparse("int8", 1)).to(device).sin()
    assert A.dtype == np.float32
    np.testing.assert_allclose(
        to_device(A.toarray(), "cpu"), np.sin(sparse("int8", 1).toarray(), dtype="f4"), rtol=1e-5
    )


class TestInPlace:
    def test_zeros(self, device: str) -> None:
        S = sparse("float64", 1)
        A = hpg.Matrix(S).to(device)
        shared = A.tocsr()
        assert A.eliminate_zeros() is None
        assert A.nnz == S.nnz - 1 == shared.nnz - 1
        np.testing.assert_array_equal(to_device(A.toarray(), "cpu"), S.toarray())

    @pytest.mark.parametrize("k", [0, 2, -3])
    @pytest.mark.parametrize("values", [5, [1, 2, 3], np.arange(20)])
    def test_diagonals(self, k: int, values: Any, device: str) -> None:
        S = sparse("float64", 1)
        A = hpg.Matrix(S).to(device)
        A.setdiag(values, k)
        S.setdiag(values, k)
        np.testing.assert_array_equal(to_device(A.toarray(), "cpu"), S.toarray())

    def test_no_such_diagonal(self, device: str) -> None:
        with pytest.raises(ValueError, match=r"diagonal 9 of a matrix of shape \(7, 9\)"):
            hpg.Matrix(sparse("int8", 1)).to(device).setdiag(1, 9)
        with pytest.raises(TypeError, match="complex values cannot be written to a matrix of float64"):
            hpg.Matrix((2, 2)).to(device).setdiag(np.array([1j, 2]))

    def test_nothing_to_do(self, device: str) -> None:
        A = hpg.Matrix(sparse("float64", 1)).to(device)
        A.sum_duplicates()
        A.sort_indices()
        A.prune()
        A.check_format()
        assert A.has_sorted_indices and A.has_canonical_format and A.sorted_indices().nnz == A.nnz


class TestRefused:
    def test_as_in_scipy(self, device: str) -> None:
        A = hpg.Matrix(sparse("float64", 1)).to(device)
        for call in (lambda: A + 1, lambda: A - 2, lambda: 2 - A, lambda: A**0):
            with pytest.raises(NotImplementedError):
                call()
        for other in (A.T, to_device(np.ones((2, 2)), device)):
            with pytest.raises(ValueError, match=r"inconsistent shapes|broadcast"):
                A + other
        assert (A == A.T) is False and (A != A.T) is True
        raises(ValueError, r"inconsistent shapes", operator.gt, A, A.T)
        with pytest.raises(TypeError):
            hash(A)
        with pytest.raises(TypeError):
            2 / A
        raises(ValueError, r"max: a matrix of shape \(0, 3\) has nothing to compare", hpg.Matrix(np.ones((0, 3))).max)

    def test_dense_results_are_warned_of(self, device: str) -> None:
        A = hpg.Matrix(sparse("float64", 1)).to(device)
        for call in (lambda: A == 0, lambda: A <= A, lambda: A < 1, lambda: A.maximum(1)):
            with pytest.warns(scipy.sparse.SparseEfficiencyWarning):
                call()
