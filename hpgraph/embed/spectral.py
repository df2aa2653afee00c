"""Spectral embedding: eigenvectors of the normalized Laplacian."""

import math
from typing import Any

import numpy as np

from hpgraph.algorithms.adjacency_operator import inverse
from hpgraph.algorithms.spectral_clustering import laplacian_parts, smooth_coordinates
from hpgraph.containers.graph import Graph, naming_arguments, real, whole
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import Array, array_module
from hpgraph.embed.arguments import checked

# Tolerance of eigenvalues; float32 vectors are not more precise.
_TOLERANCE = 1e-4


@naming_arguments
def spectral(G: Graph | Any, dim: int = 32, *, regularization: float = 0.0, weight: Any = True, seed: int = 0) -> Array:
    """Embedding by the smoothest functions on the graph, as scikit-learn's ``spectral_embedding``.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one an arc and its reverse are added up.
    dim : int
        Coordinates; fewer than there are vertices.
    regularization : float
        What each vertex's degree grows by, from an edge that joins all pairs alike. Above 0 the first coordinates no
        longer single out small parts that few edges, or none, join to the rest.
    weight : None, bool or str
        What an edge counts: True the weight that the graph holds, None 1. A string names the attribute where `G` is a
        NetworkX graph, and "weight" means True elsewhere.
    seed : int
        Of the vector that Lanczos's method begins with.

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
    By SciPy's or CuPy's `eigsh`, which multiplies by our matrices; small graphs by LAPACK or cuSOLVER, as for
    `hpgraph.spectral_clustering`. Loops do not count. In a graph that does not hang together the first coordinates
    tell the components apart.

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
