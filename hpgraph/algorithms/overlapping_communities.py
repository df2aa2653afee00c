"""Communities that may share vertices: cliques that overlap, and labels of which a vertex remembers several."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph.algebra.mxm import mxm
from hpgraph.algorithms.cliques import plain
from hpgraph.algorithms.cores import both_ways
from hpgraph.algorithms.random_choice import random_order, scattered, vertex_hashes
from hpgraph.containers.graph import Graph, as_simple, naming_arguments, real, vertex_names, whole
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import array_module, check_memory, prefix_sum, to_device
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.structure.cpu_cliques import maximal_cliques

# Pairs of sets with a common vertex are counted in blocks of about this many.
_PAIRS = 1 << 24


@naming_arguments
def k_clique_communities(G: Graph | Any, k: int) -> list[np.ndarray]:
    """Clique percolation: unions of k-cliques that are connected through k-cliques sharing k - 1 vertices.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are passed over.
    k : int
        The size of the cliques, at least 2.

    Returns
    -------
    list of arrays
        The vertices of each community, names where the graph has names, else indices; in NumPy. A vertex may be in
        several, or in none.

    Notes
    -----
    Computed from maximal cliques that share k - 1 vertices. Runs on the CPU; a graph on the GPU is copied to it. The
    time is that of `find_cliques`, plus that of the pairs of maximal cliques that share a vertex.

    References
    ----------
    G. Palla, I. Derényi, I. Farkas, T. Vicsek, "Uncovering the overlapping community structure of complex networks in
    nature and society", Nature 435 (2005).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 1, 2, 3, 3, 4], [1, 2, 2, 3, 3, 4, 5, 5], directed=False)
    >>> [community.tolist() for community in hpg.k_clique_communities(G, 3)]
    [[0, 1, 2, 3], [3, 4, 5]]
    """
    # Imported here, since it imports Numba.
    k = whole(k, "k", least=2)
    graph, arcs = plain(G)
    blocks = list(maximal_cliques(arcs, min(k, graph.n_vertices + 1)))
    sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(ends) for ends, _ in blocks)])
    vertices = np.concatenate([np.zeros(0, np.int64), *(cliques for _, cliques in blocks)])
    clique = np.repeat(np.arange(len(sizes)), sizes)
    members = CSR.from_coo(clique, vertices, None, (len(sizes), graph.n_vertices))
    label = np.arange(len(sizes))
    for first, second, shared in _overlaps(members):
        joined = shared >= k - 1
        pairs = CSR.from_coo(label[first[joined]], label[second[joined]], None, (len(sizes), len(sizes)))
        label = kernels("cpu").components(pairs, False)[1][label]
    return _sets(graph, label[clique], vertices)


@naming_arguments
def slpa(G: Graph | Any, n_iterations: int = 20, threshold: float = 0.1, seed: int = 0) -> list[np.ndarray]:
    """Overlapping communities by speaker-listener label propagation (SLPA): vertices store the labels they receive.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions; weights and loops are passed over.
    n_iterations : int
        In each, every vertex sends a random one of its stored labels, and stores the one that most of its neighbours
        sent. At first it stores its own.
    threshold : float, in [0, 1]
        Minimum share of a vertex's stored labels for a community; above 1/2, communities do not overlap.
    seed : int
        Random seed; the same seed gives the same communities.

    Returns
    -------
    list of arrays
        As from `k_clique_communities`; those within another are left out.

    Notes
    -----
    All vertices are updated at the same time; ties are broken by a random order of the labels, new in each iteration.
    Nested communities are found on the CPU. Memory: `n_iterations` ids a vertex, and 40 bytes for each of them at the
    end.

    References
    ----------
    J. Xie, B. K. Szymanski, X. Liu, "SLPA: uncovering overlapping communities in social networks via a speaker-listener
    interaction dynamic process", ICDM Workshops 2011.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5], directed=False)
    >>> [community.tolist() for community in hpg.slpa(G)]
    [[0, 1, 2], [3, 4, 5]]
    """
    rounds, key = whole(n_iterations, "n_iterations", least=1), scattered(seed)
    share = real(threshold, "threshold", least=0, most=1)
    graph = as_simple(G)
    xp, n, backend = array_module(graph.device), graph.n_vertices, kernels(graph.device)
    check_memory((rounds + 1) * n * 40, f"{rounds} labels that each of {n} vertices hears", graph.device)
    arcs, vertex = both_ways(graph), xp.arange(n, dtype=graph.id_dtype)
    memory, place = xp.empty((rounds + 1, n), graph.id_dtype), xp.empty(n, graph.id_dtype)
    memory[0] = vertex
    for received in range(1, rounds + 1):
        sent = memory[vertex_hashes(graph, key + 2 * received) % np.uint64(received), vertex]
        order = random_order(graph, key + 2 * received + 1).astype(graph.id_dtype)
        place[order] = vertex
        memory[received] = order[backend.frequent_labels(arcs, place[sent], 1)]
    pairs, times = xp.unique(memory.astype(np.int64) * n + vertex, return_counts=True)
    pairs = to_device(pairs[times >= share * (rounds + 1)], "cpu")
    label, vertices = pairs // max(n, 1), pairs % max(n, 1)
    members = CSR.from_coo(label, vertices, None, (n, n))
    size, within = members.degrees, np.zeros(n, bool)
    for first, second, shared in _overlaps(members):
        nested = (shared == size[first]) & ((size[second] > size[first]) | (first > second))
        within[first[nested]] = True
    kept = ~within[label]
    return _sets(graph, label[kept], vertices[kept])


def _overlaps(members: CSR) -> Iterator[tuple[Any, Any, Any]]:
    """Pairs of rows with a column in common, and the number of those columns, in blocks."""
    rows, n = members.shape
    column_sizes = np.bincount(members.indices, minlength=n)
    work = prefix_sum(column_sizes[members.indices])[members.indptr]
    block = 0
    transposed = matrix_of_csr(members).T
    while block < rows:
        end = max(block + 1, int(np.searchsorted(work, work[block] + _PAIRS, side="right")) - 1)
        part = kernels("cpu").rows_of(members, np.arange(block, end), 0, n)
        overlaps = mxm(matrix_of_csr(part), transposed, "plus_pair").csr
        first, second = overlaps.expand_rows() + block, overlaps.indices
        apart = first != second
        yield first[apart], second[apart], overlaps.data[apart]
        block = end


def _sets(graph: Graph, group: Any, vertices: Any) -> list[np.ndarray]:
    """The vertices of each group, ascending, in the order of their first ones."""
    pairs = np.unique(group.astype(np.int64) * graph.n_vertices + vertices)
    group, vertices = pairs // max(graph.n_vertices, 1), pairs % max(graph.n_vertices, 1)
    sets = np.split(vertices, np.flatnonzero(np.diff(group)) + 1) if len(group) else []
    return [vertex_names(graph, each) for each in sorted(sets, key=lambda each: tuple(each[:2].tolist()))]
