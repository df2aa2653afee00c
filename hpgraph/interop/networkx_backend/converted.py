"""A NetworkX graph, converted: what the functions of the backend work on, and NetworkX keeps with the graph."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse

from hpgraph.containers.graph import Graph
from hpgraph.containers.networkx_edges import holds_edges, rows_of, values_in, values_of
from hpgraph.containers.node_numbers import neighbors_of
from hpgraph.core.config import config
from hpgraph.core.device import prefix_sum, to_device
from hpgraph.formats import CSR

# Above this, floats do not represent all integers.
_INEXACT = 2.0**53
# In place of an infinite default, so that integer columns stay integer.
UNBOUNDED = -(1 << 62)


class ConvertedGraph:
    """The nodes, neighbours in NetworkX's order, and the attributes that were requested.

    ``nodes`` (list): in NetworkX's order; `index` is the inverse; ``indptr, indices`` (int64 arrays): the neighbours of
    each node, as numbers, in NetworkX's order; ``arc_data``: the dict of each arc, if all attributes are kept, None if
    all are empty; ``node_data``: dicts of attributes by node, if they are kept.
    """

    __networkx_backend__ = "hpgraph"

    def __init__(
        self, nodes: list[Any], indptr: np.ndarray, indices: np.ndarray, directed: bool, multigraph: bool = False,
        arc_data: list[dict[Any, Any]] | None = None, node_data: Mapping[Any, dict[Any, Any]] | None = None,
        graph_data: dict[Any, Any] | None = None,
    ) -> None:  # fmt: skip
        self.nodes, self.indptr, self.indices = nodes, indptr, indices
        self._directed, self._multigraph = directed, multigraph
        self.arc_data, self.node_data, self.graph_data = arc_data, node_data, graph_data or {}
        self._keeps_all = True
        self._columns: dict[tuple[str, float], np.ndarray | None] = {}
        self._graphs: dict[str | None, Graph] = {}

    @classmethod
    def of(
        cls, graph: Any, edge_attrs: Mapping[str, Any] | None, keep_edges: bool, keep_nodes: bool
    ) -> "ConvertedGraph":
        """A NetworkX graph; ``edge_attrs``: the attributes that are read, with what they are where an edge has none."""
        nodes = list(graph)
        rows = rows_of(graph, nodes)
        several = graph.is_multigraph()
        made = cls(nodes, *neighbors_of(nodes, rows), graph.is_directed(), several)
        made._keeps_all = keep_edges and not several
        if made._keeps_all and any(chain.from_iterable(row.values() for row in rows)):
            made.arc_data = list(chain.from_iterable(row.values() for row in rows))
        for name, default in (edge_attrs or {}).items():
            if default is None and made._keeps_all:
                continue
            default = UNBOUNDED if default == np.inf else 1 if default is None else default
            made._columns[name, default] = values_of(graph, rows, name, default)
        if keep_nodes:
            made.node_data = graph._node
        made.graph_data = graph.graph
        if not made._directed and not holds_edges(graph):
            made._check_symmetric()
        return made

    def _check_symmetric(self) -> None:
        """Refuse an undirected view of a directed graph in which an arc and its reverse have different attributes."""
        for (name, _), values in self._columns.items():
            if values is not None and ((matrix := self._matrix(values)) != matrix.T.tocsr()).nnz:
                raise NotImplementedError(f"{name!r} of an arc and of its reverse differ in this undirected view")

    def column(self, name: str | None, default: float = 1) -> np.ndarray | None:
        """An attribute of the arcs, int64 or float64; None for None and where no edge has it."""
        if name is None:
            return None
        if (name, default) not in self._columns:
            if not self._keeps_all:
                raise NotImplementedError(f"{name!r} is not converted")
            try:
                found = None if self.arc_data is None else values_in(self.arc_data, name, default)
            except TypeError as error:
                raise NotImplementedError(str(error)) from error
            self._columns[name, default] = found
        return self._columns[name, default]

    @cached_property
    def index(self) -> dict[Any, int]:
        """The number of each node."""
        return dict(zip(self.nodes, range(len(self.nodes)), strict=True))

    @cached_property
    def node_array(self) -> np.ndarray[Any, Any]:
        """The nodes, as objects."""
        return np.fromiter(self.nodes, object, len(self.nodes))

    # Methods that NetworkX's own functions call on any graph.
    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether the graph that was converted may have parallel edges."""
        return self._multigraph

    def __str__(self) -> str:
        # For NetworkX's error messages.
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

    # NetworkX's own selection of nodes, and its errors: it needs only `_adj`.
    nbunch_iter = nx.Graph.nbunch_iter

    def graph(self, weight: str | None = None) -> Graph:
        """The graph to run on, on ``config.networkx_device``; without weights where no edge has the attribute."""
        values = self.column(weight)
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
        values = self.column(weight)
        if values is not None and len(values) and not (np.isfinite(values).all() and values.min() >= 0):
            raise NotImplementedError(f"{weight!r} is negative or not finite somewhere")
        if positive and values is not None and len(values) and values.min() == 0:
            raise NotImplementedError(f"{weight!r} is zero somewhere")
        return self.graph(weight)

    def whole(self, weight: str | None) -> bool:
        """Whether distances by this attribute are whole numbers."""
        values = self.column(weight)
        return values is None or values.dtype.kind == "i"

    def check_exact(self, weight: str | None, length: float) -> None:
        """Raise NotImplementedError if floats would round path lengths: NetworkX adds Python integers."""
        values = self.column(weight)
        if values is None or length < _INEXACT:
            return
        if values.dtype.kind == "i" or values.max() >= _INEXACT:
            raise NotImplementedError(f"floats would round whole numbers as large as {weight!r} adds up to")

    def check_ties(self, weight: str | None) -> None:
        """The same if path lengths are only compared with each other."""
        values = self.column(weight)
        if values is not None and len(values):
            self.check_exact(weight, float(values.max()) * len(self))

    def number(self, node: Hashable, complaint: str = "Source {} is not in G", *, hashed: bool = False) -> int:
        """The number of a node; with `hashed` a TypeError where it cannot be hashed, as from some of NetworkX's own."""
        if not (self.holds(node) if hashed else node in self):
            raise nx.NodeNotFound(complaint.format(node))
        return self.index[node]

    def numbers(self, nodes: Iterable[Hashable]) -> np.ndarray:
        """The numbers of some nodes, which are there."""
        return np.array([self.index[node] for node in nodes], np.int64)

    def by_node(self, array: Any) -> dict[Any, Any]:
        """Values of all nodes, in the graph's order, as Python's own numbers."""
        return dict(zip(self.nodes, to_device(array, "cpu").tolist(), strict=True))

    def array_of(self, by_node: Any) -> np.ndarray[Any, Any]:
        """The values of a dict for the nodes, in the graph's order; 0 if missing."""
        return np.array([by_node.get(node, 0.0) for node in self.nodes], np.float64)

    def named(self, numbers: Any) -> list[Any]:
        """The nodes of these numbers."""
        return self.node_array[to_device(numbers, "cpu")].tolist()

    def pairs(self, source: Any, target: Any) -> Iterator[tuple[Any, Any]]:
        """The nodes at both ends of some edges, given by number."""
        return zip(self.named(source), self.named(target), strict=True)

    def groups(self, order: Any, sizes: Any) -> Iterator[list[Any]]:
        """The nodes of these numbers, in consecutive groups of these sizes."""
        named, ends = self.named(order), np.cumsum(sizes).tolist()
        return (named[begin:end] for begin, end in pairwise([0, *ends]))

    def by_arc(self, indptr: np.ndarray, neighbors: Any, values: list[Any]) -> dict[Any, dict[Any, Any]]:
        """Values of arcs as a dict of dicts, by node and neighbour; arcs are in the order of their nodes."""
        named, bounds = self.named(neighbors), pairwise(indptr.tolist())
        return {
            node: dict(zip(named[begin:end], values[begin:end], strict=True))
            for node, (begin, end) in zip(self.nodes, bounds, strict=True)
        }

    def _matrix(self, entries: np.ndarray[Any, Any]) -> Any:
        n = len(self.nodes)
        return scipy.sparse.csr_array((entries, self.indices, self.indptr), shape=(n, n))

    @cached_property
    def rows_in_order(self) -> CSR:
        """The arcs in NetworkX's order, for kernels that depend on the order of a row."""
        return CSR((len(self), len(self)), self.indptr, self.indices, validate=False)

    @cached_property
    def rows(self) -> np.ndarray[Any, Any]:
        """The node that each entry of `indices` is a neighbour of."""
        return np.repeat(np.arange(len(self.nodes)), np.diff(self.indptr))

    @cached_property
    def incoming(self) -> tuple[np.ndarray, np.ndarray]:
        """``indptr, arcs``: the numbers of the arcs into each node, in the order of the nodes that they leave."""
        indptr = prefix_sum(np.bincount(self.indices, minlength=len(self.nodes)))
        return indptr, np.argsort(self.indices, kind="stable")

    @cached_property
    def has_loops(self) -> bool:
        """Whether a node is its own neighbour."""
        return bool((self.rows == self.indices).any())

    def attributes(self, arc: int) -> dict[Any, Any]:
        """The dict of an arc."""
        return {} if self.arc_data is None else self.arc_data[arc]

    def copied_node_data(self, nodes: list[Any]) -> dict[Any, dict[Any, Any]] | None:
        """The attributes of some nodes, for another graph; None if there are none."""
        data = self.node_data
        if data is None or not any(data[node] for node in nodes):
            return None
        return {node: dict(data[node]) for node in nodes}

    @cached_property
    def edges(self) -> np.ndarray:
        """One arc for each edge, in the order of NetworkX's edges."""
        return np.arange(len(self.indices)) if self._directed else np.flatnonzero(self.rows <= self.indices)

    def degree(self, kind: str = "in+out", weight: str | None = None) -> np.ndarray:
        """Degrees as NetworkX counts them, "in", "out" or "in+out"; loops of an undirected graph count twice."""
        values, n = self.column(weight), len(self.nodes)
        kind = kind if self._directed else "out"
        total = np.zeros(n, np.int64 if values is None else values.dtype)
        for name, ends in (("out", self.rows), ("in", self.indices)):
            if name in kind.split("+"):
                np.add.at(total, ends, 1 if values is None else values)
        if not self._directed and self.has_loops:
            loops = self.rows == self.indices
            np.add.at(total, self.rows[loops], 1 if values is None else values[loops])
        return total
