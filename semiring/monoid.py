"""Commutative monoids: an associative, commutative operator with an identity."""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from hpgraph.semiring.arithmetic import BINARY, larger, smaller
from hpgraph.semiring.dtypes import check_dtype
from hpgraph.semiring.function import Function
from hpgraph.semiring.operators import BinaryOp, ByName, Python

Value = Any
Element = Value | Callable[[np.dtype], Value]


class Monoid(ByName):
    """A commutative monoid: an operator that reduces values of one type, in any grouping and order.

    Parameters
    ----------
    op : BinaryOp or function
        ``f(a, b)``. The result is converted to the operands' type.
    identity : number or function
        ``f(identity, x) == x`` for every x. For integers and bool an infinity denotes the largest or smallest value. A
        function returns the value for a dtype.
    terminal : number or function, optional
        ``f(terminal, x) == terminal`` for every x: a reduction that has reached it may stop. A function may return None
        for a dtype without a terminal value.
    idempotent : bool
        Whether ``f(x, x) == x``, so that a value may be combined twice.
    name : str, optional
        Default: that of the operator.
    samples : iterable of numbers, optional
        Values on which to check the laws, for an operator that satisfies them on some numbers only.
    check : bool
        Whether to check the laws on a sample of bool, int64, uint64 and float64, as far as the operator supports them.

    Raises
    ------
    ValueError
        If a law fails on the sample; the message shows where.

    Examples
    --------
    >>> longest = Monoid(lambda a, b: max(a, b), identity=-np.inf, idempotent=True, name="longest")
    >>> longest.identity_for("int8"), longest.identity_for("float32")
    (np.int8(-128), np.float32(-inf))
    >>> Monoid(lambda a, b: a - b, identity=0, name="difference")
    Traceback (most recent call last):
    ...
    ValueError: 'difference' is no monoid: 0 is not its identity: f(0, 1) = -1, not 1
    """

    def __init__(
        self,
        op: BinaryOp | Python | Function,
        identity: Element,
        terminal: Element | None = None,
        idempotent: bool = False,
        *,
        name: str | None = None,
        samples: Iterable[Value] | None = None,
        check: bool = True,
    ) -> None:
        self.op = _within_one_type(op, name)
        self.name = name or self.op.name
        self.identity = identity
        self.terminal = terminal
        self.idempotent = bool(idempotent)
        # The identity never ends a reduction by `any`, and every other value does.
        self.ends_on_anything = self.op.cpp in ("any", "any_index")
        self._folds: dict[np.dtype, Function] = {}
        self._terminal_tests: dict[np.dtype, Function] = {}
        if self.op.position:
            raise ValueError(f"{self.op.name} gives an index, not a combination of two values, and makes no monoid")
        if check:
            check_monoid(self, samples)

    def __repr__(self) -> str:
        return f"<Monoid {self.name}>"

    @property
    def cpp(self) -> str | None:
        """Name of the struct in ``operators.cuh``, None for a monoid made from Python functions."""
        return self.op.cpp if self is ANY_INDEX or BUILTIN.get(self.name) is self else None

    def identity_for(self, dtype: npt.DTypeLike) -> np.generic:
        """The identity in a dtype, as a NumPy scalar; `ValueError` if the dtype cannot represent it."""
        found = check_dtype(dtype)
        value = self.identity(found) if callable(self.identity) else self.identity
        return _hold(value, found, f"the identity of monoid {self.name!r}")

    def terminal_for(self, dtype: npt.DTypeLike) -> np.generic | None:
        """The value at which a reduction in a dtype may stop, as a NumPy scalar; None if it has none.

        None also for ``any``, which stops at every value but its identity: use `terminal_test` in kernels.
        """
        found = check_dtype(dtype)
        value = self.terminal(found) if callable(self.terminal) else self.terminal
        return None if value is None else _hold(value, found, f"the terminal of monoid {self.name!r}")

    def has_terminal(self, dtype: npt.DTypeLike) -> bool:
        """Whether a reduction in a dtype can ever stop early."""
        return self.ends_on_anything or self.terminal_for(dtype) is not None

    @property
    def reduce(self) -> Function:
        """The operator as a `Function` ``f(a, b)`` without conversions: Numba computes with integers in 64 bits."""
        return self.op.function

    def reduce_for(self, dtype: npt.DTypeLike) -> Function:
        """The operator as a `Function` ``f(a, b)`` from two values of a dtype to one of the same dtype.

        `a` is the accumulator, which starts with the identity. It is therefore never NaN if the monoid ignores NaN
        (min, max), and the function need not check.
        """
        found = check_dtype(dtype)
        fold = _FOLDS.get(self.cpp or "")
        if fold is None or found.kind != "f":
            return self.op.typed(found, found, found)
        if found not in self._folds:
            self._folds[found] = BinaryOp(self.name, fold, "same", cpp=self.cpp).typed(found, found)
        return self._folds[found]

    def terminal_test(self, dtype: npt.DTypeLike) -> Function:
        """A `Function` ``f(a) -> bool``: whether a reduction in a dtype may stop at the value `a`."""
        found = check_dtype(dtype)
        if found not in self._terminal_tests:
            self._terminal_tests[found] = Function(self._terminal_test(found), f"{self.name}_terminal")
        return self._terminal_tests[found]

    def _terminal_test(self, dtype: np.dtype) -> Python:
        if self.ends_on_anything:
            identity = self.identity_for(dtype)
            return lambda a: a != identity
        terminal = self.terminal_for(dtype)
        if terminal is None:
            return lambda a: False
        return lambda a: a == terminal


