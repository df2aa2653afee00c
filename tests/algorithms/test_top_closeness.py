"""The vertices of largest closeness, against all of them; and percolation, against NetworkX."""

import networkx as nx
import numpy as np
import pytest
from graph_examples import every_kind, example
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device


@pytest.mark.parametrize("seed", range(40))
def test_the_largest(seed, device):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 80))
    G = hpg.Graph.from_edges(*rng.integers(0, n, (2, int(rng.integers(0, 2 * n)))), n_vertices=n, directed=False)
    every, k = np.asarray(hpg.closeness_centrality(G)), int(rng.integers(1, n + 1))
    found = hpg.top_closeness(G.to(device), k)
    assert device_of(found.closeness) == device
    wanted = np.lexsort([np.arange(n), -every.round(12)])[:k]
    assert to_device(found.vertices, "cpu").tolist() == wanted.tolist()
    assert to_device(found.closeness, "cpu").tolist() == pytest.approx(every[wanted].tolist())


@pytest.mark.parametrize("G", [hpg.datasets.kron(9), hpg.datasets.grid(30), hpg.datasets.uniform(9)])
def test_of_many(G):
    every = np.asarray(hpg.closeness_centrality(G.undirected))
    assert hpg.top_closeness(G.undirected, 20).closeness == pytest.approx(np.sort(every)[::-1][:20])


def test_unfit():
    assert hpg.top_closeness(([0, 1], [1, 0]), 3).closeness.tolist() == [1, 1]
    assert len(hpg.top_closeness(hpg.Graph.from_edges([], [], n_vertices=0, directed=False)).vertices) == 0
    raises(ValueError, "k must be at least 1", hpg.top_closeness, ([0, 1], [1, 0]), 0)
    raises(ValueError, "G must be undirected", hpg.top_closeness, ([0], [1]))


@every_kind
def test_percolation(directed, weighted, named, device):
    g = example(directed, weighted, named)
    states = dict(zip(g, np.random.default_rng(3).random(len(g)).tolist(), strict=True))
    nx.set_node_attributes(g, states, "state")
    wanted = list(nx.percolation_centrality(g, "state", weight="weight" if weighted else None).values())
    G = hpg.from_networkx(g, vertex_columns=["state"]).to(device)
    for graph, given in ((G, states), (G, "state"), (g, "state"), (G, list(states.values()))):
        found = hpg.percolation_centrality(graph, given, weight="weight" if weighted else None)
        assert to_device(found, "cpu").tolist() == pytest.approx(wanted, abs=1e-14)
    alike = hpg.percolation_centrality(G, weight=weighted)
    assert to_device(alike, "cpu") == pytest.approx(
        to_device(hpg.betweenness_centrality(G, weight=weighted), "cpu"), abs=1e-14
    )


def test_percolation_jointly_and_unfit():
    G = hpg.datasets.kron(8)
    states = np.random.default_rng(1).random(G.n_vertices)
    wanted = nx.percolation_centrality(hpg.to_networkx(G), states=dict(enumerate(states.tolist())))
    assert hpg.percolation_centrality(G, states) == pytest.approx(list(wanted.values()), abs=1e-12)
    assert (hpg.percolation_centrality(G, {5: 1.0})[[5]] == 0).all()
    raises(ValueError, "no vertex column 'x'", hpg.percolation_centrality, G, "x")
    raises(ValueError, "states must have one value for each", hpg.percolation_centrality, G, [1.0])
