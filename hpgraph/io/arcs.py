"""What every reader returns and every writer takes: the arcs of a graph as arrays, and what else its file says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Arcs:
    """Arcs source[k] -> target[k].

    Attributes
    ----------
    source, target : numpy.ndarray of int32 or int64, shape (m,)
        Ends of each arc.
    weight : numpy.ndarray, shape (m,), or None
        Weight of each arc.
    n_vertices : int
        Number of vertices.
    directed : bool
        Whether (u, v) says nothing of (v, u). An undirected edge may be there once or in both directions.
    names : sequence or None
        Name of each vertex.

    Examples
    --------
    >>> arcs = Arcs(np.array([0, 1]), np.array([1, 2]), None, n_vertices=3, directed=True)
    >>> arcs.source.size, arcs.names
    (2, None)
    """

    source: Array
    target: Array
    weight: Array | None
    n_vertices: int
    directed: bool
    names: Any = None

    @classmethod
    def of(cls, graph: Graph) -> Arcs:
        """All stored arcs of a graph on the CPU: an undirected edge in both directions.

        Parameters
        ----------
        graph : Graph
            On the CPU.

        Returns
        -------
        Arcs
        """
        csr = graph.out_csr
        source = np.repeat(np.arange(csr.shape[0], dtype=csr.indices.dtype), np.diff(csr.indptr))
        return cls(source, csr.indices, csr.data, graph.n_vertices, graph.directed, graph.names)

    def graph(self, weight: Array | None, directed: bool) -> Graph:
        """The graph of these arcs.

        Parameters
        ----------
        weight : numpy.ndarray or None
            Weights in place of these.
        directed : bool
            What to take the arcs for.

        Returns
        -------
        Graph
            On the CPU; of two arcs with the same ends the lighter is kept.
        """
        from hpgraph.containers.graph import Graph

        return Graph.from_edges(
            self.source, self.target, weight, n_vertices=self.n_vertices, directed=directed, names=self.names
        )

    def each_edge_once(self) -> Arcs:
        """Without the arcs v -> u, u < v, of an undirected graph.

        Returns
        -------
        Arcs
            The same where the graph is directed.
        """
        if self.directed:
            return self
        kept = self.source <= self.target
        weight = None if self.weight is None else self.weight[kept]
        return Arcs(self.source[kept], self.target[kept], weight, self.n_vertices, False, self.names)
