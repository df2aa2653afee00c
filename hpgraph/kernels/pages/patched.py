"""Pages with a patch of recent changes: merged page by page as they are read, on the CPU.

Stored data stay unchanged. A `Patch` holds the changes by their positions among the stored entries, so that merging a
page is a copy without a search.
"""

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, cast

import numpy as np

from hpgraph.core.config import config
from hpgraph.formats import CSR, Pages, index_dtype
from hpgraph.formats.file_stretch import FileStretch
from hpgraph.formats.pages import crc32
from hpgraph.kernels.pages import content, cut, encode

Array = np.ndarray[Any, Any]


class Entries(NamedTuple):
    """Entries of a matrix by rows, ascending: int64 arrays, and values or None."""

    row: Array
    column: Array
    values: Array | None = None

    def among(self, chosen: Array) -> "Entries":
        """A subset of the entries."""
        return Entries(*(None if part is None else part[chosen] for part in self))  # type: ignore[arg-type]


class Patch(NamedTuple):
    """Changes of pages: numbers of deleted entries, ascending, and the insertion point of each new entry."""

    gone: Array
    at: Array
    new: Entries

    def __len__(self) -> int:
        return len(self.gone) + len(self.at)

    @property
    def places(self) -> Array:
        """The numbers of the new entries in the patched matrix."""
        return self.at - np.searchsorted(self.gone, self.at) + np.arange(len(self.at))

    def stored(self, places: Array) -> Array:
        """The number of the first stored entry at or after positions of the patched matrix."""
        return _kept_at(self.gone, places - np.searchsorted(self.places, places))


def _kept_at(gone: Array, rank: Array) -> Array:
    """The number of the entry with this many remaining entries before it."""
    return rank + np.searchsorted(gone - np.arange(len(gone)), rank, side="right")


def nothing(values: np.dtype[Any] | None) -> Patch:
    """No changes."""
    none = np.empty(0, np.int64)
    return Patch(none, none, Entries(none, none, None if values is None else np.empty(0, values)))


def located(pages: Pages, entries: Entries) -> tuple[Array, Array]:
    """Insertion point of each entry in ascending order, and whether the entry is present."""
    row, column = entries.row, entries.column
    within = row < pages.shape[0]
    at, found = np.full(len(row), pages.nnz, np.int64), np.zeros(len(row), np.bool_)
    at[within] = pages.indptr[row[within]]

    def search(page: int) -> tuple[slice, Array, Array]:
        """For each entry, the number of the page's entries before it in its row, and whether it is present."""
        begin, end = pages.first_arc[page : page + 2]
        patches = slice(*np.searchsorted(row, [pages.first_row[page], pages.last_row[page] + 1]).tolist())
        ids, _ = content(pages, page, weighted=False)
        first, last = (np.clip(pages.indptr[row[patches] + k] - begin, 0, end - begin) for k in (0, 1))
        low, high, wanted = first.copy(), last.copy(), column[patches]
        for _ in range(int((last - first).max()).bit_length()):
            middle = (low + high) // 2
            less = (low < high) & (ids[np.minimum(middle, len(ids) - 1)] < wanted)
            low, high = np.where(less, middle + 1, low), np.where(less, high, np.minimum(middle, high))
        return patches, low - first, (low < last) & (ids[np.minimum(low, len(ids) - 1)] == wanted)

    ends = np.searchsorted(row, np.stack((pages.first_row[:-1], pages.last_row + 1)))
    with ThreadPoolExecutor(config.threads) as threads:
        for patches, before, same in threads.map(search, np.flatnonzero(ends[1] > ends[0]).tolist()):
            at[patches] += before
            found[patches] |= same
    return at, found


