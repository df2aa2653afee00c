"""Graphs of nearest neighbours, weighted as UMAP weights them, by shared neighbours, or by distance."""

import importlib
from typing import Any

import numpy as np

from hpgraph.algorithms.nearest_neighbors import nearest_neighbors
from hpgraph.algorithms.vertex_values import as_array
from hpgraph.containers.graph import Graph, naming_arguments, one_of
from hpgraph.core.device import anywhere, array_module

_WEIGHTS = ("fuzzy", "snn", "distance", None)
# UMAP's: steps of the bisection and when it ends, and the least width as a share of the mean distance.
_STEPS, _TOLERANCE, _MIN_WIDTH = 64, 1e-5, 1e-3
# Neighbours compared at a time.
_BLOCK = 1 << 25


@naming_arguments
def knn_graph(
    X: Any,
    k: int = 15,
    metric: str = "euclidean",
    *,
    weights: str | None = "fuzzy",
    method: str = "auto",
    device: str | None = None,
    seed: int = 0,
) -> Graph:
    """The graph of the nearest neighbours of points: `nearest_neighbors`, then `from_knn`.

    Parameters
    ----------
    X, k, metric, method, device, seed
        As for `hpgraph.nearest_neighbors`.
    weights : str or None
        As for `hpgraph.from_knn`.

    Returns
    -------
    Graph
        On the device of the search.

    References
    ----------
    L. McInnes, J. Healy, J. Melville, "UMAP: uniform manifold approximation and projection for dimension reduction",
    arXiv:1802.03426 (2018).

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [9.0, 9.0], [9.0, 8.0], [8.0, 9.0]]
    >>> G = hpg.knn_graph(X, k=2)
    >>> hpg.leiden(G).communities()
    [{0, 1, 2}, {3, 4, 5}]
    """
    indices, distances = nearest_neighbors(X, k, metric, method=method, device=device, seed=seed)
    return from_knn(indices, distances, weights)


@naming_arguments
def from_knn(indices: Any, distances: Any = None, weights: str | None = "fuzzy", *, names: Any = None) -> Graph:
    """The graph of precomputed nearest neighbours.

    Parameters
    ----------
    indices : integer array of shape (n, k)
        The neighbours of each point, the nearest first; -1 for missing ones. A point as its own neighbour, as many
        indices return it, is ignored.
    distances : array of shape (n, k), optional
        Their distances, not negative; "fuzzy" and "distance" need them.
    weights : str or None
        "fuzzy": UMAP's membership strengths, 1 at the nearest neighbour and falling by a width for each point, as a
        union of both directions; "snn": the share of shared neighbours (Jaccard's, points being neighbours of
        themselves) of pairs of neighbours; both are undirected graphs. "distance": arcs to the neighbours, weighted by
        distance; None: without weights.
    names : sequence of n names, optional
        The names of the points.

    Returns
    -------
    Graph
        On the device of the arrays.

    Notes
    -----
    "fuzzy" is the formula of umap-learn and of scanpy's connectivities in float64, where theirs is float32, with local
    connectivity 1. Widths are solved for the number of neighbours plus 1, since theirs counts the point itself.

    References
    ----------
    L. McInnes, J. Healy, J. Melville, "UMAP: uniform manifold approximation and projection for dimension reduction",
    arXiv:1802.03426 (2018). R. A. Jarvis, E. A. Patrick, "Clustering using a similarity measure based on shared near
    neighbors", IEEE Trans. Computers C-22 (1973).

    Examples
    --------
    >>> G = hpg.from_knn([[1, 2], [0, 2], [1, 0]], [[1.0, 3.0], [1.0, 2.0], [2.0, 3.0]], weights="distance")
    >>> G.neighbors(2).tolist(), G.directed
    ([0, 1], True)
    """
    one_of(weights, "weights", _WEIGHTS)
    near = _integers(indices)
    xp, (n, k) = array_module(near), near.shape
    if distances is None and weights in ("fuzzy", "distance"):
        raise ValueError(f'distances: weights={weights!r} needs them; weights="snn" and None do not')
    far = None if distances is None else xp.asarray(as_array(distances, "distances"))
    if far is not None:
        if far.dtype.kind not in "biuf" or far.shape != (n, k) or anywhere(far < 0) or anywhere(xp.isnan(far)):
            raise ValueError(f"distances must be numbers from 0 on for each of the indices, of shape ({n}, {k})")
        far = far.astype(np.float64, copy=False)
    others = (near != xp.arange(n)[:, None]) & (near >= 0)
    if far is not None:
        others &= far < np.inf
    if weights == "fuzzy":
        values = _memberships(far, others)
    elif weights == "snn":
        values = _shared(near, others)
    else:
        values = xp.ones((n, k)) if weights is None else far
    row = xp.broadcast_to(xp.arange(n)[:, None], (n, k))[others]
    ends = row, near[others]
    if weights in ("distance", None):
        return Graph.from_edges(
            *ends, None if weights is None else values[others], n_vertices=n, directed=True, duplicates="min",
            names=names,
        )  # fmt: skip
    sparse = importlib.import_module("scipy.sparse" if xp is np else "cupyx.scipy.sparse")
    A = sparse.csr_matrix((values[others], ends), shape=(n, n))
    B = A.T.tocsr()
    A = A + B - A.multiply(B) if weights == "fuzzy" else A.maximum(B)
    A.eliminate_zeros()
    return Graph(A, directed=False, names=names)


