"""Pages: the arcs of a CSR in pieces of about equal size, each read, copied and decoded by itself."""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.core.errors import DamagedPageError
from hpgraph.core.number import one_of, whole
from hpgraph.formats.bitmask import Bitmask
from hpgraph.formats.checks import as_ids, as_offsets, as_shape, as_value_dtype

Array = np.ndarray[Any, Any]

ENCODINGS = ("none", "gaps")
"""How a page's ids may be stored: as they are, or as the bits of their gaps."""


class Pages:
    """A sparse matrix by rows whose entries are stored in pages, in host memory or in a file.

    Page i holds the entries ``first_arc[i]`` to ``first_arc[i + 1]`` of the rows ``first_row[i]`` to ``last_row[i]``,
    both included: mostly whole rows, and parts of rows that are longer than a page. Inconsistent tables raise
    ValueError; the content of pages is not checked.

    Parameters
    ----------
    shape : (int, int)
    indptr : array of int64, shape (rows + 1,), or function that returns one
        Offsets of the rows, counted in entries. They stay in memory, like vertex data. A function is called on first
        access.
    first_arc, offset : array of int64, shape (pages + 1,)
        First entry of each page, and its offset in `stored`, in bytes; then their ends. A page may end with padding.
    stored : array of uint8 or FileStretch
        The ids of all pages, encoded. Any object that computes slices on request, such as a `FileStretch`, is valid.
    checksum : array of uint32, shape (pages,), or None
        CRC-32 of the stored bytes of each page; None if these are computed when they are read.
    id_dtype : dtype
        Type of the ids, int32 or int64.
    encoding : {"none", "gaps"}
        Encoding of the ids; `hpgraph.kernels.pages` decodes both.
    values : array or FileStretch, shape (nnz,), optional
        Value of each entry, stored separately from the ids: algorithms without weights do not read them.
    value_checksum : array of uint32, shape (pages,), optional
        CRC-32 of the values of each page.
    first_row, last_row : array of int64, shapes (pages + 1,) and (pages,), optional
        Rows of each page; `first_row` ends with their number. Computed from the offsets by default.
    origin : str, optional
        Source of the pages, for messages.

    Examples
    --------
    >>> from hpgraph.formats import CSR
    >>> from hpgraph.kernels.pages import cut
    >>> pages = cut(CSR((3, 3), [0, 2, 3, 4], [1, 2, 0, 1]), arcs_per_page=2)
    >>> pages.n_pages, pages.first_row.tolist(), pages.last_row.tolist()
    (2, [0, 1, 3], [0, 2])
    """

    __slots__ = (
        "__weakref__", "_indptr", "checksum", "encoding", "first_arc", "first_row", "id_dtype", "last_row", "offset",
        "origin", "shape", "stored", "value_checksum", "values",
    )  # fmt: skip

    def __init__(
        self, shape: tuple[int, int], indptr: Array | Callable[[], Array], first_arc: Array, offset: Array,
        stored: Any, checksum: Array | None, id_dtype: np.dtype[Any], encoding: str = "none",
        values: Any = None, value_checksum: Array | None = None, first_row: Array | None = None,
        last_row: Array | None = None, origin: str = "the pages",
    ) -> None:  # fmt: skip
        self.shape = as_shape(shape)
        self._indptr = indptr
        self.first_arc, self.offset = first_arc, offset
        self.stored, self.checksum = stored, checksum
        self.id_dtype, self.encoding = np.dtype(id_dtype), encoding
        self.values, self.value_checksum = values, value_checksum
        self.origin = origin
        self._check_tables()
        if first_row is None or last_row is None:
            first_row, last_row = _rows_of(self.indptr, first_arc)
        self.first_row, self.last_row = first_row, last_row
        if not callable(indptr):
            self._check_indptr(indptr)

    def _check_tables(self) -> None:
        pages, entries = len(self.first_arc) - 1, int(self.first_arc[-1])
        as_offsets(self.first_arc, "first_arc", pages, entries)
        as_offsets(self.offset, "offset", pages, len(self.stored))
        if (self.first_arc[1:] == self.first_arc[:-1]).any():
            raise ValueError("first_arc must ascend: omit pages without entries")
        one_of(self.encoding, "encoding", ENCODINGS)
        if self.id_dtype not in (np.int32, np.int64):
            raise ValueError(f"id_dtype must be int32 or int64, not {self.id_dtype}")
        if self.encoding == "none" and (np.diff(self.offset) != np.diff(self.first_arc) * self.id_dtype.itemsize).any():
            raise ValueError(f"offset must leave {self.id_dtype.itemsize} bytes for each entry of a page")
        for name, table in (("checksum", self.checksum), ("value_checksum", self.value_checksum)):
            if table is not None and (table.shape != (pages,) or table.dtype != np.uint32):
                raise ValueError(f"{name} must be uint32 of shape ({pages},), one for each page")
        if self.checksum is not None and (self.values is None) != (self.value_checksum is None):
            raise ValueError("values and value_checksum must both be given, or neither")
        if self.values is not None:
            as_value_dtype(self.values.dtype, "values")
            if self.values.shape != (entries,):
                raise ValueError(f"values must have one value for each of {entries} entries, not {self.values.shape}")

    def _check_indptr(self, indptr: Array) -> None:
        as_offsets(indptr, "indptr", self.shape[0], self.nnz)
        first, last = _rows_of(indptr, self.first_arc)
        if not np.array_equal(first, self.first_row) or not np.array_equal(last, self.last_row):
            raise ValueError("first_row and last_row must be the rows that indptr says are in each page")

    @property
    def indptr(self) -> Array:
        """Offsets of the rows: int64 array, shape (rows + 1,); FileFormatError or ValueError if damaged or unfit."""
        held = self._indptr
        if not callable(held):
            return held
        # Two threads may both read; they get the same result.
        indptr = held()
        self._check_indptr(indptr)
        self._indptr = indptr
        return indptr

    def pattern(self) -> "Pages":
        """The same pages without values."""
        if self.values is None:
            return self
        return Pages(
            self.shape, self._indptr, self.first_arc, self.offset,
            self.stored, self.checksum, self.id_dtype, self.encoding, None, None, self.first_row, self.last_row,
            self.origin,
        )  # fmt: skip

    @property
    def n_pages(self) -> int:
        """Number of pages."""
        return len(self.first_arc) - 1

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return int(self.first_arc[-1])

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Type of the values; None for a pattern."""
        return None if self.values is None else self.values.dtype

    @property
    def nbytes(self) -> int:
        """Stored bytes of the pages: ids, and values if there are any."""
        return len(self.stored) + (0 if self.values is None else self.values.nbytes)

    def payload(self, page: int) -> Array:
        """The stored bytes of a page's ids, not checked; DamagedPageError if the file was truncated."""
        stored = self.stored[self.offset[page] : self.offset[page + 1]]
        if len(stored) != self.offset[page + 1] - self.offset[page]:
            raise self.damaged(page, "the file ends before the page does")
        return stored

    def values_of(self, page: int) -> Array | None:
        """The values of a page's entries, as `payload` for ids; None if there are none."""
        if self.values is None:
            return None
        values = self.values[self.first_arc[page] : self.first_arc[page + 1]]
        if len(values) != self.first_arc[page + 1] - self.first_arc[page]:
            raise self.damaged(page, "the file ends before its weights do")
        return values

    def check(self, page: int, stored: Array | None = None, *, values: bool = False) -> None:
        """Check the stored content of a page against its checksum; DamagedPageError if they differ.

        ``stored``: the page's bytes, or values, if already read; ``values``: whether to check the values instead of the
        ids.

        Examples
        --------
        >>> from hpgraph.formats import CSR
        >>> from hpgraph.kernels.pages import cut
        >>> pages = cut(CSR((2, 2), [0, 1, 2], [1, 0]))
        >>> pages.check(0)
        >>> pages.payload(0)[0] ^= 1
        >>> pages.check(0)
        Traceback (most recent call last):
        ...
        hpgraph.core.errors.DamagedPageError: the pages, page 0 (rows 0 to 1): the ids do not have their checksum
        """
        sums = self.value_checksum if values else self.checksum
        if sums is None:
            return
        if stored is None:
            stored = self.values_of(page) if values else self.payload(page)
        if stored is not None and crc32(stored) != int(sums[page]):
            raise self.damaged(page, f"the {'weights' if values else 'ids'} do not have their checksum")

    def damaged(self, page: int, reason: str) -> DamagedPageError:
        """The error for a page with invalid content."""
        return DamagedPageError(self.origin, page, (int(self.first_row[page]), int(self.last_row[page])), reason)

    def pages_of(self, rows: Any) -> Array:
        """The pages with entries of some rows: int64 array, ascending, each once.

        ``rows``: a Bitmask, flags of shape (rows,), or ids, in any order, duplicates allowed; IndexError if one is out
        of range.

        Examples
        --------
        >>> from hpgraph.formats import CSR
        >>> from hpgraph.kernels.pages import cut
        >>> pages = cut(CSR((3, 3), [0, 2, 3, 4], [1, 2, 0, 1]), arcs_per_page=1)
        >>> pages.pages_of([2, 0])
        array([0, 1, 3])
        """
        rows = self._chosen(rows)
        begin, end = self.indptr[rows], self.indptr[rows + 1]
        has_entries = end > begin
        first = np.searchsorted(self.first_arc, begin[has_entries], side="right") - 1
        last = np.searchsorted(self.first_arc, end[has_entries], side="left")
        # At each page, the number of rows that begin there less the number that ended before it.
        length = self.n_pages + 1
        return np.flatnonzero(np.cumsum(np.bincount(first, minlength=length) - np.bincount(last, minlength=length)))

    def _chosen(self, rows: Any) -> Array:
        n = self.shape[0]
        if isinstance(rows, Bitmask):
            if rows.n != n:
                raise IndexError(f"rows is a set of {rows.n} vertices, and there are {n} rows")
            return rows.to_indices()  # type: ignore[no-any-return]
        rows = np.asarray(rows)
        if rows.dtype == np.bool_:
            if rows.shape != (n,):
                raise IndexError(f"rows must have one flag for each of {n} rows, not shape {rows.shape}")
            return np.flatnonzero(rows)
        return as_ids(rows, "rows", n, "row").astype(np.int64, copy=False)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        size = "x".join(map(str, self.shape))
        values = "pattern" if self.dtype is None else str(self.dtype)
        return (
            f"<Pages {size}, {self.nnz} entries, {values}, {self.n_pages} pages, "
            f"encoding {self.encoding!r}, {self.nbytes} bytes>"
        )


