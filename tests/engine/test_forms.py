"""Which loop a program gets, and that the answers are those of the general loop."""

import time

import numpy as np
import programs
import pytest
from reference_algorithms import SMALL, widest
from test_toy_placement import Scattered

import hpgraph as hpg
from hpgraph.core.device import to_device
from hpgraph.engine.declarations import declarations_of
from hpgraph.engine.forms import form_of

ENDLESS_MIN = 10_000


def made(dtype, reduce_, update_, gather_=None, **more):
    """A program of one property."""
    body = {
        "value": hpg.Property(dtype, initial=0, start=100),
        "reduce": reduce_,
        "gather": gather_ or (lambda source, weight, target: min(source.value, weight)),
        **more,
    }
    if update_ is not None:
        body["update"] = update_
    return type("Made", (hpg.VertexProgram,), body)


def form(program, dtype):
    declared = declarations_of(program)
    return form_of(declared, declared.code((np.dtype(dtype),)))


# What Python's max does with the property first is what the monoid does, NaN and zeros included.
SAME = {
    "max": lambda vertex, message: max(vertex.value, message),
    "if": lambda vertex, message: message if message > vertex.value else vertex.value,
    "twice": lambda vertex, message: max(max(vertex.value, message), message),
}
# The same for all numbers that are equal to themselves, but not bit for bit for NaN and the signs of zero.
SAME_FOR_INTEGERS = {
    "turned": lambda vertex, message: max(message, vertex.value),
    "at least": lambda vertex, message: vertex.value if vertex.value >= message else message,
    "NumPy": lambda vertex, message: np.maximum(vertex.value, message),
}
OTHER = {
    "min": lambda vertex, message: min(vertex.value, message),
    "one more": lambda vertex, message: max(vertex.value, message) + 1,
    "id": lambda vertex, message: max(vertex.value, message + vertex.id),
    "message": lambda vertex, message: message,
    "but for one": lambda vertex, message: 0 if message == 1234567 else max(vertex.value, message),
}


# Every update for a floating-point type and for integers; one that is, is for integers and is not, in the other types.
CASES = [(name, dtype) for name in [*SAME, *SAME_FOR_INTEGERS, *OTHER] for dtype in ("float32", "int32")]
CASES += [(name, dtype) for name in ("max", "turned", "min") for dtype in ("float64", "uint64")]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_an_update_that_is_the_reduce(name, dtype):
    integers = np.dtype(dtype).kind in "iu"
    found = form(made(dtype, "max", {**SAME, **SAME_FOR_INTEGERS, **OTHER}[name]), dtype)
    assert found.recognized == (name in SAME or (integers and name in SAME_FOR_INTEGERS))
    assert found.loop == ("relaxation" if found.recognized else "supersteps")
    assert found.why.startswith("update is its reduce (max)" if found.recognized else "update is not its reduce (max)")
    assert (found.code.update is None) == found.recognized


def test_a_reduce_of_ones_own():
    def reduce_(a, b):
        return a if a > b else b

    both = {"identity": -np.inf, "idempotent": True, "gather_": lambda source, weight, target: source.value}
    assert form(
        made("float64", reduce_, lambda vertex, message: reduce_(vertex.value, message), **both), "float64"
    ).recognized
    found = form(made("float64", reduce_, lambda vertex, message: reduce_(message, vertex.value), **both), "float64")
    assert found.why == "update is not its reduce (Made.reduce), compared as compiled code"
    both["gather_"] = lambda source, weight, target: min(source.value, weight)
    found = form(made("float64", reduce_, lambda vertex, message: reduce_(vertex.value, message), **both), "float64")
    assert "gather is not seen to rise" in found.why, "its order need not be that of the numbers"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"gather_": lambda source, weight, target: weight - source.value}, "gather is not seen to rise with value"),
        ({"gather_": lambda source, weight, target: min(source.value, target.value)}, "gather is not seen to rise"),
        ({"cond": lambda vertex: vertex.value < 9}, "cond reads the property"),
        ({"edge_cond": lambda source, weight, target: source.value < weight}, "edge_cond reads the property"),
        ({"update_": lambda vertex, message, world: max(vertex.value, message)}, "update reads the world"),
        ({"reduce_": "plus"}, "reduce (plus) is not idempotent"),
        ({"message": "float32"}, "messages are float32, the property is float64"),
        ({"other": hpg.Property("int8"), "update_": lambda vertex, message: (message, 0)}, "there are 2 properties"),
        ({"converged": lambda world: False}, "there is converged"),
    ],
)  # fmt: skip
def test_what_keeps_it_from_being_one(more, why):
    arguments = {"reduce_": "max", "update_": SAME["max"], **more}
    program = made("float64", **arguments)
    declared = declarations_of(program)
    types = tuple(np.dtype(p.dtype) for p in declared.properties.values())
    found = form_of(declared, declared.code(types))
    assert found.loop == "supersteps" and found.why.startswith(why)


def test_conditions_on_ids_do_not():
    program = made("float64", "max", SAME["max"], cond=lambda vertex: vertex.id > 3,
                   edge_cond=lambda source, weight, target: source.id < target.id and weight > 2)  # fmt: skip
    assert form(program, "float64").recognized


def test_a_falling_message_is_found_superstep_by_superstep(device):
    """In place, what 2 says to 3 could include messages from 0 and 1 of the same superstep, and be less."""
    graph = hpg.Graph.from_edges([0, 1, 2], [2, 2, 3], [1.0, 1.0, 1.0], directed=True).to(device)
    program = made("float64", "max", SAME["max"], lambda source, weight, target: 10 - source.value)
    found = hpg.run(program, graph, value=[2.0, 7.0, 1.0, 0.0])
    assert to_device(found.value, "cpu").tolist() == [2.0, 7.0, 8.0, 9.0]


