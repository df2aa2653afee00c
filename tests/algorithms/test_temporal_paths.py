"""Paths that respect time, against all of them: each is followed, arc by arc, by its definition."""

import copy
import datetime
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg

N = 5
ROWS = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), st.integers(0, 5), st.integers(0, 2)), max_size=9
)


def temporal(rows, directed=True, **options):
    columns = np.array(rows, np.int64).reshape(-1, 4).T
    names = "source", "target", "time", "duration"
    return hpg.TemporalGraph(dict(zip(names, columns, strict=True)), directed=directed, n_vertices=N, **options)


def both_ways(rows, directed):
    return list(rows) + ([] if directed else [(v, u, t, d) for u, v, t, d in rows])


def all_paths(arcs, strict, start=-math.inf, end=math.inf):
    """Every path of arcs that respects time, as a list of them: no arc twice."""
    kept = [arc for arc in arcs if arc[2] >= start and arc[2] + arc[3] <= end]

    def follow(path, left):
        yield path
        _, v, t, d = path[-1]
        for i, (u, _, t2, d2) in enumerate(left):
            if u == v and t2 >= t + d and not (strict and d == d2 == 0 and t == t2):
                yield from follow([*path, left[i]], left[:i] + left[i + 1 :])

    for i, arc in enumerate(kept):
        yield from follow([arc], kept[:i] + kept[i + 1 :])


def expected(rows, directed, strict, start, end):
    """Earliest arrival, latest departure (from column to row), duration and hops of the best paths."""
    arrival, duration, hops = (np.full((N, N), np.inf) for _ in range(3))
    departure = np.full((N, N), -np.inf)
    for path in all_paths(both_ways(rows, directed), strict, start, end):
        u, v, leaves, arrives = path[0][0], path[-1][1], path[0][2], path[-1][2] + path[-1][3]
        arrival[u, v], hops[u, v] = min(arrival[u, v], arrives), min(hops[u, v], len(path))
        duration[u, v] = min(duration[u, v], arrives - leaves)
        departure[v, u] = max(departure[v, u], leaves)
    for found, own in ((arrival, start), (departure, end), (duration, 0), (hops, 0)):
        np.fill_diagonal(found, own)
    return arrival, departure, duration, hops


def check_path(path, source, target, options, there):
    """That a path is one: of arcs that there are, from end to end, in the order of time, in the span."""
    ends = [source, *(arc.target for arc in path)]
    assert ends[-1] == target and ends[:-1] == [arc.source for arc in path] and set(path) <= there
    assert all(options["start"] <= arc.departure and arc.arrival <= options["end"] for arc in path)
    for one, two in itertools.pairwise(path):
        assert two.departure >= one.arrival
        assert not (options["strict"] and one.departure == one.arrival == two.departure == two.arrival)


def value_of(function, path):
    """What a path achieves of what a function finds the best of."""
    leaves, arrives = path[0].departure, path[-1].arrival
    return {hpg.earliest_arrival: arrives, hpg.latest_departure: leaves, hpg.fewest_hops: len(path)}.get(
        function, arrives - leaves
    )


