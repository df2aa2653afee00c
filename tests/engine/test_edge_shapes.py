"""Edge-vertex programs whose properties and messages are tuples, against their definition in plain Python."""

import re

import numpy as np
import pytest
from arrays import listed
from edge_programs import Drift
from reference_edge_programs import run_slowly
from test_edge_programs import compare, lists, random_graph

import hpgraph as hpg

N = 60


def add(a, b):
    return tuple(x + y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("direction", ["push", "pull", "auto"])
def test_tuples(direction, device):
    G = random_graph(N, 7 * N, True, device, weighted=False)
    arcs, _ = lists(G)
    active = range(0, N, 2)
    at = [(v % 11, v % 5) for v in range(N)]
    expected = run_slowly(Drift, arcs, {"at": at, "arrived": [0] * N}, {"pull": [1] * len(arcs)}, add, active, limit=5)
    given = np.array(at, np.int32)
    result = hpg.run(Drift, G, direction=direction, active=active, at=given, max_iteration=5)
    compare(result, *expected)
    assert (given == at).all() and str(result.at.dtype) == "int32" and result.at.shape == (N, 2)


class Turned(Drift):
    """As a phase of one superstep, from vertices with few messages."""

    max_iteration = 1

    def starts(vertex):
        return vertex.arrived < 4 and vertex.id % 3 == 1


def test_tuples_in_phases(device):
    G = random_graph(N, 4 * N, True, device, weighted=False)
    arcs, _ = lists(G)
    vertices, edges = {"at": [(3, 1)] * N, "arrived": [0] * N}, {"pull": [1] * len(arcs)}
    for _ in range(2):
        starting = [v for v in range(N) if vertices["arrived"][v] < 4 and v % 3 == 1]
        found, left, _ = run_slowly(Drift, arcs, vertices, edges, add, starting, limit=1)
        vertices, edges = {"at": found["at"], "arrived": found["arrived"]}, {"pull": found["pull"]}
    result = hpg.run(hpg.Phases([Turned]), G, max_iteration=2)
    for name, values in (vertices | edges).items():
        np.testing.assert_array_equal(listed(getattr(result, name)), values, err_msg=name)
    assert sorted(listed(result.active)) == left


@pytest.mark.parametrize(
    ("members", "error", "says"),
    [
        ({"vertex_compute": None}, TypeError, "Drift has tuples at vertices or as messages, so it needs"),
        ({"message": ("int64", 40)}, ValueError, "the shape of Drift.message must be from 1 to 32"),
        ({"edge_compute": lambda source, edge, target: ((1, 2), 3), "reply": None, "reply_cond": None},
         hpg.CompileError, "it must return a tuple: the message, a tuple of 3 int64, then the new pull"),
        ({"reply": lambda source, edge, target: 1}, hpg.CompileError, "it must return a tuple of 3 int64, the message"),
    ],
)  # fmt: skip
def test_what_does_not_fit(members, error, says):
    with pytest.raises(error, match=re.escape(says)):
        hpg.run(type("Drift", (Drift,), members), hpg.Graph.from_edges([0, 1], [1, 2]))
