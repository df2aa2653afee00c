"""Triangles and cliques, and how neighbours are joined among themselves."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph.algorithms import cliques as _cliques
from hpgraph.algorithms import clustering as _clustering
from hpgraph.algorithms import triangles as _triangles
from hpgraph.containers.vertices import id
from hpgraph.core.device import to_device
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import family, undirected


def _of(G: ConvertedGraph, array: Any, nodes: Any) -> Any:
    """The values of some nodes, as NetworkX gives them: of a single one the value; and 0 as a whole number."""
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
    # Not by NetworkX's own code: where `lengths` refuses weights, NetworkX runs on the graph that it was given.
    values = [value for value in _coefficients(G, nodes, weight).values() if count_zeros or value]
    return sum(values) / len(values)  # type: ignore[no-any-return]


def _square_clustering(G: ConvertedGraph, nodes: Any) -> Any:
    wanted = list(G.nbunch_iter(nodes))
    numbers = np.array([G.index[node] for node in wanted], np.int64)
    values = to_device(_clustering.square_clustering(G.graph(), id(numbers)), "cpu").tolist() if wanted else []
    found = dict(zip(wanted, values, strict=True))
    if 0 in values:
        # NetworkX has the whole number 0 where there can be no square: what it divides by is 0 there.
        n, others = len(G), G.rows != G.indices
        rows, before = G.rows[others], np.bincount(G.rows[others], minlength=len(G)) - 1
        beyond = np.bincount(rows, before[G.indices[others]], minlength=n) * before
        possible = beyond > 2 * to_device(_triangles.triangles(G.graph()), "cpu")
        found.update((node, 0) for node, value in found.items() if not (value or possible[G.index[node]]))
    return found[nodes] if nodes in G else found


def _maximal_cliques(G: ConvertedGraph) -> Iterator[list[Any]]:
    return (G.named(clique) for clique in _cliques.find_cliques(G.graph()))


globals().update(
    family(
        {
            "find_cliques": _maximal_cliques,
            "clustering": _coefficients,
            "average_clustering": _average,
            "triangles": lambda G, nodes: _of(G, _triangles.triangles(G.graph()) if len(G) else np.zeros(0), nodes),
        }
    )
    | family(
        {
            "transitivity": lambda G: _clustering.transitivity(G.graph()) or 0 if len(G) else 0,
            "square_clustering": _square_clustering,
        },
        unless=undirected,
    )
)
