"""Trusses and truss numbers, against NetworkX."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from graph_examples import every_kind, example

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device

CASES = {
    "no vertices": nx.empty_graph(0),
    "no arcs": nx.empty_graph(3),
    "path": nx.path_graph(7),
    "triangle": nx.complete_graph(3),
    "complete": nx.complete_graph(20),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 6)),
    # Trusses 2, 3, then none until 12.
    "disconnected": nx.disjoint_union_all([nx.path_graph(5), nx.complete_graph(3), nx.complete_graph(12)]),
    "trusses within trusses": nx.powerlaw_cluster_graph(150, 6, 0.6, seed=2),
    "random": nx.gnp_random_graph(60, 0.25, seed=4),
    # Rows that take a block of the GPU each, and rows too even for a degree order.
    "hubs": nx.compose(nx.gnp_random_graph(600, 0.01, seed=3), nx.complete_bipartite_graph(2, 598)),
    "even": nx.watts_strogatz_graph(120, 20, 0.1, seed=1),
}


def expected_numbers(g):
    """Of each edge, by asking for one truss after the other."""
    number, k, truss = {}, 2, g
    while truss.number_of_edges():
        number |= {frozenset(edge): k for edge in truss.edges}
        k += 1
        truss = nx.k_truss(truss, k)
    return number


def numbers_of(G, number):
    source, target, _ = G.edges(both_ways=True)
    name, found = list(G), {}
    for u, v, k in zip(*(to_device(array, "cpu").tolist() for array in (source, target, number)), strict=True):
        assert found.setdefault(frozenset((name[u], name[v])), k) == k
    return found


@pytest.mark.parametrize("name", CASES)
def test_truss_number(name, device):
    g = CASES[name]
    G = hpg.from_networkx(g).to(device)
    number = hpg.truss_number(G)
    assert device_of(number) == device and number.dtype == np.int64
    assert numbers_of(G, number) == expected_numbers(g)


@pytest.mark.parametrize("name", CASES)
def test_k_truss(name, device):
    g = CASES[name]
    G = hpg.from_networkx(g).to(device)
    for k in (0, 2, 3, 4, 5, 13):
        found, expected = hpg.k_truss(G, k), nx.k_truss(g, k)
        assert found.device == device and not found.directed
        assert sorted(found) == sorted(expected)
        assert found.n_edges == 2 * expected.number_of_edges()
        source, target = (to_device(ends, "cpu").tolist() for ends in found.edges(names=True)[:2])
        assert all(expected.has_edge(u, v) for u, v in zip(source, target, strict=True))


@every_kind
def test_every_kind_of_graph(directed, weighted, named, device):
    """Directions and weights play no part, loops are in no truss, and names stay."""
    g = example(directed, weighted, named, n=20)
    G = hpg.from_networkx(g).to(device)
    plain = nx.Graph(g)
    loops = list(nx.selfloop_edges(plain))
    plain.remove_edges_from(loops)
    expected = expected_numbers(plain) | {frozenset(loop): 0 for loop in loops}
    assert loops and max(expected.values()) > 3
    assert numbers_of(G, hpg.truss_number(G)) == expected
    assert set(hpg.k_truss(G, 4)) == set(nx.k_truss(plain, 4))


def test_many_hubs(device):
    """More than a thousand vertices of high degree, most of whose triangles are among them; against SciPy."""
    rng = np.random.default_rng(5)
    hubs, others = 1100, 2000
    one, other = np.triu_indices(hubs, 1)
    kept = rng.random(len(one)) < 0.1
    ends = rng.integers(0, hubs, (others, 4))
    source = np.concatenate((one[kept], np.repeat(np.arange(hubs, hubs + others), 4)))
    target = np.concatenate((other[kept], ends.ravel()))
    A = scipy.sparse.coo_array((np.ones(len(source)), (source, target)), (hubs + others,) * 2).tocsr()
    A = ((A + A.T) > 0).astype(np.float64)
    G = hpg.Graph(A, directed=False).to(device)
    number = to_device(hpg.truss_number(G), "cpu")
    assert (number >= 3).sum() == hpg.k_truss(G, 3).n_edges
    for k in (5, number.max()):
        while True:
            support = (A @ A).multiply(A).tocsr()
            kept = support.data >= k - 2
            left = scipy.sparse.csr_array((np.ones(len(kept)) * kept, support.indices, support.indptr), A.shape)
            left.eliminate_zeros()
            if left.nnz == A.nnz:
                break
            A = left
        assert (number >= k).sum() == A.nnz
    assert number.max() > 5


def test_no_edge_but_loops(device):
    G = hpg.Graph(([0, 1], [0, 1]), directed=False).to(device)
    assert to_device(hpg.truss_number(G), "cpu").tolist() == [0, 0]
    for k in (2, 3):
        assert hpg.k_truss(G, k).n_edges == 0


def test_wide_ids(wide_graph):
    g = CASES["trusses within trusses"]
    G = wide_graph(nx.to_scipy_sparse_array(g), directed=False)
    assert numbers_of(G, hpg.truss_number(G)) == expected_numbers(g)


def test_unfit_input(device):
    with pytest.raises(TypeError, match="k must be a whole number"):
        hpg.k_truss(hpg.from_networkx(nx.path_graph(3)).to(device), 2.5)
