"""Numba's compiler for a user's functions, with loops that can be stopped. Imports Numba.

A thread inside compiled code cannot be terminated from outside. So a function checks, before each further iteration of
a loop, whether its run is stopped (`hpgraph.semiring.stop`), and then returns zero.
"""

import contextlib
from typing import Any, ClassVar

from numba.core import cgutils, types
from numba.core import ir as numba_ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

from hpgraph.core.patches import libraries
from hpgraph.semiring.code_library import InnerLibrary
from hpgraph.semiring.compiler import PlainCompiler
from hpgraph.semiring.lowering import Lowering
from hpgraph.semiring.stop import is_set

# A loop of at most this many iterations ends within microseconds, and is not checked.
_LONG = 4096


class _CheckingLower(Lowering):
    """Code generation with a check of the stop word before each iteration of a loop.

    A ``for`` loop without inner loops is only checked over a range of more than `_LONG` numbers: LLVM then splits it
    into two loops, and the one without the check is as fast as before.
    """

    def lower_function_body(self) -> Any:
        loops = compute_cfg_from_blocks(self.blocks).loops().values()
        self._innermost = {
            loop.header: self._iterator(loop.header) for loop in loops
            if self._iterator(loop.header) and not any(other.header in loop.body - {loop.header} for other in loops)
        }  # fmt: skip
        self._long: dict[str, Any] = {}
        return super().lower_function_body()

    def pre_block(self, block: Any) -> None:
        super().pre_block(block)
        self._label = next(label for label, other in self.blocks.items() if other is block)

    def lower_inst(self, inst: Any) -> None:
        if isinstance(inst, numba_ir.Jump | numba_ir.Branch):
            targets = [inst.target] if isinstance(inst, numba_ir.Jump) else [inst.truebr, inst.falsebr]
            # Any cycle of blocks has a jump to a label that is not greater than its own.
            for target in targets:
                if target <= self._label:
                    self._check_stop(self._innermost.get(target))
        super().lower_inst(inst)
        if isinstance(inst, numba_ir.Assign):
            if isinstance(inst.value, numba_ir.Expr) and inst.value.op == "getiter":
                self._measure(inst)
            elif isinstance(inst.value, numba_ir.Var) and inst.value.name in self._long:
                self._long[inst.target.name] = self._long[inst.value.name]

    def _check_stop(self, iterator: str | None) -> None:
        """Emit a return if the word is set; in a loop over an iterator only if it is long."""
        if iterator is not None and iterator not in self._long:
            return
        with contextlib.ExitStack() as within:
            if iterator is not None:
                within.enter_context(self.builder.if_then(self._long[iterator]))
            within.enter_context(cgutils.if_unlikely(self.builder, is_set(self.builder)))
            # References held by the function are not released: at most reference counts of the run's arrays.
            kind = self.fndesc.restype
            null = self.context.get_constant_null(kind)
            self.call_conv.return_value(self.builder, self.context.get_return_value(self.builder, kind, null))

    def _measure(self, inst: Any) -> None:
        """Record whether the range of an iterator is long."""
        kind = self.typeof(inst.target.name)
        if isinstance(kind, types.RangeIteratorType):  # type: ignore[attr-defined]
            numbers = self.context.make_helper(self.builder, kind, value=self.loadvar(inst.target.name))
            count = self.builder.load(numbers.count)
            self._long[inst.target.name] = self.builder.icmp_signed(">", count, count.type(_LONG))

    def _iterator(self, label: int) -> str | None:
        """The name of the iterator in a loop's header."""
        return next((each.value.name for each in self.blocks[label].find_exprs("iternext")), None)


@register_pass(mutates_CFG=True, analysis_only=False)
class _CheckingLowering(BaseNativeLowering):
    _name = "hpgraph_looking_lowering"

    @property
    def lowering_class(self) -> type[Lowering]:
        return _CheckingLower


class StoppableCompiler(PlainCompiler):
    """Numba's compiler for functions called by compiled ones only, with stoppable loops; a ``pipeline_class``."""

    instead: ClassVar = {NativeLowering: _CheckingLowering}

    def compile_extra(self, func: Any) -> Any:
        """Compile for this compiler's types."""
        with libraries(self.state.targetctx.codegen(), InnerLibrary):
            return super().compile_extra(func)
