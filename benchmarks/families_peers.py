"""A graph as each library of the CPU wants it, made when it is first asked for."""

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import to_device


def installed(name: str) -> Any:
    """A library, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


nk, ig, rx, nx = map(installed, ("networkit", "igraph", "rustworkx", "networkx"))
sp, csgraph = map(installed, ("scipy.sparse", "scipy.sparse.csgraph"))
topology, hierarchy, ortools = map(
    installed, ("sknetwork.topology", "sknetwork.hierarchy", "ortools.graph.python.min_cost_flow")
)
la, sknn = map(installed, ("leidenalg", "sklearn.neighbors"))
LIBRARIES = {
    "networkit": nk, "igraph": ig, "rustworkx": rx, "SciPy": csgraph, "scikit-network": topology, "OR-tools": ortools,
    "NetworkX": nx, "leidenalg": la, "scikit-learn": sknn,
}  # fmt: skip


@dataclass
class Row:
    """One work, by hpgraph and by others; calls return what can be compared, or None where each answer is another."""

    family: str
    work: str
    ours: Callable[[], Any]
    theirs: dict[str, Callable[[], Any]] = field(default_factory=dict)

    def peers(self) -> dict[str, Callable[[], Any]]:
        """The calls of libraries that are installed."""
        return {name: call for name, call in self.theirs.items() if LIBRARIES[name] is not None}


class Given:
    """A graph on a device, and what other libraries make of it."""

    def __init__(self, graph: hpg.Graph, device: str = "cpu") -> None:
        self.graph, self.host = graph.to(device), graph.to("cpu")

    @functools.cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Sources, targets and weights of the arcs, each edge of an undirected graph once."""
        source, target, weight = (None if part is None else to_device(part, "cpu") for part in self.host.edges())
        return source.astype(np.int64), target.astype(np.int64), weight

    @functools.cached_property
    def weights(self) -> np.ndarray:
        """The weights of `edges`, 1 without weights."""
        weight = self.edges[2]
        return np.ones(len(self.edges[0])) if weight is None else weight.astype(np.float64)

    @functools.cached_property
    def nk(self) -> Any:
        """With weights where the graph has some."""
        ends, weighted = tuple(part.astype(np.uint64) for part in self.edges[:2]), self.edges[2] is not None
        parts = (self.weights, ends) if weighted else ends
        return nk.GraphFromCoo(parts, n=self.host.n_vertices, weighted=weighted, directed=self.host.directed)

    @functools.cached_property
    def ig(self) -> Any:
        """Weights and capacities are in the attribute "weight"."""
        edges = np.stack(self.edges[:2], axis=1)
        graph = ig.Graph(n=self.host.n_vertices, edges=edges, directed=self.host.directed)
        graph.es["weight"] = self.weights.tolist()
        return graph

    @functools.cached_property
    def rx(self) -> Any:
        """Edges carry their weights."""
        graph = rx.PyDiGraph() if self.host.directed else rx.PyGraph()
        graph.add_nodes_from(range(self.host.n_vertices))
        source, target, _ = self.edges
        graph.extend_from_weighted_edge_list(
            list(zip(source.tolist(), target.tolist(), self.weights.tolist(), strict=True))
        )
        return graph

    @functools.cached_property
    def sp(self) -> Any:
        """A SciPy array in CSR format, float64."""
        arcs = self.host.out_csr
        data = np.ones(arcs.nnz) if arcs.data is None else arcs.data.astype(np.float64)
        return sp.csr_array((data, arcs.indices, arcs.indptr), arcs.shape)

    @functools.cached_property
    def matrix(self) -> Any:
        """`sp` as scikit-network takes it."""
        ids = (part.astype(np.int32) for part in (self.sp.indices, self.sp.indptr))
        return sp.csr_matrix((self.sp.data.astype(bool), *ids), self.sp.shape)

    @functools.cached_property
    def nx(self) -> Any:
        return hpg.to_networkx(self.host)
