"""Products with a dense matrix on every device, held against NumPy and SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from arrays import host, put

from hpgraph import config
from hpgraph.formats import CSR, HYB
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import Function, get_semiring


def run(device, matrix, X, semiring="plus_times", form="csr", out=None):
    csr = CSR.from_scipy(matrix)
    ring = get_semiring(semiring)
    rows = (HYB.from_csr(csr, width=2) if form == "hyb" else csr).to(device)
    dtype = ring.result_dtype(matrix.dtype, X.dtype)
    out = np.full((matrix.shape[0], X.shape[1]), 77, dtype) if out is None else out
    moved = put(device, out)
    gather = ring.gather(matrix.dtype, X.dtype, dtype)
    kernels(device).pull_dense(rows, gather, ring.add, (put(device, X),), moved)
    return host(moved)


@pytest.mark.parametrize(("columns", "pattern"), [(2, False), (5, True)])
def test_a_hub_among_many_short_rows(device, columns, pattern):
    """Row 0 in pieces, the others of one entry each; with values, and without."""
    n, hub = 5001, 5000
    entries = hub + n - 1
    indptr = np.concatenate([[0], hub + np.arange(n)])
    data = None if pattern else np.full(entries, 2, np.float32)
    rows = CSR((n, entries), indptr, np.arange(entries), data).to(device)
    X = np.random.default_rng(3).integers(1, 9, (entries, columns)).astype(np.float64)
    ring = get_semiring("plus_times")
    gather = ring.gather(np.dtype(bool) if pattern else data.dtype, X.dtype, X.dtype)
    out = put(device, np.full((n, columns), 77.0))
    kernels(device).pull_dense(rows, gather, ring.add, (put(device, X),), out)
    expected = np.concatenate([X[:hub].sum(axis=0, keepdims=True), X[hub:]])
    np.testing.assert_array_equal(host(out), expected if pattern else 2 * expected)


def test_entries_that_begin_anywhere(device):
    """Arrays that are parts of others, so that four entries do not lie on a boundary of four."""
    rng = np.random.default_rng(4)
    matrix = sp.random_array((50, 60), density=0.3, rng=rng, dtype=np.float32).tocsr()
    matrix.data[:] = rng.integers(1, 9, matrix.nnz)
    X = rng.integers(-9, 9, (60, 5)).astype(np.float32)
    indptr, indices, data = (put(device, matrix.indptr.astype(np.int64)),
                             put(device, np.concatenate([[0], matrix.indices]).astype(np.int32))[1:],
                             put(device, np.concatenate([[0], matrix.data]).astype(np.float32))[1:])  # fmt: skip
    rows = CSR(matrix.shape, indptr, indices, data, copy=False)
    gather, add = get_semiring("plus_times").gather(data.dtype, X.dtype, X.dtype), get_semiring("plus_times").add
    out = put(device, np.full((50, 5), 77, np.float32))
    kernels(device).pull_dense(rows, gather, add, (put(device, X),), out)
    np.testing.assert_array_equal(host(out), matrix.toarray() @ X)


@pytest.mark.parametrize("form", ["csr", "hyb"])
@pytest.mark.parametrize("columns", [3, 40])
def test_hub_and_several_threads(device, form, columns):
    rng = np.random.default_rng(2)
    matrix = sp.random_array((300, 20_000), density=0.002, rng=rng, dtype=np.float32).tolil()
    matrix[7, :] = 1
    matrix = matrix.tocsr()
    X = rng.random((20_000, columns)).astype(np.float32)
    results = []
    for threads in (1, 2):
        with config(threads=threads):
            results.append(run(device, matrix, X, form=form))
    np.testing.assert_array_equal(*results)
    np.testing.assert_allclose(results[0], matrix.astype(float) @ X, rtol=1e-4)


@pytest.mark.parametrize("semiring", ["min_plus", "any_secondi", "plus_pair"])
def test_other_semirings(device, semiring):
    rng = np.random.default_rng(3)
    matrix = sp.random_array((40, 30), density=0.15, rng=rng, dtype=np.float32).tocsr()
    X = rng.integers(-9, 9, (30, 3)).astype(np.float32)
    found = run(device, matrix, X, semiring)
    for v in range(40):
        row = slice(*matrix.indptr[v : v + 2])
        columns, weights = matrix.indices[row], matrix.data[row]
        for c in range(3):
            if semiring == "min_plus":
                assert found[v, c] == min(weights + X[columns, c], default=np.inf)
            elif semiring == "plus_pair":
                assert found[v, c] == len(columns)
            else:
                assert found[v, c] in (columns if len(columns) else [-1])


@pytest.mark.parametrize("device", ["cuda"], indirect=True)
def test_gather_of_no_semiring_is_refused(device):
    csr = CSR.from_scipy(sp.eye_array(4, dtype=np.float32)).to(device)
    X = put(device, np.ones((4, 2), np.float32))
    gather = Function(lambda state, source, weight, target: state[0][source])
    with pytest.raises(TypeError, match="semiring"):
        kernels(device).pull_dense(csr, gather, get_semiring("plus_times").add, (X,), X.copy())
