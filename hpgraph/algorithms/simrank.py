"""SimRank: the similarity of two vertices follows from that of their in-neighbours."""

import warnings
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.out_strength import scaled_arcs
from hpgraph.containers.graph import Graph, naming_arguments, real, whole
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import array_module, check_memory, everywhere
from hpgraph.core.errors import ConvergenceWarning
from hpgraph.formats import CSR, occurrences

# Bytes of a block of columns, of which there are four at a time beside the similarities of this round and of the last.
_BLOCK = 1 << 26


@naming_arguments
def simrank_similarity(
    G: Graph | Any, source: Any = None, target: Any = None, importance_factor: float = 0.9, max_iterations: int = 1000,
    tolerance: float = 1e-4, *, weight: Any = None,
) -> Any:  # fmt: skip
    """SimRank: vertices are similar if their in-neighbours are similar.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    source, target : vertex, optional
        A vertex to compare with all others, or with `target`; by default all pairs are compared.
    importance_factor : float
        Factor of the mean of the in-neighbours' similarities, from 0 to 1.
    max_iterations : int
        Maximum number of iterations.
    tolerance : float
        Iterations stop when no similarity changes by more than this plus 10⁻⁵ of its value.
    weight : None, bool or str
        Whether in-neighbours count by the weights of their arcs, which are not negative; as for `hpgraph.pagerank`.

    Returns
    -------
    float64 array of shape (n, n) or (n,), or float
        On the graph's device; 1 for a vertex and itself, 0 if one of the two has no in-neighbours.

    Warns
    -----
    ConvergenceWarning
        After `max_iterations`, where NetworkX raises an error.

    Notes
    -----
    An iteration is two products of the adjacency matrix with a dense matrix, the second in blocks of columns. All
    similarities are computed in any case, in 16 n² bytes; if they do not fit, an error is raised first.

    References
    ----------
    G. Jeh, J. Widom, "SimRank: a measure of structural-context similarity", KDD'02. D. Lizorkin et al., "Accuracy
    estimate and optimization techniques for SimRank computation", VLDB'08.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    >>> hpg.simrank_similarity(G)[1:3].tolist()
    [[0.0, 1.0, 0.9, 0.0], [0.0, 0.9, 1.0, 0.0]]
    """
    graph, weighted = with_weights(G, weight)
    factor = real(importance_factor, "importance_factor", least=0, most=1)
    tolerance, limit = real(tolerance, "tolerance", least=0), whole(max_iterations, "max_iterations", least=0)
    at = [graph.index_of(v, name) for v, name in ((source, "source"), (target, "target")) if v is not None]
    if source is None and target is not None:
        raise ValueError("target needs a source to be compared with")
    similarity, change, rounds = similarities(graph, weighted, factor, limit, tolerance)
    if not change <= tolerance:
        warnings.warn(
            f"simrank_similarity stopped after {rounds} rounds at a change of {change:.3g}: raise max_iterations, or "
            "tolerance",
            ConvergenceWarning,
            stacklevel=3,
        )
    if target is not None:
        return float(similarity[at[0], at[1]])
    return similarity if source is None else similarity[at[0]].copy()


def similarities(graph: Graph, weighted: bool, factor: float, limit: int, tolerance: float) -> tuple[Any, float, int]:
    """Similarities of all pairs, (n, n), their change in the last round, and the number of rounds."""
    n = graph.n_vertices
    means = _means(graph, weighted)
    check_memory(16 * n * n + 4 * min(_BLOCK, 8 * n * n), f"the similarities of {n} vertices", graph.device)
    similarity, change, rounds = array_module(graph.device).eye(n), np.inf, 0
    while rounds < limit and not change <= tolerance:
        similarity, change = _round(means, similarity, factor)
        rounds += 1
    return similarity, change, rounds


def _means(graph: Graph, weighted: bool) -> CSR:
    """The matrix of means over in-neighbours."""
    arcs, xp = graph.out_csr, array_module(graph.device)
    arcs = graph.in_csr if graph.directed else arcs
    weights = scaled_arcs(arcs).data.astype(np.float64) if weighted else xp.ones(arcs.nnz)
    if weighted and not everywhere((weights >= 0) & (weights < np.inf)):
        raise ValueError("weight: weights must be finite and not negative")
    rows = arcs.expand_rows()
    total = occurrences(rows, graph.n_vertices, weights)
    return arcs.with_data(weights / xp.where(total > 0, total, 1)[rows])


def _round(means: CSR, alike: Any, factor: float) -> tuple[Any, float]:
    """The similarities of the next round, and the largest change of one beyond 10⁻⁵ of its value."""
    xp, matrix, n = array_module(alike), matrix_of_csr(means), len(alike)
    similarity, change, block = xp.empty_like(alike), 0.0, max(1, _BLOCK // (8 * max(n, 1)))
    for begin in range(0, n, block):
        end = min(begin + block, n)
        # As similarities are symmetric, these rows are the columns of the product with the transpose.
        half = matrix[begin:end] @ alike
        part = matrix @ xp.ascontiguousarray(half.T)
        part *= factor
        part[xp.arange(begin, end), xp.arange(end - begin)] = 1
        change = max(change, float((abs(part - alike[:, begin:end]) - 1e-5 * part).max()))
        similarity[:, begin:end] = part
    return similarity, change
