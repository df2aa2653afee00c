"""One pass at a time over the pages of a store: the windows of all passes lie in the same buffers."""

from __future__ import annotations

import weakref
from collections.abc import Generator
from typing import Any


class OnePass:
    """A store of which one pass is open at a time."""

    _pass: weakref.ref[Generator[Any, None, None]] | None = None

    def _opened(self, windows: Generator[Any, None, None]) -> Generator[Any, None, None]:
        """A new pass, which ends the one before it."""
        OnePass.end_pass(self)
        self._pass = weakref.ref(windows)
        return windows

    def end_pass(self) -> None:
        """End a pass that was left half way: an error's traceback may hold its windows, which still come in."""
        left = None if self._pass is None else self._pass()
        if left is not None:
            left.close()
        self._pass = None
