"""NetworkX graphs in and out."""

from __future__ import annotations

from numbers import Integral, Real
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.errors import MissingExtraError

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph


def from_networkx(graph: Any, weight: str | None = "weight") -> Graph:
    """A NetworkX graph as a `Graph`.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        The graph. Vertices are numbered in its order of nodes; of parallel edges the lightest is kept.
    weight : str or None, optional
        Edge attribute to take as weight. Edges without it weigh 1, as in NetworkX; when no edge has it, or with None,
        the graph has no weights.

    Returns
    -------
    Graph
        On the CPU. The nodes are its names, by which vertices go everywhere (`hpgraph.id` says an index), unless they
        are 0, 1, ..., n - 1 in this order. Weights are int64 where all are whole numbers, else float64.

    Raises
    ------
    MissingExtraError
        Without NetworkX.
    TypeError
        Where `graph` is no NetworkX graph, or a weight is not a real number.

    Examples
    --------
    >>> import networkx as nx, hpgraph as hpg
    >>> G = hpg.from_networkx(nx.Graph([("a", "b"), ("b", "c")]))
    >>> G.n_vertices, G.n_edges, G.names.tolist()
    (3, 4, ['a', 'b', 'c'])
    """
    from hpgraph.containers.graph import Graph

    nx = _networkx("from_networkx")
    if not isinstance(graph, nx.Graph):
        raise TypeError(f"graph must be a NetworkX graph, not {type(graph).__name__}; hpgraph.as_graph takes others")
    if weight is not None and not isinstance(weight, str):
        raise TypeError(f"weight must be the name of an edge attribute or None, not {weight!r}")
    nodes = list(graph)
    number_of = {node: number for number, node in enumerate(nodes)}
    source: list[int] = []
    target: list[int] = []
    weights: list[Any] = []
    edges = graph.edges(data=weight) if weight is not None else ((u, v, None) for u, v in graph.edges())
    for u, v, value in edges:
        if value is not None and not isinstance(value, Real):
            raise TypeError(f"{weight!r} of edge ({u!r}, {v!r}) must be a real number, not {value!r}")
        source.append(number_of[u])
        target.append(number_of[v])
        weights.append(value)
    return Graph.from_edges(
        np.array(source, dtype=np.int64),
        np.array(target, dtype=np.int64),
        _as_array(weights),
        n_vertices=len(nodes),
        directed=graph.is_directed(),
        names=nodes,
    )


def to_networkx(graph: Any) -> Any:
    """A graph as a NetworkX graph.

    Parameters
    ----------
    graph : Graph, or anything `hpgraph.as_graph` takes
        The graph; from the GPU it is copied to the CPU first.

    Returns
    -------
    networkx.Graph or networkx.DiGraph
        Nodes are the names where there are any, else 0 ... n - 1, in this order; weights are the edge attribute
        ``weight``, Python numbers.

    Raises
    ------
    MissingExtraError
        Without NetworkX.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2], [5, 7])
    >>> hpg.to_networkx(G).edges(data="weight")
    OutEdgeDataView([(0, 1, 5), (1, 2, 7)])
    """
    from hpgraph.containers.graph import as_graph
    from hpgraph.containers.names import python_values
    from hpgraph.io.arcs import Arcs

    nx = _networkx("to_networkx")
    arcs = Arcs.of(as_graph(graph).to("cpu")).each_edge_once()
    result = nx.DiGraph() if arcs.directed else nx.Graph()
    nodes = range(arcs.n_vertices) if arcs.names is None else python_values(arcs.names)
    result.add_nodes_from(nodes)
    ends = [map(nodes.__getitem__, column.tolist()) for column in (arcs.source, arcs.target)]
    if arcs.weight is None:
        result.add_edges_from(zip(*ends, strict=True))
    else:
        result.add_weighted_edges_from(zip(*ends, arcs.weight.tolist(), strict=True))
    return result


def _networkx(purpose: str) -> ModuleType:
    try:
        import networkx
    except ImportError:
        raise MissingExtraError("networkx", "networkx", purpose) from None
    return networkx


def _as_array(weights: list[Any]) -> np.ndarray[Any, np.dtype[Any]] | None:
    given = [value is not None for value in weights]
    if not any(given):
        return None
    filled = [value if there else 1 for value, there in zip(weights, given, strict=True)]
    if all(isinstance(value, Integral) for value in filled):
        try:
            return np.array(filled, dtype=np.int64)
        except OverflowError:
            pass  # float64 comes nearest to whole numbers beyond 64 bits.
    return np.array(filled, dtype=np.float64)
