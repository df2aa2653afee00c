"""SELL: round trips, the order of its rows, its padding, and what it refuses."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from arrays import host
from raising import raises
from reference_formats import entries_of

import hpgraph as hpg
from hpgraph.formats import CSR, SELL
from hpgraph.formats.sell import slots_of


def random_csr(put, rows, dtype, seed=0):
    """Rows of very different lengths, some empty."""
    rng = np.random.default_rng(seed)
    degrees = np.minimum(rng.zipf(1.5, rows) - 1, 300)
    indices = np.concatenate([np.sort(rng.choice(400, d, replace=False)) for d in degrees])
    data = None if dtype is None else put(rng.integers(0, 9, len(indices)).astype(dtype))
    return CSR((rows, 400), put(np.concatenate(([0], degrees.cumsum()))), put(indices.astype(np.int32)), data)


@pytest.mark.parametrize("dtype", [None, "bool", "float64"])
@pytest.mark.parametrize(("rows", "sigma"), [(0, None), (1, 32), (31, 32), (64, 64), (500, None), (500, 96)])
def test_round_trip(put, rows, sigma, dtype):
    csr = random_csr(put, rows, dtype) if rows else CSR((0, 3), put([0]), put(np.empty(0, np.int32)))
    sell = SELL.from_csr(csr, sigma)
    assert entries_of(sell.to_csr()) == entries_of(csr)
    assert (sell.nnz, sell.shape, sell.dtype, sell.device) == (csr.nnz, csr.shape, csr.dtype, csr.device)
    assert (host(sell.to_csr().indptr) == host(csr.indptr)).all()
    # What it says of itself passes the checks that a user's own would have to.
    SELL(sell.shape, sell.order, sell.slices, sell.indices, sell.data, sell.nnz)


def test_rows_are_sorted_by_buckets_within_windows(put):
    csr = random_csr(put, 500, None)
    sell = SELL.from_csr(csr, 128)
    lengths = np.diff(host(csr.indptr))[host(sell.order)]
    bucket = np.where(lengths > 0, np.ceil(np.log2(np.maximum(lengths, 1))).astype(int), -1)
    for begin in range(0, 500, 128):
        window = slice(begin, min(begin + 128, 500))
        order = host(sell.order)[window]
        assert sorted(order) == list(range(window.start, window.stop))
        assert (np.diff(bucket[window]) <= 0).all(), "the longest first"
        same = np.diff(bucket[window]) == 0
        assert (np.diff(order)[same] > 0).all(), "rows of a bucket keep their order"
    widths = np.diff(host(sell.slices)) // 32
    assert (widths == [lengths[i : i + 32].max() for i in range(0, 500, 32)]).all()
    assert sell.padding_ratio == 32 * widths.sum() / csr.nnz


def test_windows_grow_until_little_is_padding(put):
    """Every hundredth of the rows is long: in windows of 1,024 rows one slice of each would be nearly all padding."""
    degrees = np.full(40000, 2)
    degrees[::100] = 64
    indices = np.concatenate([np.arange(d, dtype=np.int32) for d in degrees])
    csr = CSR((40000, 64), put(np.concatenate(([0], degrees.cumsum()))), put(indices))
    small, chosen = SELL.from_csr(csr, 1024), SELL.from_csr(csr)
    assert small.padding_ratio > 1.25 > chosen.padding_ratio
    assert slots_of(csr) == len(chosen.indices)


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"order": [0, 0, 1]}, ValueError, "order must name each of the 3 rows once"),
        ({"order": [0, 1, 5]}, IndexError, "order"),
        ({"slices": [0, 40]}, ValueError, "slices must run from 0 to the number of entries"),
        ({"indices": [-1] * 32 + [2] + [-1] * 31}, ValueError, "indices has padding (-1) before an entry"),
        ({"indices": [0] * 4 + [-1] * 60}, IndexError, "indices has entries in places beyond the last of the 3 rows"),
        ({"data": [1.0]}, ValueError, "data must have one value for each index"),
        ({"nnz": 3}, ValueError, "nnz must be the number of slots that are not padding, 2, not 3"),
    ],
)
def test_what_does_not_fit(changes, error, says):
    right = {"order": [2, 0, 1], "slices": [0, 64], "indices": [0, 1] + [-1] * 62, "data": None, "nnz": -1}
    assert SELL((3, 3), **right).nnz == 2
    raises(error, re.escape(says), SELL, (3, 3), **right | changes)


@pytest.mark.parametrize("sigma", [0, -32, 33])
def test_sigma_is_a_multiple_of_32(sigma):
    with pytest.raises(ValueError, match=f"sigma must be a positive multiple of 32, not {sigma}"):
        SELL.from_csr(CSR((1, 1), [0, 1], [0]), sigma)


def test_a_matrix_in_slices(device):
    dense = sp.random_array((90, 70), density=0.1, rng=np.random.default_rng(1)).toarray()
    A = hpg.Matrix(dense, format="sell").to(device)
    x, y = np.random.default_rng(2).random((2, 90))
    put = hpg.core.device.to_device
    assert A.layout == "sell" and isinstance(A.rows, SELL) and isinstance(A.T.rows, SELL)
    assert np.allclose(host(A @ put(x[:70], device)), dense @ x[:70])
    assert np.allclose(host(A.T @ put(y, device)), dense.T @ y)
    X = np.random.default_rng(3).random((70, 4))
    assert np.allclose(host(A @ put(X, device)), dense @ X)
    assert A.explain().endswith('sell, as format="sell" asks')
    B = hpg.Matrix(A.sell)
    assert B.layout_if_built("sell") is A.sell and np.array_equal(host(B.toarray()), dense)
    assert hpg.Graph(SELL.from_csr(CSR((2, 2), [0, 1, 1], [1]))).n_edges == 1
    raises(ValueError, 'format must be "auto", "csr", "hyb" or "sell", not \'ell\'', hpg.Matrix, dense, format="ell")
