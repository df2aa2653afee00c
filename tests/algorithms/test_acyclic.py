"""Topological orders, longest paths and condensations, against NetworkX."""

import itertools

import networkx as nx
import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device


def acyclic(n, p, seed):
    """Random arcs from later to earlier places of a random order."""
    g = nx.gnp_random_graph(n, p, seed=seed)
    place = np.random.default_rng(seed).permutation(n).tolist()
    made = nx.DiGraph()
    made.add_nodes_from(range(n))
    made.add_edges_from((u, v) if place[u] > place[v] else (v, u) for u, v in g.edges)
    return made


DAGS = {
    "no vertices": nx.empty_graph(0, nx.DiGraph), "one vertex": nx.empty_graph(1, nx.DiGraph),
    "no arcs": nx.empty_graph(3, nx.DiGraph), "path": nx.path_graph(400, nx.DiGraph),
    "path backwards": nx.path_graph(9, nx.DiGraph).reverse(), "star": nx.DiGraph((0, v) for v in range(1, 600)),
    "tree": nx.balanced_tree(3, 4, nx.DiGraph), "diamond": nx.DiGraph([(0, 1), (0, 2), (1, 3), (2, 3)]),
    "sparse": acyclic(200, 0.01, 1), "dense": acyclic(60, 0.4, 2),
}  # fmt: skip
CYCLIC = {
    "cycle": nx.cycle_graph(5, nx.DiGraph),
    "loop": nx.DiGraph([(0, 1), (1, 1)]),
    "cycle behind a path": nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)]),
    "edge": nx.path_graph(2),
    "random": nx.gnp_random_graph(60, 0.05, seed=3, directed=True),
}


def of(g, device):
    return hpg.from_networkx(g).to(device)


def weighted(g, seed=1):
    g = g.copy()
    draw = np.random.default_rng(seed)
    for _, _, data in g.edges(data=True):
        data["weight"] = float(draw.integers(-3, 9))
    return g


@pytest.mark.parametrize("name", DAGS)
def test_topological_sort(name, device):
    g = DAGS[name]
    G = of(g, device)
    assert hpg.is_dag(G) is True and hpg.is_directed_acyclic_graph is hpg.is_dag
    order = hpg.topological_sort(G)
    assert device_of(order) == device
    expected = itertools.chain.from_iterable(sorted(part) for part in nx.topological_generations(g))
    assert order.tolist() == list(expected)


@pytest.mark.parametrize("name", CYCLIC)
def test_cycles(name, device):
    G = of(CYCLIC[name], device)
    assert hpg.is_dag(G) is False
    for search in (hpg.topological_sort, hpg.dag_longest_path):
        raises(ValueError, "G has a cycle", search, G)


@pytest.mark.parametrize("name", DAGS)
def test_longest_path(name, device):
    g = weighted(DAGS[name])
    G = of(g, device)
    for weight, graph in (("weight", g), (None, DAGS[name])):
        path = hpg.dag_longest_path(G, weight=weight).tolist()
        assert len(path) == len(set(path)) and all(graph.has_edge(u, v) for u, v in itertools.pairwise(path))
        length = sum(graph[u][v].get("weight", 1) for u, v in itertools.pairwise(path))
        assert length == nx.dag_longest_path_length(graph)
        assert bool(path) == (len(g) > 0)
    assert hpg.dag_longest_path(of(DAGS[name], device)).tolist() == path


def test_longest_path_among_equals(device):
    G = of(DAGS["diamond"], device)
    assert hpg.dag_longest_path(G).tolist() == [0, 1, 3]
    names = hpg.Graph(G, names=list("abcd"))
    assert hpg.dag_longest_path(names).tolist() == ["a", "b", "d"]
    assert hpg.topological_sort(names).tolist() == list("abcd")


def test_unfit_input(device):
    G = hpg.Graph.from_edges([0, 1], [1, 2], [1.0, np.nan]).to(device)
    raises(ValueError, "NaN", hpg.dag_longest_path, G)
    assert hpg.dag_longest_path(G, weight=None).tolist() == [0, 1, 2]
    raises(TypeError, "weight must be", hpg.dag_longest_path, G, weight="length")


@pytest.mark.parametrize("name", [*DAGS, *CYCLIC])
def test_condensation(name, device):
    g = (DAGS | CYCLIC)[name]
    found = hpg.condensation(of(g, device))
    label = to_device(found.label, "cpu").tolist()
    directed = nx.DiGraph(g)
    parts = sorted((sorted(part) for part in nx.strongly_connected_components(directed)), key=lambda part: part[0])
    assert label == [next(i for i, part in enumerate(parts) if v in part) for v in range(len(g))]
    made = found.graph
    assert made.device == device and made.n_vertices == len(parts) and hpg.is_dag(made)
    source, target, _ = (None if array is None else to_device(array, "cpu") for array in made.edges())
    expected = {(label[u], label[v]) for u, v in directed.edges if label[u] != label[v]}
    assert set(zip(source.tolist(), target.tolist(), strict=True)) == expected
    for i, part in enumerate(parts):
        assert found.members(i).tolist() == part
    raises(IndexError, "component", found.members, len(parts))


def test_members_have_names(device):
    G = hpg.Graph.from_edges([0, 1, 1], [1, 0, 2], names=["a", "b", "c"]).to(device)
    assert hpg.condensation(G).members(0).tolist() == ["a", "b"]


def test_wide_ids(wide_graph):
    g = DAGS["sparse"]
    G = wide_graph(nx.to_scipy_sparse_array(g), directed=True)
    expected = itertools.chain.from_iterable(sorted(part) for part in nx.topological_generations(g))
    assert hpg.topological_sort(G).tolist() == list(expected)
