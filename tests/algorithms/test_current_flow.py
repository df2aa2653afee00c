"""Centralities of electrical networks, against NetworkX, and properties of currents."""

import networkx as nx
import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device

CLOSENESS, BETWEENNESS = hpg.current_flow_closeness_centrality, hpg.current_flow_betweenness_centrality


def network(seed, weighted):
    """A connected graph with hubs, bridges and names."""
    rng = np.random.default_rng(seed)
    g = nx.barabasi_albert_graph(int(rng.integers(5, 60)), 2, seed=seed)
    g.add_edges_from([("end", "middle"), ("middle", 0)])
    for u, v in g.edges:
        g[u][v]["weight"] = float(rng.random() + 0.1) if weighted else 1.0
    return g


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_as_networkx(seed, weighted, device):
    g = network(seed, weighted)
    weight = "weight" if weighted else None
    G = hpg.from_networkx(g).to(device)
    wanted = nx.current_flow_closeness_centrality(g, weight=weight)
    found = CLOSENESS(G, weight=weighted)
    assert device_of(found) == device
    assert to_device(found, "cpu").tolist() == pytest.approx([wanted[v] for v in g], rel=1e-9)
    for normalized in (True, False):
        wanted = nx.current_flow_betweenness_centrality(g, normalized=normalized, weight=weight)
        found = to_device(BETWEENNESS(G, normalized, weight=weighted), "cpu")
        assert found.tolist() == pytest.approx([wanted[v] for v in g], rel=1e-9, abs=1e-9)
    assert CLOSENESS(g, weight).tolist() == to_device(CLOSENESS(G, weighted), "cpu").tolist()


def test_closed_forms():
    n = 9
    complete, tree = (hpg.from_networkx(g) for g in (nx.complete_graph(n), nx.balanced_tree(2, 4)))
    assert CLOSENESS(complete) == pytest.approx([n / (2 * (n - 1))] * n)
    # In a tree current takes the only path.
    assert BETWEENNESS(tree) == pytest.approx(hpg.betweenness_centrality(tree))
    assert CLOSENESS(tree) * (len(tree) - 1) == pytest.approx(hpg.closeness_centrality(tree))


def test_weights_and_loops():
    G = hpg.datasets.grid(12, weighted=True, removed=0).undirected
    source, target, weight = G.edges()
    tenfold = hpg.Graph.from_edges(source, target, 10.0 * weight, directed=False)
    assert CLOSENESS(tenfold, weight=True) == pytest.approx(10 * CLOSENESS(G, weight=True))
    assert BETWEENNESS(tenfold, weight=True) == pytest.approx(BETWEENNESS(G, weight=True))
    loops = hpg.Graph.from_edges(np.append(source, 3), np.append(target, 3), np.append(weight, 7), directed=False)
    assert BETWEENNESS(loops, weight=True) == pytest.approx(BETWEENNESS(G, weight=True))


def test_small_and_unfit():
    none, one, two = (hpg.from_networkx(nx.path_graph(n)) for n in range(3))
    assert CLOSENESS(none).tolist() == BETWEENNESS(none).tolist() == []
    assert (CLOSENESS(one).tolist(), CLOSENESS(two).tolist()) == ([1], [1, 1])
    assert (BETWEENNESS(one).tolist(), BETWEENNESS(two, normalized=False).tolist()) == ([0], [0, 0])
    for function in (CLOSENESS, BETWEENNESS):
        raises(ValueError, "G must be connected, and has 2 components", function, nx.Graph([(0, 1), (2, 3)]))
        raises(ValueError, "G must be undirected", function, ([0], [1]))
        for bad in (0.0, -1.0, np.nan, np.inf):
            G = hpg.Graph.from_edges([0, 1], [1, 2], [1.0, bad], directed=False)
            raises(ValueError, "weight: edges conduct only", function, G, weight=True)
            assert len(function(G)) == 3
