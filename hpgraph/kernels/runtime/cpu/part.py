"""Compilers for kernels, without passes that have no work, and for functions that only compiled functions call."""

from collections.abc import Callable
from typing import Any, ClassVar

from numba import njit, types
from numba.core.analysis import dead_branch_prune
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.typed_passes import InlineOverloads, NativeParforLowering, NopythonRewrites, ParforFusionPass
from numba.core.untyped_passes import DeadBranchPrune, InlineClosureLikes
from numba.extending import is_jitted
from numba.parfors.parfor import simplify_parfor_body_CFG

from hpgraph.core.patches import applies
from hpgraph.semiring.code_library import InnerLibrary, LinkedLibrary
from hpgraph.semiring.compiler import PlainCompiler
from hpgraph.semiring.lowering import ParforLowering

# Functions within functions and array comprehensions, overloads that are inlined as Python, array expressions that
# become one loop: kernels are written as loops. Looking for them takes a sixteenth of the time to compile.
_UNUSED = (InlineClosureLikes, InlineOverloads, NopythonRewrites)


# Types of arguments that are None, or may be, and constants, which Numba handles itself.
_UNSURE = (types.NoneType, types.Omitted, types.Optional, types.Literal)


class _NotNone:
    """Replaces the type of an argument that is not None, where branches are pruned."""

    def __init__(self) -> None:
        # Numba's mark of a type that differs from None's.
        self.literal_type = self


@register_pass(mutates_CFG=True, analysis_only=False)
class PruneBranches(DeadBranchPrune):  # type: ignore[misc]
    """`DeadBranchPrune`, where ``x is None`` is false as well: a branch for an argument not given is not compiled."""

    _name = "hpgraph_prune_branches"

    def run_pass(self, state: Any) -> bool:
        """Remove branches that the types of the arguments rule out."""
        dead_branch_prune(state.func_ir, [kind if isinstance(kind, _UNSURE) else _NotNone() for kind in state.args])
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class LoopBodies(FunctionPass):  # type: ignore[misc]
    """`ParforFusionPass` without fusion of loops, and without repeated passes for copies and dead code."""

    _name = "hpgraph_loop_bodies"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Merge basic blocks of a parallel loop's body that have a single successor and predecessor."""
        simplify_parfor_body_CFG(state.func_ir.blocks)
        return True


_INSTEAD: dict[type, type] = {
    DeadBranchPrune: PruneBranches, ParforFusionPass: LoopBodies, NativeParforLowering: ParforLowering,
}  # fmt: skip


class PartCompiler(PlainCompiler):
    """Numba's compiler, for kernels and for functions that other compiled functions call."""

    library: type[InnerLibrary] = LinkedLibrary
    unused: ClassVar = _UNUSED
    instead: ClassVar = _INSTEAD

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile for the types that this compiler was made for."""
        if self.state.library is None and applies("libraries"):
            self.state.library = self.library(self.state.targetctx.codegen(), func.__qualname__)
            self.state.library.enable_object_caching()
        return super().compile_extra(func)


class WholePartCompiler(PartCompiler):
    """Numba's compiler, for functions that are optimized with what they call before they are linked into a kernel."""

    library = InnerLibrary


def part(
    function: Callable[..., Any] | None = None, *, whole: bool = False, counts_references: bool = True, **options: Any
) -> Any:
    """`numba.njit` for a function that Python never calls itself; a decorator, with or without options.

    It has no entry for Python or C, which Numba would compile beside each function, and is compiled once for all
    integers: Numba would compile it again for each constant passed for one.
    """
    if function is None:
        return lambda function: part(function, whole=whole, counts_references=counts_references, **options)
    if not counts_references:
        options["_nrt"] = False
    compiler = WholePartCompiler if whole else PartCompiler
    dispatcher = njit(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=compiler, **options)
    if not is_jitted(dispatcher):
        # Under NUMBA_DISABLE_JIT it is the function itself.
        return dispatcher
    resolve = dispatcher.get_call_template

    def get_call_template(arguments: Any, by_name: dict[str, Any]) -> Any:
        plain = {name: types.unliteral(kind) for name, kind in by_name.items()}
        return resolve(tuple(types.unliteral(kind) for kind in arguments), plain)

    dispatcher.get_call_template = get_call_template
    return dispatcher
