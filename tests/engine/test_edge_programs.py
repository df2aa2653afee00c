"""Edge-vertex programs against their definition in plain Python."""

import operator

import numpy as np
import pytest
from arrays import listed
from edge_programs import Bargain, Faint, Ledger, Relay, Suitors, Taxed
from raising import raises
from reference_edge_programs import run_slowly

import hpgraph as hpg

SMALL, LARGE = 60, 6000


def random_graph(n, m, directed, device, weighted=True, seed=0):
    random = np.random.default_rng(seed)
    source, target = random.integers(0, n, (2, m))
    weight = random.integers(1, 9, m) if weighted else None
    # Some arcs have a reverse in a directed graph, too, and some vertices an arc to themselves.
    source, target = np.append(source, target[: m // 3]), np.append(target, source[: m // 3])
    weight = None if weight is None else np.append(weight, weight[: m // 3])
    return hpg.Graph.from_edges(source, target, weight, n, directed).to(device)


def lists(G):
    source, target, weight = map(listed, G.edges(both_ways=True))
    return list(zip(source, target, strict=True)), weight


def compare(result, expected, active, supersteps):
    for name, values in expected.items():
        np.testing.assert_array_equal(listed(getattr(result, name)), values, err_msg=name)
    assert sorted(listed(result.active)) == active
    assert result.supersteps == supersteps


# Whether arcs have a direction says what their numbers are, and nothing about how many threads there are.
@pytest.mark.parametrize(("n", "directed"), [(SMALL, True), (SMALL, False), (LARGE, True)])
@pytest.mark.parametrize("direction", ["push", "pull"])
def test_all_that_an_edge_has(n, direction, directed, device):
    G = random_graph(n, 7 * n, directed, device)
    arcs, weights = lists(G)
    m = len(arcs)
    rate = np.arange(m, dtype=np.int32) % 5
    active = [v for v in range(n) if v % 3]
    limit = 8 if n == SMALL else 3
    expected = run_slowly(
        Ledger, arcs, {"wealth": [1] * n, "turns": [0] * n},
        {"paid": [0] * m, "times": [1] * m, "rate": rate.tolist()},
        operator.add, active, weights, {"most": 4}, limit,
    )  # fmt: skip
    given = {"rate": rate, "most": 4, "active": active, "max_iteration": limit}
    result = hpg.run(Ledger, G, direction=direction, **given)
    compare(result, *expected)
    assert (result.trace.direction == direction).all()
    assert "kept twice" in result.trace.explain()
    # Given array is left alone, and the next run begins anew.
    assert (rate == np.arange(m) % 5).all()
    again = hpg.run(Ledger(), G, direction="auto", **given)
    compare(again, *expected)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("direction", ["push", "pull"])
def test_no_reverse_and_no_vertex_compute(direction, directed, device):
    G = random_graph(SMALL, 2 * SMALL, directed, device)
    arcs, _ = lists(G)
    expected = run_slowly(Faint, arcs, {"label": range(SMALL)}, {"passed": [-1] * len(arcs)}, min)
    compare(hpg.run(Faint, G, direction=direction), *expected)


@pytest.mark.parametrize("directed", [True, False])
def test_floats_and_all_active(directed, device):
    G = random_graph(SMALL, 4 * SMALL, directed, device, weighted=False)
    arcs, _ = lists(G)
    expected, _, supersteps = run_slowly(
        Relay, arcs, {"value": [1.0] * SMALL}, {"kept": [0.0] * len(arcs)}, operator.add, limit=5
    )
    # Sums that are not used: without them it would be another kernel.
    given = {"max_iteration": 5, "least": np.inf}
    result = hpg.run(Taxed, G, **given)
    assert result.supersteps == supersteps == 5
    for name in expected:
        np.testing.assert_allclose(listed(getattr(result, name)), expected[name], rtol=1e-5)
    assert str(result.kept.dtype) == "float32"
    # Results are bitwise reproducible in any order of messages.
    for _ in range(3):
        other = hpg.run(Taxed, G, **given)
        assert listed(other.value) == listed(result.value) and listed(other.kept) == listed(result.kept)


# What many threads do of replies, they do before they push or pull.
@pytest.mark.parametrize(("n", "direction"), [(SMALL, "push"), (SMALL, "pull"), (LARGE, "push")])
def test_replies_to_the_source(n, direction, device):
    G = random_graph(n, 7 * n, True, device, weighted=False)
    arcs, _ = lists(G)
    active, limit = range(0, n, 2), 6 if n == SMALL else 2
    expected = run_slowly(
        Bargain, arcs, {"stock": [5] * n}, {"offered": [1] * len(arcs)}, operator.add, active, limit=limit
    )
    compare(hpg.run(Bargain, G, direction=direction, active=active, max_iteration=limit), *expected)


def test_replies_make_more_receivers_than_there_are_arcs(device):
    """A block that goes on alone has more to look at than it would have begun with."""
    pairs = 600
    G = hpg.Graph.from_edges(range(pairs), range(pairs, 2 * pairs)).to(device)
    arcs, _ = lists(G)
    # With so much in stock every arc replies in the first superstep, and every arc sends.
    stock = [7] * 2 * pairs
    expected = run_slowly(
        Bargain, arcs, {"stock": stock}, {"offered": [1] * pairs}, operator.add, range(pairs), limit=6
    )
    found = hpg.run(Bargain, G, direction="push", active=range(pairs), max_iteration=6, stock=stock)
    compare(found, *expected)
    assert found.trace.active[1] > pairs


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_replies_in_used_memory(direction, device, monkeypatch):
    """A launch for each superstep, in reused memory: vertices that do not send receive no reply."""
    monkeypatch.setattr("hpgraph.kernels.superstep.cuda.ONE_LAUNCH_ARCS", -1)
    G = random_graph(SMALL, 7 * SMALL, True, device, weighted=False)
    arcs, _ = lists(G)
    expected = run_slowly(
        Bargain, arcs, {"stock": [5] * SMALL}, {"offered": [1] * len(arcs)}, operator.add, range(0, SMALL, 2), limit=6
    )
    if device == "cuda":
        import cupy

        # Freed at once, and so what is allocated next is made of these.
        [cupy.full(SMALL, 99, np.int64) for _ in range(64)]
    compare(hpg.run(Bargain, G, direction=direction, active=range(0, SMALL, 2), max_iteration=6), *expected)


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_pairs_and_functions_of_the_world(direction, device):
    G = random_graph(SMALL, 4 * SMALL, True, device)
    arcs, weights = lists(G)
    expected = run_slowly(
        Suitors, arcs, {"price": [100] * SMALL, "mate": [-1] * SMALL}, {"asked": [0] * len(arcs)}, min, None, weights,
        {"grace": 2},
    )  # fmt: skip
    compare(hpg.run(Suitors, G, direction=direction), *expected)


def test_starting_vertices(device):
    G = random_graph(SMALL, 4 * SMALL, True, device)
    starting = type("Starting", (Ledger,), {"starts": lambda vertex, world: vertex.id % world.most == 1})
    given = {"max_iteration": 3, "most": 4}
    result, same = hpg.run(starting, G, **given), hpg.run(Ledger, G, active=range(1, SMALL, 4), **given)
    assert result.trace.active[0] == SMALL // 4
    for name in ("wealth", "turns", "paid", "times"):
        assert listed(getattr(result, name)) == listed(getattr(same, name))


def test_sums_reach_python(device):
    G = random_graph(SMALL, 4 * SMALL, True, device, weighted=False)
    result = hpg.run(Taxed, G, least=0.5)
    assert result.supersteps == 3 and result.world["total"] == pytest.approx(sum(listed(result.value)))


def test_a_run_goes_on_from_another(device):
    G = random_graph(SMALL, 7 * SMALL, False, device)
    whole = hpg.run(Ledger, G, max_iteration=4, most=9)
    half = hpg.run(Ledger, G, max_iteration=2, most=9)
    assert half.supersteps == 2 and len(half.active)
    # vertex_compute looks at the superstep's number: so compare one that does not.
    G = random_graph(SMALL, 7 * SMALL, False, device, weighted=False)
    first = hpg.run(Taxed, G, max_iteration=2, least=np.inf)
    second = hpg.run(Taxed, G, max_iteration=3, least=np.inf, value=first.value, kept=first.kept)
    straight = hpg.run(Taxed, G, max_iteration=5, least=np.inf)
    assert listed(second.value) == listed(straight.value) and listed(second.kept) == listed(straight.kept)
    assert whole.supersteps == 4


@pytest.mark.parametrize("directed", [True, False])
def test_numbers_of_arcs(directed, device):
    G = random_graph(SMALL, 3 * SMALL, directed, device)
    arcs, _ = lists(G)
    number = {arc: e for e, arc in enumerate(arcs)}
    assert listed(G.reverse_arcs) == [number.get((v, u), -1) for u, v in arcs]
    rows = G.numbered_in_csr
    came = zip(listed(rows.indices), listed(rows.expand_rows()), strict=True)
    assert listed(rows.data) == [number[arc] for arc in came]
    assert listed(G.numbered_out_csr.data) == list(range(len(arcs)))
    assert G.numbered_out_csr.indices is G.out_csr.indices, "nothing is stored twice"
    if not directed:
        assert G.reverse_arcs is rows.data and rows.indices is G.out_csr.indices


def test_lanes(device):
    """Each answers what its own run would have answered, on edges of its own."""
    G = random_graph(SMALL, 4 * SMALL, True, device)
    m, starts = G.n_edges, [range(0, SMALL, 3), [7], []]
    paid, turns = np.arange(3 * m).reshape(3, m) % 4, np.arange(SMALL, dtype=np.int16) % 2
    found = hpg.run(Ledger, G, active=[list(one) for one in starts], paid=paid, turns=turns, max_iteration=3, most=5)
    for lane, start in enumerate(starts):
        alone = hpg.run(
            Ledger, G, active=np.array(start, np.int64), paid=paid[lane], turns=turns, max_iteration=3, most=5
        )
        for name in ("wealth", "turns", "paid", "times", "rate"):
            assert listed(getattr(found, name)[lane]) == listed(getattr(alone, name)), name
        assert sorted(listed(found.active[lane])) == sorted(listed(alone.active))
        assert len(found.traces[lane]) == alone.supersteps
    assert found.wealth.shape == (3, SMALL) and found.paid.shape == (3, m) and found.unfinished
    assert found.world["most"] == [5, 5, 5]


@pytest.mark.parametrize("arcs", [([], []), ([0], [0])])
def test_hardly_any_arc(arcs, device):
    source, target = (np.array(ends, np.int32) for ends in arcs)
    G = hpg.Graph.from_edges(source, target, np.ones(len(source), np.int64), 3).to(device)
    for direction in ("push", "pull"):
        result = hpg.run(Ledger, G, direction=direction, max_iteration=2)
        assert listed(result.times) == [1 + min(2, len(result.trace))] * len(source)


def rumour(**members):
    usual = {
        "best": hpg.Property("int64"),
        "passed": hpg.EdgeProperty("int8"),
        "combiner": "max",
        "edge_compute": lambda source, edge, target: (source.best, edge.passed),
    }
    return type("Rumour", (hpg.EdgeVertexProgram,), {**usual, **members})


@pytest.mark.parametrize(
    ("members", "error", "says"),
    [
        ({"combiner": None}, TypeError, "Rumour has no combiner"),
        ({"combiner": "any"}, ValueError, 'combiner must not be "any"'),
        ({"combiner": lambda a, b: a}, TypeError, "Rumour.combiner is a function, so Rumour.identity"),
        ({"combiner": lambda a, b: a - b, "identity": 0}, ValueError, "'Rumour.combiner' is no monoid"),
        ({"reduce": "max"}, ValueError, "here it is combiner"),
        ({"edges": "out"}, ValueError, "here it is G.reverse"),
        ({"starts": "left"}, TypeError, "only in Phases"),
        ({"reply_cond": lambda source, edge, target: True}, TypeError, "has reply_cond, but no reply"),
        ({"activity": "some"}, ValueError, 'activity must be "changed" or "all"'),
        ({"edge_compute": None}, TypeError, "no edge_compute"),
        ({"best": None}, TypeError, "no vertex property"),
        ({"other": hpg.Property("int64")}, TypeError, "needs vertex_compute"),
        ({"passed": hpg.EdgeProperty("int8", constant=2)}, TypeError, "constant must be True or False"),
        (
            {"aggregators": ("passed",), "aggregate": lambda before, vertex: 1},
            ValueError,
            "no aggregator can be called",
        ),
        ({"activity": "all", "vote_to_halt": lambda before, vertex: True}, ValueError, "vote_to_halt selects active"),
    ],
)
def test_refused_at_a_run(members, error, says):
    with pytest.raises(error, match=says):
        hpg.run(rumour(**members), hpg.Graph.from_edges([0], [1]))


@pytest.mark.parametrize(
    ("members", "error", "says"),
    [
        ({"edge_compute": lambda source, edge: 1}, TypeError, r"must be written edge_compute\(source, edge, target\)"),
        ({"vertex_compute": lambda vertex: 1}, TypeError, r"vertex_compute\(vertex, message, world\)"),
        ({"weight": hpg.EdgeProperty("int8")}, ValueError, "Rumour.weight cannot be called that"),
        ({"reverse": hpg.EdgeProperty("int8")}, ValueError, "Rumour.reverse cannot be called that"),
        ({"edge_cond": hpg.EdgeProperty("int8")}, TypeError, "must be a function"),
        ({"passed": hpg.EdgeProperty("complex64")}, TypeError, "the type of Rumour.passed"),
    ],
)
def test_refused_when_defined(members, error, says):
    raises(error, says, rumour, **members)


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"passed": [1, 2, 3]}, ValueError, "passed must be a scalar or have one value for each of the 2 arcs"),
        ({"passed": [0.5, 1.0]}, TypeError, "passed is int8, which does not take float64"),
        ({"passed": [300, 1]}, ValueError, "passed is int8, which cannot hold"),
        ({"passed": 1000}, ValueError, "passed is int8, which cannot hold 1000"),
        ({"best": [1]}, ValueError, "best must be a scalar or have one value for each of the 3 vertices"),
        ({"tolled": 1}, TypeError, "Rumour has no property or parameter 'tolled'; it has best, passed"),
        ({"active": [[0], [1]], "passed": [[0, 0]] * 3}, ValueError, "or a row of that for each of the 2 sources"),
        ({"delta": 1.0}, ValueError, "delta is for relaxations"),
        ({"ceiling": 1.0}, ValueError, "ceiling is for relaxations"),
    ],
)
def test_refused_values(given, error, says):
    with pytest.raises(error, match=says):
        hpg.run(rumour(), hpg.Graph.from_edges([0, 1], [1, 2]), **given)


