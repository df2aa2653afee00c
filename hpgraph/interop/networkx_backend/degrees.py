"""Degrees, how those of neighbours go together, and what follows from degrees alone."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.interop.networkx_backend.components import _count, is_connected_in
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.serving import family


def _centrality(kind: str) -> Callable[[ConvertedGraph], dict[Any, float]]:
    def run(G: ConvertedGraph) -> dict[Any, float]:
        if len(G) <= 1:
            return dict.fromkeys(G, 1)
        return G.by_node(G.degree(kind) * (1.0 / (len(G) - 1.0)))

    return run


def _numbers(G: ConvertedGraph, nodes: Any) -> np.ndarray:
    return np.array([G.index[node] for node in G.nbunch_iter(nodes)], np.int64)


def _checked(G: ConvertedGraph, ends: dict[str, str], default: str, message: str) -> None:
    """Which ends of arcs are meant, by the names of the arguments."""
    for name, value in ends.items():
        if G.is_directed() and value not in ("in", "out", "in+out"):
            raise nx.NetworkXError(message.format(name, value))
        if not G.is_directed() and value != default:
            raise nx.NetworkXError("source and target arguments are only supported for directed graphs")


def _sums(G: ConvertedGraph, kind: str, of: np.ndarray, weight: str | None) -> np.ndarray:
    """For each node the sum of `of` over its neighbours, "in", "out" or both."""
    values = G.column(weight)
    total = np.zeros(len(G), np.result_type(of, np.int64 if values is None else values))
    for name, own, other in (("out", G.rows, G.indices), ("in", G.indices, G.rows)):
        if name in (kind.split("+") if G.is_directed() else ("out",)):
            np.add.at(total, own, of[other] if values is None else of[other] * values)
    return total


def _average_neighbor_degree(
    G: ConvertedGraph, source: str, target: str, nodes: Any, weight: str | None
) -> dict[Any, float]:
    ends = {"source": source, "target": target}
    _checked(G, ends, "out", "{} argument {} must be 'in', 'out' or 'in+out'")
    degree = G.degree(source, weight)
    total = _sums(G, source, G.degree(target), weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        average = np.where(degree == 0, 0.0, total / degree)
    chosen = _numbers(G, nodes)
    return dict(zip(G.named(chosen), average[chosen].tolist(), strict=True))


def _average_degree_connectivity(
    G: ConvertedGraph, source: str, target: str, nodes: Any, weight: str | None
) -> dict[int, float]:
    _checked(G, {"source": source, "target": target}, "in+out", '{} must be one of "in", "out", or "in+out"')
    chosen = _numbers(G, nodes)
    # NetworkX takes the successors where neighbours of both directions are asked for.
    total = _sums(G, "in" if source == "in" else "out", G.degree(target), weight)[chosen]
    number, strength = G.degree(source)[chosen], G.degree(source, weight)[chosen]
    degrees, first, group = np.unique(number, return_index=True, return_inverse=True)
    sums, norms = np.zeros(len(degrees), total.dtype), np.zeros(len(degrees), strength.dtype)
    np.add.at(sums, group, total)
    np.add.at(norms, group, strength)
    found = zip(degrees.tolist(), sums.tolist(), norms.tolist(), first.tolist(), strict=True)
    in_order = sorted(found, key=lambda row: row[3])
    return {k: average if norm == 0 else average / norm for k, average, norm, _ in in_order}


def _pairs(G: ConvertedGraph, nodes: Any, by_set: bool) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the arcs among some nodes; arcs in the order of a set of the nodes, or of the graph."""
    members = set(G) if nodes is None else set(nodes)
    inside = np.zeros(len(G), bool)
    chosen = np.array([G.index[node] for node in members if node in G], np.int64)
    inside[chosen] = True
    arcs = np.flatnonzero(inside[G.rows] & inside[G.indices])
    if by_set:
        place = np.zeros(len(G), np.int64)
        place[chosen] = np.arange(len(chosen))
        arcs = arcs[np.argsort(place[G.rows[arcs]], kind="stable")]
    return G.rows[arcs], G.indices[arcs]


