"""Compiled code on disk, and the notice of a compilation.

Numba unpickles any file in its cache folder and raises on a truncated one. Here a file passes
`hpgraph.core.cache_folder` first; one that does not is compiled anew and overwritten.
"""

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

import hpgraph.kernels.runtime.cpu.kernel as kernel
from hpgraph.core import cache_folder, work_clock
from hpgraph.core.config import config
from hpgraph.core.locks import uncollected
from hpgraph.core.patches import import_array_functions, libraries
from hpgraph.core.whole_imports import later
from hpgraph.kernels.runtime.cpu.sources import changed_since, import_closure, source
from hpgraph.kernels.runtime.cpu.threading_layer import prepare
from hpgraph.kernels.runtime.cpu.threads import in_python

# Days without use after which a folder of compiled code is removed.
KEPT_DAYS = 30
_BEGINNING = time.time()
_LOG = logging.getLogger("hpgraph.compile")


@functools.cache
def set_up() -> None:
    """Load the threading library and announce compilations; called before the first kernel is defined."""
    prepare()
    import_array_functions()
    kernel.code_cache = KernelCache
    # With logging at DEBUG Numba would log every instruction, which takes ten times as long as the compilation.
    logger = logging.getLogger("numba")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
    from numba.core import event

    class Notice(event.Listener):
        # Events nest, and come from one thread at a time.
        blocks: ClassVar[list[Any]] = []
        announced = False

        def on_start(self, started: Any) -> None:
            # Numba starts this event only after a cache miss.
            function = getattr(started.data.get("dispatcher"), "py_func", None)
            ours = (getattr(function, "__module__", None) or "").startswith("hpgraph.kernels")
            if ours and not self.announced:
                config.announce("kernels for the CPU")
                self.announced = True
            self.blocks.append(contextlib.ExitStack())
            self.blocks[-1].enter_context(_logged(function, first=len(self.blocks) == 1))
            # Compilation does not test for a stop; ended halfway it leaves registries of Numba without use.
            self.blocks[-1].enter_context(in_python())
            self.blocks[-1].enter_context(later())
            # Numba allocates so many objects that cyclic garbage collection takes a tenth of the time.
            self.blocks[-1].enter_context(uncollected())
            self.blocks[-1].enter_context(work_clock.compiling())

        def on_end(self, ended: Any) -> None:
            if self.blocks:
                self.blocks.pop().close()
            self.announced = self.announced and bool(self.blocks)

    event.register("numba:compile", Notice())


@contextlib.contextmanager
def _logged(function: Any, first: bool) -> Iterator[None]:
    """Log the compile time of a kernel, but not of its callees."""
    start = time.perf_counter()
    yield
    if first:
        name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '')}"
        _LOG.debug("compiled %s in %.2f s", name, time.perf_counter() - start)


@functools.cache
def parent() -> Path:
    """Folder of the compiled code of all versions: in ``config.cache_dir``, unless NUMBA_CACHE_DIR overrides it."""
    numbas = os.environ.get("NUMBA_CACHE_DIR")
    chosen = cache_folder.first_usable(Path(numbas), config.cache_dir) if numbas else config.cache_dir
    used = cache_folder.subfolder(chosen, "numba")
    remove_unused(used)
    return used


@functools.cache
def folder(module: str) -> Path:
    """Folder of the compiled code of a module's kernels, one for each version of their sources.

    Numba notices that the file of a kernel has changed, but not another file with code that is inlined into the kernel.
    Here the sources that the module reaches by imports are hashed, and no others: an edit invalidates only kernels that
    it may change.
    """
    used = cache_folder.subfolder(parent(), f"{module.removeprefix('hpgraph.kernels.')}-{version_of(module)}")
    # Failing to remove old folders does no harm.
    with contextlib.suppress(OSError):
        os.utime(used)
    return used


def remove_unused(parent: Path) -> None:
    """Remove the folders of versions that have not been used for a long time."""
    with contextlib.suppress(OSError):
        for version in parent.iterdir():
            if time.time() - version.stat().st_mtime > KEPT_DAYS * 86_400:
                shutil.rmtree(version, ignore_errors=True)


def version_of(module: str) -> str:
    """Fingerprint of everything that determines a module's machine code, except the processor and the types."""
    digest = hashlib.sha256(_toolchain())
    for name in import_closure(module):
        text = source(name)
        digest.update(f"{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()[:16]


@functools.cache
def is_as_imported(module: str) -> bool:
    """Whether a module's sources on disk are unchanged since this process imported them."""
    return not any(changed_since(name, _BEGINNING) for name in import_closure(module))


@functools.cache
def _toolchain() -> bytes:
    """Versions of the compilers, and settings of Numba's that change its output but are not in its own cache key."""
    names = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "DISABLE_INTEL_SVML")
    settings = [(name, str(getattr(numba.config, name, None))) for name in names]
    return repr((sys.version, *(version(name) for name in ("numba", "llvmlite", "numpy")), settings)).encode()


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The compiled code of one kernel on disk, a file for each combination of types.

    The types are in the file's name and in its content: there is no index file, in which processes that compile at the
    same time could exchange names.
    """

    # `form` distinguishes two compilations of one function; `instead`: the cache of the other, a substitute.
    def __init__(self, function: Callable[..., Any], form: str = "", instead: "KernelCache | None" = None) -> None:
        self._py_func, self._form, self._instead = function, form, instead
        # Resolved now, so that all kernels of this process use the same folder.
        parent()
        self.enable()

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(folder(self._py_func.__module__))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for some types, or None."""
        with later():
            target_context.refresh()
        if not self._enabled:
            return None
        key = self._index_key(sig, target_context.codegen())
        content = cache_folder.read_sealed(self._file(key))
        if content is None:
            return None if self._instead is None else self._instead.load_overload(sig, target_context)
        for_key, code = pickle.loads(content)
        if for_key != key:
            return None
        with libraries(target_context.codegen(), JITCodeLibrary):
            return CompileResult._rebuild(target_context, *code)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the code for some types; a full disk only costs the next process time."""
        if not self._enabled or not _is_lasting(data) or not is_as_imported(self._py_func.__module__):
            return
        key = self._index_key(sig, data.codegen)
        try:
            cache_folder.write_sealed(self._file(key), dumps((key, data._reduce())))
        except OSError as error:
            warnings.warn(
                f"compiled code cannot be kept in {self.cache_path}: {error.strerror or error}",
                RuntimeWarning,
                stacklevel=2,
            )

    def flush(self) -> None:
        """Remove the stored code of all types."""
        for file in Path(self.cache_path).glob(f"{self._name}-*.code"):
            file.unlink(missing_ok=True)

    def _file(self, key: Any) -> Path:
        # The name is made of printed types; if two print the same, the key in the file distinguishes them.
        return Path(self.cache_path) / f"{self._name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}.code"

    @property
    def _name(self) -> str:
        # With the line: a name may be defined twice, and only one of the two be run.
        function = self._py_func
        return f"{function.__qualname__.replace('<locals>', '')}{self._form}-{function.__code__.co_firstlineno}"


def _is_lasting(result: Any) -> bool:
    """Whether code is valid in another process: it contains no address of this one."""
    return not result.library.has_dynamic_globals and all(inner.can_cache for inner in result.lifted)
