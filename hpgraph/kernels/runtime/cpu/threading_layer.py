"""The threading library of the parallel CPU kernels.

Numba offers three threading layers. TBB takes calls from several threads at once and survives a fork, so it is tried
first; but Numba asks the dynamic linker for ``libtbb.so.12``, and the linker does not search pip's folder, hence
`prepare`. OpenMP takes calls from several threads, but GNU's fails in a forked child. The last, workqueue, is always
available and aborts the process if two threads enter it, so such calls are queued in
`hpgraph.kernels.runtime.cpu.threads`.
"""

import contextlib
import ctypes
import functools
import importlib.metadata
import os
from pathlib import Path

import numba

from hpgraph.core.platform import tbb_library


def _packaged_tbb() -> Path | None:
    """Path of the shared library of the distribution ``tbb``, if it is installed."""
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

    Does nothing if the library is missing (Numba then takes its next layer) or if the user chose another layer by
    NUMBA_THREADING_LAYER. A loaded library is found by its name, wherever it was loaded from.
    """
    if os.environ.get("NUMBA_THREADING_LAYER", "default").lower() in ("omp", "workqueue"):
        return
    library = _packaged_tbb()
    if library is not None:
        # If it cannot be loaded, Numba looks for the system's.
        with contextlib.suppress(OSError):
            ctypes.CDLL(str(library))


def layer() -> str:
    """The threading layer in use; starts it if need be."""
    prepare()
    numba.get_num_threads()
    return str(numba.threading_layer())
