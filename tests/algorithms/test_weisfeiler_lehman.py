"""Colour refinement against rounds over sets, hashes and SimRank against NetworkX, cores against all divisions."""

import itertools

import networkx as nx
import numpy as np
import pytest
from graph_examples import every_kind, example
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device


def colored(directed, seed):
    rng = np.random.default_rng(seed)
    g = nx.gnm_random_graph(int(rng.integers(1, 14)), int(rng.integers(1, 20)), seed, directed=directed)
    g.add_edge(0, 0)
    for v in g:
        g.nodes[v].update(color=["red", "blue"][rng.integers(2)], size=int(rng.integers(3)))
    for _, _, data in g.edges(data=True):
        data.update(label=["a", "bb", "b"][rng.integers(3)], weight=rng.integers(1, 4) / 2, rank=int(rng.integers(12)))
    return g


@pytest.mark.skipif(tuple(map(int, nx.__version__.split(".")[:2])) < (3, 5), reason="older NetworkX hashes otherwise")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore:The hashes produced")
def test_hashes_are_networkxs(directed, seed, device):
    g = colored(directed, seed)
    G = hpg.from_networkx(g, columns=["label", "rank"], vertex_columns=["color", "size"]).to(device)
    for edge, node in itertools.product((None, "label", "weight", "rank"), (None, "color", "size")):
        for rounds in (1, 3):
            wanted = nx.weisfeiler_lehman_graph_hash(g, edge, node, rounds, 8)
            for given in (g, G):
                assert hpg.weisfeiler_lehman_graph_hash(given, edge, node, rounds, 8) == wanted
            balls = nx.weisfeiler_lehman_subgraph_hashes(g, edge, node, rounds, 8, include_initial_labels=seed > 3)
            found = hpg.weisfeiler_lehman_subgraph_hashes(G, edge, node, rounds, 8, seed > 3)
            assert found.tolist() == [balls[v] for v in g]


def refined(g, color, weight=None, rounds=None):
    """By sorted lists, until no class is divided."""
    while rounds != 0:
        rounds = rounds and rounds - 1
        rows = [
            (color[v], *(sorted((g.edges[e][weight] if weight else 1, color[e[1 - i]]) for e in edges)
                         for i, edges in sides(g, v)))
            for v in g
        ]  # fmt: skip
        names = {row: k for k, row in enumerate(sorted(map(repr, rows)))}
        following = {v: names[repr(row)] for v, row in zip(g, rows, strict=True)}
        if len(set(following.values())) == len(set(color.values())):
            break
        color = following
    return color


def sides(g, v):
    return [(0, g.out_edges(v)), (1, g.in_edges(v))] if g.is_directed() else [(0, g.edges(v))]