@settings(max_examples=60, deadline=None)
@given(ROWS, st.booleans(), st.booleans(), st.integers(0, 2), st.integers(4, 7), st.booleans())
@example([(0, 1, 1, 0), (1, 2, 1, 0), (2, 3, 1, 1), (3, 4, 2, 0), (3, 3, 2, 0)], True, True, 0, 5, False)
@example([(0, 1, 1, 0), (1, 2, 1, 0), (2, 0, 1, 0), (2, 3, 1, 0)], False, False, 0, 5, True)
def test_against_all_paths(rows, directed, strict, start, end, floats):
    T = temporal([(u, v, t, d) for u, v, t, d in rows], directed)
    if floats:
        T = hpg.TemporalGraph({"source": T.source, "target": T.target, "time": T.time * 0.5,
                               "duration": T.duration * 0.5}, directed=directed, n_vertices=N)  # fmt: skip
    scale = 0.5 if floats else 1
    options = {"start": start * scale, "end": end * scale, "strict": strict}
    arrival, departure, duration, hops = expected(rows, directed, strict, start, end)
    results = {
        hpg.earliest_arrival: arrival * scale, hpg.latest_departure: departure * scale,
        hpg.fastest_duration: duration * scale, hpg.fewest_hops: np.where(np.isinf(hops), -1, hops),
    }  # fmt: skip
    there = {(u, v, t * scale, (t + d) * scale) for u, v, t, d in both_ways(rows, directed)}
    for function, best in results.items():
        found = function(T, **options)
        assert (found == best).all()
        for u, v in np.argwhere(np.isfinite(hops if function is not hpg.latest_departure else hops.T)).tolist():
            if function is hpg.latest_departure:
                path, u, v = found.path_from(v, u), v, u
            else:
                path = found.path_to(v, u)
            check_path(path, u, v, options, there)
            assert u == v or value_of(function, path) == found[(v, u) if function is hpg.latest_departure else (u, v)]
    assert (hpg.temporal_reach(T, **options) == np.isfinite(hops).sum(axis=1)).all()
    assert (hpg.temporal_reach(T, within=scale, **options) == (duration <= 1).sum(axis=1)).all()
    apart = np.where(np.eye(N, dtype=bool), np.inf, hops)
    assert np.allclose(hpg.temporal_closeness(T, **options), (1 / apart).sum(axis=0))


@settings(max_examples=60, deadline=None)
@given(ROWS, st.booleans(), st.integers(0, 2), st.integers(4, 7))
@example([(0, 1, 1, 0), (0, 2, 1, 1), (1, 3, 2, 0), (2, 3, 2, 0), (3, 4, 2, 1), (3, 4, 5, 0), (0, 4, 7, 0)], True, 0, 9)
@example([(0, 1, 0, 2), (1, 2, 3, 0), (0, 3, 0, 0), (3, 1, 1, 0), (1, 2, 1, 1), (2, 4, 4, 0)], True, 0, 9)
def test_betweenness_and_katz_against_all_paths(rows, directed, start, end):
    T, best, katz = temporal(rows, directed), {}, np.zeros(N)
    # A loop leads one way alone.
    arcs = list(rows) + ([] if directed else [(v, u, t, d) for u, v, t, d in rows if u != v])
    for path in all_paths(arcs, True, start, end):
        katz[path[-1][1]] += 0.5 ** len(path)
        best.setdefault((path[0][0], path[-1][1]), []).append(path)
    through, one = np.zeros(N), np.zeros(N)
    for (u, v), paths in best.items():
        least = min(map(len, paths))
        shortest = [path for path in paths if len(path) == least and u != v]
        for path in shortest:
            for arc in path[1:]:
                through[arc[0]] += 1 / len(shortest)
                one[arc[0]] += (u == 3) / len(shortest)
    found = hpg.temporal_betweenness(T, start=start, end=end, normalized=False)
    assert np.allclose(found, through)
    assert np.allclose(hpg.temporal_betweenness(T, start=start, end=end), through / 12)
    assert np.allclose(hpg.temporal_betweenness(T, [3], start=start, end=end), one / 3)
    assert np.allclose(hpg.temporal_katz(T, 0.5, start=start, end=end), katz)


@settings(max_examples=30, deadline=None)
@given(ROWS, st.sampled_from([0.0, 0.3, 1.0]))
def test_pagerank_by_walks(rows, transition):
    """Each walk by itself: a part of it waits at each arc that it could take."""
    T, rank = temporal(rows), np.zeros(N)
    arcs = list(zip(T.source.tolist(), T.target.tolist(), strict=True))

    def go(at, first, mass):
        for k in range(first, len(arcs)):
            if arcs[k][0] == at and mass:
                rank[arcs[k][1]] += 0.85 * mass
                go(arcs[k][1], k + 1, 0.85 * mass * (1 if transition == 1 else 1 - transition))
                mass *= 0 if transition == 1 else transition

    for k, (u, _) in enumerate(arcs):
        rank[u] += 1 - 0.85
        go(u, k, 1 - 0.85)
    found = hpg.temporal_pagerank(T, transition=transition)
    if any(u == v for u, v in arcs):
        assert found.sum() == pytest.approx(1)  # the paper says nothing of loops
    else:
        assert np.allclose(found, rank / (rank.sum() or 1))


