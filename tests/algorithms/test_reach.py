"""Reachability and neighbourhoods, against NetworkX."""

import networkx as nx
import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device
from hpgraph.formats import Bitmask


def arcs(n, m, seed, directed=True):
    """A sparse random graph with loops, as NetworkX and hpgraph have it."""
    draw = np.random.default_rng(seed)
    source, target = draw.integers(0, n, (2, m))
    weight = draw.integers(0, 6, m).astype(float)
    g = nx.DiGraph() if directed else nx.Graph()
    g.add_nodes_from(range(n))
    for u, v, w in zip(source.tolist(), target.tolist(), weight.tolist(), strict=True):
        g.add_edge(u, v, weight=min(w, g[u][v]["weight"] if g.has_edge(u, v) else w))
    return g, hpg.Graph.from_edges(source, target, weight, n_vertices=n, directed=directed)


def reached(g, source, within, incoming, weight=None):
    turned = g.reverse() if incoming and g.is_directed() else g
    found = nx.single_source_dijkstra_path_length(turned, source, cutoff=within, weight=weight)
    return sorted(found)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("incoming", [False, True])
@pytest.mark.parametrize("within", [None, 0, 1, 3])
def test_reach(within, incoming, directed, device):
    g, G = arcs(70, 90, 1, directed)
    G = G.to(device)
    some = [3, 69, 3, 0]
    expected = [reached(g, v, within, incoming) for v in some]
    counts = hpg.reach(G, some, within=within, incoming=incoming)
    assert device_of(counts) == device and counts.dtype == np.int64
    assert counts.tolist() == [len(one) for one in expected]
    flags = hpg.reach(G, some, within=within, incoming=incoming, form="bool")
    assert flags.shape == (4, 70) and flags.dtype == np.bool_
    assert [np.flatnonzero(row).tolist() for row in to_device(flags, "cpu")] == expected
    bits = hpg.reach(G, some, within=within, incoming=incoming, form="bits")
    assert [to_device(one.to_indices(), "cpu").tolist() for one in bits] == expected


def test_reach_of_all_and_of_a_sample(device):
    g, G = arcs(70, 90, 2)
    G = G.to(device)
    counts = to_device(hpg.reach(G), "cpu")
    assert counts.tolist() == [len(nx.descendants(g, v) | {v}) for v in g]
    drawn = hpg.reach(G, 9, seed=5)
    assert drawn.shape == (9,) and set(drawn.tolist()) <= set(counts.tolist())
    assert hpg.reach(G, []).shape == (0,) and hpg.reach(G, [], form="bool").shape == (0, 70)


@pytest.mark.parametrize("incoming", [False, True])
def test_reach_within_a_weight(incoming, device):
    g, G = arcs(60, 150, 3)
    G = G.to(device)
    expected = [reached(g, v, 4.5, incoming, "weight") for v in (1, 2)]
    how = {"within": 4.5, "incoming": incoming, "weight": True}
    assert hpg.reach(G, [1, 2], **how).tolist() == [len(one) for one in expected]
    flags = to_device(hpg.reach(G, [1, 2], **how, form="bool"), "cpu")
    assert [np.flatnonzero(row).tolist() for row in flags] == expected


@pytest.mark.parametrize("incoming", [False, True])
@pytest.mark.parametrize("k", [0, 1, 2, 50])
def test_k_hop(k, incoming, device):
    g, G = arcs(70, 110, 4)
    G = G.to(device)
    some = [0, 11, 0]
    expected = sorted(set().union(*(reached(g, v, k, incoming) for v in some)))
    assert hpg.k_hop(G, some, k, incoming=incoming, form="vertices").tolist() == expected
    assert hpg.k_hop(G, some, k, incoming=incoming, form="count") == len(expected)
    flags = hpg.k_hop(G, some, k, incoming=incoming, form="bool")
    assert device_of(flags) == device and np.flatnonzero(to_device(flags, "cpu")).tolist() == expected
    bits = hpg.k_hop(G, some, k, incoming=incoming, form="bits")
    assert isinstance(bits, Bitmask) and bits.count() == len(expected)
    H = hpg.k_hop(G, some, k, incoming=incoming)
    assert H.device == device and H.n_vertices == len(expected)
    csr = H.to("cpu").out_csr
    found = zip(csr.expand_rows().tolist(), csr.indices.tolist(), csr.data.tolist(), strict=True)
    part = g.subgraph(expected)
    assert sorted((expected[u], expected[v], w) for u, v, w in found) == sorted(part.edges(data="weight"))
    # A vertex goes by the number it had.
    assert [H.index_of(v) for v in expected] == list(range(len(expected)))


def test_k_hop_keeps_names(device):
    G = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], directed=False, names=["a", "b", "c", "d"]).to(device)
    H = hpg.k_hop(G, "d", 1)
    assert H.names.tolist() == ["a", "c", "d"] and not H.directed
    assert to_device(hpg.bfs(H, "a").level, "cpu").tolist() == [0, 2, 1]
    assert hpg.k_hop(G, hpg.id([1]), 1, form="vertices").tolist() == ["a", "b", "c"]
    assert hpg.reach(G, ["b"], within=1).tolist() == [3]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda G: hpg.reach(G, [4]), IndexError, "sources"),
        (lambda G: hpg.reach(G, [0], within=-1), ValueError, "within must not be negative"),
        (lambda G: hpg.reach(G, [0], within=1.5), TypeError, "within must be a whole number"),
        (lambda G: hpg.reach(G, [0], within=np.nan, weight=True), ValueError, "within must not be negative"),
        (lambda G: hpg.reach(G, [0], form="set"), ValueError, "form must be"),
        (lambda G: hpg.k_hop(G, [], 1), ValueError, "sources is empty"),
        (lambda G: hpg.k_hop(G, [9], 1), IndexError, "sources"),
        (lambda G: hpg.k_hop(G, 0, -1), ValueError, "k must not be negative"),
        (lambda G: hpg.k_hop(G, 0, None), TypeError, "k must be a whole number"),
        (lambda G: hpg.k_hop(G, 0, 1, form="counts"), ValueError, "form must be"),
    ],
)
def test_what_does_not_fit(call, error, says):
    with pytest.raises(error, match=says):
        call(hpg.Graph.from_edges([0, 1], [1, 2], [1.0, 1.0]))


def test_what_will_not_fit():
    G = hpg.Graph.from_edges([], [], n_vertices=2_000_000)
    raises(MemoryError, r"as bool, needs 3,?\d+", hpg.reach, G, form="bool")


def test_a_whole_float_is_a_number_of_arcs() -> None:
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3])
    assert hpg.reach(G, [0], within=2.0).tolist() == hpg.reach(G, [0], within=2).tolist() == [3]
    raises(TypeError, r"within must be a whole number, not 2\.5", hpg.reach, G, [0], within=2.5)
