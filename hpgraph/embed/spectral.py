"""Spectral embedding: eigenvectors of the normalized Laplacian."""

import math
from typing import Any

import numpy as np

from hpgraph.algorithms.adjacency_operator import inverse
from hpgraph.algorithms.spectral_clustering import laplacian_parts, smooth_coordinates
from hpgraph.containers.graph import Graph, naming_arguments, real, whole
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import Array, array_module
from hpgraph.embed.factorization import checked

# Tolerance of eigenvalues; float32 vectors are not more precise.
_TOLERANCE = 1e-4


@naming_arguments
def spectral(G: Graph | Any, dim: int = 32, *, regularization: float = 0.0, weight: Any = True, seed: int = 0) -> Array:
    """Spectral embedding (Laplacian eigenmaps), as scikit-learn's ``spectral_embedding``.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one an arc and its reverse are summed.
    dim : int
        Dimension of the embedding, less than the number of vertices.
    regularization : float
        Increase of each vertex's degree by a uniform edge to all others. Above 0, the first coordinates no longer
        separate small parts with few or no edges to the rest.
    weight : None, bool or str
        Value of an edge: 1 for None, its weight for True. A string names the attribute of a NetworkX graph, and
        "weight" means True otherwise.
    seed : int
        Random seed of the start vector of Lanczos's method.

    Returns
    -------
    float32 array of shape (n, dim)
        On the graph's device: eigenvectors of ``I - D^-1 A`` without the first, which is constant; of the least
        eigenvalues first. The sign of each is such that its largest entry is positive.

    Raises
    ------
    ValueError, TypeError
        When an argument does not fit, or weights are negative or not finite.

    Notes
    -----
    Computed by SciPy's or CuPy's `eigsh` with hpgraph's products; for small graphs by LAPACK or cuSOLVER, as for
    `hpgraph.spectral_clustering`. Loops are ignored. In a disconnected graph the first coordinates separate the
    components.

    References
    ----------
    M. Belkin, P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and data representation", Neural Computation
    15 (2003). Y. Zhang, K. Rohe, "Understanding regularized spectral clustering via graph conductance", NeurIPS 2018.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> (hpg.embed.spectral(G, 1)[:, 0] > 0).tolist() in ([True] * 3 + [False] * 3, [False] * 3 + [True] * 3)
    True
    """
    graph, weighted, dim = checked(G, weight, dim, 8)
    more = real(regularization, "regularization", least=0, below=math.inf)
    n, xp = graph.n_vertices, array_module(graph.device)
    if n == 0:
        return xp.zeros((0, dim), np.float32)
    if dim >= n:
        raise ValueError(f"dim must be below the number of vertices, {n}, not {dim}")
    parts, start = laplacian_parts(graph, weighted), whole(seed, "seed") % 2**62
    vectors = smooth_coordinates(parts, dim, normalized=True, seed=start, tol=_TOLERANCE, uniform_degree=more)
    degree = sum(matrix_of_csr(part.without_diagonal()) @ xp.ones(n) for part in parts) + more
    return (vectors * xp.sqrt(inverse(degree))[:, None]).astype(np.float32)
