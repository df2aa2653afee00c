"""A graph with a batch of changes: edges inserted, deleted, and given other weights, in one merge."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.columns import NO_COLUMNS, Columns, as_columns, followed, of_rows, taken
from hpgraph.containers.graph_parts import GraphParts, ends_of_edges
from hpgraph.containers.name_arrays import as_array, python_values
from hpgraph.containers.names import Names
from hpgraph.containers.networkx_edges import is_networkx
from hpgraph.containers.public import public
from hpgraph.containers.vertices import as_collection, id
from hpgraph.core.device import anywhere, array_module, first_true, native, to_device, unmasked
from hpgraph.core.number import one_of, whole
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.duplicates import Duplicates, checked_duplicates, merging
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_binary
from hpgraph.semiring.entry import entry_function


class Batch(NamedTuple):
    """Changes of a graph, as matrices over its vertices, including new ones; None for a kind without changes."""

    names: Names | None
    n: int
    insert: CSR | None
    delete: CSR | None
    weights: CSR | None
    passes_over: bool
    # Columns by title: of the inserted arcs, and of those whose weights are set.
    inserted: dict[str, Any]
    changed: dict[str, Any]


class GraphUpdates(GraphParts):
    """Updates; each returns a new graph."""

    def update(
        self, insert: Any = None, delete: Any = None, set: Any = None, *, n_vertices: int | None = None,
        missing: Literal["raise", "ignore"] = "raise", duplicates: Duplicates | None = None,
    ) -> Self:  # fmt: skip
        """The graph after a batch of changes: edges deleted, then others given new weights, then others inserted.

        Parameters
        ----------
        insert : table, list of tuples, array of shape (k, 2) or (k, 3), or tuple of arrays, optional
            Edges to add, with or without weights: ``(source, target)`` or ``(source, target, weight)``, or a table as
            for `hpgraph.from_edges`. An existing edge takes the new weight. Ends are names, or indices if the graph has
            no names. New names become vertices after the existing ones, in order of first occurrence, sources before
            targets. A table's columns are used if the graph has their titles.
        delete : table, list of pairs, array of shape (k, 2), or ``(source, target)``, optional
            Edges to remove; vertices stay.
        set : as `insert`, with weights or columns, optional
            Existing edges with new weights and values of columns; others do not change. If a batch does nothing else,
            the result shares the topology, and all that was computed from it alone.
        n_vertices : int, optional
            Number of vertices of the new graph, if there are no names; by default that of this graph.
        missing : {"raise", "ignore"}
            For edges of `delete` and `set` that do not exist, or have an end that is not a vertex: raise an error, or
            ignore them.
        duplicates : {"min", "max", "sum", "first", "keep", "error"}, optional
            As for `Graph`, of the edges of `insert`, and of `set`; "keep" is for multigraphs, where it is the default.

        Raises
        ------
        ValueError
            When an edge of `delete` or `set` is not there; when `set` has neither weights nor columns; as
            `Graph.from_edges`.
        TypeError, IndexError
            As `Graph.from_edges`; when an index is not below `n_vertices`; when a column of numbers is given text.

        Notes
        -----
        In an undirected graph both directions change. If only one of the graph and the inserted edges has weights, the
        others have weight 1. In a multigraph inserted edges are parallel to existing ones, and all parallel edges
        between two vertices are deleted, or set. The update takes one pass over the arcs, for any size of the batch. An
        inserted edge that exists takes the new columns, too. Edges inserted without a column, and new vertices, have
        missing values in it: NaN among numbers, which become float64, -1 among codes of text, NaT among dates.
        A graph in pages results in another in pages: stored pages do not change, and changes are merged on the CPU as
        pages are read. Once a sixteenth of the arcs has changed, pages are rewritten, those of a file to a temporary
        file beside it. A graph on several devices is gathered on the first, changed and divided again.

        Examples
        --------
        >>> G = hpg.from_edges([("ann", "bob", 2.0), ("bob", "cyd", 5.0)])
        >>> H = G.update(insert=[("cyd", "dan", 1.0)], delete=[("ann", "bob")], set=[("bob", "cyd", 3.0)])
        >>> H
        Graph: 4 vertices, 2 arcs, directed, float64 weights, cpu, named 'ann', 'bob', 'cyd', ...
        >>> H.weights.tolist(), G.weights.tolist()
        ([3.0, 1.0], [2.0, 5.0])
        >>> G = G.with_columns(edges={"year": [2019, 2020]})
        >>> new = {"source": ["cyd"], "target": ["ann"], "weight": [4.0], "year": [2024]}
        >>> later = {"source": ["ann"], "target": ["bob"], "year": [2021]}
        >>> G.update(insert=new, set=later).edge_column("year").tolist()
        [2021, 2020, 2024]
        """
        return self._after(self._batch(insert, delete, set, n_vertices, missing, duplicates))

    def add_edges(
        self, source: Any, target: Any = None, weight: Any = None, *, n_vertices: int | None = None,
        duplicates: Duplicates | None = None,
    ) -> Self:  # fmt: skip
        """The graph with edges added, in both directions if it is undirected.

        Parameters
        ----------
        source, target : array or sequence of vertices, shape (k,)
            Ends: names, or indices if the graph has no names. New names become vertices after the existing ones, in
            order of first occurrence, sources before targets. Instead of both, pairs ``(u, v)`` in a list or an array
            of shape (k, 2).
        weight : array or sequence of real numbers, shape (k,), optional
            An existing edge takes the new weight. If only one of graph and edges has weights, the others have weight 1.
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
        return self.update(insert=(*_both_ends(source, target), weight), n_vertices=n_vertices, duplicates=duplicates)

    def remove_edges(self, source: Any, target: Any = None) -> Self:
        """The graph without some edges, of an undirected one in both directions; vertices stay.

        Parameters
        ----------
        source, target : array or sequence of vertices, shape (k,)
            Ends, or pairs, as for `add_edges`. Edges that do not exist, or have an end that is not a vertex, are
            ignored, as in NetworkX.

        Raises
        ------
        ValueError, TypeError
            When ends are neither names nor indices; when there are not as many targets as sources.

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
        """The changes that arguments of `update` describe, checked as far as possible without the arcs."""
        one_of(missing, "missing", ("raise", "ignore"))
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
        columns: list[dict[str, Any]] = [{}, {}, {}]
        for place, given, name in ((0, insert, "insert"), (1, delete, "delete"), (2, weights, "set")):
            if given is None:
                continue
            u, v, weight, held = self._rows(given, name)
            if name == "set" and weight is None and not held:
                raise ValueError(
                    "set must have weights: (source, target, weight), or a table with such a column, or with columns "
                    "that the graph has"
                )
            if name != "insert":
                if missing == "ignore":
                    u, v, weight, held = self._among_vertices(u, v, weight, held if name == "set" else {}, name)
                u, v = self._pairs(u, v)
            elif names is None:
                u, v = (to_device(native(end.index if isinstance(end, id) else end), self.device) for end in (u, v))
            else:
                (u, v), names = self._with_new_names((u, v))
                n = len(names.array)
            weight, rule = None if name == "delete" else weight, duplicates if name == "insert" else once
            arcs = adjacency.from_arcs(u, v, weight, n, both_ways=not self.directed, duplicates=rule)
            if held and name != "delete":
                held = as_columns(held, len(u), name, self.device)
                columns[place] = of_rows(arcs, (u, v), weight, held, not self.directed, rule)
            matrices[place] = arcs
        inserted, deleted, reweighted = matrices
        return Batch(names, n, inserted, deleted, reweighted, missing == "ignore", columns[0], columns[2])

    def _rows(self, given: Any, name: str) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Sources, targets, weights (or None) and columns of edges in any form; ends are names or indices."""
        columns: dict[str, Any] = {}
        if isinstance(given, tuple) and len(given) == 3:
            source, target, weight = given
        else:
            rows = given[0] if isinstance(given, list) and given else given
            of_pairs = isinstance(given, tuple | list) and not (isinstance(rows, tuple | list) and len(rows) == 3)
            named, titles = self._names is not None, None
            if self.edge_columns and is_networkx(given):
                titles = [title for title in self.edge_columns if any(title in of for *_, of in given.edges(data=True))]
            elif self.edge_columns and (table := public("interop").columns_given(given)) is not None:
                columns = {title: table.pop(title) for title in self.edge_columns if title in table}
                given = table
            edges = None if of_pairs else public("interop").edges_given(given, None, None, None, named, titles)
            if edges is None:
                source, target, weight = *ends_of_edges(given, name), None
            else:
                source, target, weight = edges["source"], edges["target"], edges["weight"]
                columns |= edges.get("columns", {})
                if (called := edges.get("names")) is not None:
                    called = as_array(called)
                    source, target = called[to_device(source, "cpu")], called[to_device(target, "cpu")]
        if weight is not None:
            weight = to_device(native(unmasked(weight, "weight")), self.device)
        return as_collection(source), as_collection(target), weight, columns

    def _among_vertices(self, source: Any, target: Any, weight: Any, held: Any, name: str) -> tuple[Any, ...]:
        """Rows of edges whose ends are both vertices; other errors are raised later."""
        if isinstance(source, id) or isinstance(target, id):
            return source, target, weight, held
        ends, flags = zip(
            *(self._known_indices(unmasked(end, name)) for end, name in ((source, "source"), (target, "target"))),
            strict=True,
        )
        count = max(map(len, flags))
        if not {*map(len, flags)} <= {1, count} or (weight is not None and len(weight) != count):
            return source, target, weight, held
        known = np.logical_and(*flags)
        ends = tuple(np.broadcast_to(end, known.shape)[known] for end in ends)
        source, target = (id(end) if end.dtype.kind in "iu" else end for end in ends)
        if known.all():
            return source, target, weight, held
        held, known = as_columns(held, count, name, self.device), to_device(known, self.device)
        weight = None if weight is None else array_module(self.device).asarray(weight)[known]
        return source, target, weight, {title: taken(column, known) for title, column in held.items()}

    def _known_indices(self, ends: Any) -> tuple[Any, Any]:
        """Indices of ends given by name or index, and a flag for each that is a vertex; others are unchanged."""
        array = as_array(ends)
        if not (isinstance(ends, list | tuple) and any(isinstance(end, id) for end in ends)):
            if self._names is not None:
                places = self._names.places_of(array)
                return places, places >= 0
            if array.dtype.kind in "iu":
                return array, (array >= 0) & (array < self.n_vertices)
        return array, np.ones(len(array), np.bool_)

    def _with_new_names(self, ends: tuple[Any, Any]) -> tuple[list[Any], Names]:
        """Indices of ends of edges, and the graph's names with new ones appended."""
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
        """The graph with a batch applied."""
        csr, held = adjacency.widened(self.out_csr, batch.n), self._columns_held
        edges, vertices = held.edges, held.vertices
        if batch.weights is not None:
            csr, edges = self._with_set(csr, batch)
        if self._columns_held is NO_COLUMNS:
            return self._merged(csr, batch)
        more = batch.n - self.n_vertices
        vertices = {title: followed(column, None, more, repr(title)) for title, column in vertices.items()}
        if not edges or (batch.insert is None and batch.delete is None):
            return self._merged(csr, batch)._with(Columns(edges, vertices))
        # Numbered arcs, inserted ones after the others, tell where weights and columns come from.
        xp, insert, count = array_module(csr.device), batch.insert, 0 if batch.insert is None else batch.insert.nnz
        numbers, weights = xp.arange(csr.nnz + count, dtype=index_dtype(csr.nnz + count)), csr.data
        if insert is not None:
            old, new = adjacency.of_one_type(csr, insert)
            weights = None if old.data is None else xp.concatenate((old.data, new.data))
            edges = {title: followed(column, batch.inserted.get(title), count, f"insert: {title!r}")
                     for title, column in edges.items()}  # fmt: skip
            insert = insert.with_data(numbers[csr.nnz :], copy=False)
        merged = self._merged(csr.with_data(numbers[: csr.nnz], copy=False), batch._replace(insert=insert))
        arcs, places = merged.out_csr, merged.out_csr.data
        arcs = arcs.with_data(None if weights is None else weights[places], copy=False)
        graph = self._from_csr(arcs, merged._layouts.get("directed"), batch.names, self.multigraph)
        graph._columns_held = Columns({title: taken(column, places) for title, column in edges.items()}, vertices)
        return graph

    def _merged(self, csr: CSR, batch: Batch) -> Self:
        """The graph of its arcs, which may have other weights, without those deleted and with those inserted."""
        if batch.insert is None and batch.delete is None:
            graph = self._from_csr(csr, self._kind_of_parts(), batch.names, self.multigraph)
            if batch.n == self.n_vertices:
                self._share_topology(graph._layouts)
            return graph
        if self.multigraph:
            # A deletion removes all parallel arcs; an insertion adds one more.
            if batch.delete is not None:
                self._positions(csr, batch.delete, "delete", batch)
                csr = self._without(csr, batch.delete)
            csr = csr if batch.insert is None else adjacency.appended(csr, batch.insert)
            return self._from_csr(csr, self._kind_of_parts(), batch.names, True)
        if batch.insert is None:
            assert batch.delete is not None
            left = self._without(csr, batch.delete)
            if not batch.passes_over and csr.nnz - left.nnz != batch.delete.nnz:
                self._positions(csr, batch.delete, "delete", batch)
            return self._from_csr(left, self._kind_of_parts(), batch.names)
        if batch.delete is None:
            return self._from_csr(adjacency.union(csr, batch.insert, "second"), self.directed, batch.names)
        # An inserted arc that exists changes its weight. New and deleted arcs together are a symmetric difference.
        keep = kernels(self.device).keep_entries
        csr, insert = adjacency.of_one_type(csr, batch.insert)
        at = adjacency.places_in(insert, csr)
        if csr.data is not None:
            csr = _with_weights(csr, at[at >= 0], insert.data[at >= 0])
        deleted = self._positions(csr, batch.delete, "delete", batch) >= 0
        deleted &= adjacency.places_in(batch.delete, insert) < 0
        changes = adjacency.union(keep(insert, at < 0), keep(batch.delete, deleted), "first")
        return self._from_csr(adjacency.union(csr, changes, None), self.directed, batch.names)

    def _without(self, csr: CSR, others: CSR) -> CSR:
        """The arcs that are not among `others`."""
        if self.multigraph:
            return kernels(csr.device).keep_entries(csr, adjacency.places_in(csr, others) < 0)
        dtype = np.dtype(bool) if csr.dtype is None else csr.dtype
        first = entry_function(get_binary("first"), dtype, bool, dtype)
        return kernels(csr.device).merge(csr, others.pattern, None, first, None, csr.dtype)

    def _with_set(self, csr: CSR, batch: Batch) -> tuple[CSR, Mapping[str, Any]]:
        """The arcs with new weights where they are set, and all columns; parallel arcs are all set."""
        new_weights, edges = batch.weights, self._columns_held.edges
        assert new_weights is not None
        at = self._positions(csr, new_weights, "set", batch)
        if batch.delete is not None:
            deleted = adjacency.places_in(new_weights, batch.delete) >= 0
            if anywhere(deleted) and not batch.passes_over:
                raise self._not_there(new_weights, deleted, "set", batch.names)
        xp, m = array_module(csr.device), csr.nnz
        if self.multigraph:
            place = adjacency.places_in(csr, new_weights)
            changed = xp.flatnonzero(place >= 0)
            by = place[changed]
        else:
            by = xp.flatnonzero(at >= 0)
            changed = at[by]
        if new_weights.data is not None:
            csr, new_weights = adjacency.of_one_type(csr, new_weights)
            csr = _with_weights(csr, changed, new_weights.data[by])
        if batch.changed:
            order = xp.arange(m)
            order[changed] = m + by
            edges = {**edges, **{title: taken(followed(edges[title], column, new_weights.nnz, f"set: {title!r}"), order)
                                 for title, column in batch.changed.items()}}  # fmt: skip
        return csr, edges

    def _positions(self, csr: CSR, changed: CSR, name: str, batch: Batch) -> Any:
        """Positions of arcs, -1 for absent ones, which raise an error unless they may be missing."""
        at = adjacency.places_in(changed, csr)
        if not batch.passes_over and anywhere(at < 0):
            raise self._not_there(changed, at < 0, name, batch.names)
        return at

    def _not_there(self, changed: CSR, lacking: Any, name: str, names: Names | None) -> ValueError:
        first = first_true(lacking)
        ends = [int(part[first]) for part in (changed.expand_rows(), changed.indices)]
        u, v = ends if names is None else (names.array[end].item() for end in ends)
        return ValueError(
            f'{name} holds {u!r} -> {v!r}, which is no edge of the graph: missing="ignore" passes over such edges'
        )


def _both_ends(source: Any, target: Any) -> tuple[Any, Any]:
    """Sources and targets, from two arguments or from pairs."""
    return (source, target) if target is not None else ends_of_edges(source, "edges, where no target is given,")


def _with_weights(csr: CSR, places: Any, weights: Any) -> CSR:
    """The arcs, over the same topology, with other weights at some places."""
    data = csr.data.copy()
    data[places] = weights
    return csr.pattern.with_data(data, copy=False)
