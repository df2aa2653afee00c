"""The built-in operators, in Python. ``operators.cuh`` defines them in C++; tests compare the two.

Division by zero gives 0 for integers and the IEEE 754 result for floats, as in NumPy. ``min`` and ``max`` ignore a NaN
if the other operand is a number, as GraphBLAS and C's fmin do, so that a reduction of NaNs only gives the identity; of
0.0 and -0.0, which are equal, either may be the result. Integers wrap around, except sums and differences in semirings
that add by ``min`` or ``max`` (`SATURATED`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.semiring.operators import BinaryOp, IndexUnaryOp, Kind, Python, UnaryOp, by_kind


def _first(a: Any, b: Any) -> Any:
    return a


def _second(a: Any, b: Any) -> Any:
    return b


def _land(a: Any, b: Any) -> Any:
    return a and b


def _lor(a: Any, b: Any) -> Any:
    return a or b


def _lxor(a: Any, b: Any) -> Any:
    return a != b


def _lxnor(a: Any, b: Any) -> Any:
    return a == b


def _itself(a: Any) -> Any:
    return a


# One instruction each (x86's minss); ignoring a NaN in `a` too would take three.
def smaller(a: Any, b: Any) -> Any:
    """The smaller of two; `a` if either is NaN."""
    return b if b < a else a


def larger(a: Any, b: Any) -> Any:
    """The larger of two; `a` if either is NaN."""
    return b if b > a else a


def _fmin(a: Any, b: Any) -> Any:
    # The second comparison is true only for a NaN.
    return b if b < a or a != a else a


def _fmax(a: Any, b: Any) -> Any:
    return b if b > a or a != a else a


def _floordiv_signed(a: Any, b: Any) -> Any:
    # The smallest integer over -1 traps on x86; its negation merely wraps around.
    if b == 0:
        return 0
    return -a if b == -1 else a // b


def _floordiv_unsigned(a: Any, b: Any) -> Any:
    return a // b if b != 0 else a - a


def _floordiv_float(a: Any, b: Any) -> Any:
    # As in NumPy, from the exact remainder, so that the quotient is not rounded up to the next integer.
    if b == 0:
        return a / b
    remainder = np.fmod(a, b)
    quotient = (a - remainder) / b
    if remainder != 0 and (b < 0) != (remainder < 0):
        quotient = quotient - 1
    if quotient == 0:
        return np.copysign(quotient, a / b)
    whole = np.floor(quotient)
    return whole + 1 if quotient - whole > 0.5 else whole


def _any(a: Any, b: Any) -> Any:
    return a if a != 0 else b


def _any_index(dtype: np.dtype) -> Python:
    absent = np.array(-1).astype(dtype)[()]
    return lambda a, b: b if a == absent else a


def _div_complex(a: Any, b: Any) -> Any:
    # Smith's algorithm, as in NumPy: scaling by the larger part of the divisor avoids overflow.
    if abs(b.real) >= abs(b.imag):
        if b.real == 0 and b.imag == 0:
            return complex(a.real / abs(b.real), a.imag / abs(b.real))
        ratio = b.imag / b.real
        scale = 1 / (b.real + b.imag * ratio)
        return complex((a.real + a.imag * ratio) * scale, (a.imag - a.real * ratio) * scale)
    ratio = b.real / b.imag
    scale = 1 / (b.imag + b.real * ratio)
    return complex((a.real * ratio + a.imag) * scale, (a.imag * ratio - a.real) * scale)


def _isinf_complex(a: Any) -> Any:
    return _isinf(a.real) or _isinf(a.imag)


def _isinf(a: Any) -> Any:
    return a - a != a - a and a == a


def _sign(a: Any) -> Any:
    return a if a != a else (a > 0) * 1 - (a < 0) * 1


def _saturated(name: str, operation: Python) -> Callable[[np.dtype], Python | None]:
    """A saturating sum or difference of integers."""

    def specialize(dtype: np.dtype) -> Python | None:
        if dtype.kind not in "iu":
            return BINARY[name].python_for(dtype)
        least, largest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        if dtype.itemsize < 8:
            # Exact in 64 bits.
            return lambda a, b: min(max(operation(np.int64(a), np.int64(b)), least), largest)
        return _SATURATED_64[operation, dtype.kind]

    return specialize


def _sum(a: Any, b: Any) -> Any:
    return a + b


def _difference(a: Any, b: Any) -> Any:
    return a - b


def _reversed_difference(a: Any, b: Any) -> Any:
    return b - a


_MIN, _LARGEST = np.int64(-(2**63)), np.int64(2**63 - 1)
_NONE, _ALL = np.uint64(0), np.uint64(2**64 - 1)


def _signed_sum(a: Any, b: Any) -> Any:
    # It wrapped around if its sign is neither operand's.
    total = a + b
    end = _LARGEST if a >= 0 else _MIN
    return end if ((a ^ total) & (b ^ total)) < 0 else total


def _signed_difference(a: Any, b: Any) -> Any:
    rest = a - b
    end = _LARGEST if a >= 0 else _MIN
    return end if ((a ^ b) & (a ^ rest)) < 0 else rest


def _unsigned_sum(a: Any, b: Any) -> Any:
    total = a + b
    return _ALL if total < a else total


def _unsigned_difference(a: Any, b: Any) -> Any:
    return a - b if a > b else _NONE


_SATURATED_64: dict[tuple[Any, str], Python] = {
    (_sum, "i"): _signed_sum,
    (_sum, "u"): _unsigned_sum,
    (_difference, "i"): _signed_difference,
    (_difference, "u"): _unsigned_difference,
    (_reversed_difference, "i"): lambda a, b: _signed_difference(b, a),
    (_reversed_difference, "u"): lambda a, b: _unsigned_difference(b, a),
}


def _positional(a: Any, b: Any) -> Any:
    raise TypeError("a positional operator has no value for two numbers")


_UNORDERED = "they have no order; take .real, .imag or abs() of the operands first"


def _binary(name: str, python: Python, result: Kind = "same", instead: str | None = None, **kinds: Python) -> BinaryOp:
    return BinaryOp(name, python, result, specialize=by_kind(**kinds) if kinds else None, cpp=name, instead=instead)


def _unary(name: str, python: Python, result: Kind = "same", instead: str | None = None, **kinds: Python) -> UnaryOp:
    return UnaryOp(name, python, result, specialize=by_kind(**kinds) if kinds else None, cpp=name, instead=instead)


def _named(operators: list[Any]) -> dict[str, Any]:
    return {operator.name: operator for operator in operators}


BINARY: dict[str, BinaryOp] = _named(
    [
        _binary("plus", lambda a, b: a + b, b=_lor),
        _binary("minus", lambda a, b: a - b, b=_lxor),
        _binary("rminus", lambda a, b: b - a, b=_lxor),
        _binary("times", lambda a, b: a * b, b=_land),
        _binary("div", lambda a, b: a / b, "float", c=_div_complex),
        _binary("rdiv", lambda a, b: b / a, "float", c=lambda a, b: _div_complex(b, a)),
        _binary("floordiv", _floordiv_float, "number", _UNORDERED, i=_floordiv_signed, u=_floordiv_unsigned),
        _binary("min", _fmin, instead=_UNORDERED, b=_land, i=smaller, u=smaller),
        _binary("max", _fmax, instead=_UNORDERED, b=_lor, i=larger, u=larger),
        _binary("first", _first, "first"),
        _binary("second", _second, "second"),
        _binary("pair", lambda a, b: 1),
        _binary("any", _any, b=_lor),
        BinaryOp("any_index", lambda a, b: b if a == -1 else a, "same", specialize=_any_index, cpp="any_index"),
        _binary("lor", _lor, "truth"),
        _binary("land", _land, "truth"),
        _binary("lxor", _lxor, "truth"),
        _binary("lxnor", _lxnor, "truth"),
        _binary("bor", lambda a, b: a | b, "bits", b=_lor),
        _binary("band", lambda a, b: a & b, "bits", b=_land),
        _binary("bxor", lambda a, b: a ^ b, "bits", b=_lxor),
        _binary("bxnor", lambda a, b: ~(a ^ b), "bits", b=_lxnor),
        _binary("eq", lambda a, b: a == b, "bool"),
        _binary("ne", lambda a, b: a != b, "bool"),
        _binary("lt", lambda a, b: a < b, "bool", _UNORDERED),
        _binary("le", lambda a, b: a <= b, "bool", _UNORDERED),
        _binary("gt", lambda a, b: a > b, "bool", _UNORDERED),
        _binary("ge", lambda a, b: a >= b, "bool", _UNORDERED),
        _binary("hypot", lambda a, b: np.hypot(a, b), "float", _UNORDERED),
        _binary("atan2", lambda a, b: np.arctan2(a, b), "float", _UNORDERED),
        BinaryOp("firsti", _positional, "index", position="target", axis="row"),
        BinaryOp("firstj", _positional, "index", position="source", axis="column"),
        BinaryOp("secondi", _positional, "index", position="source", axis="row"),
        BinaryOp("secondj", _positional, "index", position="column", axis="column"),
    ]
)

# Replacements of operators in semirings that add by min or max. A path longer than its type can represent must not wrap
# to a short one, and the end of the type, the identity of min, means that there is no path.
SATURATED: dict[str, BinaryOp] = {
    name: BinaryOp(name, python, specialize=_saturated(name, python), cpp=f"saturated_{name}")
    for name, python in (("plus", _sum), ("minus", _difference), ("rminus", _reversed_difference))
}

BINARY_ALIASES = {
    "oneb": "pair",
    "truediv": "div",
    "rtruediv": "rdiv",
    "subtract": "minus",
    "multiply": "times",
    "add": "plus",
}

_OF_REALS = "the operator is that of real numbers; use the method of the same name, or NumPy's function on the values"
_FLOAT_FUNCTIONS = ["sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh"]


def _of_numpy(name: str) -> Python:
    function = getattr(np, name)
    return lambda a: function(a)


UNARY: dict[str, UnaryOp] = _named(
    [
        _unary("identity", _itself),
        _unary("ainv", lambda a: -a, b=_itself),
        _unary("minv", lambda a: 1 / a, "float", c=lambda a: _div_complex(complex(1), a)),
        _unary("abs", lambda a: abs(a), "part", b=_itself, u=_itself, c=lambda a: np.hypot(a.real, a.imag)),
        _unary("conj", _itself, c=lambda a: complex(a.real, -a.imag)),
        _unary("real", _itself, "part", c=lambda a: a.real),
        _unary("imag", lambda a: 0, "part", c=lambda a: a.imag),
        _unary("sign", _sign, instead=_UNORDERED, b=_itself),
        _unary("one", lambda a: 1),
        _unary("lnot", lambda a: not a, "truth"),
        _unary("bnot", lambda a: ~a, "bits", b=lambda a: not a),
        _unary("floor", lambda a: np.floor(a), instead=_UNORDERED, b=_itself, i=_itself, u=_itself),
        _unary("ceil", lambda a: np.ceil(a), instead=_UNORDERED, b=_itself, i=_itself, u=_itself),
        _unary("trunc", lambda a: np.trunc(a), instead=_UNORDERED, b=_itself, i=_itself, u=_itself),
        _unary("isnan", lambda a: a != a, "bool"),
        _unary("isinf", _isinf, "bool", b=lambda a: False, c=_isinf_complex),
        _unary("isfinite", lambda a: a - a == a - a, "bool", b=lambda a: True),
        *(_unary(name, _of_numpy(name), "float", _OF_REALS) for name in _FLOAT_FUNCTIONS),
    ]
)

INDEX_UNARY: dict[str, IndexUnaryOp] = _named(
    [
        IndexUnaryOp("rowindex", lambda a, i, j, thunk: i + thunk, "index", cpp="rowindex"),
        IndexUnaryOp("colindex", lambda a, i, j, thunk: j + thunk, "index", cpp="colindex"),
        IndexUnaryOp("diagindex", lambda a, i, j, thunk: j - i - thunk, "index", cpp="diagindex"),
        IndexUnaryOp("tril", lambda a, i, j, thunk: j - i <= thunk, "bool", cpp="tril"),
        IndexUnaryOp("triu", lambda a, i, j, thunk: j - i >= thunk, "bool", cpp="triu"),
        IndexUnaryOp("diag", lambda a, i, j, thunk: j - i == thunk, "bool", cpp="diag"),
        IndexUnaryOp("offdiag", lambda a, i, j, thunk: j - i != thunk, "bool", cpp="offdiag"),
        IndexUnaryOp("rowle", lambda a, i, j, thunk: i <= thunk, "bool", cpp="rowle"),
        IndexUnaryOp("rowgt", lambda a, i, j, thunk: i > thunk, "bool", cpp="rowgt"),
        IndexUnaryOp("colle", lambda a, i, j, thunk: j <= thunk, "bool", cpp="colle"),
        IndexUnaryOp("colgt", lambda a, i, j, thunk: j > thunk, "bool", cpp="colgt"),
    ]
)
# Comparisons of the value with the thunk are the binary operators, which promote as NumPy does.
VALUE_COMPARISONS = {f"value{name}": name for name in ("eq", "ne", "lt", "le", "gt", "ge")}
