"""Python functions written down in C++: types as Numba has them, values as Python has them, and what is refused."""

import itertools
import math
import re
from collections import namedtuple

import numpy as np
import pytest
from raising import raises

from hpgraph.core.errors import CompileError
from hpgraph.semiring.function import Function
from hpgraph.semiring.inference import returned_dtype
from hpgraph.semiring.snapshot import copy_function
from hpgraph.semiring.tracing import Text, Traced, traced

DTYPES = tuple(np.dtype(name) for name in ("bool", "int8", "int16", "int32", "int64", "float32", "float64"))
OPERATORS = ("add", "sub", "mul", "truediv", "lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "xor")
INT64, FLOAT64 = np.dtype("int64"), np.dtype("float64")
Vertex = namedtuple("Vertex", ("id", "value"))


def result_of(function, dtypes):
    """The symbol that a function returns; None where it is refused."""
    text = Text()
    try:
        run = copy_function(Function(function).python, lambda python: Traced(python, text))
        return text.of(run(*map(text.argument, dtypes)))
    except Exception:
        return None


def operation(name):
    """A plain function of two operands: those of Python's module `operator` have no bytecode."""
    signs = {"and_": "&", "or_": "|", "xor": "^", "add": "+", "sub": "-", "mul": "*", "truediv": "/"}
    signs |= {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
    return eval(f"lambda a, b: a {signs[name]} b")


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_have_the_types_of_numba(name):
    function, traced_ones = operation(name), 0
    for a, b in itertools.product(DTYPES, repeat=2):
        found = result_of(function, (a, b))
        if found is not None:
            traced_ones += 1
            assert found.dtype == returned_dtype(Function(function), (a, b)), (a, b)
    # Types that Numba chooses by more than one rule are left to it; those of most programs are not.
    assert traced_ones >= (17 if name in ("and_", "or_", "xor") else 35)


@pytest.mark.parametrize("literal", [2, -1, 0.5, True, math.inf])
def test_constants_have_the_types_of_numba(literal):
    for dtype in DTYPES:
        for name in ("add", "mul", "lt"):
            inner = operation(name)

            def function(a, inner=inner, literal=literal):
                return inner(a, literal)

            found = result_of(function, (dtype,))
            assert found is None or found.dtype == returned_dtype(Function(function), (dtype,))


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: b if b < a else a,
        lambda a, b: a if a > 0 and b > 0 else 0,
        lambda a, b: 1 if a > b else 0.5,
        lambda a, b: not (a < b or b < 0),
        lambda a, b: min(a, b),
        lambda a, b: float(a) * abs(float(b)),
        lambda a, b: -a,
    ],
)
def test_decisions_have_the_types_of_numba(function):
    for a, b in itertools.product((INT64, FLOAT64), repeat=2):
        found = result_of(function, (a, b))
        assert found is not None and found.dtype == returned_dtype(Function(function), (a, b))


@pytest.mark.parametrize("convert", [int, float, bool, np.float32, np.int16])
def test_conversions_have_the_types_of_numba(convert):
    def function(a):
        return convert(a)

    for dtype in DTYPES:
        found = result_of(function, (dtype,))
        assert found is not None or dtype == np.bool_
        assert found is None or found.dtype == returned_dtype(Function(function), (dtype,)), dtype


def value_of(text, arguments):
    """What C++ text of `long long` and `double` comes to, worked out by Python."""
    names = dict(zip((f"a{i}" for i in range(len(arguments))), arguments, strict=True))
    for line in text.splitlines():
        line = line.strip().rstrip(";")
        line = re.sub(r"\(unsigned long long\)|\(long long\)|\(double\)|const (bool|long long|double) ", "", line)
        line = re.sub(r"(\d)LL", r"\1", line).replace("true", "True").replace("false", "False")
        line = re.sub(r"(\S+) = (\S+) \? (\S+) : (\S+)", r"\1 = \3 if \2 else \4", line)
        if line.startswith("return"):
            return eval(line.removeprefix("return "), {}, names)
        if line.startswith(("t", "a")):
            exec(line, {}, names)
    raise AssertionError(text)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: b if b < a else a,
        lambda a, b: (a + b) * (a - b),
        lambda a, b: a if a > 0 and b > 0 else (b if a > b or b == 3 else a * b),
        lambda a, b: max(a, b, 0) - min(a, b),
        lambda a, b: (a > b) + (a == b) if not a < 1 else 7,
    ],
)
def test_text_computes_what_python_does(function):
    text = traced(function, (INT64, INT64), INT64, "f")
    for a, b in itertools.product(range(-3, 5), repeat=2):
        assert value_of(text, (a, b)) == function(a, b)


def test_memory_is_read_as_it_was_and_written_in_order():
    def swap(state, v):
        first, second = state
        held = first[v]
        first[v] = second[v]
        second[v] = held
        return first[v]

    text = traced(swap, (("int64*", "int64*"), INT64), INT64, "swap")
    cells = ([5], [7])
    assert value_of(text, (*cells, 0)) == 7
    assert cells == ([7], [5])


def test_functions_tuples_and_types_are_followed():
    def update(vertex, message):
        return message, vertex.value + 1

    def wrapper(value, message, cast=np.float32):
        new = update(Vertex(0, value), message)
        return convert(new[0]) + convert(new[1])

    convert = np.float32
    found = result_of(lambda value, message: wrapper(value, message), (INT64, FLOAT64))
    assert found is not None and found.dtype == np.float32


def loop(a):
    total = 0.0
    while total < a:
        total += 1.0
    return total


def waits(a):
    while a > 0:
        pass
    return a


def other_types_on_other_ways(a):
    half = a if a > 0 else 1
    return half * a


def stores_what_was_decided(state, v):
    if state[v] > 0:
        state[v] = 0
    return 1


@pytest.mark.parametrize(
    ("function", "types"),
    [
        (loop, ("float64",)),
        (waits, ("int64",)),
        (other_types_on_other_ways, ("float32",)),
        (stores_what_was_decided, ("int64*", "int64")),
        (lambda a: a % 3, ("int64",)),
        (lambda a: np.sqrt(a), ("float64",)),
        (lambda a: np.minimum(a, 2.0), ("float64",)),
        (lambda a: math.floor(a), ("float64",)),
        (lambda a: 1 if isinstance(a, int) else 2, ("int64",)),
        (lambda a: a + 1, ("uint64",)),
        (lambda a: a.nothing, ("int64",)),
        (lambda a: None, ("int64",)),
        (lambda a: sum([a + k for k in (1, 2)]), ("int64",)),
        (lambda a: a + 2**70, ("int64",)),
    ],
)
def test_what_is_left_to_numba(function, types):
    assert traced(Function(function).python, types, np.dtype("int64"), "f") is None


def test_recursion_is_left_to_numba():
    def falls(a):
        return falls(a - 1) if a > 0 else a

    assert traced(Function(falls).python, ("int64",), INT64, "f") is None


def test_endless_decisions_are_left_to_numba():
    def counts(a):
        n = 0
        while a > n:
            n += 1
        return n

    assert traced(Function(counts).python, ("int64",), INT64, "f") is None


def test_errors_of_numba_are_passed_on():
    pytest.importorskip("numba_cuda")
    raises(CompileError, "nothing", Function(lambda a: a.nothing, "broken").cuda, ("int64",), "int64", "broken")
