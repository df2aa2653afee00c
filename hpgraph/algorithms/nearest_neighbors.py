"""Nearest neighbours of points: exact, by tiles of matrix products or by a k-d tree; or by pynndescent."""

from typing import Any

import numpy as np

from hpgraph.algorithms.vertex_values import as_array
from hpgraph.core.config import config
from hpgraph.core.device import Array, array_module, device_of, everywhere, normalize_device, to_device
from hpgraph.core.errors import optional
from hpgraph.core.number import one_of, whole
from hpgraph.core.suggestions import naming_arguments
from hpgraph.kernels.backend import nearest

# Up to this many dimensions a k-d tree visits few of the points.
_TREE = 8
# Elements of a block of differences; on the CPU they fit its caches.
_BLOCK = {"cpu": 1 << 18, "cuda": 1 << 22}
_METRICS = ("euclidean", "cosine", "correlation")
# Bits by which sums of squares may exceed the largest square.
_MARGIN = 16
_METHODS = ("auto", "tiles", "kdtree", "pynndescent")


@naming_arguments
def nearest_neighbors(
    X: Any, k: int = 15, metric: str = "euclidean", *, method: str = "auto", device: str | None = None, seed: int = 0
) -> tuple[Array, Array]:
    """The k nearest neighbours of each point, excluding itself.

    Parameters
    ----------
    X : array of shape (n, d)
        The points, as numbers; in float32 if they are, else in float64.
    k : int
        Number of neighbours. UMAP and scanpy count the point itself: their ``n_neighbors`` is k + 1.
    metric : str
        "euclidean", "cosine" (1 less the cosine of the angle) or "correlation" (the same of points less their means).
    method : str
        "tiles" compares all pairs, "kdtree" is SciPy's k-d tree (CPU, euclidean). "auto" is the tree up to 8 dimensions
        on the CPU, else tiles; both are exact, up to rounding. "pynndescent", a package of its own, is approximate and
        runs on the CPU.
    device : str, optional
        Device of the search; by default that of `X`.
    seed : int
        For "pynndescent".

    Returns
    -------
    indices : int64 array of shape (n, k)
        The nearest first; ties go to the lower index.
    distances : float64 array of shape (n, k)

    Raises
    ------
    ValueError
        If there are fewer than k other points, or values are not finite.

    Notes
    -----
    Other indices (faiss, hnswlib, cuVS, a database) give arrays that `hpgraph.from_knn` takes.

    References
    ----------
    V. Garcia, E. Debreuve, M. Barlaud, "Fast k nearest neighbor search using GPU", CVPR Workshops 2008.

    Examples
    --------
    >>> indices, distances = hpg.nearest_neighbors([[0.0], [1.0], [3.0]], k=1)
    >>> indices.tolist(), distances.tolist()
    ([[1], [0], [1]], [[1.0], [1.0], [2.0]])
    """
    points, k = _points(X, device), whole(k, "k")
    n, device = len(points), device_of(points)
    if not 1 <= k < max(n, 2):
        raise ValueError(f"k must be between 1 and the {max(n - 1, 0)} other points, not {k}")
    if metric not in _METRICS:
        raise ValueError(
            f"metric must be one of {', '.join(_METRICS)}, not {metric!r}: hpgraph.from_knn takes neighbours "
            "that another library found by others"
        )
    one_of(method, "method", _METHODS)
    if device == "cuda" and method not in ("auto", "tiles"):
        raise ValueError(f'method={method!r} runs only on the CPU: give device="cpu", or method="tiles"')
    if method == "kdtree" and metric != "euclidean":
        raise ValueError(f'method="kdtree" has metric="euclidean" alone, not {metric!r}')
    if method == "auto":
        in_tree = device == "cpu" and metric == "euclidean" and points.shape[1] <= _TREE
        method = "kdtree" if in_tree else "tiles"
    points, exponent = _scaled(points, metric)
    if method == "tiles":
        indices = nearest(device).search(points, k)
    else:
        indices = (_by_tree if method == "kdtree" else _by_descent)(points, k, seed)
    indices, distances = _in_order(points, indices, metric)
    return indices, array_module(distances).ldexp(distances, exponent) if exponent else distances


def _points(X: Any, device: str | None) -> Any:
    points = as_array(X, "X")
    if points.ndim != 2 or not points.shape[1] or points.dtype.kind not in "biuf":
        raise ValueError(f"X must be numbers of shape (points, dimensions), not {points.dtype} of shape {points.shape}")
    points = to_device(points, device_of(points) if device is None else normalize_device(device))
    points = points.astype(np.float32 if points.dtype == np.float32 else np.float64, copy=False)
    if not everywhere(array_module(points).isfinite(points)):
        raise ValueError("X must be finite, and there is NaN or infinity")
    return points


def _scaled(points: Any, metric: str) -> tuple[Any, int]:
    """Points whose Euclidean distances have the order of the given metric, and the binary exponent of their unit."""
    xp, exponent = array_module(points), 0
    # By powers of two, so that squares neither overflow nor vanish.
    if metric == "euclidean":
        largest = int(xp.frexp(xp.abs(points).max())[1])
        if abs(largest) > np.finfo(points.dtype).maxexp // 2 - _MARGIN:
            points, exponent = xp.ldexp(points, -largest), largest
        # Centred, so that products are no larger than squared distances.
        return xp.ascontiguousarray(points - points.mean(axis=0, dtype=np.float64).astype(points.dtype)), exponent
    points = xp.ldexp(points, -xp.frexp(xp.abs(points).max(axis=1, keepdims=True))[1])
    if metric == "correlation":
        points = points - points.mean(axis=1, keepdims=True)
    length = xp.sqrt((points * points).sum(axis=1, keepdims=True))
    return xp.ascontiguousarray(points / xp.where(length > 0, length, 1)), exponent


def _by_tree(points: Any, k: int, seed: int) -> Any:
    from scipy.spatial import KDTree

    return _others(KDTree(points).query(points, k + 1, workers=config.threads or -1)[1])


def _by_descent(points: Any, k: int, seed: int) -> Any:
    pynndescent = optional("pynndescent", "neighbors", 'method="pynndescent"')
    return _others(pynndescent.NNDescent(points, n_neighbors=k + 1, random_state=seed).neighbor_graph[0])


def _others(found: Any) -> Any:
    """Rows without the point itself, or without the last entry if duplicates displaced the point."""
    n = len(found)
    is_self = found == np.arange(n)[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    return found[~is_self].reshape(n, -1).astype(np.int64)


def _in_order(points: Any, indices: Any, metric: str) -> tuple[Any, Any]:
    """Neighbours by distance, computed anew from differences, and by index; in blocks of rows."""
    xp, (n, k) = array_module(points), indices.shape
    distances = xp.empty((n, k))
    block = max(1, _BLOCK[device_of(points)] // max(1, k * points.shape[1]))
    for begin in range(0, n, block):
        near = xp.sort(indices[begin : begin + block], axis=1)
        gap = points[near].astype(np.float64, copy=False)
        gap -= points[begin : begin + block, None]
        # CuPy's einsum would be a product of matrices for each pair of points.
        squares = np.einsum("ijk,ijk->ij", gap, gap) if xp is np else (gap * gap).sum(axis=2)
        order = xp.argsort(squares, axis=1, kind="stable")
        indices[begin : begin + block] = xp.take_along_axis(near, order, axis=1)
        squares = xp.take_along_axis(squares, order, axis=1)
        distances[begin : begin + block] = xp.sqrt(squares) if metric == "euclidean" else squares / 2
    return indices, distances
