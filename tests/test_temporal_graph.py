"""Graphs of arcs with times: what they are made of, and the graphs that windows of them are."""

import datetime

import numpy as np
import pytest
from raising import raises

import hpgraph as hpg

DAY = datetime.datetime(2024, 5, 1)
HOUR = datetime.timedelta(hours=1)


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(5)
    source, target = rng.integers(0, 30, (2, 400))
    return {"source": source, "target": target, "time": rng.integers(0, 50, 400), "duration": rng.integers(0, 4, 400),
            "weight": rng.random(400)}  # fmt: skip


def sums(columns, kept, weight=None, directed=True):
    """Weights of the rows that are kept, summed by pair."""
    total = {}
    for k in np.flatnonzero(kept):
        u, v = int(columns["source"][k]), int(columns["target"][k])
        for pair in {(u, v), (u, v) if directed else (v, u)}:
            total[pair] = total.get(pair, 0) + float((columns["weight"] if weight is None else weight)[k])
    return total


def weights(G):
    source, target, weight = (np.asarray(column) for column in G.to("cpu").edges())
    found = {(int(u), int(v)): float(w) for u, v, w in zip(source, target, weight, strict=True)}
    return found if G.directed else {**found, **{(v, u): w for (u, v), w in found.items()}}


def same(G, total):
    found = weights(G)
    assert found.keys() == total.keys() and all(found[pair] == pytest.approx(total[pair]) for pair in total)


@pytest.mark.parametrize("directed", [True, False])
def test_windows_of_rows(columns, directed, device):
    T = hpg.TemporalGraph(columns, weight="weight", directed=directed).to(device)
    time, lasting = columns["time"], columns["duration"]
    assert (T.time[1:] >= T.time[:-1]).all() and T.n_edges == 400
    for t0, t1 in ((10, 20), (None, 7), (40, None), (9.5, 10.5), (20, 10), (-np.inf, np.inf)):
        low, high = -np.inf if t0 is None else t0, np.inf if t1 is None else t1
        G = T.between(t0, t1)
        assert G.directed == directed and G.n_vertices == T.n_vertices and G.device == device
        same(G, sums(columns, (time >= low) & (time < high), directed=directed))
    for t in (0, 17, 17.5, 60):
        same(T.snapshot(t), sums(columns, (time <= t) & ((t < time + lasting) | (t == time)), directed=directed))
    for step in (None, 3, 2.5):
        begins = []
        for begin, G in T.windows(7, step):
            same(G, sums(columns, (time >= begin) & (time < begin + 7), directed=directed))
            begins.append(begin)
        assert begins == np.arange(time.min(), time.max() + 1e-9, step or 7).tolist()
    for at in (None, 30):
        now = time.max() if at is None else at
        faded = columns["weight"] * 0.5 ** ((now - time) / 8)
        same(T.decay(8, at), sums(columns, time <= now, faded, directed))


@pytest.mark.parametrize("directed", [True, False])
def test_windows_that_overlap(directed, device):
    """Many rows of few pairs, loops among them, in windows of which each has most rows of the one before."""
    rng = np.random.default_rng(6)
    columns = {"source": rng.integers(0, 5, 800), "target": rng.integers(0, 5, 800), "time": rng.integers(0, 100, 800)}
    T = hpg.TemporalGraph(columns, directed=directed).to(device)
    for width, step in ((40, 3), (40, 2.5), (200, 50), (4, 1)):
        graphs = list(T.windows(width, step))
        assert [begin for begin, _ in graphs] == np.arange(columns["time"].min(), 99.5, step).tolist()
        for begin, G in graphs:
            kept = (columns["time"] >= begin) & (columns["time"] < begin + width)
            same(G, sums(columns, kept, np.ones(800), directed))
            assert G.weights.dtype == np.int64 and G.directed == directed
            assert (G.out_csr.indptr == T.between(begin, begin + width).out_csr.indptr).all()


def test_rows_of_one_time_stay_in_order():
    T = hpg.TemporalGraph({"source": [0, 1, 2, 3], "target": [1, 2, 3, 0], "time": [2.0, 1.0, 2.0, 1.0]})
    assert T.source.tolist() == [1, 3, 0, 2] and T.time.tolist() == [1, 1, 2, 2]


