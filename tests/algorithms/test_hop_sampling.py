"""Samples as trees of their own, of arcs up to a time, and over several relations: what they are, and their chances."""

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.stats
from arrays import host
from raising import raises

import hpgraph as hpg

RNG = np.random.default_rng(4)
SOURCE, TARGET = RNG.integers(0, 40, 500), RNG.integers(0, 40, 500)
TIMES = RNG.integers(0, 100, 500)


def uniform_chance(drawn: Any, of: Any) -> float:
    """The p-value of a χ² test that sets are drawn alike."""
    counts = dict.fromkeys(of, 0)
    for one in drawn:
        counts[one] += 1
    return float(scipy.stats.chisquare(list(counts.values())).pvalue)


@pytest.mark.parametrize("weight", [None, True])
@pytest.mark.parametrize("incoming", [False, True])
@pytest.mark.parametrize("replace", [False, True])
def test_each_seed_has_a_tree(weight: Any, incoming: bool, replace: bool, device: str) -> None:
    G = hpg.Graph.from_edges(SOURCE, TARGET, RNG.integers(1, 5, 500).astype(float), n_vertices=42).to(device)
    how = {"weight": weight, "incoming": incoming, "replace": replace, "seed": 3}
    seeds = [5, 7, 5, 41, 9]
    found = hpg.sample_neighbors(G, seeds, [3, 2], disjoint=True, **how)
    vertex, batch, edge = host(found.vertex), host(found.batch), host(found.edge)
    row, column = host(found.edge_index)
    assert host(found.seeds).tolist() == list(range(5)) and vertex[:5].tolist() == seeds
    assert batch[:5].tolist() == list(range(5)) and (batch[row] == batch[column]).all()
    assert len({*zip(batch.tolist(), vertex.tolist(), strict=True)}) == len(vertex) == sum(found.vertices_of_hop)
    arcs = G.to("cpu").edges(both_ways=True)
    ends = (vertex[row], vertex[column]) if incoming else (vertex[column], vertex[row])
    assert (arcs.source[edge] == ends[0]).all() and (arcs.target[edge] == ends[1]).all()
    degree = host(G.in_degree if incoming else G.out_degree)[vertex]
    begin = [0, *np.cumsum(found.vertices_of_hop)]
    for hop, fanout in enumerate([3, 2]):
        for v in range(begin[hop], begin[hop + 1]):
            there = (fanout if degree[v] else 0) if replace else min(fanout, degree[v])
            assert (column == v).sum() == there
    assert found.edges_of_hop[0] + found.edges_of_hop[1] == len(edge)
    again = hpg.sample_neighbors(G, seeds, [3, 2], disjoint=True, **how)
    assert (host(again.edge) == edge).all()


def test_trees_of_one_seed_are_drawn_apart(device: str) -> None:
    G = hpg.Graph.from_edges([0] * 5, [1, 2, 3, 4, 5], [1.0, 1.0, 2.0, 0.0, 4.0]).to(device)
    found = hpg.sample_neighbors(G, [0] * 6000, 2, disjoint=True)
    sets = [frozenset(pair) for pair in host(found.vertex)[host(found.edge_index)[0]].reshape(-1, 2).tolist()]
    assert uniform_chance(sets, map(frozenset, itertools.combinations(range(1, 6), 2))) > 1e-4
    one = host(hpg.sample_neighbors(G, [0] * 6000, 1, disjoint=True, weight=True).edge)
    assert scipy.stats.chisquare(np.bincount(one, minlength=5)[[0, 1, 2, 4]], [750, 750, 1500, 3000]).pvalue > 1e-4
    assert not (one == 3).any()
    batches = list(hpg.NeighborLoader(G, 2, [0, 0, 1], batch_size=2, disjoint=True))
    assert [host(batch.batch).max() for batch in batches] == [1, 0]


