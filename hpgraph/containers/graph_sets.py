"""Graphs made of two graphs, as sets of edges."""

from typing import Any, Self

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.graph_storage import GraphStorage
from hpgraph.containers.graph_updates import GraphUpdates, widened
from hpgraph.containers.name_arrays import python_values
from hpgraph.containers.names import Names
from hpgraph.core.device import array_module, device_of, to_device
from hpgraph.formats import CSR, Bitmask, index_dtype
from hpgraph.kernels.backend import kernels


class GraphSets(GraphUpdates):
    """A graph does not change: each of these gives another."""

    def union(self, other: GraphStorage, *, weight: str = "min") -> Self:
        """The vertices and the edges of either graph, parallel ones once; ``G | H``. Undirected if both are.

        Parameters
        ----------
        other : Graph
            On the same device. Vertices of the two are the same where they have the same name; the index of a vertex
            without a name counts as one. Vertices of this graph come first.
        weight : str or BinaryOp, default "min"
            What becomes of the weights ``w(this, other)`` of an edge of both: "min", "max", "plus", "first", "second".
            Where one of the graphs has weights, edges of the other weigh 1.

        Raises
        ------
        ValueError, TypeError
            When one of the graphs has names that are no numbers, and the other has none; when `other` is no graph, or
            lies on another device.

        Examples
        --------
        >>> G, H = hpg.Graph.from_edges([0, 1], [1, 2]), hpg.Graph.from_edges([1, 2], [2, 3])
        >>> (G | H).edges().target.tolist(), (G & H).edges().target.tolist(), (G - H).edges().target.tolist()
        ([1, 2, 3], [2], [1])
        """
        place, names = self._meet(other)
        n = max(self.n_vertices, other.n_vertices) if names is None else len(names.array)
        arcs = widened(self.simple().out_csr, n)
        joined = adjacency.union(arcs, _renumbered(other.out_csr, place, n), weight)
        return self._made(joined, self.directed or other.directed, names)

    def intersection(self, other: GraphStorage, *, weight: str = "min") -> Self:
        """The vertices that both graphs have, and the edges that both have; ``G & H``; otherwise as `union`.

        Examples
        --------
        >>> G = hpg.Graph.from_edges([0, 1], [1, 2], names=["ann", "bob", "cyd"])
        >>> H = hpg.Graph.from_edges([0, 1], [1, 2], names=["bob", "cyd", "dan"])
        >>> G & H
        Graph: 2 vertices, 1 arcs, directed, no weights, cpu, named 'bob', 'cyd'
        """
        place, _ = self._meet(other)
        xp, n = array_module(self.device), self.n_vertices
        flags = xp.zeros(n + other.n_vertices, np.bool_)
        flags[place] = True
        flags[n:] = False
        part, vertices = kernels(self.device).induced(self.simple().out_csr, Bitmask.from_bool(flags[:n]))
        number = xp.where(flags, xp.cumsum(flags) - 1, -1)
        theirs = _renumbered(other.out_csr, number[place], len(vertices))
        joined = adjacency.union(part, theirs, weight, one_alone=False)
        return self._made(joined, self.directed or other.directed, self._names_of(vertices))

    def difference(self, other: GraphStorage) -> Self:
        """The graph, directed or not, with its columns, without the edges of another; vertices stay; ``G - H``.

        Parameters
        ----------
        other : Graph
            As for `union`, with its errors; its weights do not matter. From an undirected graph an edge goes also where
            `other` has it in one direction alone.

        Examples
        --------
        >>> G = hpg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0])
        >>> (G - hpg.Graph.from_edges([0], [1])).weights.tolist()
        [2.0]
        """
        place, _ = self._meet(other)
        xp, n = array_module(self.device), self.n_vertices
        arcs = (other if self.directed else other.undirected).out_csr
        removed = _renumbered(arcs, xp.where(place < n, place, -1), n)
        return self._part(self._without(self._arcs, removed), self._kind_of_parts(), self._names)

    def _meet(self, other: GraphStorage) -> tuple[Any, Names | None]:
        """Where the vertices of another graph stand here, new ones behind all others; and the names of all."""
        if not isinstance(other, GraphStorage):
            raise TypeError(f"other must be a Graph, not {type(other).__name__}: hpgraph.as_graph makes one")
        device_of(self.out_csr.indptr, other.out_csr.indptr)
        xp, names, others = array_module(self.device), self._names, other._names
        if names is None and others is None:
            return xp.arange(other.n_vertices), None
        if names is None or others is None:
            # Where names are numbers, an index is one too: parts of a graph without names are named by its indices.
            names, others = names or _indices(self), others or _indices(other)
            if names.array.dtype.kind not in "iu" or others.array.dtype.kind not in "iu":
                raise ValueError(
                    "one of the graphs has names that are no numbers and the other has none, so that no vertex of the "
                    "one is known to be one of the other: give names to both, Graph(G, names=...)"
                )
        if names is others or np.array_equal(names.array, others.array):
            return xp.arange(other.n_vertices), names
        place = names.places_of(others.array)
        new = place < 0
        place[new] = self.n_vertices + np.arange(np.count_nonzero(new))
        return to_device(place, self.device), names.with_more(python_values(others.array[new]))

    def __or__(self, other: Any) -> Self:
        return self.union(other) if isinstance(other, GraphStorage) else NotImplemented

    def __and__(self, other: Any) -> Self:
        return self.intersection(other) if isinstance(other, GraphStorage) else NotImplemented

    def __sub__(self, other: Any) -> Self:
        return self.difference(other) if isinstance(other, GraphStorage) else NotImplemented


def _indices(graph: GraphStorage) -> Names:
    return Names(np.arange(graph.n_vertices))


def _renumbered(csr: CSR, number: Any, n: int) -> CSR:
    """The arcs among n vertices: vertex v becomes number[v], and one of a negative number goes with its arcs."""
    source, target = number[csr.expand_rows()], number[csr.indices]
    kept = (source >= 0) & (target >= 0)
    source, target = (ends[kept].astype(index_dtype(n), copy=False) for ends in (source, target))
    data = None if csr.data is None else csr.data[kept]
    return CSR.from_coo(source, target, data, (n, n), duplicates="min", copy=False)
