"""NetworkX graphs in and out, against NetworkX's own matrices."""

import sys
from collections.abc import Iterator
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.core.errors import MissingExtraError

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def random_graph(kind: type[nx.Graph], weights: str | None, seed: int = 1) -> nx.Graph:
    random = np.random.default_rng(seed)
    graph = kind()
    graph.add_nodes_from(f"v{k}" for k in random.permutation(25))
    for u, v in random.integers(0, 20, (60, 2)).tolist():
        weight = {"int": int(random.integers(-5, 9)), "float": float(random.random()), None: None}[weights]
        graph.add_edge(f"v{u}", f"v{v}", **({} if weight is None else {"weight": weight}))
    return graph


def dense(graph: hpg.Graph) -> np.ndarray:
    return graph.out_csr.to_scipy().toarray()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", ["int", "float"])
def test_weights_are_those_of_networkx(kind: type[nx.Graph], weights: str) -> None:
    graph = random_graph(kind, weights)
    ours = hpg.from_networkx(graph)
    expected = nx.to_numpy_array(graph, multigraph_weight=min)
    assert np.array_equal(dense(ours), expected)
    assert ours.directed is graph.is_directed()
    assert ours.names is not None
    assert ours.names.tolist() == list(graph)
    assert ours.weights.dtype == (np.int64 if weights == "int" else np.float64)


@pytest.mark.parametrize("kind", KINDS)
def test_without_weights(kind: type[nx.Graph]) -> None:
    graph = random_graph(kind, None)
    ours = hpg.from_networkx(graph)
    assert not ours.weighted
    csr = ours.out_csr
    expected = nx.to_numpy_array(graph, multigraph_weight=min, weight=None) != 0
    found = np.zeros_like(expected)
    found[np.repeat(np.arange(25), np.diff(csr.indptr)), csr.indices] = True
    assert np.array_equal(found, expected)
    assert not hpg.from_networkx(random_graph(kind, "int"), weight=None).weighted


def test_an_edge_without_the_attribute_weighs_one() -> None:
    graph = nx.DiGraph([(0, 1, {"km": 2.5}), (1, 2)])
    assert np.array_equal(dense(hpg.from_networkx(graph, "km")), nx.to_numpy_array(graph, weight="km"))
    assert not hpg.from_networkx(graph).weighted


def test_numbers_in_order_are_no_names() -> None:
    assert hpg.from_networkx(nx.path_graph(4)).names is None
    turned = nx.Graph([(1, 0), (0, 2)])
    names = hpg.from_networkx(turned).names
    assert names is not None
    assert names.tolist() == [1, 0, 2]


def test_names_of_any_kind() -> None:
    graph = nx.DiGraph([((0, 1), "a"), ("a", 7)])
    ours = hpg.from_networkx(graph)
    assert ours.index_of((0, 1)) == 0
    assert list(hpg.to_networkx(ours)) == [(0, 1), "a", 7]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("weights", ["int", "float", None])
def test_round_trip(kind: type[nx.Graph], weights: str | None) -> None:
    graph = random_graph(kind, weights)
    again = hpg.to_networkx(hpg.from_networkx(graph))
    assert type(again) is kind
    assert nx.utils.graphs_equal(again, graph)
    assert list(again) == list(graph)
    for _, _, weight in again.edges(data="weight"):
        assert type(weight) is {"int": int, "float": float, None: type(None)}[weights]


def test_anything_that_is_a_graph_goes_out() -> None:
    assert sorted(hpg.to_networkx((np.array([0, 1]), np.array([1, 2]))).edges()) == [(0, 1), (1, 2)]


@pytest.mark.parametrize("graph", [nx.Graph(), nx.empty_graph(3), nx.DiGraph([(0, 0)])])
def test_small_ones(graph: nx.Graph) -> None:
    ours = hpg.from_networkx(graph)
    assert (ours.n_vertices, ours.n_edges) == (len(graph), graph.number_of_edges())
    assert nx.utils.graphs_equal(hpg.to_networkx(ours), graph)


