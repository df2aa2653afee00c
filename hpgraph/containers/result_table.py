"""Results as tables: one row a vertex, or an edge, joined with the names of the vertices.

Table libraries are imported on first use.
"""

import html
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hpgraph.containers.name_arrays import python_values
from hpgraph.containers.names import Names
from hpgraph.core.device import to_device
from hpgraph.core.errors import optional
from hpgraph.core.number import whole

# Rows that a notebook shows.
_SHOWN = 10


class Column(NamedTuple):
    """A column of a table; `vertices`: whether its values are indices of vertices, -1 for none."""

    name: str
    values: Any
    vertices: bool = False


class ResultTable:
    """Table methods of a result with one value a vertex, or an edge.

    Subclasses give ``columns``, the attributes that are columns, the main one first (None is left out; shape (k, n)
    gives k rows a vertex); ``ends``, those of them that hold vertices; ``edges``, whether a row is an edge; ``groups``,
    whether the main column is the group of a vertex: `top` then lists the largest groups.

    >>> G = hpg.Graph.from_edges([0, 1, 0], [1, 2, 2], names=["ann", "bob", "eve"])
    >>> hpg.bfs(G, "ann").to_pandas()
      vertex  level parent
    0    ann      0    ann
    1    bob      1    ann
    2    eve      1    ann
    >>> hpg.pagerank(G).top(1)
    [('eve', 0.5208...)]
    """

    _columns: ClassVar[tuple[str, ...]] = ()
    _ends: ClassVar[tuple[str, ...]] = ()
    _edges: ClassVar[bool] = False
    _groups: ClassVar[bool] = False
    _by_vertex: ClassVar[tuple[str, ...]] = ()
    _sources: Any = None

    def __init_subclass__(
        cls, columns: tuple[str, ...] | None = None, ends: tuple[str, ...] = (), edges: bool = False,
        groups: bool = False, **others: Any,
    ) -> None:  # fmt: skip
        super().__init_subclass__(**others)
        if columns is not None:
            cls._columns, cls._ends, cls._edges, cls._groups = columns, ends, edges, groups
            cls._by_vertex = () if edges else columns

    @cached_property
    def _names(self) -> Any:
        """Names of vertices: those of the attribute ``names``, where the result was not `named`."""
        names = vars(self).get("names")
        return None if names is None else Names(names)

    def _values(self) -> dict[str, Any]:
        """The columns beside the vertex, the main one first."""
        columns = {name: getattr(self, name) for name in self._columns}
        return {name: values for name, values in columns.items() if values is not None}

    def _table(self, rows: Any = None) -> list[Column]:
        """Some rows, or all, in NumPy."""
        values = {name: to_device(array, "cpu") for name, array in self._values().items()}
        selection = slice(None) if rows is None else rows
        ends = [Column(name, array.reshape(-1)[selection], name in self._ends) for name, array in values.items()]
        shape: tuple[int, ...] = next(iter(values.values())).shape if values else (0,)
        if self._edges:
            return sorted(ends, key=lambda column: not column.vertices)
        rows = np.arange(int(np.prod(shape))) if rows is None else rows
        if len(shape) == 1:
            return [Column("vertex", rows, True), *ends]
        row, vertex = np.divmod(rows, max(shape[1], 1))
        searched = Column("row", row) if self._sources is None else Column("source", self._sources[row], True)
        return [searched, Column("vertex", vertex, True), *ends]

    def to_pandas(self) -> Any:
        """The result as a pandas.DataFrame: a row for each vertex, or each edge.

        Vertices are given by name if the graph has names, else by index; no vertex is a missing value, or -1 among
        indices. The rows of several searches follow each other. Raises MissingExtraError without pandas.
        """
        pandas = optional("pandas", "tables", "a pandas.DataFrame")
        return pandas.DataFrame({column.name: self._called(column) for column in self._table()})

    def to_arrow(self) -> Any:
        """The result, as by `to_pandas`, as a pyarrow.Table, which Polars and DuckDB read.

        Raises MissingExtraError without pyarrow; TypeError if the names are of several types, or of a type that Arrow
        lacks.
        """
        pyarrow = optional("pyarrow", "tables", "an Arrow table")
        columns = {}
        for name, values, vertices in self._table():
            if not vertices or self._names is None:
                columns[name] = pyarrow.array(values)
                continue
            try:
                names = pyarrow.array(_plain(self._names.array))
            except pyarrow.ArrowException:
                raise TypeError(
                    f"the names, such as {self._names.some}, are of no type that Arrow has: to_pandas() takes them"
                ) from None
            columns[name] = names.take(pyarrow.array(values, mask=values < 0))
        return pyarrow.table(columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def top(self, k: int = 10, by: str | None = None) -> list[tuple[Any, ...]]:
        """The vertices, or edges, of the largest values; or the largest groups.

        Parameters
        ----------
        k : int, default 10
            Number of entries.
        by : str, optional
            The column to sort by; by default the first numeric one.

        Returns
        -------
        list of tuples
            The vertex, by name if the graph has names, and its value; for an edge both ends, for several searches the
            source first; for groups the number of the group and its size. In descending order; ties in order of index.
            Unreached vertices and NaN are left out.
        """
        whole(k, "k", least=0)
        values = self._values()
        numbers = [name for name in values if name not in self._ends]
        if not numbers:
            raise ValueError("by: the edges have no weights to sort by")
        by = numbers[0] if by is None else by
        if by not in numbers:
            raise ValueError(f"by must be one of {', '.join(map(repr, numbers))}, not {by!r}")
        chief = to_device(values[by], "cpu").reshape(-1)
        if self._groups and by == numbers[0]:
            if chief.dtype == object:
                counted = Counter(python_values(chief))
                groups, sizes = list(counted), np.array(list(counted.values()), np.int64)
            else:
                result, sizes = np.unique(chief, return_counts=True)
                groups = result.tolist()
            return [(groups[place], int(sizes[place])) for place in _largest(sizes, k)]
        rows = _largest(chief, k)
        # Parents do not identify a row.
        parents = () if self._edges else self._ends
        identifying = [column for column in self._table(rows) if column.vertices and column.name not in parents]
        lists = [python_values(np.asarray(self._called(column))) for column in identifying]
        return list(zip(*lists, python_values(chief[rows]), strict=True))

    def _called(self, column: Column) -> Any:
        if not column.vertices or self._names is None:
            return column.values
        names = _plain(self._names.array)
        if not len(column.values) or column.values.min() >= 0:
            return names[column.values]
        called = np.full(len(column.values), None, dtype=object)
        valid = column.values >= 0
        called[valid] = names[column.values[valid]]
        return called

    def _repr_html_(self) -> str:
        values = self._values()
        numbers = [name for name in values if name not in self._ends]
        if not numbers:
            return f"<p>{html.escape(repr(self))}</p>"
        chief = to_device(values[numbers[0]], "cpu").reshape(-1)
        rows = np.arange(min(_SHOWN, len(chief))) if self._groups else _largest(chief, _SHOWN)
        table = self._table(rows)
        lines = zip(*(python_values(np.asarray(self._called(column))) for column in table), strict=True)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(_shown(value))}</td>' for value in line)}</tr>"
                       for line in lines)  # fmt: skip
        head = "".join(f"<th>{html.escape(column.name)}</th>" for column in table)
        caption = html.escape(repr(self)[1:-1])
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _plain(names: Any) -> Any:
    """Names in an array that other libraries take."""
    return names.astype(object) if names.dtype.kind == "T" else names


def _largest(values: Any, k: int) -> Any:
    """Indices of the k largest numbers in descending order; ties go to the lowest index."""
    if values.dtype.kind not in "biuf":
        return np.arange(min(k, len(values)))
    indices = np.flatnonzero(np.isfinite(values) if values.dtype.kind == "f" else values >= 0)
    candidates = values[indices]
    if k < len(candidates):
        threshold = np.partition(candidates, len(candidates) - k)[len(candidates) - k] if k else np.inf
        above, equal = np.flatnonzero(candidates > threshold), np.flatnonzero(candidates == threshold)
        kept = np.concatenate((above, equal))[:k] if k else equal[:0]
        indices, candidates = indices[kept], candidates[kept]
    # Unsigned numbers have no negatives: reverse, sort, reverse.
    order = len(candidates) - 1 - np.argsort(candidates[::-1], kind="stable")[::-1]
    return indices[order]


def html_table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A small table for notebooks, a line for each property."""
    body = "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(value)}</td></tr>" for name, value in rows)
    head = f'<thead><tr><th colspan="2">{html.escape(title)}</th></tr></thead>'
    return f"<table>{head}<tbody>{body}</tbody></table>"


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
