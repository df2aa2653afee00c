"""Locks that survive a fork, and a pause of the garbage collector that may nest and overlap between threads."""

import _thread
import gc
import weakref
from typing import Any, ClassVar

from hpgraph.core.platform import at_fork

# typeshed calls the class final.
_RLock: Any = _thread.RLock


class Lock(_RLock):  # type: ignore[misc]
    """A reentrant lock taken and released in C, so that no interruption leaves it taken."""

    def __init__(self) -> None:
        _locks.add(self)

    def _after_fork(self) -> None:
        # The forking thread continues in the child and keeps its locks.
        if not self._is_owned():
            self._at_fork_reinit()


_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


def _after_fork() -> None:
    for lock in _locks:
        lock._after_fork()


at_fork(after_in_child=_after_fork)


class uncollected:
    """Context manager: no garbage is collected meanwhile, in any thread.

    The first entry disables the collector, the last exit restores its state. If each exit restored the state at its
    own entry, overlapping blocks could leave it disabled permanently. A block whose thread is interrupted as it is
    entered or left ends as the object is freed.
    """

    _lock = Lock()
    _open: ClassVar[set[int]] = set()
    _was_enabled = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._open:
                uncollected._was_enabled = gc.isenabled()
            self._open.add(id(self))
            gc.disable()

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._open.discard(id(self))
            if not self._open and self._was_enabled:
                gc.enable()
                uncollected._was_enabled = False

    __del__ = __exit__