@pytest.mark.parametrize(
    ("members", "function", "says"),
    [
        ({"edge_compute": lambda source, edge, target: source.best}, "edge_compute",
         "it must return a tuple of 2 numbers: the message, which becomes int64, the new passed, not int64"),
        ({"edge_compute": lambda source, edge, target: (1, edge.tolled)}, "edge_compute",
         "it has id, weight, passed, reverse"),
        ({"edge_compute": lambda source, edge, target: (1, edge.reverse.tolled)}, "edge_compute",
         "it has exists, weight, passed"),
        ({"edge_cond": lambda source, edge, target: edge.passed < "a"}, "edge_cond", "int8"),
        ({"vertex_compute": lambda vertex, message: (message, 1)}, "vertex_compute", "a number, the new best"),
        ({"vote_to_halt": lambda before, vertex: vertex.passed}, "vote_to_halt", "it has id, best"),
    ],
)  # fmt: skip
def test_what_does_not_compile(members, function, says, device):
    with pytest.raises(hpg.CompileError) as error:
        hpg.run(rumour(**members), hpg.Graph.from_edges([0, 1], [1, 2]).to(device))
    assert error.value.function == f"Rumour.{function}" and says in str(error.value)


def test_no_lane_at_all() -> None:
    G = random_graph(SMALL, 40, True, "cpu")
    raises(ValueError, "active must hold at least one list", hpg.run, Ledger, G, active=np.empty((0, 2), int))
