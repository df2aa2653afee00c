"""Degrees, their mixing and assortativity, and properties that follow from degrees alone."""

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import core_periphery, mixing
from hpgraph.algorithms.census import triadic_census as _triadic_census
from hpgraph.algorithms.voterank import elect
from hpgraph.containers.vertices import id
from hpgraph.core.device import prefix_sum, to_device
from hpgraph.formats import CSR
from hpgraph.interop.networkx_backend.components import _count, is_connected_in
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import NETWORKX, family


def _centrality(kind: str) -> Callable[[ConvertedGraph], dict[Any, float]]:
    def run(G: ConvertedGraph) -> dict[Any, float]:
        if len(G) <= 1:
            return dict.fromkeys(G, 1)
        return G.by_node(G.degree(kind) * (1.0 / (len(G) - 1.0)))

    return run


def _checked(G: ConvertedGraph, ends: dict[str, str], default: str, message: str) -> None:
    """Check the arguments that select in-, out- or all degrees."""
    for name, value in ends.items():
        if G.is_directed() and value not in ("in", "out", "in+out"):
            raise nx.NetworkXError(message.format(name, value))
        if not G.is_directed() and value != default:
            raise nx.NetworkXError("source and target arguments are only supported for directed graphs")


def _average_neighbor_degree(
    G: ConvertedGraph, source: str, target: str, nodes: Any, weight: str | None
) -> dict[Any, float]:
    ends = {"source": source, "target": target}
    _checked(G, ends, "out", "{} argument {} must be 'in', 'out' or 'in+out'")
    chosen, graph = G.numbers(G.nbunch_iter(nodes)), G.graph(weight)
    average = mixing.average_neighbor_degree(graph, source, target, id(chosen), weight=graph.weighted)
    return dict(zip(G.named(chosen), to_device(average, "cpu").tolist(), strict=True))


def _average_degree_connectivity(
    G: ConvertedGraph, source: str, target: str, nodes: Any, weight: str | None
) -> dict[int, float]:
    _checked(G, {"source": source, "target": target}, "in+out", '{} must be one of "in", "out", or "in+out"')
    chosen, graph = G.numbers(G.nbunch_iter(nodes)), G.graph(weight)
    found = mixing.average_degree_connectivity(graph, source, target, id(chosen), weight=graph.weighted)
    average = to_device(found, "cpu").tolist()
    return {k: average[k] if k else 0 for k in dict.fromkeys(G.degree(source)[chosen].tolist())}


def _pairs(G: ConvertedGraph, nodes: Any) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the arcs among some nodes, in the order of a set of the nodes."""
    members = set(G) if nodes is None else set(nodes)
    inside = np.zeros(len(G), bool)
    chosen = G.numbers(node for node in members if node in G)
    inside[chosen] = True
    arcs = np.flatnonzero(inside[G.rows] & inside[G.indices])
    place = np.zeros(len(G), np.int64)
    place[chosen] = np.arange(len(chosen))
    arcs = arcs[np.argsort(place[G.rows[arcs]], kind="stable")]
    return G.rows[arcs], G.indices[arcs]


def _both_degrees(G: ConvertedGraph, x: str, y: str, weight: str | None) -> tuple[np.ndarray, np.ndarray]:
    """The degrees of all nodes, as sources and as targets."""
    for kind in (x, y) if G.is_directed() else ():
        if kind not in ("in", "out"):
            raise KeyError(kind)
    return G.degree(x, weight), G.degree(y, weight)


def _by_degree(G: ConvertedGraph, x: str, y: str, weight: str | None, nodes: Any) -> tuple[np.ndarray, np.ndarray]:
    """The degrees at both ends of each arc."""
    (source, target), degrees = _pairs(G, nodes), _both_degrees(G, x, y, weight)
    return degrees[0][source], degrees[1][target]


def _codes(G: ConvertedGraph, attribute: Any) -> tuple[list[Any], np.ndarray]:
    """The distinct values of an attribute, and the number of each node's value."""
    data, numbers = G.node_data or {}, dict[Any, int]()
    code = [numbers.setdefault(data.get(node, {}).get(attribute), len(numbers)) for node in G]
    return list(numbers), np.array(code, np.int64)


def _by_attribute(G: ConvertedGraph, attribute: Any, nodes: Any) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """The distinct values of an attribute, and the numbers of the values at both ends of each arc."""
    values, code = _codes(G, attribute)
    # NetworkX takes the neighbours outside of the nodes as well.
    members = set(G) if nodes is None else set(nodes)
    inside = np.array([node in members for node in G], bool)
    arcs = inside[G.rows] if len(G) else np.zeros(0, bool)
    return values, code[G.rows[arcs]], code[G.indices[arcs]]


