"""What the built-in operators mean, said with NumPy's ufuncs over whole arrays; shares nothing with the library."""

import numpy as np

_NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
DTYPES = [np.dtype(name) for name in _NAMES.split()]

FLOAT_UNARY = ["sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh"]
# Rounded alike by no two mathematical libraries.
UNORDERED = {
    "floordiv", "min", "max", "lt", "le", "gt", "ge", "hypot", "atan2", "sign", "floor", "ceil", "trunc", *FLOAT_UNARY
}  # fmt: skip
# Of complex numbers: what rounds more than once.
ROUNDED = {"times", "div", "rdiv", "minv", "abs"}
APPROXIMATE = {*FLOAT_UNARY, "hypot", "atan2"} - {"sqrt"}


def samples(dtype: np.dtype) -> np.ndarray:
    """Ordinary values, and all the borders of a dtype."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "c":
        return np.array([0, 1, -1, 1j, -2.5j, 2.5 - 7.25j, -0.5 + 0.125j, 3e5 + 4e5j], dtype)
    if dtype.kind == "f":
        return np.array([0.0, -0.0, 1, -1, 2.5, -7.25, 0.1, 3e5, np.inf, -np.inf, np.nan], dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    signed = {-1, -2, -7, low + 1} if low else set()
    return np.array(sorted({0, 1, 2, 7, 100, low, high, high - 1} | signed), dtype)


def fraction(a: np.ndarray) -> np.ndarray:
    return a if a.dtype.kind in "fc" else a.astype(np.float64)


def or_exclusive_or(ufunc):
    """GraphBLAS's bool: minus is exclusive or, where NumPy raises."""
    return lambda a, b: a ^ b if a.dtype.kind == "b" else ufunc(a, b)


BINARY = {
    "plus": np.add, "minus": or_exclusive_or(np.subtract), "rminus": or_exclusive_or(lambda a, b: np.subtract(b, a)),
    "times": np.multiply, "div": np.true_divide, "rdiv": lambda a, b: np.true_divide(b, a), "floordiv": np.floor_divide,
    "min": np.fmin, "max": np.fmax, "first": lambda a, b: np.broadcast_arrays(a, b)[0],
    "second": lambda a, b: np.broadcast_arrays(a, b)[1],
    "pair": lambda a, b: np.ones(np.broadcast_shapes(a.shape, b.shape), a.dtype),
    "any": lambda a, b: np.where(a != 0, a, b),
    "any_index": lambda a, b: np.where(a == np.array(-1).astype(a.dtype), b, a), "lor": np.logical_or,
    "land": np.logical_and, "lxor": np.logical_xor, "lxnor": lambda a, b: ~np.logical_xor(a, b), "bor": np.bitwise_or,
    "band": np.bitwise_and, "bxor": np.bitwise_xor, "bxnor": lambda a, b: np.invert(np.bitwise_xor(a, b)),
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "hypot": lambda a, b: np.hypot(fraction(a), fraction(b)),
    "atan2": lambda a, b: np.arctan2(fraction(a), fraction(b)),
}  # fmt: skip

UNARY = {
    "identity": np.positive,
    "ainv": np.negative,
    "minv": lambda a: 1 / fraction(a),
    "abs": np.absolute,
    "conj": np.conjugate,
    "real": np.real,
    "imag": np.imag,
    "sign": np.sign,
    "one": np.ones_like,
    "lnot": np.logical_not,
    "bnot": np.invert,
    "floor": lambda a: np.floor(a).astype(a.dtype) if a.dtype.kind == "f" else a,
    "ceil": lambda a: np.ceil(a).astype(a.dtype) if a.dtype.kind == "f" else a,
    "trunc": lambda a: np.trunc(a).astype(a.dtype) if a.dtype.kind == "f" else a,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    **{name: (lambda ufunc: lambda a: ufunc(fraction(a)))(getattr(np, name)) for name in FLOAT_UNARY},
}
# NumPy has none of these over bool.
for name in ("identity", "ainv", "conj", "sign"):
    UNARY[name] = (lambda ufunc: lambda a: a if a.dtype.kind == "b" else ufunc(a))(UNARY[name])


def takes(name: str, dtype: np.dtype) -> bool:
    """Whether an operator works on a dtype: bitwise ones do not on floats, nor those that need an order on complex."""
    if dtype.kind == "c" and name in UNORDERED:
        return False
    return dtype.kind not in "fc" or name not in ("bor", "band", "bxor", "bxnor", "bnot")


def expected_binary(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return BINARY[name](a, b)


def expected_unary(name: str, a: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return UNARY[name](a)


def assert_same(name: str, found: np.ndarray, expected: np.ndarray, where: str) -> None:
    """The same dtype, and the same values; approximately for functions that libraries round in their own ways."""
    assert found.dtype == expected.dtype, where
    if name in APPROXIMATE or (name in ROUNDED and "complex" in where):
        tolerance = 64 * np.finfo(expected.dtype).eps
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=where)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=where)
