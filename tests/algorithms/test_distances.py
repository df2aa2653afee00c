"""Closeness, harmonic centrality, eccentricities and histograms of distances, against NetworkX."""

import networkx as nx
import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.algorithms import eccentricity_bounds
from hpgraph.algorithms.distance_blocks import block_size
from hpgraph.algorithms.sources import sources_of
from hpgraph.core.device import device_of, to_device


def weighted(g, kind, seed=1):
    """The same graph with weights, among them zeros; whole ones, or such that sums of them are rounded."""
    draw = np.random.default_rng(seed)
    for _, _, data in g.edges(data=True):
        data["weight"] = float(draw.integers(0, 9)) if kind == "whole" else float(draw.random())
    return g


def loops(g, *vertices):
    g.add_edges_from((v, v) for v in vertices)
    return g


CASES = {
    "one vertex": nx.empty_graph(1), "no arcs": nx.empty_graph(3), "a loop alone": loops(nx.empty_graph(1), 0),
    "path": nx.path_graph(7), "directed path": nx.path_graph(7, create_using=nx.DiGraph), "star": nx.star_graph(6),
    "cycle": nx.cycle_graph(9), "directed cycle": nx.cycle_graph(5, create_using=nx.DiGraph),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 6)), "complete": nx.complete_graph(6),
    "disconnected": nx.disjoint_union(nx.path_graph(5), nx.complete_graph(3)),
    "random": loops(nx.gnp_random_graph(40, 0.1, seed=4), 3, 7),
    "random directed": loops(nx.gnp_random_graph(40, 0.08, seed=5, directed=True), 3, 7),
}  # fmt: skip


def graph(g, device):
    arcs = list(g.edges(data="weight"))
    source, target, weight = (list(column) for column in zip(*arcs, strict=True)) if arcs else ([], [], [])
    weight = None if None in weight or not arcs else weight
    return hpg.Graph.from_edges(source, target, weight, n_vertices=len(g), directed=g.is_directed()).to(device)


def host(values, device):
    assert device_of(values) == device
    return to_device(values, "cpu")


def component(g):
    """The largest component; of several, that of the smallest vertex."""
    parts = nx.strongly_connected_components(g) if g.is_directed() else nx.connected_components(g)
    return g.subgraph(sorted(max(sorted(parts, key=min), key=len))).copy()


