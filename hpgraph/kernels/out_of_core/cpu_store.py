"""Pages from a file, or encoded in memory, for the CPU: threads read and decode ahead."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from hpgraph.core.errors import BudgetError
from hpgraph.formats import Bitmask, Frontier, Pages
from hpgraph.kernels.out_of_core import Head, Resident, Survey, Window
from hpgraph.kernels.out_of_core.cpu_ring import Slot, least_memory, of_page
from hpgraph.kernels.out_of_core.keeping import keeping
from hpgraph.kernels.out_of_core.one_pass import OnePass
from hpgraph.kernels.out_of_core.reading import REQUESTS, Region
from hpgraph.kernels.out_of_core.requests import GAP, Directories, Ranges, requests_for, sparse_pages
from hpgraph.kernels.out_of_core.runs import Pieces, gaps, rows_of, runs_of
from hpgraph.kernels.pages import decode

# Arcs of a window: enough to amortize a kernel launch, few enough for the last-level cache.
WINDOW_ARCS = 1 << 21
# Windows being read ahead: requests in flight. A disk reaches full bandwidth from eight on.
AHEAD = 8
# Assumed bytes a second until measured: those of server disks.
EXPECTED = 2e9
# Bytes read from which the measured rate is used.
MEASURED = 64 << 20


class PageStore(OnePass):
    """Pages of a matrix on the CPU, read through a ring of buffers and cached within a budget.

    ``memory``: bytes for offsets, buffers and cached pages; None for no limit; ``gap``: largest gap, in bytes, between
    two needed rows that is read too.
    """

    def __init__(
        self, pages: Pages, memory: int | None = None, host_memory: int | None = None, policy: str = "frequency",
        ahead: int = AHEAD, heads: bool = True, gap: int = GAP, *, shares: int = 1,
    ) -> None:  # fmt: skip
        self.pages = pages
        self._stored = Region(pages.stored)
        self._values = None if pages.values is None else Region(pages.values)
        # Plain pages in memory can be used as windows.
        self._in_place = not self._stored.in_file and pages.encoding == "none"
        # Both are main memory here: the smaller one counts.
        given = {"memory": memory, "host_memory": host_memory}
        limits = [(limit, name) for name, limit in given.items() if limit is not None]
        self.window_arcs, self._slots, room = self._shares(min(limits, default=None), ahead, shares)
        self.head: Head | None = None
        # 4 bytes and a bit a vertex, if they fit easily; not needed for plain pages in memory.
        taken = pages.shape[0] * 33 // 8
        self.has_room_for_heads = heads and not self._in_place and pages.id_dtype == np.int32 and taken <= room // 4
        room -= taken if self.has_room_for_heads else 0
        self._directories: Directories | None = None
        if self._stored.in_file and pages.encoding == "gaps" and Directories.nbytes(pages) <= room // 8:
            self._directories = Directories(pages)
            room -= Directories.nbytes(pages)
        self._version = self._stored.version()
        self._kept = keeping(policy, np.diff(pages.offset), room)
        self._bytes: dict[int, np.ndarray] = {}
        self._ring: list[Slot] = []
        # Arrays in memory are checked once, files each time they are read: they may be written to meanwhile.
        self._checked = np.zeros(pages.n_pages, np.bool_)
        self._threads: ThreadPoolExecutor | None = None
        self._few: ThreadPoolExecutor | None = None
        self._moved, self._seconds, self._gap = 0, 0.0, gap
        self._sparse = Survey(np.empty(0, np.int64), 0, 0, 0.0)

    def _shares(self, limit: tuple[int, str] | None, ahead: int, shares: int) -> tuple[int, int, int]:
        """Arcs of a window, windows in the ring, and bytes for cached pages, for a budget and its name."""
        pages = self.pages
        if self._in_place or pages.n_pages == 0:
            return WINDOW_ARCS, 0, 0
        arcs = int(np.diff(pages.first_arc).max())
        # Plain ids from a file are used in the buffer they are read into.
        self._decodes = pages.encoding != "none"
        largest = of_page(pages)
        if limit is None:
            return max(WINDOW_ARCS, arcs), ahead + 1, int(pages.nbytes)
        offsets, least = 8 * (pages.shape[0] + 1), least_memory(pages)
        budget, name = limit[0] // shares, limit[1]
        if budget < least:
            raise BudgetError(
                f"{name}={limit[0]:,} bytes is too little for a graph in pages: its offsets take "
                f"{offsets * shares:,} and two pages in work {2 * largest * shares:,}; give at least {least * shares:,}"
            )
        # At most a quarter for pages being processed.
        left = budget - offsets
        slots = int(np.clip(left // 4 // largest, 2, ahead + 1))
        together = int(np.clip(left // 4 // slots // largest, 1, max(WINDOW_ARCS // arcs, 1)))
        return together * arcs, slots, left - slots * together * largest

    @property
    def resident(self) -> Resident:
        """Row offsets, and the number and type of the arcs."""
        return Resident(self.pages.shape, self.pages.indptr, self.pages.nnz, self.pages.dtype)

    @property
    def moved(self) -> int:
        """Bytes read so far."""
        return self._moved

    def survey(self, rows: Frontier | Bitmask | None, more: Bitmask | None = None, *, spread: bool = False) -> Survey:
        """What some rows need, by the rate of reading measured so far.

        ``rows``: None for all.
        """
        if rows is None or (isinstance(rows, Frontier) and rows.everyone):
            chosen = more
        else:
            bits = rows.bits if isinstance(rows, Frontier) and more is not None else rows
            chosen = bits if more is None else bits & more  # type: ignore[operator, assignment]
        if chosen is None:
            pages, arcs = np.arange(self.pages.n_pages), self.pages.nnz
        else:
            ids = chosen.ids if isinstance(chosen, Frontier) else chosen.to_indices()
            pages = self.pages.pages_of(ids)
            arcs = int((self.pages.indptr[ids + 1] - self.pages.indptr[ids]).sum())
        if self._in_place:
            return Survey(pages, arcs, 0, 0.0)
        by_rows = None
        if spread and chosen is not None and self._stored.in_file and self._rows_are_found:
            # Only of pages with a checksum verified by a whole read, and not written to since. Excluded rows are read
            # all the same: kernels on the window do not exclude them.
            if more is not None and rows is not None:
                ids = rows.ids if isinstance(rows, Frontier) else rows.to_indices()
            visited = np.zeros(self.pages.n_pages, np.bool_)
            visited[pages] = True
            by_rows = sparse_pages(self.pages, ids, visited & self._checked & ~self._kept.here)
        missing = pages[~self._kept.here[pages]]
        if by_rows is not None:
            missing = missing[~by_rows[missing]]
        nbytes = int((self.pages.offset[missing + 1] - self.pages.offset[missing]).sum())
        if self._values is not None and self.pages.dtype is not None:
            first = self.pages.first_arc
            nbytes += int((first[pages + 1] - first[pages]).sum()) * self.pages.dtype.itemsize
        if by_rows is not None and by_rows.any():
            for run in runs_of(np.flatnonzero(by_rows), self.pages.first_arc, self.window_arcs):
                nbytes += self._requests(ids, run)[0].nbytes
        rate = self._moved / self._seconds if self._moved > MEASURED else EXPECTED
        return Survey(pages, arcs, nbytes, nbytes / rate, None, by_rows, ids if by_rows is not None else None)

    @property
    def _rows_are_found(self) -> bool:
        """Whether the position of a row within a page is known."""
        return self.pages.encoding == "none" or self._directories is not None

    def _requests(self, rows: np.ndarray, run: Pieces) -> tuple[Ranges, list[np.ndarray]]:
        """Requests for some rows of a run, and for pages of gaps the groups that they cover."""
        if self._directories is not None:
            return self._directories.requests(rows, run.begin, run.end, self._gap)
        return requests_for(self.pages, rows, run.begin, run.end, self._gap), []

    def visits(self, wanted: Survey) -> Iterator[Window]:
        """`windows`, but of pages with few needed rows only those are read: such a window holds no others."""
        return self.windows(wanted)

    def windows(self, wanted: Survey) -> Iterator[Window]:
        """The windows over these pages, ascending; each is valid until the next one is requested."""
        return self._opened(self._windows(wanted))

    def _windows(self, wanted: Survey) -> Generator[Window, None, None]:
        runs = self._runs(wanted)
        if self._in_place:
            for run in runs:
                yield self._view(run)
            return
        self._kept.begin(wanted.pages)
        self._sparse = wanted
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._slots - 1, thread_name_prefix="hpgraph-pages")
        while len(self._ring) < self._slots:
            self._ring.append(Slot(self.pages, self.window_arcs, self._decodes))
        coming: deque[Future[Window]] = deque()
        try:
            for k in range(min(self._slots - 1, len(runs))):
                coming.append(self._threads.submit(self._bring, runs[k], self._ring[k % self._slots]))
            for k in range(len(runs)):
                ahead = k + self._slots - 1
                if ahead < len(runs):
                    # The slot of the previous window, which has been processed.
                    coming.append(self._threads.submit(self._bring, runs[ahead], self._ring[ahead % self._slots]))
                yield coming.popleft().result()
                self._keep(runs[k], self._ring[k % self._slots])
        finally:
            for future in coming:
                future.cancel()
            for future in coming:
                if not future.cancelled():
                    future.exception()

    def decoded(self, rows: Bitmask | None, pages: slice = slice(None)) -> Iterator[Window]:
        """Windows with the arcs of some rows; others are undefined."""
        wanted = self.survey(rows, spread=rows is not None)
        return self.visits(wanted._replace(pages=wanted.pages[pages]))

    def _runs(self, wanted: Survey) -> list[Pieces]:
        """Runs of pages that are read as wholes, and of those that are not."""
        first, most, by_rows = self.pages.first_arc, self.window_arcs, wanted.copied
        if by_rows is None:
            return runs_of(wanted.pages, first, most)
        apart = by_rows[wanted.pages]
        return sorted(runs_of(wanted.pages[apart], first, most) + runs_of(wanted.pages[~apart], first, most))

    def _view(self, run: Pieces) -> Window:
        pages = self.pages
        first, last = int(pages.first_arc[run.begin]), int(pages.first_arc[run.end])
        stored = pages.stored[pages.offset[run.begin] : pages.offset[run.end]]
        values = pages.values[first:last] if pages.values is not None else None
        for page in range(run.begin, run.end):
            self._check(page)
        return Window(self.pages.indptr, stored.view(pages.id_dtype), values, rows_of(pages, run), first)

    def _check(self, page: int) -> None:
        if not self._checked[page]:
            self.pages.check(page)
            self.pages.check(page, values=True)
            self._checked[page] = True

    def _bring(self, run: Pieces, slot: Slot) -> Window:
        """In a thread: load the pages of a run that are not cached, and decode all of them into a window."""
        pages = self.pages
        slot.brought.clear()
        first, last = int(pages.first_arc[run.begin]), int(pages.first_arc[run.end])
        values = None
        if self._values is not None and pages.dtype is not None:
            size = pages.dtype.itemsize
            values = self._read(self._values, first * size, last * size, slot.values, run.begin).view(pages.dtype)
            for page in range(run.begin, run.end):
                self._verify(page, values[pages.first_arc[page] - first : pages.first_arc[page + 1] - first], True)
        by_rows, rows = self._sparse.copied, self._sparse.rows
        if by_rows is not None and by_rows[run.begin]:
            ids = self._by_rows(run, rows, slot)
            return Window(pages.indptr, ids, values, rows_of(pages, run), first)
        if pages.encoding == "none" and self._stored.in_file:
            return Window(pages.indptr, self._plain(run, slot), values, rows_of(pages, run), first)
        kept = {page: held for page in range(run.begin, run.end) if (held := self._bytes.get(page)) is not None}
        for begin, end in gaps(run, np.array([page in kept for page in range(run.end)])):
            low, high = int(pages.offset[begin]), int(pages.offset[end])
            read = self._read(self._stored, low, high, slot.stored, begin)
            for page in range(begin, end):
                payload = read[pages.offset[page] - low : pages.offset[page + 1] - low]
                self._verify(page, payload)
                self._decode(page, payload, first, slot)
                if self._directories is not None:
                    self._directories.learn(page, payload)
                slot.brought[page] = payload.copy() if self._kept.wants(page) else None
        for page, payload in kept.items():
            self._decode(page, payload, first, slot)
        return Window(self.pages.indptr, slot.ids[: last - first], values, rows_of(pages, run), first)

    def _plain(self, run: Pieces, slot: Slot) -> np.ndarray:
        """The ids of a run of plain pages, in the buffer that they are read into."""
        pages, offset = self.pages, self.pages.offset
        kept = {page: held for page in range(run.begin, run.end) if (held := self._bytes.get(page)) is not None}
        missing = list(gaps(run, np.array([page in kept for page in range(run.end)])))
        low = int(offset[run.begin])
        parts = [(int(offset[begin]), int(offset[end])) for begin, end in missing]
        began = time.perf_counter()
        try:
            read = self._stored.read_parts(low, int(offset[run.end]), parts, slot.stored)
        except EOFError:
            raise pages.damaged(run.begin, "the file ends before the page does, or one soon after it") from None
        self._moved += sum(b - a for a, b in parts)
        self._seconds += (time.perf_counter() - began) / max(self._slots - 1, 1)
        for begin, end in missing:
            for page in range(begin, end):
                payload = read[offset[page] - low : offset[page + 1] - low]
                self._verify(page, payload)
                slot.brought[page] = payload.copy() if self._kept.wants(page) else None
        for page, payload in kept.items():
            read[offset[page] - low : offset[page + 1] - low] = payload
        ids = read.view(pages.id_dtype)
        if len(ids) and (int(ids.min()) < 0 or int(ids.max()) >= pages.shape[1]):
            raise pages.damaged(run.begin, "an id, of it or of a page soon after it, is none of the columns")
        return ids

    def _by_rows(self, run: Pieces, rows: Any, slot: Slot) -> np.ndarray:
        """The ids of the needed rows of a run's pages, at their positions."""
        pages = self.pages
        if self._stored.version() != self._version:
            raise pages.damaged(run.begin, "somebody has written to the file since its pages were checked")
        wanted, chosen = self._requests(rows, run)
        low, high = int(pages.offset[run.begin]), int(pages.offset[run.end])
        parts = [(max(a, low), min(b, high)) for a, b in zip(wanted.begin.tolist(), wanted.end.tolist(), strict=True)]
        try:
            read = self._stored.read_parts(low, high, parts, slot.stored, self._readers)
        except EOFError:
            raise pages.damaged(run.begin, "the file ends before the page does, or one soon after it") from None
        self._moved += wanted.nbytes
        if self._directories is not None:
            first = int(pages.first_arc[run.begin])
            for page, groups in zip(range(run.begin, run.end), chosen, strict=True):
                payload = read[pages.offset[page] - low : pages.offset[page + 1] - low]
                self._directories.put(page, payload)
                self._decode(page, payload, first, slot, groups)
            return slot.ids[: int(pages.first_arc[run.end]) - first]
        for a, b in parts:
            ids = read[a - low : b - low].view(pages.id_dtype)
            if len(ids) and (int(ids.min()) < 0 or int(ids.max()) >= pages.shape[1]):
                raise pages.damaged(run.begin, "an id, of it or of a page soon after it, is none of the columns")
        return read.view(pages.id_dtype)

    @property
    def _readers(self) -> ThreadPoolExecutor:
        """Thread pool for small reads."""
        if self._few is None:
            self._few = ThreadPoolExecutor(REQUESTS, thread_name_prefix="hpgraph-rows")
        return self._few

    def _decode(self, page: int, payload: np.ndarray, first: int, slot: Slot, groups: Any = None) -> None:
        arcs = self.pages.first_arc
        decode(self.pages, page, slot.ids[arcs[page] - first : arcs[page + 1] - first], payload=payload, groups=groups)

    def _read(self, region: Region, begin: int, end: int, buffer: np.ndarray | None, page: int) -> np.ndarray:
        began = time.perf_counter()
        try:
            read = region.read(begin, end, buffer)
        except EOFError:
            raise self.pages.damaged(page, "the file ends before the page does, or one soon after it") from None
        # Concurrent additions may be lost: these are only used in predictions.
        self._moved += end - begin
        self._seconds += (time.perf_counter() - began) / max(self._slots - 1, 1)
        return read

    def _verify(self, page: int, stored: np.ndarray, values: bool = False) -> None:
        if self._stored.in_file or not self._checked[page]:
            self.pages.check(page, stored, values=values)
        if not values:
            self._checked[page] = True

    def _keep(self, run: Pieces, slot: Slot) -> None:
        """In the caller, in order: cache the pages of a window that are admitted."""
        for page in range(run.begin, run.end):
            if page not in slot.brought:
                if page in self._kept:
                    self._kept.found(page)
                continue
            payload = slot.brought.pop(page)
            if payload is not None:
                for victim in self._kept.admits(page) or ():
                    del self._bytes[victim]
                if page in self._kept:
                    self._bytes[page] = payload

    def close(self) -> None:
        """Stop the threads and close the files."""
        for threads in (self._threads, self._few):
            if threads is not None:
                threads.shutdown()
        self._threads = self._few = None
        self._stored.close()
