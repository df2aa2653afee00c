"""Disjoint paths between two vertices, and the number of vertices whose removal disconnects a graph (K. Menger, 1927).

Paths that share no edge are a maximum flow of unit capacities; those that share no vertex are one in the graph in which
each vertex is an arc, from the heads of its in-arcs to the tails of its out-arcs (S. Even, R. E. Tarjan, "Network flow
and testing graph connectivity", SIAM Journal on Computing 4, 1975).
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from hpgraph.algorithms.maximum_flow import both_ways, counted, flow_between, two_ends
from hpgraph.algorithms.vertex_values import named_path
from hpgraph.containers.graph import Graph, as_simple, naming_arguments
from hpgraph.core.device import to_device
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.bidirectional import without_cycles


@naming_arguments
def edge_disjoint_paths(G: Graph | Any, source: Any, sink: Any) -> list[list[Any]]:
    """A maximum set of edge-disjoint paths from one vertex to another.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; weights and loops are ignored. Each of parallel edges counts.
    source, sink : vertex
        By name, or by index where the graph has no names.

    Returns
    -------
    list of lists
        The vertices of each path; an empty list if there is no path, for which NetworkX raises an error.

    Notes
    -----
    `edge_connectivity` returns their number. For a graph on the GPU, the flow is computed there.

    References
    ----------
    L. R. Ford, D. R. Fulkerson, "Maximal flow through a network", Canadian Journal of Mathematics 8 (1956).

    Examples
    --------
    >>> hpg.edge_disjoint_paths(([0, 0, 1, 2, 1], [1, 2, 3, 3, 2]), 0, 3)
    [[0, 2, 3], [0, 1, 3]]
    """
    graph = counted(G)
    s, t = two_ends(graph, source, sink)
    both, capacity = both_ways(graph)
    value, net = flow_between(both, capacity, s, t)
    return [named_path(graph, path) for path in walks_of(both.out_csr.to("cpu"), to_device(net, "cpu"), s, t, value)]


@naming_arguments
def node_disjoint_paths(G: Graph | Any, source: Any, sink: Any) -> list[list[Any]]:
    """A maximum set of internally vertex-disjoint paths from one vertex to another.

    Parameters and result are those of `edge_disjoint_paths`.

    Returns
    -------
    list of lists
        The vertices of each path. An arc from `source` to `sink` is a path.

    Notes
    -----
    Runs on one thread of the CPU; a graph on the GPU is copied to it.

    References
    ----------
    S. Even, R. E. Tarjan, "Network flow and testing graph connectivity", SIAM Journal on Computing 4 (1975).

    Examples
    --------
    >>> hpg.node_disjoint_paths(([0, 0, 1, 2, 1], [1, 2, 3, 3, 2]), 0, 3)
    [[0, 2, 3], [0, 1, 3]]
    """
    graph = as_simple(G)
    s, t = two_ends(graph, source, sink)
    return [named_path(graph, path) for path in VerticesAsArcs(graph.out_csr.to("cpu")).paths(s, t)]


@naming_arguments
def node_connectivity(G: Graph | Any, source: Any = None, sink: Any = None) -> int:
    """Vertex connectivity: the least number of vertices whose removal makes one vertex unreachable from another.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; weights, loops and parallel edges are ignored.
    source, sink : vertex, optional
        By name, or by index if the graph has no names: the number of paths of `node_disjoint_paths`. By default the
        minimum over all pairs without an arc from the one to the other.

    Returns
    -------
    int
        n - 1 for a complete graph.

    Notes
    -----
    Runs on one thread of the CPU; a graph on the GPU is copied to it. With minimum degree d it takes about n + d²
    maximum flows, each of at most √n phases.

    References
    ----------
    A.-H. Esfahanian, "Connectivity algorithms" (2013). S. Even, R. E. Tarjan, "Network flow and testing graph
    connectivity", SIAM Journal on Computing 4 (1975).

    Examples
    --------
    >>> hpg.node_connectivity(hpg.Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 4], directed=False))
    1
    """
    graph = as_simple(G)
    if (source is None) != (sink is None):
        raise ValueError("source and sink must both be given, or neither")
    n, arcs = graph.n_vertices, graph.out_csr.to("cpu").without_diagonal().with_data(None)
    if source is None and n < 2:
        return 0
    if source is not None:
        return least_separation(arcs, [two_ends(graph, source, sink)], n)[0]
    connectivity = int(min(arcs.degrees.min(), np.bincount(arcs.indices, minlength=n).min()))
    return least_separation(arcs, separated(arcs, graph.directed), connectivity)[0]


def least_separation(arcs: CSR, pairs: Iterable[tuple[int, int]], least: int) -> tuple[int, tuple[int, int] | None]:
    """The fewest vertices that divide a pair, and the pair; None where none is divided by fewer than `least`."""
    split, pair = VerticesAsArcs(arcs), None
    for s, t in pairs:
        if least == 0:
            break
        if (value := split.flow(s, t)[0]) < least:
            least, pair = value, (s, t)
    return least, pair


def separated(arcs: CSR, directed: bool) -> Iterator[tuple[int, int]]:
    """Pairs of vertices without an arc, of which one is divided by a smallest set of vertices that divides any."""
    n = arcs.shape[0]
    into = kernels("cpu").transpose(arcs) if directed else arcs
    v = int((arcs.degrees + into.degrees).argmin())
    after = [set(arcs.indices[arcs.indptr[u] : arcs.indptr[u + 1]].tolist()) for u in range(n)]
    before = into.indices[into.indptr[v] : into.indptr[v + 1]].tolist()
    yield from ((v, u) for u in range(n) if u != v and u not in after[v])
    if directed:
        yield from ((u, v) for u in range(n) if u != v and v not in after[u])
    for u in before:
        yield from ((u, w) for w in after[v] if w not in after[u] and (u != w if directed else u < w))


class VerticesAsArcs:
    """A graph in which each vertex is an arc that carries 1: arcs to v arrive at v, and those from v leave n + v."""

    def __init__(self, arcs: CSR) -> None:
        self.n = n = arcs.shape[0]
        vertex = np.arange(n)
        source, target = np.concatenate([arcs.expand_rows() + n, vertex]), np.concatenate([arcs.indices, vertex + n])
        split = Graph.from_edges(source, target, n_vertices=2 * n, directed=True, names=False)
        self.both, self.capacity = both_ways(split)

    def flow(self, s: int, t: int) -> tuple[int, Any]:
        """The number of vertex-disjoint paths, and the flow along each arc."""
        return flow_between(self.both, self.capacity, s + self.n, t)

    def paths(self, s: int, t: int) -> list[list[int]]:
        """The vertices of each of these paths."""
        value, net = self.flow(s, t)
        walks = walks_of(self.both.out_csr, net, s + self.n, t, value)
        return [[*(v - self.n for v in walk if v >= self.n), t] for walk in walks]


def walks_of(arcs: CSR, net: Any, source: int, sink: int, value: int) -> list[list[int]]:
    """The paths of an integral flow, without cycles."""
    along = np.flatnonzero(net > 0)
    tails, heads = (np.repeat(ends[along], net[along]).tolist() for ends in (arcs.expand_rows(), arcs.indices))
    ahead: dict[int, list[int]] = {}
    for u, v in zip(tails, heads, strict=True):
        ahead.setdefault(u, []).append(v)
    paths = []
    for _ in range(value):
        path = [source]
        while path[-1] != sink:
            path.append(ahead[path[-1]].pop())
        paths.append(without_cycles(path))
    return paths
