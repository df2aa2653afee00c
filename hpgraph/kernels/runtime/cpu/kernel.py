"""`njit` for the kernels of this package: what ``cache=True`` keeps on disk is read back only if it is ours and whole.

Numba unpickles whatever lies in its cache folder and raises on a file that was cut short. Here a file passes
`hpgraph.core.cache_folder` first; one that does not is compiled anew and overwritten.
"""

from __future__ import annotations

import hashlib
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.extending import is_jitted

from hpgraph.core import cache_folder
from hpgraph.core.patches import applies, libraries, quick_lookups
from hpgraph.kernels.runtime.cpu import compilation
from hpgraph.kernels.runtime.cpu.passes import PartCompiler
from hpgraph.semiring.code_library import InnerLibrary, KernelLibrary


def njit(
    function: Callable[..., Any] | None = None, *, cache: bool = False, counts_references: bool = True, **options: Any
) -> Any:
    """`numba.njit`, but for where and how ``cache=True`` keeps the code; a decorator, with or without options."""
    if function is None:
        return lambda function: njit(function, cache=cache, counts_references=counts_references, **options)
    if not counts_references:
        options["_nrt"] = False
    if not cache:
        # Up to half of the time to compile a small function goes into ways to call it from Python and from C.
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}
    else:
        options |= {"no_cfunc_wrapper": True, "pipeline_class": KernelCompiler}
    dispatcher = numba.njit(function, **options)
    # Under NUMBA_DISABLE_JIT it is the function itself.
    if is_jitted(dispatcher):
        if cache:
            dispatcher._cache = KernelCache(function)
        else:
            dispatcher.__class__ = InnerKernel
    return dispatcher


class InnerKernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel without an entry for Python, which without this class would run into nothing."""

    def __call__(self, *args: Any) -> Any:
        """Refuse."""
        raise TypeError(f"{self.py_func.__qualname__} is called by other kernels alone; py_func is it in Python")


class KernelCompiler(PartCompiler):
    """Numba's compiler, for what Python calls: what it calls has no machine code of its own."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile for the types that this compiler was made for."""
        codegen = self.state.targetctx.codegen()
        if applies("libraries"):
            self.state.library = KernelLibrary(codegen, func.__qualname__)
            self.state.library.enable_object_caching()
        with libraries(codegen, InnerLibrary), quick_lookups():
            return super().compile_extra(func)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The compiled code of one kernel on disk, a file for each combination of types.

    A file is named by what it was compiled for, and says so: processes that compile at the same time do not meet in an
    index, which would give one's file the other's name.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function
        # Now, so that no kernel of this process looks elsewhere than the others.
        compilation.parent()
        self.enable()

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(compilation.folder(self._py_func.__module__))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for some types, or None."""
        target_context.refresh()
        if not self._enabled:
            return None
        key = self._index_key(sig, target_context.codegen())
        content = cache_folder.read_sealed(self._file(key))
        if content is None:
            return None
        for_key, code = pickle.loads(content)
        if for_key != key:
            return None
        with libraries(target_context.codegen(), JITCodeLibrary):
            return CompileResult._rebuild(target_context, *code)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for some types; a disk that is full costs the next process time and nothing else."""
        if not self._enabled or not _is_lasting(data) or not compilation.is_as_imported(self._py_func.__module__):
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
        """Remove what is kept, for all types."""
        for file in Path(self.cache_path).glob(f"{self._name}-*.code"):
            file.unlink(missing_ok=True)

    def _file(self, key: Any) -> Path:
        # The name is made of printed types; if two print the same, the key in the file distinguishes them.
        return Path(self.cache_path) / f"{self._name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}.code"

    @property
    def _name(self) -> str:
        # With the line: a name may be defined twice, and only one of the two be run.
        function = self._py_func
        return f"{function.__qualname__.replace('<locals>', '')}-{function.__code__.co_firstlineno}"


def _is_lasting(result: Any) -> bool:
    """Whether code means the same in another process: it holds no address of this one."""
    return not result.library.has_dynamic_globals and all(inner.can_cache for inner in result.lifted)
