"""Centralities of nodes and edges."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.algorithms import betweenness as _betweenness
from hpgraph.algorithms import closeness as _closeness
from hpgraph.algorithms import eigenvector as _eigenvector
from hpgraph.algorithms import hits as _hits
from hpgraph.algorithms import pagerank as _pagerank
from hpgraph.containers.vertices import id
from hpgraph.core.device import to_device
from hpgraph.core.errors import ConvergenceWarning
from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.searches import Search, by_steps, from_each
from hpgraph.interop.networkx_backend.serving import NETWORKX, family, serves
from hpgraph.kernels.structure.cpu_fifo import add_loads

# Vectors that ARPACK iterates with, by default, before it counts one restart: `max_iter` counts those in `nx.hits`.
_VECTORS = 20


def _converged(max_iter: int, run: Callable[..., Any], *args: Any, grows: bool = False, **options: Any) -> Any:
    """The result of an iteration; raises if it has not converged, with `grows` also if numbers exceed floats."""
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            result = run(*args, **options)
        except ValueError as error:
            if not grows:
                raise
            raise nx.PowerIterationFailedConvergence(max_iter) from error
    if not result.converged:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return result


@serves(unless=lambda call: None if call["dangling"] is None else "dangling is not taken")
def pagerank(
    G: ConvertedGraph, alpha: float = 0.85, personalization: Any = None, max_iter: int = 100, tol: float = 1.0e-6,
    nstart: Any = None, weight: str | None = "weight", dangling: Any = None, *, dtype: Any = np.float64,
) -> dict[Any, float]:  # fmt: skip
    """As `networkx.pagerank`."""
    n = len(G)
    if n == 0:
        return {}
    graph = G.lengths(weight)
    jumps = None if personalization is None else G.array_of(personalization)
    if jumps is not None and jumps.sum() == 0:
        raise ZeroDivisionError
    # NetworkX starts uniformly, with any personalization.
    start = np.ones(n) if nstart is None else G.array_of(nstart)
    if start.sum() == 0:
        # There it divides by zero, and NaN never converges.
        raise nx.PowerIterationFailedConvergence(max_iter)
    start /= start.sum()
    result = _converged(
        max_iter, _pagerank.pagerank, graph, damping=alpha, tol=n * tol, max_iteration=max_iter,
        personalization=jumps, start=start, weight=graph.weighted, dtype=dtype,
    )  # fmt: skip
    return G.by_node(result.rank)


def _of_unknown_length(call: Mapping[str, Any]) -> str | None:
    svd = call["method"] == "svd" and not call["normalized"]
    return "lengths and signs of singular vectors are not fixed" if svd else None


@serves(unless=_of_unknown_length)
def hits(
    G: ConvertedGraph, max_iter: int = 100, tol: float = 1.0e-8, nstart: Any = None, normalized: bool = True, *,
    method: str = "power_iteration" if NETWORKX >= (3, 7) else "svd",
) -> tuple[dict[Any, float], dict[Any, float]]:  # fmt: skip
    """As `networkx.hits`."""
    if method not in ("power_iteration", "svd"):
        raise ValueError(f"method not supported: {method}")
    if len(G) == 0:
        return {}, {}
    power = method == "power_iteration"
    start = None
    if power and nstart is not None:
        if missing := set(G) - nstart.keys():
            raise nx.NetworkXError(f"nstart must have a value for every node; missing: {missing}")
        start = G.array_of(nstart)
        if start.sum() == 0:
            raise nx.NetworkXError("nstart values must not sum to zero")
    graph = G.lengths("weight")
    # Where there is no edge, power iteration divides by zero there, and NaN never converges.
    if power and graph.n_edges == 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    limit = max_iter if power else _VECTORS * max_iter
    result = _converged(max_iter, _hits.hits, graph, tol=tol, max_iteration=limit, start=start)
    hubs, authorities = (
        values if normalized else values / values.max() for values in (result.hubs, result.authorities)
    )
    return G.by_node(hubs), G.by_node(authorities)


def _katz_centrality(
    G: ConvertedGraph, alpha: float, beta: Any, max_iter: int, tol: float, nstart: Any, normalized: bool,
    weight: str | None,
) -> dict[Any, float]:  # fmt: skip
    if len(G) == 0:
        return {}
    try:
        attached: Any = float(beta)
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        attached = G.array_of(beta)
    graph = G.graph(weight)
    start = None if nstart is None else G.array_of(nstart)
    result = _converged(
        max_iter, _eigenvector.katz_centrality, graph, alpha, attached, tol=tol, max_iteration=max_iter, start=start,
        normalized=normalized, weight=graph.weighted, grows=True,
    )  # fmt: skip
    return G.by_node(result.centrality)


def _eigenvector_centrality(
    G: ConvertedGraph, max_iter: int, tol: float, nstart: Any, weight: str | None
) -> dict[Any, float]:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    start = None if nstart is None else G.array_of(nstart)
    if start is not None and not start.any():
        raise nx.NetworkXError("initial vector cannot have all zero values")
    graph = G.graph(weight)
    result = _converged(
        max_iter, _eigenvector.eigenvector_centrality, graph, tol=tol, max_iteration=max_iter, start=start,
        weight=graph.weighted, grows=True,
    )  # fmt: skip
    return G.by_node(result.centrality)


def _drawn(G: ConvertedGraph, k: int | None, seed: Any, since: tuple[int, int]) -> Any:
    """The sources that NetworkX draws, from the version on in which it scales sums over them so."""
    if k is not None and since > NETWORKX:
        raise NotImplementedError("sums over k sources were scaled differently before NetworkX {}.{}".format(*since))
    if k is None or k == len(G):
        return None
    if k == 0:
        raise ZeroDivisionError("no source to scale by")
    return id(G.numbers(seed.sample(G.nodes, k)))


def _betweenness_centrality(
    G: ConvertedGraph, k: int | None, normalized: bool, weight: str | None, endpoints: bool, seed: Any
) -> dict[Any, float]:
    sources = _drawn(G, k, seed, (3, 5))
    if len(G) == 0:
        return {}
    graph = G.lengths(weight, positive=True)
    G.check_ties(weight)
    return G.by_node(
        _betweenness.betweenness_centrality(
            graph, normalized=normalized, weight=graph.weighted or None, endpoints=endpoints, sources=sources
        )
    )


def _edge_betweenness_centrality(
    G: ConvertedGraph, k: int | None, normalized: bool, weight: str | None, seed: Any
) -> dict[tuple[Any, Any], float]:
    sources = _drawn(G, k, seed, (3, 6))
    if len(G) == 0:
        return {}
    graph = G.lengths(weight, positive=True)
    G.check_ties(weight)
    found = _betweenness.edge_betweenness_centrality(
        graph, normalized=normalized, weight=graph.weighted or None, sources=sources
    )
    # Arcs of a graph are in order of their ends; NetworkX has them in the order in which neighbours were added, and an
    # undirected edge at the end that comes first.
    values = np.empty(len(G.indices))
    values[np.lexsort((G.indices, G.rows))] = to_device(found, "cpu")
    source, target = G.rows, G.indices
    if not G.is_directed():
        once = source <= target
        source, target, values = source[once], target[once], values[once]
    return dict(zip(G.pairs(source, target), values.tolist(), strict=True))


def _closeness_centrality(G: ConvertedGraph, u: Any, distance: str | None, wf_improved: bool) -> Any:
    graph = G.lengths(distance)
    sources = None if u is None else id(np.array([G.number(u, "Source {} is not in G")], np.int64))
    if len(G) == 0:
        return {}
    values = _closeness.closeness_centrality(
        graph, sources, wf_improved=bool(wf_improved), weight=graph.weighted or None
    )
    return G.by_node(values) if u is None else float(values[0])


def _harmonic_centrality(G: ConvertedGraph, nbunch: Any, distance: str | None) -> dict[Any, float]:
    # NetworkX iterates over a set.
    wanted = list(set(G.nbunch_iter(nbunch) if nbunch is not None else G.nodes))
    if not wanted:
        return {}
    graph = G.lengths(distance, positive=True)
    found = _closeness.harmonic_centrality(graph, id(G.numbers(wanted)), weight=graph.weighted or None)
    values = to_device(found, "cpu").tolist()
    return {node: value if value else 0 for node, value in zip(wanted, values, strict=True)}


def _load(G: ConvertedGraph, v: Any, cutoff: Any, normalized: bool, weight: str | None) -> Any:
    n, total = len(G), np.zeros(len(G))
    if weight is None:
        found: Iterable[Search] = (by_steps(G, source, cutoff or None) for source in range(n))
    else:
        G.lengths(weight, positive=True)
        found = from_each(G, weight, cutoff)
    values = G.column(weight)
    lengths = np.ones(len(G.indices)) if values is None else values.astype(np.float64)
    for search in found:
        distance = np.full(n, np.inf)
        distance[search.order] = search.distance[search.order]
        add_loads(G.indptr, G.indices, lengths, distance, search.order, total)
    loads = G.by_node(total / ((n - 1) * (n - 2)) if normalized and n > 2 else total)
    return loads if v is None else loads.get(v, 0.0)


def _percolation_centrality(
    G: ConvertedGraph, attribute: str, states: Mapping[Any, float] | None, weight: str | None
) -> dict[Any, float]:
    n = len(G)
    if states is None:
        data = G.node_data or {}
        states = {node: data.get(node, {}).get(attribute, 1) for node in G}
    if not all(isinstance(value, Real) for value in states.values()):
        raise NotImplementedError("a state is not a number")
    if not set(G) <= states.keys():
        raise NotImplementedError("a node has no state, for which NetworkX may not ask")
    # States of what is no node count in the sum.
    percolated, whole = G.array_of(states), float(sum(states.values()))
    graph, others = G.lengths(weight, positive=True), whole - percolated
    G.check_ties(weight)
    has_in_edge = np.zeros(n, bool)
    has_in_edge[G.indices[G.rows != G.indices]] = True
    if (has_in_edge & (others == 0)).any():
        raise ZeroDivisionError("float division by zero")
    scale = 1 / (n - 2)
    at = np.flatnonzero(percolated)
    shares = to_device(percolated[at], graph.device)
    found = to_device(_betweenness.path_dependencies(graph, at, graph.weighted, shares=shares).vertices, "cpu")
    return G.by_node(np.where(has_in_edge, found, 0) / np.where(has_in_edge, others, 1) * scale)


globals().update(
    family(
        {
            "percolation_centrality": _percolation_centrality,
            "newman_betweenness_centrality": _load,
            "katz_centrality": _katz_centrality,
            "eigenvector_centrality": _eigenvector_centrality,
            "betweenness_centrality": _betweenness_centrality,
            "edge_betweenness_centrality": _edge_betweenness_centrality,
            "closeness_centrality": _closeness_centrality,
            "harmonic_centrality": _harmonic_centrality,
        }
    )
)
