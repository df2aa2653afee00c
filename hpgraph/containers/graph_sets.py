"""Graphs made of two graphs, as sets of edges."""

from typing import Any, Self

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.columns import NO_COLUMNS, Columns, united
from hpgraph.containers.graph_storage import GraphStorage
from hpgraph.containers.graph_updates import GraphUpdates
from hpgraph.containers.name_arrays import python_values
from hpgraph.containers.names import Names
from hpgraph.core.device import array_module, device_of, to_device
from hpgraph.formats import CSR, Bitmask, index_dtype
from hpgraph.kernels.backend import kernels


class GraphSets(GraphUpdates):
    """Set operations; each returns a new graph."""

    def union(self, other: GraphStorage, *, weight: str = "min") -> Self:
        """The union of two graphs, ``G | H``: the vertices and the edges of either, parallel ones once, with columns.

        Parameters
        ----------
        other : Graph
            On the same device; the result is undirected if both are. Vertices of the two are the same where they have
            the same name; the index of a vertex without a name counts as one. Vertices of this graph come first.
        weight : str or BinaryOp, default "min"
            Weight of an edge of both graphs, ``w(this, other)``: "min", "max", "plus", "first", "second". If only one
            of the graphs has weights, edges of the other have weight 1.

        Returns
        -------
        Graph
            A column has what this graph has in it, of edges and vertices that it lacks what `other` has, and where
            neither has such a value a missing one, as `update`.

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
        return self._of_both(
            other, lambda ours, theirs: (adjacency.widened(ours, n), _renumbered(theirs, place, n)), weight, True,
            names, _places_in_either(self.n_vertices, place, n),
        )  # fmt: skip

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
        vertices = xp.flatnonzero(flags[:n])
        number, chosen = xp.where(flags, xp.cumsum(flags) - 1, -1)[place], Bitmask.from_bool(flags[:n])
        return self._of_both(
            other,
            lambda ours, theirs: (
                kernels(self.device).induced(ours, chosen)[0], _renumbered(theirs, number, len(vertices))
            ),
            weight, False, self._names_of(vertices),
            tuple(places[vertices] for places in _places_in_either(n, place, n + other.n_vertices)),
        )  # fmt: skip

    def difference(self, other: GraphStorage) -> Self:
        """The graph without the edges of another; vertices and columns stay; ``G - H``.

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

    def _of_both(
        self, other: GraphStorage, arcs: Any, weight: Any, one_alone: bool, names: Names | None, vertices: Any
    ) -> Self:
        """The graph of the arcs of either graph or of both, with columns; `arcs` maps both to common vertices."""
        ours, theirs = self.simple(), other.simple()
        both = ours.out_csr, theirs.out_csr
        a, b = arcs(*both)
        joined = adjacency.union(a, b, weight, one_alone=one_alone)
        graph = self._from_csr(joined, self.directed or other.directed, names)
        columns = ours._columns_held, theirs._columns_held
        if all(one is NO_COLUMNS for one in columns):
            return graph
        edges, counts = {}, (ours.n_edges, theirs.n_edges)
        if columns[0].edges or columns[1].edges:
            # Numbered arcs, the other graph's after this one's, tell where values come from.
            xp = array_module(self.device)
            numbers = xp.arange(counts[0]), counts[0] + xp.arange(counts[1])
            a, b = arcs(*(csr.with_data(of, copy=False) for csr, of in zip(both, numbers, strict=True)))
            places = [adjacency.union(a, b, op, one_alone=one_alone).data for op in ("first", "second")]
            edges = united(columns[0].edges, columns[1].edges, counts, (places[0], places[1]))
        sizes = self.n_vertices, other.n_vertices
        graph._columns_held = Columns(edges, united(columns[0].vertices, columns[1].vertices, sizes, vertices))
        return graph

    def _meet(self, other: GraphStorage) -> tuple[Any, Names | None]:
        """Indices of another graph's vertices in this one, new ones after all others; and the names of all."""
        if not isinstance(other, GraphStorage):
            raise TypeError(f"other must be a Graph, not {type(other).__name__}: hpgraph.as_graph makes one")
        device_of(self.out_csr.indptr, other.out_csr.indptr)
        xp, names, others = array_module(self.device), self._names, other._names
        if names is None and others is None:
            return xp.arange(other.n_vertices), None
        if names is None or others is None:
            # Parts of a graph without names are named by its indices, so its indices are names here.
            names, others = names or _indices(self), others or _indices(other)
            if names.array.dtype.kind not in "iu" or others.array.dtype.kind not in "iu":
                raise ValueError(
                    "one of the graphs has names that are no numbers and the other has none, so that their vertices "
                    "cannot be matched: give names to both, Graph(G, names=...)"
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


def _places_in_either(count: int, place: Any, n: int) -> tuple[Any, Any]:
    """Positions of n vertices in two concatenated graphs: in the first if they are there, else in the second."""
    xp = array_module(place)
    own = xp.arange(n)
    others = xp.full(n, -1)
    others[place] = count + xp.arange(len(place))
    return xp.where(own < count, own, others), xp.where(others >= 0, others, own)


def _renumbered(csr: CSR, number: Any, n: int) -> CSR:
    """The arcs renumbered: vertex v becomes number[v] of n; a negative number removes it and its arcs."""
    source, target = number[csr.expand_rows()], number[csr.indices]
    kept = (source >= 0) & (target >= 0)
    source, target = (ends[kept].astype(index_dtype(n), copy=False) for ends in (source, target))
    data = None if csr.data is None else csr.data[kept]
    return CSR.from_coo(source, target, data, (n, n), duplicates="min", copy=False)
