"""Copies of functions: fixed when made, and a snapshot that notices every change of what was copied."""

import collections
import ctypes
import enum
import importlib.metadata
import types

from hpgraph.semiring import get_unary
from hpgraph.semiring.cuda import function_functor
from hpgraph.semiring.fingerprint import _toolchain, fingerprint
from hpgraph.semiring.function import Function
from hpgraph.semiring.snapshot import Snapshot, copy_function


def snapshot_of(function):
    snapshot = Snapshot()
    return copy_function(function, snapshot=snapshot), snapshot


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


def test_foreign_machine_code_is_the_same_until_the_process_ends():
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


def test_fingerprints_need_no_installed_distribution(monkeypatch):
    """A checkout on PYTHONPATH alone has no metadata of its own."""
    found = importlib.metadata.distribution

    def distribution(name):
        if name == "hpgraph":
            raise importlib.metadata.PackageNotFoundError(name)
        return found(name)

    def three():
        return 3

    before = fingerprint(three)
    monkeypatch.setattr(importlib.metadata, "distribution", distribution)
    _toolchain.cache_clear()
    assert fingerprint(three) == before