class Changed:
    """Patched pages, page by page; pages without remaining entries are omitted."""

    def __init__(self, base: Pages, patch: Patch, id_dtype: np.dtype[Any], dtype: np.dtype[Any] | None) -> None:
        self.base, self.patch, self.id_dtype, self.dtype = base, patch, id_dtype, dtype
        page = np.clip(np.searchsorted(base.first_arc, patch.at, side="right") - 1, 0, base.n_pages - 1)
        ends = np.searchsorted(page, np.arange(base.n_pages + 1))
        counts = np.diff(base.first_arc) - np.diff(np.searchsorted(patch.gone, base.first_arc)) + np.diff(ends)
        self.pages = np.flatnonzero(counts)
        self.first_arc = np.append(0, np.cumsum(counts[self.pages]))
        self._ends = ends

    def read(self, begin: int, end: int, values: bool) -> Array:
        """The ids, or the values, of a range of entries."""
        low, high = np.searchsorted(self.first_arc, [begin, max(begin, end - 1)], side="right") - 1
        if begin >= end:
            return np.empty(0, self.dtype if values else self.id_dtype)
        parts = [self._page(int(page), values) for page in self.pages[low : high + 1]]
        whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return whole[begin - self.first_arc[low] : end - self.first_arc[low]]

    def _page(self, page: int, values: bool) -> Array:
        begin, end = self.base.first_arc[page : page + 2]
        if not values:
            held, _ = content(self.base, page, weighted=False)
        elif self.base.values is None:
            held = np.ones(end - begin, self.dtype)
        else:
            held = content(self.base, page, ids=False)[1]
        patch, new = self.patch, slice(*self._ends[page : page + 2].tolist())
        gone = patch.gone[slice(*np.searchsorted(patch.gone, [begin, end]).tolist())] - begin
        at = patch.at[new] - begin
        of_new = (patch.new.values if values else patch.new.column)[new]  # type: ignore[index]
        made = np.empty(len(held) - len(gone) + len(at), self.dtype if values else self.id_dtype)
        places = at - np.searchsorted(gone, at) + np.arange(len(at))
        others = np.ones(len(made), np.bool_)
        others[places] = False
        made[others], made[places] = np.delete(held, gone) if len(gone) else held, of_new
        return made


