"""Triangles and cliques, and how neighbours are joined among themselves."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hpgraph.algorithms import cliques as _cliques
from hpgraph.algorithms import clustering as _clustering
from hpgraph.algorithms import triangles as _triangles
from hpgraph.containers.vertices import id
from hpgraph.core.device import to_device
from hpgraph.formats import CSR
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import family, undirected
from hpgraph.kernels.structure.cpu_cliques import cliques_by_size

# Cliques converted to nodes at a time.
_BLOCK = 1 << 12


def _of(G: ConvertedGraph, array: Any, nodes: Any) -> Any:
    """Values of `nodes` in NetworkX's form: a dict, or the value of a single node; zeros are the integer 0."""
    values = to_device(array, "cpu").tolist()
    if array.dtype.kind == "f":
        values = [value or 0 for value in values]
    if nodes is None:
        return dict(zip(G, values, strict=True))
    if nodes in G:
        return values[G.index[nodes]]
    return {node: values[G.index[node]] for node in G.nbunch_iter(nodes)}


def _coefficients(G: ConvertedGraph, nodes: Any, weight: str | None) -> Any:
    graph = G.lengths(weight)
    if len(G) == 0:
        return _of(G, np.zeros(0), nodes)
    if graph.weighted and graph.out_csr.data.max() == 0:
        raise NotImplementedError("no weight is positive")
    return _of(G, _clustering.clustering(graph, weight=graph.weighted), nodes)


def _average(G: ConvertedGraph, nodes: Any, weight: str | None, count_zeros: bool) -> float:
    # Not by NetworkX's code: if `lengths` refuses weights, NetworkX must run on its own graph.
    values = [value for value in _coefficients(G, nodes, weight).values() if count_zeros or value]
    return sum(values) / len(values)  # type: ignore[no-any-return]


def _square_clustering(G: ConvertedGraph, nodes: Any) -> Any:
    wanted = list(G.nbunch_iter(nodes))
    shares = _clustering.square_clustering(G.graph(), id(G.numbers(wanted))) if wanted else np.zeros(0)
    values = to_device(shares, "cpu").tolist()
    found = dict(zip(wanted, values, strict=True))
    if 0 in values:
        # NetworkX has the whole number 0 where there can be no square: what it divides by is 0 there.
        n, others = len(G), G.rows != G.indices
        rows, before = G.rows[others], np.bincount(G.rows[others], minlength=len(G)) - 1
        beyond = np.bincount(rows, before[G.indices[others]], minlength=n) * before
        possible = beyond > 2 * to_device(_triangles.triangles(G.graph()), "cpu")
        found.update((node, 0) for node, value in found.items() if not (value or possible[G.index[node]]))
    return found[nodes] if nodes in G else found


def _maximal_cliques(G: ConvertedGraph, nodes: Any = None) -> Iterator[list[Any]]:
    """As `networkx.find_cliques`: with some nodes all cliques that contain these, which come first."""
    if len(G) == 0:
        return
    if not nodes:
        yield from (G.named(clique) for clique in _cliques.find_cliques(G.graph()))
        return
    common = np.ones(len(G), bool)
    for node in nodes:
        if not (node in G and common[number := G.index[node]]):
            raise ValueError(f"The given `nodes` {nodes} do not form a clique")
        common &= np.isin(np.arange(len(G)), G.indices[G.indptr[number] : G.indptr[number + 1]])
        common[number] = False
    if not common.any():
        yield list(nodes)
        return
    members = np.flatnonzero(common)
    for clique in _cliques.find_cliques(G.graph().subgraph(id(members), names=False)):
        yield [*nodes, *G.named(members[clique])]


def _all_cliques(G: ConvertedGraph) -> Iterator[list[Any]]:
    """As `networkx.enumerate_all_cliques`, in its order: by size, then by the places of nodes in the graph."""
    # Imported here: Numba is heavy.
    n, ahead = len(G), G.rows < G.indices
    later = csr_array((ahead[ahead], (G.rows[ahead], G.indices[ahead])), shape=(n, n))
    later.sort_indices()
    for cliques in cliques_by_size(CSR.from_scipy(later, pattern=True)):
        for begin in range(0, len(cliques), _BLOCK):
            yield from G.node_array[cliques[begin : begin + _BLOCK]].tolist()


def _clique_number(G: ConvertedGraph, nodes: Any) -> Any:
    if nodes is None:
        largest = np.zeros(len(G), np.int64)
        for clique in _cliques.find_cliques(G.graph()) if len(G) else ():
            largest[clique] = np.maximum(largest[clique], len(clique))
        return defaultdict(int, G.by_node(largest))
    if nodes in G:
        return max(map(len, _maximal_cliques(G, [nodes])))
    return {node: max(map(len, _maximal_cliques(G, [G.nodes[G.number(node)]]))) for node in nodes}


def _largest_clique(G: ConvertedGraph) -> tuple[list[Any], int]:
    found = G.named(_cliques.maximum_clique(G.graph())) if len(G) else []
    return found, len(found)


globals().update(
    family(
        {
            "find_cliques": _maximal_cliques,
            "find_cliques_recursive": _maximal_cliques,
            "clustering": _coefficients,
            "average_clustering": _average,
            "triangles": lambda G, nodes: _of(G, _triangles.triangles(G.graph()) if len(G) else np.zeros(0), nodes),
        }
    )
    | family({"enumerate_all_cliques": _all_cliques}, unless=undirected)
    | family({"node_clique_number": _clique_number}, unless=undirected, unread=("separate_nodes",))
    | family({"max_weight_clique": _largest_clique}, only={"weight": (None,)})
    | family(
        {
            "transitivity": lambda G: _clustering.transitivity(G.graph()) or 0 if len(G) else 0,
            "square_clustering": _square_clustering,
        },
        unless=undirected,
    )
)