def _by_degree(G: ConvertedGraph, x: str, y: str, weight: str | None, nodes: Any) -> tuple[np.ndarray, np.ndarray]:
    """The degrees at both ends of each arc."""
    source, target = _pairs(G, nodes, by_set=True)
    for kind in (x, y) if G.is_directed() else ():
        if kind not in ("in", "out"):
            raise KeyError(kind)
    return G.degree(x, weight)[source], G.degree(y, weight)[target]


def _by_attribute(G: ConvertedGraph, attribute: Any, nodes: Any) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """The values that nodes have, and which one of them either end of each arc has."""
    data, numbers = G.node_data or {}, dict[Any, int]()
    code = np.array([numbers.setdefault(data.get(node, {}).get(attribute), len(numbers)) for node in G], np.int64)
    # NetworkX takes the neighbours outside of the nodes as well.
    members = set(G) if nodes is None else set(nodes)
    inside = np.array([node in members for node in G], bool)
    arcs = inside[G.rows] if len(G) else np.zeros(0, bool)
    return list(numbers), code[G.rows[arcs]], code[G.indices[arcs]]


def _mixed(values: list[Any], source: np.ndarray, target: np.ndarray, normalized: bool) -> dict[Any, dict[Any, float]]:
    """How often a value at one end of an arc goes with another at the other end, by their numbers."""
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


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson's coefficient, from sums that are exact where the values are whole numbers."""
    if x.dtype.kind == "i":
        x, y = x.astype(object), y.astype(object)
    m, sx, sy = len(x), x.sum(), y.sum()
    spread = (m * (x * x).sum() - sx * sx) * (m * (y * y).sum() - sy * sy)
    if spread <= 0:
        return float("nan")
    return float((m * (x * y).sum() - sx * sy) / float(spread) ** 0.5)


def _numeric_assortativity(G: ConvertedGraph, attribute: Any, nodes: Any) -> float:
    data = G.node_data or {}
    for node in G if nodes is None else nodes:
        data[node][attribute]  # NetworkX's error where one has none
    values, source, target = _by_attribute(G, attribute, nodes)
    numbers = np.array([0 if value is None else value for value in values])
    if numbers.dtype.kind not in "if":
        raise NotImplementedError(f"{attribute!r} is not a number somewhere")
    return _correlation(numbers[source], numbers[target])


def _attribute_assortativity(G: ConvertedGraph, attribute: Any, nodes: Any) -> float:
    values, source, target = _by_attribute(G, attribute, nodes)
    k, m = len(values), max(len(source), 1)
    ends = np.bincount(source, minlength=k) / m, np.bincount(target, minlength=k) / m
    same, chance = float((source == target).sum()) / m, float((ends[0] * ends[1]).sum())
    return (same - chance) / (1 - chance) if chance != 1 else float("nan")


def _pearson(G: ConvertedGraph, x: str, y: str, weight: str | None, nodes: Any) -> float:
    import scipy.stats

    return float(scipy.stats.pearsonr(*_by_degree(G, x, y, weight, nodes))[0])


def _reciprocated(G: ConvertedGraph) -> np.ndarray:
    """Which arcs have their reverse."""
    n, rows = len(G), G.rows.astype(np.int64)
    return np.isin(rows * n + G.indices, G.indices.astype(np.int64) * n + rows)


def _overall_reciprocity(G: ConvertedGraph) -> float:
    if len(G.indices) == 0:
        raise nx.NetworkXError("Not defined for empty graphs")
    return int((_reciprocated(G) & (G.rows != G.indices)).sum()) / len(G.indices)


