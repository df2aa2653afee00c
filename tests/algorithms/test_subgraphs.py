"""Mappings of patterns, against NetworkX's matchers and products of matrices."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.algorithms import isomorphism
from raising import raises

import hpgraph as hpg


def random_graph(n, p, seed, directed, loops, kinds):
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) < p
    if not loops:
        np.fill_diagonal(A, False)
    g = nx.from_numpy_array(
        (A if directed else np.triu(A)).astype(int), create_using=nx.DiGraph if directed else nx.Graph
    )
    nx.set_node_attributes(g, dict(enumerate(rng.integers(0, kinds, n).tolist())), "kind")
    return g


def graph_of(g):
    u, v = np.array(list(g.edges), np.int64).reshape(-1, 2).T
    return hpg.Graph.from_edges(u, v, n_vertices=len(g), directed=g.is_directed())


def by_networkx(g, h, kind):
    match = isomorphism.categorical_node_match("kind", None)
    matcher = (isomorphism.DiGraphMatcher if g.is_directed() else isomorphism.GraphMatcher)(g, h, node_match=match)
    found = matcher.subgraph_isomorphisms_iter() if kind == "induced" else matcher.subgraph_monomorphisms_iter()
    turned = ({i: v for v, i in one.items()} for one in found)
    return sorted([one[i] for i in range(len(h))] for one in turned)


def by_trying(g, h):
    """All homomorphisms."""
    kinds, wanted = nx.get_node_attributes(g, "kind"), nx.get_node_attributes(h, "kind")
    every = itertools.product(*([v for v in g if kinds[v] == wanted[i]] for i in h))
    return [list(one) for one in every if all(g.has_edge(one[i], one[j]) for i, j in h.edges)]


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 9), st.integers(1, 4), st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 0.9]), st.booleans(),
    st.booleans(), st.integers(1, 3), st.sampled_from(["monomorphism", "induced", "homomorphism"]),
)  # fmt: skip
def test_mappings(n, p, seed, density, directed, loops, kinds, kind):
    g, h = (random_graph(size, density, seed + size, directed, loops, kinds) for size in (n, p))
    G, pattern = graph_of(g), graph_of(h)
    labels = [np.array([one.nodes[v]["kind"] for v in one]) for one in (g, h)]
    found = hpg.subgraph_isomorphisms(G, pattern, labels, kind=kind)
    wanted = sorted(by_trying(g, h)) if kind == "homomorphism" else by_networkx(g, h, kind) if p <= n else []
    assert found.tolist() == wanted and found.shape == (len(wanted), p)
    assert hpg.count_subgraph_isomorphisms(G, pattern, labels, kind=kind) == len(wanted)
    assert len(hpg.subgraph_isomorphisms(G, pattern, labels, kind=kind, limit=3)) == min(3, len(wanted))


@pytest.mark.parametrize("kind", ["monomorphism", "induced", "homomorphism"])
@pytest.mark.parametrize("directed", [False, True])
def test_mappings_in_parts(directed, kind, device, monkeypatch):
    """Also where a part of a table has few candidates; patterns in pieces, with loops, of one vertex and of none."""
    for limits in ({"_MAX_PART": 1 << 26}, {"_MAX_PART": 40, "_MIN_PART": 1}):
        for name, limit in limits.items():
            monkeypatch.setattr(f"hpgraph.kernels.structure.cuda_subgraphs.{name}", limit)
        for seed, (p, density) in enumerate([(0, 1), (1, 1), (2, 0), (3, 0.5), (4, 0.5), (5, 0.4)]):
            g, h = random_graph(14, 0.3, seed, directed, True, 2), random_graph(p, density, seed, directed, seed > 3, 2)
            G, pattern = graph_of(g).to(device), graph_of(h)
            labels = [np.array([one.nodes[v]["kind"] for v in one], np.int64) for one in (g, h)]
            wanted = sorted(by_trying(g, h)) if kind == "homomorphism" else by_networkx(g, h, kind)
            found = hpg.subgraph_isomorphisms(G, pattern, labels, kind=kind)
            assert found.shape[1:] == (p,) and (p == 0 or found.tolist() == wanted)
            assert hpg.count_subgraph_isomorphisms(G, pattern, labels, kind=kind) == len(wanted) * (p > 0)
            some = hpg.subgraph_isomorphisms(G, pattern, labels, kind=kind, limit=3)
            assert (some == hpg.subgraph_isomorphisms(G.to("cpu"), pattern, labels, kind=kind, limit=3)).all()
            assert p == 0 or len(set(map(tuple, some.tolist())) & set(map(tuple, wanted))) == min(3, len(wanted))


def test_of_a_larger_graph(device):
    G = hpg.datasets.kron(8).undirected.to(device)
    counts = hpg.graphlet_counts(G)
    cycle, claw = (hpg.from_networkx(g) for g in (nx.cycle_graph(4), nx.star_graph(3)))
    assert hpg.count_subgraph_isomorphisms(G, cycle, kind="induced") == 8 * counts["cycle_4"]
    assert hpg.count_subgraph_isomorphisms(G, claw, kind="induced") == 6 * counts["claw"]
    found = hpg.subgraph_isomorphisms(G, cycle, kind="induced")
    assert len(found) == 8 * counts["cycle_4"] == len(np.unique(found, axis=0))
    arcs = G.to("cpu").out_csr
    A = np.zeros(arcs.shape)
    A[arcs.expand_rows(), arcs.indices] = 1
    assert hpg.count_subgraph_isomorphisms(G, cycle, kind="homomorphism") == np.trace(np.linalg.matrix_power(A, 4))


def test_names_and_parts():
    G = hpg.from_edges([("ann", "bob"), ("bob", "eve")], directed=False)
    edge = hpg.Graph.from_edges([0], [1], directed=False)
    assert hpg.subgraph_isomorphisms(G, edge, limit=1).tolist() == [["ann", "bob"]]
    apart = hpg.Graph.from_edges([], [], n_vertices=2, directed=False)
    assert hpg.subgraph_isomorphisms(G, apart, kind="induced").tolist() == [["ann", "eve"], ["eve", "ann"]]
    assert hpg.count_subgraph_isomorphisms(G, apart, kind="homomorphism") == 9


def test_directed_and_not():
    edge, arc = (hpg.Graph.from_edges([0], [1], directed=directed) for directed in (False, True))
    both = hpg.Graph.from_edges([0, 1, 1], [1, 0, 2])
    assert hpg.subgraph_isomorphisms(both, edge).tolist() == [[0, 1], [1, 0]]
    assert hpg.subgraph_isomorphisms(both, arc).tolist() == [[0, 1], [1, 0], [1, 2]]
    assert hpg.subgraph_isomorphisms(edge, arc).tolist() == [[0, 1], [1, 0]]


def test_arguments():
    G, pattern = (hpg.Graph.from_edges([0, 1], [1, 2], directed=False) for _ in range(2))
    large = hpg.Graph.from_edges([0], [64], directed=False)
    for call, says in (
        (lambda: hpg.subgraph_isomorphisms(G, pattern, kind="same"), 'kind must be "monomorphism"'),
        (lambda: hpg.count_subgraph_isomorphisms(G, large), "at most 64"),
        (lambda: hpg.subgraph_isomorphisms(G, pattern, ([1], [2, 3, 4])), "labels must have 3 and 3"),
        (lambda: hpg.subgraph_isomorphisms(G, pattern, 5), "labels must be two arrays"),
        (lambda: hpg.subgraph_isomorphisms(G, pattern, limit=-1), "limit must not be negative"),
    ):
        raises(ValueError, says, call)
