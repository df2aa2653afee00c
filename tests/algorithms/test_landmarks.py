"""Distances of pairs from the tables of landmarks, against NetworkX."""

import networkx as nx
import numpy as np
import pytest
from test_shortest_path import with_weights

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device


def pair(directed, kind, device, p=0.035, n=70, seed=6):
    return with_weights(nx.gnp_random_graph(n, p, seed=seed, directed=directed), kind, device)


def distances(g, source, target, weight=None):
    all_pairs = dict(nx.all_pairs_dijkstra_path_length(g, weight=weight))
    return np.array([all_pairs[s].get(t, np.inf) for s, t in zip(source.tolist(), target.tolist(), strict=True)])


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("kind", [None, "whole", "real"])
@pytest.mark.parametrize("directed", [False, True])
def test_pairs(directed, kind, k, device):
    g, G = pair(directed, kind, device)
    weight = None if kind is None else "weight"
    L = hpg.landmarks(G, k, weight=weight)
    source, target = np.random.default_rng(3).integers(0, len(g), (2, 600))
    expected = distances(g, source, target, weight)
    assert np.isinf(expected).any() and (source == target).any()
    lower, upper = L.lower(source, target), L.upper(source, target)
    assert device_of(lower, upper) == device
    lower, upper = to_device(lower, "cpu"), to_device(upper, "cpu")
    assert (lower <= expected + 1e-12).all() and (upper >= expected - 1e-12).all()
    found = L.distance(source, target)
    assert device_of(found) == device
    found = to_device(found, "cpu")
    if kind is None:
        assert found.dtype == np.int64
        assert found.tolist() == np.where(np.isinf(expected), -1, expected).tolist()
    else:
        assert found == pytest.approx(expected, abs=1e-12)


def test_bounds_that_meet(device):
    """Of a star everything is known from its middle, and a path's ends say all of it."""
    star = hpg.Graph.from_edges([4] * 4, range(4), directed=False).to(device)
    L = hpg.landmarks(star, 1)
    assert L.vertices.tolist() == [4]
    every = np.repeat(np.arange(5), 5), np.tile(np.arange(5), 5)
    assert to_device(L.upper(*every), "cpu").tolist() == to_device(L.distance(*every), "cpu").tolist()
    path = hpg.landmarks(hpg.Graph.from_edges(range(9), range(1, 10), directed=False).to(device), [0])
    assert path.lower(2, 7) == path.distance(2, 7) == 5 and path.upper(2, 7) == 9


def test_many_pairs_of_few_vertices(device):
    """Searched from whichever side has fewer vertices, in more than one block."""
    g, G = pair(True, None, device, p=0.006, n=400, seed=7)
    L = hpg.landmarks(G, 2)
    draw = np.random.default_rng(4)
    for source, target in ((draw.integers(0, 400, 900), draw.integers(0, 5, 900)), draw.integers(0, 400, (2, 900))):
        expected = distances(g, source, target)
        found = to_device(L.distance(source, target), "cpu")
        assert found.tolist() == np.where(np.isinf(expected), -1, expected).tolist()


def test_requested_types(device):
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], names=["a", "b", "c", "d"]).to(device)
    L = hpg.landmarks(G, ["b", "c"])
    assert L.distance("a", "d") == 3 and type(L.distance("a", "d")) is int
    assert type(L.lower("a", "d")) is float and L.lower("d", "a") == np.inf
    assert L.distance("a", ["a", "d", hpg.id(1)]).tolist() == [0, 3, 1]
    assert L.distance(["d", "c"], "a").tolist() == [-1, -1]
    assert L.distance(hpg.id([0, 3]), hpg.id(3)).tolist() == [3, 0]
    assert L.distance([], []).shape == (0,)
    assert len(L) == 2 and L.ahead.dtype == np.int8 and L.ahead.shape == (2, 4)
    assert L.nbytes == 16 and "to and from 2 of 4 vertices (b, c)" in repr(L)
    table = L.to_arrow().to_pydict()
    assert table["source"] == ["b"] * 4 + ["c"] * 4 and table["vertex"] == ["a", "b", "c", "d"] * 2
    assert table["ahead"] == [-1, 0, 1, 2, -1, -1, 0, 1] and L.top(1) == [("b", "d", 2)]
    assert "numbers of arcs to 1 of 4 vertices (b)" in repr(hpg.landmarks(G.undirected, 1))


def test_tables(device):
    g, G = pair(True, "whole", device)
    L = hpg.landmarks(G, 4, weight=True)
    degree = np.array([d for _, d in g.degree])
    assert sorted(degree[L.vertices]) == sorted(degree)[-4:]
    for row, column, vertex in zip(to_device(L.ahead, "cpu"), to_device(L.back, "cpu"), L.vertices, strict=True):
        everyone = np.arange(len(g))
        assert row.tolist() == distances(g, np.full(len(g), vertex), everyone, "weight").tolist()
        assert column.tolist() == distances(g, everyone, np.full(len(g), vertex), "weight").tolist()


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda G: hpg.landmarks(G, 0), ValueError, r"k must be from 1 to 3"),
        (lambda G: hpg.landmarks(G, 4), ValueError, r"k must be from 1 to 3"),
        (lambda G: hpg.landmarks(G, 1.5), TypeError, "k must be a number of landmarks"),
        (lambda G: hpg.landmarks(G, []), ValueError, "k holds no vertices"),
        (lambda G: hpg.landmarks(G, [3]), IndexError, "k"),
        (lambda G: hpg.landmarks(G, 1, weight=True), ValueError, "negative here"),
        (lambda G: hpg.landmarks(G, 1).distance([0, 1], [0, 1, 2]), ValueError, "as many vertices"),
        (lambda G: hpg.landmarks(G, 1).lower([0, 3], 0), IndexError, "s must lie in"),
        (lambda G: hpg.landmarks(G, 1).upper(0, 3), IndexError, "t"),
    ],
)
def test_what_does_not_fit(call, error, says):
    with pytest.raises(error, match=says):
        call(hpg.Graph.from_edges([0, 1], [1, 2], [1.0, -1.0]))
