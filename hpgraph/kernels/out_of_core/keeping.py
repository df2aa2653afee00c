"""Which pages are kept in what a budget leaves.

Programs that read everything in the order of the file again and again would never find anything under the least
recently used: each page is dropped just before its turn. So pages are kept by how often supersteps have wanted them,
and among equals stays who is there already. Sweeps then find as many pages as there is room for, and traversals the
pages of hubs, which every superstep wants.
"""

from __future__ import annotations

from bisect import bisect
from collections import OrderedDict

import numpy as np

POLICIES = ("frequency", "lru", "none")


class Kept:
    """The pages kept within a room, by how often they were wanted.

    ``sizes``: bytes of each page; ``room``: bytes there are.
    """

    def __init__(self, sizes: np.ndarray, room: int) -> None:
        self.sizes, self.room = np.asarray(sizes, np.int64), max(int(room), 0)
        self.here = np.zeros(len(self.sizes), np.bool_)
        # Pages that are being worked on where they lie: none of them goes.
        self.busy = np.zeros(len(self.sizes), np.bool_)
        self.used = 0
        self._times = np.zeros(len(self.sizes), np.int64)
        self._chosen = self.here.copy()

    def __contains__(self, page: int) -> bool:
        return bool(self.here[page])

    def begin(self, wanted: np.ndarray) -> None:
        """A superstep wants these pages."""
        self._times[wanted] += 1
        # Who is to be here after it: the most often wanted, and among equals those that are here.
        candidates = np.flatnonzero(self.here | (self._times > 0))
        order = np.lexsort((candidates, ~self.here[candidates], -self._times[candidates]))
        candidates = candidates[order]
        fits = np.cumsum(self.sizes[candidates]) <= self.room
        self._chosen = np.zeros(len(self.sizes), np.bool_)
        self._chosen[candidates[fits]] = True

    def wants(self, page: int) -> bool:
        """Whether a page that is not here may be kept when it is brought."""
        return bool(self._chosen[page])

    def admits(self, page: int) -> list[int] | None:
        """Whether a page that was brought is kept now: those that make room for it, or None if it is not."""
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
        """A page is here from now on."""
        self.here[page] = True
        self.used += int(self.sizes[page])

    def drop(self, page: int) -> None:
        """A page is here no more."""
        self.here[page] = False
        self.used -= int(self.sizes[page])

    def found(self, page: int) -> None:
        """A page that is here was used."""

    def found_all(self, pages: np.ndarray) -> None:
        """Pages that are here were used."""

    def wanted(self, low: int, high: int) -> list[int]:
        """Of the pages low..high, those that are not here and may be kept."""
        return (low + np.flatnonzero(self._chosen[low:high] & ~self.here[low:high])).tolist()


class KeptLately(Kept):
    """The least recently used go first: for comparison."""

    def __init__(self, sizes: np.ndarray, room: int) -> None:
        super().__init__(sizes, room)
        self._order: OrderedDict[int, None] = OrderedDict()

    def begin(self, wanted: np.ndarray) -> None:
        """A superstep wants these pages."""

    def wants(self, page: int) -> bool:
        """Whether a page that is not here may be kept when it is brought."""
        return True

    def found(self, page: int) -> None:
        """A page that is here was used."""
        self._order.move_to_end(page)

    def drop(self, page: int) -> None:
        """A page is here no more."""
        super().drop(page)
        self._order.pop(page, None)

    def found_all(self, pages: np.ndarray) -> None:
        """Pages that are here were used."""
        for page in pages.tolist():
            if page in self._order:
                self._order.move_to_end(page)

    def wanted(self, low: int, high: int) -> list[int]:
        """Of the pages low..high, those that are not here."""
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
    """Room handed out in stretches: the first that is long enough.

    ``room``: bytes.
    """

    def __init__(self, room: int) -> None:
        self._free = [(0, room)]

    def take(self, size: int) -> int | None:
        """Where a stretch of this size begins; None if there is none."""
        for i, (begin, length) in enumerate(self._free):
            if length >= size:
                self._free[i : i + 1] = [(begin + size, length - size)] if length > size else []
                return begin
        return None

    def give(self, begin: int, size: int) -> None:
        """Take a stretch back."""
        i = bisect(self._free, (begin, size))
        self._free.insert(i, (begin, size))
        if i + 1 < len(self._free) and begin + size == self._free[i + 1][0]:
            self._free[i : i + 2] = [(begin, size + self._free[i + 1][1])]
        if i and sum(self._free[i - 1]) == begin:
            self._free[i - 1 : i + 1] = [(self._free[i - 1][0], self._free[i - 1][1] + self._free[i][1])]


def keeping(policy: str, sizes: np.ndarray, room: int) -> Kept:
    """What keeps pages by a policy."""
    if policy not in POLICIES:
        raise ValueError(f"policy must be one of {', '.join(POLICIES)}, not {policy!r}")
    return KeptLately(sizes, room) if policy == "lru" else Kept(sizes, 0 if policy == "none" else room)
