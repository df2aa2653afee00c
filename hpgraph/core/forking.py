"""Callbacks before and after a fork: a lock that another thread holds then would never be released in the child.

Imported with ``import hpgraph`` itself, so that a fork waits even for a thread inside its first call.
"""

import importlib
import logging  # noqa: F401, so that its call before a fork was registered first and comes last: imports take its lock
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

# A fork waits up to this many seconds for imports of other threads: of these packages, whose imports end.
_IMPORT_SECONDS, _POLL_INTERVAL = 30.0, 0.0005
_PACKAGES = frozenset({"hpgraph", "numba", "llvmlite", "numpy", "scipy", "cupy"})
# Callbacks before a fork, each with the one that undoes it, in the order of registration.
_calls: list[tuple[Callable[[], Any], Callable[[], Any]]] = []


def register(
    before: Callable[[], Any] | None = None, after_in_parent: Callable[[], Any] | None = None, **after: Any
) -> None:
    """`os.register_at_fork`, where `before` may be called, and undone by `after_in_parent`, several times."""
    if before is not None and after_in_parent is not None:
        _calls.append((before, after_in_parent))
    elif before is not None:
        after["before"] = before
    if after_in_parent is not None:
        after["after_in_parent"] = after_in_parent
    os.register_at_fork(**after)


def _importing() -> set[int]:
    """Threads inside imports of these packages: Python's locks of modules have them, and no public name."""
    locks = getattr(getattr(importlib, "_bootstrap", None), "_module_locks", {})
    module_locks = [reference() for name, reference in list(locks.items()) if name.partition(".")[0] in _PACKAGES]
    return {lock.owner for lock in module_locks if getattr(lock, "owner", None) is not None}


def _others_import() -> bool:
    """Whether another thread is inside such an import; not if this one is too, which that thread may wait for."""
    others = _importing()
    # A thread that has ended holds its locks for good.
    return threading.get_ident() not in others and not others.isdisjoint(sys._current_frames())


def _prepare() -> None:
    deadline = time.monotonic() + _IMPORT_SECONDS
    while True:
        while _others_import() and time.monotonic() < deadline:
            time.sleep(_POLL_INTERVAL)
        for before, _ in reversed(_calls):
            before()
        if not _others_import() or time.monotonic() > deadline:
            return
        # An import that began meanwhile may wait for a lock that the callbacks hold.
        for _, undo in _calls:
            undo()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_prepare)
