"""Programs that run in turn: start vertices, shared properties, termination, and a maximal independent set."""

import re

import luby
import numpy as np
import pytest
from arrays import host
from raising import raises
from reference_algorithms import SMALL

import hpgraph as hpg
from hpgraph import Parameter, Property
from hpgraph.core.device import device_of


def test_luby(G, device):
    """Independent, maximal, the same for a seed, another for another."""
    neighbours = (SMALL + SMALL.T).tocsr()
    sets = []
    for seed in (1, 2, 1):
        found = hpg.run(luby.LUBY, G, seed=seed)
        assert device_of(found.state) == device
        state = host(found.state)
        chosen = state == luby.IN
        sets.append(chosen)
        coo = neighbours.tocoo()
        apart = coo.row != coo.col
        assert not (chosen[coo.row] & chosen[coo.col] & apart).any(), "two neighbours are in it"
        reached = np.zeros(200, bool)
        reached[coo.col[chosen[coo.row] & apart]] = True
        assert (chosen | reached).all() and (reached == (state == luby.OUT)).all()
    assert (sets[0] == sets[2]).all() and (sets[0] != sets[1]).any()
    # What the numbers say, round by round: nothing of the engine's.
    state, dense = np.zeros(200, int), neighbours.toarray() != 0
    np.fill_diagonal(dense, False)
    rounds = 0
    while (state == 0).any():
        rounds += 1
        drawn = np.where(state == 0, hpg.random_bits(1, np.arange(200), rounds), np.uint64(0))
        joins = (state == 0) & (drawn > np.where(dense, drawn, np.uint64(0)).max(axis=1))
        state[joins] = luby.IN
        state[dense[joins].any(axis=0) & (state == 0)] = luby.OUT
    assert (host(found.state) == state).all()
    # The last round has no active vertices; its sums are those of the last step that ran.
    assert found.rounds == rounds + 1 and found.world["joined"] == joins.sum()
    names = [name for name, _ in found.traces]
    assert names[:3] == ["Draw", "Join", "Leave"] and set(names) == {"Draw", "Join", "Leave"}
    assert found.trace.supersteps == len(found.trace) == sum(len(trace) for _, trace in found.traces)
    assert found.trace.active[0] == 200
    assert found.trace.explain().startswith(f"phases: Draw, Join, Leave; {rounds + 1} rounds\n")


def test_a_graph_in_pages():
    G = hpg.datasets.grid(12)
    found = hpg.run(luby.LUBY, hpg.StreamedGraph.of(G, arcs_per_page=100), seed=1)
    assert (found.state == hpg.run(luby.LUBY, G, seed=1).state).all()


class Halve(luby.Join):
    """A step of vertices alone, a sum, and a parameter that is the sum of the phase before."""

    aggregators = ("total",)
    starts = None
    sends = None
    best = Property("uint64", initial=lambda graph: np.arange(graph.n_vertices, dtype=np.uint64))
    total = None

    def update(vertex, world):
        return vertex.state + world.seed, vertex.best // 2

    def aggregate(before, vertex):
        return vertex.best


class Remember(hpg.VertexProgram):
    """Keeps the message, if there is a property to keep it in."""

    seen = Property("float64", initial=-1)
    best = Property("uint64")
    total = Parameter("float64")

    def starts(vertex, world):
        return vertex.best == 0 and world.total < 700

    def update(vertex, world):
        return world.total if vertex.seen < 0 else vertex.seen, vertex.best


def test_sums_reach_the_phases_after_and_until(G):
    asked = []

    def until(world):
        asked.append((world.iteration, world.total, world.seed))
        return world.total == 0

    found = hpg.Phases([Halve, Remember], until=until).run(G, seed=1)
    values, totals, seen = np.arange(200), [], np.full(200, -1)
    while not totals or totals[-1]:
        values = values // 2
        totals.append(int(values.sum()))
        seen[(values == 0) & (totals[-1] < 700) & (seen < 0)] = totals[-1]
    assert asked == [(i + 1, total, 1) for i, total in enumerate(totals)]
    assert found.rounds == len(totals) and (host(found.state) == len(totals)).all()
    assert (host(found.seen) == seen).all()
    assert hpg.run(hpg.Phases([Halve], max_iteration=3), G, seed=1).rounds == 3
    assert hpg.run(hpg.Phases([Halve, Remember], max_iteration=3), G, max_iteration=2).rounds == 2
    assert host(hpg.run(hpg.Phases([Halve], max_iteration=0), G).best).tolist() == list(range(200)), "no round"


