"""The stores of a graph in pages: their buffers and kept pages share its budgets, and serve one run at a time."""

import contextlib
from collections.abc import Iterator
from typing import Any

from hpgraph.core.device import Device, free_memory
from hpgraph.core.locks import Lock
from hpgraph.formats import Pages
from hpgraph.kernels.backend import windows
from hpgraph.kernels.out_of_core import Store


class PageStores(Lock):
    """The stores of a graph's pages, within its budgets in bytes, and the lock under which they are used."""

    def __init__(
        self, sides: set[Pages], device: Device, budgets: dict[str, int | None], options: dict[str, Any]
    ) -> None:
        super().__init__()
        self._sides, self._device = sides, device
        self.budgets, self.options = budgets, options
        # Remaining budgets during `memory_for_arcs`.
        self._left = budgets
        self._open: dict[tuple[int, bool], Store] = {}
        self._moved, self._depth = 0, 0
        # Stores of the shards of a graph on several devices; this lock protects them too.
        self.parts: list[PageStores] = []

    @property
    def opened(self) -> list[Store]:
        """The stores that hold memory now, without those of shards."""
        return list(self._open.values())

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Context of one run, reentrant; other threads wait; on exit, passes that were interrupted end."""
        with self:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if not self._depth:
                    for stores in (self, *self.parts):
                        for store in stores.opened:
                            store.end_pass()

    def of(self, pages: Pages, weighted: bool | None) -> Store:
        """The store of one side's arcs, weights as read already if None; use it under the lock, and do not keep it."""
        if weighted is None:
            read = [kind for side, kind in self._open if side == id(pages)]
            weighted = read[0] if read else pages.values is not None
        key = id(pages), weighted
        if key not in self._open:
            # Stores with and without weights are separate; both are kept only if main memory has no limit. (That of a
            # GPU always has one.)
            limited = self._device != "cpu" or any(limit is not None for limit in self._left.values())
            for other in [k for k in self._open if limited and k[0] == key[0]]:
                self._close(other)
            chosen = pages if weighted or pages.values is None else pages.pattern()
            self._open[key] = windows(self._device).PageStore(
                chosen, **self._left, shares=len(self._sides), **self.options
            )
        return self._open[key]

    @property
    def moved(self) -> int:
        """Bytes transferred so far: read, copied, or predicted to be read in place."""
        return self._moved + sum(store.moved for store in self.opened) + sum(part.moved for part in self.parts)

    def close_own(self) -> None:
        """Release the memory of these stores, but not of those of shards."""
        for key in list(self._open):
            self._close(key)

    def close(self) -> None:
        """Release the memory of all stores."""
        for stores in (self, *self.parts):
            stores.close_own()

    def _close(self, key: tuple[int, bool]) -> None:
        store = self._open.pop(key)
        store.close()
        self._moved += store.moved

    @contextlib.contextmanager
    def memory_for_arcs(self) -> Iterator[int]:
        """For a while: bytes of the budget, of each shard, for arcs in memory, and not for pages that are kept."""
        with self.exclusive(), contextlib.ExitStack() as stack:
            yield [stack.enter_context(stores._lend()) for stores in (*self.parts, self)][-1]

    @contextlib.contextmanager
    def _lend(self) -> Iterator[int]:
        # On the CPU both budgets limit main memory, which also holds the results.
        limiting = ("memory", "host_memory") if self._device == "cpu" else ("memory",)
        limits = [limit for name in limiting if (limit := self.budgets[name]) is not None]
        if not limits:
            yield free_memory(self._device) // 4
            return
        fixed = sum(windows(self._device).least_memory(pages) for pages in self._sides)
        room = max(min(limits) - fixed, 0) * 3 // 4
        self.close_own()
        self._left = self.budgets | {"memory": min(limits) - room}
        try:
            yield room
        finally:
            self.close_own()
            self._left = self.budgets

    def _after_fork(self) -> None:
        if self._is_owned():
            return
        super()._after_fork()
        # A forked child has none of the prefetching threads, and another thread may have been in a run.
        self._open, self._left, self._depth = {}, self.budgets, 0
