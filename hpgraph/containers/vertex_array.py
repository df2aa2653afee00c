"""Arrays with a value for each vertex, which the names of vertices index too."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeVar

import numpy as np

from hpgraph.containers.name_arrays import python_values
from hpgraph.containers.result_table import ResultTable
from hpgraph.containers.vertices import id
from hpgraph.core.device import is_cuda, to_device
from hpgraph.core.number import whole

Result = TypeVar("Result")


class ByVertex:
    """Values of vertices: an array by index, which names (text) and `hpgraph.id` index, too.

    Integers are always indices, and arrays computed or cut from it have no names. ``items()`` pairs each vertex with
    its value; ``dict(r.items())`` equals NetworkX's result, and ``dict(r)`` does unless names could be indices.
    """

    # Set by `named`; not inherited by arrays computed from this one.
    _names: Any = None
    _n: int | None = None

    def _values_by_vertex(self) -> Any:
        return self

    def _at(self, key: Any) -> Any:
        """The index for a key: that of a name, an array for several names, else the key itself."""
        if isinstance(key, str):
            return self._of_names().index_of(key)
        if isinstance(key, id):
            return key.index
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return self._of_names().indices_of(key)
        return key

    def _of_names(self) -> Any:
        self._check()
        if self._names is None:
            raise IndexError(f"the vertices of the graph have no names: they are 0, 1, ..., {self._n or 0} - 1")
        return self._names

    def _check(self) -> None:
        """Refuse arrays that do not hold the values of all vertices."""
        if self._n is None or getattr(self._values_by_vertex(), "shape", None) != (self._n,):
            raise TypeError("names index results of one value a vertex, not an array that was computed from one")

    def keys(self) -> Any:
        """The vertices: text, or 0, 1, ..., n - 1 where they have no names; so that ``dict(r)`` holds values by name.

        Raises
        ------
        TypeError
            When names are not text, so that ``r[name]`` would take a name for an index: ``dict(r.items())`` does not.
        """
        self._check()
        if self._names is None:
            return range(self._n or 0)
        if self._names.array.dtype.kind not in "UT":
            raise TypeError(f"names such as {self._names.some} would be taken for indices: use dict(r.items())")
        return python_values(self._names.array)

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Each vertex, by name where vertices have names, and its value, as Python's own numbers."""
        self._check()
        vertices = range(self._n or 0) if self._names is None else python_values(self._names.array)
        return zip(vertices, python_values(to_device(self._values_by_vertex(), "cpu")), strict=True)


class VertexTable(ResultTable):
    """A table of arrays by vertex: `to_pandas`, `to_arrow`, `top`, and a look in a notebook."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._held = columns

    def _values(self) -> dict[str, Any]:
        return self._held

    def __repr__(self) -> str:
        n = len(next(iter(self._held.values())))
        return f"<VertexTable: {n:,} vertices, {', '.join(self._held)}>"


class _NamedArray(ByVertex):
    """Methods that `VertexArray` adds to the array class of either device."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self._at(key))  # type: ignore[misc]

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(self._at(key), value)  # type: ignore[misc]

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, str):
            return self._names is not None and value in self._names
        return bool(super().__contains__(value))  # type: ignore[misc]

    def __repr__(self) -> str:
        return repr(_plain(self))

    def __array_wrap__(self, made: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return made[()] if made.ndim == 0 else _plain(made)

    def __copy__(self) -> Any:
        return _with_names(_plain(self).copy(), self._names, self._n)

    def __deepcopy__(self, memo: dict[int, Any] | None, /) -> Any:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return _with_names, (_plain(self), self._names, self._n)

    def _table_of(self) -> ResultTable:
        self._check()
        return _with_names(VertexTable({"value": _plain(self)}), self._names, self._n)

    def to_pandas(self) -> Any:
        """The array as a pandas.DataFrame: a row for each vertex."""
        return self._table_of().to_pandas()

    def to_arrow(self) -> Any:
        """The array as a pyarrow.Table: a row for each vertex."""
        return self._table_of().to_arrow()

    def top(self, k: int = 10) -> list[tuple[Any, ...]]:
        """The vertices of the k largest values, as `BFSResult.top` lists them."""
        whole(k, "k")
        return self._table_of().top(k)


class VertexArray(_NamedArray, np.ndarray):
    """A NumPy array with a value for each vertex of a graph, which names index too."""


@cache
def _class_on_gpu(array: type) -> type:
    return type("VertexArray", (_NamedArray, array), {"__module__": __name__})


def _plain(array: Any) -> Any:
    """The values as a plain array."""
    if isinstance(array, np.ndarray):
        return array.view(np.ndarray)
    base = next(kind for kind in type(array).__mro__ if kind.__module__.partition(".")[0] == "cupy")
    return base(array.shape, array.dtype, array.data, array.strides)


def _with_names(result: Any, names: Any, n: int | None) -> Any:
    """A result, or an array as a `VertexArray`, with the vertices' names and number."""
    if isinstance(result, np.ndarray):
        result = result.view(VertexArray)
    elif is_cuda(result):
        plain = _plain(result)
        result = _class_on_gpu(plain.__class__)(plain.shape, plain.dtype, plain.data, plain.strides)
    attributes = result.__dict__
    attributes["_names"], attributes["_n"] = names, n
    return result


def by_vertex(array: Any, graph: Any) -> Any:
    """An array of shape (n,) as a `VertexArray`, on its device; other objects unchanged."""
    if getattr(array, "shape", None) != (graph.n_vertices,) or not (isinstance(array, np.ndarray) or is_cuda(array)):
        return array
    return _with_names(array, graph._names, graph.n_vertices)


def named(result: Result, graph: Any, sources: Any = None, find_parents: Callable[[], Any] | None = None) -> Result:
    """A result and its arrays by vertex, with its graph's names, k searches' sources, and how to find parents."""
    attributes = result.__dict__
    names = attributes["_names"] = graph._names
    n = attributes["_n"] = graph.n_vertices
    if names is not None:
        for column in result._by_vertex:  # type: ignore[attr-defined]
            if (array := attributes.get(column)) is not None and array.shape == (n,):
                attributes[column] = by_vertex(array, graph)
    if sources is not None:
        attributes["_sources"] = sources
    if find_parents is not None:
        attributes["_find_parents"] = find_parents
    return result


def table_of(graph: Any, columns: dict[str, Any]) -> VertexTable:
    """A table of columns by vertex: arrays of length n, or objects that `numpy.asarray` converts to these."""
    if not columns or "vertex" in columns:
        raise ValueError('a table needs columns, with other names than "vertex", which is the first of each')
    arrays = {name: values if is_cuda(values) else np.asarray(values) for name, values in columns.items()}
    for name, values in arrays.items():
        if values.shape != (graph.n_vertices,):
            expected = f"a value for each of the {graph.n_vertices} vertices"
            raise ValueError(f"{name} must have {expected}, not {values.shape}")
    return named(VertexTable(arrays), graph)