def test_an_update_whose_code_cannot_be_saved(monkeypatch):
    """As on a full disk, or after an edit: the code is then read before any was written."""
    monkeypatch.setattr("hpgraph.kernels.runtime.cpu.compilation.is_as_imported", lambda module: False)
    # Captured, so that no earlier process has saved this function.
    new = time.time_ns()
    found = form(made("int32", "max", lambda vertex, message: max(vertex.value, message) + (new - new)), "int32")
    assert found.recognized and found.loop == "relaxation"


@pytest.mark.parametrize("nan", [False, True])
def test_answers_are_those_of_the_general_loop(nan, G):
    rng = np.random.default_rng(5)
    value = np.where(rng.random(200) < 0.1, rng.integers(0, 50, 200), 0.0)
    if nan:
        value[rng.integers(0, 200, 20)] = np.nan
        value[rng.integers(0, 200, 20)] = np.inf
    one = hpg.run(programs.Widest, G, width=value)
    other = hpg.run(programs.Widest, G, width=value, max_iteration=ENDLESS_MIN)
    assert one.trace.loop.startswith("relaxation: update is its reduce")
    assert other.trace.loop.startswith("supersteps: update is its reduce, but with a limit")
    np.testing.assert_array_equal(to_device(one.width, "cpu"), to_device(other.width, "cpu"))


@pytest.mark.parametrize("direction", ["push", "pull"])
@pytest.mark.parametrize("value", [[np.nan, 5.0, 0.0], [5.0, np.nan, 0.0]])
def test_a_nan_is_passed_over_whenever_it_comes(value, direction, device):
    # Arcs as wide as can be: the message is what the source has.
    graph = hpg.Graph.from_edges([0, 1], [2, 2], [np.inf, np.inf], directed=True).to(device)
    found = hpg.run(programs.Widest, graph, width=value, max_iteration=3, direction=direction)
    assert found.width.tolist()[2] == 5


def test_a_limit_counts_supersteps(G):
    line = hpg.Graph.from_edges(range(39), range(1, 40), np.ones(39)).to(G.device)
    found = hpg.run(programs.Widest, line, active=[0], max_iteration=5)
    assert (to_device(found.width, "cpu") > 0).sum() == 6 and found.supersteps == 5


def test_a_limit_counts_supersteps_that_are_not_listed(device):
    """On the GPU a launch lists no more than there are vertices, and two."""
    ring = hpg.Graph.from_edges([0, 1], [1, 0], directed=True).to(device)
    found = hpg.run(programs.Heard, ring, active=[0], max_iteration=101)
    assert to_device(found.arrived, "cpu").tolist() == [50, 51] and found.supersteps == 101


def test_forced_pulls(G):
    found = hpg.run(programs.Widest, G, active=[3], direction="pull")
    assert set(found.trace.direction) == {"pull"}


class Paths(hpg.VertexProgram):
    """`hpgraph.sssp`, whose kernel it shares, with an update."""

    distance = hpg.Property("float64", np.inf, 0)
    reduce = "min"

    def gather(source, weight, target):
        return source.distance + weight

    def update(vertex, message):
        return min(vertex.distance, message)


def test_buckets_are_for_it_too(G):
    plain, buckets = (hpg.run(Paths, G, active=[3], delta=delta).distance for delta in (None, 5.0))
    assert (to_device(plain, "cpu") == to_device(buckets, "cpu")).all()
    with pytest.raises(ValueError, match=r"delta is for relaxations .* not for Widest \(relaxation"):
        hpg.run(programs.Widest, G, active=[3], delta=5.0)


def test_explain_has_the_loop_and_the_reason(G):
    def first_line(result):
        return result.trace.explain().splitlines()[0]

    assert first_line(hpg.bfs(G, 3)) == "traversal: the first message settles a vertex (reduce is any)"
    assert first_line(hpg.pagerank(G)) == "sweep: every vertex sends and is updated in every superstep"
    assert first_line(hpg.run(programs.Widest, G, active=[3])) == (
        "relaxation: update is its reduce (max), compared as compiled code, and gather rises with width"
    )
    assert first_line(hpg.run(programs.WidestInPlace, G, active=[3])) == (
        "relaxation: no update, and reduce (WidestInPlace.reduce) is idempotent: the property improves in place"
    )
    assert first_line(hpg.run(programs.Senders, G)) == "supersteps: reduce (plus) is not idempotent"


def test_arcs_in_parts_go_through_the_general_loop(G):
    found = hpg.run(programs.Widest, Scattered(G), active=[3])
    assert found.trace.loop == "supersteps: the arcs come in several parts"
    assert (to_device(found.width, "cpu") == widest(SMALL, 3)).all()


def test_python_keeps_a_nan_that_comes_first_on_either_device(device):
    graph = hpg.Graph.from_edges([0, 1], [2, 3], directed=True).to(device)
    program = made("float64", "max", lambda vertex, message: (max(vertex.value, message), min(vertex.least, message)),
                   lambda source, weight, target: source.value, least=hpg.Property("float64"))  # fmt: skip
    given = [5.0, 7.0, np.nan, 6.0]
    found = hpg.run(program, graph, value=given, least=given, max_iteration=1)
    assert found.trace.loop.startswith("supersteps")
    for values, extreme in ((found.value, max), (found.least, min)):
        np.testing.assert_array_equal(to_device(values, "cpu"), [5.0, 7.0, np.nan, extreme(6.0, 7.0)])
