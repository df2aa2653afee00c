"""The vocabulary of CPU kernels: compilers, parallel loops, array accesses, threads and stops."""

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import prange as prange
from numba.core.cpu_options import ParallelOptions
from numba.core.registry import CPUDispatcher
from numba.extending import is_jitted

from hpgraph.core.patches import applies, libraries, quick_analyses, quick_lookups
from hpgraph.kernels.runtime.cpu.part import PartCompiler
from hpgraph.kernels.runtime.cpu.part import part as part
from hpgraph.kernels.runtime.cpu.prefetch import copy_items as copy_items
from hpgraph.kernels.runtime.cpu.prefetch import peek as peek
from hpgraph.kernels.runtime.cpu.prefetch import prefetch as prefetch
from hpgraph.kernels.runtime.cpu.prefetch import put as put
from hpgraph.kernels.runtime.cpu.prefetch import vertex as vertex
from hpgraph.kernels.runtime.cpu.tasks import tasks as tasks
from hpgraph.kernels.runtime.cpu.threads import in_python as in_python
from hpgraph.kernels.runtime.cpu.threads import interruptible as interruptible
from hpgraph.kernels.runtime.cpu.threads import team as team
from hpgraph.semiring.code_library import InnerLibrary, KernelLibrary
from hpgraph.semiring.stop import is_stopped as is_stopped

# Options for Numba's ``parallel=``: only `prange` loops become parallel, no array expression does, no loop joins the
# next. No dict: Numba takes the options out of a dict that it is given, and the next kernel would find none.
LOOPS = ParallelOptions({
    "comprehension": False, "fusion": False, "inplace_binop": False, "numpy": False, "prange": True, "reduction": False,
    "setitem": False, "stencil": False,
})  # fmt: skip
# Number of entries and rows, or operations, below which waking other threads does not pay.
SERIAL = 32768
# Disk cache of a function's code: set by `hpgraph.kernels.runtime.cpu.compilation` before its first use, so that an
# edit of the cache invalidates no code.
code_cache: Any = None


def njit(
    function: Callable[..., Any] | None = None, *, cache: bool = False, counts_references: bool = True,
    heavy: bool = False, **options: Any,
) -> Any:  # fmt: skip
    """`numba.njit`, but for where and how ``cache=True`` keeps the code; a decorator, with or without options.

    ``heavy``: parallel loops take more than some operations an entry, and run in parallel over few entries, too; or
    a first call of a large graph goes on with ever smaller ones, and one form does for all. The caller may know that
    there is little to do, and call the kernel's `alone`.
    """
    if function is None:
        return lambda function: njit(function, cache=cache, counts_references=counts_references, heavy=heavy, **options)
    parallel = "parallel" in options
    if not counts_references:
        options["_nrt"] = False
    if not cache:
        # Entry points for Python and C take up to half of the compile time of a small function.
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}
    else:
        options |= {"no_cfunc_wrapper": True, "pipeline_class": KernelCompiler}
    dispatcher = numba.njit(function, **options)
    # Under NUMBA_DISABLE_JIT it is the function itself.
    if is_jitted(dispatcher):
        if cache:
            dispatcher._cache = code_cache(function)
            if parallel:
                dispatcher.__class__, dispatcher.heavy = ParallelKernel, heavy
        else:
            dispatcher.__class__ = InnerKernel
    elif parallel:
        dispatcher.alone = dispatcher
    return dispatcher


class ParallelKernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel with parallel loops, which is compiled without them for few entries: in a third of the time."""

    heavy = False
    # Number of entries up to which a call uses `alone`.
    serial = SERIAL

    def __call__(self, *args: Any) -> Any:
        """Run it."""
        few = not self.heavy and _entries(args) <= self.serial
        return self.few(*args) if few else super().__call__(*args)

    @functools.cached_property
    def alone(self) -> Any:
        """The kernel on one thread, which needs no threading library either."""
        return self._without_loops()

    @functools.cached_property
    def few(self) -> Any:
        """`alone`, or the kernel itself if only that has been compiled ahead."""
        return self._without_loops(self._cache)

    def _without_loops(self, *instead: Any) -> Any:
        options = {name: value for name, value in self.targetoptions.items() if name not in ("nopython", "parallel")}
        dispatcher = numba.njit(self.py_func, pipeline_class=KernelCompiler, **options)
        dispatcher._cache = code_cache(self.py_func, "alone", *instead)
        return dispatcher


def _entries(args: tuple[Any, ...]) -> int:
    """Entries of all arrays among arguments."""
    count = 0
    for each in args:
        if isinstance(each, np.ndarray):
            count += each.size
        elif isinstance(each, tuple):
            count += _entries(each)
    return count


class InnerKernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel without an entry point for Python; calling it from Python is a TypeError."""

    def __call__(self, *args: Any) -> Any:
        """Raise TypeError."""
        raise TypeError(f"{self.py_func.__qualname__} is called by other kernels alone; py_func is it in Python")


class KernelCompiler(PartCompiler):
    """Numba's compiler for kernels called from Python; their callees are linked in as IR."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile for the types that this compiler was made for."""
        codegen = self.state.targetctx.codegen()
        if applies("libraries"):
            self.state.library = KernelLibrary(codegen, func.__qualname__)
            self.state.library.enable_object_caching()
        with libraries(codegen, InnerLibrary), quick_lookups(), quick_analyses():
            return super().compile_extra(func)
