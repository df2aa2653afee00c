"""Queries on a graph: single vertices, edges, neighbours."""

import operator
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from hpgraph.containers.columns import plain_of
from hpgraph.containers.graph_storage import GraphStorage
from hpgraph.containers.name_arrays import python_values
from hpgraph.containers.result_table import ResultTable
from hpgraph.containers.vertex_array import VertexTable, by_vertex, table_of
from hpgraph.containers.vertices import id
from hpgraph.core.device import array_module, is_cuda, native, to_device
from hpgraph.formats import occurrences
from hpgraph.formats.interchange import read_only
from hpgraph.kernels.backend import kernels


class Edges(NamedTuple):
    """Ends (indices, or names) and weights of edges, as `Graph.from_edges` takes them: arrays of shape (m,)."""

    source: Any
    target: Any
    weight: Any


class EdgeTable(ResultTable, columns=(), ends=("source", "target"), edges=True):
    """A table with a row for each edge: `to_pandas`, `to_arrow`, `top`, and a look in a notebook."""

    def __init__(self, edges: Edges, columns: dict[str, Any], names: Any) -> None:
        self._held, self._names = {**edges._asdict(), **columns}, names

    def _values(self) -> dict[str, Any]:
        return {title: plain_of(column) for title, column in self._held.items() if column is not None}

    def __repr__(self) -> str:
        return f"<EdgeTable: {len(self._held['source']):,} edges, {', '.join(self._values())}>"


