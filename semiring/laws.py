"""Does an operator obey the laws of a monoid? Tried on a sample of every family of numbers that it takes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from hpgraph.semiring.monoid import Monoid

# Small enough that no product of three overflows int64, and with fractions that floats hold exactly.
_SAMPLES: dict[str, tuple[Any, ...]] = {
    "bool": (False, True),
    "int64": (0, 1, 2, -1, 5, -7, 12),
    "uint64": (0, 1, 2, 5, 12),
    "float64": (0.0, 1.0, -1.0, 0.5, 2.25, -7.5, 1000.0),
}
_RELATIVE_TOLERANCE = 1e-9


def check_monoid(monoid: Monoid, samples: Iterable[Any] | None = None) -> None:
    """Try identity, commutativity, associativity, terminal and idempotence on a sample.

    Integers must agree exactly, floats to a relative tolerance of 1e-9. A family of dtypes is passed over if the
    operator does not take it or it cannot hold the identity; one must remain.
    """
    chosen = None if samples is None else tuple(samples)
    tried = 0
    refusal: Exception | None = None
    for name, usual in _SAMPLES.items():
        dtype = np.dtype(name)
        values = usual if chosen is None else tuple(v for v in chosen if _holds(dtype, v))
        if not values:
            continue
        try:
            identity = monoid.identity_for(dtype)
            terminal = monoid.terminal_for(dtype)
            monoid.reduce_for(dtype)(identity, identity)
        except (TypeError, ValueError, OverflowError) as error:
            refusal = error
            continue
        _check_family(_Trial(monoid, dtype), [dtype.type(v) for v in values], identity, terminal)
        tried += 1
    if not tried:
        raise ValueError(f"monoid {monoid.name!r} works on no kind of number: {refusal}")


class _Trial:
    """Evaluates a monoid's operator in one dtype and words the complaint."""

    def __init__(self, monoid: Monoid, dtype: np.dtype) -> None:
        self.monoid = monoid
        self.python = monoid.op.python_for(dtype)
        self.dtype = dtype

    def value(self, a: Any, b: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                return self.python(a, b)
        except Exception as error:
            raise ValueError(
                f"{self.monoid.name!r} is no monoid: f({_show(a)}, {_show(b)}) raised {type(error).__name__}: {error}"
            ) from error

    def same(self, a: Any, b: Any, size: float = 0.0) -> bool:
        if self.dtype.kind != "f":
            return bool(a == b)
        return bool(a == b or (a != a and b != b) or abs(a - b) <= _RELATIVE_TOLERANCE * max(abs(a), abs(b), size))

    def complain(self, law: str, evidence: str) -> None:
        raise ValueError(f"{self.monoid.name!r} is no monoid: {law}: {evidence}")


def _check_family(trial: _Trial, values: list[Any], identity: Any, terminal: Any) -> None:
    _check_identity(trial, values, identity)
    for a, b in itertools.combinations(values, 2):
        ab, ba = trial.value(a, b), trial.value(b, a)
        if not trial.same(ab, ba):
            trial.complain(
                "it is not commutative",
                f"f({_show(a)}, {_show(b)}) = {_show(ab)}, f({_show(b)}, {_show(a)}) = {_show(ba)}",
            )
    for a, b, c in itertools.product([*values, identity], repeat=3):
        left, right = trial.value(trial.value(a, b), c), trial.value(a, trial.value(b, c))
        # Rounding in a sum is relative to the largest number that took part in it.
        size = max(abs(float(v)) for v in (a, b, c))
        if not trial.same(left, right, size if np.isfinite(size) else 0.0):
            x, y, z = _show(a), _show(b), _show(c)
            trial.complain(
                "it is not associative",
                f"f(f({x}, {y}), {z}) = {_show(left)}, f({x}, f({y}, {z})) = {_show(right)}",
            )
    if terminal is not None:
        for value in values:
            result = trial.value(terminal, value)
            if not trial.same(result, terminal):
                trial.complain(
                    f"{_show(terminal)} is not terminal", f"f({_show(terminal)}, {_show(value)}) = {_show(result)}"
                )
    if trial.monoid.idempotent:
        for value in values:
            result = trial.value(value, value)
            if not trial.same(result, value):
                trial.complain("it is not idempotent", f"f({_show(value)}, {_show(value)}) = {_show(result)}")


def _check_identity(trial: _Trial, values: list[Any], identity: Any) -> None:
    for value in values:
        for a, b in ((identity, value), (value, identity)):
            result = trial.value(a, b)
            if not trial.same(result, value):
                trial.complain(
                    f"{_show(identity)} is not its identity",
                    f"f({_show(a)}, {_show(b)}) = {_show(result)}, not {_show(value)}",
                )


def _holds(dtype: np.dtype, value: Any) -> bool:
    try:
        with np.errstate(all="ignore"):
            return bool(np.asarray(value).astype(dtype)[()] == value)
    except (TypeError, ValueError, OverflowError):
        return False


def _show(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)
