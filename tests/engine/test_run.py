"""Vertex programs run, and compared with what plain Python or SciPy makes of them."""

import numpy as np
import programs
import pytest
import scipy.sparse
import scipy.sparse.csgraph
from arrays import host
from reference_algorithms import SMALL, core, levels, random_digraph, widest

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device
from hpgraph.formats import Bitmask

DIRECTIONS = ["auto", "push", "pull"]


def rows_of(csr):
    return np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))


def serving_nearest():
    """The arcs that `programs.Nearest` sends along."""
    light = SMALL.copy()
    light.data[(light.data >= 15) | (light.indices % 7 == 3)] = 0
    light.eliminate_zeros()
    return light


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("program", [programs.Widest, programs.WidestInPlace])
def test_widest_path(program, direction, G, device):
    found = hpg.run(program, G, active=[3], direction=direction)
    assert device_of(found.width, found.active) == device
    assert (host(found.width) == widest(SMALL, 3)).all()
    assert len(found.active) == 0


@pytest.mark.parametrize("program", [programs.Widest, programs.WidestInPlace])
def test_every_way_to_name_the_active(program, G):
    expected = np.maximum(widest(SMALL, 3), widest(SMALL, 9))
    for active in ([3, 9], (9, 3, 3), np.array([3, 9], np.uint8), np.isin(np.arange(200), [3, 9])):
        assert (host(hpg.run(program, G, active=active).width) == expected).all()
    mask = Bitmask.from_indices(np.array([3, 9]), 200)
    assert (host(hpg.run(program, G, active=mask).width) == expected).all()
    given = np.zeros(200)
    given[[3, 9]] = np.inf
    assert (host(hpg.run(program, G, width=given).width) == expected).all(), "all are active, most of them in vain"
    assert given.sum() == np.inf and (np.flatnonzero(given) == [3, 9]).all(), "what was given is not written to"
    inactive = hpg.run(program, G, active=[])
    assert len(inactive.trace) == 0 and (host(inactive.width) == 0).all()
    assert len(hpg.run(program, G, active=np.zeros(200, bool)).trace) == 0


def test_on_the_active_s_own_device(G, device):
    found = hpg.run(programs.Widest, G, active=to_device(np.array([3]), device))
    assert (host(found.width) == widest(SMALL, 3)).all()


def test_an_instance_runs_as_its_class_does(G):
    assert (host(programs.Widest().run(G, active=[3]).width) == widest(SMALL, 3)).all()
    assert (host(hpg.run(programs.Widest(), SMALL, active=[3]).width) == widest(SMALL, 3)).all()


def test_components(G):
    found = hpg.run(programs.Component, G)
    _, label = scipy.sparse.csgraph.connected_components(SMALL, directed=False)
    least = np.full(label.max() + 1, 200)
    np.minimum.at(least, label, np.arange(200))
    assert (host(found.label) == least[label]).all()


@pytest.mark.parametrize("k", [1, 3, 6])
def test_core(k, G):
    both = SMALL.maximum(SMALL.T).tocsr()
    degree = np.diff(both.indptr)
    found = hpg.run(programs.Core, G, left=degree, gone=degree < k, when=np.where(degree < k, 0, -1), k=k)
    stays = core(both, k)
    assert (host(found.gone) == ~stays).all()
    assert ((host(found.when) >= 0) == ~stays).all()
    assert (found.gone.dtype, found.when.dtype, found.left.dtype) == (np.bool_, np.int8, np.int64)
    # Remaining vertices received from each removed neighbour.
    expected = both[:, np.flatnonzero(stays)].astype(bool).sum(axis=1)
    assert (host(found.left)[stays] == expected[stays]).all()
    assert found.world["k"] == k


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_which_arcs(direction, G):
    some = np.arange(0, 200, 3)
    sends = np.zeros(200)
    sends[some] = 1
    pattern = SMALL.astype(bool).astype(float)
    for program, matrix in (
        (programs.Senders, pattern.T), (programs.Leaving, pattern), (programs.Both, pattern.maximum(pattern.T))
    ):  # fmt: skip
        expected = matrix @ sends
        found = host(hpg.run(program, G, active=some, direction=direction).came)
        assert (found == np.where(expected > 0, expected, -1)).all(), "a vertex without a message is not updated"


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_arcs_that_let_no_message_through(direction, G):
    row = rows_of(SMALL)
    for some in (np.arange(0, 200, 3), np.arange(200)):
        through = (SMALL.data > 10) & (row < SMALL.indices) & np.isin(row, some)
        count = np.bincount(SMALL.indices[through], minlength=200)
        found = host(hpg.run(programs.HeavySenders, G, active=some, direction=direction).came)
        assert (found == np.where(count > 0, count, -1)).all(), "everyone active is no exception"


