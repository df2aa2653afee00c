"""Python's garbage collector, kept from running for a while, however those overlap in time who want it."""

from __future__ import annotations

import contextlib
import gc

from hpgraph.core.locks import Lock


class _Uncollected(contextlib.ContextDecorator):
    """It may nest, and threads may be in it at once.

    The first who enters shuts the collector off, the last who leaves restores what was. If each restored what it had
    found, whoever began second and ended last would leave it off, for good.
    """

    def __init__(self) -> None:
        self._lock, self._depth, self._was_enabled = Lock(), 0, False

    def __enter__(self) -> None:
        with self._lock:
            if not self._depth:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._depth += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth and self._was_enabled:
                gc.enable()


_uncollected = _Uncollected()


def uncollected() -> _Uncollected:
    """Context manager and decorator: no garbage is collected meanwhile, in any thread."""
    return _uncollected
