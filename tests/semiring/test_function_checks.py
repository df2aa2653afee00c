"""Functions that no kernel may call are refused when they are given, with what they do, the line, and what would do."""

import random
import secrets
import time
import warnings
from random import randint
from time import perf_counter

import numpy as np
import numpy.random as npr
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.semiring.function import Function

rng = np.random.default_rng(1)
numbers = [1, 2]
table = {1: 2}
halves, unsure, buffer = np.ones(2, np.float16), np.ma.array([1.0, 2.0], mask=[True, False]), bytearray(2)


def helper(x):
    return x + random.random()


def indirectly(x):
    return helper(x)


def counts(x):
    global counted
    counted = x
    return x


def generates(x):
    yield x


async def waits(x):
    return x


def imports(x):
    import math

    return math.sqrt(x)


def stores(x):
    x.value = 1
    return x


def within(x):
    def inner(y):
        return y + np.random.normal()  # noqa: NPY002

    return inner(x)


UNREPEATABLE = {
    "random.random": lambda x: x + random.random(),
    "randint": lambda x: randint(0, x),
    "np.random.rand": lambda x: x * np.random.rand(),  # noqa: NPY002
    "npr.normal": lambda x: npr.normal(x),  # noqa: NPY002
    "rng": lambda x: x + rng.random(),
    "np.random.seed": lambda x: np.random.seed(x),  # noqa: NPY002
    "secrets.randbelow": lambda x: secrets.randbelow(x),
    "time.time": lambda x: x + time.time(),
    "perf_counter": lambda x: x + perf_counter(),
    "random.random ": indirectly,
    "np.random.normal": within,
}


@pytest.mark.parametrize("called", UNREPEATABLE)
def test_what_answers_differently_each_time(called):
    with pytest.raises(hpg.CompileError) as error:
        Function(UNREPEATABLE[called], "mine")
    says = str(error.value)
    assert says.startswith(f"mine() cannot be compiled: {called.strip()}")
    assert "returns another value at each call" in says and "seeded generator" in says
    assert f'File "{__file__}", line ' in says


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda x: x + nowhere, "the name 'nowhere' is not defined"),  # noqa: F821
        (lambda x: x + numbers[0], "numbers is a list: a compiled function reads numbers, tuples and NumPy arrays"),
        (lambda x: table[x], "table is a dict"),
        (lambda x: x + halves[0], "halves holds float16, which compiled functions do not read: convert it with .as"),
        (lambda x: x + unsure[0], "unsure is a masked array, whose masked elements would count: fill them by .filled"),
        (lambda x: x + buffer[0], "buffer is of type bytearray: a compiled function reads numbers, tuples"),
        (counts, "it assigns the global counted: return the value instead"),
        (generates, "it is a generator"),
        (waits, "it is a coroutine"),
        (imports, "it imports math when it is called: import it outside"),
        (stores, "it assigns the attribute value: return the new value instead"),
        (lambda x: sum(y for y in (x, x)), "it has a generator in it: write a loop"),
        (lambda x: (y := x + 1) * y, "what := assigns within an expression takes a line of its own"),
    ],
)
def test_what_cannot_be_compiled(function, says):
    with pytest.raises(hpg.CompileError) as error:
        hpg.Matrix([[1, 2]]).apply(function)
    assert says in str(error.value)
    inner = function.__code__
    line = int(str(error.value).rpartition("line ")[2].rstrip(")"))
    assert inner.co_firstlineno <= line <= inner.co_firstlineno + 4


def sometimes(x):
    if x > 1:
        found = x
    return found


def after_a_loop(x):
    for k in range(x):
        last = k
    return last


def after_no_steps(x):
    for k in range(3, 3):
        last = k
    return last


def deleted(x):
    del x
    return x  # noqa: F821


def always(x, *more, step=1, **others):
    if x > 1 and (low := x - 1):
        found = low
    elif x < 0:
        raise ValueError
    else:
        found = 1
    for k in range(3, 0, -1):
        for each in (k, -k):
            if each > x:
                continue
            break
        found += k
    for _ in range(2):
        middle = found
        for number in (1, 2):
            last = number
    found += middle + number + last + k
    while True:
        last, found = found, found + step
        if last > 4:
            break
    return last


@pytest.mark.parametrize(
    ("function", "name", "line"),
    [(sometimes, "found", 3), (after_a_loop, "last", 3), (after_no_steps, "last", 3), (deleted, "x", 2)],
)
def test_variables_that_may_have_no_value(function, name, line):
    line += function.__code__.co_firstlineno
    with pytest.warns(RuntimeWarning, match=rf"^mine\(\): {name} may be read before it .*, line {line}\)") as caught:
        Function(function, "mine")
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Function(always)


def test_arrays_tuples_and_seeded_numbers_are_data():
    steps, offset = np.array([0.5, 0.25]), (1, 2)
    drawn = np.random.default_rng(3).random(2)
    found = hpg.Matrix([[1, 2]]).apply(lambda x, i, j: x * steps[j] + offset[0] + drawn[j])
    np.testing.assert_array_equal(found.toarray(), [[1.5 + drawn[0], 1.5 + drawn[1]]])


@pytest.mark.parametrize("name", ["gather", "update", "cond", "edge_cond", "aggregate", "reduce"])
def test_every_function_of_a_vertex_program(name):
    functions = {
        "gather": lambda source, weight, target: weight + random.random(),
        "update": lambda vertex, message: message + random.random(),
        "cond": lambda vertex: random.random() > 0.5,
        "edge_cond": lambda source, weight, target: random.random() > 0.5,
        "aggregate": lambda before, vertex: random.random(),
        "reduce": lambda a, b: a + b + random.random(),
    }
    members = {
        "x": hpg.Property("float64"), "reduce": "plus", "max_iteration": 1, "identity": 0,
        "gather": lambda source, weight, target: weight, "update": lambda vertex, message: message,
        name: functions[name],
    }  # fmt: skip
    if name == "aggregate":
        members["aggregators"] = ("sum",)
    program = type("Chance", (hpg.VertexProgram,), members)
    G = hpg.Graph.from_edges([0, 1], [1, 0], [1.0, 2.0])
    raises(hpg.CompileError, rf"^Chance\.{name}\(\) cannot be compiled: random\.random returns an", hpg.run, program, G)


def test_only_python_tests_convergence():
    """It may look at the clock: it runs between supersteps."""
    end = time.monotonic() + 3600

    class Timed(hpg.VertexProgram):
        x = hpg.Property("float64", initial=1.0)
        reduce = "plus"
        max_iteration = 3

        def gather(source, weight, target):
            return source.x

        def update(vertex, message):
            return message + 1

        def converged(world):
            return time.monotonic() > end

    assert hpg.run(Timed, hpg.Graph.from_edges([0, 1], [1, 0])).supersteps == 3
