"""Results that act as their main array, and results with parents, from which paths are reconstructed."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from hpgraph.containers.divided_array import gathered
from hpgraph.containers.name_arrays import python_values
from hpgraph.containers.result_table import ResultTable
from hpgraph.containers.vertex_array import ByVertex
from hpgraph.containers.vertices import checked_index, id
from hpgraph.core.device import anywhere, to_device
from hpgraph.core.errors import NoPathError
from hpgraph.engine.result import Trace


class ArrayResult(ByVertex, ResultTable, np.lib.mixins.NDArrayOperatorsMixin):
    """A result that stands for one of its arrays: in arithmetic and comparisons, under an index or a name, by methods.

    Classes that derive from it name the attribute that holds the array, ``class Ranks(ArrayResult, array="rank")``;
    those that derive from them have the same. It is the table's only column beside the vertex, unless `columns` are
    given.
    """

    _array: ClassVar[str]

    def __init_subclass__(cls, array: str | None = None, **others: Any) -> None:
        if array is not None:
            cls._array = array
            others = {"columns": (array,), **others}
        super().__init_subclass__(**others)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        # Copied from the GPU.
        array = to_device(getattr(self, self._array), "cpu")
        if dtype is not None and array.dtype != dtype:
            return np.asarray(array.astype(dtype))
        return np.array(array) if copy else np.asarray(array)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        given = (one._values_by_vertex() if isinstance(one, ArrayResult) else one for one in inputs)
        return getattr(ufunc, method)(*given, **options)

    def __getattr__(self, name: str) -> Any:
        # Methods and attributes of the array, such as `sum` and `dtype`; not while the result is under construction.
        if name.startswith("_") or self._array not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.__dict__[self._array], name)

    def _values_by_vertex(self) -> Any:
        return self.__dict__[self._array]

    def __getitem__(self, key: Any) -> Any:
        return self._values_by_vertex()[self._at(key)]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values_by_vertex())

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, str):
            return self._names is not None and value in self._names
        return anywhere(self._values_by_vertex() == value)

    def __len__(self) -> int:
        return len(self._values_by_vertex())


class SearchResult(ResultTable):
    """A result of searches that keeps the graph to find paths on request; copies keep it too, pickles do not."""

    def __getstate__(self) -> dict[str, Any]:
        # Without the graph.
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_find_")}

    def __copy__(self) -> Any:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy

    def _index(self, vertex: Any, n: int, argument: str) -> int:
        if self._names is not None and not isinstance(vertex, id):
            return int(self._names.index_of(vertex))
        return checked_index(vertex, n, argument)

    def _row(self, source: Any, n: int, asked: str = "path_to(vertex, source=...)") -> int:
        if source is None:
            raise TypeError(f"several searches were made: {asked} says which")
        start = self._index(source, n, "source")
        rows = np.flatnonzero(self._sources == start)
        if not len(rows):
            raise ValueError(f"no search began at {source!r}")
        return int(rows[0])


class ParentTree(SearchResult):
    """A result with `parent`, the vertex before each on a shortest path, of shape (n,) or (k, n).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2], names=["ann", "bob", "eve"])
    >>> hpg.bfs(G, "ann").path_to("eve")
    ['ann', 'bob', 'eve']
    """

    parent: Any
    traces: list[Trace]
    # Computes the parents on the first call for a path; then None, and no graph is kept.
    _find_parents: Callable[[], Any] | None = None
    _found_parents: Any = None

    @property
    def trace(self) -> Trace:
        """The trace of the only group of searches."""
        if len(self.traces) != 1:
            raise AttributeError(f"there are {len(self.traces)} groups of searches, each with a trace: see traces")
        return self.traces[0]

    def _predecessors(self) -> Any:
        if self.parent is not None:
            return self.parent
        if self._find_parents is not None:
            self.__dict__["_found_parents"], self.__dict__["_find_parents"] = self._find_parents(), None
        if self._found_parents is None:
            raise ValueError("this result holds neither parents nor a graph to find them in: search with parents=True")
        return self._found_parents

    def path_to(self, vertex: Any, source: Any = None) -> list[Any]:
        """The vertices of the shortest path to a vertex.

        Parameters
        ----------
        vertex : hashable or hpgraph.id
            End of the path: a name if the graph has names, else an index.
        source : hashable or hpgraph.id, optional
            Start of the path; required after several searches.

        Returns
        -------
        list
            From the source to `vertex`, by name where the graph has names.

        Raises
        ------
        NoPathError
            If the source does not reach it.
        ValueError, TypeError, IndexError
            If an argument is not a vertex, `source` is not one of the sources, or this is a pickled or deep copy of a
            result without parents.

        Notes
        -----
        After a search with ``parents=False``, the first call computes parents from distances and the graph; until then
        the result keeps the graph in memory.
        """
        parent = gathered(self._predecessors())
        n = parent.shape[-1]
        at = self._index(vertex, n, "vertex")
        if parent.ndim == 2:
            parent = parent[self._row(source, n)]
        elif source is not None and int(parent[(start := self._index(source, n, "source"))]) != start:
            raise ValueError(f"the search did not begin at {source!r}: leave source out")
        before = to_device(parent, "cpu")
        if before[at] < 0:
            raise NoPathError(f"no path leads to {vertex!r} from the start of the search")
        path = [at]
        while (at := int(before[at])) != path[-1]:
            path.append(at)
        vertices = np.array(path[::-1])
        return vertices.tolist() if self._names is None else python_values(self._names.array[vertices])
