"""Ctrl-C during a kernel: a compiled call of minutes ends within a piece of work, by `KeyboardInterrupt`.

Python answers a signal between two of its own instructions, so not before a compiled call is over. Inside an
`interruptible` block SIGINT goes to a handler in machine code instead, which sets the word that the kernels of the main
thread look at (`hpgraph.semiring.stop`). They stop at any point, and the block raises before their incomplete results
can be used. Kernels of other threads continue.

Only the main thread is interrupted, as always in Python, and only while SIGINT has Python's own handler: another
handler, such as asyncio's, may not raise, and is called after the kernel. On the GPU the host waits for the kernel, and
SIGINT is handled when it is done.
"""

import _signal  # type: ignore[import-not-found]
import contextlib
import signal
import threading
from collections.abc import Iterator

import numba

from hpgraph.core.platform import at_fork, signal_setter
from hpgraph.kernels.runtime.cpu.machine_code import interrupted, stop_on_signal
from hpgraph.semiring.jit import exception_of
from hpgraph.semiring.stop import EXCEPTION, INSIDE, INTERRUPTED, WHY, run

_set_handler = signal_setter()
_SIGINT = int(signal.SIGINT)
_default = signal.default_int_handler

# Under NUMBA_DISABLE_JIT kernels are Python, which is interrupted anywhere; without a setter Ctrl-C waits for the call.
_main = None if numba.config.DISABLE_JIT or _set_handler is None else threading.main_thread().ident
# Python's own handler of SIGINT, a C function, while ours is in its place.
_python: int | None = None


class interruptible:
    """Context manager: what stops the kernels called inside the block is raised by it.

    That is an exception in a function that they were given; and Ctrl-C, but inside another such block, in any thread
    but the main one, and where SIGINT is not Python's.
    """

    __slots__ = ("_has_handler", "_memory", "_outermost")

    def __enter__(self) -> None:
        global _python
        self._memory = memory = run.memory
        self._outermost = not memory[INSIDE]
        if not self._outermost:
            return
        self._has_handler = False
        if _python is None and threading.get_ident() == _main and _signal.getsignal(_SIGINT) is _default:
            interrupted.value = run.address
            try:
                _python = _set_handler(_SIGINT, stop_on_signal())
            except KeyboardInterrupt:
                # A Ctrl-C of just before: Python answers it when the call is over, and ours must not stay.
                signal.signal(_SIGINT, _default)
                raise
            # From here on Python raises nothing by itself, so that what follows is done as a whole.
            self._has_handler = True
        memory[INSIDE] = 1

    def __exit__(self, *error: object) -> None:
        global _python
        memory = self._memory
        try:
            if self._outermost:
                memory[INSIDE] = 0
                if self._has_handler:
                    handler, _python = _python, None
                    # Python may answer a second Ctrl-C as soon as the call is over.
                    _set_handler(_SIGINT, handler)
        finally:
            if memory[WHY]:
                _raise()


def _raise() -> None:
    """Raise the exception that stopped the run, and clear the stop."""
    why, described = run.memory[WHY], run.memory[EXCEPTION]
    run.go_on()
    if why == INTERRUPTED:
        raise KeyboardInterrupt from None
    raise exception_of(why, described) from None


@contextlib.contextmanager
def in_python() -> Iterator[None]:
    """Context manager, for what may take long inside an `interruptible` block and is no kernel: SIGINT is Python's."""
    global _python
    memory = run.memory
    if _python is None or threading.get_ident() != _main:
        yield
        return
    handler, _python = _python, None
    try:
        _set_handler(_SIGINT, handler)
        # What else stops the run is raised when its block is left.
        if memory[WHY] == INTERRUPTED:
            _raise()
        # A run inside is another one, with a block of its own.
        memory[INSIDE] = 0
        yield
    finally:
        memory[INSIDE] = 1
        _python = handler
        interrupted.value = run.address
        _set_handler(_SIGINT, stop_on_signal())


def _after_fork() -> None:
    global _main
    if _main is not None:
        _main = threading.main_thread().ident


at_fork(after_in_child=_after_fork)
