"""Calls of compiled kernels: threads, forks meanwhile, and Ctrl-C.

Every call of a parallel kernel goes through `team`:

>>> with team() as threads:
...     threads >= 1
True

Computing ends within a piece of work by `KeyboardInterrupt`. Python answers a signal between two of its own
instructions, so not before a compiled call is over. Inside an `interruptible` block SIGINT goes to a handler in machine
code instead, which sets the word that the kernels of the main thread look at (`hpgraph.semiring.stop`). They stop at
any point, and the block raises before their incomplete results can be used. Kernels of other threads continue.

Only the main thread is interrupted, as always in Python, and only while SIGINT has Python's own handler: another
handler, such as asyncio's, may not raise, and is called after the kernel. On the GPU the host waits for the kernel, and
SIGINT is handled when it is done.
"""

import _signal  # type: ignore[import-not-found]
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator

import numba
from numba.core.compiler_lock import global_compiler_lock

from hpgraph.core import whole_imports
from hpgraph.core.config import config
from hpgraph.core.errors import DeviceError
from hpgraph.core.patches import replace_parallel_for
from hpgraph.core.platform import at_fork, is_thread, openmp_ends_in_child, signal_setter
from hpgraph.kernels.runtime.cpu.machine_code import alone, interrupted, run_in_parallel, stop_on_signal
from hpgraph.kernels.runtime.cpu.threading_layer import layer
from hpgraph.semiring.jit import exception_of
from hpgraph.semiring.stop import EXCEPTION, INSIDE, INTERRUPTED, WHY, run

_set_handler = signal_setter()
_SIGINT = int(signal.SIGINT)
_default = signal.default_int_handler

# Under NUMBA_DISABLE_JIT kernels are Python, which is interrupted anywhere; without a setter Ctrl-C waits for the call.
_main = None if numba.config.DISABLE_JIT or _set_handler is None else threading.main_thread().ident
# Python's own handler of SIGINT, a C function, while ours is in its place.
_python: int | None = None
whole_imports.elsewhere = lambda: _python is not None


