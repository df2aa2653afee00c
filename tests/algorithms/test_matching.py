"""Matchings, against NetworkX's and SciPy's, and by covers of as many vertices (Kőnig)."""

from unittest import mock

import networkx as nx
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from graph_examples import example
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device
from hpgraph.kernels.matching import cpu


def pairs_of(mate):
    mate = to_device(mate, "cpu")
    matched = np.flatnonzero(mate >= 0)
    assert (mate[mate[matched]] == matched).all()
    return [(int(v), int(mate[v])) for v in matched if v < mate[v]]


def weight_of(g, mate):
    pairs = pairs_of(mate)
    assert all(g.has_edge(*pair) for pair in pairs)
    return sum(g.edges[pair].get("weight", 1) for pair in pairs), len(pairs)


def random_graph(kind, n, p, seed, low=1):
    rng = np.random.default_rng(seed)
    g = nx.gnp_random_graph(n, p, seed=seed)
    if kind == "bipartite":
        g.remove_edges_from([(u, v) for u, v in g.edges if (u ^ v) & 1 == 0])
    nx.set_edge_attributes(g, {edge: float(rng.integers(low, 40)) for edge in g.edges}, "weight")
    return g


@pytest.mark.parametrize("kind", ["bipartite", "any"])
@pytest.mark.parametrize("most", [False, True])
@pytest.mark.parametrize(("n", "p", "low"), [(30, 0.1, 1), (40, 0.4, -10), (9, 0.0, 1)])
def test_most_weight(kind, most, n, p, low, device):
    for seed in range(4):
        g = random_graph(kind, n, p, seed, low)
        G = hpg.from_networkx(g).to(device)
        wanted = nx.max_weight_matching(g, maxcardinality=most)
        expected = sum(g.edges[pair]["weight"] for pair in wanted)
        weight, count = weight_of(g, hpg.max_weight_matching(G, most))
        assert weight == expected and (not most or count == len(wanted))
        half, count = weight_of(g, hpg.max_weight_matching(G, exact=False))
        assert most or 2 * half >= expected
        maximal = pairs_of(hpg.max_weight_matching(G, True, exact=False))
        taken = {v for pair in maximal for v in pair}
        assert all(u in taken or v in taken for u, v in g.edges)


def test_assignment():
    """Of a full bipartite graph it is SciPy's assignment."""
    rng = np.random.default_rng(1)
    cost = rng.random((60, 40))
    u, v = np.divmod(np.arange(2400), 40)
    G = hpg.Graph.from_edges(u, v + 60, cost.ravel(), directed=False)
    mate = hpg.max_weight_matching(G)[60:]
    rows, columns = scipy.optimize.linear_sum_assignment(cost, maximize=True)
    assert cost[mate, np.arange(40)].sum() == pytest.approx(cost[rows, columns].sum(), rel=1e-12)


@pytest.mark.parametrize("budget", [(0.5, 32.0), (0.0, 32.0), (0.0, 0.0)], ids=["as it is", "by ends", "by phases"])
@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10**6), st.sampled_from([0.1, 0.3, 0.7]), st.booleans())
def test_a_cover_has_as_many_vertices(budget, left, right, seed, p, directed):
    """No matching has more edges than a set of vertices that covers all edges: one of its size proves it (D. Kőnig)."""
    with mock.patch.multiple(cpu, _FIRST=budget[0], _SECOND=budget[1]):
        _covered(left, right, seed, p, directed)


@pytest.mark.parametrize("kind", ["sparse", "hubs", "lattice", "chain"])
def test_as_many_as_scipy(kind):
    """On graphs of many phases, rows and columns in random order."""
    rng, n = np.random.default_rng(5), 3000
    if kind == "lattice":
        A = hpg.datasets.grid(55, removed=0.3).out_csr.to_scipy()
    elif kind == "chain":
        A = scipy.sparse.diags_array([1.0, 1.0, 1.0], offsets=[0, 1, 7], shape=(n, n)).tocsr()
        A = A[rng.permutation(n)][:, rng.permutation(n)][: n - 100]
    else:
        ends = (rng.random((2, 4 * n)) ** (3 if kind == "hubs" else 1) * n).astype(int)
        A = scipy.sparse.coo_array((np.ones(4 * n), ends), (n, n + 5)).tocsr()
    expected = int((scipy.sparse.csgraph.maximum_bipartite_matching(A) >= 0).sum()) if kind != "chain" else n - 100
    column = hpg.csgraph.maximum_bipartite_matching(A, "column")
    (matched,) = np.nonzero(column >= 0)
    assert len(matched) == len(set(column[matched].tolist())) == expected and A[matched, column[matched]].all()


def _covered(left, right, seed, p, directed):
    rng = np.random.default_rng(seed)
    u, v = (rng.random((left, right)) < p).nonzero()
    G = hpg.Graph.from_edges(u, v + left, n_vertices=left + right, directed=directed)
    mate = hpg.maximum_bipartite_matching(G).tolist()
    assert len(pairs_of(np.array(mate))) == len(pairs_of(hpg.max_weight_matching(G.undirected)))
    edges = {*zip(u.tolist(), (v + left).tolist(), strict=True)}
    assert all((a, b) in edges for a, b in pairs_of(np.array(mate)))
    reached, waiting = set(), [a for a in range(left) if mate[a] < 0]
    while waiting:
        a = waiting.pop()
        reached.add(a)
        for b in (b for x, b in edges if x == a and b not in reached):
            reached.add(b)
            if mate[b] not in reached:
                waiting.append(mate[b])
    cover = {a for a in range(left) if a not in reached} | {b for b in range(left, left + right) if b in reached}
    assert len(cover) == len(pairs_of(np.array(mate))) and all(a in cover or b in cover for a, b in edges)


def test_names_and_loops(device):
    g = nx.Graph([("a", 1), ("b", 2), ("c", 1), ("a", "a")])
    mate = hpg.maximum_bipartite_matching(hpg.from_networkx(nx.Graph([("a", 1), ("b", 2)])).to(device))
    assert to_device(mate, "cpu").tolist() == [1, 0, 3, 2]
    assert len(pairs_of(hpg.max_weight_matching(hpg.from_networkx(g).to(device)))) == 2


def test_arguments():
    triangle = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False)
    infinite = hpg.Graph.from_edges([0, 1], [1, 2], [np.inf, 1.0], directed=False)
    for call, says in (
        (lambda: hpg.maximum_bipartite_matching(triangle), "not bipartite"),
        (lambda: hpg.max_weight_matching(([0], [1])), "G must be undirected"),
        (lambda: hpg.max_weight_matching(infinite), "must be finite"),
    ):
        raises(ValueError, says, call)
    assert example(False, True, True).number_of_nodes() == len(
        hpg.max_weight_matching(hpg.from_networkx(example(False, True, True)), exact=False)
    )
