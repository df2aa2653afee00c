"""Imports and other work that Ctrl-C must not interrupt: it takes effect afterwards.

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
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_PACKAGES = frozenset({
    "hpgraph", "numba", "llvmlite", "scipy", "cupy", "cupyx", "tqdm", "pandas", "networkx", "fsspec", "matplotlib",
    "dask", "distributed",
})  # fmt: skip

# Whether SIGINT is not Python's just now, so that it ends no import: `hpgraph.kernels.runtime.cpu.threads` says.
elsewhere: Callable[[], bool] = bool


class _Finder:
    """The first finder: modules of these packages are loaded without interruption, with all their imports."""

    inside = False

    def __init__(self) -> None:
        #: Whole modules that Python took back, as Ctrl-C took effect right after they were loaded.
        self.kept: dict[str, ModuleType] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if (module := self.kept.pop(name, None)) is not None:
            return ModuleSpec(name, _Again(module), is_package=hasattr(module, "__path__"))
        if self.inside or name.partition(".")[0] not in _PACKAGES or not _is_pythons():
            return None
        others = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec: Any = next((result for result in others if result is not None), None)
        loader: Any = getattr(spec, "loader", None)
        attributes = getattr(loader, "__dict__", None)
        # A loader of an archive loads many modules, but is wrapped once.
        if attributes is not None and hasattr(loader, "exec_module") and "exec_module" not in attributes:
            loader.exec_module = _whole(loader.exec_module)
        return spec


def _whole(load: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    """``exec_module`` of a loader, such that Ctrl-C waits for it."""

    def exec_module(module: ModuleType) -> None:
        whole = False
        try:
            with later():
                load(module)
                whole = True
        except BaseException:
            if whole:
                _FINDER.kept[module.__name__] = module
            raise

    return exec_module


class _Again(Loader):
    """Loader of a module that is whole: its submodules hold parts of this object, not of a second one."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


def _is_pythons() -> bool:
    """Whether Python's handler would answer a SIGINT in this thread."""
    return threading.current_thread() is threading.main_thread() and not elsewhere()


@contextlib.contextmanager
def later() -> Iterator[None]:
    """Context manager that defers Ctrl-C in the main thread to the end of the block."""
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
