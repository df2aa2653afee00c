"""The way back along parents, in results of searches."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.containers.divided_array import gathered
from hpgraph.containers.name_arrays import python_values
from hpgraph.containers.result_table import ResultTable
from hpgraph.containers.vertices import checked_index, id
from hpgraph.core.device import to_device
from hpgraph.core.errors import NoPathError


class ParentTree(ResultTable):
    """A result with `parent`, the vertex before each on a shortest path, of shape (n,) or (k, n).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2], names=["ann", "bob", "eve"])
    >>> hpg.bfs(G, "ann").path_to("eve")
    ['ann', 'bob', 'eve']
    """

    parent: Any
    # Gives the parents that the result does not hold, and None once they are found.
    _find_parents: Callable[[], Any] | None = None
    _found_parents: Any = None

    def or_parents_by(self, find: Callable[[], Any]) -> Any:
        """The same result, to find parents when a path is first asked for: until then it keeps the graph."""
        self.__dict__["_find_parents"] = find
        return self

    def __getstate__(self) -> dict[str, Any]:
        # Not the graph that parents would be found in.
        return {name: value for name, value in self.__dict__.items() if name != "_find_parents"}

    def __copy__(self) -> Any:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def _predecessors(self) -> Any:
        if self.parent is not None:
            return self.parent
        if self._find_parents is not None:
            self.__dict__["_found_parents"], self.__dict__["_find_parents"] = self._find_parents(), None
        if self._found_parents is None:
            raise ValueError("this result holds neither parents nor a graph to find them in: search with parents=True")
        return self._found_parents

    def path_to(self, vertex: Any, source: Any = None) -> list[Any]:
        """The vertices of the shortest path that was found.

        Parameters
        ----------
        vertex : hashable or hpgraph.id
            Where it ends: a name where the graph has names, else an index.
        source : hashable or hpgraph.id, optional
            Where it begins, which must be said where there were several searches.

        Returns
        -------
        list
            From the source to `vertex`, by name where the graph has names.

        Raises
        ------
        NoPathError
            If the source does not reach it.
        ValueError, TypeError, IndexError
            If one is no vertex, nothing was searched from `source`, or this is a pickled or deep copy of a result
            without parents.

        Notes
        -----
        After a search with ``parents=False`` parents are found at the first call, from distances and the graph, and
        kept; until then the result keeps the graph.
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
            raise NoPathError(f"no path leads to {vertex!r} from where the search began")
        path = [at]
        while (at := int(before[at])) != path[-1]:
            path.append(at)
        vertices = np.array(path[::-1])
        return vertices.tolist() if self._names is None else python_values(self._names.array[vertices])

    def _index(self, vertex: Any, n: int, argument: str) -> int:
        if self._names is not None and not isinstance(vertex, id):
            return int(self._names.index_of(vertex))
        return checked_index(vertex, n, argument)

    def _row(self, source: Any, n: int) -> int:
        if source is None:
            raise TypeError("several searches were made: path_to(vertex, source=...) says which")
        start = self._index(source, n, "source")
        rows = np.flatnonzero(self._sources == start)
        if not len(rows):
            raise ValueError(f"no search began at {source!r}")
        return int(rows[0])
