"""Nearest neighbours and their graphs, against SciPy's distances and umap-learn's formula written out."""

import math

import numpy as np
import pytest
from raising import raises
from scipy.spatial.distance import cdist

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device


def on(device, array):
    return to_device(np.asarray(array), device)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize(("n", "d", "k"), [(2, 1, 1), (700, 3, 5), (2500, 20, 40)])
def test_nearest(n, d, k, dtype, metric, device):
    rng = np.random.default_rng(n)
    X = rng.integers(-300, 300, (n, d)).astype(dtype) + dtype(7)
    if metric != "euclidean" and d < 2:
        d, X = 3, rng.integers(-300, 300, (n, 3)).astype(dtype)
    exact = cdist(X.astype(float), X.astype(float), metric)
    np.fill_diagonal(exact, np.inf)
    expected = np.sort(exact, axis=1)[:, :k]
    for method in ("auto", "tiles"):
        indices, distances = hpg.nearest_neighbors(on(device, X), k, metric, method=method)
        assert device_of(indices) == device_of(distances) == device
        indices, distances = to_device(indices, "cpu"), to_device(distances, "cpu")
        far = 1e-3 if dtype == np.float32 else 1e-9
        assert np.allclose(distances, expected, rtol=far, atol=far if metric == "euclidean" else far / 100)
        assert np.allclose(np.take_along_axis(exact, indices, 1), distances, rtol=1e-3, atol=1e-5)
        assert all(len(set(row)) == k for row in indices.tolist())


def test_duplicates_and_equals(device):
    """A point at the same place is a neighbour, the point itself is not; of equals those of lower index come first."""
    X = on(device, np.repeat(np.arange(5.0), 4)[:, None])
    for method in ("tiles", "auto"):
        indices, distances = hpg.nearest_neighbors(X, 3, method=method)
        assert not bool(distances.any())
        groups = to_device(indices, "cpu") // 4
        assert np.array_equal(groups, np.repeat(np.arange(5), 4)[:, None].repeat(3, axis=1))
    many = hpg.nearest_neighbors(on(device, np.zeros((30, 2))), 4, method="tiles")[0]
    assert to_device(many, "cpu")[[0, 9]].tolist() == [[1, 2, 3, 4], [0, 1, 2, 3]]


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
@pytest.mark.parametrize(("bits", "exponent"), [(32, 100), (32, -90), (64, 1015), (64, -800)])
def test_squares_that_would_overflow_or_vanish(bits, exponent, metric, device):
    X = np.random.default_rng(3).normal(size=(60, 5)).astype(f"f{bits // 8}")
    expected, lengths = hpg.nearest_neighbors(on(device, X), 4, metric)
    indices, distances = hpg.nearest_neighbors(on(device, np.ldexp(X, exponent)), 4, metric)
    lengths = to_device(lengths, "cpu") * (2.0**exponent if metric == "euclidean" else 1)
    assert np.array_equal(to_device(indices, "cpu"), to_device(expected, "cpu"))
    assert np.allclose(to_device(distances, "cpu"), lengths, rtol=1e-5, atol=0)


def test_an_index_that_is_approximate():
    pytest.importorskip("pynndescent")
    X = np.random.default_rng(1).normal(size=(800, 12)).astype(np.float32)
    exact, found = (hpg.nearest_neighbors(X, 10, method=method)[0] for method in ("tiles", "pynndescent"))
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(exact.tolist(), found.tolist(), strict=True)]) > 0.9


def umap_weights(distances):
    """umap-learn's smooth_knn_dist and compute_membership_strengths, for rows that begin with the point itself."""
    n, k = distances.shape
    strengths = np.zeros((n, k))
    for i, row in enumerate(distances):
        positive = row[row > 0]
        rho = positive[0] if len(positive) else 0.0
        low, high, mid = 0.0, math.inf, 1.0
        for _ in range(64):
            psum = sum(math.exp(-(d - rho) / mid) if d > rho else 1.0 for d in row[1:])
            if abs(psum - math.log2(k)) < 1e-5:
                break
            if psum > math.log2(k):
                high = mid
                mid = (low + high) / 2
            else:
                low = mid
                mid = mid * 2 if high == math.inf else (low + high) / 2
        mid = max(mid, 1e-3 * (row.mean() if rho > 0 else distances.mean()))
        strengths[i] = [1.0 if d <= rho or mid == 0 else math.exp(-(d - rho) / mid) for d in row]
    return strengths


