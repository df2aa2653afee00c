"""The arcs of a graph as arrays, and what else its file says; and what readers and writers of files have in common."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hpgraph.core.caller import each_warning_once
from hpgraph.formats.duplicates import Duplicates
from hpgraph.io.memory import Budget

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
    mirrored : bool
        Whether the arcs of an undirected graph are the entries of a matrix, each edge in both directions.

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
    mirrored: bool = False

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
        return cls(source, csr.indices, csr.data, graph.n_vertices, graph.directed, graph.names, True)

    @each_warning_once()
    def graph(self, weight: Array | None, directed: bool, duplicates: Duplicates | None = None) -> Graph:
        """The graph of these arcs.

        Parameters
        ----------
        weight : numpy.ndarray or None
            Weights in place of these.
        directed : bool
            What to take the arcs for.
        duplicates : {"min", "max", "sum", "first", "error"}, optional
            As for `hpgraph.Graph`.

        Returns
        -------
        Graph
            On the CPU.
        """
        from hpgraph.containers.graph import Graph

        graph = Graph.from_edges(
            self.source, self.target, weight, n_vertices=self.n_vertices,
            directed=None if self.mirrored and not directed else directed, names=self.names, duplicates=duplicates,
        )  # fmt: skip
        return graph if directed or not graph.directed else Graph(graph, directed=False, duplicates=duplicates)

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


class Reader(Protocol):
    """Reads a whole file of one format."""

    def __call__(self, path: Path, progress: bool | None, budget: Budget) -> Arcs:
        """The arcs of a file.

        Parameters
        ----------
        path : pathlib.Path
            Compressed too, by gzip or zstd, where the format allows it.
        progress : bool, optional
            As for `hpgraph.read`.
        budget : Budget
            What may be taken of the memory.

        Returns
        -------
        Arcs

        Raises
        ------
        FileFormatError
            Where the file is not what its suffix says, or not whole; in text, with the line number.
        DeviceMemoryError
            When the arcs, or as many as the file says it has, need more memory than they may take.
        """


class Writer(Protocol):
    """Writes a whole file of one format."""

    def __call__(self, graph: Graph, path: Path) -> None:
        """Write a graph.

        Parameters
        ----------
        graph : Graph
            On the CPU.
        path : pathlib.Path
            Where to; compressed where the name says so.

        Raises
        ------
        ValueError
            For a graph that the format cannot hold.
        OSError
            Where it cannot be written; nothing has changed.
        """
