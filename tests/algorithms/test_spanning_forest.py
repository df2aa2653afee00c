"""Spanning forests of least weight, against NetworkX and SciPy."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph
from graph_examples import KINDS, example
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device


def weighted(g, draw):
    """The same graph with weights by `draw`, a function of the number of edges."""
    g = g.copy()
    for (_, _, data), weight in zip(g.edges(data=True), draw(g.number_of_edges()), strict=True):
        data["weight"] = float(weight)
    return g


def distinct(count):
    return np.random.default_rng(3).permutation(count) - count / 2


def few(count):
    return np.random.default_rng(4).integers(0, 3, count)


CASES = {
    "no vertices": nx.empty_graph(0), "one vertex": nx.empty_graph(1), "no arcs": nx.empty_graph(3),
    "path": nx.path_graph(300), "star": nx.star_graph(5000), "cycle": nx.cycle_graph(9),
    "complete": nx.complete_graph(30), "disconnected": nx.disjoint_union(nx.path_graph(5), nx.complete_graph(20)),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 30)),
    "random": nx.gnp_random_graph(300, 0.05, seed=4),
}  # fmt: skip


def edges_of(forest):
    source, target, weight = (to_device(array, "cpu") for array in (forest.source, forest.target, forest.weight))
    assert (source < target).all()
    return sorted(zip(source.tolist(), target.tolist(), weight.tolist(), strict=True))


def in_order(g):
    """Kruskal's choice of edges by weight, then ends."""
    trees = nx.utils.UnionFind(g)
    chosen = []
    for w, u, v in sorted((w, min(u, v), max(u, v)) for u, v, w in g.edges(data="weight")):
        if trees[u] != trees[v]:
            trees.union(u, v)
            chosen.append((u, v, w))
    return sorted(chosen)


@pytest.mark.parametrize("draw", [distinct, few])
@pytest.mark.parametrize("name", CASES)
def test_is_the_least(name, draw, device):
    g = weighted(CASES[name], draw)
    forest = hpg.minimum_spanning_forest(hpg.from_networkx(g).to(device))
    assert device_of(forest.source) == device
    expected = nx.minimum_spanning_tree(g)
    assert len(forest.source) == expected.number_of_edges()
    assert forest.count == nx.number_connected_components(g) if len(g) else forest.count == 0
    assert forest.total == sum(w for _, _, w in expected.edges(data="weight"))
    # Ties are settled, so that it is this one and no other of the same weight.
    if g.number_of_edges():
        assert edges_of(forest) == in_order(g)


@pytest.mark.parametrize(("directed", "weights", "named"), KINDS)
def test_every_kind_of_graph(directed, weights, named, device):
    g = example(directed, weights, named)
    G = hpg.from_networkx(g).to(device)
    forest = hpg.minimum_spanning_forest(G)
    least = scipy.sparse.csgraph.minimum_spanning_tree(G.to("cpu").out_csr.to_scipy(np.float64))
    assert forest.total == (least.sum() if weights else least.nnz)
    assert forest.count == nx.number_connected_components(g.to_undirected())
    made = forest.graph
    assert list(made) == list(G) and made.device == device and not made.directed and made.weighted == weights
    plain = nx.Graph(hpg.to_networkx(made.to("cpu")))
    assert nx.is_forest(plain) and nx.number_connected_components(plain) == forest.count


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_types_of_weights(dtype, device):
    """Negative weights, both zeros, and the ends of the range."""
    values = {"float32": [-np.inf, -1.5, -0.0, 0.0, 2.5, np.inf], "int64": [-(2**63), -1, 0, 0, 7, 2**63 - 1]}[dtype]
    n = len(values)
    # Two arcs to each vertex; the lighter one is kept.
    source = np.concatenate([np.zeros(n, np.int64), np.full(n, n + 1)])
    target = np.tile(np.arange(1, n + 1), 2)
    weight = np.concatenate([np.array(values, dtype), np.full(n, 5, dtype)])
    forest = hpg.minimum_spanning_forest(hpg.Graph.from_edges(source, target, weight, directed=False).to(device))
    assert forest.weight.dtype == dtype
    kept = [value for value in values if value <= 5] + [5]
    assert sorted(to_device(forest.weight, "cpu").tolist()) == sorted([*kept, *[5] * (n + 1 - len(kept))])


@pytest.mark.parametrize("weight", [np.iinfo(np.int64).min, np.iinfo(np.int64).max, np.iinfo(np.uint64).max])
def test_a_total_that_no_integer_of_64_bits_holds(weight, device):
    G = hpg.Graph.from_edges([0, 1], [1, 2], np.array([weight, weight]), directed=False).to(device)
    assert hpg.minimum_spanning_forest(G).total == 2 * weight


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", "bool"])
def test_the_largest_forest_at_the_ends_of_a_type(dtype, device):
    """Numbers whose negative their type does not hold."""
    low, high = (False, True) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    edges = [0, 1, 2], [1, 2, 0], np.array([low, high, high], dtype)
    forest = hpg.maximum_spanning_forest(hpg.Graph.from_edges(*edges, directed=False).to(device))
    assert forest.weight.dtype == dtype and to_device(forest.weight, "cpu").tolist() == [high, high]


def test_nan(device):
    """NaN is heavier than any other weight; where it is needed all the same, that is an error."""
    arcs = [0, 1, 2], [1, 2, 0]
    G = hpg.Graph.from_edges(*arcs, np.array([1.0, np.inf, np.nan]), directed=False).to(device)
    assert hpg.minimum_spanning_forest(G).total == np.inf
    G = hpg.Graph.from_edges(*arcs, np.array([1.0, np.nan, np.nan]), directed=False).to(device)
    raises(ValueError, "weights of G must not be NaN", hpg.minimum_spanning_forest, G)


def test_long_chains(device):
    """Along a path with rising weights every vertex takes the arc back: one chain, a million long."""
    n = 1_000_000
    G = hpg.Graph.from_edges(np.arange(n - 1), np.arange(1, n), np.arange(n - 1.0), directed=False).to(device)
    forest = hpg.minimum_spanning_forest(G)
    assert (len(forest.source), forest.count) == (n - 1, 1)


def test_wide_ids(wide_graph):
    g = weighted(CASES["random"], few)
    forest = hpg.minimum_spanning_forest(wide_graph(nx.to_scipy_sparse_array(g), directed=False))
    assert forest.source.dtype == np.int64 and edges_of(forest) == in_order(g)
