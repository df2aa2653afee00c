"""What Numba looks up again and again while it compiles, made cheap to look up: a fifth of the time to compile.

It asks what has been registered since it last asked whenever it reads the fields of an array, twenty times a function.
It keeps implementations under the options of whoever calls, which it compares as dicts made for the purpose. It tries
one template of an operator after another, with and without literals, wherever a function adds two integers or reads an
array: four of five times what has just been found. And it makes two events of each call into LLVM, heard or not.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from llvmlite.binding import ffi
from numba.core import event
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
    """Context manager: what is compiled inside the block is looked up once.

    Parameters
    ----------
    context : numba.core.cpu.CPUContext
        Of the compilation. Used under Numba's lock alone.
    """
    with _refreshed_by_need(context), _remembered_calls(), _without_events_of_llvm():
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
_MOST_CALLS = 1 << 14
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
        if len(_calls) == _MOST_CALLS:
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


@contextlib.contextmanager
def _without_events_of_llvm() -> Iterator[None]:
    """LLVM's lock is taken and left without events, unless somebody listens to them."""
    if event._registered["numba:llvm_lock"]:
        yield
        return
    lock = ffi.lib._lock
    callbacks, lock._cblist = lock._cblist, []
    try:
        yield
    finally:
        lock._cblist = callbacks
