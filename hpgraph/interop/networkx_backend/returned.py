"""NetworkX graphs made of arrays; their dicts are filled on first access.

Until then NetworkX's cache holds the converted graph, which functions of the backend use.
"""

from collections.abc import Sequence
from typing import Any, cast

import networkx as nx
import numpy as np

from hpgraph.core.device import prefix_sum
from hpgraph.formats.checks import index_dtype
from hpgraph.formats.duplicates import run_starts
from hpgraph.interop.networkx_backend.converted import ConvertedGraph


class _FilledWhenRead:
    """One of the dicts of a graph."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, graph: Any, owner: type | None = None) -> Any:
        if graph is None:
            return self
        graph._fill()
        return getattr(graph, self.name)

    def __set__(self, graph: Any, value: Any) -> None:
        graph._fill()
        setattr(graph, self.name, value)


class _Unread:
    """A graph whose dicts are unread; filling them turns it into an instance of NetworkX's own class."""

    _adj = _FilledWhenRead()
    _node = _FilledWhenRead()
    _converted: ConvertedGraph
    _plain: type

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        # NetworkX instantiates a graph's class to make further graphs.
        return cls._plain(*args, **kwargs)

    def _fill(self) -> None:
        made, graph = self.__dict__.pop("_converted"), cast("Any", self)
        graph.__class__ = self._plain
        nodes, data = made.nodes, made.node_data
        graph._node = {node: {} for node in nodes} if data is None else {node: dict(data[node]) for node in nodes}
        # What is changed in the graph's own dicts of attributes is seen by the conversion.
        made.node_data = graph._node
        cells = _cells(made)
        graph._adj = made.by_arc(made.indptr, made.indices, cells)
        if made.is_directed():
            indptr, arcs = made.incoming
            graph._pred = made.by_arc(indptr, made.rows[arcs], [cells[arc] for arc in arcs.tolist()])

    def __str__(self) -> str:
        self._fill()
        return str(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        self._fill()
        return self.__reduce_ex__(protocol)


class UnreadGraph(_Unread, nx.Graph):
    """An undirected one."""

    _plain = nx.Graph


class UnreadDiGraph(_Unread, nx.DiGraph):
    """A directed one."""

    _plain = nx.DiGraph
    _succ = _FilledWhenRead()
    _pred = _FilledWhenRead()


def _cells(made: ConvertedGraph) -> list[dict[Any, Any]]:
    """The dict of each arc; both arcs of an undirected edge have the same."""
    if made.arc_data is not None:
        return made.arc_data
    columns = {name: values.tolist() for (name, _), values in made._columns.items() if values is not None}
    ends = np.minimum(made.rows, made.indices), np.maximum(made.rows, made.indices)
    key = np.arange(len(made.rows)) if made.is_directed() else ends[0].astype(np.int64) * len(made) + ends[1]
    _, first, edge = np.unique(key, return_index=True, return_inverse=True)
    cells: list[dict[Any, Any]] = [{name: values[arc] for name, values in columns.items()} for arc in first.tolist()]
    return [cells[number] for number in edge.reshape(-1).tolist()]


def as_networkx(made: ConvertedGraph) -> Any:
    """The NetworkX graph of a conversion, which is put into its cache."""
    graph: Any = object.__new__(UnreadDiGraph if made.is_directed() else UnreadGraph)
    graph.__dict__["_converted"] = made
    graph.graph = made.graph_data = dict(made.graph_data)
    graph.__networkx_cache__ = {"backends": {"hpgraph": {(True, True): made}}}
    return graph


def graph_of_edges(
    nodes: Sequence[Any], source: Any, target: Any, directed: bool, edge_data: Sequence[dict[Any, Any]] | None = None,
    node_data: dict[Any, dict[Any, Any]] | None = None, graph_data: dict[Any, Any] | None = None,
) -> Any:  # fmt: skip
    """A graph as `add_edges_from` makes it; a repeated edge keeps its place and takes the later of ``edge_data``."""
    nodes, n = list(nodes), len(nodes)
    source, target = np.asarray(source, np.int64), np.asarray(target, np.int64)
    edge = np.arange(len(source))
    rows, columns = source, target
    if not directed:
        both = source != target
        rows, columns = np.concatenate([source, target[both]]), np.concatenate([target, source[both]])
        edge = np.concatenate([edge, edge[both]])
    order = np.lexsort((edge, columns, rows))
    rows, columns, edge = rows[order], columns[order], edge[order]
    once = run_starts(rows, columns)
    latest = edge[np.append(once[1:], True)[: len(edge)]]
    rows, columns, edge = rows[once], columns[once], edge[once]
    order = np.lexsort((edge, rows))
    indptr = prefix_sum(np.bincount(rows, minlength=n))
    data = None
    if edge_data is not None and any(edge_data):
        copies = [dict(cell) for cell in edge_data]
        data = [copies[number] for number in latest[order].tolist()]
    indices = columns[order].astype(index_dtype(n))
    return as_networkx(ConvertedGraph(nodes, indptr, indices, directed, False, data, node_data, graph_data))


def subgraph(G: ConvertedGraph, members: np.ndarray, arcs: np.ndarray | None = None) -> Any:
    """A copy of ``G.subgraph(nodes)``, of nodes by number; ``arcs``: a mask of those to keep, if not all."""
    # NetworkX iterates over a set if the nodes are fewer than half of all.
    if 2 * len(members) < len(G):
        kept = list(set(G.named(members)))
        members = G.numbers(kept)
    else:
        members = np.sort(members)
        kept = G.named(members)
    return spanned(G, kept, members, np.ones(len(G.indices), bool) if arcs is None else arcs)


def spanned(G: ConvertedGraph, kept: list[Any], members: np.ndarray, arcs: np.ndarray) -> Any:
    """The graph of some nodes, by name and number, and of those of the arcs (a mask) between them, with their data."""
    place = np.full(len(G), -1)
    place[members] = np.arange(len(members))
    source, target = place[G.rows], place[G.indices]
    chosen = np.flatnonzero((source >= 0) & (target >= 0) & arcs)
    chosen = chosen[np.argsort(source[chosen], kind="stable")]
    cells = None if G.arc_data is None else [G.arc_data[arc] for arc in chosen.tolist()]
    directed, node_data = G.is_directed(), G.copied_node_data(kept)
    return graph_of_edges(kept, source[chosen], target[chosen], directed, cells, node_data, G.graph_data)
