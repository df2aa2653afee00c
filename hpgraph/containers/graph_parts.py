"""Parts of a graph, which are graphs: some of its vertices, some of its edges; and its reverse."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.columns import NO_COLUMNS
from hpgraph.containers.graph_lookup import GraphLookup
from hpgraph.containers.names import Names
from hpgraph.containers.public import public
from hpgraph.core.device import anywhere, array_module, first_true, native, to_device, unmasked
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_index_unary
from hpgraph.semiring.entry import entry_function
from hpgraph.semiring.function import Function
from hpgraph.semiring.reads import given_attribute, reads


class GraphParts(GraphLookup):
    """The parts, with their columns. A part keeps the names of its vertices; without any, indices become names."""

    def subgraph(self, vertices: Any, *, names: bool = True) -> Self:
        """The induced subgraph of some vertices: these, and all edges between them.

        Parameters
        ----------
        vertices : array or sequence of names, hpgraph.id, array of bool or Bitmask
            The vertices, in any order: by name, or by index if the graph has no names; or a flag for each vertex; or a
            compiled function ``f(vertex)`` of ``vertex.id`` and columns of vertices, as ``vertex.age``.
        names : bool, default True
            Whether vertices keep their names; in a graph without names, their indices become names, as in NetworkX.
            False drops all names.

        Returns
        -------
        Graph
            A copy, on the same device. Vertices are in ascending order of their indices in this graph: entry i of an
            algorithm's result belongs to ``result.names[i]``. A subgraph of the vertices 0, ..., k - 1 needs no names.

        Raises
        ------
        ValueError, TypeError, IndexError, DeviceMemoryError
            As `index_of`; if the number of flags differs from that of vertices; if the subgraph does not fit.

        Examples
        --------
        >>> G = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], directed=False)
        >>> H = G.subgraph([3, 1, 2])
        >>> H
        Graph: 3 vertices, 4 arcs, undirected, no weights, cpu, named 1, 2, 3
        >>> H.neighbors(2).tolist(), G.subgraph([3, 1, 2], names=False).neighbors(1).tolist()
        ([1, 3], [0, 2])
        """
        chosen = self._chosen(vertices, "vertices")
        arcs = self._arcs if self._columns_held.edges else self._arcs_among(chosen)
        return self._between(arcs, chosen, names)

    def edge_subgraph(self, edges: Any) -> Self:
        """The graph of some edges: these, and the vertices at their ends; otherwise as `subgraph`.

        Parameters
        ----------
        edges : (source, target), sequence of pairs, or array of bool
            The ends of each edge: two arrays, by name, or by index where the graph has no names; or pairs ``(u, v)``,
            as a list or as an array of shape (k, 2); or a flag for each arc, ordered as ``G.edges(both_ways=True)``. In
            an undirected graph an edge is given in either direction, or in both.

        Raises
        ------
        ValueError, TypeError, IndexError
            As `index_of`; when an edge is not there, or there are not as many flags as arcs.

        Examples
        --------
        >>> G = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
        >>> G.edge_subgraph([(1, 2), (2, 3)])
        Graph: 3 vertices, 2 arcs, directed, no weights, cpu, named 1, 2, 3
        """
        xp, csr = array_module(self.device), self.out_csr
        flags = flags_of(edges, csr.nnz, "edges", "arcs", self.device)
        if flags is None:
            flags = xp.zeros(csr.nnz, np.bool_)
            source, target = self._pairs(*ends_of_edges(edges))
            for u, v in ((source, target),) if self.directed else ((source, target), (target, source)):
                places = kernels(self.device).positions_of(csr, u, v)
                if anywhere(places < 0):
                    missing = first_true(places < 0)
                    ends = self._shown(int(u[missing])), self._shown(int(v[missing]))
                    raise ValueError(f"edges holds {ends[0]} -> {ends[1]}, which is no edge of the graph: see has_edge")
                flags[places] = True
            if self.multigraph:
                pairs = adjacency.from_arcs(source, target, None, self.n_vertices, both_ways=not self.directed)
                flags = adjacency.places_in(csr, pairs) >= 0
        arcs = self._of_arcs(flags)
        ends = xp.zeros(self.n_vertices, np.bool_)
        ends[arcs.indices] = True
        return self._between(arcs, Bitmask.from_bool(ends | (arcs.degrees > 0)), True)

    def filter(self, *, edges: Any = None, vertices: Any = None) -> Self:
        """The graph of the edges and vertices that satisfy a condition.

        Parameters
        ----------
        edges : array of bool, dict, or function, optional
            A flag for each arc in the order of ``G.edges(both_ways=True)``; or ``f(source, weight, target)``, compiled
            for the device as a vertex program's functions are: it gets indices, and 1 for the weight where there is
            none. If the second parameter is called ``edge``, the function gets ``edge.weight`` and the columns of
            edges, as ``edge.year``, of text the codes; and ``source.id``, ``target.id`` and columns of vertices, as
            ``source.age``. Columns of dates compare with dates in variables outside the function; a date that is
            missing comes before all others. In an undirected graph it is called once an edge, with the lower index as
            source. A dict has, by titles of columns of numbers or text, a value or a sequence of values, and keeps the
            edges with one of these in each column; None denotes missing values, such as NaN.
        vertices : array of bool, Bitmask, array or sequence of vertices, or function, optional
            Vertices to keep, as for `subgraph`. By default all, with their names, even without edges.

        Returns
        -------
        Graph
            With the columns of the remaining edges and vertices.

        Raises
        ------
        ValueError, TypeError, CompileError
            When there are not as many flags as arcs; when a column is not there; when, in an undirected graph, they
            keep an arc and not its reverse; when no edge has a text of a dict; when `edges` is neither flags nor a dict
            nor a function of three arguments, or `vertices` a function of more than one; when a function does not
            compile.

        Examples
        --------
        >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], [3, 1, 2])
        >>> G.filter(edges=lambda source, weight, target: weight > 1 and source < 2)
        Graph: 3 vertices, 1 arcs, directed, int64 weights, cpu
        >>> G.filter(edges=G.weights < 3, vertices=G.out_degree > 0).n_edges
        2
        >>> G = G.with_columns(edges={"year": [2019, 2024, 2021]})
        >>> G.filter(edges=lambda source, edge, target: edge.year > 2020).edge_column("year").tolist()
        [2024, 2021]
        >>> G.filter(edges={"year": [2019, 2021]}).edge_column("year").tolist()
        [2019, 2021]
        >>> G = G.with_columns(vertices={"age": [30, 41, 25]})
        >>> G.filter(edges=lambda source, edge, target: source.age > target.age).edge_column("year").tolist()
        [2024]
        >>> G.filter(vertices=lambda vertex: vertex.age > 28).n_vertices
        2
        """
        arcs = self._arcs
        if callable(edges):
            arcs = self._where(edges)
        elif isinstance(edges, Mapping):
            arcs = self._of_arcs(self._matching(edges))
        elif edges is not None:
            flags = flags_of(edges, arcs.nnz, "edges", "arcs", self.device)
            if flags is None:
                raise TypeError(
                    "edges must be a function of (source, weight, target), an array with a bool for each arc, or "
                    f"values by column, not {type(edges).__name__}; edge_subgraph takes edges by their ends"
                )
            arcs = self._of_arcs(flags)
        if vertices is not None:
            return self._between(arcs, self._chosen(vertices, "vertices"), True)
        return self._part(arcs, self._kind_of_parts(), self._names)

    def reverse(self) -> Self:
        """The graph whose arcs go the other way, over the same arrays; itself if undirected.

        Examples
        --------
        >>> hpg.Graph.from_edges([0, 0], [1, 2]).reverse().predecessors(0).tolist()
        [1, 2]
        """
        return self._reversed() if self.directed else self

    def _reversed(self) -> Any:
        reverse = self._from_csr(self.in_csr, True, self._names, self.multigraph)
        if self._columns_held is not NO_COLUMNS:
            arcs = self.numbered_in_csr.data if self._columns_held.edges else None
            reverse._columns_held = self._columns_held.cut(arcs)
        reverse._layouts["in_csr"] = self.out_csr
        return reverse

    @property
    def T(self) -> Self:
        """`reverse`, by the name that a transposed matrix has."""
        return self.reverse()

    def _chosen(self, vertices: Any, argument: str) -> Bitmask:
        """Vertices as bits on the graph's device."""
        n = self.n_vertices
        if callable(vertices):
            function = Function(vertices)
            if function.n_arguments != 1:
                raise TypeError(f"{argument} must be a function of (vertex), not of {function.n_arguments} parameters")
            holds = self._comparing(function.python, *reads(function.python).values())
            return Bitmask.from_bool(public("VertexProgram")._vertices_where(self, holds))
        if isinstance(vertices, Bitmask):
            if vertices.n != n:
                raise ValueError(f"{argument} must have one bit for each of the {n} vertices, not {vertices.n}")
            return vertices.to(self.device)
        flags = flags_of(vertices, n, argument, "vertices", self.device)
        if flags is not None:
            return Bitmask.from_bool(flags)
        return Bitmask.from_indices(to_device(self.indices_of(vertices, argument), self.device), n)

    def _between(self, csr: CSR, chosen: Bitmask, names: bool) -> Self:
        part, vertices = kernels(self.device).induced(csr, chosen)
        return self._part(part, self._kind_of_parts(), self._names_of(vertices) if names else None, vertices)

    def _arcs_among(self, chosen: Bitmask) -> CSR:
        """The arcs with both ends among these vertices."""
        return self.out_csr

    def _names_of(self, vertices: Any) -> Names | None:
        """Names of some vertices in ascending order: those they have, or their indices."""
        if self._names is not None:
            return self._names.take(vertices)
        if not len(vertices) or int(vertices[-1]) < len(vertices):
            return None
        return Names(lambda: to_device(vertices, "cpu"))

    def _kind_of_parts(self) -> bool | None:
        """Whether a part is directed: as this graph, if that is known; a directed part stays so, as in NetworkX."""
        return self._layouts.get("directed")

    def _of_arcs(self, flags: Any) -> CSR:
        """The flagged arcs; of an undirected graph, both of an edge."""
        csr = self._arcs
        kept = kernels(self.device).keep_entries(csr, flags)
        unlike = kept.nnz < csr.nnz and not self.directed
        if unlike and not adjacency.is_symmetric(kept.pattern, self.multigraph):
            raise ValueError(
                "edges keeps an arc of an undirected graph and not its reverse: flag both, or filter the arcs of "
                "hpg.Graph(G, directed=True)"
            )
        return kept

    def _where(self, holds: Callable[..., Any]) -> CSR:
        function = Function(holds)
        if function.n_arguments != 3:
            raise TypeError(
                "edges must be a function of (source, weight, target) or (source, edge, target), not of "
                f"{function.n_arguments} parameters"
            )
        called = reads(function.python)
        if list(called)[1] == "edge":
            return self._where_columns(self._comparing(function.python, *called.values()))
        for parameter, read in called.items():
            if read and not read.isdisjoint({"weight", "id", *self._columns_held.edges, *self._columns_held.vertices}):
                raise TypeError(
                    f"edges reads {parameter}.{min(read)}: a function of (source, weight, target) is given numbers; "
                    "call the parameter edge that stands second, which has the weight and the columns of edges; the "
                    "others then have those of vertices"
                )
        return self._selected(function.python, self.out_csr)

    def _where_columns(self, holds: Any) -> CSR:
        """The arcs for which a function of an edge's attributes holds; one that reads one column gets it as weight."""
        ends, edge = [read for name, read in reads(holds).items() if name != "edge"], reads(holds)["edge"]
        if edge is None or len(edge) > 1 or any(read is None or not read <= {"id"} for read in ends):
            return self._of_arcs(public("EdgeVertexProgram")._flags_where(self, holds))
        (title,) = edge or ("weight",)
        graph = self if title == "weight" else self._weighted_by(title)
        for parameter in reads(holds):
            holds = given_attribute(holds, parameter)
        return self._selected(holds, graph.out_csr)

    def _selected(self, holds: Any, csr: CSR) -> CSR:
        """The arcs for which ``holds(source, weight, target)``, of the weights that `csr` has."""
        predicate, backend = get_index_unary(_as_entry_function(holds, self.directed), "bool"), kernels(self.device)
        dtype = np.dtype(bool) if csr.dtype is None else csr.dtype
        asked = entry_function(predicate, dtype, bool, bool)
        if self._columns_held.edges:
            return backend.keep_entries(self._arcs, backend.map_entries(csr, asked))
        return backend.select_entries(csr, asked)

    def _shown(self, vertex: int) -> str:
        return repr(vertex if self._names is None else self._names.array[vertex].item())


