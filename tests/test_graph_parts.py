"""What a graph is asked, and its parts, beside NetworkX."""

import pickle
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from graph_examples import every_kind, example, same
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import array_module, to_device
from hpgraph.formats import Bitmask


@every_kind
def test_properties(directed: bool, weighted: bool, named: bool, device: str) -> None:
    N = example(directed, weighted, named)
    G = hpg.from_networkx(N).to(device)
    nodes = list(N)
    assert len(G) == len(N) and list(G) == nodes
    assert nodes[3] in G and hpg.id(39) in G and hpg.id(40) not in G
    assert "nobody" not in G and -1 not in G and 40 not in G and 1.5 not in G and None not in G
    assert to_device(G.degree, "cpu").tolist() == [N.degree[v] for v in nodes]
    if directed:
        assert to_device(G.in_degree, "cpu").tolist() == [N.in_degree[v] for v in nodes]
    predecessors: Any = N.predecessors if directed else N.neighbors
    for v in nodes[:9] + nodes[-2:]:
        assert sorted(to_device(G.neighbors(v), "cpu").tolist()) == sorted(N.neighbors(v))
        assert sorted(to_device(G.predecessors(v), "cpu").tolist()) == sorted(predecessors(v))
        ids = to_device(G.successors(v, names=False), "cpu")
        assert sorted(nodes[i] for i in ids) == sorted(N.neighbors(v))
    assert [G.has_edge(nodes[0], v) for v in nodes] == [N.has_edge(nodes[0], v) for v in nodes]
    assert to_device(G.has_edge(nodes, nodes[::-1]), "cpu").tolist() == list(map(N.has_edge, nodes, nodes[::-1]))
    assert to_device(G.has_edge(nodes, nodes[1]), "cpu").tolist() == [N.has_edge(u, nodes[1]) for u in nodes]


@every_kind
def test_edges(directed: bool, weighted: bool, named: bool, device: str) -> None:
    N = example(directed, weighted, named)
    G = hpg.from_networkx(N).to(device)
    source, target, weight = (to_device(part, "cpu") for part in G.edges(names=True))
    assert (weight is None) == (not weighted)
    kind: Any = tuple if directed else frozenset
    assert set(map(kind, zip(source.tolist(), target.tolist(), strict=True))) == set(map(kind, N.edges))
    assert len(source) == len(N.edges)
    again = hpg.Graph.from_edges(*G.edges(), len(G), G.directed, G.names)
    same(again, N)
    both = G.edges(both_ways=True)
    assert len(both.source) == len(both.target) == G.n_edges
    assert both.weight is None or bool((both.weight == G.weights).all())


@every_kind
def test_subgraph(directed: bool, weighted: bool, named: bool, device: str) -> None:
    N = example(directed, weighted, named)
    G = hpg.from_networkx(N).to(device)
    nodes = list(N)
    chosen = [nodes[i] for i in (30, 7, 2, 3, 5, 11, 12, 13, 20, 21, 22, 39, 0, 7)]
    expected = N.subgraph(chosen)
    flags = np.array([v in chosen for v in nodes])
    for given in (chosen, flags, flags.tolist(), array_module(device).asarray(flags), Bitmask.from_bool(flags)):
        H = G.subgraph(given)
        same(H, expected)
        assert list(H) == [v for v in nodes if v in chosen], "in the order of the whole"
        assert H.device == device and H.dtype == G.dtype
    same(pickle.loads(pickle.dumps(H.subgraph(chosen[:6]))), expected.subgraph(chosen[:6]))
    bare = G.subgraph(chosen, names=False)
    assert bare.names is None and bare.n_edges == H.n_edges
    if named:
        bare = G.subgraph(hpg.id(np.flatnonzero(flags)))
        assert bare.names is not None and bare.names.tolist() == list(H)
    same(G.subgraph([]), N.subgraph([]))
    same(G.subgraph(nodes), N)
    same(G.subgraph(nodes[:7]), N.subgraph(nodes[:7]))
    assert (G.subgraph(nodes[:7]).names is None) == (not named), "0..6 are their own names"


def test_large_subgraphs(device: str) -> None:
    """Rows in tasks, one of them of more entries than all others; every vertex, some, and few."""
    G = hpg.datasets.kron(13, 32, weighted=True)
    S = G.out_csr.to_scipy()
    rng = np.random.default_rng(2)
    for share in (1.0, 0.5, 0.2, 0.01):
        flags = rng.random(G.n_vertices) < share
        flags[int(np.argmax(G.out_degree))] = True
        H = G.to(device).subgraph(flags)
        expected = scipy.sparse.csr_array(S[flags][:, flags])
        expected.sort_indices()
        part = H.to("cpu").out_csr.to_scipy()
        for name in ("indptr", "indices", "data"):
            assert np.array_equal(getattr(part, name), getattr(expected, name))
        assert not H.directed


