"""Arcs that come in order, some at a time, into the pages of a file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from hpgraph.formats.file_stretch import FileStretch
from hpgraph.io.arcs import Array
from hpgraph.io.hpg_writer import GraphWriter, PageWriter

_PIECE = 1 << 20


class PageCutter:
    """One side of a graph on its way into a file.

    Pages are cut as `hpgraph.formats.pages.cut_points` cuts them. Weights wait in a file without a name until all ids
    are written, since they come behind.

    Parameters
    ----------
    writer : GraphWriter
    side : {"out", "in"}
    arcs_per_page : int
    folder : pathlib.Path
        Where weights wait.
    """

    def __init__(self, writer: GraphWriter, side: str, arcs_per_page: int, folder: Path) -> None:
        self._writer, self._side, self._most = writer, side, arcs_per_page
        self._pages = PageWriter(writer, side)
        self._folder = folder
        self._degrees = np.zeros(writer.header.n_vertices + 1, dtype=np.int64)
        self._row = self._col = np.empty(0, dtype=np.int64)
        self._weight: Array | None = None
        self._weights: BinaryIO | None = None
        self._weight_type: np.dtype[Any] | None = None
        self.count = 0

    def add(self, row: Array, col: Array, weight: Array | None) -> None:
        """Go on with arcs in order of rows, and of columns in each row."""
        if not len(row):
            return
        first, last = int(row[0]), int(row[-1])
        self._degrees[first + 1 : last + 2] += np.bincount(row - first, minlength=last - first + 1)
        self.count += len(row)
        self._row, self._col = np.concatenate((self._row, row)), np.concatenate((self._col, col))
        if weight is not None:
            self._weight = weight if self._weight is None else np.concatenate((self._weight, weight))
        self._cut(final=False)

    def _cut(self, final: bool) -> None:
        row, at, entries = self._row, 0, len(self._row)
        # Where rows begin, and where the last one ends, which is known at the end alone.
        bounds = np.append(np.flatnonzero(row[1:] != row[:-1]) + 1, [entries] if final else []).astype(np.int64)
        while at < entries and (final or entries - at > self._most):
            most = min(at + self._most, entries)
            place = int(np.searchsorted(bounds, most, side="right"))
            row_end = int(bounds[place - 1]) if place else 0
            end = row_end if row_end > at and most - row_end <= self._most // 8 else most
            self._page(slice(at, end))
            at = end
        self._row, self._col = row[at:].copy(), self._col[at:].copy()
        self._weight = None if self._weight is None else self._weight[at:].copy()

    def _page(self, arcs: slice) -> None:
        row, ids = self._row[arcs], self._col[arcs].astype(self._writer.header.id_dtype)
        weights = None if self._weight is None else self._weight[arcs]
        self._pages.add(int(row[0]), int(row[-1]), ids, weights)
        if weights is not None:
            if self._weights is None:
                self._weights = cast(BinaryIO, tempfile.TemporaryFile(dir=self._folder))  # noqa: SIM115
                self._weight_type = weights.dtype
            self._weights.write(weights.view(np.uint8).data)

    def finish(self) -> np.dtype[Any] | None:
        """Write what is left, the weights and the tables; the type of the weights, or None."""
        self._cut(final=True)
        if self._weights is not None and self._weight_type is not None:
            self._weights.flush()
            self._writer.begin(f"{self._side}.weights")
            held = FileStretch(self._weights, 0, self.count, self._weight_type)
            for begin in range(0, self.count, _PIECE):
                self._writer.add(held[begin : begin + _PIECE])
            self._weights.close()
        np.cumsum(self._degrees, out=self._degrees)
        self._pages.finish(self._degrees)
        return self._weight_type
