"""Numba's compiler without the work between its passes. Imports Numba.

A function goes through about twenty-five passes. Around each one Numba notifies listeners, formats options and types
for them, recomputes the lifetimes of all variables, and checks the result. The passes that read lifetimes compute them
themselves. Without all this, and without the parts of passes that are not needed here, a first call of BFS takes 0.86
of the processor time.
"""

from itertools import pairwise
from typing import Any, ClassVar

from numba.core import errors, interpreter
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import IRLegalization, NativeLowering
from numba.core.untyped_passes import TranslateByteCode

from hpgraph.semiring.lowering import PlainLowering

# Instructions that begin a ``with``; since Python 3.14 the second.
_WITH = ("BEFORE_WITH", "LOAD_SPECIAL")


class _Interpreter(interpreter.Interpreter):
    """Numba's translation of bytecode, without the search for leftovers of ``with`` if there is no ``with``."""

    def post_process(self, peepholes: Any, func_ir: Any) -> Any:
        """Rewrite the translation of several instructions together."""
        if not any(inst.opname in _WITH for inst in self.bytecode):
            peepholes = [each for each in peepholes if each is not interpreter.peep_hole_delete_with_exit]
        return super().post_process(peepholes, func_ir)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Translate(TranslateByteCode):  # type: ignore[misc]
    """`TranslateByteCode`, without the instructions that are CPython 3.11's inline caches: more than half of them."""

    _name = "hpgraph_translate"

    def run_pass(self, state: Any) -> bool:
        """Translate a function's bytecode to Numba's IR."""
        kept = [inst for inst in state.bc.table.values() if inst.opname != "CACHE"]
        for inst, following in pairwise(kept):
            inst.next = following.offset
        state.bc.table = {inst.offset: inst for inst in kept}
        state.func_ir = _Interpreter(state.func_id).interpret(state.bc)
        return True


@register_pass(mutates_CFG=False, analysis_only=True)
class _Legalize(IRLegalization):  # type: ignore[misc]
    """`IRLegalization`, which marks the last use of variables, only for reference-counted ones."""

    _name = "hpgraph_legalize"

    def run_pass(self, state: Any) -> bool:
        """Mark last uses."""
        return bool(super().run_pass(state)) if state.flags.nrt else True


_INSTEAD: dict[type, type] = {
    TranslateByteCode: _Translate, IRLegalization: _Legalize, NativeLowering: PlainLowering,
}  # fmt: skip


class Passes(PassManager):  # type: ignore[misc]
    """Passes that run one after the other."""

    def run(self, state: Any) -> None:
        """Run them; an error of Numba's names the pass."""
        for kind, what in self.passes:
            step = kind()
            step.analysis = self._analysis
            try:
                step.run_pass(state)
            except errors.NumbaError as error:
                error.args = (f"Failed in {self.pipeline_name} mode pipeline (step: {what})\n{error}",)
                raise


class PlainCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler with its usual passes; subclasses omit some and replace others."""

    unused: ClassVar[tuple[type, ...]] = ()
    instead: ClassVar[dict[type, type]] = {}

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = Passes(usual.pipeline_name)
        instead = {**_INSTEAD, **self.instead}
        passes.passes = [(instead.get(each, each), what) for each, what in usual.passes if each not in self.unused]
        passes.finalize()
        return [passes]