class _Unending(Monoid):
    """A monoid without a terminal value: reductions never stop early."""

    def __init__(self, monoid: Monoid) -> None:
        super().__init__(monoid.op, monoid.identity, None, monoid.idempotent, name=monoid.name, check=False)
        self._of = monoid

    @property
    def cpp(self) -> str | None:
        return self._of.cpp


def without_terminal(monoid: Monoid) -> Monoid:
    """The same monoid, without a value at which a reduction may stop."""
    return _Unending(monoid)


def _within_one_type(op: BinaryOp | Python | Function, name: str | None) -> BinaryOp:
    """The operator, with its result converted to its operands' type."""
    if not isinstance(op, BinaryOp):
        return BinaryOp(name or Function(op).name, op, "same")
    return BinaryOp(op.name, op.function, "same", specialize=op.specialize) if op.result == "returned" else op


_FOLDS = {"min": smaller, "max": larger}


def _hold(value: Value, dtype: np.dtype, what: str) -> np.generic:
    """The value in a dtype, an infinity as the end of its range; ValueError if the dtype cannot represent it."""
    if not isinstance(value, int) and (np.ndim(value) or np.asarray(value).dtype.kind not in "biufc"):
        raise TypeError(f"{what} must be a number, or a function of a dtype that returns one, not {value!r}")
    if dtype.kind in "biu" and isinstance(value, (float, np.floating)) and np.isinf(value):
        if dtype.kind == "b":
            return np.bool_(value > 0)
        return dtype.type(np.iinfo(dtype).max if value > 0 else np.iinfo(dtype).min)
    with np.errstate(all="ignore"):
        held = dtype.type(np.asarray(value).astype(dtype)[()])
    if dtype.kind in "biu" and held != value:
        raise ValueError(f"{what} is {value!r}, which {dtype} cannot hold")
    return held


def _all_bits(dtype: np.dtype) -> Value:
    return np.bitwise_not(dtype.type(0)) if dtype.kind not in "fc" else 0


def _times_terminal(dtype: np.dtype) -> Value:
    # A float zero does not end a product: zero times infinity is NaN.
    return None if dtype.kind in "fc" else 0


def _plus_terminal(dtype: np.dtype) -> Value:
    return True if dtype.kind == "b" else None


def _monoid(name: str, identity: Element, terminal: Element | None = None, idempotent: bool = False) -> Monoid:
    return Monoid(BINARY[name], identity, terminal, idempotent, check=False)


