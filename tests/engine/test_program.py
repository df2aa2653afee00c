"""What a vertex program may declare, and what its author reads when something is wrong with it."""

import re
from collections import namedtuple

import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph import Parameter, Property
from hpgraph.engine.definition import function_of


def gather(source, weight, target):
    return source.x


Vertex = namedtuple("Vertex", "id")


def make(**members):
    """A program of one property and the given members."""
    return type("Made", (hpg.VertexProgram,), {"x": Property("float64"), "reduce": "min", "gather": gather, **members})


def run(program, **arguments):
    G = hpg.Graph.from_edges([0, 0, 1], [1, 2, 2], [5.0, 1.0, 3.0])
    return hpg.run(program, G, **arguments)


# --- when the class is defined


@pytest.mark.parametrize(
    ("members", "says"),
    [
        (
            {"gather": lambda self, source, weight, target, world: 1},
            "gather(source, weight, target) or gather(source, weight, target, world), without self; it has 5",
        ),
        ({"gather": lambda self, source, weight, target: 1}, "without self; it has 4"),
        ({"gather": lambda source: 1}, "Made.gather must be written"),
        ({"gather": 5}, "Made.gather must be a function gather(source, weight, target) or gather"),
        ({"update": lambda vertex: 1}, "update(vertex, message) or update(vertex, message, world)"),
        ({"update": lambda a, b, c, d: 1}, "Made.update must be written"),
        ({"cond": lambda vertex, world, a: True}, "cond(vertex) or cond(vertex, world), without self; it has 3"),
        ({"edge_cond": lambda source, target: True}, "edge_cond(source, weight, target)"),
        ({"aggregate": lambda before: 1, "aggregators": ("a",)}, "aggregate(before, vertex)"),
        ({"converged": lambda: True}, "converged(world)"),
        ({"x": Property("float16")}, "the type of Made.x is float16; supported are bool, int8"),
        ({"x": Property("complex128")}, "the type of Made.x is complex128"),
        ({"p": Parameter("U5")}, "the type of Made.p is"),
        ({"message": "float16"}, "Made.message is float16"),
    ],
)
def test_wrong_functions_and_types(members, says):
    raises(TypeError, re.escape(says), make, **members)


@pytest.mark.parametrize(
    "name", ["id", "active", "trace", "direction", "message", "_x", "lambda", "delta", "apart", "lanes"]
)
def test_names_that_mean_something_else(name):
    with pytest.raises(ValueError, match=rf"Made\.{name} cannot be called that"):
        make(**{name: Property("int32")})


def test_a_parameter_is_no_superstep():
    with pytest.raises(ValueError, match=r"Made\.superstep cannot be called that"):
        make(superstep=Parameter("int64"))


# --- when it is run


@pytest.mark.parametrize(
    ("members", "error", "says"),
    [
        ({"edges": "both"}, ValueError, 'Made.edges must be "in", "out" or "all", not \'both\''),
        ({"activity": "some"}, ValueError, 'Made.activity must be "changed" or "all"'),
        ({"gather": None}, TypeError, "Made has no gather(source, weight, target)"),
        ({"reduce": None}, TypeError, "Made has no reduce"),
        ({"reduce": "mean"}, ValueError, "mean"),
        ({"x": None}, TypeError, "Made has no vertex property"),
        ({"y": Property("float64")}, TypeError, "Made has several properties, so it needs update(vertex, message)"),
        ({"aggregators": ("a",)}, TypeError, "both aggregators and aggregate"),
        ({"aggregate": lambda before, vertex: 1}, TypeError, "both aggregators and aggregate"),
        ({"aggregators": "total", "aggregate": lambda before, vertex: 1}, TypeError, "must be a tuple of names"),
        ({"aggregators": ("x",), "aggregate": lambda before, vertex: 1}, ValueError, "no aggregator can be called 'x'"),
        ({"aggregators": ("a", "a"), "aggregate": lambda before, vertex: 1}, ValueError, "can be called 'a'"),
        ({"max_iteration": 2.5}, TypeError, "max_iteration must be a whole number or None"),
        ({"max_iteration": -1}, ValueError, "max_iteration must not be negative"),
    ],
)
def test_wrong_attributes(members, error, says):
    with pytest.raises(error, match=re.escape(says)):
        run(make(**members))


@pytest.mark.parametrize(
    ("reduce", "identity", "says"),
    [
        (lambda a, b: a - b, 0, r"0 is not its identity: f\(0, 1\) = -1, not 1"),
        (lambda a, b: a + b, 1, "True is not its identity"),
        (lambda a, b: (a + b) / 2, 0, "is not its identity"),
        (lambda a, b: a + b + a * b * (a - b), 0, r"f\("),
    ],
)
def test_what_is_no_monoid_shows_a_counterexample(reduce, identity, says):
    with pytest.raises(ValueError, match=rf"'Made.reduce' is no monoid: .*{says}"):
        run(make(reduce=reduce, identity=identity))


