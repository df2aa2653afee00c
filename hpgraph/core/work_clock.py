"""A clock that excludes compilation: a trace records the time of supersteps, not of compilers."""

import contextlib
import threading
import time
from collections.abc import Iterator

_lock = threading.Lock()
_depth = _since = _spent = 0


def now() -> int:
    """Nanoseconds without compilation; only differences are meaningful."""
    with _lock:
        return (_since if _depth else time.perf_counter_ns()) - _spent


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Context manager around a compilation, during which the clock stands still; it may nest."""
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
