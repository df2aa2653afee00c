"""Communities from the eigenvectors of a graph."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from hpgraph.algorithms.adjacency_operator import inverse
from hpgraph.algorithms.communities import Communities, by_smallest, checked, found
from hpgraph.containers.graph import Graph, naming_arguments, whole
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import array_module, check_memory, everywhere, to_device
from hpgraph.core.number import generator
from hpgraph.formats import CSR, occurrences
from hpgraph.semiring.counter_random import uniform

# Maximum number of Lloyd's steps, and number of restarts.
_STEPS, _STARTS = 100, 10


@naming_arguments
def spectral_clustering(G: Graph | Any, n_clusters: int = 8, weight: Any = "weight", seed: int = 0) -> Communities:
    """Spectral clustering: k-means of the vertices' coordinates in eigenvectors of the normalized Laplacian.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and their weights add up.
    n_clusters : int
        Number of communities.
    weight : None, bool or str
        As for `hpgraph.louvain`.
    seed : int
        Random seed; the same seed gives the same communities.

    Returns
    -------
    Communities
        Never more than `n_clusters`; its `modularity` is at resolution 1.

    Notes
    -----
    The eigenvectors are those of the least eigenvalues of ``I - D^-1/2 A D^-1/2``; loops do not count. Rows are scaled
    to length 1, and k-means takes the best of 10 starts by k-means++. Names and defaults are those of scikit-learn's
    SpectralClustering, affinity="precomputed". Memory: about 24 numbers for each vertex and each of up to 8
    communities.

    References
    ----------
    A. Y. Ng, M. I. Jordan, Y. Weiss, "On spectral clustering: analysis and an algorithm", NIPS 2001. D. Arthur,
    S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA'07.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> hpg.spectral_clustering(G, 2).communities()
    [{0, 1, 2}, {3, 4, 5}]
    """
    graph, level, _ = checked(G, weight, 1.0)
    n, k = graph.n_vertices, whole(n_clusters, "n_clusters")
    if not 1 <= k <= max(n, 1):
        raise ValueError(f"n_clusters must be between 1 and the {n} vertices, not {n_clusters!r}")
    if n == 0:
        return found(graph, level, [], 1.0)
    rng = generator(whole(seed, "seed"))
    xp = array_module(graph.device)
    arcs = level.arcs if level.arcs.data is None else level.arcs.astype(np.float64)
    points = smoothest([arcs], k, normalized=True, seed=int(rng.integers(2**62)))
    length = xp.sqrt((points * points).sum(axis=1))
    # Vertices without an edge are at the origin.
    points /= xp.where(length > 0, length, 1)[:, None]
    label = _k_means(points, k, rng).astype(graph.id_dtype)
    return found(graph, level, [by_smallest(graph.device, label)], 1.0)


def _k_means(points: Any, k: int, rng: np.random.Generator) -> Any:
    """The communities of k-means: the number of the nearest center of each point."""
    xp = array_module(points)
    best, min_cost = None, np.inf
    squares = (points * points).sum(axis=1)
    for _ in range(_STARTS):
        centers = _initial_centers(points, k, rng)
        label = None
        for _ in range(_STEPS):
            distance = squares[:, None] - 2 * (points @ centers.T) + (centers * centers).sum(axis=1)
            before, label = label, distance.argmin(axis=1)
            if before is not None and everywhere(before == label):
                break
            count = occurrences(label, k)
            sums = xp.stack([occurrences(label, k, points[:, d]) for d in range(points.shape[1])], axis=1)
            centers = xp.where((count > 0)[:, None], sums / xp.maximum(count, 1)[:, None], centers)
        cost = float(distance.min(axis=1).sum())
        if cost < min_cost:
            best, min_cost = label, cost
    return best


def _initial_centers(points: Any, k: int, rng: np.random.Generator) -> Any:
    """Initial centers, drawn with probability proportional to the squared distance from earlier ones (k-means++)."""
    xp, n = array_module(points), len(points)
    centers = [points[int(rng.integers(n))]]
    nearest = ((points - centers[0]) ** 2).sum(axis=1)
    while len(centers) < k:
        ends = xp.cumsum(nearest)
        total = float(ends[-1])
        drawn = xp.asarray([rng.random() * total])
        at = int(xp.searchsorted(ends, drawn)[0]) if total > 0 else int(rng.integers(n))
        centers.append(points[min(at, n - 1)])
        nearest = xp.minimum(nearest, ((points - centers[-1]) ** 2).sum(axis=1))
    return xp.stack(centers)


# Below these sizes all eigenvectors are computed. On the CPU that takes 0.7 ms for 100 vertices, 2 to 4 for 200, 10 to
# 15 for 400, where Lanczos's method takes 1 to 4, 1 to 9 and 1 to 24: most for paths, least for graphs of small
# diameter.
_DENSE = {"cpu": 200, "cuda": 500}
# Tolerance of eigenvalues, stricter than layouts and k-means need.
_TOLERANCE = 1e-8


def laplacian_parts(graph: Graph, weighted: bool) -> list[CSR]:
    """The arcs whose sum is symmetric, those of a directed graph in both directions, in float64 where by weight."""
    parts = [graph.out_csr, graph.in_csr] if graph.directed else [graph.out_csr]
    if not weighted:
        return [part.pattern for part in parts]
    parts = [part.astype(np.float64) for part in parts]
    largest = float(parts[0].data.max()) if parts[0].nnz else 0.0
    # The comparison is false for NaN.
    if not everywhere(parts[0].data >= 0) or 4.0 * parts[0].nnz * largest == np.inf:
        raise ValueError("weight: the Laplacian takes weights from 0 on whose sum is finite; or weight=None")
    return parts


def smooth_coordinates(arcs: Sequence[CSR], dim: int, **options: Any) -> Any:
    """The `smoothest` vectors but the first, the largest entry of each made positive, as signs are arbitrary."""
    vectors = smoothest(arcs, dim + 1, **options)[:, 1:]
    largest = vectors[abs(vectors).argmax(axis=0), array_module(vectors).arange(dim)]
    return vectors * array_module(vectors).sign(largest)


def smoothest(
    arcs: Sequence[CSR], k: int, *, normalized: bool, seed: int, tol: float = _TOLERANCE, uniform_degree: float = 0.0
) -> Any:
    """Eigenvectors of the least eigenvalues of a Laplacian, the least first.

    Below 200 vertices on the CPU, and 500 on the GPU, by LAPACK or cuSOLVER; else by Lanczos's method (SciPy's or
    CuPy's ``eigsh``), which multiplies by our matrices.

    The sum of `arcs` is symmetric, with float64 weights or none where all are 1; loops do not count. The Laplacian is
    ``I - D^-1/2 A D^-1/2`` if `normalized`, else ``D - A``; to A an edge between all pairs is added, loops included, by
    which each vertex's degree grows by `uniform_degree`. Returns an array of shape (n, k) on the arcs' device.
    """
    n, device = arcs[0].shape[0], arcs[0].device
    xp = array_module(device)
    check_memory(8 * n * (3 * k + 20), f"{k} eigenvectors of {n} numbers", device)
    matrices = [matrix_of_csr(part.without_diagonal()) for part in arcs]
    degree = sum(A @ xp.ones(n) for A in matrices) + uniform_degree
    # The smallest eigenvalues of L are the largest of c I − L, where the bound c is 2, or twice the largest degree.
    if normalized:
        share = xp.sqrt(inverse(degree))
        kept = xp.ones(n)
    else:
        share, kept = xp.ones(n), 2 * degree.max() - degree
    if n < _DENSE[device] or n <= 2 * k + 1:
        dense = (sum(A.toarray().astype(np.float64) for A in matrices) + uniform_degree / n) * share[:, None] * share
        return xp.linalg.eigh(dense + xp.diag(kept))[1][:, ::-1][:, :k].copy()

    def product(x: Any) -> Any:
        x = x.reshape(-1)
        sent = share * x
        moved = matrices[0] @ sent
        for A in matrices[1:]:
            moved += A @ sent
        if uniform_degree:
            moved += uniform_degree / n * sent.sum()
        moved *= share
        moved += x if normalized else kept * x
        return moved

    linalg = importlib.import_module("scipy.sparse.linalg" if device == "cpu" else "cupyx.scipy.sparse.linalg")
    operator = linalg.LinearOperator((n, n), matvec=product, dtype=np.float64)
    start = to_device(uniform(seed, np.arange(n)) + 0.5, device)
    values, vectors = linalg.eigsh(operator, k=k, which="LA", v0=start, tol=tol)
    return vectors[:, (-values).argsort()]
