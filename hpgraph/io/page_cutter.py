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
    """

    def __init__(
        self, writer: GraphWriter, side: str, arcs_per_page: int, folder: Path, weight_dtype: np.dtype[Any] | None
    ) -> None:
        self._writer, self._side, self._most = writer, side, arcs_per_page
        self._pages = PageWriter(writer, side)
        self._folder = folder
        self._degrees = np.zeros(writer.header.n_vertices + 1, dtype=np.int64)
        self._waiting: list[tuple[Array, Array, Array | None]] = []
        self._held = 0
        self._weights: BinaryIO | None = None
        self._weight_type = weight_dtype
        self.count = 0

    def add(self, row: Array, col: Array, weight: Array | None) -> None:
        """Go on with arcs in order of rows, and of columns in each row."""
        if not len(row):
            return
        first, last = int(row[0]), int(row[-1])
        self._degrees[first + 1 : last + 2] += np.bincount(row - first, minlength=last - first + 1)
        self.count += len(row)
        ids = self._writer.header.id_dtype
        self._waiting.append((row.astype(ids), col.astype(ids), weight))
        self._held += len(row)
        # Half as many again, so that what stays behind is not moved for each page.
        if self._held > self._most + self._most // 2:
            self._cut(final=False)

    def _cut(self, final: bool) -> None:
        if not self._waiting:
            return
        row, col = (np.concatenate([piece[k] for piece in self._waiting]) for k in (0, 1))
        held = [piece[2] for piece in self._waiting if piece[2] is not None]
        weight, at, entries = np.concatenate(held) if held else None, 0, len(row)
        # Where rows begin, and where the last one ends, which is known at the end alone.
        bounds = np.append(np.flatnonzero(row[1:] != row[:-1]) + 1, [entries] if final else []).astype(np.int64)
        while at < entries and (final or entries - at > self._most):
            most = min(at + self._most, entries)
            place = int(np.searchsorted(bounds, most, side="right"))
            row_end = int(bounds[place - 1]) if place else 0
            end = row_end if row_end > at and most - row_end <= self._most // 8 else most
            self._page(row[at:end], col[at:end], None if weight is None else weight[at:end])
            at = end
        self._waiting = [(row[at:].copy(), col[at:].copy(), None if weight is None else weight[at:].copy())]
        self._held = entries - at

    def _page(self, row: Array, ids: Array, weights: Array | None) -> None:
        self._pages.add(int(row[0]), int(row[-1]), ids, weights)
        if weights is not None:
            if self._weights is None:
                # Open until the weights are where they belong.
                self._weights = cast(BinaryIO, tempfile.TemporaryFile(dir=self._folder))  # noqa: SIM115
                self._weight_type = weights.dtype
            self._weights.write(weights.view(np.uint8).data)

    def finish(self) -> np.dtype[Any] | None:
        """Write what is left, the weights and the tables; the type of the weights, or None."""
        self._cut(final=True)
        if self._weights is None and self.count:
            self._weight_type = None
        if self._weight_type is not None:
            self._writer.begin(f"{self._side}.weights")
        if self._weights is not None and self._weight_type is not None:
            self._weights.flush()
            held = FileStretch(self._weights, 0, self.count, self._weight_type)
            for begin in range(0, self.count, _PIECE):
                self._writer.add(held[begin : begin + _PIECE])
            self._weights.close()
        np.cumsum(self._degrees, out=self._degrees)
        self._pages.finish(self._degrees)
        return self._weight_type