@pytest.mark.parametrize("strategy", ["uniform", "last"])
@pytest.mark.parametrize("window", [None, 30])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("incoming", [False, True])
def test_nothing_is_later_than_its_seed(
    strategy: str, window: Any, directed: bool, incoming: bool, device: str
) -> None:
    T = hpg.TemporalGraph(np.stack([SOURCE, TARGET, TIMES], axis=1), directed=directed).to(device)
    seeds, limits = np.arange(40), np.linspace(-5, 110, 40)
    found = hpg.sample_neighbors(T, seeds, [3, 2], time=limits, window=window, strategy=strategy, incoming=incoming)
    vertex, batch, edge = host(found.vertex), host(found.batch), host(found.edge)
    row, column = host(found.edge_index)
    source, target, time = (host(part) for part in (T.source, T.target, T.time))
    ends = (vertex[row], vertex[column]) if incoming else (vertex[column], vertex[row])
    along = (source[edge] == ends[0]) & (target[edge] == ends[1])
    assert (along | (not directed) & (source[edge] == ends[1]) & (target[edge] == ends[0])).all()
    assert (time[edge] <= limits[batch[column]]).all()
    if window is not None:
        assert (time[edge] >= limits[batch[column]] - window).all()
    for v in range(sum(found.vertices_of_hop[:2])):
        at = (target if incoming else source) == vertex[v]
        if not directed:
            at = (source == vertex[v]) | (target == vertex[v])
        limit = limits[batch[v]]
        at &= (time <= limit) & (time >= (-np.inf if window is None else limit - window))
        drawn = edge[column == v]
        assert len(set(drawn.tolist())) == len(drawn) == min(at.sum(), 3 if v < 40 else 2)
        assert at[drawn].all()
        if strategy == "last":
            assert sorted(time[drawn]) == sorted(time[at])[at.sum() - len(drawn) :]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64", "float16"])
def test_a_window_may_begin_below_what_the_type_of_times_holds(dtype: str, device: str) -> None:
    T = hpg.TemporalGraph([(0, 1, 1), (0, 2, 5), (0, 3, 9)]).to(device)
    for window, first in ((2, 4), (20, 0), (70_000, 0), (2**63 - 1, 0), (2**64, 0)):
        for strategy in ("uniform", "last"):
            found = hpg.sample_neighbors(T, [0], -1, time=np.array([6], dtype), window=window, strategy=strategy)
            assert sorted(host(found.edge)) == [edge for edge, time in enumerate((1, 5)) if time >= first]
    late = np.array([2**64 - 1 if dtype == "uint64" else -(2**63)], np.uint64 if dtype == "uint64" else np.int64)
    found = hpg.sample_neighbors(T, [0], -1, time=late, window=2**63 - 1)
    assert len(host(found.edge)) == (3 if dtype == "uint64" else 0)


def test_arcs_of_a_window_are_drawn_alike(device: str) -> None:
    T = hpg.TemporalGraph([(0, 1 + time, time) for time in range(9)]).to(device)
    found = hpg.sample_neighbors(T, [0] * 6000, 2, time=6, window=3)
    sets = [frozenset(pair) for pair in host(found.edge).reshape(-1, 2).tolist()]
    assert uniform_chance(sets, map(frozenset, itertools.combinations([3, 4, 5, 6], 2))) > 1e-4


def test_times_that_are_datetimes() -> None:
    days = np.array(["2024-01-01", "2024-01-05", "2024-02-01"], "datetime64[D]")
    T = hpg.TemporalGraph({"source": [0, 0, 0], "target": [1, 2, 3], "time": days, "weight": [1.0, 2.0, 4.0]})
    limits = np.array(["2024-01-04T12", "2024-03-01"], "datetime64[h]")
    found = hpg.sample_neighbors(T, [0, 0], -1, time=limits)
    assert found.edges_of_hop == [4] and found.weight.tolist() == [1.0, 1.0, 2.0, 4.0]
    one = hpg.sample_neighbors(T, 0, 1, time=days[1], window=np.timedelta64(2, "D"))
    assert one.edge.tolist() == [1]
    assert hpg.sample_neighbors(T, 0, -1).edges_of_hop == [3]


WRITES, CITES, IN = ("author", "writes", "paper"), ("paper", "cites", "paper"), ("paper", "in", "venue")


@pytest.fixture
def kinds(device: str) -> Any:
    rng = np.random.default_rng(2)
    edges = {
        WRITES: (rng.integers(0, 20, 90), rng.integers(0, 30, 90)), CITES: tuple(rng.integers(0, 30, (2, 90))),
        IN: (np.arange(30), rng.integers(0, 4, 30)),
    }  # fmt: skip
    return hpg.HeteroGraph(edges, {"author": 20, "paper": 30, "venue": 4, "topic": 3}).to(device)


