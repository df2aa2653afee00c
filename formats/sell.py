"""SELL-32-σ: slices of 32 rows of similar length, each padded to its longest row and stored by columns.

M. Kreutzer, G. Hager, G. Wellein, H. Fehske, A. R. Bishop, "A unified sparse matrix data format for efficient general
sparse matrix-vector multiplication on modern processors with wide SIMD units", SISC 36(5), 2014: 32 is C, the number of
rows that a warp of a GPU processes together, and σ the number of rows of a window within which they are sorted by
length. Rows are sorted approximately, into buckets of lengths up to 1, 2, 4, 8, ... (Zhong et al.): rows of a bucket
keep their order, and so their neighbours in the vectors, and no slice within a bucket is padded to twice its entries.
"""

from dataclasses import InitVar, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from hpgraph.core.device import anywhere, array_module, check_memory, prefix_sum
from hpgraph.formats.checks import as_ids, as_offsets, as_shape, as_values, index_dtype
from hpgraph.formats.csr import CSR
from hpgraph.formats.lengths import occurrences
from hpgraph.formats.protocol import Division, RowFormat
from hpgraph.formats.storage import Padded, backend

# Number of rows of a slice: C.
SLICE = 32
# Slots per entry above which windows are enlarged.
_PADDED = 1.25
# Number of rows of the smallest windows, as many slices as a slice has rows, and the factor between window sizes. Small
# windows preserve locality; a matrix whose rows differ much within them uses larger ones.
_WINDOW, _GROWTH = 1024, 8


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class SELL(Padded, RowFormat):
    """Slices of 32 rows. Entry k of the row at position i is ``indices[slices[i // 32] + 32 * k + i % 32]``.

    Parameters
    ----------
    shape : (int, int)
    order : array of integers, shape (rows,)
        The row at each position; a permutation.
    slices : array of integers, shape (ceil(rows / 32) + 1,)
        Offset of each slice, in slots, and the end of the last one; multiples of 32, stored as int64.
    indices : array of integers, shape (slots,)
        Columns of the entries, -1 in padding. A row's entries are in its first slots.
    data : array, shape (slots,), optional
        Values of the entries, arbitrary in padding; None makes a pattern.
    nnz : int, optional
        Number of slots that are not padding; counted by default.
    validate, copy : bool, default True
        As for `Storage`, also for errors.

    Examples
    --------
    >>> from hpgraph.formats import CSR, SELL
    >>> sell = SELL.from_csr(CSR((3, 3), [0, 1, 1, 3], [2, 0, 1]))
    >>> sell.order, sell.slices, sell.indices[[0, 32, 1, 33]]
    (array([2, 0, 1], dtype=int32), array([ 0, 64]), array([ 0,  1,  2, -1], dtype=int32))
    """

    shape: tuple[int, int]
    order: Any
    slices: Any
    indices: Any
    data: Any = None
    nnz: int = -1
    validate: InitVar[bool] = True
    copy: InitVar[bool] = True

    name: ClassVar[str] = "sell"
    # The predicted time was not a tenth lower for any of 24 kinds of matrices; the measured time is 4% lower for one.
    automatic: ClassVar[bool] = False

    def __post_init__(self, validate: bool, copy: bool) -> None:
        if validate:
            rows, columns = as_shape(self.shape)
            indices = as_ids(self.indices, "indices", columns, "column", low=-1)
            order = as_ids(self.order, "order", rows, "row").astype(indices.dtype, copy=False)
            if len(order) != rows or anywhere(occurrences(order, rows) != 1):
                raise ValueError(f"order must name each of the {rows} rows once")
            count = -(-rows // SLICE)
            slices = as_offsets(self.slices, "slices", count, len(indices))
            if anywhere(slices % SLICE != 0):
                raise ValueError(f"slices must begin at multiples of {SLICE}, the rows of one")
            data = as_values(self.data, "data", indices.shape)
            self._take((rows, columns), copy, order=order, slices=slices, indices=indices, data=data)
            place, rank = self._slots()
            if anywhere(place >= rows):
                raise IndexError(f"indices has entries in places beyond the last of the {rows} rows")
            if anywhere(rank >= self._lengths()[place]):
                raise ValueError("indices has padding (-1) before an entry: move each row's entries to its first slots")
        self._count(validate)

    def _slots(self) -> tuple[Any, Any]:
        """Position of the row, and number within the row, of each slot with an entry."""
        xp = array_module(self.indices)
        slot = xp.flatnonzero(self.indices >= 0)
        part = xp.searchsorted(self.slices, slot, side="right") - 1
        inside = slot - self.slices[part]
        return part * SLICE + inside % SLICE, inside // SLICE

    def _lengths(self) -> Any:
        """Number of entries of the row at each position, including positions beyond the last row."""
        return occurrences(self._slots()[0], (len(self.slices) - 1) * SLICE)

    @property
    def index_dtype(self) -> np.dtype[Any]:
        """Type of the column ids."""
        return self.indices.dtype

    @classmethod
    def division(cls, csr: CSR) -> Division:
        """All slots, for the smallest windows with little padding."""
        return Division(slots_of(csr), 0, 0)

    @classmethod
    def from_csr(cls, csr: CSR, sigma: int | None = None) -> Self:
        """Convert from CSR, on its device; each row keeps its order.

        Peak memory beside the result: about 24 bytes an entry and 40 a row; a DeviceMemoryError is raised if memory
        does not suffice. On CUDA this synchronizes the stream, to read the number of slots.

        Parameters
        ----------
        csr : CSR
        sigma : int, optional
            Number of rows of a window, a positive multiple of 32. By default the smallest of 1,024, 8,192, 65,536, ...
            with padding of at most a quarter of the entries, or all rows.

        Examples
        --------
        >>> from hpgraph.formats import CSR, SELL
        >>> SELL.from_csr(CSR((2, 3), [0, 2, 3], [0, 2, 1]), sigma=32).to_csr().indices
        array([0, 2, 1], dtype=int32)
        """
        rows, xp = csr.shape[0], array_module(csr.indices)
        if sigma is not None and (sigma <= 0 or sigma % SLICE):
            raise ValueError(f"sigma must be a positive multiple of {SLICE}, not {sigma}")
        lengths = csr.indptr[1:] - csr.indptr[:-1]
        order, slices = _sorted(lengths, _window(lengths, csr.nnz) if sigma is None else sigma)
        slots = int(slices[-1])
        check_memory(slots * csr.entry_bytes + 24 * csr.nnz + 40 * rows, f"a SELL matrix of {slots} slots", csr.device)
        place = xp.empty(rows, np.int64)
        place[order] = xp.arange(rows)
        row = backend(csr.indptr).expand_rows(csr.indptr, csr.nnz, index_dtype(max(rows, 1)))
        slot = (slices[place // SLICE] + place % SLICE - SLICE * csr.indptr[:-1])[row]
        slot += SLICE * xp.arange(csr.nnz)
        indices = xp.full(slots, -1, csr.indices.dtype)
        indices[slot] = csr.indices
        data = None
        if csr.data is not None:
            data = xp.zeros(slots, csr.data.dtype)
            data[slot] = csr.data
        order = order.astype(csr.indices.dtype)
        return cls(csr.shape, order, slices, indices, data, nnz=csr.nnz, validate=False)

    def to_csr(self) -> CSR:
        """Convert to CSR, each row in the order of its slots: the argument of `from_csr`."""
        xp, rows = array_module(self.indices), self.shape[0]
        check_memory(48 * self.nnz + 24 * rows, "a CSR matrix from SELL", self.device)
        place, rank = self._slots()
        lengths = xp.zeros(rows, np.int64)
        lengths[self.order] = self._lengths()[:rows]
        indptr = prefix_sum(lengths)
        to = indptr[self.order[place]] + rank
        slot = xp.flatnonzero(self.indices >= 0)
        indices = xp.empty(self.nnz, self.indices.dtype)
        indices[to] = self.indices[slot]
        data = None
        if self.data is not None:
            data = xp.empty(self.nnz, self.data.dtype)
            data[to] = self.data[slot]
        return CSR(self.shape, indptr, indices, data, validate=False)


def slots_of(csr: CSR) -> int:
    """Number of slots of a matrix in SELL, padding included; on CUDA this synchronizes the stream."""
    lengths = csr.indptr[1:] - csr.indptr[:-1]
    return int(_sorted(lengths, _window(lengths, csr.nnz))[1][-1])


def _sorted(lengths: Any, window: int) -> tuple[Any, Any]:
    """Order of the rows, and offsets of slices, for windows of this many rows."""
    xp, rows = array_module(lengths), len(lengths)
    row = xp.arange(rows)
    # Rows of up to 2**k entries are in bucket k; the longest come first, so that no warp starts with them at the end.
    bucket = xp.ceil(xp.log2(xp.maximum(lengths, 1))).astype(np.int64) + (lengths > 0)
    key = (row // window * 64 + (63 - bucket)) * window + row % window
    order = xp.argsort(key)
    count = -(-rows // SLICE)
    padded = xp.zeros(count * SLICE, np.int64)
    padded[:rows] = lengths[order]
    return order, prefix_sum(padded.reshape(count, SLICE).max(axis=1) * SLICE if count else padded)


def _window(lengths: Any, entries: int) -> int:
    """The smallest window with little padding."""
    window = _WINDOW
    while window < len(lengths) and int(_sorted(lengths, window)[1][-1]) > _PADDED * entries:
        window *= _GROWTH
    return window
