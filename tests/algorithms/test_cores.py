"""Core numbers, cores, shells and the order of peeling, against NetworkX and by what defines them."""

import itertools

import networkx as nx
import numpy as np
import pytest
from graph_examples import every_kind, example, without_loops
from raising import raises

import hpgraph as hpg
from hpgraph.algorithms.cores import both_ways
from hpgraph.core.device import device_of, to_device

CASES = {
    "no vertices": nx.empty_graph(0),
    "one vertex": nx.empty_graph(1),
    "no arcs": nx.empty_graph(3),
    "path": nx.path_graph(7),
    "directed path": nx.path_graph(7, create_using=nx.DiGraph),
    "star": nx.star_graph(600),
    "cycle": nx.cycle_graph(9),
    "complete": nx.complete_graph(40),
    # Levels 1, 2, then none until 29.
    "disconnected": nx.disjoint_union_all([nx.path_graph(5), nx.complete_graph(3), nx.complete_graph(30)]),
    "cores within cores": nx.powerlaw_cluster_graph(600, 6, 0.3, seed=2),
    "random": nx.gnp_random_graph(300, 0.05, seed=4),
    # A late round of the last level visits 10 arcs for each remaining vertex: the GPU then pulls.
    "nearly all at once": nx.gnp_random_graph(600, 0.03, seed=1),
    "random directed": nx.gnp_random_graph(200, 0.05, seed=5, directed=True),
}


def expected_core(g):
    return list(nx.core_number(without_loops(g)).values())


@pytest.mark.parametrize("name", CASES)
def test_core_number(name, device):
    g = CASES[name]
    G = hpg.from_networkx(g).to(device)
    core = hpg.core_number(G)
    assert device_of(core) == device and core.dtype == np.int32 and core.shape == (len(g),)
    assert core.tolist() == expected_core(g)


@every_kind
def test_loops_weights_and_names(directed, weighted, named, device):
    """Loops are passed over, weights play no part, and numbers are by index."""
    g = example(directed, weighted, named)
    assert nx.number_of_selfloops(g)
    assert hpg.core_number(hpg.from_networkx(g).to(device)).tolist() == expected_core(g)


@pytest.mark.parametrize("name", [name for name in CASES if name != "no vertices"])
def test_parts(name, device):
    g = CASES[name]
    G = hpg.from_networkx(g).to(device)
    numbers = nx.core_number(g)
    for k in (None, 0, 2, 3):
        for ours, theirs in ((hpg.k_core, nx.k_core), (hpg.k_shell, nx.k_shell)):
            expected = theirs(g, k)
            for found in (ours(G, k), ours(G, k, list(numbers.values()))):
                assert found.device == device
                assert sorted(found) == sorted(expected)
                assert found.n_edges == sum(1 if g.is_directed() else 2 for _ in expected.edges)
    empty = hpg.k_core(G, 10**6)
    assert len(empty) == 0


def test_parts_keep_names(device):
    g = example(False, True, True)
    G = hpg.from_networkx(g).to(device)
    assert set(hpg.k_core(G, 4)) == set(nx.k_core(without_loops(g), 4)) != set()
    order = hpg.degeneracy_ordering(G)
    assert sorted(order.tolist()) == sorted(g)


@pytest.mark.parametrize("name", CASES)
def test_degeneracy_ordering(name, device):
    g = CASES[name]
    G = hpg.from_networkx(g).to(device)
    order = hpg.degeneracy_ordering(G)
    assert device_of(order) == device
    order, core = order.tolist(), hpg.core_number(G).tolist()
    assert sorted(order) == list(range(len(g)))
    place = {v: i for i, v in enumerate(order)}
    for v in g:
        following = [u for u in nx.all_neighbors(g, v) if place[u] > place[v]]
        assert len(following) <= core[v]
    assert all(core[u] <= core[v] for u, v in itertools.pairwise(order))
    # The same on every device.
    assert order == hpg.degeneracy_ordering(G.to("cpu")).tolist()


def test_both_ways(device):
    g = example(True, True, False)
    arcs = both_ways(hpg.from_networkx(g).to(device))
    indptr, indices = (to_device(array, "cpu") for array in (arcs.indptr, arcs.indices))
    for v in g:
        expected = sorted(u for u in nx.all_neighbors(g, v) if u != v)
        assert sorted(indices[indptr[v] : indptr[v + 1]].tolist()) == expected


def test_wide_ids(wide_graph):
    g = CASES["random"]
    core = hpg.core_number(wide_graph(nx.to_scipy_sparse_array(g), directed=False))
    assert core.dtype == np.int64 and core.tolist() == expected_core(g)


def test_unfit_input(device):
    G = hpg.from_networkx(nx.path_graph(3)).to(device)
    raises(TypeError, "k must be a whole number", hpg.k_core, G, 1.5)
    with pytest.raises(ValueError, match="core_number must have one number for each of the 3 vertices"):
        hpg.k_shell(G, 1, core_number=[1, 1])