def test_a_function_needs_its_identity():
    with pytest.raises(TypeError, match=r"Made\.reduce is a function, so Made\.identity must be set as well"):
        run(make(reduce=lambda a, b: a + b))


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"y": 1}, TypeError, "Made has no property or parameter 'y'; it has x, p"),
        ({"x": [1, 2]}, ValueError, "x must be a scalar or have one value for each of the 3 vertices, not shape (2,)"),
        ({"x": np.ones((3, 1))}, ValueError, "not shape (3, 1)"),
        ({"x": "many"}, TypeError, "x must be a number, not 'many'"),
        ({"x": ["a", "b", "c"]}, TypeError, "x is float64, which does not take <U1"),
        ({"x": 1j}, TypeError, "x must be a number"),
        ({"p": [1, 2]}, TypeError, "p must be a number, not [1, 2]"),
        ({"p": 300}, ValueError, "p is int8, which cannot hold 300"),
        ({"p": 0.5}, ValueError, "p is int8, which cannot hold 0.5"),
        ({"p": np.nan}, ValueError, "p is int8, which cannot hold nan"),
        ({"active": [3]}, IndexError, "active must lie in 0..2, the vertices of the graph; it has 3..3"),
        ({"active": [-1]}, IndexError, "active must lie in 0..2"),
        ({"active": [0.5]}, TypeError, "active must be whole vertex ids or a bool for every vertex, not float64"),
        ({"active": [True]}, ValueError, "active must have one bool for each of the 3 vertices, not shape (1,)"),
        ({"active": np.ones(4, bool)}, ValueError, "active must have one bool for each of the 3 vertices"),
        ({"direction": "up"}, ValueError, 'direction must be "auto", "push" or "pull"'),
        ({"max_iteration": True}, TypeError, "max_iteration must be a whole number or None, not True"),
        ({"delta": 0}, ValueError, "delta must be positive, not 0"),
        ({"ceiling": np.nan}, ValueError, "ceiling must be a number, not NaN"),
    ],
)
def test_wrong_arguments(arguments, error, says):
    with pytest.raises(error, match=re.escape(says)):
        run(make(p=Parameter("int8")), **arguments)


@pytest.mark.parametrize("name", ["delta", "ceiling"])
def test_buckets_are_for_minima(name):
    for members in ({"reduce": "max"}, {"update": lambda vertex, message: message}, {"reduce": "plus"}):
        with pytest.raises(ValueError, match=f'{name} is for relaxations whose reduce is "min"'):
            run(make(**members), **{name: 1.0})


def test_integers_that_do_not_fit():
    program = make(x=Property("int8"))
    with pytest.raises(ValueError, match=r"x is int8, which cannot hold all the values given: they go from 1 to 300"):
        run(program, x=np.array([1, 2, 300]))
    raises(TypeError, "x is int8, which does not take float64", run, program, x=np.ones(3))
    with pytest.raises(ValueError, match="x's start is int8, which cannot hold 1000"):
        run(make(x=Property("int8", start=1000)))


def test_what_is_no_program():
    raises(TypeError, "program must be a VertexProgram, not int", run, int)
    raises(TypeError, "program must be a VertexProgram, not str", run, "Made")


# --- when it is compiled


class Two(hpg.VertexProgram):
    """Two properties and two sums; each test replaces one function."""

    x = Property("float64")
    y = Property("int32")
    reduce = "plus"
    aggregators = ("a", "b")

    def gather(source, weight, target):
        return source.x

    def update(vertex, message):
        return message, vertex.y

    def aggregate(before, vertex):
        return vertex.x, vertex.y


def text(*arguments):
    return "wide"


def one(*arguments):
    return 1.0


# Of several properties and sums; of one, and of each function and loop, it is test_complaint that asks.
@pytest.mark.parametrize(
    ("name", "function", "says"),
    [
        ("gather", lambda source, weight, target: input(), "Two.gather() cannot be compiled: "),
        ("update", lambda vertex, message: one(), "it must return a tuple of 2 numbers, the new x, y"),
        ("update", lambda vertex, message: (1, 2, 3), "it must return a tuple of 2 numbers, the new x, y"),
        ("update", lambda vertex, message: (text(), 1), "it must return a tuple of 2 numbers, the new x, y"),
        ("update", lambda vertex, message, world: (world.none, 1), "Unknown attribute 'none' of type World"),
        ("aggregate", lambda before, vertex: one(), "Two.aggregate() cannot be compiled: it must return a tuple of 2"),
    ],
)
def test_what_does_not_compile(name, function, says, device):
    program = type("Two", (Two,), {name: function})
    G = hpg.Graph.from_edges([0, 0, 1], [1, 2, 2], [5.0, 1.0, 3.0]).to(device)
    with pytest.raises(hpg.CompileError) as error:
        hpg.run(program, G)
    message = str(error.value)
    assert says in message
    # Not Numba's traceback: short, and nothing about where this package keeps its code.
    assert len(message) < 600 and "Traceback" not in message and "nopython" not in message
    assert error.value.function == f"Two.{name}"


def test_a_subclass_inherits_and_may_drop_a_function():
    class Base(hpg.VertexProgram):
        distance = Property("float64", initial=np.inf, start=0.0)
        reduce = "min"

        @staticmethod
        def gather(source, weight, target):
            return source.distance + weight

        def cond(vertex):
            return vertex.id != 2

    class Open(Base):
        # What is left is what `hpgraph.sssp` runs, compiled for others already.
        distance = Property("float64", initial=7.0, start=0.0)
        cond = None

    assert function_of(Base, "cond")(Vertex(1)) and not function_of(Base, "cond")(Vertex(2))
    assert run(Open, active=[0]).distance.tolist() == [0, 5, 1]
