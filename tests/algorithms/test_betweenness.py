"""Betweenness of vertices and edges, against NetworkX and against numbers of paths counted in whole numbers."""

import random
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from arrays import host
from raising import raises

import hpgraph as hpg
from hpgraph.core.progress import progress_bar

CPU = "hpgraph.kernels.betweenness.cpu"


@pytest.fixture(params=["together", "one by one"])
def way(request: pytest.FixtureRequest, device: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The two ways of the CPU, whichever a graph would go by itself; on the GPU there is one."""
    if device == "cuda":
        if request.param == "one by one":
            pytest.skip("one way on the GPU")
        return str(request.param)
    monkeypatch.setattr(f"{CPU}.gains_jointly", lambda *_: request.param == "together")
    # A few lanes fill a line as well as many.
    monkeypatch.setattr(f"{CPU}.MIN", 1)
    return str(request.param)


def loops_and_parts() -> nx.Graph:
    """Two components, a vertex alone, loops, a leaf on a loop."""
    graph = nx.disjoint_union(nx.karate_club_graph(), nx.cycle_graph(7))
    graph.add_edges_from([(0, 0), (36, 36), (36, 41)])
    graph.add_node(42)
    for _, _, data in graph.edges(data=True):
        data.clear()
    return graph


def weighted(graph: Any, weights: Any, seed: int = 3) -> Any:
    rng = random.Random(seed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = rng.choice(weights)
    return graph


GRAPHS = {
    "undirected": nx.gnp_random_graph(70, 0.07, seed=1),
    "directed": nx.gnp_random_graph(70, 0.05, seed=2, directed=True),
    "parts": loops_and_parts(),
    "star": nx.star_graph(80),
    "path": nx.path_graph(65),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 8)),
}
WEIGHTED = {
    "ties": weighted(nx.gnp_random_graph(60, 0.1, seed=4), [1, 2, 3]),
    "directed ties": weighted(nx.gnp_random_graph(60, 0.08, seed=5, directed=True), [1, 2, 3]),
    "floats": weighted(nx.gnp_random_graph(60, 0.1, seed=6), [0.1, 0.2, 0.3, 0.7]),
}


def ours(graph: Any, device: str, weight: str | None = None) -> hpg.Graph:
    return hpg.from_networkx(graph, weight).to(device)


def same(found: Any, expected: dict[Any, float], keys: Any) -> None:
    np.testing.assert_allclose(host(found), [expected[key] for key in keys], rtol=1e-12, atol=1e-12)


def arcs_of(G: hpg.Graph, expected: dict[Any, float]) -> list[Any]:
    """The key in NetworkX's answer of each of our arcs."""
    rows, columns = host(G.out_csr.expand_rows()).tolist(), host(G.out_csr.indices).tolist()
    return [arc if arc in expected else arc[::-1] for arc in zip(rows, columns, strict=True)]


@pytest.mark.parametrize("name", GRAPHS)
def test_as_networkx(name: str, device: str, way: str) -> None:
    graph = GRAPHS[name]
    G = ours(graph, device)
    for options in ({}, {"normalized": False}, {"endpoints": True}, {"endpoints": True, "normalized": False}):
        same(hpg.betweenness_centrality(G, **options), nx.betweenness_centrality(graph, **options), range(len(graph)))
    for normalized in (True, False):
        expected = nx.edge_betweenness_centrality(graph, normalized=normalized)
        found = hpg.edge_betweenness_centrality(G, normalized=normalized)
        same(found, expected, arcs_of(G, expected))


@pytest.mark.parametrize("name", WEIGHTED)
def test_weighted_as_networkx(name: str, device: str) -> None:
    graph = WEIGHTED[name]
    G = ours(graph, device, "weight")
    for options in ({}, {"endpoints": True, "normalized": False}):
        expected = nx.betweenness_centrality(graph, weight="weight", **options)
        same(hpg.betweenness_centrality(G, weight=True, **options), expected, range(len(graph)))
    expected = nx.edge_betweenness_centrality(graph, weight="weight")
    same(hpg.edge_betweenness_centrality(G, weight=True), expected, arcs_of(G, expected))
    # Without asking for weights they are not read; where there are none, they are ones.
    plain = nx.betweenness_centrality(graph)
    same(hpg.betweenness_centrality(G), plain, range(len(graph)))
    same(hpg.betweenness_centrality(ours(graph, device), weight=True), plain, range(len(graph)))


@pytest.mark.skipif(
    tuple(map(int, nx.__version__.split(".")[:2])) < (3, 6), reason="older NetworkX scales samples otherwise"
)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("count", [1, 5, 70])
def test_sampled_as_networkx(count: int, directed: bool, device: str, way: str) -> None:
    graph = GRAPHS["directed" if directed else "undirected"]
    G = ours(graph, device)
    # As NetworkX draws them.
    drawn = random.Random(11).sample(list(graph), count)
    for options in ({}, {"normalized": False}, {"endpoints": True}, {"endpoints": True, "normalized": False}):
        expected = nx.betweenness_centrality(graph, k=count, seed=11, **options)
        same(hpg.betweenness_centrality(G, sources=drawn, **options), expected, range(len(graph)))
    for normalized in (True, False):
        edges = nx.edge_betweenness_centrality(graph, k=count, seed=11, normalized=normalized)
        found = hpg.edge_betweenness_centrality(G, sources=drawn, normalized=normalized)
        same(found, edges, arcs_of(G, edges))


def test_draws_and_lists(device: str) -> None:
    graph = GRAPHS["undirected"]
    G = ours(graph, device)
    drawn = host(hpg.betweenness_centrality(G, k=9, seed=5))
    assert (drawn == host(hpg.betweenness_centrality(G, sources=9, seed=5))).all()
    assert (drawn != host(hpg.betweenness_centrality(G, k=9, seed=6))).any()
    # A source listed twice counts twice.
    once, twice = (host(hpg.betweenness_centrality(G, sources=s, endpoints=True)) for s in ([4, 7], [4, 7, 4, 7]))
    np.testing.assert_allclose(once, twice, rtol=1e-12)
    names = nx.relabel_nodes(graph, {v: f"v{v}" for v in graph})
    assert (host(hpg.betweenness_centrality(ours(names, device), sources=["v4", "v7"], endpoints=True)) == once).all()


@pytest.mark.parametrize("name", ["undirected", "directed", "grid"])
def test_dependencies_sum_to_the_inner_vertices_of_all_paths(name: str, device: str, way: str) -> None:
    graph = GRAPHS[name]
    lengths = [d for _, found in nx.all_pairs_shortest_path_length(graph) for d in found.values() if d > 0]
    total = host(hpg.betweenness_centrality(ours(graph, device), normalized=False)).sum()
    assert total * (1 if graph.is_directed() else 2) == pytest.approx(sum(d - 1 for d in lengths), rel=1e-12)


def exactly(graph: Any, sources: list[int], number: Any) -> tuple[list[Any], dict[Any, Any]]:
    """Dependencies on vertices and arcs: paths in whole numbers, quotients of them by `number(σ(v), σ(w))`."""
    vertices: list[Any] = [0] * len(graph)
    arcs: dict[Any, Any] = dict.fromkeys(((u, v) for u in graph for v in graph[u]), 0)
    for source in sources:
        layers = list(nx.bfs_layers(graph, source))
        level = {v: i for i, layer in enumerate(layers) for v in layer}
        paths = dict.fromkeys(graph, 0)
        paths[source] = 1
        for layer in layers:
            for v in layer:
                for w in graph[v]:
                    if level[w] == level[v] + 1:
                        paths[w] += paths[v]
        depends: dict[Any, Any] = dict.fromkeys(graph, 0)
        for layer in reversed(layers):
            for v in layer:
                for w in graph[v]:
                    if level[w] == level[v] + 1:
                        share = number(paths[v], paths[w]) * (1 + depends[w])
                        depends[v] += share
                        arcs[v, w] += share
                if v != source:
                    vertices[v] += depends[v]
    return vertices, arcs


def test_exact_on_a_lattice(device: str, way: str) -> None:
    vertices, arcs = exactly(GRAPHS["grid"], list(GRAPHS["grid"]), Fraction)
    G = ours(GRAPHS["grid"], device)
    np.testing.assert_allclose(
        host(hpg.betweenness_centrality(G, normalized=False)) * 2, np.array(vertices, float), rtol=1e-13
    )
    found = host(hpg.edge_betweenness_centrality(G, normalized=False)) * 2
    expected = [float(arcs[arc] + arcs[arc[::-1]]) for arc in arcs_of(G, arcs)]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def many_paths(layers: int, width: int) -> Any:
    """Layers joined each with the next by all arcs, so that paths multiply, beside a single path of the same length.

    At the end the two meet; halfway a vertex of the path leads into the layers, where its one path is lost among many.
    """
    graph = nx.DiGraph()
    place = lambda layer, i: 1 + layer * (width + 1) + i  # noqa: E731
    end = place(layers, 0)
    graph.add_nodes_from(range(end + 1))
    for i in range(width + 1):
        graph.add_edge(0, place(0, i))
        graph.add_edge(place(layers - 1, i), end)
    for layer in range(layers - 1):
        graph.add_edges_from((place(layer, i), place(layer + 1, j)) for i in range(width) for j in range(width))
        graph.add_edge(place(layer, width), place(layer + 1, width))
    graph.add_edge(place(layers // 2, width), place(layers // 2 + 1, 0))
    return graph


@pytest.mark.parametrize("both_ways", [False, True])
def test_more_paths_than_floats_hold(both_ways: bool, device: str, way: str) -> None:
    graph = many_paths(700, 3)  # 3^700 > 2^1024
    if both_ways:
        graph = graph.to_undirected()
    sources = [0, 1, 5, len(graph) - 1]
    vertices, arcs = exactly(graph, sources, lambda a, b: a / b)
    G = ours(graph, device)
    scale = len(graph) - 1, len(graph)
    found = host(hpg.betweenness_centrality(G, sources=sources, normalized=False, endpoints=True))
    reached = [nx.single_source_shortest_path_length(graph, s) for s in sources]
    ends = np.zeros(len(graph))
    for s, lengths in zip(sources, reached, strict=True):
        ends[list(lengths)] += 1
        ends[s] += len(lengths) - 2
    expected = (np.array(vertices, float) + ends) * scale[1] / len(sources) / (2 if both_ways else 1)
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    found = host(hpg.edge_betweenness_centrality(G, sources=sources, normalized=False))
    keys = arcs_of(G, arcs)
    both = [arcs[arc] + (arcs[arc[::-1]] if both_ways else 0) for arc in keys]
    expected = np.array(both, float) * scale[1] / len(sources) / (2 if both_ways else 1)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-100)


def test_weighted_with_more_paths_than_floats_hold(device: str) -> None:
    graph = many_paths(700, 3)
    nx.set_edge_attributes(graph, 0.5, "weight")
    found = hpg.betweenness_centrality(ours(graph, device, "weight"), weight=True, sources=[0])
    expected = host(hpg.betweenness_centrality(ours(graph, device), sources=[0], endpoints=False))
    np.testing.assert_allclose(host(found), expected, rtol=1e-12)


@pytest.mark.parametrize("weight", [None, True])
def test_many_vertices(weight: bool | None, device: str, way: str) -> None:
    n = 1_200_000  # more than a GPU runs threads
    ends = np.zeros(n - 1, np.int64), np.arange(1, n)
    G = hpg.Graph.from_edges(*ends, np.full(n - 1, 2.0), directed=False).to(device)
    found = host(hpg.betweenness_centrality(G, weight=weight, sources=[1, 2], normalized=False, endpoints=True))
    expected = np.full(n, 2.0)
    expected[0], expected[1:3] = 2 + 2 * (n - 2), 1 + n - 1
    np.testing.assert_allclose(found, expected * n / 2 / 2, rtol=1e-12)


def test_repeats_to_the_bit(device: str, way: str) -> None:
    G = hpg.Graph.from_edges(*np.random.default_rng(3).integers(0, 3000, (2, 30_000)), directed=False).to(device)
    calls = [
        lambda: hpg.betweenness_centrality(G, sources=40, seed=1),
        lambda: hpg.edge_betweenness_centrality(G, sources=40, seed=1),
    ]
    for call in calls:
        with hpg.config(threads=1):
            first = host(call())
        for _ in range(3):
            assert host(call()).tobytes() == first.tobytes()


def test_graphs_without_paths(device: str) -> None:
    for n in (0, 1, 2, 5):
        G = hpg.Graph.from_edges([], [], n_vertices=n).to(device)
        assert host(hpg.betweenness_centrality(G)).tolist() == [0.0] * n
        assert host(hpg.edge_betweenness_centrality(G)).tolist() == []
    lone = nx.empty_graph(3)
    assert host(hpg.betweenness_centrality(ours(lone, device), endpoints=True)).tolist() == list(
        nx.betweenness_centrality(lone, endpoints=True).values()
    )


def test_progress_bar(
    device: str, way: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(f"hpgraph.kernels.betweenness.{device}.GROUP", 9)
    # As if every search were a long one.
    bar = "hpgraph.engine.grouping.progress_bar"
    monkeypatch.setattr(bar, lambda delay, **arguments: progress_bar(**arguments))
    with hpg.config(progress=True, threads=1):
        hpg.betweenness_centrality(ours(GRAPHS["undirected"], device))
    assert "betweenness" in capsys.readouterr().err


def test_bad_input(device: str) -> None:
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 0.0, 2.0]).to(device)
    for call in (hpg.betweenness_centrality, hpg.edge_betweenness_centrality):
        raises(ValueError, r"weight.*positive.*there is 0", call, G, weight=True)
        raises(ValueError, "give one of them", call, G, k=2, sources=[1])
        raises(ValueError, "k=7", call, G, k=7)
        raises(TypeError, "k must be a whole number", call, G, k=[0, 1])
        raises(ValueError, "sources is empty", call, G, sources=[])
        raises(IndexError, "sources", call, G, sources=[3])
        raises(TypeError, "weight must be", call, G, weight=1.5)
        tiny = hpg.Graph.from_edges([0, 1, 2], [1, 2, 1], [1.0, 1e-30, 1e-30]).to(device)
        raises(ValueError, "weight: some weights are so small", call, tiny, weight=True)
    named = weighted(nx.path_graph(4), [2])
    nx.set_edge_attributes(named, 3, "length")
    expected = nx.betweenness_centrality(named, weight="length")
    same(hpg.betweenness_centrality(named, weight="length"), expected, range(4))
