"""Pause of Python's garbage collector that may nest and overlap between threads."""

import contextlib
import gc

from hpgraph.core.locks import Lock


class _Uncollected(contextlib.ContextDecorator):
    """Reentrant, from several threads at once.

    The first entry disables the collector, the last exit restores its state. If each exit restored the state at its
    own entry, overlapping blocks could leave it disabled permanently.
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
