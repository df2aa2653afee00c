"""FastRP: random projections of powers of the transition matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hpgraph.algorithms.adjacency_operator import arc_sums, inverse
from hpgraph.algorithms.random_choice import random_signs
from hpgraph.containers.graph import Graph, naming_arguments, real, whole
from hpgraph.core.device import Array, array_module
from hpgraph.embed.factorization import checked


@naming_arguments
def fastrp(
    G: Graph | Any,
    dim: int = 128,
    *,
    weights: Sequence[float] = (0.0, 1.0, 1.0),
    normalization_strength: float = 0.0,
    self_influence: float = 0.0,
    weight: Any = True,
    seed: int = 0,
) -> Array:
    """FastRP: embedding by random vectors, repeatedly averaged over neighbours.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one a vertex averages over the targets of its arcs.
    dim : int
        Dimension of the embedding.
    weights : sequence of float
        Weight of each iteration: the first is the average over neighbours, the second that over their neighbours.
    normalization_strength : float
        Random vectors are multiplied by the degree to this power: below 0 hubs count less.
    self_influence : float
        Weight of a vertex's own random vector.
    weight : None, bool or str
        Whether averages are weighted, if there are weights. A string names the attribute of a NetworkX graph, and
        "weight" means True otherwise.
    seed : int
        Random seed of the embedding.

    Returns
    -------
    float32 array of shape (n, dim)
        On the graph's device; 0 for a vertex without neighbours.

    Raises
    ------
    ValueError, TypeError
        When an argument does not fit, or weights are negative or not finite.

    Notes
    -----
    Each iteration is one product of the sparse matrix by the dense one; its rows are scaled to length 1 before they
    are added, as in Neo4j's Graph Data Science, whose names and defaults these are. Entries of the projection are 1 and
    -1. Random vectors are the same on every device; sums differ there in their last bits.

    References
    ----------
    H. Chen, S. F. Sultan, Y. Tian, M. Chen, S. Skiena, "Fast and accurate network embeddings via very sparse random
    projection", CIKM'19. D. Achlioptas, "Database-friendly random projections", PODS'01.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> vector = hpg.embed.fastrp(G, 64)
    >>> bool(vector[0] @ vector[1] > vector[0] @ vector[5])
    True
    """
    graph, weighted, dim = checked(G, weight, dim, 4)
    shares = [real(share, "weights") for share in weights]
    strength, own = real(normalization_strength, "normalization_strength"), real(self_influence, "self_influence")
    if not np.isfinite([*shares, strength, own]).all():
        raise ValueError("weights, normalization_strength and self_influence must be finite")
    xp, n = array_module(graph.device), graph.n_vertices
    arcs = arc_sums(graph, weighted=weighted, loops=True, dtype=np.dtype(np.float32))
    vectors = random_signs(n, dim, whole(seed, "seed"), graph.device)
    if strength:
        vectors *= xp.where(arcs.sent > 0, arcs.sent, 1)[:, None] ** np.float32(strength)
    embedding = np.float32(own) * _unit(vectors)
    for share in shares:
        vectors = arcs.transposed @ vectors
        vectors *= inverse(arcs.sent)[:, None]
        embedding += np.float32(share) * _unit(vectors)
    return embedding


def _unit(vectors: Any) -> Any:
    """Rows scaled to length 1; zero rows unchanged."""
    xp = array_module(vectors)
    return vectors * inverse(xp.sqrt(xp.einsum("ij,ij->i", vectors, vectors)))[:, None]
