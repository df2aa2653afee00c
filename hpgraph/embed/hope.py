"""HOPE: factors of proximities that are series in the adjacency matrix, Katz's or that of personalized PageRank."""

import math
from typing import Any, Literal

import numpy as np

from hpgraph.algorithms.adjacency_operator import ArcSums, arc_sums, inverse
from hpgraph.containers.graph import Graph, naming_arguments, one_of, real, whole
from hpgraph.core.device import Array, array_module
from hpgraph.embed.factorization import (
    check_halves,
    checked,
    embedding_of,
    positive_eigenvectors,
    singular_vectors,
    thin_svd,
)

# Relative tolerance of the truncated series, and maximum number of terms.
_LEFT, _MAX_TERMS = 1e-4, 500
# Steps of the power method for the largest singular value, and the default product of Katz's factor and that value.
_STEPS, _DEFAULT = 20, 0.5


@naming_arguments
def hope(
    G: Graph | Any,
    dim: int = 128,
    *,
    proximity: Literal["katz", "ppr"] = "katz",
    beta: float | None = None,
    alpha: float = 0.15,
    weight: Any = True,
    seed: int = 0,
) -> Array:
    """HOPE: embedding by the largest singular vectors of a high-order proximity.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    dim : int
        Dimension of the embedding; even, except for Katz's proximity in an undirected graph.
    proximity : {"katz", "ppr"}
        Walks from one vertex to another, each weighted by `beta` to the power of its length; or personalized PageRank.
    beta : float, optional
        For Katz's proximity: below 1 over the largest singular value of the adjacency matrix; by default half of that.
    alpha : float
        For personalized PageRank: the probability that a walk ends, at each step.
    weight : None, bool or str
        Whether weights count, if there are any; as for `hpgraph.embed.fastrp`.
    seed : int
        Random seed of the projection.

    Returns
    -------
    float32 array of shape (n, dim)
        On the graph's device. The first half of a row is the vertex as a source, the second half as a target: their
        products are the proximities. Katz's proximity in an undirected graph is symmetric, and products of whole rows
        are the proximities, as nearly as they can be: negative eigenvalues are left out. Columns beyond the number of
        vertices, or of positive eigenvalues, are 0.

    Raises
    ------
    ValueError, TypeError
        When an argument does not fit, or weights are negative, not finite, or too large for float32.

    Notes
    -----
    The proximity is a series times the adjacency matrix. That matrix is factorized by a randomized singular value
    decomposition, of rank a little above `dim` / 2, and the left factor is multiplied by the series, a product of a
    sparse and a dense matrix for each term; the proximity itself, which is dense, is never computed. A symmetric matrix
    and its series have the same eigenvectors: they are those of largest eigenvalue within a singular subspace of rank
    a little above 2 `dim`.

    References
    ----------
    M. Ou, P. Cui, J. Pei, Z. Zhang, W. Zhu, "Asymmetric transitivity preserving graph embedding", KDD'16. R. Yang,
    J. Shi, X. Xiao, Y. Yang, S. S. Bhowmick, "Homogeneous network embedding for massive graphs via reweighted
    personalized PageRank", VLDB 13 (2020): the series by its factors.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> vector = hpg.embed.hope(G, 2)
    >>> bool(vector[0] @ vector[1] > vector[0] @ vector[5])
    True
    """
    one_of(proximity, "proximity", ("katz", "ppr"))
    graph, weighted, dim = checked(G, weight, dim, 6)
    symmetric = proximity == "katz" and not graph.directed
    if not symmetric:
        check_halves(dim)
    n, begin = graph.n_vertices, whole(seed, "seed")
    arcs = arc_sums(graph, weighted=weighted, loops=True, dtype=np.dtype(np.float32))
    scale = inverse(arcs.sent)[:, None] if proximity == "ppr" else np.float32(1)
    if proximity == "ppr":
        ratio = factor = 1 - real(alpha, "alpha", above=0, below=1)
    else:
        factor, ratio = _katz(arcs, beta)
    if symmetric:
        left, values = positive_eigenvectors(arcs.matrix.__matmul__, n, dim, begin, graph.device)
        # Estimates of the largest singular value are a little below it.
        values = (values * np.float32(factor)).clip(None, 1 - _LEFT)
        return embedding_of(left, values / (1 - values), None, dim)
    left, values, right = singular_vectors(
        lambda X: scale * (arcs.transposed @ X), lambda X: arcs.matrix @ (scale * X), n, dim // 2, begin, graph.device
    )
    total = term = left * (values * np.float32(factor))
    for _ in range(min(math.ceil(math.log(_LEFT) / math.log(ratio)), _MAX_TERMS)):
        term = (scale * np.float32(factor)) * (arcs.transposed @ term)
        total = total + term
    # The right factor has orthonormal columns, so the left factor's singular vectors are the product's.
    left, values, turn = thin_svd(total)
    return embedding_of(left, values, right @ turn, dim)


def _katz(arcs: ArcSums, beta: Any) -> tuple[float, float]:
    """Katz's factor, and the ratio of the series' terms: that factor times the largest singular value."""
    xp = array_module(arcs.sent)
    x, size = xp.ones((len(arcs.sent), 1), np.float32), 0.0
    for _ in range(_STEPS if len(x) else 0):
        x = arcs.matrix @ (arcs.transposed @ x)
        square = float(abs(x).max())
        if square == 0:
            break
        size, x = math.sqrt(square), x / np.float32(square)
    if not math.isfinite(size):
        raise ValueError("weight: the weights are too large for products in float32; scale them, or take weight=None")
    if beta is None:
        return (_DEFAULT / size if size else _DEFAULT), _DEFAULT
    value = real(beta, "beta", above=0, below=math.inf)
    if value * size >= 1:
        raise ValueError(f"beta must be below {1 / size:.3g}, 1 over the largest singular value, not {beta!r}")
    return value, max(value * size, _LEFT)
