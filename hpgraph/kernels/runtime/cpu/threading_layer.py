"""The threading library of the parallel CPU kernels.

Numba offers three threading layers. TBB takes calls from several threads at once and survives a fork, so it goes
first; but Numba asks the dynamic linker for ``libtbb.so.12`` and the linker does not look where pip puts it, hence
`prepare`. OpenMP takes calls from several threads, but GNU's dies in a forked child. The last, workqueue, is always
there and aborts the process when two threads meet in it, so such calls queue up in
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
    numba.get_num_threads()
    return str(numba.threading_layer())
