"""One process of a machine compiles a kernel; the others load it from the cache."""

import contextlib
import time
from collections.abc import Iterator

from hpgraph.core import cache_folder
from hpgraph.core.config import config
from hpgraph.core.platform import try_lock

# Kernels that this process has called already.
_run: set[tuple[str, str]] = set()
# If a process is stopped while it compiles, the others compile too after this time, in seconds.
_SECONDS = 120.0
_POLL_INTERVAL = 0.02


@contextlib.contextmanager
def compiling_once(program: str, kernel: str) -> Iterator[None]:
    """Hold the machine's lock during a process's first call of a kernel for a program, so that others wait."""
    if (program, kernel) in _run:
        yield
        return
    folder = cache_folder.subfolder(config.cache_dir, "compiling")
    with (folder / f"{program[:2]}-{kernel}.lock").open("a") as file:
        deadline = time.monotonic() + _SECONDS
        while not try_lock(file.fileno()) and time.monotonic() < deadline:
            time.sleep(_POLL_INTERVAL)
        yield
    _run.add((program, kernel))
