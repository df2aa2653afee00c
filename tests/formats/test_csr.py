"""CSR against SciPy and against dictionaries."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from arrays import host
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises
from reference_formats import entries_of, merged

import hpgraph as hpg
from hpgraph import csgraph
from hpgraph.formats import COO, CSR, HYB
from hpgraph.formats.checks import VALUE_DTYPES


def triplets(seed, rows, columns, entries, dtype=None):
    rng = np.random.default_rng(seed)
    row, col = rng.integers(0, rows, entries), rng.integers(0, columns, entries)
    data = None if dtype is None else rng.integers(0, 9, entries).astype(dtype)
    return row, col, data


def start_of(array):
    """Where an array lies in its device's memory."""
    return array.data.ptr if hasattr(array.data, "ptr") else array.ctypes.data


SHAPES = [(1, 1, 1), (1, 1, 5), (7, 4, 0), (4, 9, 30), (60, 50, 900), (3, 400, 5000), (5000, 3, 700)]


@pytest.mark.parametrize("dtype", [None, *VALUE_DTYPES], ids=str)
@pytest.mark.parametrize("duplicates", ["sum", "min", "max", "first"])
def test_from_coo_merges_duplicates(put, sorting, dtype, duplicates):
    row, col, data = triplets(3, 12, 9, 200, dtype)
    if duplicates in ("min", "max") and dtype is not None and dtype.kind == "c":
        with pytest.raises(TypeError, match="complex numbers do not have"):
            CSR.from_coo(put(row), put(col), put(data), (12, 9), duplicates=duplicates)
        return
    csr = CSR.from_coo(put(row), put(col), put(data), (12, 9), duplicates=duplicates)
    assert entries_of(csr) == merged(row, col, data, duplicates)
    assert str(csr.dtype) == str(dtype)
    assert csr.indices.dtype == np.int32
    assert csr.indptr.dtype == np.int64
    assert csr.is_canonical()


@pytest.mark.parametrize(("rows", "columns", "entries"), SHAPES)
@pytest.mark.parametrize("dtype", [None, "float32", "int8"])
def test_from_coo_and_transpose_of_any_shape(put, sorting, rows, columns, entries, dtype):
    row, col, data = triplets(rows + entries, rows, columns, entries, dtype)
    csr = CSR.from_coo(put(row), put(col), put(data), (rows, columns))
    assert entries_of(csr) == merged(row, col, data, "sum")
    assert entries_of(csr.transpose()) == merged(col, row, data, "sum")
    assert csr.transpose().shape == (columns, rows)


@pytest.mark.parametrize("columns", [900, 70_000, 3_000_000])
def test_transpose_keeps_the_order_of_duplicates(put, columns):
    # Of more entries than a block takes, and of columns of one digit, two and three.
    rng = np.random.default_rng(columns)
    row, col = np.sort(rng.integers(0, 50, 9000)), rng.choice(rng.integers(0, columns, 300), 9000)
    indptr = np.concatenate(([0], np.bincount(row, minlength=50).cumsum()))
    turned = CSR((50, columns), put(indptr), put(col.astype(np.int32)), put(np.arange(9000.0))).transpose()
    order = np.argsort(col, kind="stable")
    np.testing.assert_array_equal(host(turned.indices), row[order])
    np.testing.assert_array_equal(host(turned.data), order)
    np.testing.assert_array_equal(host(turned.degrees), np.bincount(col, minlength=columns))


def test_from_coo_that_is_sorted_already_shares_its_columns(put):
    col = put(np.array([0, 2, 1], dtype=np.int32))
    csr = CSR.from_coo(put([0, 0, 2]), col, None, (3, 3), copy=False)
    assert start_of(csr.indices) == start_of(col)
    assert start_of(CSR.from_coo(put([0, 0, 2]), col, None, (3, 3)).indices) != start_of(col)
    assert entries_of(csr) == [(0, 0, None), (0, 2, None), (2, 1, None)]


def test_from_coo_finds_the_least_shape(put):
    assert CSR.from_coo(put([4, 0]), put([1, 2])).shape == (5, 3)
    assert CSR.from_coo(put([]), put([])).shape == (0, 0)


