"""The way back along parents, in results of searches."""

from __future__ import annotations

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
            If one is no vertex, nothing was searched from `source`, or no parents were kept.
        """
        if self.parent is None:
            raise ValueError("no parents were kept: search with parents=True")
        n = self.parent.shape[-1]
        at, parent = self._index(vertex, n, "vertex"), gathered(self.parent)
        if parent.ndim == 2:
            parent = parent[self._lane(source, n)]
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

    def _lane(self, source: Any, n: int) -> int:
        if source is None:
            raise TypeError("several searches were made: path_to(vertex, source=...) says which")
        start = self._index(source, n, "source")
        lanes = np.flatnonzero(self._sources == start)
        if not len(lanes):
            raise ValueError(f"no search began at {source!r}")
        return int(lanes[0])
