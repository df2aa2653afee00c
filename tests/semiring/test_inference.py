"""What operators of Python functions return, for every type, beside what Numba alone makes of them."""

import re

import numba
import numpy as np
import pytest

from hpgraph.core.errors import CompileError
from hpgraph.semiring import BinaryOp, IndexUnaryOp, UnaryOp, get_binary, get_index_unary, get_unary
from hpgraph.semiring.cuda import entry_functor
from hpgraph.semiring.entry import entry_function

FUNCTIONS = [lambda a: a / 2, lambda a: a + 1, lambda a: a * a, lambda a: a > 1, lambda a: not a, lambda a: 0.5 * a]


# One of a kind: Numba compiles each function anew for each, whose result it types alike for the others of the kind.
KINDS = [np.dtype(name) for name in ("bool", "int8", "int64", "uint16", "uint64", "float32", "float64", "complex64")]


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_every_kind_of_type(dtype):
    # Complex numbers have no order.
    for function in FUNCTIONS[:3] if dtype.kind == "c" else FUNCTIONS:
        compiled = numba.njit(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)
        compiled.compile((numba.from_dtype(dtype),))
        wanted = np.dtype(str(compiled.nopython_signatures[0].return_type))
        assert get_unary(function).result_dtype(dtype) == wanted
        typed = get_unary(function)(dtype.type(1))
        assert typed.dtype == wanted and typed == function(dtype.type(1))


def test_two_operands_are_given_as_they_are():
    op = get_binary(lambda a, b: a // b)
    assert op.result_dtype("int8", "float32") == np.float32 or op.result_dtype("int8", "float32") == np.float64
    assert get_binary(lambda a, b: a < b).result_dtype("int8", "float64") == np.bool_
    assert get_binary(lambda a, b: b).result_dtype("int8", "uint16") == np.uint16
    place = get_index_unary(lambda a, i, j, k: (j - i) / k)
    assert place.result_dtype("bool", "int64") == np.float64
    assert place(True, 1, 4, 2) == 1.5


def test_a_declared_type_is_kept():
    assert UnaryOp("halve", lambda a: a / 2, "same").result_dtype("int32") == np.int32
    assert BinaryOp("less", lambda a, b: a - b, "bool").result_dtype("int32", "int32") == np.bool_
    assert IndexUnaryOp("sum", lambda a, i, j: i + j, "same").result_dtype("int16") == np.int16


def test_both_devices_have_one_type():
    halve = entry_function(get_unary(lambda a: a / 2), "int64", "bool")
    source = entry_functor(halve, "Halve").source
    assert "__device__ static double apply(long long a0" in source and halve.dtype == np.float64


def missing(a):
    if a > 1:
        return a


def test_a_path_without_return_is_reported():
    line = missing.__code__.co_firstlineno
    with pytest.raises(CompileError, match=re.escape("not None where no return is reached")) as error:
        get_unary(missing).result_dtype("int64")
    assert error.value.function == "missing"
    assert f'test_inference.py", line {line + 1})' in str(error.value)


def test_diagindex_is_measured_from_the_diagonal_of_the_thunk():
    op = get_index_unary("diagindex")
    assert [int(op(0, 2, 5, thunk)) for thunk in (-1, 0, 1, 3)] == [4, 3, 2, 0]
