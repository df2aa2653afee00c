"""Embeddings that factorize co-occurrences of vertices on random walks."""

import math
from typing import Any

import numpy as np

from hpgraph.algorithms.random_choice import seed_of
from hpgraph.algorithms.random_walks import node2vec_walk, random_walk
from hpgraph.containers.graph import Graph, naming_arguments, real, whole
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import Array, array_module, check_memory
from hpgraph.embed.factorization import check_halves, checked, embedding_of, positive_eigenvectors, singular_vectors
from hpgraph.formats import CSR, occurrences

# Bytes a pair of vertices while pairs are sorted, and bytes of a batch of pairs.
_PAIR, _BATCH = 48, 1 << 29
# Walks of strap are truncated at the length that only this share of walks would exceed.
_REST = 0.01


@naming_arguments
def node2vec(
    G: Graph | Any,
    dim: int = 128,
    *,
    p: float = 1.0,
    q: float = 1.0,
    walks: int = 10,
    length: int = 40,
    window: int = 5,
    negative: float = 1.0,
    weight: Any = True,
    seed: int = 0,
) -> Array:
    """node2vec: embedding by co-occurrence on random walks; DeepWalk if p and q are 1.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one walks follow arcs.
    dim : int
        Coordinates.
    p, q : float
        Parameters of the walks, as for `hpgraph.node2vec_walk`.
    walks, length : int
        Number of walks from each vertex, and of their steps.
    window : int
        Maximum number of steps between two vertices of a walk that count as a co-occurrence.
    negative : float
        Number of negative samples a pair in the training objective that is factorized.
    weight : None, bool or str
        Whether arcs are drawn by weight, as for `hpgraph.random_walk`.
    seed : int
        Another seed, other walks and another projection.

    Returns
    -------
    float32 array of shape (n, dim)
        On the graph's device; 0 for a vertex without arcs. Columns beyond the number of vertices are 0.

    Raises
    ------
    ValueError, TypeError
        When an argument does not fit, or weights are negative or not finite.
    DeviceMemoryError
        When pairs of vertices will not fit.

    Notes
    -----
    Instead of training by stochastic gradient descent, the matrix that the trained vectors implicitly factorize is
    factorized directly: the positive part of the logarithm of the ratio of observed to expected co-occurrences, over
    `negative`. It is sparse, since it is counted from the walks; pairs are summed in batches of about ten million, and
    distinct ones take 16 bytes each.

    References
    ----------
    A. Grover, J. Leskovec, "node2vec: scalable feature learning for networks", KDD'16. B. Perozzi, R. Al-Rfou,
    S. Skiena, "DeepWalk: online learning of social representations", KDD'14. O. Levy, Y. Goldberg, "Neural word
    embedding as implicit matrix factorization", NIPS 2014. J. Qiu, Y. Dong, H. Ma, J. Li, K. Wang, J. Tang, "Network
    embedding as matrix factorization: unifying DeepWalk, LINE, PTE, and node2vec", WSDM'18.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> vector = hpg.embed.node2vec(G, 2)
    >>> bool(vector[0] @ vector[1] > vector[0] @ vector[5])
    True
    """
    graph, weighted, dim = checked(G, weight, dim, 6)
    counts = (walks, "walks"), (length, "length"), (window, "window")
    each, steps, width = (whole(value, name, least=1) for value, name in counts)
    shift, begin, n = real(negative, "negative", above=0, below=math.inf), seed_of(seed), graph.n_vertices
    width = min(width, steps)
    pairs = _Meetings(graph, n * (steps + 1) * width)
    for round_ in range(each):
        passed = node2vec_walk(graph, length=steps, p=p, q=q, weight=weighted, seed=begin + round_)
        for apart in range(1, width + 1):
            pairs.add(passed[:, :-apart], passed[:, apart:], 1.0)
    # Each co-occurrence counts for both vertices.
    rows, columns, times = pairs.entries()
    xp = array_module(graph.device)
    often = occurrences(rows, n, times) + occurrences(columns, n, times)
    both = _matrix(graph, xp.concatenate((rows, columns)), xp.concatenate((columns, rows)), xp.tile(times, 2))
    rows = both.expand_rows()
    gain = xp.log(both.data * (often.sum() / shift) / (often[rows] * often[both.indices]))
    above = gain > 0
    positive = _matrix(graph, rows[above], both.indices[above], gain[above].astype(np.float32))
    proximity = matrix_of_csr(positive)
    vectors = singular_vectors(proximity.__matmul__, proximity.__matmul__, n, dim, begin, graph.device)
    return embedding_of(*vectors[:2], None, dim)


