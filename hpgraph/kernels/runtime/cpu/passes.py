"""Numba's passes for the kernels of this package, but for those that they have no work for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.typed_passes import InlineOverloads, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes

from hpgraph.kernels.runtime.cpu.lookups import Options
from hpgraph.semiring.code_library import InnerLibrary, LinkedLibrary

# Functions within functions and array comprehensions, overloads that are inlined as Python, array expressions that
# become one loop: kernels are written as loops. Looking for them takes a sixteenth of the time to compile.
_UNUSED = (InlineClosureLikes, InlineOverloads, NopythonRewrites)


class PartCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, for kernels and for functions that other compiled functions call."""

    library: type[InnerLibrary] = LinkedLibrary

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.state.flags = Options(self.state.flags)

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile for the types that this compiler was made for."""
        if self.state.library is None:
            self.state.library = self.library(self.state.targetctx.codegen(), func.__qualname__)
            self.state.library.enable_object_caching()
        return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        """Numba's usual passes, but for the unused ones."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(each, what) for each, what in passes.passes if each not in _UNUSED]
        passes.finalize()
        return [passes]


class WholePartCompiler(PartCompiler):
    """Numba's compiler, for functions that are optimized with what they call before they are linked into a kernel."""

    library = InnerLibrary
