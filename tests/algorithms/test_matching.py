"""Matchings, against NetworkX's and SciPy's, and by what bounds them (Kőnig, Tutte and Berge)."""

import functools
import itertools
from unittest import mock

import networkx as nx
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from graph_examples import example
from hypothesis import HealthCheck, given, settings
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


@functools.cache
def best(edges, most, taken=frozenset()):
    """The number of edges and the weight of the best matching, by trying all."""
    if not edges:
        return 0, 0.0
    (u, v, weight), rest = edges[0], edges[1:]
    without = best(rest, most, taken)
    if u in taken or v in taken:
        return without
    count, total = best(rest, most, taken | {u, v})
    return max(without, (count + 1, total + weight), key=lambda found: found if most else found[1])


@settings(max_examples=200, deadline=None)
@given(
    st.integers(2, 7), st.integers(0, 10**6), st.sampled_from([0.3, 0.6, 1.0]), st.booleans(),
    st.sampled_from([(1, 1), (1, 3), (-3, 9), (2**50, 2**50 + 9)]),
)  # fmt: skip
def test_all_tried(n, seed, p, most, weights):
    rng = np.random.default_rng(seed)
    edges = [(u, v, float(rng.integers(*weights, endpoint=True))) for u, v in itertools.combinations(range(n), 2)]
    edges = tuple(edge for edge in edges if rng.random() < p)
    u, v, weight = np.array(edges).reshape(-1, 3).T
    ids = rng.permutation(n)
    G = hpg.Graph.from_edges(ids[u.astype(int)], ids[v.astype(int)], weight, n_vertices=n, directed=False)
    pairs = pairs_of(hpg.max_weight_matching(G, most))
    held = {frozenset((int(ids[a]), int(ids[b]))): weight for a, b, weight in edges}
    count, total = best(edges, most)
    assert sum(held[frozenset(pair)] for pair in pairs) == total and (not most or len(pairs) == count)


@pytest.mark.parametrize("kind", ["whole", "broken", "equal", "none"])
@pytest.mark.parametrize("most", [False, True])
def test_larger_graphs(kind, most):
    """Triangles in triangles, whose blossoms lie in blossoms, and a graph with hubs."""
    limit = 9 if kind == "whole" else 2
    for seed in range(3):
        rng = np.random.default_rng(seed)
        triangles = nx.triangular_lattice_graph(11, 15 + seed)
        for g in map(nx.convert_node_labels_to_integers, (triangles, nx.barabasi_albert_graph(150, 3, seed=seed))):
            if kind != "none":
                drawn = rng.random(g.size()) if kind == "broken" else rng.integers(1, limit, g.size())
                values = dict(zip(g.edges, drawn.astype(float).tolist(), strict=True))
                nx.set_edge_attributes(g, values, "weight")
            wanted = nx.max_weight_matching(g, most)
            weight, count = weight_of(g, hpg.max_weight_matching(hpg.from_networkx(g), most))
            assert weight == pytest.approx(sum(g.edges[pair].get("weight", 1) for pair in wanted), rel=1e-12)
            assert not most or count == len(wanted)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 24), st.integers(0, 10**6), st.sampled_from([0.05, 0.1, 0.3]))
def test_odd_components_bound_it(n, seed, p):
    """Without some vertices there are so many odd components more than these (W. T. Tutte, C. Berge)."""
    g = nx.gnp_random_graph(n, p, seed=seed)

    def size(g):
        return len(pairs_of(hpg.max_weight_matching(hpg.from_networkx(g), True))) if len(g) else 0

    count = size(g)
    # Those that some largest matching leaves free, and their other neighbours (T. Gallai, J. Edmonds).
    free = {v for v in g if size(g.subgraph(set(g) - {v})) == count}
    barrier = {u for v in free for u in g[v]} - free
    odd = sum(len(part) % 2 for part in nx.connected_components(g.subgraph(set(g) - barrier)))
    assert 2 * count == n + len(barrier) - odd


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
    with mock.patch.multiple(cpu, _SEARCH_LIMIT=budget[0], _GRAFTING_LIMIT=budget[1]):
        _covered(left, right, seed, p, directed, "cpu")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(left=st.integers(1, 40), right=st.integers(1, 40), seed=st.integers(0, 10**6), directed=st.booleans())
def test_a_cover_has_as_many_vertices_on_either_device(left, right, seed, directed, device):
    _covered(left, right, seed, 0.06, directed, device)


@pytest.mark.parametrize("kind", ["sparse", "hubs", "lattice", "chain"])
def test_as_many_as_scipy(kind, device):
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
    column = to_device(hpg.csgraph.maximum_bipartite_matching(hpg.Matrix(A).to(device), "column"), "cpu")
    (matched,) = np.nonzero(column >= 0)
    assert len(matched) == len(set(column[matched].tolist())) == expected and A[matched, column[matched]].all()


def _covered(left, right, seed, p, directed, device):
    rng = np.random.default_rng(seed)
    u, v = (rng.random((left, right)) < p).nonzero()
    G = hpg.Graph.from_edges(u, v + left, n_vertices=left + right, directed=directed)
    mate = hpg.maximum_bipartite_matching(G.to(device)).tolist()
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
