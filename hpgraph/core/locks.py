"""Locks that are released in a forked child: a thread of the parent that held one does not exist there."""

import threading
import weakref

from hpgraph.core.platform import at_fork


class Lock:
    """A lock that a thread may take several times, for use in a ``with`` statement."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def _after_fork(self) -> None:
        # The forking thread continues in the child and keeps its locks.
        if not self._lock._is_owned():  # type: ignore[attr-defined]
            self._lock = threading.RLock()


_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


def _after_fork() -> None:
    for lock in _locks:
        lock._after_fork()


at_fork(after_in_child=_after_fork)
