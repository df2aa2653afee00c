"""Cliques: sets of vertices that are joined each to each. All run on the CPU: searches branch, and share little."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from hpgraph.algorithms.triangles import triangle_count
from hpgraph.containers.graph import Graph, as_simple, naming_arguments, vertex_names, whole
from hpgraph.formats import CSR
from hpgraph.kernels.structure.cpu_cliques import count_cliques as count
from hpgraph.kernels.structure.cpu_cliques import maximal_cliques


def plain(G: Any) -> tuple[Graph, CSR]:
    """The graph, and its edges in both directions, without loops, on the CPU."""
    graph = as_simple(G)
    return graph, graph.undirected.out_csr.to("cpu").without_diagonal().with_data(None)


@naming_arguments
def find_cliques(G: Graph | Any, *, min_size: int = 1) -> Iterator[np.ndarray]:
    """All maximal cliques: sets of pairwise adjacent vertices to which no vertex can be added.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are ignored.
    min_size : int
        Minimum number of vertices of a clique; branches with smaller ones are pruned.

    Yields
    ------
    array of shape (k,)
        The vertices of a clique, names if the graph has names, else indices; in NumPy.

    Notes
    -----
    Runs on one thread of the CPU; a graph on the GPU is copied to it. The iterator computes tens of thousands of
    cliques at a time: there may be 3^(n/3). In a graph of degeneracy d the time is O(d n 3^(d/3)), and the memory
    beside the graph is d + the largest degree rows of d bits.

    References
    ----------
    D. Eppstein, M. Löffler, D. Strash, "Listing all maximal cliques in large sparse graphs in near-optimal time",
    Journal of Experimental Algorithmics 18 (2013).

    Examples
    --------
    >>> sorted(sorted(clique.tolist()) for clique in hpg.find_cliques(([0, 1, 2, 2], [1, 2, 0, 3])))
    [[0, 1, 2], [2, 3]]
    """
    graph, arcs = plain(G)
    min_vertices = whole(min_size, "min_size")
    return _listed(graph, arcs, min_vertices, False)


def _listed(graph: Graph, arcs: CSR, least: int, largest: bool) -> Iterator[np.ndarray]:
    for ends, vertices in maximal_cliques(arcs, min(least, graph.n_vertices + 1), largest):
        bounds, named = ends.tolist(), vertex_names(graph, vertices)
        for begin, end in pairwise(bounds):
            yield named[begin:end]


@naming_arguments
def maximum_clique(G: Graph | Any) -> np.ndarray:
    """A largest clique.

    Parameters and result are those of `find_cliques`.

    Returns
    -------
    array of shape (k,)
        If there are several, always the same one.

    Notes
    -----
    The search of `find_cliques`, in which branches that cannot exceed the largest clique so far are pruned.

    References
    ----------
    D. Eppstein, M. Löffler, D. Strash, "Listing all maximal cliques in large sparse graphs in near-optimal time",
    Journal of Experimental Algorithmics 18 (2013).

    Examples
    --------
    >>> sorted(hpg.maximum_clique(([0, 1, 2, 2], [1, 2, 0, 3])).tolist())
    [0, 1, 2]
    """
    graph, arcs = plain(G)
    largest = vertex_names(graph, np.zeros(0, np.int64))
    for clique in _listed(graph, arcs, 1, True):
        largest = clique
    return largest


@naming_arguments
def count_cliques(G: Graph | Any, k: int) -> int:
    """Number of cliques of k vertices, maximal or not.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are ignored.
    k : int
        Number of vertices: 1 counts vertices, 2 edges, 3 triangles.

    Returns
    -------
    int

    Notes
    -----
    For four or more vertices it runs on the CPU; a graph on the GPU is copied to it. In a graph of degeneracy d the
    time is O(m (d / 2)^(k - 2)).

    References
    ----------
    M. Danisch, O. Balalau, M. Sozio, "Listing k-cliques in sparse real-world graphs", WWW'18.

    Examples
    --------
    >>> [hpg.count_cliques(hpg.datasets.gnp_random_graph(6, 1), k) for k in range(1, 8)]
    [6, 15, 20, 15, 6, 1, 0]
    """
    k = whole(k, "k", least=1)
    if k == 3:
        return triangle_count(G)
    graph, arcs = plain(G)
    if k < 3:
        return graph.n_vertices if k == 1 else arcs.nnz // 2
    if k > graph.n_vertices:
        return 0
    return count(arcs, k)