def test_from_coo_reports_the_first_duplicate(put, sorting):
    with pytest.raises(ValueError, match=r"entry \(1, 2\) is given more than once, and 2 entries repeat"):
        CSR.from_coo(put([3, 1, 1, 1]), put([0, 2, 2, 2]), None, (4, 4), duplicates="error")
    assert CSR.from_coo(put([3, 1]), put([0, 2]), None, (4, 4), duplicates="error").nnz == 2


def test_nan_is_least_and_spreads_as_in_numpy(put):
    row, data = put([0, 0, 1, 1]), put([np.nan, 1.0, 2.0, np.nan])
    for duplicates in ("min", "max", "sum"):
        assert np.isnan(host(CSR.from_coo(row, put([0, 0, 0, 0]), data, duplicates=duplicates).data)).all()


def test_from_scipy_keeps_zeros_and_nan_and_halves_wide_ids():
    matrix = sp.csr_array((np.array([0.0, np.nan]), np.array([2, 0]), np.array([0, 1, 2])), shape=(2, 3))
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    csr = CSR.from_scipy(matrix)
    assert csr.nnz == 2
    assert csr.data[0] == 0
    assert np.isnan(csr.data[1])
    assert csr.indices.dtype == np.int32


@pytest.mark.parametrize("matrix", [np.eye(3), [[1, 0]], None, 3])
def test_from_scipy_refuses_what_is_not_sparse(matrix):
    raises(TypeError, "must be a two-dimensional SciPy or CuPy sparse array", CSR.from_scipy, matrix)


ENTRY_POINTS = [
    CSR.from_scipy, COO.from_scipy, hpg.Matrix, hpg.hyb_array, hpg.Graph, csgraph.dijkstra, csgraph.laplacian,
    lambda matrix: hpg.Matrix(sp.eye_array(5)) @ matrix,
]  # fmt: skip


@pytest.mark.parametrize("wrong", [-1, 5, 10**6, -(2**31)])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_entries_beyond_the_shape_are_refused_before_scipy_converts_them(kind, wrong):
    """SciPy looks at places when a matrix is made, and not again: what is written there later may be anything."""
    full = np.arange(25.0).reshape(5, 5) % 3
    refused = []
    for form, names in (("coo", ("row", "col")), ("csr", ("indices",)), ("csc", ("indices",)), ("bsr", ("indices",))):
        for name in names:
            matrix = getattr(sp, f"{form}_{kind}")(full)
            getattr(matrix, name)[2] = wrong
            refused.append((matrix, IndexError, rf"{name} holds {wrong}, and there are 5 "))
    for form in ("csr", "csc", "bsr"):
        for place in (1, -1):
            matrix = getattr(sp, f"{form}_{kind}")(full)
            matrix.indptr[place] = wrong if wrong != 5 else 10**5
            refused.append((matrix, ValueError, "indptr must "))
    for matrix, error, message in refused:
        for entry_point in ENTRY_POINTS:
            raises(error, message, entry_point, matrix)


def test_round_trip_through_cupy():
    pytest.importorskip("cupy")
    from hpgraph.core.device import cuda_available

    if not cuda_available():
        pytest.skip("no CUDA GPU here")
    import cupyx.scipy.sparse as csp

    tidy = sp.random_array((30, 20), density=0.2, format="csr", rng=np.random.default_rng(0))
    csr = CSR.from_scipy(csp.csr_matrix(sp.csr_matrix(tidy)))
    assert csr.device == "cuda"
    assert (csr.to_scipy().get() != sp.csr_matrix(tidy)).nnz == 0
    raises(TypeError, "CuPy's sparse matrices cannot hold int8", csr.astype(np.int8).to_scipy)


@pytest.mark.parametrize("dtype", [None, "int16", "float64", "bool"])
def test_sorted_is_stable(put, sorting, dtype):
    rng = np.random.default_rng(5)
    indptr = np.array([0, 40, 40, 41, 90])
    indices = rng.integers(0, 6, 90)
    data = None if dtype is None else np.arange(90).astype(dtype)
    csr = CSR((4, 6), put(indptr), put(indices), put(data))
    assert not csr.is_sorted()
    done = csr.sorted()
    assert done.is_sorted()
    assert not done.is_canonical()
    expected = sorted(entries_of(csr), key=lambda entry: entry[:2])
    assert entries_of(done) == expected
    assert done.sorted() is done


