"""Bridges, articulation points and biconnected components, against NetworkX."""

import networkx as nx
import numpy as np
import pytest
from graph_examples import every_kind, example, without_loops

import hpgraph as hpg
from hpgraph.algorithms.biconnected import blocks, bridge_ends
from hpgraph.core.device import device_of, to_device

CASES = {
    "no vertices": nx.empty_graph(0),
    "one vertex": nx.empty_graph(1),
    "no arcs": nx.empty_graph(3),
    "one edge": nx.path_graph(2),
    "path": nx.path_graph(7),
    "star": nx.star_graph(6),
    "cycle": nx.cycle_graph(9),
    "complete": nx.complete_graph(6),
    "two cycles that share a vertex": nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)]),
    "barbell": nx.barbell_graph(4, 3),
    "disconnected": nx.disjoint_union_all([nx.path_graph(5), nx.complete_graph(3), nx.barbell_graph(3, 0)]),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 6)),
    **{f"random {seed}": nx.gnp_random_graph(60, 0.04, seed=seed) for seed in range(6)},
}


@pytest.mark.parametrize("name", CASES)
def test_against_networkx(name, device):
    g = CASES[name]
    check(hpg.from_networkx(g).to(device), g)


@pytest.mark.parametrize("name", CASES)
def test_from_any_spanning_forest(name):
    """The way of the GPU, on the CPU."""
    g = CASES[name]
    arcs = hpg.from_networkx(g).out_csr
    assert {frozenset(edge) for edge in bridge_ends(arcs).tolist()} == {frozenset(edge) for edge in nx.bridges(g)}
    forest, components = blocks(arcs)
    edges = {}
    for u, v in g.edges:
        label = components.label[max((u, v), key=lambda vertex: forest.number[vertex])]
        edges.setdefault(int(label), set()).add(frozenset((u, v)))
    expected = [{frozenset(edge) for edge in part} for part in nx.biconnected_component_edges(g)]
    assert len(components.top) == len(edges) == len(expected) and all(part in expected for part in edges.values())
    # Preorder: the descendants of a vertex have the numbers from its own on.
    assert sorted(forest.number) == list(range(len(g)))
    for v in g:
        above = forest.parent[v]
        assert v == above or forest.number[above] < forest.number[v] < forest.number[above] + forest.size[above]


@every_kind
def test_every_kind_of_graph(directed, weighted, named, device):
    """Directions, weights and loops make no difference."""
    g = example(directed, weighted, named, n=60)
    check(hpg.from_networkx(g).to(device), nx.Graph(g))


def check(G, g):
    bridges = hpg.bridges(G)
    assert bridges.shape == (len(bridges), 2)
    found = [frozenset(edge) for edge in bridges.tolist()]
    assert len(set(found)) == len(found)
    assert set(found) == {frozenset(edge) for edge in nx.bridges(without_loops(g))}
    ends = np.array([[G.index_of(v) for v in edge] for edge in bridges.tolist()]).reshape(-1, 2)
    assert (ends[:, 0] < ends[:, 1]).all() and sorted(ends.tolist()) == ends.tolist()

    points = hpg.articulation_points(G).tolist()
    assert set(points) == set(nx.articulation_points(g))
    assert points == sorted(points, key=G.index_of)

    components = hpg.biconnected_components(G)
    assert len(components) == components.count
    parts = sorted(sorted(part.tolist()) for part in components)
    assert parts == sorted(sorted(part) for part in nx.biconnected_components(g))
    name = list(G)
    edges = {}
    found = (to_device(array, "cpu").tolist() for array in (components.source, components.target, components.label))
    for u, v, label in zip(*found, strict=True):
        edges.setdefault(label, set()).add(frozenset((name[u], name[v])))
    expected = [{frozenset(edge) for edge in part} for part in nx.biconnected_component_edges(without_loops(g))]
    assert len(edges) == len(expected) and all(part in expected for part in edges.values())


def test_deep_searches(device):
    """A path takes a stack as long as itself."""
    n = 300_000
    G = hpg.Graph.from_edges(np.arange(n - 1), np.arange(1, n), directed=False).to(device)
    assert len(hpg.bridges(G)) == n - 1
    assert hpg.articulation_points(G).tolist() == list(range(1, n - 1))
    assert hpg.biconnected_components(G).count == n - 1


def test_wide_ids(wide_graph):
    g = CASES["random 1"]
    G = wide_graph(nx.to_scipy_sparse_array(g), directed=False)
    assert hpg.bridges(G).dtype == np.int64
    check(G, g)


def test_results_are_on_the_graph_s_device(device):
    G = hpg.Graph.from_edges([0, 1], [1, 2]).to(device)
    components = hpg.biconnected_components(G)
    for array in (hpg.bridges(G), hpg.articulation_points(G), components.source, components.label):
        assert device_of(array) == device
