"""What Numba looks up while it compiles: options that compare quickly, and registrations looked for by need."""

import pytest
from numba import types
from numba.core.compiler import Flags
from numba.core.cpu import CPUContext
from numba.core.imputils import builtin_registry
from numba.core.registry import cpu_target
from numba.core.typing import signature

from hpgraph.kernels.runtime.cpu.lookups import Options, refreshed_by_need


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
    with refreshed_by_need(own):
        inner = context.subtarget()
        for each in (own, context, inner):
            each.refresh()
        assert len(looked) == 1
        # A kernel compiled for the sake of another one.
        with refreshed_by_need(inner):
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