def _mixed(values: list[Any], source: np.ndarray, target: np.ndarray, normalized: bool) -> dict[Any, dict[Any, float]]:
    """The mixing dict: counts, or shares, of arcs by the values at both ends, given as numbers."""
    key, first, count = np.unique(source * max(len(values), 1) + target, return_index=True, return_counts=True)
    found: dict[Any, dict[Any, float]] = {}
    order = np.argsort(first)
    rows, columns = np.divmod(key[order], max(len(values), 1))
    times = (count[order] / len(source) if normalized else count[order]).tolist()
    for x, y, number in zip(rows.tolist(), columns.tolist(), times, strict=True):
        found.setdefault(values[x], {})
        found.setdefault(values[y], {})
        found[values[x]][values[y]] = number
    return found


def _degree_mixing(
    G: ConvertedGraph, x: str, y: str, weight: str | None, nodes: Any, normalized: bool
) -> dict[Any, dict[Any, float]]:
    source, target = _by_degree(G, x, y, weight, nodes)
    values, code = np.unique(np.concatenate([source, target]), return_inverse=True)
    return _mixed(values.tolist(), code[: len(source)], code[len(source) :], normalized)


def _arcs_between(G: ConvertedGraph, nodes: Any, targets: bool) -> CSR:
    """The arcs from some nodes, with `targets` to some of them."""
    arcs = G.rows_in_order
    if nodes is None:
        return arcs
    inside = np.zeros(len(G), bool)
    inside[G.numbers(node for node in set(nodes) if node in G)] = True
    kept = inside[G.rows] & (inside[G.indices] if targets else True)
    before = prefix_sum(kept)
    return CSR(arcs.shape, before[arcs.indptr], arcs.indices[kept], validate=False)


def _received(arcs: CSR) -> np.ndarray:
    return np.bincount(arcs.indices, minlength=arcs.shape[1])


def _degree_assortativity(G: ConvertedGraph, x: str, y: str, weight: str | None, nodes: Any) -> float:
    degrees, arcs = _both_degrees(G, x, y, weight), _arcs_between(G, nodes, True)
    return mixing.correlation(arcs, _received(arcs), *degrees)


def _numeric_assortativity(G: ConvertedGraph, attribute: Any, nodes: Any) -> float:
    data = G.node_data or {}
    for node in G if nodes is None else nodes:
        data[node][attribute]  # NetworkX's error where one has none
    numbers = np.array([data.get(node, {}).get(attribute, 0) for node in G])
    if numbers.dtype.kind not in "if":
        raise NotImplementedError(f"{attribute!r} is not a number somewhere")
    arcs, numbers = _arcs_between(G, nodes, False), numbers.astype(np.float64)
    return mixing.correlation(arcs, _received(arcs), numbers, numbers)


def _attribute_assortativity(G: ConvertedGraph, attribute: Any, nodes: Any) -> float:
    arcs = _arcs_between(G, nodes, False)
    # NetworkX divides by the edges where it has some pairs.
    return mixing.excess_of_equal(arcs, _codes(G, attribute)[1], _received(arcs)) if arcs.nnz else 0.0


def _pearson(G: ConvertedGraph, x: str, y: str, weight: str | None, nodes: Any) -> float:
    import scipy.stats

    found = _by_degree(G, x, y, weight, nodes)
    return float("nan") if len(found[0]) < 2 and NETWORKX >= (3, 7) else float(scipy.stats.pearsonr(*found)[0])


def _overall_reciprocity(G: ConvertedGraph) -> float:
    if len(G.indices) == 0:
        raise nx.NetworkXError("Not defined for empty graphs")
    # NetworkX does not refuse undirected graphs that are no multigraphs, and finds no reverses in them.
    return float(mixing.reciprocity(G.graph())) if G.is_directed() else 0.0


def _reciprocity(G: ConvertedGraph, nodes: Any) -> Any:
    if nodes is None:
        return _overall_reciprocity(G)
    if not G.is_directed():
        raise NotImplementedError("NetworkX reads predecessors, which an undirected graph does not have")
    chosen = G.numbers(G.nbunch_iter(nodes))
    found = to_device(mixing.reciprocity(G.graph(), id(chosen)), "cpu").tolist()
    shares = [None if share != share else share for share in found]
    if nodes in G:
        if shares[0] is None:
            raise nx.NetworkXError("Not defined for isolated nodes.")
        return shares[0]
    return dict(zip(G.named(chosen), shares, strict=True))


def _rich_club(G: ConvertedGraph) -> dict[int, float]:
    """As `networkx.rich_club_coefficient` without comparison with a random graph."""
    if G.has_loops:
        raise Exception("rich_club_coefficient is not implemented for graphs with self loops.")
    found = core_periphery.rich_club_coefficient(G.graph()) if len(G.edges) else np.zeros(0)
    return dict(enumerate(to_device(found, "cpu").tolist()))


