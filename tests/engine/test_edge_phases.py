"""Edge-vertex programs that take turns with others: against their definition, phase by phase."""

import operator
import re

import numpy as np
import pytest
from arrays import listed
from edge_programs import Bargain, Ledger, Rest
from reference_edge_programs import run_slowly
from test_edge_programs import compare, lists, random_graph

import hpgraph as hpg
from hpgraph import EdgeProperty, Property

N, ROUNDS = 60, 3


class Pay(Ledger):
    """Changes arcs of which it reads the reverse, so that it keeps two of each."""

    max_iteration = 2

    def starts(vertex, world):
        return vertex.id % world.most != 0


class Gossip(Bargain):
    """Other properties of vertices and edges, and a shared one; starts with the vertices left active."""

    max_iteration = 1
    stock = Property("int64", initial=5)
    offered = EdgeProperty("int32", initial=1)
    times = EdgeProperty("int16", constant=True)
    starts = "left"

    def edge_cond(source, edge, target):
        return (source.stock + edge.offered + edge.times) % 2 == 0


def slowly(arcs, weights):
    """Rounds of the three, each phase by the reference."""
    m = len(arcs)
    vertices = {"wealth": [1] * N, "turns": [0] * N, "stock": [5] * N}
    edges = {"paid": [0] * m, "times": [1] * m, "rate": [2] * m, "offered": [1] * m}
    supersteps = 0

    def phase(program, own, along, active, world=None):
        nonlocal supersteps
        found, left, steps = run_slowly(
            program, arcs, {name: vertices[name] for name in own}, {name: edges[name] for name in along},
            operator.add, active, weights, world, program.max_iteration,
        )  # fmt: skip
        vertices.update({name: found[name] for name in own})
        edges.update({name: found[name] for name in along})
        supersteps += steps
        return left

    left = []
    for _ in range(ROUNDS):
        starting = [v for v in range(N) if v % 4]
        left = phase(Pay, ["wealth", "turns"], ["paid", "times", "rate"], starting, {"most": 4})
        before = list(vertices["wealth"])
        for v in left:
            vertices["wealth"][v] //= 2
        supersteps += bool(left)
        left = [v for v in left if vertices["wealth"][v] != before[v]]
        left = phase(Gossip, ["stock"], ["offered", "times"], left)
    return {**vertices, **edges}, left, supersteps


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_they_share_vertices_and_edges(direction, device):
    G = random_graph(N, 7 * N, True, device)
    arcs, weights = lists(G)
    phases = hpg.Phases([Pay, Rest, Gossip], max_iteration=ROUNDS)
    times = np.ones(len(arcs), np.int16)
    found = hpg.run(phases, G, most=4, direction=direction, times=times)
    compare(found, *slowly(arcs, weights))
    assert (times == 1).all(), "what was given is not written to, though one of the phases only reads it"
    assert found.rounds == ROUNDS and {name for name, _ in found.traces} == {"Pay", "Rest", "Gossip"}
    assert "kept twice" in found.traces[0][1].explain()
    again = hpg.run(phases, G, most=4)
    assert listed(again.wealth) == listed(found.wealth) and listed(again.offered) == listed(found.offered)


def other(**members):
    return type("Other", (Gossip,), members)


@pytest.mark.parametrize(
    ("phases", "given", "error", "says"),
    [
        ([Pay, other(times=EdgeProperty("int64"))], {}, TypeError,
         "Other.times is int64, but Pay.times is int16: phases share properties by name"),
        ([Pay, other(paid=Property("int64"), times=None)], {}, TypeError,
         "Pay.paid is a property of edges, but Other.paid is one of vertices"),
        ([Pay], {"offer": 1}, TypeError, "no phase has a property or parameter 'offer'; they have wealth, turns, paid"),
        ([Pay], {"paid": [1]}, ValueError, "paid must be a scalar or have one value for each of the 2 arcs"),
        ([Ledger], {}, ValueError, "every round begins Ledger with all vertices, so the rounds would never end"),
    ],
)  # fmt: skip
def test_phases_that_do_not_fit(phases, given, error, says):
    with pytest.raises(error, match=re.escape(says)):
        hpg.run(hpg.Phases(phases), hpg.Graph.from_edges([0, 1], [1, 2]), **given)


def test_arcs_of_which_the_reverse_is_read_must_be_in_memory():
    with pytest.raises(hpg.StreamingError, match=r"Pay looks at edge\.reverse"):
        hpg.run(hpg.Phases([Pay]), hpg.StreamedGraph.of(hpg.Graph.from_edges([0, 1], [1, 2])))
