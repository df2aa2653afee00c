"""The threads of the parallel CPU kernels: the threading library, their number, and concurrent calls.

Numba offers three threading layers. TBB takes calls from several threads at once and survives a fork, so it goes
first; but Numba asks the dynamic linker for ``libtbb.so.12`` and the linker does not look where pip puts it, hence
`prepare`. OpenMP takes calls from several threads, but GNU's dies in a forked child. The last, workqueue, is always
there and aborts the process when two threads meet in it, so such calls queue up here.

Every call of a parallel kernel goes through `team`:

>>> with team() as threads:
...     threads >= 1
True
"""

import contextlib
import ctypes
import functools
import importlib.metadata
import os
import sys
import threading
import time
from pathlib import Path

import numba

from hpgraph.core.config import config
from hpgraph.core.errors import DeviceError
from hpgraph.core.patches import replace_parallel_for
from hpgraph.core.platform import at_fork, openmp_ends_in_child, tbb_library
from hpgraph.kernels.runtime.cpu.interruption import in_python, interruptible
from hpgraph.kernels.runtime.cpu.machine_code import alone, run_in_parallel
from hpgraph.semiring.stop import WHY, run

_queue = threading.RLock()
_forked_under: str | None = None


def _packaged_tbb() -> Path | None:
    """Where the installed distribution ``tbb`` keeps its shared library, if it is installed."""
    try:
        files = importlib.metadata.files("tbb") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == tbb_library():
            return Path(str(file.locate())).resolve()
    return None


@functools.cache
def prepare() -> None:
    """Load TBB's library so that Numba finds it; to be called before Numba compiles or loads a parallel kernel.

    Does nothing where the library is missing (Numba then takes its next layer) or where the user chose another layer
    by NUMBA_THREADING_LAYER. A library once loaded answers to its name, wherever it came from.
    """
    if os.environ.get("NUMBA_THREADING_LAYER", "default").lower() in ("omp", "workqueue"):
        return
    library = _packaged_tbb()
    if library is not None:
        # One that cannot be loaded leaves Numba to look for the system's.
        with contextlib.suppress(OSError):
            ctypes.CDLL(str(library))


def layer() -> str:
    """The threading layer in use; starts it if need be."""
    prepare()
    import numba

    numba.get_num_threads()
    return str(numba.threading_layer())


@functools.cache
def _layer() -> str:
    name = layer()
    replace_parallel_for(run_in_parallel)
    at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
    return name


# Threads that are inside a team, that ever were, and that are about to fork.
_under_way: set[int] = set()
_known: set[int] = set()
_forks: list[int] = []
# A fork waits so many seconds for the kernels of other threads.
_FORK_SECONDS = 1.0


def _before_fork() -> None:
    """Wait for the kernels and compilations of other threads: locks they hold would never be released in the child."""
    from numba.core.compiler_lock import global_compiler_lock

    me = threading.get_ident()
    _forks.append(me)
    # The library has no state of threads that have ended.
    _known.intersection_update(sys._current_frames())
    global_compiler_lock.acquire()
    deadline = time.monotonic() + _FORK_SECONDS
    while _under_way - {me} and time.monotonic() < deadline:
        time.sleep(_GLANCE)


def _after_fork() -> None:
    from numba.core.compiler_lock import global_compiler_lock

    global_compiler_lock.release()
    _forks.remove(threading.get_ident())


def _after_fork_in_child() -> None:
    global _queue, _forked_under
    me = threading.get_ident()
    # The parent's lock may have been held by a thread that the child does not have.
    _queue = threading.RLock()
    _forked_under = _layer()
    # The library ends its threads before a fork, but not while another of our threads is known to it, and then its own
    # locks may be held for ever in the child.
    if _known - {me}:
        alone.value = 1
    _under_way.intersection_update({me})
    _known.intersection_update({me})
    _after_fork()
    _forks.clear()
    run.go_on()


_GLANCE = 0.0005


def _wait_for_forks(me: int) -> None:
    while _forks and me not in _forks:
        _under_way.discard(me)
        time.sleep(_GLANCE)
        _under_way.add(me)


def rest() -> bool:
    """To be called between two kernels of one long run: lets a fork of another thread proceed."""
    if _forks:
        _wait_for_forks(threading.get_ident())
    return not run.memory[WHY]


class team:
    """Context manager: threads for parallel kernels called inside the block, as many as `hpgraph.config` says.

    Its value is their number, an int; never more than Numba launched (NUMBA_NUM_THREADS, by default the cores). In a
    child forked while another thread of its parent had used kernels it is 1, as the threading library is not to be
    trusted there.
    """

    __slots__ = ("_before", "_interruptible", "_outermost", "_queue", "_thread", "_threads")

    def __enter__(self) -> int:
        name = _layer()
        if _forked_under == "omp" and openmp_ends_in_child():
            raise DeviceError(
                "parallel kernels cannot run in a process forked after OpenMP started: use the spawn start method of "
                "multiprocessing, or install tbb (pip install tbb), whose threads survive a fork"
            )
        threads = 1 if alone.value else min(config.threads, int(numba.config.NUMBA_NUM_THREADS))
        # Before what must be undone: waiting for another thread's run, however long, ends by Ctrl-C.
        self._queue = _queue if name == "workqueue" else None
        if self._queue is not None and not self._queue.acquire(blocking=False):
            with in_python():
                self._queue.acquire()
        self._interruptible = interruptible()
        self._interruptible.__enter__()
        self._thread = threading.get_ident()
        self._outermost = self._thread not in _under_way
        if self._outermost:
            _under_way.add(self._thread)
            _known.add(self._thread)
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
            _under_way.discard(self._thread)
        self._interruptible.__exit__()