def test_sortedness_looks_at_each_row_alone(put):
    assert CSR((4, 5), put([0, 0, 2, 2, 4]), put([3, 4, 0, 1])).is_canonical()
    assert CSR((2, 5), put([0, 2, 2]), put([3, 3])).is_sorted()
    assert not CSR((2, 5), put([0, 2, 2]), put([3, 3])).is_canonical()
    assert not CSR((3, 5), put([0, 0, 1, 3]), put([0, 4, 3])).is_sorted()
    # Longer than a tile of the GPU's kernels, with the fall at its border.
    indices = np.arange(9000) % 8999
    assert not CSR((1, 9000), put([0, 9000]), put(indices)).is_sorted()
    assert CSR((2, 9000), put([0, 8999, 9000]), put(indices)).is_canonical()


@pytest.mark.parametrize("dtype", [None, "float32", "float64", "int64", "bool"])
def test_is_symmetric(put, dtype):
    row, col, data = triplets(8, 40, 40, 300, dtype)
    both = np.concatenate((row, col)), np.concatenate((col, row))
    weights = None if data is None else np.concatenate((data, data))
    csr = CSR.from_coo(put(both[0]), put(both[1]), put(weights), (40, 40))
    assert csr.is_symmetric()
    assert not CSR.from_coo(put(row), put(col), put(data), (40, 40)).is_symmetric()
    if dtype is not None:
        lopsided = host(csr.data).copy()
        off = next(p for p, (i, j, _) in enumerate(entries_of(csr)) if i != j)
        lopsided[off] = not lopsided[off] if dtype == "bool" else lopsided[off] + 1
        assert not csr.with_data(put(lopsided)).is_symmetric()


def test_is_symmetric_where_degrees_agree_and_arcs_do_not(put):
    assert not CSR.from_coo(put([0, 1, 2]), put([1, 2, 0]), None, (3, 3)).is_symmetric()


def test_is_symmetric_in_any_order_with_nan_zeros_and_duplicates(put):
    indptr, indices = [0, 3, 5], [1, 0, 1, 0, 0]
    assert CSR((2, 2), put(indptr), put(indices), put([1.0, np.nan, 2.0, 2.0, 1.0])).is_symmetric()
    assert CSR((2, 2), put(indptr), put(indices), put([0.0, 5.0, 2.0, 2.0, -0.0])).is_symmetric()
    assert not CSR((2, 2), put(indptr), put(indices), put([1.0, np.nan, 2.0, 2.0, 3.0])).is_symmetric()
    assert CSR((2, 2), put(indptr), put(indices)).is_symmetric()
    assert not CSR((2, 3), put(indptr), put(indices)).is_symmetric()
    assert CSR((0, 0), put([0]), put([])).is_symmetric()


@pytest.mark.parametrize("dtype", [None, "float32", "uint16"])
def test_without_diagonal(put, dtype):
    row, col, data = triplets(2, 30, 40, 500, dtype)
    csr = CSR.from_coo(put(row), put(col), put(data), (30, 40))
    left = csr.without_diagonal()
    assert entries_of(left) == [entry for entry in entries_of(csr) if entry[0] != entry[1]]
    assert left.nnz < csr.nnz
    assert left.without_diagonal() is left
    assert entries_of(CSR((2, 2), put([0, 1, 2]), put([0, 1])).without_diagonal()) == []


@pytest.mark.parametrize("dtype", [None, "float64", "int8"])
def test_permute(put, sorting, dtype):
    row, col, data = triplets(4, 50, 50, 300, dtype)
    csr = CSR.from_coo(put(row), put(col), put(data), (50, 50))
    order = np.random.default_rng(1).permutation(50)
    done = csr.permute(put(order))
    assert (done.to("cpu").to_scipy().toarray() == csr.to("cpu").to_scipy().toarray()[np.ix_(order, order)]).all()
    assert done.is_canonical()
    assert entries_of(done.permute(put(np.argsort(order)))) == entries_of(csr)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 2, 2]])
def test_permute_refuses_what_is_no_permutation(put, order):
    with pytest.raises(ValueError, match=r"order must hold each of 0\.\.2 once"):
        CSR((3, 3), put([0, 1, 1, 1]), put([2])).permute(put(order))
    raises(ValueError, "square", CSR((3, 4), put([0, 1, 1, 1]), put([2])).permute, put([0, 1, 2]))


