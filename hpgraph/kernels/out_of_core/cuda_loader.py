"""Loading pages to the GPU: through a ring of buffers, on separate streams, with a cache.

Copies run on separate streams into a ring of buffers while earlier windows are processed (GTS: M.-S. Kim et al.,
SIGMOD'16). Pages of a file pass through pinned buffers; of pages with few needed rows only those are read.
"""

from collections.abc import Generator, Iterator
from concurrent.futures import Future
from functools import cached_property
from typing import Any

import numpy as np

from hpgraph.core.device import cupy, free_memory, prefix_sum
from hpgraph.formats import Pages
from hpgraph.kernels.out_of_core import MAX_PAGES, HubCache
from hpgraph.kernels.out_of_core.cuda_host import HostPages
from hpgraph.kernels.out_of_core.cuda_ring import Slot, shares_of
from hpgraph.kernels.out_of_core.one_pass import OnePass, read_ahead
from hpgraph.kernels.out_of_core.page_replacement import PageCache, Slab, hub_cache_bytes
from hpgraph.kernels.out_of_core.requests import GAP
from hpgraph.kernels.out_of_core.runs import Run, gaps, runs_of

# Bytes of a window: a host link reaches nearly full speed from some MiB on, and launching the work on a window takes
# the host some 60 microseconds, the time of 3 MiB. From a disk, bytes of one request.
WINDOW_BYTES, REQUEST_BYTES = 16 << 20, 8 << 20
# Copying streams.
STREAMS = 2
# As in window.cuh: arcs of a tile.
TILE = 4096