def test_weights_of_walks():
    T = hpg.TemporalGraph({"source": [0, 1], "target": [1, 2], "time": [1, 2], "weight": [2, 3]})
    assert hpg.temporal_katz(T, 0.5).tolist() == [0, 1, 3]
    assert hpg.temporal_katz(T, 0.5, end=1).tolist() == [0, 1, 0]


def test_one_source_many_and_names():
    T = hpg.TemporalGraph([("ann", "bob", 1), ("bob", "eve", 2), ("eve", "dan", 2)])
    one = hpg.earliest_arrival(T, "ann")
    assert one.shape == (4,) and one["eve"] == 2 and np.isinf(one["dan"]) and dict(one.items())["bob"] == 1
    two = hpg.fewest_hops(T, ["eve", "ann", "eve"])
    assert two.tolist() == [[-1, -1, 0, 1], [0, 1, 2, -1], [-1, -1, 0, 1]]
    assert hpg.fewest_hops(T, hpg.id(0), strict=False).tolist() == [0, 1, 2, 3]
    assert hpg.temporal_reach(T, ["dan", "ann"]).tolist() == [1, 3]


def test_paths_by_name():
    day, hour = np.datetime64("2024-05-01T12"), np.timedelta64(1, "h")
    rows = [("ann", "bob", day), ("bob", "eve", day + hour), ("ann", "eve", day + 5 * hour), ("eve", "dan", day)]
    T = hpg.TemporalGraph(rows, duration=hour)
    found = hpg.earliest_arrival(T, "ann")
    expected = [("ann", "bob", day, day + hour), ("bob", "eve", day + hour, day + 2 * hour)]
    assert found.path_to("eve") == found.path_to(hpg.id(2), "ann") == copy.copy(found).path_to("eve") == expected
    assert found.path_to("ann") == []
    assert hpg.fewest_hops(T, ["bob", "ann"]).path_to("eve", "ann") == [("ann", "eve", day + 5 * hour, day + 6 * hour)]
    assert hpg.latest_departure(T, "eve").path_from("ann")[0].departure == day + 5 * hour
    assert hpg.earliest_arrival(T, ["ann", "eve"]).to_pandas().columns.tolist() == ["source", "vertex", "value"]
    raises(hpg.NoPathError, "to 'dan'", found.path_to, "dan")
    raises(TypeError, "path_from", hpg.latest_departure(T, "eve").path_to, "ann")
    raises(TypeError, "several searches", hpg.fewest_hops(T).path_to, "eve")
    raises(ValueError, "no search began at 'bob'", found.path_to, "eve", "bob")
    raises(ValueError, "pickled", pickle.loads(pickle.dumps(found)).path_to, "eve")


def reach(rows, directed, strict):
    """Pairs that some path joins."""
    return {(path[0][0], path[-1][1]) for path in all_paths(both_ways(rows, directed), strict)}


@settings(max_examples=40, deadline=None)
@given(ROWS, st.booleans(), st.booleans())
def test_reach_and_components_against_all_paths(rows, directed, strict):
    """Components by their definition: of all sets of vertices, those of which each reaches each, and no larger ones."""
    T = temporal(rows, directed)
    G = hpg.reachability_graph(T, strict=strict)
    pairs = {(u, v) for u, v in reach(rows, directed, strict) if u != v}
    assert set(zip(*(end.tolist() for end in G.edges()[:2]), strict=True)) == pairs and G.directed
    for connection, found in (("strong", pairs), ("weak", reach(rows, False, strict))):
        sets = [
            set(some) for size in range(1, N + 1) for some in itertools.combinations(range(N), size)
            if all(pair in found for pair in itertools.permutations(some, 2))
        ]  # fmt: skip
        largest = {tuple(sorted(one)) for one in sets if not any(one < other for other in sets)}
        components = list(hpg.temporal_components(T, connection=connection, strict=strict))
        assert {tuple(sorted(part.tolist())) for part in components} == largest and len(components) == len(largest)
        large = hpg.temporal_components(T, connection=connection, strict=strict, min_size=3)
        assert {tuple(sorted(part.tolist())) for part in large} == {part for part in largest if len(part) > 2}