def _integers(indices: Any) -> Any:
    near = as_array(indices, "indices")
    if near.ndim != 2 or near.dtype.kind not in "iu":
        raise ValueError(f"indices must be whole numbers of shape (n, k), not {near.dtype} of shape {near.shape}")
    near, n = near.astype(np.int64, copy=False), len(near)
    if near.size and (int(near.min()) < -1 or int(near.max()) >= n):
        raise IndexError(f"indices must be points from 0 to {n - 1}, or -1 for none")
    return near


def _memberships(far: Any, others: Any) -> Any:
    """UMAP's strengths ``exp(-(d - ρ) / σ)``; σ, by bisection, makes a row's sum the logarithm of its length."""
    xp = array_module(far)
    held = xp.where(others, far, 0.0)
    count = others.sum(axis=1)
    target = xp.log2(count + 1.0)
    closest = xp.where(others & (far > 0), far, np.inf).min(axis=1)
    closest = xp.where(xp.isfinite(closest), closest, 0.0)
    gap = xp.where(others, xp.maximum(held - closest[:, None], 0.0), np.inf)
    low, high, width = xp.zeros(len(far)), xp.full(len(far), np.inf), xp.ones(len(far))
    for _ in range(_STEPS):
        reached = xp.exp(-gap / width[:, None]).sum(axis=1)
        going = xp.abs(reached - target) >= _TOLERANCE
        if not anywhere(going):
            break
        above = reached > target
        high = xp.where(going & above, width, high)
        low = xp.where(going & ~above, width, low)
        middle = xp.where(xp.isinf(high), 2 * width, (low + high) / 2)
        width = xp.where(going, middle, width)
    # Means count the point itself, at distance 0.
    of_row = held.sum(axis=1) / (count + 1)
    overall = float(held.sum()) / max(int((count + 1).sum()), 1)
    width = xp.maximum(width, _MIN_WIDTH * xp.where(closest > 0, of_row, overall))
    return xp.exp(-gap / xp.where(width > 0, width, 1.0)[:, None])


def _shared(near: Any, others: Any) -> Any:
    """Jaccard's coefficient of the neighbours of each point and of each of its neighbours, themselves included."""
    xp, (n, k) = array_module(near), near.shape
    neighbours = xp.where(others, near, -1)
    sets = xp.concatenate([xp.arange(n)[:, None], neighbours], axis=1)
    size = 1 + others.sum(axis=1)
    values = xp.zeros((n, k))
    block = max(1, _BLOCK // max(1, k * (k + 1)))
    for begin in range(0, n, block):
        block_sets = sets[begin : begin + block]
        for j in range(k):
            at = xp.maximum(neighbours[begin : begin + block, j], 0)
            same = (block_sets[:, :, None] == sets[at][:, None, :]) & (block_sets >= 0)[:, :, None]
            both = same.sum(axis=(1, 2))
            values[begin : begin + block, j] = both / (size[begin : begin + block] + size[at] - both)
    return values