def test_unusual_weights() -> None:
    big = nx.DiGraph([(0, 1, {"weight": 2**70}), (1, 2, {"weight": Fraction(1, 4)}), (2, 0, {"weight": True})])
    weights = hpg.from_networkx(big).weights
    assert weights.tolist() == [2.0**70, 0.25, 1.0]
    assert hpg.from_networkx(nx.DiGraph([(0, 1, {"weight": 2**70})])).weights.tolist() == [2.0**70]
    # Beyond 2**53 a float would not do.
    assert hpg.from_networkx(nx.DiGraph([(0, 1, {"weight": 2**60 + 1})])).weights.tolist() == [2**60 + 1]


def test_unfit_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match=r"'weight' of edge \('a', 'b'\) must be a real number, not 'heavy'"):
        hpg.from_networkx(nx.Graph([("a", "b", {"weight": "heavy"})]))
    with pytest.raises(TypeError, match=r"must be a real number, not \(1\+2j\)"):
        hpg.from_networkx(nx.Graph([("a", "b", {"weight": 1 + 2j})]))
    with pytest.raises(TypeError, match=r"edge \('b', 'c'\) must be a real number, not None: delete the attribute"):
        hpg.from_networkx(nx.Graph([("a", "b", {"weight": 2}), ("b", "c", {"weight": None})]))
    raises(TypeError, "graph must be a NetworkX graph, not list", hpg.from_networkx, [(0, 1)])
    with pytest.raises(TypeError, match="weight must be the name of an edge attribute or None, not 3"):
        hpg.from_networkx(nx.Graph(), weight=3)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"from_networkx needs networkx: pip install 'hpgraph\[networkx\]'"):
        hpg.from_networkx(nx.Graph())
    with pytest.raises(MissingExtraError, match="to_networkx needs networkx"):
        hpg.to_networkx(hpg.Graph.from_edges([0], [1]))


@pytest.mark.parametrize("others", [0.0, 0.05, 1.0])
def test_names_that_are_the_same_objects_or_equal_ones(others):
    """In a NetworkX graph a neighbour may be the very object that the node is, or one that is equal to it."""
    random = np.random.default_rng(3)
    pairs = random.integers(0, 2000, (6000, 2)).tolist()
    names = [f"node {i}" for i in range(2000)]

    def name(i):
        return "node " + str(i) if random.random() < others else names[i]

    G = nx.DiGraph()
    G.add_nodes_from(names)
    G.add_edges_from((name(u), name(v)) for u, v in pairs)
    found = hpg.from_networkx(G)
    assert found.names.tolist() == names
    expected = {(int(u.split()[1]), int(v.split()[1])) for u, v in G.edges}
    assert set(zip(*(end.tolist() for end in found.edges()[:2]), strict=True)) == expected


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_views(kind: type[nx.Graph]) -> None:
    """Rows of which say that they are longer than they are."""
    graph = kind(nx.gnp_random_graph(30, 0.3, seed=3))
    view = nx.subgraph_view(graph, filter_node=lambda node: node % 5 > 0, filter_edge=lambda u, v, *_: (u + v) % 3 > 0)
    assert view.number_of_edges() > 10
    back = hpg.to_networkx(hpg.from_networkx(view))
    expected = nx.DiGraph(view) if view.is_directed() else nx.Graph(view)
    assert set(back) == set(view)
    # `edges_equal` knows directed edges from NetworkX 3.6 on.
    order = tuple if view.is_directed() else sorted
    assert sorted(map(order, back.edges())) == sorted(map(order, expected.edges()))


def test_a_graph_that_holds_other_neighbors_than_it_has() -> None:
    class Complement(nx.Graph):
        def __getitem__(self, node: int) -> dict[int, dict[str, int]]:
            return {other: {} for other in self if other != node and other not in self._adj[node]}

        def adjacency(self) -> Iterator[tuple[int, dict[int, dict[str, int]]]]:
            return ((node, self[node]) for node in self)

    back = hpg.to_networkx(hpg.from_networkx(Complement(nx.path_graph(5))))
    assert nx.utils.edges_equal(back.edges(), nx.complement(nx.path_graph(5)).edges())
