"""Copies of functions: fixed when made, and a snapshot that notices every change of what was copied."""

from __future__ import annotations

import collections
import ctypes
import enum
import types

import numpy as np
import pytest

from hpgraph.semiring import get_unary
from hpgraph.semiring.cuda import function_functor
from hpgraph.semiring.fingerprint import fingerprint
from hpgraph.semiring.function import Function
from hpgraph.semiring.snapshot import Snapshot, copy_function


def snapshot_of(function):
    snapshot = Snapshot()
    return copy_function(function, snapshot=snapshot), snapshot


def test_a_copy_keeps_what_it_was_made_with():
    table, module, rates = np.arange(4.0), types.ModuleType("settings"), [1.0]
    module.offset, module.unread = 10.0, object()

    def function(x):
        return x + table[1] + module.offset + rates[0]

    copy, snapshot = snapshot_of(function)
    assert snapshot.holds() and copy(0.0) == 12.0
    module.unread = 3
    assert snapshot.holds()
    table[1], module.offset, rates[0] = 100.0, 1000.0, 10_000.0
    assert not snapshot.holds()
    assert copy(0.0) == 12.0 and function(0.0) == 11_100.0


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (300, 300)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_compared_by_content(shape, order):
    table = np.zeros(shape, order=order)
    _, snapshot = snapshot_of(lambda: table)
    assert snapshot.holds()
    table[...] = -0.0
    assert not snapshot.holds()
    table[...] = 0.0
    assert snapshot.holds()
    strided = np.zeros((4, 6))[::2, ::3]
    _, snapshot = snapshot_of(lambda: strided)
    strided[1, 1] = 5
    assert not snapshot.holds()


def test_an_array_that_cannot_change_is_not_copied():
    table = np.arange(3)
    table.flags.writeable = False
    assert copy_function(lambda: table)() is table
    window = np.arange(3)[:2]
    window.flags.writeable = False
    assert copy_function(lambda: window)() is not window


def test_a_name_that_appears_later_is_noticed():
    namespace = {"__name__": "notebook"}
    exec("def function(x): return abs(x)", namespace)
    _, snapshot = snapshot_of(namespace["function"])
    assert snapshot.holds()
    namespace["abs"] = lambda x: -x
    assert not snapshot.holds()


def test_containers_that_hold_themselves_and_modules_of_each_other():
    one, other, ring = types.ModuleType("one"), types.ModuleType("other"), [1]
    one.other, other.one, other.depth = other, one, 7
    ring.append(ring)

    def function():
        return one.other.one.other.depth + ring[1][1][0]

    copy, snapshot = snapshot_of(function)
    assert copy() == 8 and snapshot.holds() and fingerprint(function) == fingerprint(function)
    other.depth = 8
    assert not snapshot.holds() and copy() == 8


def test_what_a_class_holds_cannot_be_read_and_is_never_found_again():
    class Settings:
        rate = 1

    function = lambda x: x % Settings.rate  # noqa: E731
    _, snapshot = snapshot_of(function)
    assert not snapshot.holds()
    assert not Function(function).is_lasting and Function(function).key != Function(function).key
    assert not function_functor(Function(function), ("float64",), "float64", "F").ltoir[0].lasting
    assert function_functor(Function(lambda x: x % 2), ("float64",), "float64", "F").ltoir[0].lasting
    assert get_unary(function) is not get_unary(function)


def test_foreign_machine_code_is_the_same_as_long_as_the_process_lives():
    root = ctypes.CDLL(None).abs
    function = lambda x: root(x)  # noqa: E731
    assert snapshot_of(function)[1].holds()
    assert Function(function).key == Function(function).key


def test_members_of_an_enum_and_defaults_of_a_named_tuple_count():
    def keys(rate, default):
        mode = enum.Enum("Mode", {"RATE": rate})
        pair = collections.namedtuple("Pair", "a b", defaults=(default,))
        return Function(lambda x: x + mode.RATE.value).key, Function(lambda x: pair(x).b).key

    assert keys(1, 2) == keys(1, 2)
    assert len({*keys(1, 2), *keys(3, 4)}) == 4


def test_machine_code_of_what_cannot_be_read_is_not_kept(tmp_path, monkeypatch):
    from hpgraph.kernels.runtime.cuda import compile as compiler
    from hpgraph.semiring.cuda import LinkedCode

    monkeypatch.setattr(compiler.config, "cache_dir", tmp_path)
    monkeypatch.setattr(compiler, "build", lambda *args: (b"cubin", {"kernel": "kernel"}))
    passing = LinkedCode("key", lambda: b"", lasting=False)
    path, _ = compiler.build_cached("spmv.cuh", ltoir=(passing,), names=("kernel",))
    assert path.read_bytes() == b"cubin" and not list(tmp_path.rglob("*.cubin"))
    path, _ = compiler.build_cached("spmv.cuh", ltoir=(LinkedCode("key", lambda: b""),), names=("kernel",))
    assert list(tmp_path.rglob("*.cubin")) == [path]
