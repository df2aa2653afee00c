"""The columns of a graph, and the graph with one of them as its weights."""

import numbers
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from hpgraph.containers.columns import (
    NO_COLUMNS,
    Categories,
    Columns,
    Derived,
    adds_up,
    alike_both_ways,
    as_columns,
    of_rows,
    taken,
    values_of,
    with_values,
)
from hpgraph.containers.dates import Dates, comparing
from hpgraph.containers.graph_layouts import GraphLayouts
from hpgraph.containers.layouts import Layouts
from hpgraph.containers.names import Names
from hpgraph.core.device import array_module
from hpgraph.core.suggestions import did_you_mean
from hpgraph.formats import CSR, ROW_FORMATS
from hpgraph.formats.interchange import read_only

# Number of texts of a column that a message shows.
_SHOWN = 8
# Layouts that do not depend on weights.
_OF_TOPOLOGY = (
    "multigraph", "out_degree", "in_degree", "numbered_out_csr", "numbered_in_csr", "reverse_arcs", *ROW_FORMATS,
)  # fmt: skip


def _code(column: Categories, title: str, text: Any) -> int:
    """The code of a text in a column; -1 for None."""
    texts = [] if text is None else [str(one) for one in column.categories]
    if text is not None and text not in texts:
        known = ", ".join(map(repr, texts[:_SHOWN])) + ", ..." * (len(texts) > _SHOWN) or "no text"
        near = did_you_mean(text, texts) if isinstance(text, str) else ""
        raise ValueError(f"edges: no edge has {text!r} in column {title!r}, which holds {known}{near}")
    return -1 if text is None else texts.index(text)


def _shown(column: Any) -> Any:
    """A column in the form that users get."""
    return column.shown() if isinstance(column, Dates) else column


