"""One pass at a time over the pages of a store: the windows of all passes share the same buffers."""

from __future__ import annotations

import weakref
from collections.abc import Generator
from typing import Any


class OnePass:
    """A store with at most one open pass."""

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
