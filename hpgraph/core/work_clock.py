"""A clock that stands still while machine code is made: a trace tells what supersteps take, not what compiling does."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Iterator
from typing import Any, ClassVar

_lock = threading.Lock()
_depth = _since = _spent = 0


def now() -> int:
    """Nanoseconds, of which only differences mean anything; compiling is not in them.

    Returns
    -------
    int
    """
    with _lock:
        return (_since if _depth else time.perf_counter_ns()) - _spent


@functools.cache
def watch_numba() -> None:
    """Stand still whenever Numba compiles, from now on."""
    from numba.core import event

    class Compilations(event.Listener):
        # Events nest, and come from one thread at a time.
        open: ClassVar[list[contextlib.ExitStack]] = []

        def on_start(self, started: Any) -> None:
            self.open.append(contextlib.ExitStack())
            self.open[-1].enter_context(compiling())

        def on_end(self, ended: Any) -> None:
            if self.open:
                self.open.pop().close()

    event.register("numba:compile", Compilations())


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Machine code is being made; compilations may nest.

    Examples
    --------
    >>> began = now()
    >>> with compiling():
    ...     time.sleep(0.05)
    >>> now() - began < 50_000_000
    True
    """
    global _depth, _since, _spent
    with _lock:
        if not _depth:
            _since = time.perf_counter_ns()
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if not _depth:
                _spent += time.perf_counter_ns() - _since
