"""Every built-in operator over every dtype: in Python and compiled by Numba, against NumPy."""

import numpy as np
import pytest
from raising import raises
from reference_operators import BINARY, DTYPES, UNARY, assert_same, expected_binary, expected_unary, samples, takes

from hpgraph.semiring import dtypes, get_binary, get_unary
from hpgraph.semiring.arithmetic import BINARY as BUILTIN_BINARY
from hpgraph.semiring.arithmetic import UNARY as BUILTIN_UNARY
from hpgraph.semiring.dtypes import check_dtype
from hpgraph.semiring.operators import BinaryOp, UnaryOp


def test_the_reference_covers_every_operator_and_dtype():
    assert set(BINARY) == {op.name for op in BUILTIN_BINARY.values() if not op.position}
    assert set(UNARY) == set(BUILTIN_UNARY)
    assert tuple(DTYPES) == dtypes.DTYPES


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary_in_python(name, dtype):
    if not takes(name, dtype):
        raises(TypeError, r"bits of integers|not defined on complex", get_binary(name).typed, dtype, dtype)
        return
    values = samples(dtype)
    found = np.array([[get_binary(name)(a, b) for b in values] for a in values])
    assert_same(name, found, expected_binary(name, values[:, None], values), f"{name} {dtype}")
    assert get_binary(name).result_dtype(dtype, dtype) == found.dtype


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary_in_python(name, dtype):
    if not takes(name, dtype):
        raises(TypeError, r"bits of integers|not defined on complex", get_unary(name).typed, dtype)
        return
    values = samples(dtype)
    found = np.array([get_unary(name)(a) for a in values])
    assert_same(name, found, expected_unary(name, values), f"{name} {dtype}")
    assert get_unary(name).result_dtype(dtype) == found.dtype


# Numba computes all small integers alike, in 64 bits, so one of each signedness stands for them.
COMPILED = [
    np.dtype(name)
    for name in (
        "bool", "int8", "uint64", "float32", "float64", "complex128"
    )
]  # fmt: skip


def compiled(n_functions: int, n_arguments: int):
    """One kernel that evaluates many functions: compiling one kernel a function would take a minute."""
    from hpgraph.kernels.runtime.cpu.kernel import njit
    from hpgraph.semiring import jit

    names = ", ".join(f"f{k}, out{k}" for k in range(n_functions))
    if n_arguments == 2:
        inner = "        for j in range(values.size):\n"
        lines = "".join(f"            out{k}[i, j] = call(f{k}, values[i], values[j])\n" for k in range(n_functions))
    else:
        inner = ""
        lines = "".join(f"        out{k}[i] = call(f{k}, values[i])\n" for k in range(n_functions))
    # The text has no constants: its bytecode and the functions' fingerprints name the code that is kept, in the folder
    # of this version of `jit` and all that it imports.
    namespace = {"call": jit.call, "__name__": jit.__name__}
    exec(f"def kernel(values, {names}):\n    for i in range(values.size):\n{inner}{lines}", namespace)
    return njit(namespace["kernel"], cache=True, counts_references=False)


@pytest.mark.parametrize("dtype", COMPILED, ids=str)
def test_binary_compiled(dtype):
    values = samples(dtype)
    names = [name for name in BINARY if takes(name, dtype)]
    functions = [get_binary(name).typed(dtype, dtype) for name in names]
    outs = [np.empty((values.size,) * 2, get_binary(name).result_dtype(dtype, dtype)) for name in names]
    compiled(len(names), 2)(values, *(x for pair in zip(functions, outs, strict=True) for x in pair))
    for name, out in zip(names, outs, strict=True):
        assert_same(name, out, expected_binary(name, values[:, None], values), f"{name} {dtype}")


@pytest.mark.parametrize("dtype", COMPILED, ids=str)
def test_unary_compiled(dtype):
    values = samples(dtype)
    names = [name for name in UNARY if takes(name, dtype)]
    functions = [get_unary(name).typed(dtype) for name in names]
    outs = [np.empty(values.size, get_unary(name).result_dtype(dtype)) for name in names]
    compiled(len(names), 1)(values, *(x for pair in zip(functions, outs, strict=True) for x in pair))
    for name, out in zip(names, outs, strict=True):
        assert_same(name, out, expected_unary(name, values), f"{name} {dtype}")


@pytest.mark.parametrize("a_dtype", DTYPES, ids=str)
@pytest.mark.parametrize("b_dtype", DTYPES, ids=str)
def test_types_of_two_operands_are_promoted_as_in_numpy(a_dtype, b_dtype):
    one, two = np.ones(1, a_dtype), np.ones(1, b_dtype)
    for name, ufunc in (("plus", np.add), ("times", np.multiply), ("min", np.minimum), ("div", np.true_divide)):
        if not takes(name, np.result_type(a_dtype, b_dtype)):
            continue
        # NumPy's own type is float16 or the like for some; the library has none of them.
        assert get_binary(name).result_dtype(a_dtype, b_dtype) == ufunc(one, two).dtype
    assert get_binary("lt").result_dtype(a_dtype, b_dtype) == np.dtype("bool")
    assert get_binary("first").result_dtype(a_dtype, b_dtype) == a_dtype
    assert get_binary("second").result_dtype(a_dtype, b_dtype) == b_dtype


def test_mixed_operands_compute_in_the_common_type():
    from kernels_of_functions import apply_two

    out = np.zeros(1)
    apply_two(get_binary("plus").typed("uint64", "int8"), np.uint64(2**60), np.int8(-1), out)
    assert out[0] == np.float64(2**60) - 1
    out = np.zeros(1, np.int64)
    apply_two(get_binary("times").typed("uint8", "int8"), np.uint8(200), np.int8(-2), out)
    assert out[0] == np.int16(-400)
    # Computed in int8, where it wraps around, and only then widened.
    apply_two(get_binary("plus").typed("int8", "int8", "int64"), np.int8(100), np.int8(100), out)
    assert out[0] == -56


def test_min_and_max_pass_over_nan():
    for name in ("min", "max"):
        op = get_binary(name)
        assert op(np.nan, 1.0) == op(1.0, np.nan) == 1.0
        assert np.isnan(op(np.nan, np.nan))


def test_positional_operators_have_no_value():
    raises(TypeError, "index of a matrix entry", get_binary("secondi"), 1, 2)
    assert get_binary("secondi").result_dtype("float32", "bool") == np.int64


@pytest.mark.parametrize("bad", ["float16", "clongdouble", "object", "U3", "datetime64[s]"])
def test_unsupported_dtypes_are_refused(bad):
    raises(TypeError, r"weights is .*supported are bool, int8", check_dtype, bad, "weights")


def test_foreign_byte_order_is_the_same_type():
    assert check_dtype(">i4") == np.dtype("int32")


def test_result_kinds_are_checked():
    with pytest.raises(ValueError, match="result is 'int'"):
        BinaryOp("f", lambda a, b: a, "int")  # type: ignore[arg-type]
    raises(ValueError, "result is 'first'", UnaryOp, "f", lambda a: a, "first")


def test_numbers_in_a_closure_differ_by_type_and_sign():
    def scaled(by):
        return lambda x: x * by

    numbers = 1, 1.0, True, 0.0, -0.0, np.float32(1), np.int8(1)
    made = [get_unary(scaled(by)) for by in numbers]
    assert len(set(map(id, made))) == len(numbers)
    assert [get_unary(scaled(by)) for by in numbers] == made