def test_reach_within_a_time():
    T = hpg.TemporalGraph([(0, 1, 0), (1, 2, 5), (2, 0, 6), (0, 2, 6)])
    assert hpg.reachability_graph(T, within=1).n_edges == 5
    assert hpg.reachability_graph(T, mutual=True).edges().target.tolist() == [1, 2]
    assert hpg.reachability_graph(hpg.TemporalGraph([], n_vertices=2)).n_edges == 0
    raises(ValueError, "connection must be", hpg.temporal_components, T, connection="loose")


def test_more_sources_than_fit_one_batch():
    """Each of 300 sources alone, and all together; arcs of which thousands are under way at once."""
    rng = np.random.default_rng(3)
    columns = {"source": rng.integers(0, 300, 4000), "target": rng.integers(0, 300, 4000), "time": rng.random(4000)}
    T = hpg.TemporalGraph({**columns, "duration": rng.random(4000) * (rng.random(4000) < 0.7)})
    for function in (hpg.earliest_arrival, hpg.latest_departure, hpg.fastest_duration, hpg.fewest_hops):
        together = function(T)
        for source in (0, 63, 64, 150, 299):
            assert (function(T, source) == together[source]).all()


def test_distances_of_closeness():
    T = hpg.TemporalGraph([(0, 1, 1), (1, 2, 3), (0, 2, 9)], duration=1)
    assert hpg.temporal_closeness(T, distance="duration").tolist() == [0, 1, 2]
    assert hpg.temporal_closeness(T, distance="arrival").tolist() == [0, 1, 2 / 3]
    assert hpg.temporal_closeness(T, [0]).tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="give arcs a duration"):
        hpg.temporal_closeness(hpg.TemporalGraph([(0, 1, 1)]), distance="duration")


def test_datetimes():
    day = datetime.datetime(2024, 5, 1, 12)
    hour, second = datetime.timedelta(hours=1), datetime.timedelta(seconds=1)
    rows = [("a", "b", day), ("b", "c", day + hour), ("c", "d", day)]
    T = hpg.TemporalGraph(rows, duration=second)
    found = hpg.earliest_arrival(T, "a")
    assert found[1] == np.datetime64(day + second) and found[2] == np.datetime64(day + hour + second)
    assert np.isnat(found[3]) and hpg.fastest_duration(T, "a")[2] == hour + second
    assert np.isnat(hpg.earliest_arrival(T, "a", end=day + hour)[2])
    assert hpg.latest_departure(T, "c")[0] == np.datetime64(day)
    assert hpg.temporal_reach(T, within=datetime.timedelta(minutes=30)).tolist() == [2, 2, 2, 1]


@pytest.mark.parametrize("rows", [[], [(0, 1, 5)]])
def test_hardly_any_arcs(rows):
    T = hpg.TemporalGraph(rows, n_vertices=3)
    assert hpg.fewest_hops(T, 2).tolist() == [-1, -1, 0]
    assert hpg.temporal_closeness(T).tolist() == [0, len(rows), 0]
    assert hpg.earliest_arrival(T, []).shape == (0, 3)


def test_bad_input():
    T = hpg.TemporalGraph([(0, 1, 5)])
    with pytest.raises(TypeError, match="TemporalGraph"):
        hpg.earliest_arrival(hpg.Graph.from_edges([0], [1]), 0)
    raises(IndexError, "sources", hpg.fewest_hops, T, 7)
    raises(ValueError, "NaN", hpg.earliest_arrival, T, 0, start=math.nan)
    raises(ValueError, "within", hpg.temporal_reach, T, within=-1)
    raises(ValueError, "distance", hpg.temporal_closeness, T, distance="miles")
    raises(ValueError, "alpha", hpg.temporal_katz, T, -1)
    raises(ValueError, "damping", hpg.temporal_pagerank, T, 2)