def test_titles_names_and_tables():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"src": ["b", "a"], "dst": ["c", "b"], "when": [2, 1], "fee": [1.5, 2.5], "timestamp": [8, 9]})
    T = hpg.TemporalGraph(table, source="src", target="dst", time="when", weight="fee")
    assert T.names.tolist() == ["b", "a", "c"] and T.time.tolist() == [1, 2] and T.weight.tolist() == [2.5, 1.5]
    assert T.between(2).weights.tolist() == [1.5]
    assert hpg.TemporalGraph(table, weight=False).time.tolist() == [8, 9]
    pa = pytest.importorskip("pyarrow")
    assert hpg.TemporalGraph(pa.table(table), time="when", weight="fee").weight.tolist() == [2.5, 1.5]
    assert hpg.TemporalGraph(np.array([[0, 1, 5], [1, 2, 4]])).target.tolist() == [2, 1]
    assert hpg.TemporalGraph(np.array([[0, 1, 5.5, 1], [1, 2, 4, 2]])).duration.tolist() == [2, 1]
    named = hpg.TemporalGraph([(0, 1, 5)], names=["x", "y", "z"])
    assert named.n_vertices == 3 and named.index_of("z") == 2 and named.between().names.tolist() == ["x", "y", "z"]
    assert "5 to 5" in repr(named) and len(named) == 1


def test_datetimes_of_every_kind():
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    instants = [DAY, DAY + HOUR]
    utc = [one.replace(tzinfo=datetime.UTC) for one in instants]
    berlin = pd.Series(utc).dt.tz_convert("Europe/Berlin")
    given = {
        "list": instants, "NumPy": np.array(instants, "M8[s]"), "zones": [one.astimezone() for one in utc],
        "pandas": pd.Series(instants), "pandas with a zone": berlin,
        "Arrow": pa.chunked_array([pa.array(utc, pa.timestamp("ms", "Europe/Berlin"))]),
    }  # fmt: skip
    for kind, column in given.items():
        T = hpg.TemporalGraph({"source": [0, 1], "target": [1, 2], "time": column}, duration=HOUR / 2)
        assert (T.time == np.array(instants, "M8[us]")).all(), kind
        assert (T.duration == np.timedelta64(HOUR / 2)).all() and T.between(DAY, DAY + HOUR).n_edges == 1
        assert T.between(utc[1]).n_edges == 1 and T.snapshot(DAY + HOUR / 4).n_edges == 1
        assert [begin for begin, _ in T.windows(HOUR)] == [np.datetime64(one) for one in instants]
        assert T.decay(HOUR).weights.tolist() == [0.5, 1]
    # Bounds finer than the times: neither second is lost, nor one too many.
    coarse = hpg.TemporalGraph({"source": [0, 1], "target": [1, 2], "time": np.array([0, 1], "M8[s]")})
    assert coarse.between(np.datetime64("1970-01-01T00:00:00.5"), "1970-01-01T00:00:01.5").n_edges == 1
    assert coarse.snapshot(np.datetime64("1970-01-01T00:00:00.5")).n_edges == 0
    days = hpg.TemporalGraph({"source": [0], "target": [1], "time": np.array(["2024-05-01"], "M8[D]")}, duration=HOUR)
    assert days.duration[0] == HOUR


