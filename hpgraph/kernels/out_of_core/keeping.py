"""Page replacement: the pages to keep in the memory that a budget leaves.

Programs that scan the whole file again and again would never hit an LRU cache: each page is evicted just before its
turn. So pages are kept by frequency of use in supersteps, and among equals cached pages stay. Sweeps then hit as many
pages as fit, and traversals the pages of hubs, which every superstep needs.
"""

from __future__ import annotations

from bisect import bisect
from collections import OrderedDict

import numpy as np

POLICIES = ("frequency", "lru", "none")


class Kept:
    """A cache of pages, by frequency of use.

    ``sizes``: bytes of each page; ``room``: bytes of the cache.
    """

    def __init__(self, sizes: np.ndarray, room: int) -> None:
        self.sizes, self.room = np.asarray(sizes, np.int64), max(int(room), 0)
        self.here = np.zeros(len(self.sizes), np.bool_)
        # Pages in use by kernels: they are not evicted.
        self.busy = np.zeros(len(self.sizes), np.bool_)
        self.used = 0
        self._times = np.zeros(len(self.sizes), np.int64)
        self._chosen = self.here.copy()

    def __contains__(self, page: int) -> bool:
        return bool(self.here[page])

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

    def found(self, page: int) -> None:
        """Note a hit."""

    def found_all(self, pages: np.ndarray) -> None:
        """Note hits."""

    def wanted(self, low: int, high: int) -> list[int]:
        """The pages of low..high that are not cached and may be."""
        return (low + np.flatnonzero(self._chosen[low:high] & ~self.here[low:high])).tolist()


class KeptLately(Kept):
    """LRU replacement, for comparison."""

    def __init__(self, sizes: np.ndarray, room: int) -> None:
        super().__init__(sizes, room)
        self._order: OrderedDict[int, None] = OrderedDict()

    def begin(self, wanted: np.ndarray) -> None:
        """Nothing to count."""

    def wants(self, page: int) -> bool:
        """Whether an uncached page may be cached when it is loaded."""
        return True

    def found(self, page: int) -> None:
        """Note a hit."""
        self._order.move_to_end(page)

    def drop(self, page: int) -> None:
        """Mark a page as evicted."""
        super().drop(page)
        self._order.pop(page, None)

    def found_all(self, pages: np.ndarray) -> None:
        """Note hits."""
        for page in pages.tolist():
            if page in self._order:
                self._order.move_to_end(page)

    def wanted(self, low: int, high: int) -> list[int]:
        """The pages of low..high that are not cached."""
        return (low + np.flatnonzero(~self.here[low:high])).tolist()

    def admits(self, page: int) -> list[int] | None:
        """As `Kept.admits`."""
        if self.here[page] or self.sizes[page] > self.room:
            return None
        dropped: list[int] = []
        while self.used + self.sizes[page] > self.room:
            victim = next((other for other in self._order if not self.busy[other]), None)
            if victim is None:
                return dropped or None
            del self._order[victim]
            self.drop(victim)
            dropped.append(victim)
        self._order[page] = None
        self.add(page)
        return dropped


class Slab:
    """A first-fit allocator.

    ``room``: bytes.
    """

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


def keeping(policy: str, sizes: np.ndarray, room: int) -> Kept:
    """The cache for a policy."""
    if policy not in POLICIES:
        raise ValueError(f"policy must be one of {', '.join(POLICIES)}, not {policy!r}")
    return KeptLately(sizes, room) if policy == "lru" else Kept(sizes, 0 if policy == "none" else room)
