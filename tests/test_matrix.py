"""Matrix against a SciPy CSR array: the same names, the same results, on both devices and in both layouts."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import array_module, to_device
from hpgraph.formats import COO, CSR, ELL, HYB

DTYPES = ["bool", "int8", "uint16", "int64", "uint64", "float32", "float64"]


def sparse(dtype: str = "float64", shape: tuple[int, int] = (37, 53), density: float = 0.1) -> scipy.sparse.csr_array:
    """Some entries, an explicit zero, an empty row and an empty column."""
    rng = np.random.default_rng(4)
    kept = rng.random(shape) < density
    kept[5, :] = kept[:, 7] = False
    row, col = (ids.astype(np.int32) for ids in kept.nonzero())
    data = rng.uniform(0 if dtype[0] in "bu" else -5, 15, len(row)).astype(dtype)
    data[3] = 0
    return scipy.sparse.csr_array((data, (row, col)), shape=shape)


def host(value: Any) -> Any:
    return to_device(value, "cpu") if hasattr(value, "dtype") else value


@pytest.fixture(params=["csr", "hyb"])
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("dtype", DTYPES)
def test_attributes(dtype: str, device: str, layout: str) -> None:
    S = sparse(dtype)
    A = hpg.Matrix(S, format=layout).to(device)
    assert (A.shape, A.nnz, A.ndim, A.dtype, A.size) == (S.shape, S.nnz, 2, S.dtype, S.size)
    assert (A.layout, A.device) == (layout, device)
    assert isinstance(A.rows, CSR if layout == "csr" else HYB)
    assert A.has_sorted_indices and A.has_canonical_format and not A.is_pattern


def test_small_matrices_stay_csr(device: str) -> None:
    assert hpg.Matrix(sparse()).to(device).layout == "csr"
    assert hpg.hyb_array(sparse()).to(device).layout == "csr", "hyb_array chooses as Matrix does"


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_any_sparse_format(kind: str) -> None:
    S = sparse()
    assert (hpg.Matrix(S.asformat(kind)).toarray() == S.toarray()).all()
    assert (hpg.Matrix(scipy.sparse.csr_matrix(S).asformat(kind)).toarray() == S.toarray()).all()


def test_other_sources(device: str, layout: str) -> None:
    S = sparse(shape=(40, 40))
    csr = CSR.from_scipy(S).to(device)
    sources = (
        csr, COO(csr.shape, csr.expand_rows(), csr.indices, csr.data), HYB.from_csr(csr), ELL.from_csr(csr),
        hpg.Graph(csr), hpg.Matrix(csr), csr.to_scipy(), to_device(S.toarray(), device),
    )  # fmt: skip
    for source in sources:
        A = hpg.Matrix(source, format=layout)
        assert A.device == device
        assert (host(A.toarray()) == S.toarray()).all(), type(source)


def test_duplicates_are_summed(device: str) -> None:
    S = scipy.sparse.coo_array((np.array([1.0, 2.0, 4.0]), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert host(hpg.Matrix(S).to(device).toarray()).tolist() == [[0, 3], [4, 0]]
    raw = CSR((1, 3), [0, 3], [2, 0, 2], [1.0, 5.0, 2.0]).to(device)
    assert host(hpg.Matrix(raw).toarray()).tolist() == [[5, 0, 3]]


def test_scipy_arrays_are_shared_both_ways_on_request() -> None:
    S = sparse()
    A = hpg.Matrix(S, copy=False)
    assert np.shares_memory(A.csr.indices, S.indices) and np.shares_memory(A.csr.data, S.data)
    T = A.csr.to_scipy()
    assert np.shares_memory(T.indices, S.indices) and np.shares_memory(T.data, S.data)
    assert not np.shares_memory(A.tocsr().data, S.data)


@pytest.mark.parametrize("dtype", DTYPES)
def test_conversions(dtype: str, device: str, layout: str) -> None:
    S = sparse(dtype)
    A = hpg.Matrix(S, format=layout).to(device)
    assert host(A.toarray()).dtype == S.dtype and (host(A.toarray()) == S.toarray()).all()
    assert (host(A.todense(order="F")) == S.toarray()).all() and A.toarray(order="F").flags.f_contiguous
    out = array_module(device).ones(S.shape, dtype=S.dtype)
    assert A.toarray(out=out) is out and (host(out) == S.toarray()).all()
    if device == "cuda" and dtype not in ("bool", "float32", "float64"):
        raises(TypeError, r"cannot hold", A.tocsr)
        return
    for name in ("csr", "csc", "coo"):
        made = getattr(A, f"to{name}")()
        assert made.format == name and made.nnz == S.nnz
        assert (host(made.toarray()) == S.toarray()).all()
        assert A.asformat(name).format == name
    assert A.asformat(None) is A


def test_transpose_shares_everything(device: str, layout: str) -> None:
    S = sparse()
    A = hpg.Matrix(S, format=layout).to(device)
    assert A.T.shape == S.T.shape and A.T.T.csr is A.csr and A.T.csr is A.transpose().csr and A.H.hyb is A.T.hyb
    assert (host(A.T.toarray()) == S.T.toarray()).all()
    assert (host(A.transpose(copy=True).toarray()) == S.T.toarray()).all()
    raises(ValueError, r"axes must be None or \(1, 0\)", A.transpose, (0, 1))


@pytest.mark.parametrize("pattern", [False, True])
@pytest.mark.parametrize("shape", [(300, 700), (1, 200_000), (200_000, 1)])
def test_the_transpose_of_many_entries(shape: tuple[int, int], pattern: bool, device: str) -> None:
    """So many that several threads share them."""
    kept = np.random.default_rng(3).random(shape) < 0.9
    S = scipy.sparse.csr_array(kept * np.arange(1.0, kept.size + 1, dtype=np.float32).reshape(shape))
    A = hpg.Matrix(S).to(device)
    turned = (A.structure if pattern else A).T.tocsr()
    difference = turned != hpg.Matrix(S.T.tocsr().astype(bool if pattern else np.float32)).to(device).tocsr()
    assert turned.shape == shape[::-1] and difference.nnz == 0


# Integers are summed in 64 bits: a small one of each sign stands for all.
@pytest.mark.parametrize("dtype", sorted({*DTYPES} - {"int64", "uint64"}))
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_sums(dtype: str, axis: int | None, device: str) -> None:
    S = sparse(dtype)
    A = hpg.Matrix(S).to(device)
    for name in ("sum", "mean"):
        expected, found = getattr(S, name)(axis), host(getattr(A, name)(axis))
        assert found.dtype == expected.dtype, name
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(host(A.count_nonzero(axis)), S.count_nonzero(axis))
    np.testing.assert_array_equal(host(A.getnnz(axis)), S._getnnz(axis))


def test_sums_by_option(device: str) -> None:
    S = sparse("int8")
    A = hpg.Matrix(S).to(device)
    xp = array_module(device)
    assert A.sum(0, dtype="float64").dtype == np.float64
    out = xp.zeros(37)
    assert A.sum(1, out=out) is out
    np.testing.assert_array_equal(host(out), S.sum(1))
    raises(ValueError, r"axis must be None, 0 \(columns\) or 1 \(rows\), not 2", A.sum, 2)
    raises(ValueError, r"out must have shape", A.sum, 0, out=out)


@pytest.mark.parametrize("k", [0, 1, -1, 20, -36, 52, -37, 100])
def test_diagonal(k: int, device: str, layout: str) -> None:
    S = sparse(density=0.4)
    A = hpg.Matrix(S, format=layout).to(device)
    np.testing.assert_array_equal(host(A.diagonal(k)), S.diagonal(k))
    assert A.T.diagonal(-k).shape == S.diagonal(k).shape
    np.testing.assert_allclose(host(A.trace(k)), S.trace(k), atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_entry_by_entry(dtype: str, device: str) -> None:
    S = sparse(dtype)
    A = hpg.Matrix(S).to(device)
    pairs = [
        (A * 2, S * 2), (2.5 * A, 2.5 * S), (np.float32(2) * A, np.float32(2) * S), (A / 4, S / 4), (abs(A), abs(S)),
        (A.astype("float32"), S.astype("float32")), (A.conj(), S.conj()), (A.real, S), (+A, S), (A.multiply(3), S * 3),
        (A.dot(3), S * 3),
    ]  # fmt: skip
    if dtype != "bool":
        pairs += [(-A, -S), (A.power(2), S.power(2)), (A**3, S.power(3)), (A.power(2, "float64"), S.power(2, "f8"))]
    for found, expected in pairs:
        assert isinstance(found, hpg.Matrix) and found.device == device
        assert found.dtype == expected.dtype and found.nnz == expected.nnz
        np.testing.assert_allclose(host(found.toarray()), expected.toarray(), rtol=1e-6)
    np.testing.assert_array_equal(host(A.toarray()), S.toarray())


def test_sums_of_matrices(device: str) -> None:
    S, R = sparse(), sparse(density=0.2)
    A, B = hpg.Matrix(S).to(device), hpg.Matrix(R).to(device)
    np.testing.assert_allclose(host((A + B).toarray()), (S + R).toarray())
    np.testing.assert_allclose(host((A - B.tocsr()).toarray()), (S - R).toarray())
    assert host((A + 0).toarray()).tolist() == S.toarray().tolist()
    with pytest.raises(NotImplementedError, match=r"would make it dense: use A\.toarray\(\)"):
        A + 1


def test_what_scipy_refuses_too(device: str) -> None:
    A = hpg.Matrix(sparse()).to(device)
    with pytest.raises(NotImplementedError, match=r"zero to the power of 0"):
        A**0
    raises(TypeError, r"ambiguous: use A\.shape\[0\]", len, A)
    raises(ValueError, r"truth value .* ambiguous", bool, A)
    with pytest.raises(ValueError, match=r"inconsistent shapes \(37, 53\) and \(1, 52\)"):
        A * array_module(device).ones(52)
    with pytest.raises(NotImplementedError, match=r"matrix of bool has no negative"):
        -A.astype(bool)


def test_a_pattern_is_a_matrix_of_true(device: str, layout: str) -> None:
    S = sparse().astype(bool)
    A = hpg.Matrix(hpg.Graph(sparse(shape=(53, 53)).astype(bool))).to(device)
    S = sparse(shape=(53, 53))
    S.data[:] = 1
    A = hpg.Matrix(A, format=layout)
    assert A.is_pattern and A.dtype == np.bool_ and A.sum() == S.nnz
    assert (host(A.toarray()) == (S.toarray() != 0)).all() and host(A.toarray()).dtype == np.bool_
    np.testing.assert_array_equal(host((A * 2).toarray()), S.toarray() * 2)
    np.testing.assert_array_equal(host(A.sum(0)), S.sum(0))
    np.testing.assert_array_equal(host(A.diagonal()), S.diagonal() != 0)
    x = np.random.default_rng(0).random(53)
    np.testing.assert_allclose(host(A @ to_device(x, device)), S @ x)


def test_there_and_back(device: str, layout: str) -> None:
    S = sparse()
    A = hpg.Matrix(S, format=layout)
    x = np.arange(53.0)
    expected = A @ x
    moved = A.to(device)
    assert (moved is A) == (device == "cpu")
    np.testing.assert_allclose(host(moved @ to_device(x, device)), expected)
    np.testing.assert_allclose(moved.to("cpu") @ x, expected)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(0, 9),
    columns=st.integers(0, 9),
    entries=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(-4, 4)), max_size=30),
    layout=st.sampled_from(["csr", "hyb"]),
)
def test_small_matrices_of_any_shape(rows: int, columns: int, entries: list[tuple[int, int, int]], layout: str) -> None:
    entries = [entry for entry in entries if entry[0] < rows and entry[1] < columns]
    row, col, data = (np.array([entry[k] for entry in entries], dtype=np.int64) for k in range(3))
    S = scipy.sparse.coo_array((data, (row, col)), shape=(rows, columns))
    D = S.toarray()
    A = hpg.Matrix(S, format=layout)
    x, y = np.arange(columns) - 2, np.arange(rows) - 3
    np.testing.assert_array_equal(A.toarray(), D)
    np.testing.assert_array_equal(A @ x, D @ x)
    np.testing.assert_array_equal(y @ A, y @ D)
    np.testing.assert_array_equal(A.T.toarray(), D.T)
    np.testing.assert_array_equal(A.sum(0), D.sum(0))
    np.testing.assert_array_equal(A.sum(1), D.sum(1))
    np.testing.assert_array_equal(A.diagonal(), D.diagonal())
    assert A.sum() == D.sum()


class TestRefused:
    def test_extended_precision(self) -> None:
        with pytest.raises(TypeError, match=r"the matrix must be bool, .* not complex256: .*numpy\.complex128"):
            hpg.Matrix(sparse().astype("complex256"))
        raises(TypeError, r"not float128: .*numpy\.float64", hpg.Matrix(sparse()).astype, "float128")
        with pytest.raises(TypeError, match=r"not float16"):
            hpg.Matrix(sparse(), dtype="float16")

    @pytest.mark.parametrize("source", [None, "web.mtx", 3, {}])
    def test_no_matrix(self, source: object) -> None:
        raises(TypeError, r"no matrix can be made of", hpg.Matrix, source)

    def test_dimensions(self) -> None:
        raises(ValueError, r"two dimensions, not shape \(3,\)", hpg.Matrix, np.ones(3))

    def test_layout(self) -> None:
        with pytest.raises(ValueError, match=r'format must be "auto", "csr", "hyb" or "sell", not \'ell\''):
            hpg.Matrix(sparse(), format="ell")

    def test_casting(self) -> None:
        with pytest.raises(TypeError, match=r"cannot be cast to int32 with casting='safe'"):
            hpg.Matrix(sparse()).astype("int32", casting="safe")

    def test_where_to_write_a_dense_matrix(self, device: str) -> None:
        A = hpg.Matrix(sparse()).to(device)
        with pytest.raises(ValueError, match=r"out must be an array of shape \(37, 53\) and type float64"):
            A.toarray(out=array_module(device).ones((3, 3)))


class TestShown:
    def test_one_line(self, device: str, layout: str) -> None:
        A = hpg.Matrix(sparse(), format=layout).to(device)
        assert repr(A) == f"<Matrix 37x53, {A.nnz} entries, float64, {layout}, {device}>"

    def test_table(self) -> None:
        shown = hpg.Matrix(sparse(), format="hyb")._repr_html_()
        assert shown.startswith("<table>") and "<td>shape</td><td>37 × 53</td>" in shown and "<td>hyb</td>" in shown


def test_a_matrix_on_another_gpu_than_the_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    A = hpg.Matrix([[0, 1.0], [2.0, 0]])
    made = A @ np.ones(2)
    # As if it lay there: the products' plan is kept already.
    A._index = 1
    monkeypatch.setattr("hpgraph.core.devices._current", lambda: 0)
    for call in (lambda: A @ np.ones(2), lambda: A + A, lambda: A.csr, lambda: A.sum(), lambda: A[0, 0]):
        with pytest.raises(hpg.DeviceError, match=r"the matrix lies on cuda:1, and CuPy's current device is cuda:0"):
            call()
    monkeypatch.setattr("hpgraph.core.devices._current", lambda: 1)
    np.testing.assert_array_equal(A @ np.ones(2), made)


def test_assignments_of_two_threads_are_all_kept(device: str) -> None:
    matrix = hpg.Matrix(np.eye(64)).to(device)

    def fill(column: int) -> None:
        for row in range(64):
            matrix[row, column] = 5.0

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(fill, range(2)))
    assert (matrix.toarray()[:, :2] == 5).all()