@every_kind
def test_edge_subgraph(directed: bool, weighted: bool, named: bool, device: str) -> None:
    N = example(directed, weighted, named)
    G = hpg.from_networkx(N).to(device)
    some = list(N.edges)[3:17]
    expected = N.edge_subgraph(some)
    same(G.edge_subgraph(some), expected)
    same(G.edge_subgraph(tuple(zip(*some, strict=True))), expected)
    if not named:
        same(G.edge_subgraph(np.array(some)[:, ::-1] if not directed else np.array(some)), expected)
    source, target, _ = G.edges(both_ways=True, names=True)
    ours = set(some) | (set() if directed else {(v, u) for u, v in some})
    ends = zip(to_device(source, "cpu").tolist(), to_device(target, "cpu").tolist(), strict=True)
    same(G.edge_subgraph(np.array([edge in ours for edge in ends])), expected)
    same(G.edge_subgraph([]), N.edge_subgraph([]))


def heavy(source: int, weight: float, target: int) -> bool:
    return weight > 3 and (source + 2 * target) % 3 > 0


@pytest.mark.parametrize("directed", [False, True])
def test_filter(directed: bool, device: str) -> None:
    N = example(directed, weighted=True, named=True)
    G = hpg.from_networkx(N).to(device)
    index = {v: i for i, v in enumerate(N)}

    def stays(u: str, v: str) -> bool:
        ends = (index[u], index[v]) if directed else sorted((index[u], index[v]))
        return heavy(ends[0], N.edges[u, v]["weight"], ends[1])

    expected = N.edge_subgraph([edge for edge in N.edges if stays(*edge)]).copy()
    few = list(N)[5:30]
    inside = expected.subgraph(few).copy()
    expected.add_nodes_from(N)
    inside.add_nodes_from(few)
    same(G.filter(edges=heavy), expected)
    same(G.filter(edges=heavy, vertices=few), inside)
    same(G.filter(vertices=few), N.subgraph(few))
    same(G.filter(), N)
    light = nx.DiGraph(N) if directed else nx.Graph(N)
    light.remove_edges_from([(u, v) for u, v, weight in N.edges(data="weight") if weight >= 4])
    same(G.filter(edges=G.weights < 4), light)


def test_a_function_of_arcs_without_weights(device: str) -> None:
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0]).to(device)
    kept = G.filter(edges=lambda source, weight, target: weight == 1 and source < target)
    assert to_device(kept.edges().source, "cpu").tolist() == [0, 1] and not kept.weighted


@pytest.mark.parametrize("directed", [False, True])
def test_reverse(directed: bool, device: str) -> None:
    N = example(directed, weighted=True, named=True)
    G = hpg.from_networkx(N).to(device)
    same(G.reverse(), N.reverse() if directed else N)
    same(G.T.T, N)
    assert G.T.in_csr is G.out_csr or not directed


def test_a_graph_of_nothing(device: str) -> None:
    G = hpg.Graph.from_edges([], [], n_vertices=0).to(device)
    assert len(G) == 0 and list(G) == [] and 0 not in G and len(G.degree) == 0
    for part in (G.subgraph([]), G.filter(edges=np.zeros(0, bool)), G.reverse(), G.edge_subgraph([])):
        assert part.n_vertices == part.n_edges == 0
    one = hpg.Graph.from_edges([0], [0]).to(device)
    assert one.subgraph([0]).n_edges == 1 and one.has_edge(0, 0) and to_device(one.degree, "cpu").tolist() == [2]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda G: G.subgraph([3]), IndexError, "vertices must lie in 0..2"),
        (lambda G: G.subgraph([]).subgraph([3]), IndexError, "vertices must lie in the graph, which has no vertices"),
        (lambda G: G.subgraph([True, False]), ValueError, "one bool for each of the 3 vertices"),
        (lambda G: G.subgraph(Bitmask.zeros(4)), ValueError, "one bit for each of the 3 vertices"),
        (lambda G: G.subgraph([0.5]), TypeError, "whole vertex ids"),
        (lambda G: G.edge_subgraph([(0, 2)]), ValueError, "holds 0 -> 2, which is no edge"),
        (lambda G: G.edge_subgraph([(0, 1, 2, 3), (1,)]), ValueError, "pairs"),
        (lambda G: G.edge_subgraph(np.zeros((1, 3), int)), ValueError, "shape"),
        (lambda G: G.filter(edges=[True]), ValueError, "one bool for each of the 4 arcs"),
        (lambda G: G.filter(edges=[1, 0, 1, 1]), TypeError, "edge_subgraph takes edges by their ends"),
        (lambda G: G.filter(edges=lambda weight: weight), TypeError, "source, weight, target"),
        (lambda G: G.filter(edges=[True, False, True, True]), ValueError, "and not its reverse"),
        (lambda G: G.has_edge(0, 5), IndexError, "target 5"),
        (lambda G: G.has_edge([0, 1], [0, 1, 2]), ValueError, "not 2 and 3"),
        (lambda G: G.neighbors("ann"), ValueError, "no names"),
    ],
)
def test_unfit_input(call: Any, error: type[Exception], message: str) -> None:
    G = hpg.Graph.from_edges([0, 1], [1, 2], directed=False)
    raises(error, message, call, G)
