"""Techniques switched off one by one: the answers stay, and the switch reaches the kernels."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph

import hpgraph as hpg
from hpgraph.core.device import to_device

PRODUCTS = (
    "captured_graph", "column_blocks", "degree_order", "fused_supersteps", "hyb", "row_stretches", "triangle_filters",
)  # fmt: skip
TRAVERSALS = (
    "adaptive_buckets", "arc_batches", "early_exit", "heavy_pieces", "host_takeover", "lane_refill", "local_block",
    "short_queues",
)  # fmt: skip
# On either device: tests/engine/test_grouping.py.
LANES = ("early_termination", "group_by", "joint_frontier")
# Where there are shards: tests/engine/test_multi_gpu.py.
DIVIDED = ("multi_gpu",)
NAMES = (*PRODUCTS, *TRAVERSALS, *LANES, *DIVIDED)


@pytest.fixture(scope="module")
def arcs():
    """A symmetric graph with one row of 3,000 neighbours, beyond what one warp takes, and many short ones."""
    rng = np.random.default_rng(3)
    row = np.concatenate((np.zeros(3000, int), rng.integers(0, 4000, 12_000)))
    col = np.concatenate((np.arange(1, 3001), rng.integers(0, 4000, 12_000)))
    found = scipy.sparse.csr_array((np.ones(len(row)), (row, col)), shape=(4000, 4000))
    found = (found + found.T).tocsr()
    found.setdiag(0)
    found.eliminate_zeros()
    found.data[:] = 1
    return found


@pytest.mark.parametrize("name", PRODUCTS)
def test_answers_do_not_depend_on_it(gpu, arcs, name):
    x = np.random.default_rng(1).random(4000)
    cubed = (arcs @ arcs).multiply(arcs).sum() / 6
    degree = arcs.sum(axis=0)
    rank = np.full(4000, 1 / 4000)
    for _ in range(10):
        dangling = rank[degree == 0].sum() / 4000
        rank = 0.15 / 4000 + 0.85 * (arcs @ (rank / np.maximum(degree, 1)) + dangling)
    with hpg.techniques(**{name: False}):
        assert getattr(hpg.techniques, name) is False
        graph, matrix = hpg.Graph(arcs).to(gpu), hpg.Matrix(arcs).to(gpu)
        np.testing.assert_allclose(to_device(matrix @ to_device(x, gpu), "cpu"), arcs @ x, rtol=1e-12)
        assert hpg.triangle_count(graph) == cubed
        found = to_device(hpg.pagerank(graph, tol=0, max_iteration=10).rank, "cpu")
        assert np.abs(found - rank).sum() < 1e-12
    assert getattr(hpg.techniques, name) is True


@pytest.mark.parametrize("name", TRAVERSALS)
@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
def test_traversals_do_not_depend_on_it(gpu, arcs, name, direction):
    level = scipy.sparse.csgraph.dijkstra(arcs, unweighted=True, indices=7)
    weighted = arcs.copy()
    weighted.data = np.random.default_rng(2).integers(1, 100, arcs.nnz).astype(float)
    distance = scipy.sparse.csgraph.dijkstra(weighted, indices=7)
    with hpg.techniques(**{name: False}):
        found = hpg.bfs(hpg.Graph(arcs).to(gpu), 7, direction=direction)
        assert (to_device(found.level, "cpu") == np.where(np.isinf(level), -1, level)).all()
        if direction == "push":
            graph = hpg.Graph(weighted, directed=True).to(gpu)
            assert (to_device(hpg.sssp(graph, 7).distance, "cpu") == distance).all()


def test_switches_nest_and_end():
    with hpg.techniques(hyb=False), hpg.techniques(column_blocks=False):
        assert (hpg.techniques.hyb, hpg.techniques.column_blocks, hpg.techniques.row_stretches) == (False, False, True)
    with pytest.raises(RuntimeError), hpg.techniques(hyb=False):
        raise RuntimeError
    assert repr(hpg.techniques).count("True") == len(NAMES)


def test_unknown_ones_are_refused():
    with pytest.raises(TypeError, match="no technique 'tiles'; there are adaptive_buckets"), hpg.techniques(tiles=True):
        pass
    with pytest.raises(TypeError, match="hyb must be True or False"), hpg.techniques(hyb=0):
        pass
    with pytest.raises(AttributeError, match="no technique"):
        _ = hpg.techniques.tiles
