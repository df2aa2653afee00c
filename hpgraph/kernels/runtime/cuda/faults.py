"""Exceptions in Python functions on the GPU: the kernels' modules count them (faults.cuh), and a run that ends looks.

A run raises where the count of a module that it launched is not what it was at its first launch. Another thread's run
of the same module may raise, too; neither returns what an index out of bounds made.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.errors import OutOfBoundsError

if TYPE_CHECKING:
    from hpgraph.semiring.function import Function


class _Thread(threading.local):
    # Of the run under way: modules launched, with the counts that were known then. None outside of runs.
    launched: dict[Faults, int] | None = None


_thread = _Thread()


class Faults:
    """The exceptions in the functions of one module on the device that it is loaded on."""

    def __init__(self, module: Any, functions: Sequence[Function]) -> None:
        import cupy

        self._device = cupy.cuda.Device()
        self._words = cupy.ndarray(2, np.uint32, module.get_global("hpgraph_faults"))
        self._functions = {function.fault: function for function in functions}
        self._seen = 0

    def launched(self) -> None:
        """Note a launch: checked when the run under way ends, or else now, which waits for the device."""
        if _thread.launched is not None:
            _thread.launched.setdefault(self, self._seen)
        else:
            self.check(self._seen)

    def check(self, before: int) -> None:
        """Raise where a function has ended by an exception since the count was `before`; waits for the device."""
        with self._device:
            count, function = self._words.get().tolist()
        self._seen = count
        if count != before:
            raise _exception_of(self._functions[function])


def _exception_of(function: Function) -> Exception:
    if not function.raises:
        return OutOfBoundsError(function.name)
    return RuntimeError(f"{function.name}() raised an exception on the GPU; the same on the CPU says which")


@contextlib.contextmanager
def checked() -> Iterator[None]:
    """Context manager for a run: what its kernels called is checked once, at the end of the outermost block."""
    if _thread.launched is not None:
        yield
        return
    launched: dict[Faults, int] = {}
    _thread.launched = launched
    try:
        yield
    except BaseException:
        for faults in launched:
            # The next run must not raise what this one left behind. A device that failed fails here again.
            with contextlib.suppress(Exception):
                faults.check(0)
        raise
    finally:
        _thread.launched = None
    for faults, before in launched.items():
        faults.check(before)
