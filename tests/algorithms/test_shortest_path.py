"""One shortest path, found from both ends, against NetworkX."""

import itertools

import networkx as nx
import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.algorithms.shortest_path import fewest_arcs, least_weight


def with_weights(g, kind, device):
    """The graph with weights of a kind, as NetworkX and hpgraph have it."""
    draw = np.random.default_rng(2)
    for _, _, data in g.edges(data=True):
        data["weight"] = {"whole": float(draw.integers(0, 9)), "real": float(draw.random()), None: 1.0}[kind]
    ends = np.array(g.edges, dtype=np.int64).reshape(-1, 2)
    weight = None if kind is None else [w for _, _, w in g.edges(data="weight")]
    G = hpg.Graph.from_edges(ends[:, 0], ends[:, 1], weight, n_vertices=len(g), directed=g.is_directed())
    return g, G.to(device)


GRAPHS = {
    "sparse": lambda directed: nx.gnp_random_graph(80, 0.025, seed=3, directed=directed),
    "dense": lambda directed: nx.gnp_random_graph(50, 0.3, seed=4, directed=directed),
    "cycle": lambda directed: nx.cycle_graph(60, create_using=nx.DiGraph if directed else nx.Graph),
    "grid": lambda directed: nx.convert_node_labels_to_integers(
        nx.grid_2d_graph(9, 9, create_using=nx.DiGraph if directed else nx.Graph)
    ),
}


@pytest.mark.parametrize("kind", [None, "whole", "real"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_paths(name, directed, kind, device):
    g, G = with_weights(GRAPHS[name](directed), kind, device)
    weight = None if kind is None else "weight"
    unreachable = 0
    for source, target in np.random.default_rng(5).integers(0, len(g), (25, 2)).tolist():
        try:
            expected = nx.shortest_path_length(g, source, target, weight=weight)
        except nx.NetworkXNoPath:
            unreachable += 1
            with pytest.raises(hpg.NoPathError, match=f"no path leads from {source} to {target}"):
                hpg.shortest_path(G, source, target, weight=weight)
            continue
        path = hpg.shortest_path(G, source, target, weight=weight)
        assert path[0] == source and path[-1] == target and len(set(path)) == len(path)
        steps = list(itertools.pairwise(path))
        assert all(g.has_edge(*step) for step in steps)
        length = sum(g.edges[step]["weight"] for step in steps)
        assert length == pytest.approx(expected, abs=1e-12)
        assert hpg.shortest_path_length(G, source, target, weight=weight) == pytest.approx(expected, abs=1e-12)
    assert unreachable > 0 or name != "sparse"


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_balls(name, directed, device):
    """What the GPU does, on either device; cycles of weight 0 among what is shortest."""
    g, G = with_weights(GRAPHS[name](directed), "whole", device)
    for source, target in np.random.default_rng(6).integers(0, len(g), (12, 2)).tolist():
        arcs, lightest = fewest_arcs(G, source, target), least_weight(G, source, target)
        if not nx.has_path(g, source, target):
            assert arcs is None and lightest is None
            continue
        path, length = lightest
        assert nx.is_path(g, arcs.tolist()) and nx.is_path(g, path.tolist())
        assert {arcs[0], path[0]} == {source} and {arcs[-1], path[-1]} == {target}
        assert len(arcs) - 1 == nx.shortest_path_length(g, source, target)
        assert length == nx.shortest_path_length(g, source, target, weight="weight")
        assert length == nx.path_weight(g, path.tolist(), "weight") and len(set(path.tolist())) == len(path)


def test_names(device):
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False, names=["a", "b", "c", "d"]).to(device)
    assert hpg.shortest_path(G, "d", "a") == ["d", "c", "b", "a"]
    assert hpg.shortest_path(G, hpg.id(0), "b") == ["a", "b"]
    assert hpg.shortest_path_length(G, "a", "c") == 2
    G = hpg.Graph.from_edges([0, 1], [1, 2], names=[30, 10, 20]).to(device)
    assert hpg.shortest_path(G, 30, 20) == [30, 10, 20]
    raises(hpg.NoPathError, r"from 20 to 30 along arcs: G\.undirected", hpg.shortest_path, G, 20, 30)


def test_the_same_vertex(device):
    G = hpg.Graph.from_edges([0, 1], [0, 1], [3.0, 0.0], n_vertices=3).to(device)
    for vertex in range(3):
        assert hpg.shortest_path(G, vertex, vertex) == [vertex]
        assert hpg.shortest_path(G, vertex, vertex, weight=True) == [vertex]
    assert hpg.shortest_path_length(G, 0, 0, weight=True) == 0.0


def test_a_long_path(device):
    n = 20_000
    G = hpg.Graph.from_edges(np.arange(n - 1), np.arange(1, n)).to(device)
    assert hpg.shortest_path(G, 0, n - 1) == list(range(n))
    with pytest.raises(hpg.NoPathError):
        hpg.shortest_path(G, n - 1, 0)


def test_arcs_that_reach_nothing(device):
    G = hpg.Graph.from_edges([0, 0, 1], [1, 2, 2], [np.inf, 4.0, 1.0]).to(device)
    assert hpg.shortest_path(G, 0, 1) == [0, 1]
    with pytest.raises(hpg.NoPathError):
        hpg.shortest_path(G, 0, 1, weight=True)
    assert hpg.shortest_path_length(G, 0, 2, weight=True) == 4.0


@pytest.mark.parametrize(
    ("ends", "arguments", "error", "says"),
    [
        ((3, 0), {}, IndexError, "source 3"),
        ((0, -1), {}, IndexError, "target -1"),
        ((0, "a"), {}, ValueError, "names"),
        ((0, 1.0), {}, TypeError, "target must be a vertex id"),
        ((0, 1), {"weight": 2.5}, TypeError, "weight must be"),
        ((0, 1), {"weight": True}, ValueError, r"negative here.*hpgraph\.sssp"),
    ],
)
def test_what_does_not_fit(ends, arguments, error, says):
    with pytest.raises(error, match=says):
        hpg.shortest_path(hpg.Graph.from_edges([0, 1], [1, 2], [1.0, -1.0]), *ends, **arguments)
