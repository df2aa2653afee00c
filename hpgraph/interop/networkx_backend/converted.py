"""A NetworkX graph, converted: what the functions of the backend work on, and NetworkX keeps with the graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse

from hpgraph.containers.graph import Graph
from hpgraph.containers.networkx_edges import holds_edges, rows_of, values_of
from hpgraph.containers.node_numbers import neighbors_of
from hpgraph.core.config import config
from hpgraph.core.device import to_device
from hpgraph.formats import CSR

# Above this, floats do not represent all integers.
_INEXACT = 2.0**53


class ConvertedGraph:
    """The nodes, neighbours in NetworkX's order, and such attributes of the edges as were asked for.

    ``nodes`` (list): in NetworkX's order; `index` is the way back; ``indptr, indices`` (int64 arrays): the neighbours
    of each node, as numbers, in NetworkX's order.
    """

    __networkx_backend__ = "hpgraph"

    def __init__(self, graph: Any, attributes: Iterable[str] = ()) -> None:
        self.nodes: list[Any] = list(graph)
        rows = rows_of(graph, self.nodes)
        self.indptr, self.indices = neighbors_of(self.nodes, rows)
        self.values = {name: values_of(graph, rows, name) for name in attributes}
        self._directed: bool = graph.is_directed()
        self._multigraph: bool = graph.is_multigraph()
        self._graphs: dict[str | None, Graph] = {}
        if not self._directed and not holds_edges(graph):
            self._check_symmetric()

    def _check_symmetric(self) -> None:
        """An undirected view of a directed graph has for an edge the attributes of either arc.

        By which end is asked.
        """
        for name, values in self.values.items():
            if values is not None and ((matrix := self._matrix(values)) != matrix.T.tocsr()).nnz:
                raise NotImplementedError(f"{name!r} of an arc and of its reverse differ in this undirected view")

    @cached_property
    def index(self) -> dict[Any, int]:
        """The number of each node."""
        return dict(zip(self.nodes, range(len(self.nodes)), strict=True))

    @cached_property
    def node_array(self) -> np.ndarray[Any, Any]:
        """The nodes, as objects."""
        return np.fromiter(self.nodes, object, len(self.nodes))

    # What NetworkX's own functions ask of any graph.
    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether the graph that was converted may have parallel edges."""
        return self._multigraph

    def __str__(self) -> str:
        # NetworkX's errors have it.
        kind = ("Multi" if self._multigraph else "") + ("DiGraph" if self._directed else "Graph")
        edges = len(self.indices) if self._directed else int((self.rows <= self.indices).sum())
        return f"{kind} with {len(self.nodes)} nodes and {edges} edges"

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: Any) -> bool:
        try:
            return node in self.index
        except TypeError:
            return False

    def holds(self, node: Hashable) -> bool:
        """Whether there is such a node; a TypeError where it cannot be hashed, as from some of NetworkX's searches."""
        return node in self.index

    @property
    def _adj(self) -> dict[Any, int]:
        return self.index

    # Which nodes are meant, and what is said of others, is as NetworkX has it: this asks for no more than `_adj`.
    nbunch_iter = nx.Graph.nbunch_iter

    def graph(self, weight: str | None = None) -> Graph:
        """The graph on which algorithms run, on the device of ``hpgraph.config.networkx_device``.

        ``weight``: the attribute of edges to have for weights. The graph has none where no edge has it.
        """
        values = None if weight is None else self.values[weight]
        key = None if values is None else weight
        if key not in self._graphs:
            matrix = self._matrix(np.ones(len(self.indices), np.bool_) if values is None else values)
            if not self._directed:
                # The same matrix; SciPy transposes it with rows in ascending order.
                matrix = matrix.T.tocsr()
            csr = CSR.from_scipy(matrix, pattern=values is None)
            self._graphs[key] = Graph(csr, directed=self._directed)
        device = config.networkx_device
        if device != "cpu" and self._graphs[key].device == "cpu":
            self._graphs[key] = self._graphs[key].to(device)
        return self._graphs[key]

    def lengths(self, weight: str | None, *, positive: bool = False) -> Graph:
        """The graph with weights that can be lengths of paths."""
        values = None if weight is None else self.values[weight]
        if values is not None and len(values) and not (np.isfinite(values).all() and values.min() >= 0):
            raise NotImplementedError(f"{weight!r} is negative or not finite somewhere")
        if positive and values is not None and len(values) and values.min() == 0:
            raise NotImplementedError(f"{weight!r} is zero somewhere")
        return self.graph(weight)

    def whole(self, weight: str | None) -> bool:
        """Whether distances by this attribute are whole numbers."""
        values = None if weight is None else self.values[weight]
        return values is None or values.dtype.kind == "i"

    def check_exact(self, weight: str | None, length: float) -> None:
        """Leave to NetworkX, which adds Python's whole numbers, lengths of paths that floats would round."""
        values = None if weight is None else self.values[weight]
        if values is None or length < _INEXACT:
            return
        if values.dtype.kind == "i" or values.max() >= _INEXACT:
            raise NotImplementedError(f"floats would round whole numbers as large as {weight!r} adds up to")

    def check_ties(self, weight: str | None) -> None:
        """The same where lengths of paths are compared with each other, but not given back."""
        values = None if weight is None else self.values[weight]
        if values is not None and len(values):
            self.check_exact(weight, float(values.max()) * len(self))

    def number(self, node: Hashable, complaint: str = "Source {} is not in G") -> int:
        """The number of a node."""
        if node not in self:
            raise nx.NodeNotFound(complaint.format(node))
        return self.index[node]

    def by_node(self, array: Any) -> dict[Any, Any]:
        """Values of all nodes, in the graph's order, as Python's own numbers."""
        return dict(zip(self.nodes, to_device(array, "cpu").tolist(), strict=True))

    def array_of(self, by_node: Any, missing: float = 0.0) -> np.ndarray[Any, Any]:
        """What a dict has for the nodes, in the graph's order."""
        return np.array([by_node.get(node, missing) for node in self.nodes], np.float64)

    def named(self, numbers: Any) -> list[Any]:
        """The nodes of these numbers."""
        found: list[Any] = self.node_array[to_device(numbers, "cpu")].tolist()
        return found

    def _matrix(self, entries: np.ndarray[Any, Any]) -> Any:
        n = len(self.nodes)
        return scipy.sparse.csr_array((entries, self.indices, self.indptr), shape=(n, n))

    @cached_property
    def outgoing_in_order(self) -> Any:
        """The arcs as SciPy's searches take them, neighbours in NetworkX's order."""
        return self._matrix(np.ones(len(self.indices)))

    @cached_property
    def rows(self) -> np.ndarray[Any, Any]:
        """The node that each entry of `indices` is a neighbour of."""
        return np.repeat(np.arange(len(self.nodes)), np.diff(self.indptr))

    @cached_property
    def has_loops(self) -> bool:
        """Whether a node is its own neighbour."""
        return bool((self.rows == self.indices).any())

    def to_networkx(self) -> Any:
        """A NetworkX graph of the same nodes and edges, with the attributes that were converted."""
        result = nx.DiGraph() if self._directed else nx.Graph()
        result.add_nodes_from(self.nodes)
        names = [name for name, values in self.values.items() if values is not None]
        columns = [self.values[name].tolist() for name in names]  # type: ignore[union-attr]
        attributes = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)) if names else None
        ends = self.named(self.rows), self.named(self.indices)
        if attributes is None:
            result.add_edges_from(zip(*ends, strict=True))
        else:
            result.add_edges_from(zip(*ends, attributes, strict=True))
        return result