@pytest.mark.parametrize("name", CASES)
def test_closeness(name, device):
    g = CASES[name]
    G = graph(g, device)
    for improved in (True, False):
        found = host(hpg.closeness_centrality(G, wf_improved=improved), device)
        assert found.dtype == np.float64 and found.shape == (len(g),)
        assert found == pytest.approx(list(nx.closeness_centrality(g, wf_improved=improved).values()), abs=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_harmonic(name, device):
    g = CASES[name]
    expected = nx.harmonic_centrality(g)
    found = host(hpg.harmonic_centrality(graph(g, device)), device)
    assert found == pytest.approx([expected[v] for v in g], abs=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_weighted_centralities(directed, device):
    g = weighted(nx.gnp_random_graph(30, 0.12, seed=8, directed=directed), "whole")
    G = graph(g, device)
    found = host(hpg.closeness_centrality(G, weight="weight"), device)
    assert found == pytest.approx(list(nx.closeness_centrality(g, distance="weight").values()), abs=1e-12)
    expected = nx.harmonic_centrality(g, distance="weight")
    assert host(hpg.harmonic_centrality(G, weight=True), device) == pytest.approx([expected[v] for v in g], abs=1e-12)
    # Weights that are not asked for are not read.
    found = host(hpg.closeness_centrality(G), device)
    assert found == pytest.approx(list(nx.closeness_centrality(g).values()), abs=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_eccentricities(name, device):
    g = CASES[name]
    part, G = component(g), graph(g, device)
    expected = nx.eccentricity(part)
    found = host(hpg.eccentricity(G, largest_component=True), device)
    assert found.dtype == np.int32
    assert found.tolist() == [expected.get(v, -1) for v in g]
    assert hpg.diameter(G, largest_component=True) == nx.diameter(part, e=expected)
    assert hpg.radius(G, largest_component=True) == nx.radius(part, e=expected)
    assert hpg.center(G, largest_component=True).tolist() == sorted(nx.center(part, e=expected))
    assert hpg.periphery(G, largest_component=True).tolist() == sorted(nx.periphery(part, e=expected))


@pytest.mark.parametrize("kind", ["whole", "real"])
@pytest.mark.parametrize("directed", [False, True])
def test_weighted_eccentricities(directed, kind, device):
    g = weighted(nx.gnp_random_graph(40, 0.12, seed=9, directed=directed), kind)
    part, G = component(g), graph(g, device)
    expected = nx.eccentricity(part, weight="weight")
    how = {"weight": "weight", "largest_component": True}
    found = host(hpg.eccentricity(G, **how), device)
    assert found.dtype == np.float64
    assert found == pytest.approx([expected.get(v, np.nan) for v in g], rel=1e-12, nan_ok=True)
    assert hpg.diameter(G, **how) == pytest.approx(max(expected.values()), rel=1e-12)
    assert hpg.radius(G, **how) == pytest.approx(min(expected.values()), rel=1e-12)
    assert hpg.center(G, **how).tolist() == sorted(nx.center(part, e=expected))
    assert hpg.periphery(G, **how).tolist() == sorted(nx.periphery(part, e=expected))


SHAPES = {
    "tree": lambda seed: nx.random_labeled_tree(60, seed=seed),
    "sparse": lambda seed: nx.gnp_random_graph(60, 0.04, seed=seed),
    "dense": lambda seed: nx.gnp_random_graph(60, 0.15, seed=seed),
    "cubic": lambda seed: nx.random_regular_graph(3, 60, seed=seed),
    "hubs": lambda seed: nx.barabasi_albert_graph(60, 2, seed=seed),
    "long cycle": lambda seed: nx.watts_strogatz_graph(60, 2, 0.05, seed=seed),
    "lollipop": lambda seed: nx.lollipop_graph(5 + seed, 30),
    "lattice": lambda seed: nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 9 + seed)),
    "directed": lambda seed: nx.gnp_random_graph(60, 0.05, seed=seed, directed=True),
}


@pytest.mark.parametrize("batches", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_extremes_of_many_shapes(shape, batches, device, monkeypatch):
    """The same by rounds that keep distances and by batches alone, whose bounds spread along the arcs."""
    if batches:
        monkeypatch.setattr(eccentricity_bounds, "_OPEN_PER_SEARCH", 1 << 40)
        monkeypatch.setattr(eccentricity_bounds, "_SMALLEST_BATCH", 2)
        monkeypatch.setattr(eccentricity_bounds, "_FEW", 0)
    for seed in range(4):
        g = SHAPES[shape](seed)
        part, G = component(g), graph(g, device)
        expected = nx.eccentricity(part)
        assert hpg.diameter(G, largest_component=True) == max(expected.values())
        assert hpg.radius(G, largest_component=True) == min(expected.values())
        assert hpg.periphery(G, largest_component=True).tolist() == sorted(nx.periphery(part, e=expected))
        found = host(hpg.eccentricity(G, largest_component=True), device)
        assert found.tolist() == [expected.get(v, -1) for v in g]
        h = weighted(g, "real", seed)
        lengths = nx.eccentricity(component(h), weight="weight")
        found = hpg.diameter(graph(h, device), weight=True, largest_component=True)
        assert found == pytest.approx(max(lengths.values()), rel=1e-12)


def test_searches_stay_in_their_memory(device):
    """However little memory searches may take, they answer, one at a time."""
    G = hpg.datasets.grid(80, removed=0.2, device=device)
    sources = np.arange(0, 6400, 640)
    closeness, diameter = hpg.closeness_centrality(G, sources), hpg.diameter(G, largest_component=True)
    assert block_size(G) == 64
    with hpg.config(memory_share=1e-12):
        assert block_size(G) == 1
        assert hpg.diameter(G, largest_component=True) == diameter
        assert (hpg.closeness_centrality(G, sources) == closeness).all()
        assert (hpg.bfs(G, sources=sources).level == hpg.bfs(G, int(sources[3])).level).all(axis=1).sum() == 1


def test_sources(device):
    g = CASES["random directed"]
    G = graph(g, device)
    closeness = hpg.closeness_centrality(G)
    some = [5, 0, 5, 39]
    assert host(hpg.closeness_centrality(G, some), device).tolist() == host(closeness, device)[some].tolist()
    drawn = host(hpg.closeness_centrality(G, 10, seed=3), device)
    again = host(hpg.closeness_centrality(G, 10, seed=3), device)
    assert drawn.shape == (10,) and drawn.tolist() == again.tolist()
    assert drawn.tolist() == host(closeness, device)[sources_of(G, 10, 3)].tolist()
    assert host(hpg.harmonic_centrality(G, []), device).shape == (0,)
    part = component(g)
    inside, expected = sorted(part), nx.eccentricity(part)
    outside = [v for v in g if v not in part][:1]
    found = host(hpg.eccentricity(G, outside + inside[:3] + inside[:1], largest_component=True), device)
    assert found.tolist() == [-1] * len(outside) + [expected[v] for v in inside[:3] + inside[:1]]


def test_names(device):
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False, names=["d", "b", "c", "a"]).to(device)
    assert host(hpg.closeness_centrality(G, ["b", hpg.id(0)]), device).tolist() == [0.75, 0.5]
    assert hpg.center(G).tolist() == ["b", "c"] and hpg.periphery(G).tolist() == ["d", "a"]
    raises(ValueError, "no vertex is named", hpg.harmonic_centrality, G, ["e"])


@pytest.mark.parametrize("name", CASES)
def test_histogram(name, device):
    g = CASES[name]
    G = graph(g, device)
    levels = [d for _, found in nx.all_pairs_shortest_path_length(g) for d in found.values()]
    assert hpg.distance_histogram(G).tolist() == np.bincount(levels).tolist()
    one = len(g) - 1
    levels = list(nx.single_source_shortest_path_length(g, one).values())
    assert hpg.distance_histogram(G, [one]).tolist() == np.bincount(levels).tolist()


def test_weighted_histogram(device):
    g = weighted(nx.gnp_random_graph(30, 0.12, seed=8, directed=True), "whole")
    found = hpg.distance_histogram(graph(g, device), weight=True, width=2.5)
    distances = [d for _, found in nx.all_pairs_dijkstra_path_length(g) for d in found.values()]
    assert found.tolist() == np.bincount(np.int64(np.array(distances) / 2.5)).tolist()


def test_no_vertices(device):
    G = graph(nx.empty_graph(0), device)
    assert hpg.closeness_centrality(G).shape == (0,) and hpg.harmonic_centrality(G).shape == (0,)
    for call in (hpg.diameter, hpg.radius, hpg.center, hpg.periphery, hpg.eccentricity):
        raises(ValueError, "without vertices", call, G)


@pytest.mark.parametrize("call", [hpg.diameter, hpg.radius, hpg.center, hpg.periphery, hpg.eccentricity])
def test_what_is_not_connected(call, device):
    with pytest.raises(ValueError, match="not connected: give largest_component=True"):
        call(graph(CASES["disconnected"], device))
    with pytest.raises(ValueError, match=r"not strongly connected: .*undirected"):
        call(graph(CASES["directed path"], device))
    with pytest.raises(TypeError, match="largest_component"):
        call(graph(CASES["path"], device), largest_component="yes")


def test_sources_that_do_not_reach_all():
    with pytest.raises(ValueError, match="largest_component"):
        hpg.eccentricity(graph(CASES["disconnected"], "cpu"), [0])
    # As NetworkX: this end of the path reaches all vertices.
    assert hpg.eccentricity(graph(CASES["directed path"], "cpu"), [0]).tolist() == [6]


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"sources": [40]}, IndexError, "sources"), ({"sources": 41}, ValueError, "sources=41"),
        ({"sources": 0}, ValueError, "sources=0"), ({"sources": 1.5}, TypeError, "sources"),
        ({"sources": ["a"]}, ValueError, "names"), ({"weight": 1}, TypeError, "weight must be True, the name"),
        ({"weight": ["weight"]}, TypeError, "weight must be True, the name"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("call", [hpg.closeness_centrality, hpg.harmonic_centrality, hpg.eccentricity])
def test_what_does_not_fit(call, arguments, error, says):
    with pytest.raises(error, match=says):
        call(graph(CASES["random"], "cpu"), **arguments)


def test_weights_that_are_no_lengths():
    G = hpg.Graph.from_edges([0, 1], [1, 0], [1.0, -2.0])
    for call in (hpg.closeness_centrality, hpg.harmonic_centrality, hpg.eccentricity, hpg.diameter):
        raises(ValueError, r"negative here.*hpgraph\.sssp", call, G, weight=True)
    with pytest.raises(ValueError, match="NaN"):
        hpg.closeness_centrality(hpg.Graph.from_edges([0], [1], [np.nan]), weight=True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"weight": True}, "give width"),
        ({"width": 2.0}, "give weight=True"),
        ({"weight": True, "width": 0.0}, "width must be finite and positive"),
        ({"weight": True, "width": np.inf}, "width must be finite and positive"),
        ({"weight": True, "width": 1e-15}, "histogram of bins"),
    ],
)
def test_widths_that_do_not_fit(arguments, says):
    G = hpg.Graph.from_edges([0, 1], [1, 2], [1.0, 2.0])
    raises((ValueError, MemoryError), says, hpg.distance_histogram, G, **arguments)


def test_attributes_of_networkx_graphs():
    g = weighted(nx.gnp_random_graph(20, 0.3, seed=11), "whole")
    for _, _, data in g.edges(data=True):
        data["length"] = 3.0 * data["weight"] + 1
    found = hpg.closeness_centrality(g, weight="length")
    assert found == pytest.approx(list(nx.closeness_centrality(g, distance="length").values()), abs=1e-12)
    assert hpg.diameter(g, weight="length") == nx.diameter(g, weight="length")
    assert hpg.radius(g) == nx.radius(g)
    path = hpg.shortest_path(g, 0, 19, weight="length")
    assert nx.path_weight(g, path, "length") == nx.shortest_path_length(g, 0, 19, weight="length")
