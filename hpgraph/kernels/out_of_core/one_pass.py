"""One pass at a time over the pages of a store: the windows of all passes share the same buffers."""

import weakref
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class OnePass:
    """A store with at most one open pass, and threads that fill the `_slots` buffers of its windows."""

    _slots: int
    _threads: ThreadPoolExecutor | None = None
    _pass: weakref.ref[Generator[Any, None, None]] | None = None

    def _opened(self, windows: Generator[Any, None, None]) -> Generator[Any, None, None]:
        """A new pass, which ends the previous one."""
        OnePass.end_pass(self)
        self._pass = weakref.ref(windows)
        return windows

    def end_pass(self) -> None:
        """End an unfinished pass: an error's traceback may hold its windows, which are still being loaded."""
        left = None if self._pass is None else self._pass()
        if left is not None:
            left.close()
        self._pass = None

    @property
    def _pool(self) -> ThreadPoolExecutor:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._slots - 1, thread_name_prefix="hpgraph-pages")
        return self._threads

    def close(self) -> None:
        """Stop the threads."""
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None


def read_ahead(
    count: int, slots: int, start: Callable[[int], Future[Any] | None]
) -> Generator[tuple[int, Any], None, None]:
    """Numbers of windows and results of futures; `start` loads window k into slot ``k % slots``, once that is free."""
    coming: deque[Future[Any] | None] = deque()
    try:
        for k in range(min(slots - 1, count)):
            coming.append(start(k))
        for k in range(count):
            if k + slots - 1 < count:
                # Into the buffer of the previous window, which has been processed.
                coming.append(start(k + slots - 1))
            future = coming.popleft()
            yield k, None if future is None else future.result()
    finally:
        # Those that had not begun are cancelled before any is waited for.
        for future in [one for one in coming if one is not None and not one.cancel()]:
            future.exception()
