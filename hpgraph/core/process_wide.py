"""Settings of the whole process that are others for a while, however those overlap in time who want it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from hpgraph.core.locks import Lock


class ProcessWide(contextlib.ContextDecorator):
    """A context manager, and decorator, that changes a setting; it may nest, and threads may be in it at once.

    The first who enters changes it, the last who leaves restores it. If each restored what it had found, whoever began
    second and ended last would bring back the changed setting, for good.

    Parameters
    ----------
    change : callable
        Changes the setting, and gives what it was.
    restore : callable
        Takes that.

    Examples
    --------
    >>> said = ProcessWide(lambda: print("changed"), lambda before: print("restored"))
    >>> with said, said:
    ...     print("meanwhile")
    changed
    meanwhile
    restored
    """

    def __init__(self, change: Callable[[], Any], restore: Callable[[Any], None]) -> None:
        self._change, self._restore = change, restore
        self._lock, self._depth, self._before = Lock(), 0, None

    def __enter__(self) -> None:
        with self._lock:
            if not self._depth:
                self._before = self._change()
            self._depth += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth:
                self._restore(self._before)
