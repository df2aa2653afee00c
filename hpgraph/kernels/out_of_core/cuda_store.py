"""Pages for the GPU: from pinned host memory, or from a file through it, with a cache on the device.

If few rows of a page are needed the page is not copied: kernels read the rows over the link. The cheaper way is
predicted for each page.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.out_of_core import Resident, Spread, Survey, Tiles, Window
from hpgraph.kernels.out_of_core.cuda_host import HostArray, Pointer
from hpgraph.kernels.out_of_core.cuda_loader import PageLoader
from hpgraph.kernels.out_of_core.cuda_ring import Slot, pages_are_damaged
from hpgraph.kernels.out_of_core.cuda_visits import groups_of, survey
from hpgraph.kernels.out_of_core.requests import REQUEST_BYTES
from hpgraph.kernels.out_of_core.runs import Run, rows_of
from hpgraph.kernels.pages.cuda import decode_places
from hpgraph.kernels.pages.gaps import GROUP

# Assumed bytes a second from host memory and from a disk.
LINK, DISK = 53e9, 2e9
# Link cost, in bytes, of a group of arcs read in place: of plain ids 48 million groups a second, regardless of size, at
# 53 GB/s; of gaps, whose positions depend on each other, 21 million at best. Many of them in one step take three times
# as long, but the windows that would be copied instead take longer yet: measured by searches.
GROUP_BYTES = {"none": 1100, "gaps": 2500}


class PageStore(PageLoader):
    """Pages of a matrix for the GPU; the parameters are those of `PageLoader`."""

    @property
    def resident(self) -> Resident:
        """Row offsets, and the number and type of the arcs."""
        return Resident(self.pages.shape, self._tables[0], self.pages.nnz, self.pages.dtype)

    def survey(self, rows: Frontier | Bitmask | None, more: Bitmask | None = None, *, spread: bool = False) -> Survey:
        """Survey the pages that rows need (None for all); waits for the device."""
        pages = self.pages
        sizes, bits = np.diff(pages.offset), _words(rows)
        if bits is None and more is None and not spread:
            counts, page = None, np.arange(pages.n_pages)
        else:
            counts = survey(self._tables[0], self._tables[1:4], bits, _words(more))
            page = np.flatnonzero(counts[:, 0])
        costs = np.where(self._kept.here, 0, sizes)
        if self._values_by_window and not spread:
            costs = costs + np.diff(pages.first_arc) * self.pages.dtype.itemsize  # type: ignore[union-attr]
        copied = np.ones(pages.n_pages, np.bool_)
        if spread and counts is not None:
            at_once = counts[:, 1] // GROUP + counts[:, 0]
            in_place = at_once * GROUP_BYTES[pages.encoding]
            if self._in_place:
                copied = in_place >= costs
            if self.host.by_rows:
                # Individually from the file: the bytes of their groups, or the cost of requests.
                in_place = at_once * (sizes / np.maximum(-(-np.diff(pages.first_arc) // GROUP), 1))
                cheap = 2 * np.maximum(in_place, counts[:, 0] * REQUEST_BYTES) < sizes
                copied &= ~(cheap & self.host.source.checked)
            if not self._values_are_read:
                copied &= ~self._kept.here
            costs = np.where(copied | self._kept.here, costs, in_place)
        nbytes = int(costs[page].sum())
        arcs = pages.nnz if counts is None else int(counts[:, 1].sum())
        return Survey(page, arcs, nbytes, nbytes / (LINK if self.host.resident else DISK), counts, copied, rows, more)

    @property
    def _values_by_window(self) -> bool:
        return self.pages.dtype is not None

    @property
    def _values_are_read(self) -> bool:
        """Whether weights have to be read from a file each time, with their whole page."""
        return self._values_by_window and not self.host.resident

    def windows(self, wanted: Survey) -> Iterator[Tiles]:
        """The windows over these pages, ascending; each is valid until the next one is requested."""
        pages, tiles = self.pages, self._first_tile
        for run, slot in self._loaded(wanted.pages, True):
            first, data = int(pages.first_arc[run.begin]), self._values_of(run, slot)
            row = int(pages.first_row[run.begin])
            count = int(tiles[run.end] - tiles[run.begin])
            before = row if pages.indptr[row] < first else -1
            yield Tiles(pages, self._tables, data, (run.begin, run.end), slot.places, count, before, self._damaged)
        self._raise_damage(wanted.pages)

    def decoded(self, rows: Bitmask | None, pages: slice = slice(None)) -> Iterator[Window]:
        """Windows with the arcs of some rows as plain ids; each is valid until the next one is requested."""
        wanted = self.survey(rows)
        wanted = wanted._replace(pages=wanted.pages[pages])
        for run, slot in self._loaded(wanted.pages, True):
            first, last = (int(self.pages.first_arc[page]) for page in run)
            ids = decode_places(self.pages, self._tables[4], self._tables[1], run, slot.places, self._damaged)
            self._raise_damage(wanted.pages)
            values = None if slot.values is None else slot.values[: last - first]
            yield Window(self._tables[0], ids, values, rows_of(self.pages, run), first)

    def _values_of(self, run: Run, slot: Slot) -> HostArray | None:
        """The weights of a run, addressed as if those of all arcs were there."""
        if slot.values is None or self.pages.dtype is None:
            return None
        begins = int(self.pages.first_arc[run.begin]) * self.pages.dtype.itemsize
        return HostArray(Pointer(slot.values.data.ptr - begins), self.pages.dtype)

    def visits(self, wanted: Survey) -> Iterator[Spread]:
        """The surveyed rows, in place, and from copied pages if copying is cheaper."""
        pages, tables, data = self.pages, self._tables, None if self._values_are_read else self.host.values
        counts, copied, bits, more = wanted.counts, wanted.copied, _words(wanted.rows), _words(wanted.more)
        assert counts is not None and copied is not None

        def part(numbers: np.ndarray, places: np.ndarray, data: Any) -> Spread:
            """Some pages, ascending, and their addresses."""
            where, chosen = np.zeros(pages.n_pages, np.uint64), np.zeros(pages.n_pages, np.uint8)
            where[numbers], chosen[numbers] = places, 1
            return Spread(
                pages, tables[0], tables[1], tables[4], cupy.asarray(where), data, cupy.asarray(chosen), bits, more,
                (int(pages.first_row[numbers[0]]), int(pages.last_row[numbers[-1]]) + 1), groups_of(counts[numbers]),
                self._damaged,
            )  # fmt: skip

        in_place = wanted.pages[~copied[wanted.pages]]
        self._kept.begin(wanted.pages)
        kept = self._place[in_place] >= 0
        if not self.host.resident and not kept.all():
            # Only the needed rows are read; kernels read them in the pinned buffers.
            rows = wanted.rows.bits if isinstance(wanted.rows, Frontier) else wanted.rows
            both = wanted.more if rows is None else rows if wanted.more is None else rows & wanted.more
            for run, slot in self._loaded(in_place[~kept], False, cupy.asnumpy(both.to_indices())):  # type: ignore[union-attr]
                yield part(np.arange(*run), slot.places, None)
            in_place, kept = in_place[kept], kept[kept]
        if len(in_place):
            cached = (self._memory.data.ptr + self._place[in_place]).astype(np.uint64)
            over_link = counts[in_place][~kept]
            self._moved += int((over_link[:, 1] // GROUP + over_link[:, 0]).sum()) * GROUP_BYTES[pages.encoding]
            yield part(in_place, np.where(kept, cached, self.host.addresses[in_place]), data)
        for run, slot in self._loaded(wanted.pages[copied[wanted.pages]], self._values_are_read):
            yield part(np.arange(*run), slot.places, self._values_of(run, slot) if self._values_are_read else data)
        self._raise_damage(wanted.pages)

    def _raise_damage(self, wanted: np.ndarray) -> None:
        if pages_are_damaged(self._damaged):
            for page in wanted.tolist():
                self.pages.check(page)
            raise self.pages.damaged(int(wanted[0]), "its bytes, or those of a page after it, are no page")


def _words(rows: Frontier | Bitmask | None) -> Any:
    """The bitmap of some rows; None for all."""
    if isinstance(rows, Frontier):
        return None if rows.all_active else rows.bits.words
    return None if rows is None else rows.words