def _reciprocity(G: ConvertedGraph, nodes: Any) -> Any:
    if nodes is None:
        return _overall_reciprocity(G)
    both = np.bincount(G.rows[_reciprocated(G)], minlength=len(G))
    chosen, total = _numbers(G, nodes), G.degree("in+out")
    shares = [2 * int(both[u]) / int(total[u]) if total[u] else None for u in chosen.tolist()]
    if nodes in G:
        if shares[0] is None:
            raise nx.NetworkXError("Not defined for isolated nodes.")
        return shares[0]
    return dict(zip(G.named(chosen), shares, strict=True))


def _rich_club(G: ConvertedGraph) -> dict[int, float]:
    """As `networkx.rich_club_coefficient` without comparison with a random graph."""
    if G.has_loops:
        raise Exception("rich_club_coefficient is not implemented for graphs with self loops.")
    if len(G.edges) == 0:
        return {}
    degree = G.degree()
    rich = len(G) - np.cumsum(np.bincount(degree))
    lesser = np.minimum(degree[G.rows[G.edges]], degree[G.indices[G.edges]])
    joined = len(lesser) - np.cumsum(np.bincount(lesser, minlength=len(rich)))
    found = zip(joined.tolist(), rich.tolist(), strict=True)
    return {k: 2 * edges / (nodes * (nodes - 1)) for k, (edges, nodes) in enumerate(found) if nodes > 1}


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


def _is_weighted(G: ConvertedGraph, edge: Any, weight: str) -> bool:
    return (edge is not None or len(G.indices) > 0) and all(weight in data for data in _weights(G, edge))


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
    power, least = np.ones(n), 1 / (float(G.degree("out").sum()) / n)
    chosen: list[int] = []
    while len(chosen) < limit:
        votes = np.bincount(to, power[voter], n)
        votes[chosen] = 0
        best = int(votes.argmax())
        if votes[best] == 0:
            break
        chosen.append(best)
        power[best] = 0
        neighbors = G.indices[G.indptr[best] : G.indptr[best + 1]]
        power[neighbors] = np.maximum(power[neighbors] - least, 0)
    return G.named(np.array(chosen, np.int64))


def _normalized(call: Mapping[str, Any]) -> str | None:
    return "normalized must be False: the random graph to compare with is NetworkX's" if call["normalized"] else None


globals().update(
    family(
        {
            "degree_centrality": _centrality("in+out"),
            "in_degree_centrality": _centrality("in"),
            "out_degree_centrality": _centrality("out"),
            "average_neighbor_degree": _average_neighbor_degree,
            "average_degree_connectivity": _average_degree_connectivity,
            "degree_assortativity_coefficient": lambda G, x, y, weight, nodes: _correlation(
                *_by_degree(G, x, y, weight, nodes)
            ),
            "degree_pearson_correlation_coefficient": _pearson,
            "degree_mixing_dict": _degree_mixing,
            "attribute_assortativity_coefficient": _attribute_assortativity,
            "numeric_assortativity_coefficient": _numeric_assortativity,
            "attribute_mixing_dict": lambda G, attribute, nodes, normalized: _mixed(
                *_by_attribute(G, attribute, nodes), normalized
            ),
            "reciprocity": _reciprocity,
            "overall_reciprocity": _overall_reciprocity,
            "s_metric": _s_metric,
            "is_regular": _is_regular,
            "is_k_regular": lambda G, k: bool((G.degree() == k).all()),
            "is_eulerian": _is_eulerian,
            "has_eulerian_path": _has_eulerian_path,
            "number_of_selfloops": lambda G: int((G.rows == G.indices).sum()),
            "is_weighted": _is_weighted,
            "voterank": _voterank,
        }
    )
    | family({"isolates": lambda G: iter(G.named(np.flatnonzero(G.degree() == 0)))}, parallel=True)
    | family("number_of_isolates", parallel=True)
    | family("degree_mixing_matrix attribute_mixing_matrix is_semieulerian")
    | family({"rich_club_coefficient": _rich_club}, unless=_normalized, unread=("normalized", "Q", "seed"))
)
