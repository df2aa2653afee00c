"""Graphs of overlapping windows of rows: what a window has beyond the one before is added, what it lacks removed."""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, prefix_sum
from hpgraph.formats import CSR, occurrences


class PairCounts:
    """The number of rows of each pair in a window of a TemporalGraph, which moves on. Exact, as numbers are whole."""

    def __init__(self, T: Any) -> None:
        self._T, n = T, T.n_vertices
        xp = self._xp = array_module(T.device)
        keys = T._source.astype(np.int64) * n + T._target
        if not T.directed:
            keys = xp.concatenate((keys, T._target.astype(np.int64) * n + T._source))
        pairs, of = xp.unique(keys, return_inverse=True)
        self.number = len(pairs)
        self._source, self._target = (one.astype(T._source.dtype) for one in (pairs // n, pairs % n))
        # The pair of each row, and that of its reverse; a loop counts once.
        self._of = of.reshape(1 if T.directed else 2, -1)
        if not T.directed:
            self._of[1][T._source == T._target] = self.number
        self._count, self._rows = xp.zeros(self.number + 1, np.int64), slice(0, 0)

    def _counted(self, begin: int, end: int) -> Any:
        return occurrences(self._of[:, begin:end].ravel(), self.number + 1)

    def graph(self, rows: slice) -> Graph:
        """The graph of the rows of a window, no earlier than the one before: weights are numbers of rows."""
        T, last = self._T, self._rows
        if rows.start >= last.stop:
            self._count = self._counted(rows.start, rows.stop)
        else:
            self._count = self._count + self._counted(last.stop, rows.stop) - self._counted(last.start, rows.start)
        self._rows = rows
        present = self._xp.flatnonzero(self._count[:-1])
        indptr = prefix_sum(occurrences(self._source[present], T.n_vertices))
        csr = CSR((T.n_vertices,) * 2, indptr, self._target[present], self._count[present], copy=False)
        return Graph._from_csr(csr, T.directed, T._names)
