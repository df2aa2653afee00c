"""Centralities of an electrical network: edges conduct, and a unit of current flows between every two vertices.

U. Brandes, D. Fleischer, "Centrality measures based on current flow", STACS'05. Without the row and the column of one
vertex, which is grounded, the Laplacian of a connected graph is positive definite: it is factorized once, sparsely, and
solved for every vertex.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.out_strength import shift_into_range
from hpgraph.containers.graph import Graph, by_vertex, naming_arguments
from hpgraph.core.device import Array, check_memory, to_device
from hpgraph.kernels.backend import kernels

# Right-hand sides solved together: with more, BLAS starts threads for small blocks.
_TOGETHER = 4
# Elements in a block of potentials that is sorted.
_BLOCK = 1 << 18
# A vertex's conductances are summed: one smaller than another by this factor keeps 12 bits.
_MAX_RATIO = 2.0**40


@naming_arguments
def current_flow_closeness_centrality(G: Graph | Any, weight: Any = None) -> Array:
    """Current-flow closeness, or information centrality: one over the sum of a vertex's resistances to all others.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        An undirected graph, connected; parallel edges conduct side by side, and loops are ignored.
    weight : None, bool or str
        Whether conductances are weights, which must be positive, rather than equal; as for `hpgraph.pagerank`.

    Returns
    -------
    float64 array of length n
        By index, on the graph's device; 1 for a single vertex, as in NetworkX.

    Raises
    ------
    ValueError
        If the graph is directed or not connected, or a weight is not positive and finite.

    Notes
    -----
    Runs on the CPU only, by SciPy's sparse factorization; a graph on the GPU is copied to it. Exact: n solves with the
    factor, whose size depends on the graph. On two cores a lattice of 4,096 vertices takes 0.4 s.

    References
    ----------
    K. Stephenson, M. Zelen, "Rethinking centrality: methods and examples", Social Networks 11 (1989). U. Brandes, D.
    Fleischer, "Centrality measures based on current flow", STACS'05.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)
    >>> hpg.current_flow_closeness_centrality(G).round(3).tolist()
    [0.333, 0.333, 0.429, 0.231]
    """
    graph, conductance = _network(G, weight)
    return by_vertex(to_device(closeness_of(conductance), graph.device), graph)


@naming_arguments
def current_flow_betweenness_centrality(G: Graph | Any, normalized: bool = True, weight: Any = None) -> Array:
    """The current through each vertex, summed over all pairs of others between which a unit flows.

    Parameters
    ----------
    G, weight
        As for `current_flow_closeness_centrality`.
    normalized : bool
        Whether to divide by the number of pairs of other vertices.

    Returns
    -------
    float64 array of length n
        By index, on the graph's device; 0 for fewer than three vertices.

    Raises
    ------
    ValueError
        As for `current_flow_closeness_centrality`.

    Notes
    -----
    As for `current_flow_closeness_centrality`; in addition potentials are sorted for each edge. Memory: 8 n² bytes.
    Also called random-walk betweenness: a random walk's net crossings of an edge equal the current.

    References
    ----------
    M. E. J. Newman, "A measure of betweenness centrality based on random walks", Social Networks 27 (2005). U. Brandes,
    D. Fleischer, "Centrality measures based on current flow", STACS'05.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)
    >>> hpg.current_flow_betweenness_centrality(G).round(3).tolist()
    [0.222, 0.222, 0.778, 0.0]
    """
    graph, conductance = _network(G, weight)
    upper = conductance.tocoo()
    n, ahead = graph.n_vertices, upper.row < upper.col
    source, target = upper.row[ahead], upper.col[ahead]
    through = through_vertices(n, source, target, currents(conductance, source, target, upper.data[ahead]))
    if normalized and n > 2:
        through *= 2 / ((n - 1) * (n - 2))
    return by_vertex(to_device(through, graph.device), graph)


def _network(G: Any, weight: Any) -> tuple[Graph, Any]:
    """The graph, and the conductances of its edges, without loops, in a SciPy array on the CPU."""
    from scipy.sparse import csr_array

    graph, weighted = with_weights(G, weight, parallel="sum")
    arcs = graph.out_csr
    if graph.directed:
        raise ValueError("G must be undirected: G.undirected takes arcs in both directions")
    arcs = (arcs if weighted else arcs.pattern).without_diagonal().to("cpu").astype(np.float64)
    if not ((arcs.data > 0) & (arcs.data < np.inf)).all():
        raise ValueError("weight: edges conduct only where weights are positive and finite: remove the others")
    count, _ = kernels("cpu").components(arcs.pattern, True)
    if count > 1:
        raise ValueError(f"G must be connected, and has {count} components: take one by G.subgraph")
    return graph, csr_array((arcs.data, arcs.indices, arcs.indptr), arcs.shape)


def closeness_of(conductance: Any) -> Any:
    """One over the sum of each vertex's resistances to all others, of a connected network of conductances."""
    n = conductance.shape[0]
    if n < 2:
        return np.ones(n)
    conductance, shift = _shifted(conductance)
    diagonal, total = np.empty(n), np.zeros(n)
    for begin, potential in _potentials(conductance):
        vertex = np.arange(begin, begin + potential.shape[1])
        diagonal[vertex] = potential[vertex, vertex - begin]
        total += potential.sum(axis=1)
    return np.ldexp(1 / (n * diagonal + diagonal.sum() - 2 * total), -shift)


