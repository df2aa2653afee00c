"""What kernels of this package are written with: compilers, parallel loops, accesses to arrays, threads and stops."""

from collections.abc import Callable
from typing import Any

import numba
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
# Disk cache of a function's code: set by `hpgraph.kernels.runtime.cpu.compilation` before its first use, so that an
# edit of the cache invalidates no code.
code_cache: Any = None


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
            dispatcher._cache = code_cache(function)
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
        with libraries(codegen, InnerLibrary), quick_lookups(), quick_analyses():
            return super().compile_extra(func)
