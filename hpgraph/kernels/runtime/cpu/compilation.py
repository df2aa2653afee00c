"""Where Numba keeps what it compiles, and the one line that says that it compiles."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from hpgraph.core import cache_folder
from hpgraph.core.config import config
from hpgraph.kernels.runtime.cpu.interruption import in_python
from hpgraph.kernels.runtime.cpu.threads import prepare

# Code that no process has asked for in so many days belongs to versions that are gone.
KEPT_DAYS = 30


@functools.cache
def set_up() -> None:
    """Prepare Numba for the kernels of this package; to be called before any of them is defined.

    The threading library is made ready, and a compilation announces itself.
    """
    prepare()
    from numba.core import event

    class Notice(event.Listener):
        # Events nest, and come from one thread at a time.
        blocks: ClassVar[list[Any]] = []

        def on_start(self, started: Any) -> None:
            # Numba announces a compilation only after it has looked in its cache in vain.
            function = getattr(started.data.get("dispatcher"), "py_func", None)
            if (getattr(function, "__module__", None) or "").startswith("hpgraph.kernels"):
                config.announce("kernels for the CPU")
            # Compiling takes long, and is no kernel that stops.
            self.blocks.append(in_python())
            self.blocks[-1].__enter__()

        def on_end(self, ended: Any) -> None:
            if self.blocks:
                self.blocks.pop().__exit__(None, None, None)

    event.register("numba:compile", Notice())


@functools.cache
def folder() -> Path:
    """Where the kernels' compiled code is kept: in ``config.cache_dir``, unless NUMBA_CACHE_DIR says otherwise.

    Returns
    -------
    pathlib.Path
        Of this version.

    Notes
    -----
    Numba notices that the file of a kernel has changed, but not that another file has from which code is inlined into
    the kernel. So the cache has a folder for each version of all the sources.
    """
    numbas = os.environ.get("NUMBA_CACHE_DIR")
    chosen = cache_folder.first_usable(Path(numbas), config.cache_dir) if numbas else config.cache_dir
    return version_folder(cache_folder.subfolder(chosen, "numba"))


def version_folder(parent: Path) -> Path:
    """Where code compiled from these very sources by these very compilers is kept; what is long unused goes.

    Parameters
    ----------
    parent : pathlib.Path
        The folder of all versions.

    Returns
    -------
    pathlib.Path
    """
    used = cache_folder.subfolder(parent, _version(_sources()))
    # A cache that cannot be tidied is still a cache.
    with contextlib.suppress(OSError):
        os.utime(used)
        for other in parent.iterdir():
            if time.time() - other.stat().st_mtime > KEPT_DAYS * 86_400:
                shutil.rmtree(other, ignore_errors=True)
    return used


def _sources() -> list[Path]:
    """The files whose code is inlined into kernels."""
    import hpgraph.kernels
    import hpgraph.semiring

    kernels, semiring = (Path(str(package.__file__)).parent for package in (hpgraph.kernels, hpgraph.semiring))
    return sorted([*kernels.rglob("*.py"), *semiring.glob("*.py")])


def _version(sources: list[Path]) -> str:
    """Fingerprint of these sources and of what compiles them."""
    compilers = (sys.version, *(version(name) for name in ("numba", "llvmlite", "numpy")))
    digest = hashlib.sha256(repr(compilers).encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
