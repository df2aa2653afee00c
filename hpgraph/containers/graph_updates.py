"""A graph with a batch of changes: edges inserted, deleted, and given other weights, in one merge."""

from typing import Any, Literal, NamedTuple, Self

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.graph_parts import GraphParts, ends_of_edges
from hpgraph.containers.name_arrays import as_array, python_values
from hpgraph.containers.names import Names
from hpgraph.containers.public import public
from hpgraph.containers.vertices import as_collection, id
from hpgraph.core.device import array_module, native, to_device, unmasked
from hpgraph.core.number import whole
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.duplicates import Duplicates, checked_duplicates, merging
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_binary
from hpgraph.semiring.entry import entry_function


class Batch(NamedTuple):
    """Changes of a graph, as matrices among its vertices, new ones included; None where there are none of a kind."""

    names: Names | None
    n: int
    insert: CSR | None
    delete: CSR | None
    weights: CSR | None
    passes_over: bool


class GraphUpdates(GraphParts):
    """A graph does not change: each of these gives another."""

    def update(
        self, insert: Any = None, delete: Any = None, set: Any = None, *, n_vertices: int | None = None,
        missing: Literal["raise", "ignore"] = "raise", duplicates: Duplicates | None = None,
    ) -> Self:  # fmt: skip
        """The graph after a batch of changes: edges deleted, then others given new weights, then others inserted.

        Parameters
        ----------
        insert : table, list of tuples, array of shape (k, 2) or (k, 3), or tuple of arrays, optional
            Edges to add, with or without weights: ``(source, target)`` or ``(source, target, weight)``, or what
            `hpgraph.from_edges` takes for a table. An edge that is there takes the new weight. Ends are names, or
            indices where the graph has no names. New names become vertices after those that are there, in the order in
            which they first appear, sources before targets.
        delete : table, list of pairs, array of shape (k, 2), or ``(source, target)``, optional
            Edges to take out; vertices stay.
        set : as `insert`, with weights, optional
            Edges that are there, and their new weights. Where a batch does nothing else, the result shares the topology
            and all that was computed of it alone.
        n_vertices : int, optional
            Number of vertices of the new graph, where there are no names; as many as there are by default.
        missing : {"raise", "ignore"}
            What becomes of edges of `delete` and `set` that are not there: an error that names one, or nothing.
        duplicates : {"min", "max", "sum", "first", "keep", "error"}, optional
            As for `Graph`, of the edges of `insert`, and of `set`; "keep" is for multigraphs, where it is the default.

        Raises
        ------
        ValueError
            When an edge of `delete` or `set` is not there; when `set` has no weights; as `Graph.from_edges`.
        TypeError, IndexError
            As `Graph.from_edges`; when an index is not below `n_vertices`.

        Notes
        -----
        In an undirected graph edges go both ways. Where either the graph or the edges inserted have weights and the
        other none, the others weigh 1. In a multigraph the edges inserted are parallel to those there, and all parallel
        edges between two vertices are deleted, or set. It takes one pass over the arcs, whatever the size of the batch.
        Columns other than weights are left behind. A graph in pages refuses; one on several devices gives a graph
        on the first.

        Examples
        --------
        >>> G = hpg.from_edges([("ann", "bob", 2.0), ("bob", "cyd", 5.0)])
        >>> H = G.update(insert=[("cyd", "dan", 1.0)], delete=[("ann", "bob")], set=[("bob", "cyd", 3.0)])
        >>> H
        Graph: 4 vertices, 2 arcs, directed, float64 weights, cpu, named 'ann', 'bob', 'cyd', ...
        >>> H.weights.tolist(), G.weights.tolist()
        ([3.0, 1.0], [2.0, 5.0])
        """
        return self._after(self._batch(insert, delete, set, n_vertices, missing, duplicates))

    def add_edges(
        self, source: Any, target: Any = None, weight: Any = None, *, n_vertices: int | None = None,
        duplicates: Duplicates | None = None,
    ) -> Self:  # fmt: skip
        """The graph with more edges, which go both ways if it is undirected.

        Parameters
        ----------
        source, target : array or sequence of vertices, shape (k,)
            Ends: names, or indices where the graph has no names. Names that are new become vertices after those that
            are there, in the order in which they first appear, sources before targets. Instead of both, pairs ``(u,
            v)`` in a list or an array of shape (k, 2).
        weight : array or sequence of real numbers, shape (k,), optional
            An edge that is there takes the new weight. Where either has weights and the other none, the others weigh 1.
        n_vertices, duplicates : optional
            As for `update`.

        Raises
        ------
        ValueError, TypeError, IndexError
            As `Graph.from_edges`; when an index is not below `n_vertices`.

        Examples
        --------
        >>> G = hpg.Graph.from_edges([0, 1], [1, 2], names=["ann", "bob", "cyd"])
        >>> G.add_edges(["cyd"], ["dan"])
        Graph: 4 vertices, 3 arcs, directed, no weights, cpu, named 'ann', 'bob', 'cyd', ...
        """
        ends = _both_ends(source, target)
        return self.update(insert=(*ends, weight), n_vertices=n_vertices, duplicates=duplicates)

    def remove_edges(self, source: Any, target: Any = None) -> Self:
        """The graph without some edges, of an undirected one in both directions; its vertices stay.

        Parameters
        ----------
        source, target : array or sequence of vertices, shape (k,)
            Ends, or pairs, as for `add_edges`. Edges that are not there are passed over, as in NetworkX.

        Raises
        ------
        ValueError, TypeError, IndexError
            As `index_of`; and when there are not as many targets as sources.

        Examples
        --------
        >>> hpg.Graph.from_edges([0, 1], [1, 2], directed=False).remove_edges([1], [0])
        Graph: 3 vertices, 2 arcs, undirected, no weights, cpu
        """
        return self.update(delete=_both_ends(source, target), missing="ignore")

    def _batch(
        self, insert: Any, delete: Any, weights: Any, n_vertices: int | None = None, missing: str = "raise",
        duplicates: Duplicates | None = None,
    ) -> Batch:  # fmt: skip
        """The changes that arguments of `update` describe, checked as far as they alone go."""
        if missing not in ("raise", "ignore"):
            raise ValueError(f'missing must be "raise" or "ignore", not {missing!r}')
        if self.multigraph:
            duplicates = checked_duplicates(duplicates) or "keep"
        else:
            merging(duplicates, "a graph that has not kept parallel edges")
        once = None if duplicates == "keep" else duplicates
        names, n = self._names, self.n_vertices
        if n_vertices is not None:
            if names is not None:
                raise ValueError("n_vertices is for graphs without names; here names that are new become vertices")
            n = whole(n_vertices, "n_vertices")
            if n < self.n_vertices:
                raise ValueError(f"n_vertices must be at least {self.n_vertices}, as many as there are, not {n}")
        matrices: list[CSR | None] = [None, None, None]
        if insert is not None:
            *ends, weight = self._columns(insert, "insert")
            if names is None:
                u, v = (to_device(native(end.index if isinstance(end, id) else end), self.device) for end in ends)
            else:
                (u, v), names = self._with_new_names((ends[0], ends[1]))
                n = len(names.array)
            matrices[0] = adjacency.from_arcs(u, v, weight, n, both_ways=not self.directed, duplicates=duplicates)
        for place, given, name in ((1, delete, "delete"), (2, weights, "set")):
            if given is not None:
                *ends, weight = self._columns(given, name)
                if name == "set" and weight is None:
                    raise ValueError("set must have weights: (source, target, weight), or a table with such a column")
                u, v = self._pairs(*ends)
                matrices[place] = adjacency.from_arcs(
                    u, v, weight if name == "set" else None, n, both_ways=not self.directed, duplicates=once
                )
        inserted, deleted, reweighted = matrices
        return Batch(names, n, inserted, deleted, reweighted, missing == "ignore")

    def _columns(self, given: Any, name: str) -> tuple[Any, Any, Any]:
        """Sources, targets and weights, which may be None, of edges in any form; ends are names or indices."""
        if isinstance(given, tuple) and len(given) == 3:
            source, target, weight = given
        else:
            rows = given[0] if isinstance(given, list) and given else given
            of_pairs = isinstance(given, tuple | list) and not (isinstance(rows, tuple | list) and len(rows) == 3)
            named = self._names is not None
            edges = None if of_pairs else public("interop").edges_given(given, None, None, None, named)
            if edges is None:
                source, target, weight = *ends_of_edges(given, name), None
            else:
                source, target, weight = edges["source"], edges["target"], edges["weight"]
                if (called := edges.get("names")) is not None:
                    called = as_array(called)
                    source, target = called[to_device(source, "cpu")], called[to_device(target, "cpu")]
        if weight is not None:
            weight = to_device(native(unmasked(weight, "weight")), self.device)
        return as_collection(source), as_collection(target), weight

    def _with_new_names(self, ends: tuple[Any, Any]) -> tuple[list[Any], Names]:
        """Indices of ends of edges, and the names with those that are new."""
        names, places = self._names, []
        assert names is not None
        for given in ends:
            if isinstance(given, id) or (isinstance(given, list | tuple) and any(isinstance(v, id) for v in given)):
                places.append(self.indices_of(given))
                continue
            array = as_array(given)
            place = names.places_of(array)
            if (place < 0).any():
                names = names.with_more(list(dict.fromkeys(python_values(array[place < 0]))))
                place = names.places_of(array)
            places.append(place)
        return [to_device(place, self.device) for place in places], names

    def _after(self, batch: Batch) -> Self:
        """The graph after a batch."""
        csr = widened(self.out_csr, batch.n)
        if self.multigraph:
            return self._made(self._of_parallel(csr, batch), self._kind_of_parts(), batch.names, True)
        if batch.weights is not None:
            csr = self._reweighted(csr, batch)
        if batch.insert is None and batch.delete is None:
            made = self._made(csr, self._kind_of_parts(), batch.names)
            if batch.n == self.n_vertices:
                self._share_topology(made._layouts)
            return made
        if batch.insert is None:
            assert batch.delete is not None
            left = self._without(csr, batch.delete)
            if not batch.passes_over and csr.nnz - left.nnz != batch.delete.nnz:
                self._positions(csr, batch.delete, "delete", batch)
            return self._made(left, self._kind_of_parts(), batch.names)
        if batch.delete is None:
            return self._made(adjacency.union(csr, batch.insert, "second"), self.directed, batch.names)
        # An arc inserted that is there changes its weight. The others, and those deleted, are a symmetric difference.
        keep = kernels(self.device).keep_entries
        csr, insert = adjacency.of_one_type(csr, batch.insert)
        at = adjacency.places_in(insert, csr)
        csr = _with_weights(csr, at, insert)
        gone = self._positions(csr, batch.delete, "delete", batch) >= 0
        gone &= adjacency.places_in(batch.delete, insert) < 0
        changes = adjacency.union(keep(insert, at < 0), keep(batch.delete, gone), "first")
        return self._made(adjacency.union(csr, changes, None), self.directed, batch.names)

    def _of_parallel(self, csr: CSR, batch: Batch) -> CSR:
        """The arcs of a multigraph after a batch: deleted and set are all parallel ones, inserted are more of them."""
        if batch.delete is not None:
            self._positions(csr, batch.delete, "delete", batch)
            csr = self._without(csr, batch.delete)
        if batch.weights is not None:
            self._positions(csr, batch.weights, "set", batch)
            csr, given = adjacency.of_one_type(csr, batch.weights)
            at = adjacency.places_in(csr, given)
            csr = csr.with_data(array_module(csr.device).where(at >= 0, given.data[at], csr.data), copy=False)
        return csr if batch.insert is None else adjacency.appended(csr, batch.insert)

    def _without(self, csr: CSR, others: CSR) -> CSR:
        """The arcs that the others do not have."""
        if self.multigraph:
            return kernels(csr.device).keep_entries(csr, adjacency.places_in(csr, others) < 0)
        dtype = np.dtype(bool) if csr.dtype is None else csr.dtype
        first = entry_function(get_binary("first"), dtype, bool, dtype)
        return kernels(csr.device).merge(csr, others.pattern, None, first, None, csr.dtype)

    def _reweighted(self, csr: CSR, batch: Batch) -> CSR:
        """The arcs, those to be set with their new weights."""
        given = batch.weights
        assert given is not None
        csr, given = adjacency.of_one_type(csr, given)
        at = self._positions(csr, given, "set", batch)
        if batch.delete is not None:
            gone = adjacency.places_in(given, batch.delete) >= 0
            if bool(gone.any()) and not batch.passes_over:
                raise self._not_there(given, gone, "set", batch.names)
        return _with_weights(csr, at, given)

    def _positions(self, csr: CSR, changed: CSR, name: str, batch: Batch) -> Any:
        """Where arcs stand that must be there, unless they may be missing; -1 where one does not."""
        at = adjacency.places_in(changed, csr)
        if not batch.passes_over and bool((at < 0).any()):
            raise self._not_there(changed, at < 0, name, batch.names)
        return at

    def _not_there(self, changed: CSR, lacking: Any, name: str, names: Names | None) -> ValueError:
        first = int(lacking.argmax())
        ends = [int(part[first]) for part in (changed.expand_rows(), changed.indices)]
        u, v = ends if names is None else (names.array[end].item() for end in ends)
        return ValueError(
            f'{name} holds {u!r} -> {v!r}, which is no edge of the graph: missing="ignore" passes over such edges'
        )


def _both_ends(source: Any, target: Any) -> tuple[Any, Any]:
    """Sources and targets, which may have come as pairs."""
    return (source, target) if target is not None else ends_of_edges(source, "edges, where no target is given,")


def widened(csr: CSR, n: int) -> CSR:
    """The arcs, among more vertices."""
    more = n - csr.shape[0]
    if not more:
        return csr
    xp = array_module(csr.device)
    indptr = xp.concatenate((csr.indptr, xp.full(more, csr.nnz, np.int64)))
    return CSR((n, n), indptr, csr.indices.astype(index_dtype(n), copy=False), csr.data, validate=False)


def _with_weights(csr: CSR, at: Any, given: CSR) -> CSR:
    """The arcs, over the same topology, with other weights at some places; negative ones are passed over."""
    if csr.data is None:
        return csr
    data, there = csr.data.copy(), at >= 0
    data[at[there]] = given.data[there]
    return csr.pattern.with_data(data, copy=False)