@every_kind
def test_colors_are_the_coarsest(directed, weighted, named, device):
    g = example(directed, weighted, named)
    G = hpg.from_networkx(g).to(device)
    for first in (None, np.arange(len(g)) % 3):
        start = dict.fromkeys(g, 0) if first is None else dict(zip(g, first.tolist(), strict=True))
        wanted = refined(g, start, "weight" if weighted else None)
        found = hpg.color_refinement(G, first, weight=weighted)
        pairs = set(zip(to_device(found, "cpu").tolist(), wanted.values(), strict=True))
        assert device_of(found) == device and len(pairs) == len(set(wanted.values()))
        assert int(found.max()) + 1 == len(set(wanted.values()))
    # Of the same vertices in another order.
    order = np.random.default_rng(1).permutation(len(g))
    turned, found = in_order(g, order).to(device), to_device(hpg.color_refinement(G), "cpu")
    assert to_device(hpg.color_refinement(turned), "cpu").tolist() == found[order].tolist()
    assert hpg.weisfeiler_lehman_graph_hash(turned) == hpg.weisfeiler_lehman_graph_hash(G)
    assert (hpg.color_refinement(G, iterations=0) == 0).all()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_colors_after_many_rounds(directed, weighted, device):
    """Paths, with trees and cycles on them, whose colours are divided a few vertices at a time."""
    rng = np.random.default_rng(3)
    for n in (9, 40, 41, 60):
        g = nx.path_graph(n, nx.DiGraph() if directed else None)
        g.add_edges_from((v, n + k) for k, v in enumerate(rng.integers(0, n, n // 8)))
        nx.add_cycle(g, range(2 * n, 2 * n + 6))
        g.add_edge(3 * n, 3 * n)
        g.add_node(3 * n + 1)
        for _, _, data in g.edges(data=True):
            data["weight"] = int(rng.random() < 0.05) / 2
        for rounds in (5, 7, None):
            wanted = refined(g, dict.fromkeys(g, 0), "weight" if weighted else None, rounds)
            given = hpg.from_networkx(g).to(device)
            found = to_device(hpg.color_refinement(given, iterations=rounds, weight=weighted), "cpu").tolist()
            assert len(set(zip(found, wanted.values(), strict=True))) == max(found) + 1 == len(set(wanted.values()))
        order = rng.permutation(len(g))
        turned = hpg.color_refinement(in_order(g, order).to(device), iterations=rounds, weight=weighted)
        assert to_device(turned, "cpu").tolist() == np.array(found)[order].tolist()


def in_order(g, order):
    """The graph with its vertices in another order."""
    nodes, turned = list(g), nx.create_empty_copy(g)
    turned.clear()
    turned.add_nodes_from(nodes[k] for k in order)
    turned.add_edges_from(g.edges(data=True))
    return hpg.from_networkx(turned)


@every_kind
def test_simrank(directed, weighted, named, device):
    g = example(directed, weighted, named)
    G, nodes = hpg.from_networkx(g).to(device), list(g)
    wanted = nx.simrank_similarity(g, importance_factor=0.7)
    found = hpg.simrank_similarity(G, importance_factor=0.7, weight=weighted)
    assert device_of(found) == device
    assert to_device(found, "cpu") == pytest.approx(np.array([[wanted[u][v] for v in nodes] for u in nodes]), abs=1e-12)
    row = hpg.simrank_similarity(G, nodes[3], importance_factor=0.7, weight=weighted)
    assert to_device(row, "cpu").tolist() == to_device(found, "cpu")[3].tolist()
    assert hpg.simrank_similarity(G, nodes[3], nodes[5], 0.7, weight=weighted) == float(found[3, 5])


def test_simrank_by_blocks(monkeypatch):
    G = hpg.datasets.kron(6)
    whole = hpg.simrank_similarity(G)
    monkeypatch.setattr("hpgraph.algorithms.simrank._BLOCK", 8 * G.n_vertices * 7)
    assert hpg.simrank_similarity(G) == pytest.approx(whole, abs=1e-15)
    with pytest.warns(hpg.ConvergenceWarning, match="raise max_iterations"):
        hpg.simrank_similarity(G, max_iterations=1)


@pytest.mark.parametrize("seed", range(12))
def test_the_best_core(seed, device):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 10))
    A = np.triu(rng.random((n, n)) < 0.5, 1)
    G = hpg.Graph.from_edges(*np.nonzero(A), n_vertices=n, directed=False).to(device)

    def errors(core):
        core = np.array(core, bool)
        inside = A[np.ix_(core, core)]
        return len(inside) * (len(inside) - 1) // 2 - inside.sum() + A[np.ix_(~core, ~core)].sum()

    core, found = hpg.core_periphery(G)
    assert found == errors(to_device(core, "cpu")) == min(map(errors, itertools.product([0, 1], repeat=n)))


ONE = ([0], [1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hpg.weisfeiler_lehman_graph_hash(ONE, "x"), "no edge column 'x'"),
        (lambda: hpg.weisfeiler_lehman_graph_hash(ONE, None, "x"), "no vertex column 'x'"),
        (lambda: hpg.weisfeiler_lehman_graph_hash(ONE, iterations=0), "iterations must be at least 1"),
        (lambda: hpg.weisfeiler_lehman_graph_hash(ONE, digest_size=65), "digest_size must be from 1 to 64"),
        (lambda: hpg.color_refinement(ONE, ["a"]), "must have a value for each of the 2"),
        (lambda: hpg.color_refinement(ONE, iterations=-1), "iterations must not be negative"),
        (lambda: hpg.simrank_similarity(ONE, importance_factor=2), "importance_factor must be from 0 to 1"),
        (lambda: hpg.simrank_similarity(ONE, target=1), "target needs a source"),
        (lambda: hpg.simrank_similarity((*ONE, [np.nan]), weight=True), "finite and not negative"),
        (lambda: hpg.core_periphery(hpg.Graph.from_edges(*ONE)), "G must be undirected"),
    ],
)
def test_unfit(call, message):
    raises(ValueError, message, call)