def check_sums(small):
    """Sums over all vertices, by which a run stops, of a graph of ``SMALL / 40``; returns its number of supersteps."""
    value, matrix, steps, change = np.ones(200), (SMALL.T / 40).tocsr(), 0, np.inf
    found = hpg.run(programs.Halving, small)
    while change >= 1e-3:
        new = 0.25 * (matrix @ value) + 0.5 * value
        change, value, steps = np.abs(new - value).sum(), new, steps + 1
    assert found.supersteps == steps > 5
    assert np.allclose(host(found.value), value, rtol=1e-12)
    assert np.isclose(found.world["change"], change) and np.isclose(found.world["total"], value.sum())
    limited = hpg.run(programs.Halving, small, max_iteration=3)
    assert limited.supersteps == 3 and len(limited.active) == 200
    return steps


def test_sums_decide_when_to_stop(G):
    small = hpg.Graph(SMALL / 40, directed=True).to(G.device)
    steps = check_sums(small)
    shorter = hpg.run(programs.Halving, small, limit=1.0)
    assert shorter.supersteps < steps and shorter.world["change"] < 1
    assert len(shorter.active) == 0


def test_all_vertices_are_updated_in_every_superstep(G):
    found = hpg.run(programs.Counter, G, max_iteration=7)
    assert (host(found.times) == 7).all() and (host(found.last) == 7).all()


def test_any_receives_once_in_the_general_loop_too(G):
    found = hpg.run(programs.FirstHeard, G, active=[3])
    expected = levels(SMALL, 3)
    assert (host(found.level) == expected).all()
    last = (expected == expected.max()).sum()
    assert found.world["reached"] in (last, 0), "the sum of the last superstep in which a vertex was updated"
    parent, below = host(found.parent), expected > 0
    assert (expected[parent[below]] + 1 == expected[below]).all()
    for k, name in enumerate("abcdefg"):
        value = np.full(200, 10 * k)
        value[3] = 3 if k % 2 else 10 * k
        assert (host(getattr(found, name)) == value).all(), name


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_conditions_of_a_search(direction, G):
    closed, deaf = np.arange(200) % 5 == 2, np.arange(200) % 11 == 6
    light = SMALL.copy()
    light.data[light.data > 10] = 0
    light.data[(closed | deaf)[light.indices]] = 0
    light.eliminate_zeros()
    found = hpg.run(programs.Guarded, G, active=[3], direction=direction, closed=closed, deaf=deaf)
    assert (host(found.level) == levels(light.tocsr(), 3)).all()
    assert (host(found.closed) == closed).all()


@pytest.mark.parametrize("delta", [None, 4, 0.5])
def test_conditions_of_a_relaxation(delta, G):
    expected = scipy.sparse.csgraph.dijkstra(serving_nearest(), indices=1)
    found = hpg.run(programs.Nearest, G, active=[1], delta=delta)
    assert found.distance.dtype == np.int32
    assert (host(found.distance) == np.where(np.isinf(expected), 1_000_000, expected)).all()
    near = hpg.run(programs.Nearest, G, active=[1], delta=delta, ceiling=17.5)
    within = expected <= 17.5
    assert (host(near.distance)[within] == expected[within]).all()
    assert near.trace.edges.sum() < found.trace.edges.sum()


def test_buckets_are_counted_from_the_least_id(G):
    active = [9, 4, 100]
    found = hpg.run(programs.Earliest, G, active=active, delta=3)
    assert (host(found.distance) == host(hpg.run(programs.Earliest, G, active=active).distance)).all()
    ways = scipy.sparse.csgraph.dijkstra(serving_nearest(), indices=active)
    expected = np.minimum(ways + np.array(active)[:, None], 1_000_000).min(axis=0)
    assert (host(found.distance) == expected).all()


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_without_update_one_byte(direction, G):
    found = hpg.run(programs.Reached, G, active=[3], direction=direction)
    assert (host(found.yes) == (levels(SMALL, 3) >= 0)).all()
    assert found.yes.dtype == bool


def test_without_update_the_message_joins_the_property(G):
    found = hpg.run(programs.Sums, G)
    arriving = np.asarray(SMALL.sum(axis=0)).ravel()
    changed = arriving > 0
    kept = scipy.sparse.diags_array(changed.astype(float)) @ SMALL
    expected = 1 + arriving + np.asarray(kept.sum(axis=0)).ravel()
    assert (host(found.value) == expected).all()
    assert sorted(host(found.active)) == np.flatnonzero(kept.sum(axis=0)).tolist()


def test_nan_ends_the_run(G):
    found = hpg.run(programs.Poison, G, active=[3])
    assert found.supersteps == 1
    passed = np.isin(np.arange(200), SMALL[[3], :].indices)
    assert (np.isnan(host(found.value)) == passed).all()


