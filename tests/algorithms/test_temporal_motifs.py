"""Motifs in time, against all triples of arcs; how contacts follow each other, pair by pair."""

import datetime
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg

KINDS = [(1, 2), (2, 1), (1, 3), (3, 1), (2, 3), (3, 2)]


def enumerated(rows, span):
    """By the definition: three arcs at rising times within a span, on two or three vertices, which they connect."""
    found = np.zeros((6, 6), np.int64)
    for (u, v, t1), *later in permutations([row for row in rows if row[0] != row[1]], 3):
        (_, _, t2), (_, _, t3) = later
        called = {u: 1, v: 2}
        if t1 < t2 < t3 <= t1 + span:
            for one, two, _ in later:
                for end in (one, two):
                    called.setdefault(end, len(called) + 1)
            if len(called) <= 3:
                found[tuple(KINDS.index((called[one], called[two])) for one, two, _ in later)] += 1
    return found


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9)), max_size=14),
    st.sampled_from([0, 2, 5, 20]),
    st.booleans(),
)
def test_motifs_against_all_triples(rows, span, floats):
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    scale = 0.5 if floats else 1
    T = hpg.TemporalGraph({"source": columns[0], "target": columns[1], "time": columns[2] * scale}, n_vertices=4)
    assert (hpg.temporal_motifs(T, span * scale) == enumerated(rows, span)).all()


def test_motifs_of_many_arcs():
    """All 36 kinds, by several threads; an infinite span; datetimes."""
    rng = np.random.default_rng(1)
    source, target = rng.integers(0, 6, (2, 700))
    time = rng.permutation(700)
    T = hpg.TemporalGraph({"source": source, "target": target, "time": time})
    order = np.argsort(time)
    rows = list(zip(source[order].tolist(), target[order].tolist(), range(700), strict=True))
    near = sum(enumerated(rows[at : at + 8], 7) - enumerated(rows[at + 1 : at + 8], 7) for at in range(700))
    found = hpg.temporal_motifs(T, 7)
    assert (found == near).all() and (found > 0).all()
    assert (hpg.temporal_motifs(T, np.inf) == hpg.temporal_motifs(T, 10**6)).all()
    days = hpg.TemporalGraph({"source": source, "target": target, "time": time.astype("M8[D]")})
    assert (hpg.temporal_motifs(days, datetime.timedelta(days=7, hours=1)) == near).all()


def test_no_motifs_of_contacts():
    with pytest.raises(ValueError, match="directed=True"):
        hpg.temporal_motifs(hpg.TemporalGraph([(0, 1, 1)], directed=False), 5)
    with pytest.raises(ValueError, match="span"):
        hpg.temporal_motifs(hpg.TemporalGraph([(0, 1, 1)]), -5)


def check_gaps(found, row, times):
    """Count, mean, deviation, burstiness and memory of a row, by NumPy's own functions."""
    gaps = np.diff(times)
    assert found.count[row] == len(times)
    expected = np.full(4, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        if len(gaps):
            mean, deviation = gaps.mean(), gaps.std()
            expected[:3] = mean, deviation, (deviation - mean) / (deviation + mean)
        if len(gaps) > 2:
            expected[3] = np.corrcoef(gaps[:-1], gaps[1:])[0, 1]
    columns = found.mean, found.deviation, found.burstiness, found.memory
    assert np.allclose([float(column[row]) for column in columns], expected, equal_nan=True)


@pytest.mark.parametrize("directed", [True, False])
def test_contacts_pair_by_pair(directed, device):
    rng = np.random.default_rng(2)
    source, target = rng.integers(0, 8, (2, 300))
    time = rng.integers(0, 500, 300)
    T = hpg.TemporalGraph({"source": source, "target": target, "time": time}, directed=directed).to(device)
    found, times = hpg.contact_statistics(T), {}
    rows = sorted(zip(source.tolist(), target.tolist(), time.tolist(), strict=True), key=lambda row: row[2])
    for u, v, t in rows:
        times.setdefault((u, v) if directed else (min(u, v), max(u, v)), []).append(t)
    assert list(zip(found.source.tolist(), found.target.tolist(), strict=True)) == sorted(times)
    for row, pair in enumerate(sorted(times)):
        check_gaps(found, row, times[pair])
    assert len(found.to_pandas()) == len(times)
    for ends in ("both", "source", "target"):
        found = hpg.activity_statistics(T, ends=ends)
        for vertex in range(8):
            of = {"both": lambda u, v: {u, v}, "source": lambda u, v: {u}, "target": lambda u, v: {v}}
            at = of[ends if directed else "both"]
            check_gaps(found, vertex, [t for u, v, t in rows if vertex in at(u, v)])


def test_contacts_by_name():
    T = hpg.TemporalGraph([("ann", "bob", 1), ("ann", "bob", 4), ("eve", "ann", 2)])
    found = hpg.contact_statistics(T)
    assert found.to_pandas()["source"].tolist() == ["ann", "eve"] and found.mean[0] == 3 and np.isnan(found.mean[1])
    assert found.top(1) == [("ann", "bob", 2)]
    assert len(hpg.contact_statistics(hpg.TemporalGraph([])).count) == 0
    active = hpg.activity_statistics(T)
    assert active.count["ann"] == 3 and active.mean["ann"] == 1.5 and active.top(1) == [("ann", 3)]
    assert hpg.activity_statistics(hpg.TemporalGraph([], n_vertices=2)).count.tolist() == [0, 0]
    raises(ValueError, "ends must be", hpg.activity_statistics, T, ends="all")