def _s_metric(G: ConvertedGraph) -> float:
    degree = G.degree()
    return float((degree[G.rows[G.edges]] * degree[G.indices[G.edges]]).sum())


def _is_regular(G: ConvertedGraph) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    return all(len(np.unique(G.degree(kind))) == 1 for kind in ("in", "out"))


def _is_eulerian(G: ConvertedGraph) -> bool:
    if G.is_directed():
        return bool((G.degree("in") == G.degree("out")).all()) and is_connected_in(G)
    return bool((G.degree() % 2 == 0).all()) and is_connected_in(G)


def _has_eulerian_path(G: ConvertedGraph, source: Any = None) -> bool:
    if _is_eulerian(G):
        return True
    if not G.is_directed():
        odd = G.degree() % 2 == 1
        if source is not None and not odd[G.index[source]]:
            return False
        return int(odd.sum()) == 2 and is_connected_in(G)
    surplus = G.degree("out") - G.degree("in")
    if source is not None and surplus[G.index[source]] != 1:
        return False
    within = bool((np.abs(surplus) <= 1).all()) and int((surplus == 1).sum()) <= 1 and int((surplus == -1).sum()) <= 1
    return within and _count(G) == 1


def _weights(G: ConvertedGraph, edge: Any) -> Iterator[dict[Any, Any]]:
    """The dict of an edge, or of all."""
    if edge is None:
        return (G.attributes(arc) for arc in G.edges.tolist())
    u, v = (G.index.get(node, -1) for node in edge)
    arcs = np.flatnonzero((G.rows == u) & (G.indices == v))
    if not len(arcs):
        raise nx.NetworkXError(f"Edge {edge!r} does not exist.")
    return iter([G.attributes(int(arcs[0]))])


def _voterank(G: ConvertedGraph, number_of_nodes: int | None) -> list[Any]:
    """As `networkx.voterank`: votes are added up in the order of the edges."""
    n = len(G)
    limit = n if number_of_nodes is None or number_of_nodes > n else number_of_nodes
    source, target = G.rows[G.edges], G.indices[G.edges]
    to, voter = source, target
    if not G.is_directed():
        to, voter = np.stack([source, target], 1).ravel(), np.stack([target, source], 1).ravel()
    if len(G.indices) == 0:
        return []
    chosen = elect(
        np.ones(n), n / int(G.degree("out").sum()), lambda power: np.bincount(to, power[voter], n),
        lambda best: G.indices[G.indptr[best] : G.indptr[best + 1]], limit,
    )  # fmt: skip
    return G.named(np.array(chosen, np.int64))


globals().update(
    family(
        {
            "degree_centrality": _centrality("in+out"),
            "in_degree_centrality": _centrality("in"),
            "out_degree_centrality": _centrality("out"),
            "average_neighbor_degree": _average_neighbor_degree,
            "average_degree_connectivity": _average_degree_connectivity,
            "degree_assortativity_coefficient": _degree_assortativity,
            "degree_pearson_correlation_coefficient": _pearson,
            "degree_mixing_dict": _degree_mixing,
            "attribute_assortativity_coefficient": _attribute_assortativity,
            "numeric_assortativity_coefficient": _numeric_assortativity,
            "attribute_mixing_dict": lambda G, attribute, nodes, normalized: _mixed(
                *_by_attribute(G, attribute, nodes), normalized
            ),
            "triadic_census": lambda G: _triadic_census(G.graph()),
            "reciprocity": _reciprocity,
            "overall_reciprocity": _overall_reciprocity,
            "s_metric": _s_metric,
            "is_regular": _is_regular,
            "is_k_regular": lambda G, k: bool((G.degree() == k).all()),
            "is_eulerian": _is_eulerian,
            "has_eulerian_path": _has_eulerian_path,
            "number_of_selfloops": lambda G: int((G.rows == G.indices).sum()),
            "is_weighted": lambda G, edge, weight: (
                (edge is not None or len(G.indices) > 0) and all(weight in data for data in _weights(G, edge))
            ),
            "voterank": _voterank,
        }
    )
    | family({"isolates": lambda G: iter(G.named(np.flatnonzero(G.degree() == 0)))}, parallel=True)
    | family("number_of_isolates", parallel=True)
    | family("degree_mixing_matrix attribute_mixing_matrix is_semieulerian")
    # Normalized by a random graph that NetworkX draws.
    | family({"rich_club_coefficient": _rich_club}, only={"normalized": (False,)}, unread=("Q", "seed"))
)