@pytest.mark.parametrize("same", [0, 3])
def test_fuzzy_weights(same, device):
    """As umap-learn's formula has them, whether points are their own neighbours or not; some lie at one place."""
    X = np.random.default_rng(2).normal(size=(60, 4))
    X[:same] = X[0]
    indices, distances = hpg.nearest_neighbors(X, 7)
    with_self = np.hstack([np.arange(60)[:, None], indices]), np.hstack([np.zeros((60, 1)), distances])
    A = np.zeros((60, 60))
    np.put_along_axis(A, with_self[0], umap_weights(with_self[1]), axis=1)
    np.fill_diagonal(A, 0)
    expected = A + A.T - A * A.T
    for given in ((indices, distances), with_self):
        G = hpg.from_knn(*(on(device, one) for one in given))
        assert not G.directed and device_of(G.out_csr.indices) == device
        assert np.allclose(G.to("cpu").out_csr.to_scipy().toarray(), expected, rtol=1e-9, atol=1e-12)


def test_umap_agrees():
    umap_ = pytest.importorskip("umap.umap_")
    X = np.random.default_rng(3).normal(size=(300, 10)).astype(np.float32)
    indices, distances = hpg.nearest_neighbors(X, 14)
    own = np.arange(300)[:, None], np.zeros((300, 1))
    theirs, *_ = umap_.fuzzy_simplicial_set(
        X, 15, 0, "euclidean", knn_indices=np.hstack([own[0], indices]),
        knn_dists=np.hstack([own[1], distances]).astype(np.float32),
    )  # fmt: skip
    ours = hpg.from_knn(indices, distances).out_csr.to_scipy()
    assert abs(ours - theirs).max() < 1e-4


def test_other_weights(device):
    X = np.random.default_rng(4).normal(size=(50, 3))
    indices, distances = hpg.nearest_neighbors(X, 6)
    sets = [{i, *row} for i, row in enumerate(indices.tolist())]
    shared = np.zeros((50, 50))
    for i, row in enumerate(indices.tolist()):
        for j in row:
            shared[i, j] = shared[j, i] = len(sets[i] & sets[j]) / len(sets[i] | sets[j])
    given = on(device, indices), on(device, distances)
    dense = {w: hpg.from_knn(*given, w).to("cpu").out_csr.to_scipy().toarray() for w in ("snn", "distance")}
    assert np.allclose(dense["snn"], shared)
    expected = np.zeros((50, 50))
    np.put_along_axis(expected, indices, distances, axis=1)
    assert np.array_equal(dense["distance"], expected)
    plain = hpg.from_knn(given[0], weights=None)
    assert plain.directed and not plain.weighted and plain.n_edges == 300
    # Points that are missing, or the point itself, are no neighbours.
    few = hpg.from_knn(on(device, [[1, 0], [-1, 2], [2, 1]]), on(device, [[1.0, 0], [np.inf, 2], [0, 3]]), "distance")
    assert sorted(zip(*(end.tolist() for end in few.edges()[:2]), strict=True)) == [(0, 1), (1, 2), (2, 1)]


def test_planted_groups(device):
    rng = np.random.default_rng(5)
    planted = np.repeat(np.arange(4), 100)
    X = on(device, rng.normal(size=(400, 16)) + 6 * np.eye(16)[planted])
    G = hpg.knn_graph(X)
    assert G.device == device
    found = hpg.leiden(G, resolution=0.1)
    assert hpg.normalized_mutual_information(found, planted) == pytest.approx(1)
    with_names = hpg.from_knn([[1], [0]], [[1.0], [1.0]], names=["a", "b"])
    assert with_names.neighbors("a") == ["b"]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: hpg.nearest_neighbors([1.0, 2.0]), ValueError, "X must be numbers of shape"),
        (lambda: hpg.nearest_neighbors([[1.0], [np.nan]], 1), ValueError, "X must be finite"),
        (lambda: hpg.nearest_neighbors([[1.0], [2.0]], 2), ValueError, "k must be between 1 and the 1 other"),
        (lambda: hpg.nearest_neighbors([[1.0], [2.0]], 1, "chebyshev"), ValueError, "metric must be one of"),
        (lambda: hpg.nearest_neighbors([[1.0], [2.0]], 1, method="faiss"), ValueError, "method must be"),
        (lambda: hpg.nearest_neighbors([[1.0], [2.0]], 1, "cosine", method="kdtree"), ValueError, "kdtree"),
        (lambda: hpg.from_knn([[1], [0]]), ValueError, "distances: weights='fuzzy' needs them"),
        (lambda: hpg.from_knn([[1], [0]], [[1.0], [-1.0]]), ValueError, "distances must be numbers from 0"),
        (lambda: hpg.from_knn([[1], [2]], [[1.0], [1.0]]), IndexError, "indices must be points from 0 to 1"),
        (lambda: hpg.from_knn([[1], [0]], weights="gauss"), ValueError, "weights must be"),
        (lambda: hpg.from_knn([[1.5], [0]]), ValueError, "indices must be whole numbers"),
    ],
)
def test_complaints(call, error, match):
    raises(error, match, call)
