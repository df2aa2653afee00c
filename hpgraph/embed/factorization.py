"""Singular vectors of an operator known by its products.

N. Halko, P.-G. Martinsson, J. A. Tropp, "Finding structure with randomness: probabilistic algorithms for constructing
approximate matrix decompositions", SIAM Review 53 (2011), algorithms 4.4 and 5.1.
"""

from collections.abc import Callable
from typing import Any

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.random_choice import random_signs
from hpgraph.containers.graph import Graph, whole
from hpgraph.core.device import array_module, check_memory, everywhere

# Oversampling, and passes of subspace iteration, each with a product with the operator and with its transpose.
_MORE, _PASSES = 10, 3

Product = Callable[[Any], Any]


def singular_vectors(
    times: Product, transposed: Product, n: int, k: int, seed: int, device: str
) -> tuple[Any, Any, Any]:
    """Left vectors, values and right vectors, float32, of the largest values first: some more than k, as far as n."""
    basis = thin_svd(times(random_signs(n, min(k + _MORE, n), seed, device)))[0]
    for _ in range(_PASSES):
        basis = thin_svd(times(thin_svd(transposed(basis))[0]))[0]
    right, values, turn = thin_svd(transposed(basis))
    return basis @ turn, values, right


def positive_eigenvectors(times: Product, n: int, k: int, seed: int, device: str) -> tuple[Any, Any]:
    """Vectors and values, float32, of a symmetric operator's eigenvalues, the largest first; 0 for negative ones."""
    check_memory(4 * 6 * n * min(2 * k, n), f"eigenvectors of {n:,} vertices", device)
    basis = singular_vectors(times, times, n, 2 * k, seed, device)[0]
    product = (basis.T @ times(basis)).astype("float64")
    values, turn = array_module(basis).linalg.eigh((product + product.T) / 2)
    return basis @ turn[:, ::-1].astype("float32"), values[::-1].clip(0).astype("float32")


def thin_svd(columns: Any) -> tuple[Any, Any, Any]:
    """U, values and V of a tall array, float32: by eigenvectors of ``XᵀX`` in float64, much faster than by QR."""
    xp, wide = array_module(columns), columns.astype("float64")
    squares, turn = xp.linalg.eigh(wide.T @ wide)
    squares, turn = squares[::-1], turn[:, ::-1]
    enough = squares > 1e-10 * squares[:1]
    values = xp.sqrt(xp.where(enough, squares, 0))
    left = (wide @ turn) * xp.where(enough, 1 / xp.where(enough, values, 1), 0)
    return left.astype("float32"), values.astype("float32"), turn.astype("float32")


def embedding_of(left: Any, values: Any, right: Any, dim: int) -> Any:
    """Left, and right, vectors times the roots of their values; the largest left entry of a column is positive."""
    xp, n = array_module(left), len(left)
    k = min(dim if right is None else dim // 2, left.shape[1])
    embedding = xp.zeros((n, dim), "float32")
    if n:
        left = left[:, :k]
        largest = left[abs(left).argmax(axis=0), xp.arange(k)]
        root = xp.sqrt(values[:k]) * xp.where(largest < 0, -1, 1)
        embedding[:, :k] = left * root
        if right is not None:
            embedding[:, dim // 2 : dim // 2 + k] = right[:, :k] * root
    if not everywhere(xp.isfinite(embedding)):
        raise ValueError("weight: the weights are too large for products in float32; scale them, or take weight=None")
    return embedding


def check_halves(dim: int) -> None:
    """Refuse an odd `dim`: both halves of a vector have the same length."""
    if dim % 2:
        raise ValueError(f"dim must be even: half of it for vertices as sources, half as targets; not {dim}")


def checked(G: Any, weight: Any, dim: Any, copies: int) -> tuple[Graph, bool, int]:
    """The graph, whether by weight, and the number of coordinates, for which some such arrays must fit."""
    graph, weighted = with_weights(G, weight, parallel="sum")
    n_columns = whole(dim, "dim", least=1)
    n = graph.n_vertices
    check_memory(4 * copies * n * n_columns, f"an embedding of {n:,} vertices by {n_columns} numbers", graph.device)
    return graph, weighted, n_columns