class PageLoader(OnePass):
    """Pages of a matrix, loaded to the GPU through a ring of buffers and cached within a budget.

    ``memory``: bytes of the device for offsets, buffers and cached pages; None is half of the free memory;
    ``host_memory``: bytes of pinned memory for pages; None is enough for all. With less they are read, or copied, each
    time; ``window_bytes``: bytes of a window; ``gap``: largest gap, in bytes, between two needed rows of a file that is
    read too.
    """

    def __init__(
        self, pages: Pages, memory: int | None = None, host_memory: int | None = None, *, in_place: bool = True,
        window_bytes: int | None = None, hub_cache: bool = True, gap: int = GAP, shares: int = 1,
    ) -> None:  # fmt: skip
        self.pages, self._device = pages, cupy.cuda.runtime.getDevice()
        self.host = HostPages(pages, None if host_memory is None else host_memory // shares, gap)
        if window_bytes is None:
            window_bytes = WINDOW_BYTES if self.host.resident else REQUEST_BYTES
        self._in_place = in_place and self.host.resident
        memory = free_memory("cuda") // 2 if memory is None else memory
        self.window_arcs, self._slots, room = shares_of(pages, memory, window_bytes, self.host.resident, shares)
        self.hub_cache: HubCache | None = None
        taken = hub_cache_bytes(pages, room) if hub_cache else 0
        self.has_room_for_hub_cache = taken > 0
        self._kept = PageCache(np.diff(pages.offset), room - taken)
        self._slab = Slab(self._kept.room)
        self._place = np.full(pages.n_pages, -1, np.int64)
        self._moved = 0
        self._ring: list[Slot] = []

    @cached_property
    def _first_tile(self) -> np.ndarray:
        """Exclusive sum of the pages' tiles."""
        return prefix_sum(-(-np.diff(self.pages.first_arc) // TILE))

    @cached_property
    def _tables(self) -> tuple[Any, ...]:
        """Row offsets; and of pages first arcs, first rows, last rows, offsets of stored bytes, first tiles."""
        pages = self.pages
        made = pages.indptr, pages.first_arc, pages.first_row, pages.last_row, pages.offset, self._first_tile
        return tuple(cupy.asarray(np.asarray(table, np.int64)) for table in made)

    @cached_property
    def _memory(self) -> Any:
        """Memory of the cache."""
        return cupy.empty(max(self._kept.room, 1), np.uint8)

    @cached_property
    def _streams(self) -> list[Any]:
        return [cupy.cuda.Stream(non_blocking=True) for _ in range(STREAMS)]

    @cached_property
    def _damaged(self) -> Any:
        return cupy.zeros(1, np.int32)

    @property
    def moved(self) -> int:
        """Bytes loaded so far: copied, or, as predicted, read in place."""
        return self._moved

    def _loaded(self, wanted: np.ndarray, values: bool, rows: np.ndarray | None = None) -> Iterator[tuple[Run, Slot]]:
        """Runs of pages in buffers on the device, copied ahead; if rows are given, only these, in pinned buffers."""
        return self._opened(self._load_all(wanted, values, rows))

    def _load_all(
        self, wanted: np.ndarray, values: bool, rows: np.ndarray | None
    ) -> Generator[tuple[Run, Slot], None, None]:
        runs = runs_of(wanted, self.pages.first_arc, self.window_arcs, MAX_PAGES)
        if not runs:
            return
        if values:
            self._kept.begin(wanted)
        while len(self._ring) < self._slots:
            self._ring.append(Slot(self.pages, self.window_arcs, not self.host.resident))
        device, now, count = cupy.cuda.Device(), cupy.cuda.get_current_stream(), len(self._ring)
        done = 0

        def start(k: int) -> Future[None] | None:
            slot, stream, run = self._ring[k % count], self._streams[k % len(self._streams)], runs[k]
            slot.brought = []
            if rows is None:
                self._fix_places(run, slot)
            if rows is None and self.host.resident:
                self._load(run, slot, stream, values)
                return None
            return self._pool.submit(self._load_on, device.id, run, slot, stream, values if rows is None else rows)

        windows = read_ahead(len(runs), count, start)
        try:
            for k, _ in windows:
                run, slot = runs[k], self._ring[k % count]
                now.wait_event(slot.ready)
                yield run, slot
                self._kept.busy[run.begin : run.end] = False
                if rows is None:
                    self._keep(run, slot, now)
                slot.free.record(now)
                done += 1
        finally:
            self._kept.busy[:] = False
            windows.close()
            if done < len(runs):
                with device:
                    self._leave(now)

    def _fix_places(self, run: Run, slot: Slot) -> None:
        """Fix the addresses of a run's pages: until it has been processed, none of its cached ones may be evicted."""
        self._kept.busy[run.begin : run.end] = True
        slot.brought = list(gaps(run, self._kept))
        begins, cached = self.pages.offset[run.begin : run.end], self._place[run.begin : run.end]
        in_ring = slot.stored.data.ptr + begins - begins[0]
        slot.places = np.where(cached >= 0, self._memory.data.ptr + cached, in_ring).astype(np.uint64)

    def _leave(self, now: Any) -> None:
        """Make the next users of the ring's memory wait for the last window, and for abandoned copies."""
        for stream in self._streams:
            now.wait_event(stream.record())
        for slot in self._ring:
            slot.free.record(now)

    def _load_on(self, device: int, *what: Any) -> None:
        with cupy.cuda.Device(device):
            (self._load_rows if isinstance(what[-1], np.ndarray) else self._load)(*what)

    def _load_rows(self, run: Run, slot: Slot, stream: Any, rows: np.ndarray) -> None:
        """Read some rows of a run into its pinned buffer, once the device has read its previous contents."""
        assert slot.pinned is not None
        slot.free.synchronize()
        slot.ready.synchronize()
        read, wanted, _ = self.host.source.rows(run, rows, slot.pinned)
        begins = self.pages.offset[run.begin : run.end]
        slot.places = (read.ctypes.data + begins - begins[0]).astype(np.uint64)
        self._moved += wanted.nbytes
        slot.ready.record(stream)

    def _load(self, run: Run, slot: Slot, stream: Any, values: bool) -> None:
        """Copy the uncached pages of a run, on a stream, once the buffer's previous window has been processed."""
        pages = self.pages
        stream.wait_event(slot.free)
        begin = int(pages.offset[run.begin])
        if slot.pinned is not None:
            # The pinned buffer is read by the last copy from it, or by kernels in place.
            slot.ready.synchronize()
            slot.free.synchronize()
        source = self.host.place(run, slot.brought, slot.pinned)
        for low, high in slot.brought:
            at, nbytes = int(pages.offset[low]) - begin, int(pages.offset[high] - pages.offset[low])
            cupy.cuda.runtime.memcpyAsync(slot.stored.data.ptr + at, source + at, nbytes, 1, stream.ptr)
            self._moved += nbytes
        if values and slot.values is not None:
            size = pages.dtype.itemsize  # type: ignore[union-attr]
            first, last = int(pages.first_arc[run.begin]) * size, int(pages.first_arc[run.end]) * size
            source = self.host.place_of_values(run, slot.pinned_values)
            cupy.cuda.runtime.memcpyAsync(slot.values.data.ptr, source, last - first, 1, stream.ptr)
            self._moved += last - first
        slot.ready.record(stream)

    def _keep(self, run: Run, slot: Slot, now: Any) -> None:
        """Copy the admitted pages of a window to the cache; on the stream of the work, in its order."""
        pages, begin = self.pages, int(self.pages.offset[run.begin])
        copies: list[list[int]] = []
        for low, high in slot.brought:
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
        for at, place, size in copies:
            cupy.cuda.runtime.memcpyAsync(self._memory.data.ptr + place, slot.stored.data.ptr + at, size, 3, now.ptr)

    def end_pass(self) -> None:
        """As `OnePass.end_pass`; waits for the device, as the next run may use another stream."""
        with cupy.cuda.Device(self._device):
            super().end_pass()
            cupy.cuda.get_current_stream().synchronize()

    def close(self) -> None:
        """Free all memory; waits for the device, since the pool could give the memory to another stream."""
        self.end_pass()
        super().close()
        self._ring.clear()
        self.host.close()