@naming_arguments
def strap(
    G: Graph | Any,
    dim: int = 128,
    *,
    alpha: float = 0.5,
    walks: int = 50,
    delta: float | None = None,
    weight: Any = True,
    seed: int = 0,
) -> Array:
    """STRAP: embedding by logarithms of personalized PageRank, estimated by random walks.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    dim : int
        Coordinates; an even number for a directed graph.
    alpha : float
        Probability that a walk ends, at each step.
    walks : int
        Number of walks from each vertex.
    delta : float, optional
        Threshold of ranks; by default a quarter of the smallest positive estimate.
    weight : None, bool or str
        Whether arcs are drawn by weight, as for `hpgraph.random_walk`.
    seed : int
        Another seed, other walks and another projection.

    Returns
    -------
    float32 array of shape (n, dim)
        On the graph's device. In a directed graph the first half of a row is the vertex as a source, the second half as
        a target. In an undirected one products of rows are the proximities, as nearly as they can be: negative
        eigenvalues are left out. Columns beyond the number of vertices, or of positive eigenvalues, are 0.

    Raises
    ------
    ValueError, TypeError
        When an argument does not fit, or weights are negative or not finite.
    DeviceMemoryError
        When pairs of vertices will not fit.

    Notes
    -----
    The proximity of u and v is ``log(rank of v from u / delta)`` plus that of u from v with all arcs reversed; ranks
    below `delta` count 0. The paper computes ranks by pushes from each vertex; here each step of a walk adds the
    probability that it ends there. Memory: up to 16 bytes for each vertex, walk and step.

    References
    ----------
    Y. Yin, Z. Wei, "Scalable graph embeddings via sparse transpose proximities", KDD'19.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> vector = hpg.embed.strap(G, 2)
    >>> bool(vector[0] @ vector[1] > vector[0] @ vector[5])
    True
    """
    graph, weighted, dim = checked(G, weight, dim, 6)
    if graph.directed:
        check_halves(dim)
    ends, each, begin = real(alpha, "alpha", above=0, below=1), whole(walks, "walks", least=1), seed_of(seed)
    steps = math.ceil(math.log(_REST) / math.log(1 - ends))
    threshold = None if delta is None else real(delta, "delta", above=0, below=math.inf)
    min_entry = threshold if threshold is not None else ends * (1 - ends) ** steps / each / 4
    xp, n, device = array_module(graph.device), graph.n_vertices, graph.device

    def ranks(incoming: bool) -> tuple[Any, Any, Any]:
        pairs = _Meetings(graph, n * steps)
        for round_ in range(each):
            passed = random_walk(graph, length=steps, weight=weighted, incoming=incoming, seed=begin + round_)
            for step in range(1, steps + 1):
                pairs.add(passed[:, 0], passed[:, step], ends * (1 - ends) ** step / each)
        rows, columns, rank = pairs.entries()
        enough = rank > min_entry
        return rows[enough], columns[enough], xp.log(rank[enough] / min_entry)

    rows, columns, gain = ranks(False)
    targets, sources, more = ranks(True) if graph.directed else (rows, columns, gain)
    parts = ((rows, sources), (columns, targets), (gain, more))
    csr = _matrix(graph, *(xp.concatenate(pair) for pair in parts))
    result = matrix_of_csr(csr.astype(np.float32))
    if not graph.directed:
        return embedding_of(*positive_eigenvectors(result.__matmul__, n, dim, begin, device), None, dim)
    vectors = singular_vectors(result.__matmul__, result.T.__matmul__, n, dim // 2, begin, device)
    return embedding_of(*vectors, dim)


class _Meetings:
    """Co-occurring pairs of vertices, with summed weights."""

    def __init__(self, graph: Graph, most: int) -> None:
        check_memory(_PAIR * min(most, _BATCH // _PAIR), "pairs of vertices that walks pass", graph.device)
        xp, n = array_module(graph.device), graph.n_vertices
        empty = xp.zeros(0, np.int64)
        self._graph, self._held = graph, CSR.from_coo(empty, empty, xp.zeros(0), (n, n))
        self._parts: list[tuple[Any, Any, Any]] = []
        self._new = 0

    def add(self, left: Any, right: Any, weight: float) -> None:
        """Add pairs; those with -1, past the end of a walk, are skipped."""
        valid = (left >= 0) & (right >= 0)
        left, right = left[valid], right[valid]
        self._parts.append((left, right, array_module(left).full(len(left), weight)))
        self._new += len(left)
        if self._new * _PAIR >= _BATCH:
            self.entries()

    def entries(self) -> tuple[Any, Any, Any]:
        """The distinct pairs, and their weights."""
        xp, csr = array_module(self._graph.device), self._held
        parts = (csr.expand_rows(), csr.indices, csr.data)
        if self._parts:
            self._held = _matrix(self._graph, *map(xp.concatenate, zip(parts, *self._parts, strict=True)))
            self._parts, self._new = [], 0
            return self.entries()
        return parts


def _matrix(graph: Graph, rows: Any, columns: Any, values: Any) -> CSR:
    n = graph.n_vertices
    return CSR.from_coo(rows, columns, values, (n, n), copy=False)
