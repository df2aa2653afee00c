"""Pages from a file, or encoded in memory, for the CPU: threads read and decode ahead."""

import contextlib
import time
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from hpgraph.formats import Bitmask, Frontier, Pages
from hpgraph.formats.file_stretch import FileStretch
from hpgraph.kernels.out_of_core import HubCache, Resident, Survey, Window
from hpgraph.kernels.out_of_core.one_pass import OnePass, read_ahead
from hpgraph.kernels.out_of_core.page_replacement import PageCache, hub_cache_bytes, ring_within
from hpgraph.kernels.out_of_core.reading import Region
from hpgraph.kernels.out_of_core.requests import GAP, Directories, sparse_pages
from hpgraph.kernels.out_of_core.runs import Run, gaps, most_stored, rows_of, runs_of
from hpgraph.kernels.out_of_core.stored_pages import StoredPages
from hpgraph.kernels.pages import decode

# Arcs of a window: enough to amortize a kernel launch, few enough for the last-level cache.
WINDOW_ARCS = 1 << 21
# Windows being read ahead: requests in flight. A disk reaches full bandwidth from eight on.
AHEAD = 8
# Assumed bytes a second until measured: those of server disks.
EXPECTED = 2e9
# Bytes read from which the measured rate is used.
MEASURED = 64 << 20


def least_memory(pages: Pages) -> int:
    """Least bytes of a store: offsets, and two pages being processed."""
    return 8 * (pages.shape[0] + 1) + (2 * _of_page(pages) if pages.n_pages else 0)


def _of_page(pages: Pages) -> int:
    """Bytes of the largest page while it is processed: as read, and decoded."""
    of_id = 0 if pages.encoding == "none" else pages.id_dtype.itemsize
    of_arc = of_id + (0 if pages.dtype is None else pages.dtype.itemsize)
    return int(np.diff(pages.offset).max()) + int(np.diff(pages.first_arc).max()) * of_arc


class Slot:
    """Buffers of one window; pages in memory are read where they are."""

    def __init__(self, pages: Pages, arcs: int) -> None:
        in_file = not isinstance(pages.stored, np.ndarray)
        self.stored = Region.buffer(most_stored(pages, arcs)) if in_file else None
        self.ids = np.empty(0 if pages.encoding == "none" else arcs, pages.id_dtype)
        of_values = not isinstance(pages.values, np.ndarray) and pages.dtype is not None
        self.values = Region.buffer(arcs * pages.dtype.itemsize) if of_values else None  # type: ignore[union-attr]
        # Stored bytes of pages that this window loaded and that may be cached.
        self.brought: dict[int, np.ndarray | None] = {}


