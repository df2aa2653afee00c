"""The threads under the parallel CPU kernels: which library runs them, how many, and who may call at once.

Numba offers three threading layers. TBB takes calls from several threads at once and survives a fork, so it goes
first; but Numba asks the dynamic linker for ``libtbb.so.12`` and the linker does not look where pip puts it, hence
`prepare`. OpenMP takes calls from several threads, but GNU's dies in a forked child. The last, workqueue, is always
there and aborts the process when two threads meet in it, so such calls queue up here.

Every call of a parallel kernel goes through `team`:

>>> with team() as threads:
...     threads >= 1
True
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.metadata
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from hpgraph.config import config
from hpgraph.errors import DeviceError

_LIBRARY = {"win32": "tbb12.dll", "darwin": "libtbb.12.dylib"}.get(sys.platform, "libtbb.so.12")

_queue = threading.RLock()
_forked_under: str | None = None


def _packaged_tbb() -> Path | None:
    """Where the installed distribution ``tbb`` keeps its shared library, if it is installed."""
    try:
        files = importlib.metadata.files("tbb") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == _LIBRARY:
            return Path(str(file.locate())).resolve()
    return None


@functools.cache
def prepare() -> None:
    """Load TBB's library so that Numba finds it; to be called before Numba compiles or loads a parallel kernel.

    Notes
    -----
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
    """The threading layer in use; starts it if need be.

    Returns
    -------
    {"tbb", "omp", "workqueue"}
    """
    prepare()
    import numba

    numba.get_num_threads()
    return str(numba.threading_layer())


@functools.cache
def _layer() -> str:
    name = layer()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_fork)
    return name


def _after_fork() -> None:
    global _queue, _forked_under
    # The parent's lock may have been held by a thread that the child does not have.
    _queue = threading.RLock()
    _forked_under = _layer()


@contextlib.contextmanager
def team() -> Iterator[int]:
    """Threads for parallel kernels called inside the block, as many as `hpgraph.config` says.

    Yields
    ------
    int
        How many threads; never more than Numba launched (NUMBA_NUM_THREADS, by default the cores).

    Raises
    ------
    DeviceError
        In a child forked from a process in which GNU OpenMP already ran kernels: the next one would kill the child.
    """
    import numba

    name = _layer()
    if _forked_under == "omp" and sys.platform == "linux":
        raise DeviceError(
            "parallel kernels cannot run in a process forked after OpenMP started: use the spawn start method of "
            "multiprocessing, or install tbb (pip install tbb), whose threads survive a fork"
        )
    before = numba.get_num_threads()
    threads = min(config.threads, int(numba.config.NUMBA_NUM_THREADS))
    with _queue if name == "workqueue" else contextlib.nullcontext():
        numba.set_num_threads(threads)
        try:
            yield threads
        finally:
            numba.set_num_threads(before)