class interruptible:
    """Context manager that raises the reason if kernels called in the block are stopped.

    That is an exception in one of their functions; and Ctrl-C, except inside another such block, in any thread but the
    main one, and if SIGINT is not Python's.
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
                # Ctrl-C just before: Python handles it after the call, and our handler must be removed.
                signal.signal(_SIGINT, _default)
                raise
            # From here on Python raises no KeyboardInterrupt, so the following is atomic.
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
        # Other reasons are raised when the block of the run is left.
        if memory[WHY] == INTERRUPTED:
            _raise()
        # A nested run is separate, with its own block.
        memory[INSIDE] = 0
        yield
    finally:
        memory[INSIDE] = 1
        _python = handler
        interrupted.value = run.address
        _set_handler(_SIGINT, stop_on_signal())


def _main_after_fork() -> None:
    global _main
    if _main is not None:
        _main = threading.main_thread().ident


at_fork(after_in_child=_main_after_fork)


_queue = threading.RLock()
# The threading layer, once it is started, the thread that did, and in a child what its parent had started.
_started: str | None = None
_starter = 0
_forked_under: str | None = None


def _layer() -> str:
    global _started, _starter
    if _started is None:
        # Only once if several threads make their first calls concurrently; and a fork waits for it.
        with global_compiler_lock:
            if _started is None:
                name = layer()
                replace_parallel_for(run_in_parallel)
                _started, _starter = name, threading.get_ident()
    return _started


# Threads inside a team, threads that ever were, with the system's ids, and threads about to fork.
_active_threads: set[int] = set()
_known: dict[int, int] = {}
_forks: list[int] = []
# A fork waits up to this many seconds for the kernels of other threads.
_FORK_SECONDS = 1.0


def _before_fork() -> None:
    """Wait for the kernels and compilations of other threads: locks they hold would never be released in the child."""
    me = threading.get_ident()
    _forks.append(me)
    global_compiler_lock.acquire()
    deadline = time.monotonic() + _FORK_SECONDS
    while (_active_threads - {me} or _are_ending()) and time.monotonic() < deadline:
        time.sleep(_POLL_INTERVAL)


def _are_ending() -> bool:
    """Whether threads that have ended for Python have not for the system; others that ended are forgotten.

    The library drops its state of a thread as the thread ends, after `Thread.join` may have returned.
    """
    ended = _known.keys() - sys._current_frames().keys()
    for thread in ended:
        if not is_thread(_known.get(thread, 0)):
            _known.pop(thread, None)
    return bool(ended & _known.keys())


def _after_fork() -> None:
    me = threading.get_ident()
    # Not where this module was imported while the fork had begun.
    if me in _forks:
        _forks.remove(me)
        global_compiler_lock.release()


def _after_fork_in_child() -> None:
    global _queue, _forked_under
    me = threading.get_ident()
    # The parent's lock may have been held by a thread that the child does not have.
    _queue = threading.RLock()
    _forked_under = _started
    # The library ends its threads before a fork by the thread that started it, but not while it knows another of our
    # threads; otherwise its own locks may stay locked in the child.
    if _known.keys() - {me} or (_started and _starter != me):
        alone.value = 1
    _active_threads.intersection_update({me})
    for thread in _known.keys() - {me}:
        del _known[thread]
    _after_fork()
    _forks.clear()
    run.go_on()


at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
_POLL_INTERVAL = 0.0005


def _wait_for_forks(me: int) -> None:
    while _forks and me not in _forks:
        _active_threads.discard(me)
        time.sleep(_POLL_INTERVAL)
        _active_threads.add(me)


def rest() -> bool:
    """Yield to a pending fork of another thread; called between two kernels of a long run."""
    if _forks:
        _wait_for_forks(threading.get_ident())
    return not run.memory[WHY]


def single() -> interruptible:
    """In place of a `team`, for kernels without `prange` whose work has one worker: Numba's threads are left alone."""
    # Compiled code refers to the library in any case.
    _layer()
    return interruptible()


class team:
    """Context manager: threads for parallel kernels called inside the block, as many as set in `hpgraph.config`.

    With `alone` only one. Its value is their number, an int; never more than Numba launched (NUMBA_NUM_THREADS, by
    default the cores). In a child forked while another thread of its parent had used kernels, or by another thread than
    the first that did, it is 1, as the threading library is not safe there.
    """

    __slots__ = ("_alone", "_before", "_interruptible", "_outermost", "_queue", "_thread", "_threads")

    def __init__(self, alone: bool = False) -> None:
        self._alone = alone

    def __enter__(self) -> int:
        name = _layer()
        if _forked_under == "omp" and openmp_ends_in_child():
            raise DeviceError(
                "parallel kernels cannot run in a process forked after OpenMP started: use the spawn start method of "
                "multiprocessing, or install tbb (pip install tbb), whose threads survive a fork"
            )
        threads = 1 if self._alone or alone.value else min(config.threads, int(numba.config.NUMBA_NUM_THREADS))
        # Before what must be undone: waiting for another thread's run, however long, ends by Ctrl-C.
        self._queue = _queue if name == "workqueue" else None
        if self._queue is not None and not self._queue.acquire(blocking=False):
            with in_python():
                self._queue.acquire()
        self._interruptible = interruptible()
        self._interruptible.__enter__()
        self._thread = threading.get_ident()
        self._outermost = self._thread not in _active_threads
        if self._outermost:
            _active_threads.add(self._thread)
            _known[self._thread] = threading.get_native_id()
            if _forks:
                _wait_for_forks(self._thread)
        self._before = numba.get_num_threads()
        self._threads = threads
        if threads != self._before:
            numba.set_num_threads(threads)
        return threads

    def __exit__(self, *error: object) -> None:
        if self._threads != self._before:
            numba.set_num_threads(self._before)
        if self._queue is not None:
            self._queue.release()
        if self._outermost:
            _active_threads.discard(self._thread)
        self._interruptible.__exit__()
