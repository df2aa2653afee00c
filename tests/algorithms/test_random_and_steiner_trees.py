"""Steiner trees against the lightest of all, and random spanning trees by how often each is drawn."""

import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest
import scipy.stats
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device


def edges_of(tree):
    return tuple(zip(*(to_device(end, "cpu").tolist() for end in (tree.source, tree.target)), strict=True))


def lightest(g, terminals):
    """The least weight of a spanning tree of vertices among which the terminals are."""
    others = [v for v in g if v not in terminals]
    subsets = itertools.chain.from_iterable(itertools.combinations(others, k) for k in range(len(others) + 1))
    parts = (g.subgraph({*terminals, *some}) for some in subsets)
    return min(nx.minimum_spanning_tree(part).size("weight") for part in parts if nx.is_connected(part))


@pytest.mark.parametrize("seed", range(25))
def test_steiner_tree(seed, device):
    rng = np.random.default_rng(seed)
    g = nx.gnm_random_graph(int(rng.integers(3, 10)), int(rng.integers(3, 18)), seed)
    g = nx.convert_node_labels_to_integers(g.subgraph(max(nx.connected_components(g), key=len)))
    for _, _, data in g.edges(data=True):
        data["weight"] = int(rng.integers(0, 9))
    terminals = rng.integers(0, len(g), 4).tolist()
    tree = hpg.steiner_tree(hpg.from_networkx(g).to(device), terminals)
    assert device_of(tree.source) == device
    found = nx.Graph(edges_of(tree))
    found.add_nodes_from(terminals)
    assert nx.is_tree(found) and all(v in terminals for v, degree in found.degree if degree == 1)
    assert to_device(tree.weight, "cpu").tolist() == [g.edges[edge]["weight"] for edge in edges_of(tree)]
    assert lightest(g, set(terminals)) <= tree.total <= (2 - 2 / len(set(terminals))) * lightest(g, set(terminals))


def test_steiner_trees_on_a_road_and_by_name():
    G = hpg.datasets.grid(40, weighted=True, removed=0)
    tree = hpg.steiner_tree(G, [0, 1599])
    assert tree.total == hpg.sssp(G, 0).distance[1599]
    assert hpg.steiner_tree(G, [0, 1599], weight=None).total == 78 and hpg.steiner_tree(G, [7]).total == 0
    named = hpg.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    assert hpg.steiner_tree(named, ["d", "b"]).to_pandas().values.tolist() == [["b", "c"], ["c", "d"]]
    raises(hpg.NoPathError, "no path joins", hpg.steiner_tree, ([0, 2], [1, 3]), [0, 3])
    raises(hpg.NoPathError, "no path joins", hpg.steiner_tree, ([0], [1], [np.inf]), [0, 1])
    for given, terminals, message in (
        (([0], [1]), [], "must hold a vertex"), (([0], [1], [-1]), [0, 1], "must not be negative"),
    ):  # fmt: skip
        raises(ValueError, message, hpg.steiner_tree, given, terminals)


@pytest.mark.parametrize("weighted", [False, True])
def test_trees_are_drawn_by_their_weights(weighted, device):
    g = nx.complete_graph(4)
    for k, (_, _, data) in enumerate(g.edges(data=True)):
        data["weight"] = float(k % 3) if weighted else 1.0
    G = hpg.from_networkx(g).to(device)
    drawn = Counter(tuple(sorted(edges_of(hpg.random_spanning_tree(G, weighted, seed=seed)))) for seed in range(2000))
    weights = {
        tuple(sorted(tree)): float(np.prod([g.edges[edge]["weight"] for edge in tree]))
        for tree in itertools.combinations(g.edges, 3) if nx.is_tree(nx.Graph(tree)) and len(nx.Graph(tree)) == 4
    }  # fmt: skip
    assert set(drawn) == {tree for tree, weight in weights.items() if weight}
    wanted = np.array([weights[tree] for tree in drawn])
    assert scipy.stats.chisquare(list(drawn.values()), wanted / wanted.sum() * 2000).pvalue > 1e-4


def test_random_trees_of_components():
    G = hpg.Graph.from_edges([0, 0, 1, 3, 4], [1, 2, 2, 4, 4], n_vertices=7, directed=False)
    tree = hpg.random_spanning_tree(G)
    assert tree.count == 4 and tree.weight is None and repr(tree) == repr(hpg.random_spanning_tree(G))
    assert hpg.connected_components(tree.graph).count == 4
    kept = hpg.Graph.from_edges([0, 0, 1], [1, 1, 2], directed=False, duplicates="keep")
    assert hpg.random_spanning_tree(kept).weight.tolist() == [2, 1]
    for given, weight, message in (
        (hpg.Graph.from_edges([0], [1]), None, "G must be undirected"),
        (hpg.Graph.from_edges([0], [1], [-1], directed=False), True, "finite weights from 0 on"),
    ):
        raises(ValueError, message, hpg.random_spanning_tree, given, weight)
