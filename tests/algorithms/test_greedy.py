"""Independent sets, colourings, matchings and bipartite graphs: by what defines them, and by slow loops."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from graph_examples import every_kind, example, without_loops
from raising import raises

import hpgraph as hpg
from hpgraph.algorithms.bipartite import by_levels
from hpgraph.algorithms.random_choice import random_order, scattered
from hpgraph.core.device import device_of, to_device

CASES = {
    "no vertices": nx.empty_graph(0), "one vertex": nx.empty_graph(1), "no arcs": nx.empty_graph(3),
    "path": nx.path_graph(300), "star": nx.star_graph(5000), "cycle": nx.cycle_graph(9),
    "complete": nx.complete_graph(100), "disconnected": nx.disjoint_union(nx.path_graph(5), nx.complete_graph(20)),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 30)),
    "random": nx.gnp_random_graph(300, 0.05, seed=4), "bipartite": nx.bipartite.random_graph(40, 60, 0.05, seed=1),
}  # fmt: skip


def of(g, device):
    return hpg.from_networkx(g).to(device)


def independent(g, order):
    taken = set()
    for v in order:
        if taken.isdisjoint(g[v]):
            taken.add(v)
    return sorted(taken)


def colors(g, order):
    color = {}
    for v in order:
        used = {color[u] for u in g[v] if u in color}
        color[v] = next(c for c in range(len(g)) if c not in used)
    return [color[v] for v in range(len(g))]


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("name", CASES)
def test_independent_set(name, seed, device):
    g = CASES[name]
    G = of(g, device)
    found = hpg.maximal_independent_set(G, seed=seed)
    assert device_of(found) == device
    assert found.tolist() == independent(g, to_device(random_order(G, seed), "cpu").tolist())
    if len(g):
        with_last = hpg.maximal_independent_set(G, [len(g) - 1], seed=seed).tolist()
        assert len(g) - 1 in with_last and with_last == nx_maximal(g, with_last)


def nx_maximal(g, found):
    """The set itself, if it is independent and maximal."""
    assert g.subgraph(found).number_of_edges() == 0
    assert all(v in found or not set(g[v]).isdisjoint(found) for v in g)
    return sorted(found)


@pytest.mark.parametrize("strategy", ["largest_first", "smallest_last", "random_sequential"])
@pytest.mark.parametrize("name", CASES)
def test_colors(name, strategy, device):
    g = CASES[name]
    G = of(g, device)
    found = hpg.greedy_color(G, strategy, seed=3)
    assert device_of(found) == device and found.dtype == np.int32
    found = to_device(found, "cpu")
    source, target = np.array(g.edges, dtype=np.int64).reshape(-1, 2).T
    assert (found[source] != found[target]).all() and (found >= 0).all()
    if strategy == "random_sequential":
        assert found.tolist() == colors(g, to_device(random_order(G, 3), "cpu").tolist())
    elif strategy == "largest_first":
        order = to_device(random_order(G, 3), "cpu").tolist()
        # A hash keeps only half of its bits behind a rank, which does not change the order of so few.
        assert found.tolist() == colors(g, sorted(order, key=lambda v: -g.degree[v]))
    elif len(g):
        assert found.max() <= max(nx.core_number(g).values())


def test_more_colors_than_are_looked_at_together(device):
    G = hpg.Graph(scipy.sparse.csr_array(1 - np.eye(2049, dtype=np.int8)), directed=False).to(device)
    assert sorted(to_device(hpg.greedy_color(G, seed=3), "cpu").tolist()) == list(range(2049))


@pytest.mark.parametrize("name", CASES)
def test_matching(name, device):
    g = CASES[name]
    mate = hpg.maximal_matching(of(g, device), seed=5)
    assert device_of(mate) == device and mate.dtype == np.int32
    mate = to_device(mate, "cpu").tolist()
    edges = {(v, u) for v, u in enumerate(mate) if u >= 0}
    assert all(mate[u] == v and g.has_edge(u, v) for v, u in edges)
    assert nx.is_maximal_matching(g, {edge for edge in edges if edge[0] < edge[1]})
    # The greedy choice in the order of the edges' hashes.
    chosen = [-1] * len(g)
    for u, v in sorted((tuple(sorted(edge)) for edge in g.edges), key=lambda edge: mixed(edge, scattered(5))):
        if chosen[u] == chosen[v] == -1:
            chosen[u], chosen[v] = v, u
    assert mate == chosen


def mixed(edge, seed):
    x = ((edge[0] << 32 | edge[1]) + seed) % 2**64
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = (x ^ x >> 33) * factor % 2**64
    return x ^ x >> 33


@every_kind
def test_every_kind_of_graph(directed, weighted, named, device):
    """Directions, weights and loops make no difference, and names are given where vertices are."""
    g = example(directed, weighted, named)
    G = of(g, device)
    plain = without_loops(nx.Graph(g))
    found = hpg.maximal_independent_set(G).tolist()
    assert nx_maximal(plain, found) == sorted(found)
    name, color, mate = list(G), hpg.greedy_color(G).tolist(), hpg.maximal_matching(G).tolist()
    shown = dict(zip(name, color, strict=True))
    assert all(shown[u] != shown[v] for u, v in plain.edges)
    assert nx.is_maximal_matching(plain, {(name[v], name[u]) for v, u in enumerate(mate) if u > v})
    assert hpg.is_bipartite(G) is False


def test_seeds_differ(device):
    G = of(CASES["random"], device)
    for search in (hpg.maximal_independent_set, hpg.maximal_matching, lambda G, seed: hpg.greedy_color(G, seed=seed)):
        assert search(G, seed=1).tolist() == search(G, seed=1).tolist() != search(G, seed=2).tolist()


@pytest.mark.parametrize("name", CASES)
def test_bipartite(name, device):
    g = CASES[name]
    G = of(g, device)
    assert hpg.is_bipartite(G) is nx.is_bipartite(g)
    # The way of the GPU, on either device.
    sides = by_levels(G)
    assert (sides is not None) is nx.is_bipartite(g)
    assert sides is None or to_device(sides, "cpu").nonzero()[0].tolist() == hpg.bipartite_sets(G)[1].tolist()
    if not nx.is_bipartite(g):
        raises(ValueError, "not bipartite", hpg.bipartite_sets, G)
        return
    one, other = (side.tolist() for side in hpg.bipartite_sets(G))
    assert sorted(one + other) == list(range(len(g))) and one == sorted(one) and other == sorted(other)
    assert g.subgraph(one).number_of_edges() == g.subgraph(other).number_of_edges() == 0
    assert {min(part) for part in nx.connected_components(g)} <= set(one)


def test_bipartite_with_names_and_loops(device):
    G = hpg.Graph.from_edges([0, 1], [1, 2], names=["a", "b", "c"]).to(device)
    assert [side.tolist() for side in hpg.bipartite_sets(G)] == [["a", "c"], ["b"]]
    assert hpg.is_bipartite(hpg.Graph.from_edges([0, 1], [1, 1]).to(device)) is False


def test_wide_ids(wide_graph):
    g = CASES["random"]
    G = wide_graph(nx.to_scipy_sparse_array(g), directed=False)
    order = random_order(G, 0).tolist()
    assert hpg.maximal_independent_set(G).tolist() == independent(g, order)
    assert hpg.greedy_color(G, "random_sequential").tolist() == colors(g, order)
    assert hpg.maximal_matching(G).tolist() == hpg.maximal_matching(of(g, "cpu")).tolist()


def test_unfit_input(device):
    G = of(nx.path_graph(3), device)
    raises(ValueError, "nodes must be independent", hpg.maximal_independent_set, G, [0, 1])
    raises(IndexError, "nodes", hpg.maximal_independent_set, G, [3])
    raises(ValueError, 'strategy must be "largest_first"', hpg.greedy_color, G, "smallest_first")
    raises(TypeError, "seed must be a whole number", hpg.maximal_matching, G, seed=0.5)
