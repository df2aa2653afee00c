"""Page replacement: which pages stay cached in the rest of a memory budget.

Programs that scan the whole file again and again would never hit an LRU cache: each page is evicted just before its
turn. So pages are kept by frequency of use in supersteps, and among equals cached pages stay. Sweeps then hit as many
pages as fit, and traversals the pages of hubs, which every superstep needs.
"""

from bisect import bisect
from typing import NamedTuple

import numpy as np

from hpgraph.core.errors import BudgetError
from hpgraph.formats import Pages


def hub_cache_bytes(pages: Pages, room: int) -> int:
    """Bytes of one resident neighbour of each vertex (an id and a bit) if they take at most a quarter; else 0."""
    taken = pages.shape[0] * 33 // 8
    return taken if pages.id_dtype == np.int32 and taken <= room // 4 else 0


class Ring(NamedTuple):
    """Windows in a ring of buffers, pages of each, and bytes of the budget left for them and for cached pages."""

    slots: int
    together: int
    left: int


def ring_within(budget: int, name: str, shares: int, tables: int, page: int, slots: int, together: int) -> Ring:
    """The ring for a budget of several stores together; at most a quarter goes to pages being processed.

    ``tables``: bytes of offsets; ``page``: bytes of the largest page in work; ``slots, together``: most of each.
    """
    least, left = tables + 2 * page, budget // shares - tables
    if left < 2 * page:
        raise BudgetError(
            f"{name}={budget:,} bytes is too little for a graph in pages: its offsets take {tables * shares:,} and two "
            f"pages in work {2 * page * shares:,}; give at least {least * shares:,}"
        )
    most = max(left // 4 // page, 2)
    slots = min(slots, most)
    return Ring(slots, max(min(most // slots, together), 1), left)


class PageCache:
    """A cache of `room` bytes for pages of some `sizes`, by frequency of use."""

    def __init__(self, sizes: np.ndarray, room: int) -> None:
        self.sizes, self.room = np.asarray(sizes, np.int64), max(int(room), 0)
        self.here = np.zeros(len(self.sizes), np.bool_)
        # Pages in use by kernels: they are not evicted.
        self.busy = np.zeros(len(self.sizes), np.bool_)
        self.used = 0
        self._times = np.zeros(len(self.sizes), np.int64)
        self._chosen = self.here.copy()

    def __contains__(self, page: object) -> bool:
        return bool(self.here[page])  # type: ignore[call-overload]

    def begin(self, wanted: np.ndarray) -> None:
        """Count a superstep's use of these pages, and choose the pages to keep."""
        self._times[wanted] += 1
        # Pages to keep after it: the most frequently used, and among equals those that are cached.
        candidates = np.flatnonzero(self.here | (self._times > 0))
        order = np.lexsort((candidates, ~self.here[candidates], -self._times[candidates]))
        candidates = candidates[order]
        fits = np.cumsum(self.sizes[candidates]) <= self.room
        self._chosen = np.zeros(len(self.sizes), np.bool_)
        self._chosen[candidates[fits]] = True

    def wants(self, page: int) -> bool:
        """Whether an uncached page may be cached when it is loaded."""
        return bool(self._chosen[page])

    def admits(self, page: int) -> list[int] | None:
        """Cache a loaded page if it is chosen: returns the evicted pages, or None if it is not cached."""
        if self.here[page] or not self._chosen[page]:
            return None
        dropped = []
        if self.used + self.sizes[page] > self.room:
            for victim in np.flatnonzero(self.here & ~self._chosen & ~self.busy).tolist():
                self.drop(victim)
                dropped.append(victim)
                if self.used + self.sizes[page] <= self.room:
                    break
        if self.used + self.sizes[page] > self.room:
            return dropped or None
        self.add(page)
        return dropped

    def add(self, page: int) -> None:
        """Mark a page as cached."""
        self.here[page] = True
        self.used += int(self.sizes[page])

    def drop(self, page: int) -> None:
        """Mark a page as evicted."""
        self.here[page] = False
        self.used -= int(self.sizes[page])

    def wanted(self, low: int, high: int) -> list[int]:
        """The pages of low..high that are not cached and may be."""
        return (low + np.flatnonzero(self._chosen[low:high] & ~self.here[low:high])).tolist()


class Slab:
    """A first-fit allocator of `room` bytes."""

    def __init__(self, room: int) -> None:
        self._free = [(0, room)]

    def take(self, size: int) -> int | None:
        """Allocate a range of this size; returns its start, or None if there is none."""
        for i, (begin, length) in enumerate(self._free):
            if length >= size:
                self._free[i : i + 1] = [(begin + size, length - size)] if length > size else []
                return begin
        return None

    def give(self, begin: int, size: int) -> None:
        """Free a range."""
        i = bisect(self._free, (begin, size))
        self._free.insert(i, (begin, size))
        if i + 1 < len(self._free) and begin + size == self._free[i + 1][0]:
            self._free[i : i + 2] = [(begin, size + self._free[i + 1][1])]
        if i and sum(self._free[i - 1]) == begin:
            self._free[i - 1 : i + 1] = [(self._free[i - 1][0], self._free[i - 1][1] + self._free[i][1])]
