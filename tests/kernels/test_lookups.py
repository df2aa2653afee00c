"""What Numba looks up while it compiles: options, registrations, calls, sizes, variables, and LLVM listeners."""

import operator

import pytest
from llvmlite import binding
from numba import types
from numba.core import event, ir
from numba.core.base import BaseContext
from numba.core.compiler import Flags, run_frontend
from numba.core.cpu import CPUContext
from numba.core.errors import TypingError
from numba.core.imputils import builtin_registry
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.core.types import BaseFunction
from numba.core.typing import signature

from hpgraph.kernels.runtime.cpu import lookups
from hpgraph.kernels.runtime.cpu.lookups import Options, quick_lookups
from hpgraph.kernels.runtime.cpu.part import part

usual_list = ir.Inst._rec_list_vars


def _flags(kind, **chosen):
    flags = kind()
    for name, value in chosen.items():
        setattr(flags, name, value)
    return flags


@pytest.mark.parametrize("other", [Flags, Options])
def test_options_are_equal_as_numbas_are(other):
    mine = _flags(Options, nrt=True, no_cpython_wrapper=True)
    assert mine == _flags(other, nrt=True, no_cpython_wrapper=True)
    # What is said and what holds anyhow are the same.
    assert mine == _flags(other, nrt=True, no_cpython_wrapper=True, debuginfo=Flags().debuginfo)
    assert mine != _flags(other, nrt=True)
    assert hash(mine) == hash(_flags(other, nrt=True, no_cpython_wrapper=True))
    assert {(mine, 1): "kept"}[_flags(other, nrt=True, no_cpython_wrapper=True), 1] == "kept"
    assert mine != 1


def test_copies_stay_quick():
    copied = _flags(Options, nrt=True).copy()
    copied.nrt = False
    assert type(copied) is Options
    assert copied != _flags(Options, nrt=True)


def test_contexts_look_only_for_what_is_new(monkeypatch):
    context = cpu_target.target_context
    context.refresh()
    looked = []
    usual = CPUContext.refresh
    monkeypatch.setattr(CPUContext, "refresh", lambda self: (looked.append(self), usual(self)))
    wanted = signature(types.int64, types.int64)
    own = context.subtarget()
    with quick_lookups(own):
        inner = context.subtarget()
        for each in (own, context, inner):
            each.refresh()
        assert len(looked) == 1
        # A kernel compiled for the sake of another one.
        with quick_lookups(inner):
            inner.refresh()
        context.refresh()
        assert len(looked) == 1
        with pytest.raises(NotImplementedError):
            inner.get_function("hpgraph_test_of_lookups", wanted)
        builtin_registry.lower("hpgraph_test_of_lookups", types.int64)(lambda context, builder, sig, args: args[0])
        assert inner.get_function("hpgraph_test_of_lookups", wanted)
        assert len(looked) == 2
    context.refresh()
    assert len(looked) == 3


def test_calls_mean_what_numba_finds(monkeypatch):
    """Signature and implementation are those that Numba finds, and are found once for each options."""
    context = cpu_target.typing_context
    context.refresh()
    searched = []
    monkeypatch.setattr(lookups, "_search", lambda *asked: (searched.append(asked), search(*asked))[1])
    monkeypatch.setattr(lookups, "_calls", {})
    search, plus = BaseFunction.get_call_type, context.resolve_value_type(operator.add)
    read = context.resolve_value_type(operator.getitem)
    array = types.Array(types.int32, 1, "C")
    asked = [
        (plus, (types.int64, types.int64)), (plus, (types.int64, types.float32)),
        (plus, (types.IntegerLiteral(2), types.int64)), (read, (array, types.uint64)),
        (read, (types.UniTuple(array, 2), types.IntegerLiteral(1))),
    ]  # fmt: skip
    wanted = [(search(f, context, args, {}), dict(f._impl_keys)) for f, args in asked]
    with quick_lookups(cpu_target.target_context.subtarget()):
        for _ in range(2):
            for (f, args), (meaning, keys) in zip(asked, wanted, strict=True):
                f._impl_keys.clear()
                assert f.get_call_type(context, args, {}) == meaning
                assert f.get_impl_key(meaning) == keys[meaning.args]
        assert len(searched) == len(asked)
        # What is inlined under other options may be other code.
        with ConfigStack().enter(_flags(Flags, nrt=True)):
            plus.get_call_type(context, asked[0][1], {})
        assert len(searched) == len(asked) + 1
        with pytest.raises(TypingError, match="No implementation"):
            plus.get_call_type(context, (array, types.unicode_type), {})
    assert BaseFunction.get_call_type is search


def _summed(rows, scale, part=(1, 2)):
    total = 0.0
    for place, row in enumerate(rows):
        if place in part:
            total += max(row[0], scale) * len(row)
    return {"sum": total, "none": None}, [total, (scale, part)]


def test_instructions_list_the_variables_that_numba_lists():
    blocks = run_frontend(_summed).blocks.values()
    statements = [statement for block in blocks for statement in block.body]
    wanted = [statement.list_vars() for statement in statements]
    with quick_lookups(cpu_target.target_context.subtarget()):
        listed = [statement.list_vars() for statement in statements]
        assert ir.Inst._rec_list_vars is not usual_list
    assert [[id(variable) for variable in each] for each in listed] == [[id(v) for v in each] for each in wanted]
    assert sum(map(len, wanted)) > 50
    assert ir.Inst._rec_list_vars is usual_list


def test_sizes_are_asked_for_once(monkeypatch):
    context = cpu_target.target_context
    usual, asked = BaseContext.get_abi_sizeof, []
    kinds = [types.int8, types.float64, types.UniTuple(types.int32, 3), types.Array(types.int32, 2, "C")]
    wanted = [usual(context, context.get_value_type(kind)) for kind in kinds]
    monkeypatch.setattr(lookups, "_size_in_numba", lambda *given: (asked.append(given), usual(*given))[1])
    monkeypatch.setattr(lookups, "_sizes", {})
    with quick_lookups(context.subtarget()):
        for _ in range(2):
            assert [context.get_abi_sizeof(context.get_value_type(kind)) for kind in kinds] == wanted
    assert len(asked) == len(kinds) and len(set(wanted)) == len(kinds)
    assert BaseContext.get_abi_sizeof is usual


def test_nobody_is_told_of_llvm_who_does_not_listen():
    class Listener(event.Listener):
        heard = 0

        def on_start(self, started):
            self.heard += 1

        def on_end(self, ended):
            pass

    context, listener = cpu_target.target_context.subtarget(), Listener()
    with event.install_listener("numba:llvm_lock", listener):
        with quick_lookups(context):
            binding.parse_assembly("")
        assert listener.heard > 0
    # Each dispatcher that compiles times itself.
    with event.install_timer("numba:llvm_lock", lambda seconds: None), quick_lookups(context):
        assert not binding.ffi.lib._lock._cblist
    assert binding.ffi.lib._lock._cblist


def test_passes_are_announced_to_those_who_listen():
    @part
    def double(a):
        return 2 * a

    with event.install_recorder("numba:run_pass") as recorder:
        double.compile((types.int64,))
    assert "nopython_type_inference" in " ".join(each.data["name"] for _, each in recorder.buffer)
    double.compile((types.float64,))
    assert {str(each.return_type) for each in double.nopython_signatures} == {"int64", "float64"}
