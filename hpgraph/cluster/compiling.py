"""Kernels are compiled by one process of a machine; the others find what it has put into the cache."""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Iterator

from hpgraph.core import cache_folder
from hpgraph.core.config import config

# What this process has run already, and so need not wait for.
_run: set[tuple[str, str]] = set()
# A process that is stopped while it compiles must not stop the others: after so long they compile as well.
_SECONDS = 120.0
_GLANCE = 0.02


@contextlib.contextmanager
def compiling_once(program: str, kernel: str) -> Iterator[None]:
    """For the first call of a kernel for a program in a process.

    None other on this machine makes its first meanwhile.
    """
    if (program, kernel) in _run:
        yield
        return
    folder = cache_folder.subfolder(config.cache_dir, "compiling")
    with (folder / f"{program[:2]}-{kernel}.lock").open("a") as file:
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_GLANCE)
        yield
    _run.add((program, kernel))