class ChangedStretch:
    """Contiguous elements of changed pages; a slice is computed on use, as a `FileStretch` reads."""

    def __init__(self, made: Changed, values: bool, dtype: Any, begin: int, nbytes: int) -> None:
        self.made, self._values, self.dtype = made, values, np.dtype(dtype)
        self._begin, self.nbytes = begin, nbytes

    def __len__(self) -> int:
        return self.nbytes // self.dtype.itemsize

    @property
    def shape(self) -> tuple[int]:
        """The number of elements, as a shape."""
        return (len(self),)

    def view(self, dtype: Any) -> "ChangedStretch":
        """The same bytes as elements of another type."""
        return ChangedStretch(self.made, self._values, dtype, self._begin, self.nbytes)

    def part(self, begin: int, end: int) -> "ChangedStretch":
        """A range of the elements, computed later."""
        size = self.dtype.itemsize
        return ChangedStretch(self.made, self._values, self.dtype, self._begin + begin * size, (end - begin) * size)

    def __getitem__(self, piece: slice) -> Array:
        size = self.dtype.itemsize
        begin, end = (self._begin + place * size for place in piece.indices(len(self))[:2])
        stored = cast(Any, self.made.dtype if self._values else self.made.id_dtype)
        first = begin // stored.itemsize
        whole = self.made.read(first, -(-max(begin, end) // stored.itemsize), self._values).view(np.uint8)
        return whole[begin - first * stored.itemsize :][: max(0, end - begin)].view(self.dtype)


def patched(pages: Pages, n: int, put: Entries, removed: Entries, dtype: np.dtype[Any] | None) -> Pages:
    """Pages of n vertices with some present entries removed, and others inserted or replaced."""
    made = getattr(pages.stored, "made", None)
    base, before = (pages, nothing(dtype)) if made is None else (made.base, made.patch)
    at, found = located(pages, put)
    if dtype is None:
        put, at, found = put.among(~found), at[~found], found[~found]
    gone = np.sort(np.concatenate((located(pages, removed)[0], at[found])))
    rows_gone = np.concatenate((removed.row, put.row[found]))
    indptr = np.append(pages.indptr, np.full(n - pages.shape[0], pages.nnz, np.int64))
    indptr[1:] += np.cumsum(np.bincount(put.row, minlength=n) - np.bincount(rows_gone, minlength=n))
    if not base.nnz:
        csr = CSR((n, n), indptr, put.column.astype(index_dtype(n)), put.values)
        return cut(csr, encoding=base.encoding)
    made = Changed(base, _joined(before, gone, at, put, dtype), index_dtype(n), dtype)
    size, first = made.id_dtype.itemsize, made.first_arc
    count = int(first[-1])
    return Pages(
        (n, n), indptr, first, first * size, ChangedStretch(made, False, np.uint8, 0, count * size), None,
        made.id_dtype, "none",
        None if dtype is None else ChangedStretch(made, True, dtype, 0, count * dtype.itemsize), origin=base.origin,
    )  # fmt: skip


def _joined(before: Patch, gone: Array, at: Array, put: Entries, dtype: np.dtype[Any] | None) -> Patch:
    """A patch with further changes, whose positions refer to the patched matrix."""
    # Some of the inserted entries may be deleted; the remaining ones keep their insertion points.
    held, left = before.places, np.ones(len(before.at), np.bool_)
    old = np.isin(gone, held, assume_unique=True)
    left[np.searchsorted(held, gone[old])] = False
    where = np.concatenate((before.at[left], before.stored(at)))
    gone = np.sort(np.concatenate((before.gone, before.stored(gone[~old]))))
    # After all deleted entries, so that positions rise with rows and columns.
    where = _kept_at(gone, where - np.searchsorted(gone, where))
    kept, values = before.new.among(left), None
    row, column = (np.concatenate(ends) for ends in ((kept.row, put.row), (kept.column, put.column)))
    order = np.lexsort((column, row))
    if dtype is not None:
        parts = [np.ones(len(one.row), dtype) if one.values is None else one.values for one in (kept, put)]
        values = np.concatenate(parts).astype(dtype, copy=False)[order]
    return Patch(gone, where[order], Entries(row[order], column[order], values))


def changes_of(pages: Pages) -> tuple[int, int]:
    """Numbers of changes merged as the pages are read, and of stored entries."""
    made = getattr(pages.stored, "made", None)
    return (0, pages.nnz) if made is None else (len(made.patch), made.base.nnz)


def rewritten(pages: Pages) -> Pages:
    """The same matrix in pages of its own: in a temporary file if it was in a file, else in memory."""
    base = cast(Any, pages.stored).made.base
    most = int(np.diff(base.first_arc).max())
    if not isinstance(base.stored, FileStretch):
        values = None if pages.values is None else pages.values[:]
        csr = CSR(pages.shape, pages.indptr, pages.stored[:].view(pages.id_dtype), values, validate=False)
        return cut(csr, arcs_per_page=most, encoding=base.encoding)
    first, offset, sums = [0], [0], []
    of_ids, of_values = _Scratch(base.stored.path), _Scratch(base.stored.path)
    for ids, values in _pieces(pages, most):
        stored = encode(ids, pages.shape[1], base.encoding)
        of_ids.add(stored)
        sums.append((crc32(stored), 0 if values is None else crc32(values)))
        first.append(first[-1] + len(ids))
        offset.append(offset[-1] + len(stored))
        if values is not None:
            of_values.add(values)
    dtype, table = pages.dtype, np.array(sums, np.uint32).reshape(-1, 2)
    return Pages(
        pages.shape, pages.indptr, np.array(first), np.array(offset),
        FileStretch(of_ids, 0, offset[-1], np.dtype(np.uint8)), table[:, 0].copy(), pages.id_dtype, base.encoding,
        None if dtype is None else FileStretch(of_values, 0, first[-1], dtype),
        None if dtype is None else table[:, 1].copy(), origin=pages.origin,
    )  # fmt: skip


class _Scratch(io.FileIO):
    """A temporary file in the folder of another, unnamed if possible: deleted with the last reference."""

    # Whether it still has a name: Windows keeps those of open files.
    _named = False

    def __init__(self, beside: str) -> None:
        folder = os.path.dirname(beside)
        handle, path = tempfile.mkstemp(".tmp", ".hpgraph-", folder if os.access(folder, os.W_OK) else None)
        os.close(handle)
        super().__init__(path, "r+")
        self._named = True
        self._remove()

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(cast(str, self.name))
            self._named = False

    def add(self, array: Array) -> None:
        """Append an array."""
        left = memoryview(array.view(np.uint8).data)
        try:
            while left:
                left = left[self.write(left) :]
        except OSError as error:
            raise OSError(error.errno, error.strerror, os.fspath(os.path.dirname(cast(str, self.name)))) from error

    def __del__(self) -> None:
        self.close()
        if self._named:
            self._remove()


def _pieces(pages: Pages, most: int) -> Iterator[tuple[Array, Array | None]]:
    """Ids and values page by page, split if a page has grown beyond the limit of entries."""
    for page in range(pages.n_pages):
        ids, values = content(pages, page)
        for begin in range(0, len(ids), most):
            piece = slice(begin, begin + most)
            yield ids[piece], None if values is None else values[piece]
