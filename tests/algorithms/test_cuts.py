"""Cuts, against NetworkX's, sums over all subsets, and flows."""

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from graph_examples import example
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device


def weights_between(g, near, weight="weight"):
    return sum(data.get(weight, 1) for u, v, data in g.edges(data=True) if (u in near) != (v in near))


def whole_weights(g):
    for _, _, data in g.edges(data=True):
        if "weight" in data:
            data["weight"] = int(data["weight"])
    return g


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_between_two(directed, weighted, device):
    g = whole_weights(example(directed, weighted, True))
    nx.set_edge_attributes(g, 1, "one")
    capacity, nodes = "weight" if weighted else "one", list(g)
    G = hpg.from_networkx(g).to(device)
    for source, target in itertools.pairwise(nodes[:12]):
        value, (near, far) = hpg.minimum_cut(G, source, target)
        wanted, (first, second) = nx.minimum_cut(g, source, target, capacity=capacity)
        near, far = (set(to_device(side, "cpu").tolist()) for side in (near, far))
        assert value == wanted and near == first and far == second
        assert hpg.edge_connectivity(G, source, target) == nx.edge_connectivity(g, source, target)


def brute(A):
    n = len(A)
    sides = ((np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1).astype(bool)[1:]
    return min(A[np.ix_(side, ~side)].sum() for side in sides)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 9), st.integers(0, 10**6), st.sampled_from([0.3, 0.6, 1.0]), st.booleans())
def test_global_cut_is_the_least_of_all(n, seed, p, whole):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.integers(0, 9, (n, n)) * (rng.random((n, n)) < p), 1)
    A = (A + A.T) * (1 if whole else 0.25)
    G = hpg.Graph(scipy.sparse.csr_array(A), directed=False)
    value, (one, other) = hpg.stoer_wagner(G)
    assert value == brute(A) == A[np.ix_(one, other)].sum() and isinstance(value, int) == whole
    assert len(one) and len(other) and sorted([*one, *other]) == list(range(n))


@pytest.mark.parametrize(("n", "p", "seed"), [(60, 0.2, 1), (300, 0.03, 2), (120, 0.7, 3)])
def test_global_cut(n, p, seed, device):
    g = nx.gnp_random_graph(n, p, seed=seed)
    rng = np.random.default_rng(seed)
    nx.set_edge_attributes(g, {edge: float(rng.integers(1, 9)) for edge in g.edges}, "weight")
    G = hpg.from_networkx(g).to(device)
    assert hpg.edge_connectivity(G) == nx.edge_connectivity(g)
    value, (one, _) = hpg.stoer_wagner(G)
    assert value == weights_between(g, set(one.tolist()))
    assert not nx.is_connected(g) or value == nx.stoer_wagner(g)[0]


def test_two_dense_parts():
    """A cut of three edges between two random graphs of many edges, which no degree shows."""
    part = hpg.datasets.random_regular_graph(12, 500)
    source, target, _ = part.edges()
    bridge = np.arange(3)
    G = hpg.Graph.from_edges(
        np.concatenate([source, source + 500, bridge]), np.concatenate([target, target + 500, bridge + 500]),
        directed=False,
    )  # fmt: skip
    value, sides = hpg.stoer_wagner(G)
    assert value == 3 == hpg.edge_connectivity(G) and sorted(map(len, sides)) == [500, 500]


def test_small_cut_beside_large_weights():
    """The value is that of the edges between the parts, which differences of sums in double precision lose."""
    value, (one, _) = hpg.stoer_wagner(hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], [1e17, 3.0, 1e17], directed=False))
    assert value == 3 and sorted(one.tolist()) in ([0, 1], [2, 3])
    whole = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], [2**60, 3, 2**60], directed=False)
    raises(ValueError, "more than double precision counts exactly", hpg.stoer_wagner, whole)


@pytest.mark.parametrize("weighted", [False, True])
def test_gomory_hu_tree(weighted, device):
    g = whole_weights(example(False, weighted, True, n=24))
    nx.set_edge_attributes(g, 1, "one")
    T = hpg.gomory_hu_tree(hpg.from_networkx(g).to(device))
    tree = hpg.to_networkx(T)
    assert nx.is_tree(tree) and set(tree) == set(g)
    for u, v in itertools.combinations(list(g)[:12], 2):
        lightest = min(tree.edges[edge]["weight"] for edge in itertools.pairwise(nx.shortest_path(tree, u, v)))
        assert lightest == nx.maximum_flow_value(g, u, v, capacity="weight" if weighted else "one")
    for u, v, weight in list(tree.edges(data="weight")):
        parts = tree.copy()
        parts.remove_edge(u, v)
        assert weights_between(g, nx.node_connected_component(parts, u), "weight" if weighted else "one") == weight


@pytest.mark.parametrize("directed", [False, True])
def test_connectivity_of_directed_graphs_and_others(directed):
    for seed in range(4):
        g = nx.gnp_random_graph(25, 0.25, seed=seed, directed=directed)
        assert hpg.edge_connectivity(hpg.from_networkx(g)) == nx.edge_connectivity(g)
    assert hpg.edge_connectivity(hpg.Graph.from_edges([], [], n_vertices=1)) == 0


def test_maximum_spanning_forest(device):
    g = example(False, True, True)
    found = hpg.maximum_spanning_forest(hpg.from_networkx(g).to(device))
    assert found.total == sum(d["weight"] for *_, d in nx.maximum_spanning_edges(g))
    assert nx.is_forest(hpg.to_networkx(found.graph.to("cpu"))) and found.count == nx.number_connected_components(g)
    assert hpg.maximum_spanning_forest(([0, 1, 0], [1, 2, 2])).total == 2
    both = hpg.Graph.from_edges([0, 1, 1], [1, 0, 2], np.array([3, 200, 7], np.uint8))
    assert hpg.maximum_spanning_forest(both).weight.tolist() == [200, 7]


def test_arguments():
    directed, single = hpg.Graph.from_edges([0], [1]), hpg.Graph.from_edges([], [], n_vertices=1, directed=False)
    negative = hpg.Graph.from_edges([0], [1], [-1.0], directed=False)
    large = hpg.Graph.from_edges([0, 1], [1, 2], [1e308, 1e308], directed=False)
    for call, says in (
        (lambda: hpg.stoer_wagner(directed), "G must be undirected"),
        (lambda: hpg.gomory_hu_tree(directed), "G must be undirected"),
        (lambda: hpg.stoer_wagner(single), "at least two vertices"),
        (lambda: hpg.stoer_wagner(negative), "not negative"),
        (lambda: hpg.stoer_wagner(large), "and so must their sum"),
        (lambda: hpg.gomory_hu_tree(large), "and so must their sum"),
        (lambda: hpg.minimum_cut(directed, 0, 0), "source and sink"),
        (lambda: hpg.edge_connectivity(directed, 0), "must both be given"),
    ):
        raises(ValueError, says, call)