class GraphLookup(GraphStorage):
    """Queries of a graph."""

    def __len__(self) -> int:
        return self.n_vertices

    def __iter__(self) -> Iterator[Any]:
        """The vertices: their names, or 0, 1, ..., n - 1."""
        return iter(range(self.n_vertices) if self._names is None else python_values(self._names.array))

    def __contains__(self, vertex: Any) -> bool:
        if self._names is not None and not isinstance(vertex, id):
            return vertex in self._names
        try:
            return 0 <= operator.index(vertex.index if isinstance(vertex, id) else vertex) < self.n_vertices
        except TypeError:
            return False

    @property
    def degree(self) -> Any:
        """Ends of edges at each vertex: int64 array of shape (n,), read-only.

        As in NetworkX a loop counts twice, and in a directed graph the degree is `in_degree` plus `out_degree`.
        """

        def build() -> Any:
            return self.out_degree + (self.in_degree if self.directed else self.loops())

        return by_vertex(read_only(self._layouts.once("degree", build)), self)

    def loops(self) -> Any:
        """Number of arcs of each vertex that lead to itself: array of shape (n,)."""
        if self.multigraph:
            csr = self.out_csr
            return occurrences(csr.indices[csr.indices == csr.expand_rows()], self.n_vertices)
        vertices = array_module(self.device).arange(self.n_vertices, dtype=np.int64)
        return self._have_edges(vertices, vertices)

    def successors(self, vertex: Any, *, names: bool = True) -> Any:
        """The out-neighbours of a vertex, each once; errors are those of `index_of`.

        Parameters
        ----------
        vertex : hashable or hpgraph.id
            Its name, or its index if the graph has no names.
        names : bool, default True
            Whether to return names, if there are any, in a NumPy array; otherwise indices, on the graph's device.

        Returns
        -------
        array of shape (number of successors,)
            In order of index.

        Examples
        --------
        >>> G = hpg.Graph.from_edges([0, 0, 1], [1, 2, 2], names=["ann", "bob", "cyd"])
        >>> G.successors("ann").tolist(), G.successors("ann", names=False).tolist()
        (['bob', 'cyd'], [1, 2])
        """
        return self._row(vertex, names, by_target=False)

    def neighbors(self, vertex: Any, *, names: bool = True) -> Any:
        """The neighbours of a vertex along arcs: `successors`, as in NetworkX.

        Examples
        --------
        >>> hpg.Graph.from_edges([0, 1], [1, 2], directed=False).neighbors(1).tolist()
        [0, 2]
        """
        return self._row(vertex, names, by_target=False)

    def predecessors(self, vertex: Any, *, names: bool = True) -> Any:
        """The in-neighbours of a vertex, as `successors`; of a directed graph this builds `in_csr`, which is cached.

        Examples
        --------
        >>> hpg.Graph.from_edges([0, 1], [2, 2]).predecessors(2).tolist()
        [0, 1]
        """
        return self._row(vertex, names, by_target=True)

    def _row(self, vertex: Any, names: bool, by_target: bool) -> Any:
        ids = self._ids_of_row(self.index_of(vertex), by_target)
        return self._named(ids) if names and self._names is not None else read_only(ids)

    def _ids_of_row(self, row: int, by_target: bool) -> Any:
        csr = self.in_csr if by_target else self.out_csr
        # On CUDA this waits for the stream.
        begin, end = to_device(csr.indptr[row : row + 2], "cpu").tolist()
        ids = csr.indices[begin:end]
        return array_module(self.device).unique(ids) if self.multigraph else ids

    def _named(self, ids: Any) -> Any:
        assert self._names is not None
        return self._names.array[to_device(ids, "cpu")]

    def has_edge(self, source: Any, target: Any) -> Any:
        """Whether there is an arc from one vertex to another, or between many pairs of vertices; by binary search.

        Parameters
        ----------
        source, target : hashable or hpgraph.id, or arrays or sequences of them
            Names, or indices if the graph has no names. A single vertex is broadcast. A tuple is a sequence, unless it
            is the name of a vertex.

        Returns
        -------
        bool, or bool array of shape (k,) on the graph's device

        Raises
        ------
        ValueError, TypeError, IndexError
            As `index_of`. NetworkX returns False for an unknown vertex, which hides misspelt names.

        Examples
        --------
        >>> G = hpg.Graph.from_edges([0, 1], [1, 2])
        >>> G.has_edge(0, 1), G.has_edge(1, 0), G.has_edge([0, 1, 2], 2).tolist()
        (True, False, [False, True, False])
        """
        if self._is_one(source) and self._is_one(target):
            u, v = self.index_of(source, "source"), self.index_of(target, "target")
            row = self._ids_of_row(u, by_target=False)
            xp = array_module(row)
            at = int(xp.searchsorted(row, xp.asarray(v, row.dtype)))
            return at < len(row) and int(row[at]) == v
        return self._have_edges(*self._pairs(source, target))

    def _have_edges(self, rows: Any, columns: Any) -> Any:
        return kernels(self.device).positions_of(self.out_csr, rows, columns) >= 0

    def _pairs(self, source: Any, target: Any, names: tuple[str, str] = ("source", "target")) -> tuple[Any, Any]:
        """Both ends of pairs as int64 indices on the graph's device, broadcast to one length."""
        xp = array_module(self.device)
        ends = [
            to_device(
                np.array([self.index_of(given, what)]) if self._is_one(given) else self.indices_of(given, what),
                self.device,
            ).astype(np.int64, copy=False)
            for given, what in zip((source, target), names, strict=True)
        ]
        if 1 not in map(len, ends) and len(ends[0]) != len(ends[1]):
            counts = f"{len(ends[0])} and {len(ends[1])}"
            raise ValueError(f"{' and '.join(names)} must hold as many vertices, or be one, not {counts}")
        rows, columns = (xp.ascontiguousarray(array) for array in xp.broadcast_arrays(*ends))
        return rows, columns

    def _is_one(self, vertex: Any) -> bool:
        """Whether an argument is one vertex, not several."""
        if isinstance(vertex, int | str):
            return True
        if isinstance(vertex, id):
            return isinstance(vertex.index, int)
        if isinstance(vertex, tuple):
            return self._names is not None and vertex in self._names
        vertex = native(vertex)
        if isinstance(vertex, np.ndarray) or is_cuda(vertex):
            return vertex.ndim == 0
        return isinstance(vertex, bytes | np.generic) or not hasattr(vertex, "__iter__")

    def table(self, **columns: Any) -> VertexTable:
        """Values of vertices as columns of a table, with their names.

        Parameters
        ----------
        **columns : arrays of length n
            By their names: what `hpgraph.core_number` and others return, on either device; or what `numpy.asarray`
            takes for such an array.

        Returns
        -------
        VertexTable
            With ``to_pandas()``, ``to_arrow()`` and ``top(k, by=...)``.

        Raises
        ------
        ValueError
            When a column has another length than the graph has vertices, or there is none.

        Examples
        --------
        >>> G = hpg.from_edges([("ann", "bob"), ("bob", "eve")], directed=False)
        >>> G.table(degree=G.degree, core=hpg.core_number(G)).to_pandas()
          vertex  degree  core
        0    ann       1     1
        1    bob       2     1
        2    eve       1     1
        >>> G.table(degree=G.degree).top(1)
        [('bob', 2)]
        """
        return table_of(self, columns)

    @overload
    def edges(self, *, names: bool = False, both_ways: bool = False, columns: Literal[False] = False) -> Edges: ...
    @overload
    def edges(self, *, names: bool = False, both_ways: bool = False, columns: Literal[True]) -> EdgeTable: ...
    def edges(self, *, names: bool = False, both_ways: bool = False, columns: bool = False) -> Edges | EdgeTable:
        """All edges, as arrays.

        Parameters
        ----------
        names : bool, default False
            Whether to return ends by name, in NumPy arrays, rather than by index on the graph's device: names of all
            ends take far more memory than the graph.
        both_ways : bool, default False
            Whether to list an undirected edge in both directions, as it is stored: then edge k has weight
            ``G.weights[k]``, and flag k of ``G.filter(edges=...)``. Otherwise it is listed once, from the lower index.

        columns : bool, default False
            Whether to return a table that includes the columns of edges.

        Returns
        -------
        Edges or EdgeTable
            A named tuple of `source`, `target` and `weight`, the last None where the graph has no weights; ordered by
            source, then target. ``Graph.from_edges(*G.edges(), len(G), G.directed)`` has the same edges. With
            `columns` a table, with ends by name in what ``to_pandas()``, ``to_arrow()`` and ``top(k, by=...)`` return;
            ``hpg.from_edges(table, columns=True)``, and data frames of Polars, take it as it is.

        Examples
        --------
        >>> G = hpg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0], directed=False)
        >>> source, target, weight = G.edges()
        >>> source.tolist(), target.tolist(), weight.tolist()
        ([0, 1], [1, 2], [0.5, 2.0])
        >>> G.with_columns(edges={"year": [2019, 2024]}).edges(columns=True).top(1, by="year")
        [(1, 2, 2024)]
        """
        if columns:
            held = {title: self.edge_column(title, both_ways=both_ways) for title in self.edge_columns}
            return EdgeTable(self.edges(both_ways=both_ways), held, self._names)
        csr = self.out_csr
        source, target, weight = csr.expand_rows(), csr.indices, csr.data
        if not both_ways and not self.directed:
            once = source <= target
            source, target = source[once], target[once]
            weight = None if weight is None else weight[once]
        result = self._ends_named(Edges(source, target, weight), names)
        return Edges(*(read_only(array) if array is csr.indices or array is csr.data else array for array in result))

    def _ends_named(self, edges: Edges, names: bool) -> Edges:
        if not names or self._names is None:
            return edges
        return edges._replace(source=self._named(edges.source), target=self._named(edges.target))

    def edge_blocks(self, *, names: bool = False, both_ways: bool = False) -> Iterator[Edges]:
        """All edges, as by `Graph.edges`; for a graph in pages, in blocks of new arrays.

        The graph may be used between two blocks, by other threads too.

        Examples
        --------
        >>> G = hpg.StreamedGraph.of(hpg.Graph.from_edges([0, 1], [1, 2], directed=False))
        >>> for source, target, weight in G.edge_blocks():
        ...     print(source.tolist(), target.tolist(), weight)
        [0, 1] [1, 2] None
        """
        for block in self._edges_in_blocks(not both_ways and not self.directed):
            yield self._ends_named(block, names)

    def _edges_in_blocks(self, once: bool) -> Iterator[Edges]:
        edges = self.edges(both_ways=not once)
        yield Edges(*(None if array is None else array.copy() for array in edges))
