"""Pages for the GPU: from pinned host memory, or from a file through it, past what is kept on the device.

Copies go over streams of their own into a ring of buffers while earlier windows are worked on (GTS: M.-S. Kim et al.,
SIGMOD'16). Where few rows of a page are wanted the page stays where it is, and kernels read those over the link; each
page goes the way that is predicted to take less time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from hpgraph.core.device import free_memory
from hpgraph.formats import Bitmask, Frontier, Pages
from hpgraph.kernels.pages.cpu_gaps import GROUP
from hpgraph.kernels.pages.cuda import decode_places
from hpgraph.kernels.windows import Head, Resident, Spread, Survey, Tiles, Window
from hpgraph.kernels.windows.cuda_host import HostArray, HostPages, Pointer
from hpgraph.kernels.windows.cuda_ring import MOST_PAGES, Slot, pages_are_damaged, shares_of
from hpgraph.kernels.windows.cuda_visits import groups_of, survey
from hpgraph.kernels.windows.keeping import Slab, keeping
from hpgraph.kernels.windows.runs import Pieces, gaps, rows_of, runs_of

# Bytes of a window: a link to host memory is near its full speed from some MiB on, and to launch what works on a window
# takes the host some 60 microseconds, in which a link brings 3 MiB. From a disk, what it takes in one request.
WINDOW_BYTES, REQUEST_BYTES = 16 << 20, 4 << 20
# Streams that copy.
STREAMS = 2
# As in window.cuh: arcs of a tile.
TILE = 4096
# Bytes a second from host memory and from a disk, until they are measured.
LINK, DISK = 53e9, 2e9
# A group of arcs in place costs the link what so many bytes do: of plain ids 48 million a second, however few are read,
# at 53 GB/s; of gaps, whose places are found one after the other, 21 million.
GROUP_BYTES = {"none": 1100, "gaps": 2500}


class PageStore:
    """Pages of a matrix for the GPU, brought through a ring of buffers and kept within a budget.

    Parameters
    ----------
    pages : Pages
    memory : int or None
        Bytes of the device for offsets, buffers and pages that are kept; None is half of what is free.
    host_memory : int or None
        Bytes of pinned memory for pages; None is all that they take. With less they are read, or copied, each time.
    policy : {"frequency", "lru", "none"}
        Which pages are kept.
    in_place : bool
        Whether rows may be read in host memory.
    streams, window_bytes : int
        How many streams copy, and how much at a time.
    heads : bool
        Whether a neighbour of each vertex may be kept.
    shares : int
        How many stores share the budgets.

    Raises
    ------
    BudgetError
        When the budget does not suffice for offsets and two windows of a page.
    """

    def __init__(
        self, pages: Pages, memory: int | None = None, host_memory: int | None = None, policy: str = "frequency",
        in_place: bool = True, streams: int = STREAMS, window_bytes: int | None = None, heads: bool = True,
        *, shares: int = 1,
    ) -> None:  # fmt: skip
        self.pages = pages
        self.host = HostPages(pages, None if host_memory is None else host_memory // shares)
        self._streams_wanted = max(streams, 1)
        if window_bytes is None:
            window_bytes = WINDOW_BYTES if self.host.resident else REQUEST_BYTES
        self._in_place = in_place and self.host.resident
        memory = free_memory("cuda") // 2 if memory is None else memory
        self._arcs, self._slots, room = shares_of(pages, memory, window_bytes, self.host.resident, shares)
        self.head: Head | None = None
        # 4 bytes a vertex and a bit, where there is plenty.
        taken = pages.shape[0] * 33 // 8
        self.has_room_for_heads = heads and pages.id_dtype == np.int32 and taken <= room // 4
        room -= taken if self.has_room_for_heads else 0
        self._kept = keeping(policy, np.diff(pages.offset), room)
        self._slab = Slab(self._kept.room)
        self._place = np.full(pages.n_pages, -1, np.int64)
        self._moved = 0
        self._ring: list[Slot] = []
        self._threads: ThreadPoolExecutor | None = None

    @cached_property
    def _first_tile(self) -> np.ndarray:
        """Tiles before each page."""
        return np.concatenate(([0], np.cumsum(-(-np.diff(self.pages.first_arc) // TILE))))

    @cached_property
    def _tables(self) -> tuple[Any, ...]:
        """Offsets of rows; and of pages first arcs, first rows, last rows, offsets of stored bytes, first tiles."""
        import cupy

        pages = self.pages
        made = pages.indptr, pages.first_arc, pages.first_row, pages.last_row, pages.offset, self._first_tile
        return tuple(cupy.asarray(np.asarray(table, np.int64)) for table in made)

    @cached_property
    def _memory(self) -> Any:
        """Room for what is kept."""
        import cupy

        return cupy.empty(max(self._kept.room, 1), np.uint8)

    @cached_property
    def _streams(self) -> list[Any]:
        import cupy

        return [cupy.cuda.Stream(non_blocking=True) for _ in range(self._streams_wanted)]

    @cached_property
    def _damaged(self) -> Any:
        import cupy

        return cupy.zeros(1, np.int32)

    @property
    def resident(self) -> Resident:
        """Offsets, and what is known of the arcs."""
        return Resident(self.pages.shape, self._tables[0], self.pages.nnz, self.pages.dtype)

    @property
    def moved(self) -> int:
        """Bytes brought so far: copied, or as predicted read in place."""
        return self._moved

    def survey(self, rows: Frontier | Bitmask | None, more: Bitmask | None = None, *, spread: bool = False) -> Survey:
        """What some rows want; waits for the device.

        Parameters
        ----------
        rows : Frontier, Bitmask or None
            Which rows; None for all.
        more : Bitmask, optional
            Rows to leave out are not in it.
        spread : bool, default False
            Whether rows will be visited one by one, rather than gathered by windows.

        Returns
        -------
        Survey
        """
        pages = self.pages
        everyone = rows is None or (isinstance(rows, Frontier) and rows.everyone)
        sizes = np.diff(pages.offset)
        if everyone and more is None and not spread:
            counts, here = None, np.arange(pages.n_pages)
        else:
            bits = None if everyone else rows.bits.words if isinstance(rows, Frontier) else rows.words  # type: ignore[union-attr]
            counts = survey(self._tables[0], self._tables[1:4], bits, None if more is None else more.words)
            here = np.flatnonzero(counts[:, 0])
        costs = np.where(self._kept.here, 0, sizes)
        if self._values_by_window and not spread:
            costs = costs + np.diff(pages.first_arc) * self.pages.dtype.itemsize  # type: ignore[union-attr]
        copied = np.ones(pages.n_pages, np.bool_)
        if spread and counts is not None:
            at_once = counts[:, 1] // GROUP + counts[:, 0]
            in_place = at_once * GROUP_BYTES[pages.encoding]
            if self._in_place:
                copied = in_place >= costs
            if not self._values_are_read:
                copied &= ~self._kept.here
            costs = np.where(copied | self._kept.here, costs, in_place)
        nbytes = int(costs[here].sum())
        arcs = pages.nnz if counts is None else int(counts[:, 1].sum())
        return Survey(here, arcs, nbytes, nbytes / (LINK if self.host.resident else DISK), counts, copied, rows, more)

    @property
    def _values_by_window(self) -> bool:
        return self.pages.dtype is not None

    @property
    def _values_are_read(self) -> bool:
        """Whether weights have to be read from a file each time, with the whole of their page."""
        return self._values_by_window and not self.host.resident

    def windows(self, wanted: Survey) -> Iterator[Tiles]:
        """The windows over these pages, ascending; each is there until the next one is asked for.

        Raises
        ------
        DamagedPageError
            When a page does not hold what it should.
        """
        pages, tiles = self.pages, self._first_tile
        for run, slot in self._brought(wanted.pages, True):
            first, data = int(pages.first_arc[run.begin]), self._values_of(run, slot)
            row = int(pages.first_row[run.begin])
            count = int(tiles[run.end] - tiles[run.begin])
            before = row if pages.indptr[row] < first else -1
            yield Tiles(pages, self._tables, data, (run.begin, run.end), slot.places, count, before, self._damaged)
        self._raise_damage(wanted.pages)

    def decoded(self, rows: Bitmask | None) -> Iterator[Window]:
        """Windows with the arcs of some rows as plain ids; each is there until the next one is asked for."""
        wanted = self.survey(rows)
        for run, slot in self._brought(wanted.pages, True):
            first, last = (int(self.pages.first_arc[page]) for page in run)
            ids = decode_places(self.pages, self._tables[4], self._tables[1], run, slot.places, self._damaged)
            self._raise_damage(wanted.pages)
            values = None if slot.values is None else slot.values[: last - first]
            yield Window(self._tables[0], ids, values, rows_of(self.pages, run), first)

    def _values_of(self, run: Pieces, slot: Slot) -> HostArray | None:
        """The weights of a run, as if those of all arcs were there."""
        if slot.values is None or self.pages.dtype is None:
            return None
        begins = int(self.pages.first_arc[run.begin]) * self.pages.dtype.itemsize
        return HostArray(Pointer(slot.values.data.ptr - begins), self.pages.dtype)

    def visits(self, wanted: Survey) -> Iterator[Spread]:
        """The rows that were surveyed, to be visited where they lie, and where whole pages were cheaper to copy, there.

        Raises
        ------
        DamagedPageError
            When a page does not hold what it should.
        """
        import cupy

        pages, counts = self.pages, wanted.counts
        assert counts is not None and wanted.copied is not None
        rows = wanted.rows
        everyone = rows is None or (isinstance(rows, Frontier) and rows.everyone)
        bits = None if everyone else rows.bits.words if isinstance(rows, Frontier) else rows.words  # type: ignore[union-attr]
        more = None if wanted.more is None else wanted.more.words
        there = wanted.pages[~wanted.copied[wanted.pages]]
        chosen = np.zeros(pages.n_pages, np.uint8)
        common = self._tables[0], self._tables[1], self._tables[4]
        data = None if self._values_are_read else self.host.values
        self._kept.begin(wanted.pages)
        if len(there):
            where = self.host.addresses.copy()
            kept = self._place >= 0
            where[kept] = self._memory.data.ptr + self._place[kept]
            chosen[there] = 1
            over_link = counts[there][~kept[there]]
            self._moved += int((over_link[:, 1] // GROUP + over_link[:, 0]).sum()) * GROUP_BYTES[pages.encoding]
            between = int(pages.first_row[there[0]]), int(pages.last_row[there[-1]]) + 1
            yield Spread(
                pages, *common, cupy.asarray(where), data, cupy.asarray(chosen), bits, more, between,
                groups_of(counts[there]), self._damaged,
            )  # fmt: skip
        copied = wanted.pages[wanted.copied[wanted.pages]]
        for run, slot in self._brought(copied, self._values_are_read):
            data = self._values_of(run, slot) if self._values_are_read else data
            where = np.zeros(pages.n_pages, np.uint64)
            chosen = np.zeros(pages.n_pages, np.uint8)
            chosen[run.begin : run.end] = 1
            where[run.begin : run.end] = slot.places
            yield Spread(
                pages, *common, cupy.asarray(where), data, cupy.asarray(chosen), bits, more, rows_of(pages, run),
                groups_of(counts[run.begin : run.end]), self._damaged,
            )  # fmt: skip
        self._raise_damage(wanted.pages)

    def _raise_damage(self, wanted: np.ndarray) -> None:
        if pages_are_damaged(self._damaged):
            for page in wanted.tolist():
                self.pages.check(page)
            raise self.pages.damaged(int(wanted[0]), "its bytes, or those of a page after it, are no page")

    def _brought(self, wanted: np.ndarray, values: bool) -> Iterator[tuple[Pieces, Slot]]:
        """Runs of pages, each in a buffer on the device, copied while earlier ones are worked on."""
        import cupy

        pages = self.pages
        runs = runs_of(wanted, pages.first_arc, self._arcs, MOST_PAGES)
        if not runs:
            return
        if values:
            self._kept.begin(wanted)
        while len(self._ring) < self._slots:
            self._ring.append(Slot(self.pages, self._arcs, not self.host.resident))
        now, count = cupy.cuda.get_current_stream(), len(self._ring)
        coming: deque[Any] = deque()

        def start(k: int) -> None:
            slot, stream, run = self._ring[k % count], self._streams[k % len(self._streams)], runs[k]
            # Where its pages lie is settled now: until it has been worked on, none that is kept may go.
            self._kept.busy[run.begin : run.end] = True
            slot.brought = list(gaps(run, self._kept.here))
            begins = pages.offset[run.begin : run.end]
            here = self._place[run.begin : run.end]
            in_ring = slot.stored.data.ptr + begins - begins[0]
            slot.places = np.where(here >= 0, self._memory.data.ptr + here, in_ring).astype(np.uint64)
            if self.host.resident:
                self._bring(runs[k], slot, stream, values)
                coming.append(None)
            else:
                coming.append(self._pool.submit(self._bring_on, cupy.cuda.Device().id, runs[k], slot, stream, values))

        try:
            for k in range(min(count - 1, len(runs))):
                start(k)
            for k, run in enumerate(runs):
                if k + count - 1 < len(runs):
                    # Into the buffer of the window before this one.
                    start(k + count - 1)
                slot, future = self._ring[k % count], coming.popleft()
                if future is not None:
                    future.result()
                now.wait_event(slot.ready)
                yield run, slot
                self._kept.busy[run.begin : run.end] = False
                self._keep(run, slot, now)
                slot.free.record(now)
                slot.used = True
        finally:
            self._kept.busy[:] = False
            for future in coming:
                if isinstance(future, Future) and not future.cancel():
                    future.exception()

    @property
    def _pool(self) -> ThreadPoolExecutor:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._slots - 1, thread_name_prefix="hpgraph-pages")
        return self._threads

    def _bring_on(self, device: int, *what: Any) -> None:
        import cupy

        with cupy.cuda.Device(device):
            self._bring(*what)

    def _bring(self, run: Pieces, slot: Slot, stream: Any, values: bool) -> None:
        """Copy what is not kept of a run, on a stream, once the buffer's last window is done with."""
        from cupy.cuda import runtime

        pages = self.pages
        if slot.used:
            stream.wait_event(slot.free)
        begin = int(pages.offset[run.begin])
        if slot.pinned is not None and slot.used:
            # The pinned buffer is read by the last copy out of it.
            slot.ready.synchronize()
        source = self.host.place(run, slot.brought, slot.pinned)
        for low, high in slot.brought:
            at, nbytes = int(pages.offset[low]) - begin, int(pages.offset[high] - pages.offset[low])
            runtime.memcpyAsync(slot.stored.data.ptr + at, source + at, nbytes, 1, stream.ptr)
            self._moved += nbytes
        if values and slot.values is not None:
            size = pages.dtype.itemsize  # type: ignore[union-attr]
            first, last = int(pages.first_arc[run.begin]) * size, int(pages.first_arc[run.end]) * size
            source = self.host.place_of_values(run, slot.pinned_values)
            runtime.memcpyAsync(slot.values.data.ptr, source, last - first, 1, stream.ptr)
            self._moved += last - first
        slot.ready.record(stream)

    def _keep(self, run: Pieces, slot: Slot, now: Any) -> None:
        """Of what was brought, that which is to be kept; on the stream of the work, in its order."""
        from cupy.cuda import runtime

        pages, begin = self.pages, int(self.pages.offset[run.begin])
        copies: list[list[int]] = []
        copied = np.zeros(run.end - run.begin, np.bool_)
        for low, high in slot.brought:
            copied[low - run.begin : high - run.begin] = True
            for page in self._kept.wanted(low, high):
                for victim in self._kept.admits(page) or ():
                    self._slab.give(int(self._place[victim]), int(self._kept.sizes[victim]))
                    self._place[victim] = -1
                if page not in self._kept:
                    continue
                size = int(self._kept.sizes[page])
                place = self._slab.take(size)
                if place is None:
                    self._kept.drop(page)
                    continue
                self._place[page] = place
                at = int(pages.offset[page]) - begin
                if copies and copies[-1][0] + copies[-1][2] == at and copies[-1][1] + copies[-1][2] == place:
                    copies[-1][2] += size
                else:
                    copies.append([at, place, size])
        self._kept.found_all(run.begin + np.flatnonzero(~copied))
        for at, place, size in copies:
            runtime.memcpyAsync(self._memory.data.ptr + place, slot.stored.data.ptr + at, size, 3, now.ptr)

    def close(self) -> None:
        """Give back what it holds."""
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None
        self._ring.clear()
        self.host.close()