BUILTIN: dict[str, Monoid] = {
    monoid.name: monoid
    for monoid in (
        _monoid("plus", 0, _plus_terminal),
        _monoid("times", 1, _times_terminal),
        _monoid("min", np.inf, -np.inf, idempotent=True),
        _monoid("max", -np.inf, np.inf, idempotent=True),
        _monoid("any", 0, idempotent=True),
        _monoid("lor", False, True, idempotent=True),
        _monoid("land", True, False, idempotent=True),
        _monoid("lxor", False),
        _monoid("lxnor", True),
        _monoid("bor", 0, _all_bits, idempotent=True),
        _monoid("band", _all_bits, 0, idempotent=True),
        _monoid("bxor", 0),
        _monoid("bxnor", _all_bits),
    )
}

# Values may be vertices: 0 is a vertex and -1 denotes none.
ANY_INDEX = Monoid(
    BINARY["any_index"], lambda dtype: np.array(-1).astype(dtype)[()], idempotent=True, name="any", check=False
)


# Small enough that no product of three overflows int64, and with fractions that floats represent exactly.
_SAMPLES: dict[str, tuple[Any, ...]] = {
    "bool": (False, True),
    "int64": (0, 1, 2, -1, 5, -7, 12),
    "uint64": (0, 1, 2, 5, 12),
    "float64": (0.0, 1.0, -1.0, 0.5, 2.25, -7.5, 1000.0),
}
_RELATIVE_TOLERANCE = 1e-9


def check_monoid(monoid: Monoid, samples: Iterable[Any] | None = None) -> None:
    """Check identity, commutativity, associativity, terminal and idempotence on a sample.

    Integers must agree exactly, floats to a relative tolerance of 1e-9. A family of dtypes is skipped if the operator
    does not support it or it cannot represent the identity; one must remain.
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
        raise ValueError(f"monoid {monoid.name!r} supports no type of number: {refusal}")


class _Trial:
    """Evaluates a monoid's operator in one dtype and formats the error."""

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

    def check(self, law: str, evidence: str, found: Any, wanted: Any, size: float = 0.0) -> None:
        """Raise if two values differ; `evidence` formats them as {0} and {1}."""
        same = bool(found == wanted)
        if self.dtype.kind == "f" and not same:
            allowed = _RELATIVE_TOLERANCE * max(abs(found), abs(wanted), size)
            same = (found != found and wanted != wanted) or bool(abs(found - wanted) <= allowed)
        if not same:
            evidence = evidence.format(_show(found), _show(wanted))
            raise ValueError(f"{self.monoid.name!r} is no monoid: {law}: {evidence}")


def _check_family(trial: _Trial, values: list[Any], identity: Any, terminal: Any) -> None:
    f = trial.value
    for value in values:
        for a, b in ((identity, value), (value, identity)):
            law = f"{_show(identity)} is not its identity"
            trial.check(law, f"f({_show(a)}, {_show(b)}) = {{0}}, not {{1}}", f(a, b), value)
    for a, b in itertools.combinations(values, 2):
        evidence = f"f({_show(a)}, {_show(b)}) = {{0}}, f({_show(b)}, {_show(a)}) = {{1}}"
        trial.check("it is not commutative", evidence, f(a, b), f(b, a))
    for a, b, c in itertools.product([*values, identity], repeat=3):
        # Rounding in a sum is relative to its largest term.
        size = max(abs(float(v)) for v in (a, b, c))
        x, y, z = _show(a), _show(b), _show(c)
        evidence = f"f(f({x}, {y}), {z}) = {{0}}, f({x}, f({y}, {z})) = {{1}}"
        size = size if np.isfinite(size) else 0.0
        trial.check("it is not associative", evidence, f(f(a, b), c), f(a, f(b, c)), size)
    for value in values if terminal is not None else ():
        evidence = f"f({_show(terminal)}, {_show(value)}) = {{0}}"
        trial.check(f"{_show(terminal)} is not terminal", evidence, f(terminal, value), terminal)
    for value in values if trial.monoid.idempotent else ():
        trial.check("it is not idempotent", f"f({_show(value)}, {_show(value)}) = {{0}}", f(value, value), value)


def _holds(dtype: np.dtype, value: Any) -> bool:
    try:
        with np.errstate(all="ignore"):
            return bool(np.asarray(value).astype(dtype)[()] == value)
    except (TypeError, ValueError, OverflowError):
        return False


def _show(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)
