"""Whatever a compiler throws for a function of a vertex program becomes one error, which names function and line."""

import re

import numpy as np
import pytest
from programs import Halving

import hpgraph as hpg

scales = [1.0, 2.0]


def box(x):
    return [x]


def sometimes(*vertices):
    if vertices[0].x > 1:
        return vertices[0].x


def either(*vertices):
    if vertices[0].x > 1:
        return (vertices[0].x,)
    return vertices[0].x


def again(x):
    return again(x)


def scaled(x, *, factor=2.0):
    return x * factor


def caught(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        return 0.0


# What the first vertex that a function is given may come to, and what is text of it.
RETURNS = [
    (lambda v: [v.x], "not a list"), (lambda v: (v.x, v.x, v.x), "not a tuple of 3"),
    (lambda v: {1: v.x}, "not a dict"), (lambda v: {v.x}, "not a set"), (lambda v: "text", "not a string"),
    (lambda v: None, "not None"), (lambda v: box(v.x), "not a list"), (lambda v: v.x * 1j, "not a complex number"),
    (lambda v: np.zeros(3), "not an array"), (lambda v: box, "not a function"),
    (lambda v: sometimes(v), "not None where no return is reached"),
]  # fmt: skip
ERRORS = [
    (lambda v: v.widht, "Unknown attribute 'widht' of type Vertex(int64, float64): it has id, x"),
    (lambda v: v.x + undefined, "the name 'undefined' is not defined"),  # noqa: F821
    (lambda v: v.x * scales[0], "scales is a list"),
    (lambda v: open("x"), "open() is nothing that a kernel can call"),  # noqa: SIM115
    (lambda v: v.x + "a", "there is no add(float64, str)"),
    (lambda v: v.x.nothing(), "Unknown attribute 'nothing' of type float64"),
    (lambda v: box(v.x, v.x), "too many positional arguments"),
    (lambda v: box(y=v.x), "y"),
    (lambda v: scaled(v.x), "parameters that are given by name alone, as in (x, *, factor=2.0): leave out the *"),
    (lambda v: again(v.x), "it calls itself without end"),
    (lambda v: either(v), "it returns one of several types"),
    (lambda v: sum(x for x in (v.x, v.x)), "it has a generator in it"),
    (lambda v: v.x[0], "it takes an element [...] of what is one number, of type float64"),
    (lambda v: caught(v.x), "except may name no exception but Exception"),
]


def two(**functions):
    """A program that runs, but for these functions."""
    usual = {
        "x": hpg.Property("float64", initial=1.0), "reduce": "plus", "max_iteration": 1,
        "gather": lambda source, weight, target: source.x * weight, "update": lambda vertex, message: message,
    }  # fmt: skip
    return type("Two", (hpg.VertexProgram,), {**usual, **functions})


def compile_error(program, device):
    G = hpg.Graph.from_edges([0, 0, 1], [1, 2, 2], [5.0, 1.0, 3.0]).to(device)
    with pytest.raises(hpg.CompileError) as error:
        hpg.run(program, G)
    text = str(error.value)
    assert len(text) < 500 and "numba" not in text.lower().replace("/numba", "") and "\n" not in text
    assert isinstance(error.value, TypeError)
    return error.value, text


@pytest.mark.parametrize(("function", "expected"), RETURNS, ids=[expected for _, expected in RETURNS])
def test_what_gather_returns(function, expected, device):
    error, text = compile_error(two(gather=lambda source, weight, target: function(source)), device)
    assert error.function == "Two.gather"
    assert f"it must return a number, the message, which becomes float64, {expected}" in text


# As for all functions but `gather`, below.
@pytest.mark.parametrize(("function", "expected"), RETURNS[-2:], ids=[expected for _, expected in RETURNS[-2:]])
def test_what_update_returns(function, expected, device):
    error, text = compile_error(two(update=lambda vertex, message: function(vertex)), device)
    assert error.function == "Two.update" and f"it must return a number, the new x, {expected}" in text
    assert 'test_program_errors.py", line ' in text


def test_what_update_returns_in_a_sweep(device):
    function, expected = RETURNS[0]
    error, text = compile_error(two(activity="all", update=lambda vertex, message: function(vertex)), device)
    assert error.function == "Two.update" and expected in text


# What is text does not depend on which function it is text of: everything of one, of the others a type error and a name
# that is missing.
OTHERS = ["update", "cond", "edge_cond", "aggregate"]
EXPECTED = [("gather", *text) for text in ERRORS]
EXPECTED += [(name, *text) for name in OTHERS for text in ERRORS[:2]]


@pytest.mark.parametrize(
    ("name", "function", "expected"), EXPECTED, ids=[f"{name}: {expected}" for name, _, expected in EXPECTED]
)
def test_every_function(name, function, expected, device):
    wrapped = {
        "gather": lambda source, weight, target: function(source),
        "update": lambda vertex, message: function(vertex),
        "cond": lambda vertex: function(vertex),
        "edge_cond": lambda source, weight, target: function(source),
        "aggregate": lambda before, vertex: function(vertex),
    }[name]
    sums = {"aggregators": ("total",)} if name == "aggregate" else {}
    error, text = compile_error(two(**{name: wrapped}, **sums), device)
    assert error.function == f"Two.{name}" and expected in text
    assert re.search(r'test_program_errors\.py", line \d+\)$', text)


# And supersteps, above.
@pytest.mark.parametrize("members", [{"reduce": "any"}, {"reduce": "min", "update": None}, {"activity": "all"}])
def test_every_loop(members, device):
    error, text = compile_error(two(gather=lambda source, weight, target: [source.x], **members), device)
    assert error.function == "Two.gather" and "not a list" in text


def test_an_error_of_a_run_is_left_as_it_is():
    class Raising(Halving):
        def converged(world):
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match=r"^mine$"):
        hpg.run(Raising, hpg.Graph.from_edges([0, 1], [1, 0], [1.0, 2.0]))