def currents(conductance: Any, source: Any, target: Any, of_edges: Any) -> Any:
    """The current through each of some edges, over all pairs of vertices, from the sorted potentials at its ends."""
    n = conductance.shape[0]
    check_memory(8 * n * n, "the potentials of all pairs of vertices", "cpu")
    potentials, total, (conductance, shift) = np.zeros((n, n)), np.empty(len(source)), _shifted(conductance)
    for begin, potential in _potentials(conductance):
        potentials[begin : begin + potential.shape[1]] = potential.T
    times, step = 2.0 * np.arange(n) - (n - 1), max(1, _BLOCK // max(n, 1))
    for begin in range(0, len(source), step):
        batch = slice(begin, begin + step)
        apart = potentials[source[batch]] - potentials[target[batch]]
        apart.sort(axis=1)
        total[batch] = apart @ times
    return total * np.ldexp(of_edges, shift)


def through_vertices(n: int, source: Any, target: Any, current: Any) -> Any:
    """Current through each vertex, summed over the pairs of others, from the currents of the edges."""
    throughput = sum(np.bincount(end, current, n) for end in (source, target))
    # Inflow equals outflow; a vertex is itself an end of n - 1 pairs.
    return (throughput - (n - 1)) / 2 if n > 2 else np.zeros(n)


def _shifted(conductance: Any) -> tuple[Any, int]:
    """The network, times a power of two if sums of its conductances would overflow or vanish; and its exponent."""
    from scipy.sparse import csr_array

    sizes = conductance.data
    shift = shift_into_range(sizes.min(), sizes.max()) if len(sizes) else 0
    if not shift:
        return conductance, 0
    return csr_array((np.ldexp(sizes, shift), conductance.indices, conductance.indptr), conductance.shape), shift


def _potentials(conductance: Any) -> Iterator[tuple[int, Any]]:
    """For blocks of vertices, from the first on, the potentials of all where a unit flows from each to the ground."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import splu

    n, degree = conductance.shape[0], conductance.sum(axis=1)
    # Without the row of most entries, fill-in is small.
    ungrounded = np.delete(np.arange(n), np.diff(conductance.indptr).argmax()) if n else np.arange(0)
    if not len(ungrounded):
        return
    lightest, largest = (end.reduceat(conductance.data, conductance.indptr[:-1]) for end in (np.minimum, np.maximum))
    if (largest / _MAX_RATIO > lightest).any():
        raise ValueError(
            f"weight: at vertex {int((largest / _MAX_RATIO > lightest).argmax())} conductances differ by more than "
            f"{_MAX_RATIO:.0e} times, more than their sum holds: remove the least, or contract the largest"
        )
    laplacian = (diags_array(degree) - conductance).tocsc()[:, ungrounded][ungrounded]
    # A symmetric, diagonally dominant matrix needs no pivoting.
    factor = splu(laplacian, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    for begin in range(0, n, _TOGETHER):
        unit = np.arange(begin, min(begin + _TOGETHER, n))
        potential = np.zeros((n, len(unit)))
        potential[ungrounded] = factor.solve((ungrounded[:, None] == unit).astype(np.float64))
        yield begin, potential