BAD = {
    "NaN": ({"time": [1.0, np.nan]}, {}, ValueError, "NaN, NaT or infinite in 1"),
    "NaT": ({"time": np.array(["2024-01-01", "NaT"], "M8[s]")}, {}, ValueError, "NaT"),
    "None": ({"time": [DAY, None]}, {}, ValueError, "no time"),
    "text": ({"time": ["noon", "night"]}, {}, TypeError, "pandas.to_datetime"),
    "lengths": ({"time": [1, 2, 3]}, {}, ValueError, "one length"),
    "no time": ({}, {}, ValueError, "time: none of the columns 'source', 'target' is called time or timestamp"),
    "no such time": ({"time": [1, 2]}, {"time": "at"}, ValueError, "time: the table has no column 'at'"),
    "no such column": ({"time": [1, 2]}, {"duration": "minutes"}, ValueError, "duration: the table has no column"),
    "negative": ({"time": [1, 2], "duration": [1, -1]}, {}, ValueError, "must not be negative"),
    "mixed": ({"time": [DAY, DAY]}, {"duration": 5}, TypeError, "timedelta"),
    "mixed too": ({"time": [1, 2]}, {"duration": HOUR}, TypeError, "timedelta"),
    "too late": ({"time": [1, 2**62]}, {"duration": 2**62}, ValueError, "64 bits"),
    "too late for floats": ({"time": [1.0, 1e308]}, {"duration": 1.7e308}, ValueError, "64 bits"),
    "beyond int64": ({"time": np.array([1, 2**63], np.uint64)}, {}, ValueError, "beyond int64"),
    "beyond the finer unit": (
        {"time": np.array(["2024-01-01", "9999-01-01"], "M8[D]")},
        {"duration": np.timedelta64(1, "ns")},
        ValueError,
        "beyond 64 bits in units of ns",
    ),
    "NaN duration": ({"time": [1, 2], "duration": [1.0, np.nan]}, {}, ValueError, "NaN"),
    "NaT duration": ({"time": [DAY, DAY]}, {"duration": np.timedelta64("NaT", "s")}, ValueError, "NaT"),
    "bool": ({"time": [True, False]}, {}, TypeError, "bool"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tables(name):
    columns, options, error, words = BAD[name]
    raises(error, words, hpg.TemporalGraph, {"source": [0, 1], "target": [1, 2], **columns}, **options)


def test_missing_times_of_tables():
    pd = pytest.importorskip("pandas")
    for column in (pd.Series([1, None], dtype="Int64"), pd.Series([DAY, None]), [DAY, pd.NaT]):
        raises(ValueError, r"no time|NaN, NaT", hpg.TemporalGraph, {"source": [0, 1], "target": [1, 2], "time": column})


def test_columns_are_not_written_to(device):
    T = hpg.TemporalGraph([(0, 1, 3, 1), (1, 2, 5, 2)], weight=None).to(device)
    weighted = hpg.TemporalGraph({"source": [0], "target": [1], "time": [3], "w": [2.0]}, weight="w").to(device)
    for graph, names in ((T, ("source", "target", "time", "duration")), (weighted, ("weight",))):
        for name in names:
            before = getattr(graph, name).tolist()
            if device == "cpu":
                with pytest.raises(ValueError, match="read-only"):
                    getattr(graph, name)[0] = 7
            else:
                getattr(graph, name)[0] = 7
            with pytest.raises(AttributeError):
                setattr(graph, name, before)
            assert getattr(graph, name).tolist() == before
    with pytest.raises(ValueError, match="read-only"):
        hpg.TemporalGraph([(0, 1, DAY)]).time[0] = DAY
    assert hpg.TemporalGraph([(0, 1, 3)]).weight is None


def test_both_ways():
    T = hpg.TemporalGraph([(0, 1, 3), (1, 2, 5)])
    assert T.undirected.between().n_edges == 4 and not T.undirected.directed and T.directed
    assert hpg.fewest_hops(T.undirected, 2).tolist() == [-1, 1, 0]


def test_bounds_far_away():
    """Beyond what the times' own type and unit hold: everything, nothing, or an error; never wrapped around."""
    T = hpg.TemporalGraph([(0, 1, 3), (1, 2, 2**62)])
    assert T.between(-(10**30), 10**30).n_edges == 2 and T.between(1e300).n_edges == T.snapshot(-1e300).n_edges == 0
    assert hpg.earliest_arrival(T, 0, start=-np.inf, end=10**30).tolist() == [-np.inf, 3, 2**62]
    assert hpg.latest_departure(T, 1, start=-(10**30), end=np.inf).tolist() == [3, np.inf, -np.inf]
    ns = hpg.TemporalGraph({"source": [0], "target": [1], "time": np.array([DAY], "M8[ns]")})
    with pytest.raises(ValueError, match=r"t1=9999.* beyond 64 bits in the unit of the times, ns"):
        ns.between(None, datetime.datetime(9999, 1, 1))
    raises(ValueError, r"half_life=.* beyond 64 bits", ns.decay, np.timedelta64(10**12, "s"))


def test_lengths_between_two_units():
    days = hpg.TemporalGraph({"source": [0, 0], "target": [1, 2], "time": np.array([0, 3], "M8[D]")})
    assert days.decay(36 * HOUR).weights.tolist() == [0.25, 1]
    assert hpg.temporal_reach(days, within=36 * HOUR).tolist() == [3, 1, 1]
    raises(ValueError, "whole D, the unit of the times", days.windows, 36 * HOUR)


def test_bad_arguments():
    T = hpg.TemporalGraph([(0, 1, DAY)])
    raises(TypeError, "t0 must be a datetime", T.between, 5)
    raises(TypeError, "width must be a timedelta", T.windows, 5)
    raises(ValueError, "above 0", T.windows, HOUR, 0 * HOUR)
    with pytest.raises(ValueError, match="half_life"):
        T.decay(datetime.timedelta(0))
    raises(TypeError, "arcs with times cannot be read", hpg.TemporalGraph, [(0, 1)])
    raises(TypeError, "arcs with times cannot be read", hpg.TemporalGraph, 5)
    raises(TypeError, r"T\.between\(t0, t1\) .* are graphs", hpg.pagerank, T)
    empty = hpg.TemporalGraph([], n_vertices=2)
    assert list(empty.windows(1)) == [] and empty.between(3).n_edges == empty.snapshot(1).n_edges == 0


@pytest.mark.parametrize("times", [[-(2**63), 0, 5], [0, 5, 2**63 - 1], [-(2**62) - 1, 0, 2**62], [-1e308, 0.0, 1e308]])
def test_times_farther_apart_than_their_type_holds(times: list[float]) -> None:
    table = {"source": [0, 1, 2], "target": [1, 2, 3], "time": np.array(times)}
    raises(ValueError, "times differ by more than 64 bits hold", hpg.TemporalGraph, table)
    table["time"] = np.array([-(2**62) + 1, 0, 2**62 - 1])
    T = hpg.TemporalGraph(table)
    assert np.asarray(hpg.fastest_duration(T, [0])).tolist() == [[0, 0, 2.0**62, 2.0**63]]