class GraphColumns(GraphLayouts):
    """Columns beside the weights, by title; a graph in memory, on one device, has them."""

    _columns_held: Columns = NO_COLUMNS

    @property
    def edge_columns(self) -> tuple[str, ...]:
        """Titles of the columns of edges."""
        return tuple(self._columns_held.edges)

    @property
    def vertex_columns(self) -> tuple[str, ...]:
        """Titles of the columns of vertices."""
        return tuple(self._columns_held.vertices)

    def edge_column(self, title: str, *, both_ways: bool = False) -> Any:
        """A column of edges.

        Parameters
        ----------
        title : str
            One of ``G.edge_columns``.
        both_ways : bool, default False
            As for `edges`: whether an edge of an undirected graph has a value for each of its two arcs, as
            ``G.weights`` has.

        Returns
        -------
        array or Categories
            In the order of ``G.edges(both_ways=both_ways)``, on the graph's device, read-only. For text, a named tuple
            of `codes`, int32, -1 for missing text, and `categories`, the text of each code. For dates, an array of
            datetime64 on the CPU, and on the GPU a named tuple of `values`, int64, and their `unit`.

        Raises
        ------
        ValueError
            When there is no such column.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> G = hpg.from_edges([0, 1], [1, 2], columns={"year": [2019, 2024], "kind": ["cites", "extends"]})
        >>> G.edge_column("year").tolist(), G.edge_column("kind").codes.tolist()
        ([2019, 2024], [0, 1])
        """
        column = self._column(title, self._columns_held.edges, "edge")
        values = values_of(column)
        if not both_ways and not self.directed:
            values = values[self._each_once()]
        return _shown(with_values(column, read_only(values)))

    def vertex_column(self, title: str) -> Any:
        """A column of vertices, in the order of ``G.names``; otherwise as `edge_column`.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> G = hpg.from_edges([0, 1], [1, 2], vertex_columns={"age": [30, 41, 25]})
        >>> G.vertex_column("age").tolist()
        [30, 41, 25]
        """
        column = self._column(title, self._columns_held.vertices, "vertex")
        return _shown(with_values(column, read_only(values_of(column))))

    def _column(self, title: str, held: Mapping[str, Any], kind: str) -> Any:
        if title not in held:
            titles = ", ".join(map(repr, held)) or "none"
            raise ValueError(f"the graph has no {kind} column {title!r}; it has {titles}: with_columns adds some")
        return held[title]

    def _matching(self, wanted: Mapping[str, Any]) -> Any:
        """A flag for each arc: whether every column has the given value, or one of the given values."""
        xp = array_module(self.device)
        flags = xp.ones(self.n_edges, bool)
        for title, given in wanted.items():
            column = self._column(title, self._columns_held.edges, "edge")
            several = hasattr(given, "__iter__") and not isinstance(given, str | bytes)
            values, column_values = list(given) if several else [given], values_of(column)
            if isinstance(column, Dates):
                raise TypeError(
                    f"edges: {title!r} holds dates, which functions compare: lambda source, edge, target: edge.{title} "
                    ">= since"
                )
            if isinstance(column, Categories):
                values = [_code(column, title, text) for text in values]
            present = [value for value in values if value is not None]
            if not all(isinstance(value, numbers.Real | np.number | np.bool_) for value in present):
                raise TypeError(f"edges: {title!r} holds numbers, and is to be among {values!r}")
            matches = xp.isin(column_values, xp.asarray(present))
            flags &= matches if len(present) == len(values) else matches | (column_values != column_values)
        return flags

    def _columns_read(self, *read: frozenset[str] | None) -> dict[str, Any]:
        """The values of the columns of vertices that functions read, by title; all where one may read any."""
        columns = self._columns_held.vertices
        titles = columns if None in read else sorted(frozenset().union(*filter(None, read)) - {"id"})
        return {title: values_of(self._column(title, columns, "vertex")) for title in titles}

    def _comparing(self, function: Any, *read: frozenset[str] | None) -> Any:
        """A function of columns, with its dates in the columns' unit."""
        columns = {**self._columns_held.edges, **self._columns_held.vertices}
        titles = columns if None in read else columns.keys() & frozenset().union(*filter(None, read))
        return comparing(function, [columns[title] for title in titles])

    def _each_once(self) -> Any:
        """Mask of the arcs of an undirected graph that `edges` lists: those from the lower index."""
        csr = self.out_csr
        return csr.expand_rows() <= csr.indices

    def with_columns(
        self, *, edges: Mapping[str, Any] | None = None, vertices: Mapping[str, Any] | None = None
    ) -> Self:
        """The graph with columns added or replaced; the arcs are shared.

        Parameters
        ----------
        edges : dict of arrays or sequences, optional
            By title, of numbers, text or dates, in the order of ``G.edges()``, or of ``G.edges(both_ways=True)``, and
            then alike for an arc and its reverse in an undirected graph.
        vertices : dict of arrays or sequences, optional
            In the order of ``G.names``.

        Raises
        ------
        ValueError, TypeError
            When a column has another length, or differs between an arc and its reverse; when a title is "source",
            "target", "weight" or "vertex"; when values are neither numbers nor text nor dates.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> G = hpg.from_edges([("a", "b"), ("b", "c")], directed=False)
        >>> G.with_columns(edges={"lit": [True, False]}).edge_column("lit", both_ways=True).tolist()
        [True, True, False, False]
        """
        self._check_in_memory()
        more = self._of_edges(edges or {})
        of_vertices = as_columns(vertices, self.n_vertices, "vertices", self.device)
        return self._with(Columns({**self._columns_held.edges, **more}, {**self._columns_held.vertices, **of_vertices}))

    def _of_edges(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Columns of edges, each with a value for every arc."""
        if not given:
            return {}
        m, xp = self.n_edges, array_module(self.device)
        once = None if self.directed else self._each_once()
        count = m if once is None else int(once.sum())
        values_in = {title: values_of(values) for title, values in given.items()}
        lengths = {title: len(getattr(values, "codes", values)) for title, values in values_in.items()}
        columns = {}
        for title, values in given.items():
            column = as_columns({title: values}, m if lengths[title] == m else count, "edges", self.device)[title]
            if once is not None and lengths[title] != m:
                place = xp.cumsum(once) - 1
                place = xp.where(once, place, place[self.reverse_arcs])
                column = taken(column, place)
            elif once is not None and not alike_both_ways(self.out_csr, {title: column}, self.multigraph):
                raise ValueError(f"edges: {title!r} differs between an arc and its reverse in an undirected graph")
            columns[title] = column
        return columns

    def _with(self, columns: Columns) -> Self:
        """The same graph, all layouts shared, with other columns."""
        graph = object.__new__(type(self))
        graph.__dict__.update(self.__dict__)
        graph.__dict__.pop("_of_columns", None)
        graph._columns_held = columns
        return graph

    def with_weight(self, column: str | None) -> Self:
        """The graph with a column of edges as its weights, or without weights; the arcs are shared, not copied.

        Parameters
        ----------
        column : str or None
            One of ``G.edge_columns``; the codes of text become weights. None removes the weights.

        Returns
        -------
        Graph
            With the columns of this one, directed or not as it is.

        Raises
        ------
        ValueError
            When there is no such column.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> G = hpg.from_edges([0, 1, 0], [1, 2, 2], [3.0, 1.0, 9.0], columns={"minutes": [50, 5, 20]})
        >>> hpg.sssp(G, 0).distance.tolist(), hpg.sssp(G.with_weight("minutes"), 0).distance.tolist()
        ([0.0, 3.0, 4.0], [0.0, 50.0, 20.0])
        """
        return self._weighted_by(column)._with(self._columns_held)

    def _weighted_by(self, column: str | None) -> Self:
        """`with_weight` without columns, made once and kept with this graph."""
        self._check_in_memory()
        values = None if column is None else values_of(self._column(column, self._columns_held.edges, "edge"))
        return self._kept_with_columns(("weight", column), lambda: self._weighing(values))

    def _kept_with_columns(self, key: Any, make: Callable[[], Self]) -> Self:
        """A graph derived from this one and its columns; cached."""
        cache: dict[Any, Self] = self.__dict__.setdefault("_of_columns", {})
        if key not in cache:
            cache.setdefault(key, make())
        return cache[key]

    def _carrying(self, made: Self, duplicates: Any, both_ways: bool = False) -> Self:
        if self._columns_held is NO_COLUMNS:
            return made
        return self._kept_with_columns(
            (duplicates, both_ways), lambda: made._with(self._columns_of(made.out_csr, duplicates, both_ways))
        )

    def _columns_of(self, csr: CSR, duplicates: Any, both_ways: bool) -> Columns:
        """The columns of arcs derived from this graph's; sums drop columns of text, dates and bool."""
        own, edges = self.out_csr, self._columns_held.edges
        if duplicates in ("sum", "count"):
            edges = {title: column for title, column in edges.items() if adds_up(column)}
            duplicates = "sum"
        return Columns(Derived(tuple(edges), lambda: of_rows(
            csr, (own.expand_rows(), own.indices), own.data, dict(edges), both_ways, duplicates
        )), self._columns_held.vertices)  # fmt: skip

    def _check_in_memory(self) -> None:
        if not self.in_one_memory:
            raise ValueError(f"columns are for graphs in the memory of one device, not a {type(self).__name__}")

    def _weighing(self, values: Any) -> Self:
        known = self._layouts
        layouts = Layouts(out_csr=self.out_csr.with_data(values, copy=False), directed=self.directed)
        self._share_topology(layouts)
        if self.directed and "in_csr" in known:
            numbers = self.numbered_in_csr.data
            layouts["in_csr"] = self.in_csr.with_data(None if values is None else values[numbers], copy=False)
        graph = object.__new__(type(self))
        graph._names = self._names
        return graph._hold(layouts)

    def _share_topology(self, layouts: Layouts) -> None:
        """Pass the layouts that do not depend on weights to another graph of the same arcs."""
        for name in _OF_TOPOLOGY:
            if name in self._layouts:
                layouts[name] = self._layouts[name]

    @property
    def _arcs(self) -> CSR:
        """The arcs that `_part` selects from: numbered if there are columns."""
        return self.numbered_out_csr if self._columns_held.edges else self.out_csr

    def _part(self, csr: CSR, directed: bool | None, names: Names | None, vertices: Any = None) -> Self:
        """The graph of some of `_arcs`, between all or some vertices, with their columns."""
        numbers = None
        if self._columns_held.edges:
            numbers, weights = csr.data, self.out_csr.data
            csr = csr.with_data(None if weights is None else weights[numbers], copy=False)
        graph = self._from_csr(csr, directed, names, self.multigraph)
        if self._columns_held is not NO_COLUMNS:
            graph._columns_held = self._columns_held.cut(numbers, vertices)
        return graph

    @property
    def nbytes(self) -> int:
        """Bytes of all layouts built so far, and of columns; arrays that layouts share count once."""
        columns = (*self._columns_held.edges.values(), *self._columns_held.vertices.values())
        return self._layouts.nbytes + sum(int(values_of(column).nbytes) for column in columns)
