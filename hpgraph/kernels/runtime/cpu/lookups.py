"""What Numba looks up again and again while it compiles, made cheap to look up: 4 to 12% of the time to compile.

It asks what has been registered since it last asked whenever it reads the fields of an array, twenty times a function.
And it keeps implementations under the options of whoever calls, which it compares as dicts made for the purpose.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from numba.core.compiler import Flags
from numba.core.registry import cpu_target


class Options(Flags):  # type: ignore[misc]
    """Numba's options of a compilation, which are quick to compare; equal to the same ones as Numba holds them."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Flags) and self._values == other._values
        # Where other options are set, they may yet be set to what holds anyhow.
        return True if same else super().__eq__(other)  # type: ignore[no-any-return]

    def __hash__(self) -> int:
        # Numba's takes the options' names alone: it is one number.
        return _HASH


_HASH = hash(Flags())


@contextlib.contextmanager
def refreshed_by_need(context: Any) -> Iterator[None]:
    """Context manager: contexts look for what is new only where something has been registered since they last did.

    Parameters
    ----------
    context : numba.core.cpu.CPUContext
        Of the compilation; those inside the block are copies of Numba's own, which is treated alike. All share what is
        registered. Used under Numba's lock alone.
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
