"""Python's garbage collector, kept from running for a while."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

from hpgraph.core.locks import Lock

_lock = Lock()
_depth, _usual = 0, True


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile, in any thread; whoever else wants none ends after the last of them.

    Examples
    --------
    >>> with uncollected(), uncollected():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    global _depth, _usual
    with _lock:
        if not _depth:
            _usual = gc.isenabled()
            gc.disable()
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if not _depth and _usual:
                gc.enable()
