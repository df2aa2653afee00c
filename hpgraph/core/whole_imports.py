"""Imports, and what else Ctrl-C must not end halfway: it waits until they are done.

Python takes back the modules that an interrupted import leaves unfinished, and not those that have finished meanwhile
and hold parts of these. Packages whose modules import each other, as Numba's do, then fail at each later import in the
process: "module 'numba' has no attribute 'core'".

Imported with ``import hpgraph`` itself, so that the first import of Numba is whole wherever it happens.
"""

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_PACKAGES = frozenset({"hpgraph", "numba", "llvmlite", "scipy", "cupy", "cupyx"})

# Whether SIGINT is not Python's just now, so that it ends no import: `hpgraph.kernels.runtime.cpu.threads` says.
elsewhere: Callable[[], bool] = bool


class _Finder:
    """First of the finders: what the others find of these packages is loaded whole, with all that it imports."""

    inside = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if self.inside or name.partition(".")[0] not in _PACKAGES or not _is_pythons():
            return None
        others = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec: Any = next((found for found in others if found is not None), None)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader:
    """A loader in whose place Ctrl-C waits."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> Any:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self.loader
        with later():
            self.loader.exec_module(module)


def _is_pythons() -> bool:
    """Whether Python's handler would answer a SIGINT in this thread."""
    return threading.current_thread() is threading.main_thread() and not elsewhere()


@contextlib.contextmanager
def later() -> Iterator[None]:
    """Context manager of what Ctrl-C must not end halfway: in the main thread it takes effect after the block."""
    handler, received = signal.getsignal(signal.SIGINT), []
    if not callable(handler) or not _is_pythons():
        yield
        return

    def keep(*signal_and_frame: Any) -> None:
        received.append(signal_and_frame)

    before = _FINDER.inside
    signal.signal(signal.SIGINT, keep)
    try:
        _FINDER.inside = True
        yield
    finally:
        _FINDER.inside = before
        if signal.getsignal(signal.SIGINT) is keep:
            signal.signal(signal.SIGINT, handler)
        if received:
            handler(*received[0])


_FINDER = _Finder()
sys.meta_path.insert(0, _FINDER)