def _rows_of(indptr: Array, first_arc: Array) -> tuple[Array, Array]:
    """First row of each page, followed by the number of rows; last row of each page."""
    # Rows without entries belong to no page.
    first = np.searchsorted(indptr, first_arc[:-1], side="right") - 1
    last = np.searchsorted(indptr, first_arc[1:] - 1, side="right") - 1
    return np.append(first, len(indptr) - 1).astype(np.int64), last.astype(np.int64)


def crc32(array: Array) -> int:
    """CRC-32 of a contiguous array's bytes, as in zlib, gzip and PNG."""
    return zlib.crc32(array.view(np.uint8).data)


def cut_points(indptr: Array, arcs_per_page: int) -> Array:
    """First entry of each page: `Pages.first_arc`.

    A page ends at the end of a row, unless that would leave an eighth of it empty: such a row continues on the next
    page. So all pages but the last have equally many entries to within an eighth, for any degrees.
    """
    whole(arcs_per_page, "arcs_per_page", least=1)
    entries, at, points = int(indptr[-1]), 0, [0]
    while at < entries:
        most = min(at + arcs_per_page, entries)
        row_end = int(indptr[np.searchsorted(indptr, most, side="right") - 1])
        at = row_end if most - row_end <= arcs_per_page // 8 else most
        points.append(at)
    return np.array(points, dtype=np.int64)


def excerpt(pages: Pages, begin: int, end: int) -> Pages:
    """Pages `begin` up to and without `end`, over the same bytes: the matrix without the entries of the others."""
    first, last = int(pages.first_arc[begin]), int(pages.first_arc[end])
    at, behind = int(pages.offset[begin]), int(pages.offset[end])
    values = None if pages.values is None else _stretch(pages.values, first, last)
    return Pages(
        pages.shape, np.clip(pages.indptr - first, 0, last - first), pages.first_arc[begin : end + 1] - first,
        pages.offset[begin : end + 1] - at, _stretch(pages.stored, at, behind),
        None if pages.checksum is None else pages.checksum[begin:end], pages.id_dtype, pages.encoding, values,
        None if pages.value_checksum is None else pages.value_checksum[begin:end], origin=pages.origin,
    )  # fmt: skip


def _stretch(array: Any, begin: int, end: int) -> Any:
    return array[begin:end] if isinstance(array, np.ndarray) else array.part(begin, end)
