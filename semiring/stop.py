"""A word in memory that stops the kernels under way, and functions that look at it. Imports Numba.

Compiled code looks at the word, and whoever wants the kernels to stop sets it. A stopped kernel takes no further work
and returns; what it has written is of no use then. A user's function looks before each further turn of a ``while``
loop, and returns zero when it is to stop: a loop that never ends is otherwise out of reach, as a thread inside compiled
code cannot be ended from outside. A ``for`` loop ends by itself and pays nothing.
"""

from __future__ import annotations

import ctypes
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core import ir as numba_ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

from hpgraph.semiring.code_library import InnerLibrary, libraries
from hpgraph.semiring.intrinsic import intrinsic

_NAME = "hpgraph_stop"
# Aligned, and alone on two cache lines, which processors fetch in pairs: every thread reads it all the time.
_MEMORY = (ctypes.c_int64 * 48)()
word = ctypes.c_int64.from_address((ctypes.addressof(_MEMORY) + 127) // 128 * 128)

# Compiled code, also such as comes from a cache of another process, finds the word by its name.
binding.add_symbol(_NAME, ctypes.addressof(word))


def _is_set(builder: Any) -> Any:
    integer = ir.IntType(64)
    place = builder.module.globals.get(_NAME) or ir.GlobalVariable(builder.module, integer, _NAME)
    # Atomic, so that it is read anew each time.
    return builder.icmp_signed("!=", builder.load_atomic(place, "monotonic", 8), ir.Constant(integer, 0))


@intrinsic(lambda: word.value != 0)
def is_stopped(typingctx: Any) -> Any:
    """Whether the kernels under way are to stop.

    Examples
    --------
    >>> from numba import njit
    >>> njit(lambda: is_stopped())()
    False
    """
    return types.boolean(), lambda context, builder, sig, args: _is_set(builder)


class _LookingLower(Lower):
    """Code generation that has every loop, but for those over an iterator, look at the word before its next turn."""

    def pre_block(self, block: Any) -> None:
        super().pre_block(block)
        self._label = next(label for label, other in self.blocks.items() if other is block)

    def lower_inst(self, inst: Any) -> None:
        if isinstance(inst, numba_ir.Jump | numba_ir.Branch):
            targets = [inst.target] if isinstance(inst, numba_ir.Jump) else [inst.truebr, inst.falsebr]
            # Any cycle of blocks has a jump to a label that is not above its own.
            if any(target <= self._label and not self._iterates(target) for target in targets):
                with cgutils.if_unlikely(self.builder, _is_set(self.builder)):
                    # What the function still holds is not released: at most a count of references to the run's arrays.
                    kind = self.fndesc.restype
                    nothing = self.context.get_constant_null(kind)
                    self.call_conv.return_value(
                        self.builder, self.context.get_return_value(self.builder, kind, nothing)
                    )
        super().lower_inst(inst)

    def _iterates(self, label: int) -> bool:
        return any(expression.op == "iternext" for expression in self.blocks[label].find_exprs())


@register_pass(mutates_CFG=True, analysis_only=False)
class _LookingLowering(BaseNativeLowering):
    _name = "hpgraph_looking_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return _LookingLower


class StoppableCompiler(CompilerBase):
    """Numba's compiler, for functions whose ``while`` loops can be stopped; a ``pipeline_class`` of `numba.njit`.

    Only other compiled functions call them.
    """

    def compile_extra(self, func: Any) -> Any:
        """Compile for the types that this compiler was made for."""
        with libraries(self.state.targetctx.codegen(), InnerLibrary):
            return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        """Numba's usual passes, but for the one that generates code."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(_LookingLowering if p is NativeLowering else p, what) for p, what in passes.passes]
        passes.finalize()
        return [passes]