@pytest.mark.parametrize("incoming", [False, True])
@pytest.mark.parametrize("disjoint", [False, True])
def test_several_kinds(kinds: Any, incoming: bool, disjoint: bool) -> None:
    seeds = {"paper": [3, 8, 3], "venue": [1]}
    fanouts = {"writes": [2, 3], CITES: [-1, 1], "in": [0, 2]}
    found = kinds.sample_neighbors(seeds, fanouts, incoming=incoming, disjoint=disjoint)
    assert set(found.vertex) == {"author", "paper", "venue", "topic"} and set(found.edge_index) == {WRITES, CITES, IN}
    for kind, given in seeds.items():
        assert host(found.vertex[kind])[host(found.seeds[kind])].tolist() == given
    for kind, hops in found.vertices_of_hop.items():
        vertex = host(found.vertex[kind])
        assert sum(hops) == len(vertex) and (disjoint or len(set(vertex.tolist())) == len(vertex))
    for (of, name, to), ends in found.edge_index.items():
        kind, other = (to, of) if incoming else (of, to)
        row, column = host(ends)
        csr, place = kinds[of, name, to].csr.to("cpu"), host(found.edge[of, name, to])
        drawn, whom = host(found.vertex[other])[row], host(found.vertex[kind])[column]
        assert (csr.expand_rows()[place] == (drawn if incoming else whom)).all()
        assert (csr.indices[place] == (whom if incoming else drawn)).all()
        if disjoint:
            assert (host(found.batch[other])[row] == host(found.batch[kind])[column]).all()
        degree = np.bincount(csr.indices if incoming else csr.expand_rows(), minlength=40)
        begin = 0
        for fanout, size in zip(fanouts[name if name != "cites" else CITES], found.vertices_of_hop[kind], strict=False):
            for v in range(begin, begin + size):
                there = degree[host(found.vertex[kind])[v]]
                assert (column == v).sum() == (there if fanout < 0 else min(fanout, there))
            begin += size
    if disjoint:
        assert host(found.batch["paper"])[:3].tolist() == [0, 1, 2] and host(found.batch["venue"])[0] == 3


def test_of_several_relations_each_has_its_chances(device: str) -> None:
    H = hpg.HeteroGraph({("a", "x", "b"): ([0] * 4, range(4)), ("a", "y", "b"): ([0] * 4, range(4))}).to(device)
    found = H.sample_neighbors({"a": [0] * 6000}, 1, disjoint=True)
    x, y = (host(found.edge["a", name, "b"]) for name in "xy")
    assert uniform_chance(zip(x.tolist(), y.tolist(), strict=True), itertools.product(range(4), range(4))) > 1e-4


def test_ugly_samples(kinds: Any, device: str) -> None:
    G = hpg.Graph.from_edges([0], [1]).to(device)
    T = hpg.TemporalGraph([(0, 1, 5), (1, 0, 6)]).to(device)
    none = hpg.sample_neighbors(G, [], [2, 2], disjoint=True)
    assert len(none) == 0 and none.edges_of_hop == [0, 0] and host(none.batch).shape == (0,)
    assert hpg.sample_neighbors(T, [], 2, time=[]).edges_of_hop == [0]
    assert hpg.sample_neighbors(T, [0, 1], 2, time=np.inf).edges_of_hop == [2]
    empty = hpg.TemporalGraph({"source": [], "target": [], "time": []}, n_vertices=2).to(device)
    assert hpg.sample_neighbors(empty, [0], [2, -1], time=3).edges_of_hop == [0, 0]
    assert "0 edges" in repr(kinds.sample_neighbors({"topic": [2]}, [3]))
    for call, error, text in (
        (lambda: hpg.sample_neighbors(G, [0], 1, time=3), TypeError, "TemporalGraph"),
        (lambda: hpg.sample_neighbors(T, [0], 1, window=3), ValueError, "give time="),
        (lambda: hpg.sample_neighbors(T, [0], 1, time=3, strategy="first"), ValueError, "strategy must be"),
        (lambda: hpg.sample_neighbors(T, [0], 1, time=[1, 2]), ValueError, "one for each of 1 seeds"),
        (lambda: hpg.sample_neighbors(T, [0], 1, time=np.nan), ValueError, "NaN"),
        (lambda: hpg.sample_neighbors(T, [0], 1, time=3, window=-1), ValueError, "window must be a length of time"),
        (lambda: hpg.sample_neighbors(T, [0], 1, time="x"), TypeError, "time must be numbers"),
        (lambda: hpg.sample_neighbors(G, [0], 1, disjoint=np.ones(2)), TypeError, "disjoint must be True or False"),
        (lambda: hpg.sample_neighbors(T, [0], 1, time=3, weight=True), ValueError, "weight must be None"),
        (lambda: kinds.sample_neighbors([0], 1), TypeError, "dict of vertices by kind"),
        (lambda: kinds.sample_neighbors({"papers": [0]}, 1), ValueError, "did you mean paper"),
        (lambda: kinds.sample_neighbors({"paper": [30]}, 1), IndexError, "30"),
        (lambda: kinds.sample_neighbors({"paper": np.array([-1])}, 1), IndexError, "0..29"),
        (lambda: kinds.sample_neighbors({"paper": [0]}, {"likes": 1}), ValueError, "'likes' is no relation"),
        (lambda: kinds.sample_neighbors({"paper": [0]}, {"in": 1, "cites": [1, 2]}), ValueError, "as many hops"),
    ):
        raises(error, text, call)