class PageStore(OnePass):
    """Pages of a matrix on the CPU, read through a ring of buffers and cached within a budget.

    ``memory``: bytes for offsets, buffers and cached pages; None for no limit; ``gap``: largest gap, in bytes, between
    two needed rows that is read too.
    """

    def __init__(
        self, pages: Pages, memory: int | None = None, host_memory: int | None = None, *, ahead: int = AHEAD,
        hub_cache: bool = True, gap: int = GAP, shares: int = 1,
    ) -> None:  # fmt: skip
        self.pages = pages
        # Plain ids are used in place: in their read buffer, or in memory.
        self._decodes = pages.encoding != "none"
        in_file = isinstance(pages.stored, FileStretch)
        self._in_place = isinstance(pages.stored, np.ndarray) and not self._decodes
        # Both are main memory here: the smaller one counts.
        given = {"memory": memory, "host_memory": host_memory}
        limits = [(limit, name) for name, limit in given.items() if limit is not None]
        self.window_arcs, self._slots, room = self._shares(min(limits, default=None), ahead, shares)
        self.hub_cache: HubCache | None = None
        taken = hub_cache_bytes(pages, room)
        # Not needed for plain pages in memory.
        self.has_room_for_hub_cache = hub_cache and not self._in_place and taken > 0
        room -= taken if self.has_room_for_hub_cache else 0
        directories = None
        if in_file and pages.encoding == "gaps" and Directories.nbytes(pages) <= room // 8:
            directories = Directories(pages)
            room -= Directories.nbytes(pages)
        self._source = StoredPages(pages, directories, gap)
        # Whether the position of a row within a page is known.
        self._finds_rows = in_file and (not self._decodes or directories is not None)
        self._kept = PageCache(np.diff(pages.offset), room)
        self._bytes: dict[int, np.ndarray] = {}
        self._ring: list[Slot] = []
        self._moved, self._seconds = 0, 0.0
        self._wanted = Survey(np.empty(0, np.int64), 0, 0, 0.0)

    def _shares(self, limit: tuple[int, str] | None, ahead: int, shares: int) -> tuple[int, int, int]:
        """Arcs of a window, windows in the ring, and bytes for cached pages, for a budget and its name."""
        pages = self.pages
        if self._in_place or pages.n_pages == 0:
            return WINDOW_ARCS, 0, 0
        arcs, largest = int(np.diff(pages.first_arc).max()), _of_page(pages)
        if limit is None:
            return max(WINDOW_ARCS, arcs), ahead + 1, int(pages.nbytes)
        ring = ring_within(
            *limit, shares, 8 * (pages.shape[0] + 1), largest, ahead + 1, max(WINDOW_ARCS // arcs, 1)
        )  # fmt: skip
        return ring.together * arcs, ring.slots, ring.left - ring.slots * ring.together * largest

    @property
    def resident(self) -> Resident:
        """Row offsets, and the number and type of the arcs."""
        return Resident(self.pages.shape, self.pages.indptr, self.pages.nnz, self.pages.dtype)

    @property
    def moved(self) -> int:
        """Bytes read so far."""
        return self._moved

    def survey(self, rows: Frontier | Bitmask | None, more: Bitmask | None = None, *, spread: bool = False) -> Survey:
        """Survey the pages that rows need (None for all), by the read rate measured so far."""
        pages, ids = self.pages, None
        all_active = rows is None or (isinstance(rows, Frontier) and rows.all_active)
        if not all_active:
            assert rows is not None
            ids = rows.ids if isinstance(rows, Frontier) else rows.to_indices()
        # Excluded rows are read even if rows are read individually: kernels do not exclude them there.
        counted = ids
        if more is not None:
            bits = rows.bits if isinstance(rows, Frontier) else rows
            counted = (more if all_active else bits & more).to_indices()  # type: ignore[operator]
        if counted is None:
            chosen, arcs = np.arange(pages.n_pages), pages.nnz
        else:
            chosen, arcs = pages.pages_of(counted), int((pages.indptr[counted + 1] - pages.indptr[counted]).sum())
        if self._in_place:
            return Survey(chosen, arcs, 0, 0.0)
        by_rows, listed = None, counted if ids is None else ids
        if spread and listed is not None and self._finds_rows:
            visited = np.zeros(pages.n_pages, np.bool_)
            visited[chosen] = True
            # Only of pages with a checksum verified by a whole read.
            by_rows = sparse_pages(pages, listed, visited & self._source.checked & ~self._kept.here)
        missing = chosen[~self._kept.here[chosen]]
        if by_rows is not None:
            missing = missing[~by_rows[missing]]
        nbytes = int((pages.offset[missing + 1] - pages.offset[missing]).sum())
        if pages.values is not None and pages.dtype is not None:
            nbytes += int((pages.first_arc[chosen + 1] - pages.first_arc[chosen]).sum()) * pages.dtype.itemsize
        if by_rows is not None and listed is not None:
            for run in runs_of(np.flatnonzero(by_rows), pages.first_arc, self.window_arcs):
                nbytes += self._source.requests(listed, run)[0].nbytes
        threads = max(self._slots - 1, 1)
        rate = self._moved * threads / self._seconds if self._moved > MEASURED else EXPECTED
        return Survey(chosen, arcs, nbytes, nbytes / rate, None, by_rows, None if by_rows is None else listed)

    def visits(self, wanted: Survey) -> Iterator[Window]:
        """`windows`, but of pages with few needed rows only those are read: such a window holds no others."""
        return self.windows(wanted)

    def windows(self, wanted: Survey) -> Iterator[Window]:
        """The windows over these pages, ascending; each is valid until the next one is requested."""
        return self._opened(self._windows(wanted))

    def _windows(self, wanted: Survey) -> Generator[Window, None, None]:
        runs = self._runs(wanted)
        # A graph without arcs has no pages, and its store no ring.
        if not runs:
            return
        if self._in_place:
            for run in runs:
                yield self._load(run, Slot(self.pages, 0))
            return
        self._kept.begin(wanted.pages)
        self._wanted = wanted
        while len(self._ring) < self._slots:
            self._ring.append(Slot(self.pages, self.window_arcs))
        pool, ring, slots = self._pool, self._ring, self._slots
        windows = read_ahead(len(runs), slots, lambda k: pool.submit(self._load, runs[k], ring[k % slots]))
        with contextlib.closing(windows):
            for k, window in windows:
                yield window
                self._keep(ring[k % slots])

    def decoded(self, rows: Bitmask | None, pages: slice = slice(None)) -> Iterator[Window]:
        """Windows with the arcs of some rows; others are undefined."""
        wanted = self.survey(rows, spread=rows is not None)
        return self.visits(wanted._replace(pages=wanted.pages[pages]))

    def _runs(self, wanted: Survey) -> list[Run]:
        """Runs of pages that are read as wholes, and of those that are not."""
        first, most, by_rows = self.pages.first_arc, self.window_arcs, wanted.copied
        if by_rows is None:
            return runs_of(wanted.pages, first, most)
        apart = by_rows[wanted.pages]
        return sorted(runs_of(wanted.pages[apart], first, most) + runs_of(wanted.pages[~apart], first, most))

    def _load(self, run: Run, slot: Slot) -> Window:
        """In a thread: load the pages of a run that are not cached, and decode all of them into a window."""
        pages, began = self.pages, time.perf_counter()
        slot.brought.clear()
        values = None
        if pages.values is not None and pages.dtype is not None:
            values = self._source.values(run, slot.values)
            self._count(values.nbytes, began)
        by_rows = self._wanted.copied
        alone = by_rows is not None and bool(by_rows[run.begin])
        ids = (self._rows_alone if alone else self._whole)(run, slot)
        return Window(pages.indptr, ids, values, rows_of(pages, run), int(pages.first_arc[run.begin]))

    def _count(self, nbytes: int, began: float) -> None:
        # Concurrent additions may be lost: these are only used in predictions.
        self._moved += nbytes
        self._seconds += time.perf_counter() - began

    def _whole(self, run: Run, slot: Slot) -> np.ndarray:
        """The ids of whole pages."""
        pages, offset, began = self.pages, self.pages.offset, time.perf_counter()
        low = int(offset[run.begin])
        kept = {page: held for page in range(run.begin, run.end) if (held := self._bytes.get(page)) is not None}
        parts = list(gaps(run, kept))
        read = self._source.run(run, parts, slot.stored)
        if not self._in_place:
            self._count(sum(int(offset[end] - offset[begin]) for begin, end in parts), began)
        for page in range(run.begin, run.end):
            payload = read[offset[page] - low : offset[page + 1] - low]
            if page in kept and not self._decodes:
                payload[:] = kept[page]
            payload = kept.get(page, payload)
            if page not in kept:
                slot.brought[page] = payload.copy() if self._kept.wants(page) else None
            if self._decodes:
                self._decode(run, page, payload, slot)
        return self._decoded(run, slot) if self._decodes else self._checked(run, read.view(pages.id_dtype))

    def _rows_alone(self, run: Run, slot: Slot) -> np.ndarray:
        """The ids of the needed rows of a run's pages, at their positions."""
        pages, offset = self.pages, self.pages.offset
        assert slot.stored is not None
        read, wanted, groups = self._source.rows(run, self._wanted.rows, slot.stored)
        self._moved += wanted.nbytes
        low = int(offset[run.begin])
        if self._decodes:
            for page, group in zip(range(run.begin, run.end), groups, strict=True):
                self._decode(run, page, read[offset[page] - low : offset[page + 1] - low], slot, group)
            return self._decoded(run, slot)
        for begin, end in zip(wanted.begin.tolist(), wanted.end.tolist(), strict=True):
            self._checked(run, read[begin - low : end - low].view(pages.id_dtype))
        return read.view(pages.id_dtype)

    def _checked(self, run: Run, ids: np.ndarray) -> np.ndarray:
        """Plain ids that kernels may rely on."""
        if not self._in_place and len(ids) and (int(ids.min()) < 0 or int(ids.max()) >= self.pages.shape[1]):
            reason = "an id, of it or of a page soon after it, is none of the columns"
            raise self.pages.damaged(run.begin, reason)
        return ids

    def _decode(self, run: Run, page: int, payload: np.ndarray, slot: Slot, groups: Any = None) -> None:
        begin, end = self.pages.first_arc[page : page + 2] - self.pages.first_arc[run.begin]
        decode(self.pages, page, slot.ids[begin:end], payload=payload, groups=groups)

    def _decoded(self, run: Run, slot: Slot) -> np.ndarray:
        return slot.ids[: int(self.pages.first_arc[run.end] - self.pages.first_arc[run.begin])]

    def _keep(self, slot: Slot) -> None:
        """In the caller, in order: cache the pages of a window that are admitted."""
        for page, payload in slot.brought.items():
            if payload is not None:
                for victim in self._kept.admits(page) or ():
                    del self._bytes[victim]
                if page in self._kept:
                    self._bytes[page] = payload
        slot.brought.clear()

    def close(self) -> None:
        """Stop the threads and close the files."""
        super().close()
        self._source.close()
