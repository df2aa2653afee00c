"""Searches that the host goes on with: what it is handed, and that the answer is that of one device alone."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph

import hpgraph as hpg
from hpgraph.algorithms.bfs import Tree
from hpgraph.core.device import cuda_available, to_device
from hpgraph.engine.declarations import declarations_of
from hpgraph.kernels.runtime.search import Search
from hpgraph.kernels.traversal import cpu

N = 3000


def ladder(n: int, seed: int = 5) -> scipy.sparse.csr_array:
    """Two rows of vertices with some rungs between them, weighted: thousands of levels of one to four vertices."""
    rng = np.random.default_rng(seed)
    along = np.arange(n - 2)
    rungs = np.flatnonzero(rng.random(n // 2) < 0.3) * 2
    source, target = np.concatenate([along, rungs]), np.concatenate([along + 2, rungs + 1])
    arcs = scipy.sparse.coo_array((rng.integers(1, 9, source.size).astype(np.float32), (source, target)), shape=(n, n))
    return (arcs + arcs.T).tocsr()


def directed_ladder(n: int) -> scipy.sparse.csr_array:
    """The same with arcs to larger numbers only."""
    return scipy.sparse.triu(ladder(n), format="csr")


@pytest.mark.parametrize("make", [ladder, directed_ladder])
@pytest.mark.parametrize("depth", [1, 7, 600])
def test_a_search_goes_on_where_another_stopped(make, depth):
    """The queue, the settled vertices and the properties are all that a search has to hand over."""
    arcs = make(N)
    G = hpg.Graph(arcs)
    whole = hpg.bfs(G, 0)
    begun = hpg.bfs(G, 0, max_depth=depth)
    settled = np.packbits(np.append(begun.level >= 0, np.ones(-N % 64, bool)), bitorder="little").view(np.uint64)
    active = np.flatnonzero(begun.level == depth).astype(np.int32)
    code = declarations_of(Tree).code((np.dtype(np.int32),) * 2)
    search = Search(
        code, G.out_csr.with_data(None), (begun.parent, begun.level), (None, None), (), active, 2**40,
        G.in_csr.with_data(None),
    )  # fmt: skip
    rows = cpu.go_on(search, settled, depth)()
    assert np.array_equal(begun.level, whole.level)
    assert len(rows) == len(whole.trace) - depth and rows[:, 1].sum() == whole.trace.active[depth:].sum()
    reached = np.flatnonzero(whole.level > 0)
    assert (whole.level[begun.parent[reached]] + 1 == whole.level[reached]).all()


@pytest.fixture
def hurried(monkeypatch):
    """Graphs on the GPU whose searches move to the host after a few thin supersteps."""
    if not cuda_available():
        pytest.skip("no CUDA GPU here")
    from hpgraph.kernels.runtime.cuda import takeover

    monkeypatch.setattr(takeover, "SETTING_UP", 20 * takeover.SUPERSTEP)
    monkeypatch.setattr(takeover, "LINK", 1e15)
    monkeypatch.setattr(takeover, "HOST_ARC", 0.0)


@pytest.mark.parametrize("make", [ladder, directed_ladder])
def test_the_host_takes_over_on_gpu(hurried, make):
    arcs = make(N)
    G = hpg.Graph(arcs).to("cuda")
    steps = scipy.sparse.csgraph.shortest_path(arcs, unweighted=True, indices=0)
    for _ in range(3):
        found = hpg.bfs(G, 0)
        level, parent = to_device(found.level, "cpu"), to_device(found.parent, "cpu")
        assert np.array_equal(np.where(level < 0, np.inf, level), steps)
        reached = np.flatnonzero(level > 0)
        assert (level[parent[reached]] + 1 == level[reached]).all()
        assert 20 <= np.argmax(found.trace.on_host) < 40 and found.trace.on_host[-1]
        assert found.trace.supersteps == len(found.trace) == level.max() + 1
        assert "push on the CPU" in found.trace.explain()
    with hpg.techniques(host_takeover=False):
        alone = hpg.bfs(G, 0)
        assert not alone.trace.on_host.any() and np.array_equal(to_device(alone.level, "cpu"), level)


@pytest.mark.parametrize("delta", [None, 2.0, 1e9])
def test_the_host_takes_over_shortest_paths_on_gpu(hurried, delta):
    arcs = ladder(N)
    G = hpg.Graph(arcs).to("cuda")
    expected = scipy.sparse.csgraph.dijkstra(arcs, indices=0)
    for _ in range(2):
        found = hpg.sssp(G, 0, delta=delta)
        assert np.array_equal(to_device(found.distance, "cpu"), expected.astype(np.float32))
    assert hpg.sssp(G, 0, delta=1e9).trace.on_host[-1]


def test_a_limit_holds_on_both_devices_on_gpu(hurried):
    G = hpg.Graph(ladder(N)).to("cuda")
    for depth in (5, 30, 400):
        found = hpg.bfs(G, 0, max_depth=depth)
        level = to_device(found.level, "cpu")
        assert level.max() == depth and found.trace.supersteps == depth


def test_no_synchronization_for_a_graph_that_was_never_thin(hurried):
    from hpgraph.kernels.runtime.cuda.takeover import takeover

    G = hpg.datasets.kron(12).to("cuda")
    assert takeover(G.out_csr).waits()
    hpg.bfs(G, hpg.id(int(G.out_degree.argmax())))
    assert not takeover(G.out_csr).waits()