def _as_entry_function(holds: Any, directed: bool) -> Callable[..., Any]:
    """The function of an arc as a function of a matrix entry; alike for an undirected graph's arc and its reverse."""
    if directed:
        return lambda weight, source, target: holds(source, weight, target)
    return lambda weight, source, target: holds(min(source, target), weight, max(source, target))


def flags_of(given: Any, count: int, argument: str, what: str, device: str) -> Any:
    """An array of `count` bools on the device; None if it holds another type."""
    given = unmasked(given, argument)
    if isinstance(given, list | tuple) and given and all(isinstance(value, bool | np.bool_) for value in given):
        given = np.array(given)
    flags = native(given)
    if getattr(flags, "dtype", None) != np.bool_:
        return None
    if flags.shape != (count,):
        raise ValueError(f"{argument} must have one bool for each of the {count} {what}, not shape {flags.shape}")
    return to_device(flags, device)


def ends_of_edges(edges: Any, name: str = "edges") -> tuple[Any, Any]:
    """The sources and the targets of edges given as pairs of ends; `name`: the argument, for messages."""
    edges = native(edges)
    if getattr(edges, "ndim", 0) == 2:
        if edges.shape[1] != 2:
            raise ValueError(f"{name} must be of shape (k, 2), not {edges.shape}; or two arrays (source, target)")
        return edges[:, 0], edges[:, 1]
    if isinstance(edges, tuple) and len(edges) == 2:
        if all(isinstance(given, tuple) and len(given) == 2 for given in edges):
            raise ValueError(
                f"{name}: {edges!r} could be two pairs, or two sources and their targets: give pairs in a list, "
                "[(u, v), ...], sources and targets as lists or arrays"
            )
        return edges
    try:
        pairs = [() if isinstance(edge, str | bytes) else tuple(edge) for edge in edges]
    except TypeError:
        pairs = [()]
    wrong = next((pair for pair in pairs if len(pair) != 2), None)
    if wrong is not None:
        held = f"; one holds {len(wrong)} values: {wrong!r}" if wrong else ""
        raise ValueError(f"{name} must be pairs (source, target), or two arrays{held}")
    return [u for u, _ in pairs], [v for _, v in pairs]
