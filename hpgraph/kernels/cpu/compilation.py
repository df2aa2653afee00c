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
from typing import Any

from hpgraph.config import config
from hpgraph.kernels.cpu.threads import prepare

# Code that no process has asked for in so many days belongs to versions that are gone.
KEPT_DAYS = 30


@functools.cache
def set_up() -> None:
    """Prepare Numba for the kernels of this package; to be called before any of them is defined.

    Compiled code goes to ``config.cache_dir`` (unless NUMBA_CACHE_DIR says otherwise), so that a read-only
    installation has a cache too, and the threading library is made ready.

    Notes
    -----
    Numba notices that the file of a kernel has changed, by its time stamp, but not that another file has from which
    code is inlined into the kernel. So the cache has a folder for each version of all the sources.
    """
    prepare()
    import numba
    from numba.core import event

    if not os.environ.get("NUMBA_CACHE_DIR"):
        numba.config.CACHE_DIR = os.fspath(_folder(config.cache_dir / "numba"))

    class Notice(event.Listener):
        def on_start(self, started: Any) -> None:
            # Numba announces a compilation only after it has looked in its cache in vain.
            function = getattr(started.data.get("dispatcher"), "py_func", None)
            if (getattr(function, "__module__", None) or "").startswith("hpgraph.kernels"):
                config.announce("kernels for the CPU")

        def on_end(self, ended: Any) -> None:
            pass

    event.register("numba:compile", Notice())


def _folder(parent: Path) -> Path:
    """Where code compiled from these very sources by these very compilers is kept; what is long unused goes."""
    folder = parent / _version(_sources())
    # A cache that cannot be tidied is still a cache.
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for other in parent.iterdir():
            if time.time() - other.stat().st_mtime > KEPT_DAYS * 86_400:
                shutil.rmtree(other, ignore_errors=True)
    return folder


def _sources() -> list[Path]:
    """The files whose code is inlined into kernels."""
    import hpgraph.kernels
    import hpgraph.semiring

    kernels, semiring = (Path(str(package.__file__)).parent for package in (hpgraph.kernels, hpgraph.semiring))
    return sorted([*kernels.glob("*.py"), *(kernels / "cpu").glob("*.py"), *semiring.glob("*.py")])


def _version(sources: list[Path]) -> str:
    """Fingerprint of these sources and of what compiles them."""
    compilers = (sys.version, *(version(name) for name in ("numba", "llvmlite", "numpy")))
    digest = hashlib.sha256(repr(compilers).encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