def test_active_begins_the_first_phase_and_properties_are_given(G):
    state = np.full(200, luby.OUT, np.int8)
    state[:50] = luby.UNDECIDED
    found = hpg.run(hpg.Phases([luby.Leave, luby.Join]), G, active=[3], state=state, seed=5)
    assert (state[:50] == luby.UNDECIDED).all(), "what was given is not written to"
    neighbours = SMALL.tocsr()[[3]].indices.tolist() + SMALL.T.tocsr()[[3]].indices.tolist()
    expected = state.copy()
    expected[neighbours] = luby.OUT
    # The other undecided vertices join: they have received no number.
    expected[expected == luby.UNDECIDED] = luby.IN
    joined = np.flatnonzero(expected == luby.IN)
    assert (host(found.state) == expected).all()
    assert [name for name, _ in found.traces] == ["Leave", "Join", "Leave"] and len(joined) > 10


def test_starts_serves_a_run_of_its_own(G):
    found = hpg.run(luby.Draw, G, state=np.where(np.arange(200) < 3, 0, 1), seed=1)
    assert found.trace.active[0] == 3


class Other(luby.Leave):
    state = Property("int32")


class Endless(luby.Leave):
    starts = None


@pytest.mark.parametrize(
    ("phases", "arguments", "error", "says"),
    [
        ([], {}, ValueError, "phases must hold at least one vertex program"),
        (luby.Draw, {}, TypeError, "phases must be a list of vertex programs, not <class"),
        ([luby.Draw, "Join"], {}, TypeError, "phases must hold vertex programs, not 'Join'"),
        ([luby.Draw, int], {}, TypeError, "phases must hold vertex programs, not <class 'int'>"),
        ([luby.Draw], {"until": 3}, TypeError, "until must be a function of world, not 3"),
        ([luby.Draw], {"max_iteration": -1}, ValueError, "max_iteration must not be negative"),
        ([luby.Draw, Other], {}, TypeError, "Other.state is int32, but Draw.state is int8: phases share properties"),
        ([luby.Draw, Endless], {}, ValueError, "every round begins Endless with all vertices, so the rounds"),
    ],
)
def test_phases_that_make_no_sense(phases, arguments, error, says):
    with pytest.raises(error, match=re.escape(says)):
        hpg.run(hpg.Phases(phases, **arguments), SMALL)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"width": 3}, TypeError, "no phase has a property or parameter 'width'; they have state, best, seed"),
        ({"iteration": 3}, TypeError, "iteration is the number of the round, which no run is given"),
        ({"active": [[1], [2]]}, ValueError, "phases do not run from many sources: run them once for each"),
        ({"delta": 2.0}, ValueError, "delta is for relaxations, not for Phases"),
        ({"state": np.zeros(3)}, ValueError, "state must be a scalar or have one value for each of the 200 vertices"),
    ],
)
def test_runs_that_make_no_sense(arguments, error, says):
    raises(error, re.escape(says), hpg.run, luby.LUBY, SMALL, **arguments)


def test_a_step_of_vertices_alone():
    with pytest.raises(TypeError, match=r"Join has no gather.*: a step of vertices alone runs within hpgraph.Phases"):
        hpg.run(luby.Join, SMALL)
    step = type("Step", (luby.Join,), {"update": lambda vertex, message, world: 1})
    with pytest.raises(TypeError, match="Step has no gather"):
        hpg.run(hpg.Phases([step]), SMALL)
    step = type("Step", (luby.Join,), {"cond": lambda vertex: True})
    with pytest.raises(TypeError, match=r"Step.cond is for messages, but Step has no gather; starts\(vertex\) selects"):
        hpg.run(hpg.Phases([step]), SMALL)
    raises(TypeError, r"Made\.starts must be a function starts", type, "Made", (luby.Join,), {"starts": "nobody"})
    wrong = type("Wrong", (luby.Join,), {"starts": lambda vertex: vertex.colour == 1})
    with pytest.raises(hpg.CompileError, match="Unknown attribute 'colour' of type Vertex"):
        hpg.run(hpg.Phases([wrong]), SMALL)
