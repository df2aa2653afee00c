"""Numba's generation of LLVM IR, without most of the memory that its code reads and writes. Imports Numba.

Numba keeps in memory each variable that several basic blocks use, and each array of which it accesses an element, as
structures of seven fields. LLVM replaces all of these by registers, which takes a third of its time, after Numba has
printed and LLVM has parsed them. Here a variable with one assignment is a register from the beginning, and an element
of a contiguous array is accessed by the address in its register.
"""

from typing import Any

from llvmlite import ir as llvm
from llvmlite.ir.instructions import InsertValue
from numba.core import ir, types
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering, NativeParforLowering
from numba.parfors.parfor_lowering import ParforLower

from hpgraph.core.patches import applies


class _Builder(llvm.IRBuilder):  # type: ignore[misc]
    """Generates no code for a field of a structure that was put together in the same function."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """The field of a structure."""
        field = list(idx) if isinstance(idx, list | tuple) else [idx]
        while isinstance(agg, InsertValue):
            if list(agg.indices) == field:
                return agg.value
            if agg.indices[0] == field[0]:
                break
            agg = agg.aggregate
        return super().extract_value(agg, field, name)


class _Registers(Lower):  # type: ignore[misc]
    """Code generation of one function."""

    def setup_function(self, fndesc: Any) -> None:
        """Declare the function, and begin its code."""
        super().setup_function(fndesc)
        self.builder = _Builder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def _find_singly_assigned_variable(self) -> None:
        """Variables that are no memory: assigned once, in a block that dominates all blocks that use them."""
        super()._find_singly_assigned_variable()
        if self.func_ir.func_id.is_generator or self._disable_sroa_like_opt:
            return
        blocks: dict[str, int | None] = {}
        for label, block in self.blocks.items():
            for statement in block.find_insts(ir.Assign):
                name = statement.target.name
                blocks[name] = None if name in blocks else label
        dominators = compute_cfg_from_blocks(self.blocks).dominators()
        # Without those that are used only in the block that assigns them.
        for label, names in compute_use_defs(self.blocks).usemap.items():
            for name in names:
                assigned = blocks.get(name)
                # Blocks are lowered in this order.
                if assigned is not None and not (assigned < label and assigned in dominators[label]):
                    blocks[name] = None
        memory = must_use_alloca(self.blocks)
        self._singly_assigned_vars |= {
            name for name, label in blocks.items()
            if label is not None and name not in memory and not self._is_counted(name)
        }  # fmt: skip

    def _is_counted(self, name: str) -> bool:
        """Whether a variable holds references that are counted, which each path gives back once."""
        return self.context.enable_nrt and self.context.data_model_manager[self.typeof(name)].contains_nrt_meminfo()

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a variable; its old value is read only to give back the references that it holds."""
        if name in self._singly_assigned_vars or self._disable_sroa_like_opt or self._is_counted(name):
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """End a variable's life, which matters to the references that it holds."""
        if self._is_counted(name):
            super().delvar(name)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """The code of ``value[index]``."""
        place = self._element(value, index, signature)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        item = self.context.unpack_value(self.builder, signature.args[0].dtype, place)
        return self.context.cast(self.builder, item, signature.return_type, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """The code of ``target[index] = value``."""
        place = self._element(target_var, index_var, signature)
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        kind = signature.args[0].dtype
        value = self.loadvar(value_var.name)
        for from_, to in ((self.typeof(value_var.name), signature.args[2]), (signature.args[2], kind)):
            value = self.context.cast(self.builder, value, from_, to)
        self.context.pack_value(self.builder, kind, value, place)

    def _element(self, array: Any, index: Any, signature: Any) -> Any:
        """Address of an element; None if it is not of a contiguous 1-d array, or bounds are checked."""
        kind, position = signature.args[:2]
        plain = isinstance(kind, types.Array) and kind.ndim == 1 and kind.layout == "C" and kind.aligned
        if not plain or not isinstance(position, types.Integer) or self.context.enable_boundscheck:
            return None
        if not isinstance(kind.dtype, types.Number | types.Boolean) or self.typeof(array.name) != kind:
            return None
        builder, fields = self.builder, self.context.data_model_manager[kind]
        held, place = self.loadvar(array.name), self.loadvar(index.name)
        place = self.context.cast(builder, place, self.typeof(index.name), position)
        if position.signed:  # type: ignore[attr-defined]
            place = self.context.cast(builder, place, position, types.intp)
            # A negative index counts from the end.
            if not isinstance(place, llvm.Constant) or place.constant < 0:
                length = builder.extract_value(fields.get(builder, held, "shape"), 0)
                negative = builder.icmp_signed("<", place, place.type(0))
                place = builder.select(negative, builder.add(place, length), place)
        else:
            place = self.context.cast(builder, place, position, types.uintp)
        return builder.gep(fields.get(builder, held, "data"), [place])


Lowering: Any = _Registers if applies("lowering") else Lower


class _ParforRegisters(_Registers, ParforLower):  # type: ignore[misc]
    """Code generation of a function with parallel loops, whose variables are all memory."""


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainLowering(NativeLowering):  # type: ignore[misc]
    """`NativeLowering` by `Lowering`."""

    _name = "hpgraph_lowering"

    @property
    def lowering_class(self) -> type:
        """The class that generates code."""
        return Lowering


@register_pass(mutates_CFG=True, analysis_only=False)
class ParforLowering(NativeParforLowering):  # type: ignore[misc]
    """`NativeParforLowering` by `Lowering`."""

    _name = "hpgraph_parfor_lowering"

    @property
    def lowering_class(self) -> type:
        """The class that generates code."""
        return _ParforRegisters if applies("lowering") else ParforLower  # type: ignore[no-any-return]
