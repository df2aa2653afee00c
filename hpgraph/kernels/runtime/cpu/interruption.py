"""Ctrl-C during a kernel: a compiled call of minutes ends within a piece of work, by `KeyboardInterrupt`.

Python answers a signal between two of its own instructions, so not before a compiled call is over. Inside an
`interruptible` block SIGINT goes to a handler in machine code instead, which sets the word that kernels look at
(`hpgraph.semiring.stop`). They stop wherever they are, and the block raises before anybody can use what they left.

Only the main thread is interrupted, as always in Python, and only while SIGINT has Python's own handler: one that
someone else has set, as asyncio does, may not mean to end anything, and is called after the kernel. On the GPU the host
waits for the kernel; SIGINT is answered when it is done.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import contextlib
import ctypes
import os
import signal
import threading
from collections.abc import Iterator

import numba

from hpgraph.kernels.runtime.cpu.machine_code import stop_on_signal
from hpgraph.semiring.stop import word

_set_handler = ctypes.pythonapi.PyOS_setsig
_set_handler.argtypes, _set_handler.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
_SIGINT = int(signal.SIGINT)
_default = signal.default_int_handler

# Under NUMBA_DISABLE_JIT kernels are Python, which is interrupted anywhere.
_main = None if numba.config.DISABLE_JIT else threading.main_thread().ident
# Python's own handler of SIGINT, a C function, while ours is in its place.
_python: int | None = None
# How often kernels have been stopped. Who finds it changed was computing when another thread stopped them all.
stops = 0


def stopped_since(count: int) -> bool:
    """Whether kernels were stopped since `stops` was read, so that what they made is of no use.

    Parameters
    ----------
    count : int
        What `stops` was.

    Returns
    -------
    bool
    """
    return word.value != 0 or stops != count


class interruptible:
    """Context manager: Ctrl-C stops the kernels called inside the block, which then raises.

    Inside another such block, in any thread but the main one, and where SIGINT is not Python's, it does nothing.

    Raises
    ------
    KeyboardInterrupt
        When the block is left, if there was a Ctrl-C.

    Examples
    --------
    >>> with interruptible():
    ...     sum(range(10))
    45
    """

    __slots__ = ("_outermost",)

    def __enter__(self) -> None:
        global _python
        self._outermost = False
        if _python is None and threading.get_ident() == _main and _signal.getsignal(_SIGINT) is _default:
            try:
                _python = _set_handler(_SIGINT, stop_on_signal())
            except KeyboardInterrupt:
                # A Ctrl-C of just before: Python answers it when the call is over, and ours must not stay.
                signal.signal(_SIGINT, _default)
                raise
            # From here on Python raises nothing by itself, so that what follows is done as a whole.
            self._outermost = True

    def __exit__(self, *error: object) -> None:
        global _python, stops
        if not self._outermost:
            return
        handler, _python = _python, None
        try:
            # Python may answer a second Ctrl-C as soon as the call is over.
            _set_handler(_SIGINT, handler)
        finally:
            if word.value:
                stops += 1
                word.value = 0
                raise KeyboardInterrupt


@contextlib.contextmanager
def in_python() -> Iterator[None]:
    """Context manager, for what may take long inside an `interruptible` block and is no kernel: SIGINT is Python's.

    Raises
    ------
    KeyboardInterrupt
        As always in Python, and also when there was a Ctrl-C before.
    """
    global _python
    if _python is None or threading.get_ident() != _main:
        yield
        return
    handler, _python = _python, None
    try:
        _set_handler(_SIGINT, handler)
        if word.value:
            raise KeyboardInterrupt
        yield
    finally:
        _python = handler
        _set_handler(_SIGINT, stop_on_signal())


def _after_fork() -> None:
    global _main
    if _main is not None:
        _main = threading.main_thread().ident


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
