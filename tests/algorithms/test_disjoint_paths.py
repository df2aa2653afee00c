"""Disjoint paths and connectivity, against NetworkX's; and flows of floats."""

import itertools

import networkx as nx
import numpy as np
import pytest
from graph_examples import example
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device


@pytest.mark.parametrize("directed", [False, True])
def test_paths(directed, device):
    g = example(directed, False, True)
    G, nodes = hpg.from_networkx(g).to(device), list(g)
    for s, t in itertools.pairwise(nodes[:10]):
        edge, node = hpg.edge_disjoint_paths(G, s, t), hpg.node_disjoint_paths(G, s, t)
        for paths in (edge, node):
            assert all(path[0] == s and path[-1] == t and len(set(path)) == len(path) for path in paths)
            assert all(g.has_edge(*arc) for path in paths for arc in itertools.pairwise(path))
        arcs = [arc if directed else frozenset(arc) for path in edge for arc in itertools.pairwise(path)]
        assert len(arcs) == len(set(arcs)) and len(edge) == hpg.edge_connectivity(G, s, t)
        inner = [v for path in node for v in path[1:-1]]
        assert len(inner) == len(set(inner)) and len(node) == hpg.node_connectivity(G, s, t)
        assert len(edge) == nx.edge_connectivity(g, s, t) and len(node) == nx.node_connectivity(g, s, t)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("p", [0.15, 0.4, 1.0])
def test_connectivity(directed, p):
    for seed in range(3):
        g = nx.gnp_random_graph(10, p, seed=seed, directed=directed)
        pairs = [pair for pair in itertools.permutations(g, 2) if not g.has_edge(*pair)]
        wanted = min((nx.node_connectivity(g, *pair) for pair in pairs), default=len(g) - 1)
        assert hpg.node_connectivity(hpg.from_networkx(g)) == wanted
        assert directed or wanted == nx.node_connectivity(g)
    assert hpg.node_connectivity(hpg.Graph.from_edges([], [], n_vertices=1)) == 0


def test_parallel_edges_are_paths_of_their_own():
    G = hpg.Graph.from_edges([0, 0, 1], [1, 1, 2], directed=True, duplicates="keep")
    assert hpg.edge_disjoint_paths(G, 0, 1) == [[0, 1], [0, 1]] and hpg.node_disjoint_paths(G, 0, 1) == [[0, 1]]
    assert hpg.edge_disjoint_paths(G, 2, 0) == [] == hpg.node_disjoint_paths(G, 2, 0)


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 14), st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 0.9]), st.booleans())
def test_flows_of_floats_equal_their_cuts(n, seed, p, directed):
    rng = np.random.default_rng(seed)
    u, v = np.nonzero(rng.random((n, n)) < p)
    weight = rng.random(len(u)) * 10.0 ** rng.integers(-3, 20)
    G = hpg.Graph.from_edges(u, v, weight, n_vertices=n, directed=directed, duplicates="min")
    found, (value, (near, far)) = hpg.maximum_flow(G, 0, n - 1), hpg.minimum_cut(G, 0, n - 1)
    A = np.zeros((n, n))
    source, target, weight = G.edges(both_ways=True)
    A[source, target] = weight
    scale = A.sum() * 1e-12
    flow = found.flow.toarray()
    assert value == found.flow_value == pytest.approx(A[np.ix_(near, far)].sum(), rel=1e-12, abs=scale)
    assert (flow == -flow.T).all() and (flow <= A + scale).all() and abs(flow.sum(1)[1:-1]).max() <= scale
    assert flow[0].sum() == pytest.approx(value, abs=scale) and 0 in near and n - 1 in far


def _with_weights(G, weight):
    source, target, _ = G.edges()
    return hpg.Graph.from_edges(source, target, weight, n_vertices=G.n_vertices, directed=G.directed)


def test_floats_as_whole_numbers(device):
    g = example(True, True, False)
    G = hpg.from_networkx(g)
    halves = _with_weights(G, np.round(G.edges()[2]) / 2).to(device)
    whole = _with_weights(G, np.round(G.edges()[2]).astype(np.int64)).to(device)
    value, (near, _) = hpg.minimum_cut(halves, 0, 5)
    twice, (same, _) = hpg.minimum_cut(whole, 0, 5)
    assert 2 * value == twice and to_device(near, "cpu").tolist() == to_device(same, "cpu").tolist()
    undirected = whole.undirected
    T = hpg.gomory_hu_tree(_with_weights(undirected, undirected.edges()[2] / 4))
    wanted = hpg.gomory_hu_tree(undirected)
    assert (4 * T.weights == wanted.weights).all()


def test_arguments():
    for call, says in (
        (lambda: hpg.node_connectivity(([0], [1]), 0), "must both be given"),
        (lambda: hpg.edge_disjoint_paths(([0], [1]), 0, 0), "two vertices"),
        (lambda: hpg.maximum_flow(([0], [1], [np.inf]), 0, 1), "must be finite"),
        (lambda: hpg.maximum_flow(([0], [1], [np.nan]), 0, 1), "must not be negative"),
    ):
        raises(ValueError, says, call)