@pytest.mark.parametrize("program", [programs.Widest, programs.WidestInPlace])
def test_a_run_that_is_cut_off_goes_on_from_there(program, G):
    begun = hpg.run(program, G, active=[3], max_iteration=1)
    assert begun.supersteps == 1
    assert sorted(host(begun.active)) == sorted(set(SMALL[[3], :].indices) - {3})
    ended = hpg.run(program, G, active=begun.active, width=begun.width)
    assert (host(ended.width) == widest(SMALL, 3)).all()
    assert hpg.run(program, G, active=[3], max_iteration=0).supersteps == 0


def test_a_search_that_is_cut_off(G):
    found = hpg.run(programs.Guarded, G, active=[3], max_iteration=2)
    assert found.supersteps == 2 and host(found.level).max() == 2


@pytest.mark.parametrize(
    "program", [programs.Widest, programs.WidestInPlace, programs.Component, programs.Guarded, programs.Halving]
)
def test_tiny_graphs(program, device):
    for n in (0, 1, 2):
        empty = hpg.Graph.from_edges([], [], np.empty(0), n_vertices=n).to(device)
        found = hpg.run(program, empty, max_iteration=3)
        assert all(len(array) == n for array in found.properties.values())
        assert found.supersteps <= 3
    loop = hpg.Graph.from_edges([0], [0], [2.0]).to(device)
    assert hpg.run(program, loop, max_iteration=3).supersteps <= 3


def test_names_of_a_result(G):
    found = hpg.run(programs.Counter, G, max_iteration=1)
    assert "times, last" in repr(found)
    with pytest.raises(AttributeError, match="no 'tims'; it has times, last, trace, supersteps"):
        _ = found.tims


def test_push_and_pull_agree_on_larger_graphs(device):
    csr = random_digraph(3000, 60_000, seed=2)
    G = hpg.Graph(csr, directed=True).to(device)
    expected = widest(csr, 3)
    seen = set()
    for direction in DIRECTIONS:
        found = hpg.run(programs.Widest, G, active=[3], direction=direction)
        assert (host(found.width) == expected).all()
        seen |= set(found.trace.direction.tolist())
    assert seen == {"push", "pull"}


def test_float_sums_repeat_bit_for_bit(device):
    csr = random_digraph(3000, 20_000, seed=2)
    csr.data = np.random.default_rng(0).random(csr.nnz)
    G = hpg.Graph(csr, directed=True).to(device)
    runs = {}
    for direction in ("push", "pull", "auto"):
        for threads in (1, 2):
            with hpg.config(threads=threads):
                found = hpg.run(programs.Sums, G, active=np.arange(0, 3000, 7), direction=direction)
            runs.setdefault(direction, []).append(host(found.value))
    assert all((one == two).all() for one, two in runs.values())
    assert all(np.allclose(one, runs["pull"][0], rtol=1e-12) for one, _ in runs.values())


@pytest.mark.parametrize("arcs", [([0, 1, 2], [1, 2, 3]), ([], [])])
def test_vertices_masked_by_cond_are_not_updated(device, arcs):
    class Even(hpg.VertexProgram):
        activity = "all"
        reduce = "min"
        came = hpg.Property("int64")

        def gather(source, weight, target):
            return source.id

        def update(vertex, message):
            return message

        def cond(vertex):
            return vertex.id % 2 == 0

    # What lay in memory before must not show.
    np.full(100, 7, np.int64)
    none = np.iinfo(np.int64).max
    graph = hpg.Graph.from_edges(*arcs, n_vertices=100).to(device)
    for _ in range(5):
        came = hpg.run(Even, graph, max_iteration=2).came.tolist()
        assert came == [1 if v == 2 and arcs[0] else none for v in range(100)]


@pytest.mark.parametrize(
    ("program", "enough"), [(programs.Heard, np.inf), (programs.HeardFew, 300), (programs.HeardAtMost, 300)]
)
def test_every_message_arrives_once(program, enough, device):
    """Also those of hubs, whose arcs are shared out, and from lists that shrink and grow."""
    rng = np.random.default_rng(6)
    hubs = [np.stack([np.full(700 + hub, hub), rng.choice(4000, 700 + hub, replace=False)]) for hub in range(5)]
    ends = np.concatenate([*hubs, rng.integers(0, 4000, (2, 6000))], axis=1)
    A = scipy.sparse.csr_array((np.ones(ends.shape[1]), ends), shape=(4000, 4000))
    A = ((A + A.T) != 0).astype(np.int64)
    arrived, active, sizes, arcs = np.zeros(4000, np.int64), np.zeros(4000, bool), [], []
    active[17] = True
    for _ in range(7):
        sizes.append(active.sum())
        arcs.append(np.diff(A.indptr)[active].sum())
        came = (A.T @ active) * (arrived < enough)
        arrived, active = arrived + came, came > 0
    found = hpg.run(program, hpg.Graph(A, directed=True).to(device), active=[17], max_iteration=7, direction="push")
    assert (host(found.arrived) == arrived).all() and (np.sort(host(found.active)) == np.flatnonzero(active)).all()
    assert found.trace.active.tolist() == sizes and found.trace.edges.tolist() == arcs
