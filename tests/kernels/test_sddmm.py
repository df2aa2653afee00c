"""SDDMM, what graph attention computes at entries, and the entries that extremes come from, against NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from arrays import host, put

from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels


def hub(ids: type) -> CSR:
    """A row of 5,000 entries among short and empty ones; rows need not be sorted, and hold columns twice."""
    rng = np.random.default_rng(1)
    degree = np.zeros(3000, np.int64)
    degree[::3] = rng.integers(0, 9, 1000)
    degree[1501] = 5000
    indptr = np.concatenate([[0], np.cumsum(degree)])
    return CSR((3000, 400), indptr, rng.integers(0, 400, indptr[-1]).astype(ids))


@pytest.mark.parametrize("ids", [np.int32, np.int64])
@pytest.mark.parametrize(("dtype", "heads", "columns"), [(np.float32, 1, 64), (np.float32, 3, 5), (np.float64, 1, 2)])
def test_dot_products_at_entries(device, ids, dtype, heads, columns):
    csr, rng = hub(ids), np.random.default_rng(2)
    x, y = (rng.integers(-9, 9, (n, heads, columns)).astype(dtype) for n in csr.shape)
    out = put(device, np.full((csr.nnz, heads), 77, dtype))
    kernels(device).sample_dense(csr.to(device), put(device, x), put(device, y), out)
    np.testing.assert_array_equal(host(out), (x[csr.expand_rows()] * y[csr.indices]).sum(-1))


@pytest.mark.parametrize(("dtype", "heads"), [(np.float32, 1), (np.float32, 4), (np.float64, 3), (np.float64, 40)])
def test_attention(device, dtype, heads):
    csr, rng = hub(np.int32), np.random.default_rng(4)
    row, there = csr.expand_rows(), csr.to(device)
    x, y = (rng.integers(-9, 9, (n, heads)).astype(dtype) for n in csr.shape)
    out = put(device, np.full((csr.nnz, heads), 77, dtype))
    kernels(device).sample_sums(there, put(device, x), put(device, y), out)
    scores = x[row] + y[csr.indices]
    np.testing.assert_array_equal(host(out), scores)
    # Much below the others, so that it counts for nothing; the entries of some rows begin with it.
    scores[::7] = -np.inf
    scores[np.isin(row, np.unique(row)[::50])] = 1000
    kernels(device).row_softmax(there, put(device, scores), out)
    most, total = np.full((csr.shape[0], heads), -np.inf), np.zeros((csr.shape[0], heads))
    np.maximum.at(most, row, scores)
    with np.errstate(invalid="ignore"):
        power = np.exp(scores - most[row], where=most[row] > -np.inf, out=np.full(scores.shape, np.nan))
    np.add.at(total, row, power)
    softmax = (power / total[row]).astype(dtype)
    np.testing.assert_allclose(host(out), softmax, rtol=1e-4 if dtype is np.float32 else 1e-12)
    softmax, gradient = np.nan_to_num(softmax), rng.random(softmax.shape).astype(dtype)
    kernels(device).softmax_derivative(there, put(device, softmax), put(device, gradient), out)
    total[:] = 0
    np.add.at(total, row, softmax.astype(np.float64) * gradient)
    expected = softmax * (gradient - total[row])
    np.testing.assert_allclose(host(out), expected, rtol=1e-4, atol=1e-6 if dtype is np.float32 else 1e-14)


@pytest.mark.parametrize("pattern", [False, True])
def test_first_entry_of_the_extreme(device, pattern):
    csr, rng = hub(np.int32), np.random.default_rng(3)
    x = rng.integers(-9, 9, (400, 3)).astype(np.float32)
    csr = csr if pattern else csr.with_data(rng.integers(1, 5, csr.nnz).astype(np.float32))
    sent = x[csr.indices] * (1 if pattern else csr.data[:, None])
    extreme, expected = np.zeros((csr.shape[0], 3), np.float32), np.full((csr.shape[0], 3), -1)
    for v, (begin, end) in enumerate(zip(csr.indptr[:-1], csr.indptr[1:], strict=True)):
        if begin < end:
            expected[v] = begin + sent[begin:end].argmax(axis=0)
            extreme[v] = sent[begin:end].max(axis=0)
    first = put(device, np.full(extreme.shape, 77))
    kernels(device).extreme_entries(csr.to(device), put(device, x), put(device, extreme), first)
    np.testing.assert_array_equal(host(first), expected)


def test_without_entries(device):
    csr = CSR.from_scipy(sp.csr_array((3, 2))).to(device)
    out = put(device, np.empty((0, 1), np.float32))
    kernels(device).sample_dense(
        csr, put(device, np.ones((3, 1, 4), np.float32)), put(device, np.ones((2, 1, 4), np.float32)), out
    )
    first = put(device, np.zeros((3, 2), np.int64))
    kernels(device).extreme_entries(csr.pattern, put(device, np.ones((2, 2))), put(device, np.ones((3, 2))), first)
    assert (host(first) == -1).all()
