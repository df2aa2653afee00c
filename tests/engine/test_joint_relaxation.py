"""Relaxations of many lanes: each lane answers, bit for bit, what its own run does, on every device."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph
from reference_algorithms import hubs, random_digraph
from test_joint_traversal import graph, starts

import hpgraph as hpg
from hpgraph.algorithms.distances import Distances
from hpgraph.core.device import to_device
from hpgraph.formats import CSR


class Widest(hpg.VertexProgram):
    """The widest path to each vertex that may be passed, its narrowest arc as wide as can be; whole numbers."""

    width = hpg.Property("int32", initial=0, start=1000)
    reduce = "max"

    def gather(source, weight, target):
        return min(source.width, weight)

    def cond(vertex):
        return vertex.id % 7 != 3

    def edge_cond(source, weight, target):
        return weight > 2


def chain(n):
    return scipy.sparse.csr_array((np.full(n - 1, 0.5), (np.arange(n - 1), np.arange(1, n))), shape=(n, n))


GRAPHS = {
    "digraph": random_digraph(1500, 12_000, seed=1),
    # Searches that meet in the hubs, and arcs enough that lanes must pay.
    "hubs": hubs(3000, 60_000, seed=5, exponent=3),
    "chain": chain(3000),
    "apart": scipy.sparse.block_diag([random_digraph(40, 200, seed=s) for s in range(9)], format="csr"),
    "few": random_digraph(70, 300, seed=2),
}


@pytest.mark.parametrize("delta", [None, 0.25, 40.0])
@pytest.mark.parametrize("name", GRAPHS)
def test_distances_of_every_lane(name, delta, device):
    csr = GRAPHS[name]
    active = starts(csr.shape[0], 70)
    found = hpg.run(Distances, graph(csr, device), active=active, delta=delta)
    assert found.distance.shape == (70, csr.shape[0])
    for lane, mine in zip(active, to_device(found.distance, "cpu"), strict=True):
        expected = np.full(csr.shape[0], np.inf)
        if lane:
            expected = scipy.sparse.csgraph.dijkstra(csr, indices=lane, min_only=True)
        assert (mine == expected).all()
    assert not found.unfinished


def test_lanes_that_have_nothing_in_common_never_go_together():
    csr = GRAPHS["apart"]
    active = [[source] for source in range(0, 320, 5)]
    active[1] = [350]
    with hpg.config(threads=2):
        found = hpg.run(Distances, graph(csr, "cpu"), active=active, delta=1e-6)
    expected = scipy.sparse.csgraph.dijkstra(csr, indices=[lane[0] for lane in active])
    assert (found.distance == expected).all()
    # A row for each lane: a search by itself, which looks once at each arc that it reaches.
    arcs = np.isfinite(expected) @ np.diff(csr.indptr)
    assert sorted(found.trace.edges.tolist()) == sorted(arcs.tolist())


def test_a_ceiling_and_values_given(device):
    csr = GRAPHS["digraph"]
    G, active = graph(csr, device), starts(csr.shape[0], 9)
    first = np.random.default_rng(0).integers(0, 50, (9, csr.shape[0])).astype(np.float64)
    found = hpg.run(Distances, G, active=active, delta=3.0, ceiling=30.0, distance=first)
    for lane, sources in enumerate(active):
        single = hpg.run(Distances, G, active=sources, delta=3.0, ceiling=30.0, distance=first[lane])
        assert (to_device(found.distance[lane], "cpu") == to_device(single.distance, "cpu")).all()


def test_whole_numbers_conditions_and_a_monoid_that_raises(device):
    csr = GRAPHS["digraph"].astype(np.int32)
    csr.data[:] = np.random.default_rng(1).integers(1, 100, csr.nnz)
    G = hpg.Graph(CSR(csr.shape, csr.indptr.astype(np.int64), csr.indices, csr.data), directed=True).to(device)
    active = starts(csr.shape[0], 33)
    found = to_device(hpg.run(Widest, G, active=active).width, "cpu")
    row = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    for lane, sources in enumerate(active):
        width = np.zeros(csr.shape[0], np.int64)
        width[sources] = 1000
        passed = (csr.data > 2) & (csr.indices % 7 != 3)
        while True:
            offered = np.where(passed, np.minimum(width[row], csr.data), 0)
            wider = width.copy()
            np.maximum.at(wider, csr.indices, offered)
            if (wider == width).all():
                break
            width = wider
        assert (found[lane] == width).all()


def test_a_limit_and_continuing_vertices(device):
    csr = GRAPHS["chain"]
    G = graph(csr, device)
    found = hpg.run(Distances, G, active=[[0], [10, 2990], []], max_iteration=4)
    assert found.unfinished
    assert len(found.active[0]) and not len(found.active[2])
    for _ in range(3000):
        if not any(map(len, found.active)):
            break
        found = hpg.run(Distances, G, active=found.active, max_iteration=500, distance=found.distance)
    expected = [scipy.sparse.csgraph.dijkstra(csr, indices=lane, min_only=True) for lane in ([0], [10, 2990])]
    assert (to_device(found.distance[:2], "cpu") == expected).all()
    assert np.isinf(to_device(found.distance[2], "cpu")).all()