def test_expand_rows_and_degrees(put):
    csr = CSR((5, 2), put([0, 0, 2, 2, 3, 3]), put([0, 1, 1]))
    assert host(csr.expand_rows()).tolist() == [1, 1, 3]
    assert csr.expand_rows().dtype == csr.indices.dtype
    assert host(csr.degrees).tolist() == [0, 2, 0, 1, 0]


def test_a_hub_and_empty_rows(put, sorting):
    hub = np.arange(9001)
    row = np.concatenate((np.full(9001, 4), np.array([9000, 4])))
    col = np.concatenate((hub[::-1], np.array([4, 17])))
    csr = CSR.from_coo(put(row), put(col), None, (9001, 9001))
    assert csr.nnz == 9002
    assert host(csr.degrees)[4] == 9001
    turned = csr.transpose()
    assert host(turned.degrees)[4] == 2
    assert host(turned.degrees).sum() == 9002
    assert entries_of(turned.transpose()) == entries_of(csr)


def test_wide_ids_stay_wide(put, sorting):
    row, col, data = triplets(9, 20, 20, 90, "float32")
    indptr = np.concatenate(([0], np.bincount(row, minlength=20).cumsum()))
    col = col[np.argsort(row, kind="stable")]
    csr = CSR((20, 20), put(indptr), put(col.astype(np.int64)), put(data))
    narrow = CSR((20, 20), put(indptr), put(col.astype(np.int32)), put(data))
    assert csr.indices.dtype == np.int64
    for done, same in (
        (csr.transpose(), narrow.transpose()),
        (csr.sorted(), narrow.sorted()),
        (csr.without_diagonal(), narrow.without_diagonal()),
        (csr.permute(put(np.arange(20)[::-1])), narrow.permute(put(np.arange(20)[::-1]))),
        (HYB.from_csr(csr, 2).to_csr(), narrow),
    ):
        assert done.indices.dtype == np.int64
        assert entries_of(done) == entries_of(same)
    assert csr.to("cpu").to_scipy().indices.dtype == np.int64


def test_sizes_and_types(put, device):
    csr = CSR((2, 3), put([0, 2, 3]), put(np.array([0, 2, 1], dtype=np.int32)), put(np.ones(3, dtype=np.float32)))
    assert csr.nbytes == 3 * 8 + 3 * 4 + 3 * 4
    assert (csr.padding_ratio, csr.nnz, csr.dtype, csr.device) == (1.0, 3, np.float32, device)
    assert csr.with_data(None).dtype is None
    assert csr.with_data(None).astype(np.int8).dtype == np.int8
    assert csr.astype(np.float32) is csr
    assert csr.with_data(None).to("cpu").to_scipy().dtype == np.float64
    assert repr(csr) == f"<CSR 2x3, 3 entries, float32, {device}, 48 bytes>"
    assert csr.to(device) is csr


def test_it_is_frozen_and_pickles():
    csr = CSR((2, 3), [0, 2, 3], [0, 2, 1])
    with pytest.raises(AttributeError):
        csr.indices = np.zeros(3)
    with pytest.raises((AttributeError, TypeError)):
        csr.colour = "red"
    assert entries_of(pickle.loads(pickle.dumps(csr))) == entries_of(csr)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_scipy_matrix_survives(data):
    rows, columns = data.draw(st.integers(0, 6)), data.draw(st.integers(0, 6))
    places = st.tuples(st.integers(0, max(rows - 1, 0)), st.integers(0, max(columns - 1, 0)))
    entries = data.draw(st.lists(places, max_size=12 if rows and columns else 0))
    values = data.draw(
        st.lists(st.floats(allow_nan=True, width=32), min_size=len(entries), max_size=len(entries), unique=True)
    )
    row, col = [place[0] for place in entries], [place[1] for place in entries]
    matrix = sp.coo_array((np.array(values, dtype=np.float64), (row, col)), shape=(rows, columns))
    expected = matrix.toarray()
    csr = CSR.from_scipy(matrix)
    np.testing.assert_array_equal(csr.to_scipy().toarray(), expected)
    np.testing.assert_array_equal(csr.transpose().to_scipy().toarray(), expected.T)
    np.testing.assert_array_equal(HYB.from_csr(csr).to_scipy().toarray(), expected)
    assert csr.nnz == len(set(entries))
    assert csr.is_symmetric() == (
        rows == columns and set(entries) == {(j, i) for i, j in entries} and np.array_equal(expected, expected.T, True)
    )
