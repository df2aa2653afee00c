"""Traversals on the CPU when the workers are not what they were expected to be, and when there is too little room."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import hpgraph as hpg
from hpgraph.kernels.relaxation import buckets
from hpgraph.kernels.relaxation import cpu as relaxation
from hpgraph.kernels.traversal import cpu as traversal

N = 20_000


@pytest.fixture(scope="module")
def csr() -> sp.csr_array:
    """A symmetric graph of some parts, one of them large, with whole weights."""
    rng = np.random.default_rng(5)
    row, column = rng.integers(0, N, (2, N))
    weight = rng.integers(1, 1000, N).astype(np.float64)
    half = sp.coo_array((weight, (row, column)), shape=(N, N)).tocsr()
    return (half + half.T).tocsr()


class Smallest(hpg.VertexProgram):
    """The smallest number of a vertex with a path to this one; random numbers, so most values fall often."""

    reduce = "min"
    weighted = False
    number = hpg.Property("int32", initial=lambda graph: np.random.default_rng(1).permutation(graph.n_vertices))

    def gather(source, weight, target):
        return source.number


def check(csr: sp.csr_array) -> None:
    G = hpg.Graph(csr, directed=False)
    source = int(np.diff(csr.indptr).argmax())
    expected = csgraph.dijkstra(csr, indices=source)
    assert (hpg.sssp(G, source).distance == expected).all()
    assert (hpg.sssp(G, source, delta=0.5).distance == expected).all()
    steps = csgraph.dijkstra(csr, indices=source, unweighted=True)
    assert (hpg.bfs(G, source).level == np.where(np.isinf(steps), -1, steps)).all()
    parts, part = csgraph.connected_components(csr, directed=False)
    smallest = np.full(parts, N)
    np.minimum.at(smallest, part, np.random.default_rng(1).permutation(N))
    assert (hpg.run(Smallest, G).number == smallest[part]).all()


def test_a_store_that_is_too_small(csr, monkeypatch):
    """All send at first, so the store is full when the first fall back into it."""
    blocks = -(-N // buckets.BLOCK)
    least = blocks + buckets.BUCKETS + 2
    assert least < 2 * blocks
    monkeypatch.setattr(relaxation, "blocks_for", lambda n, workers: least)
    check(csr)


def test_a_trace_that_is_too_short(csr, monkeypatch):
    for room in (relaxation, traversal):
        monkeypatch.setattr(room, "ROWS", 1)
    check(csr)
    cut = hpg.bfs(hpg.Graph(csr, directed=False), 3, max_depth=3)
    assert len(cut.trace) == cut.level.max() == 3


@pytest.mark.parametrize("algorithm, bytes_", [(hpg.bfs, 13), (hpg.sssp, 14)])
def test_memory_is_as_documented(algorithm, bytes_):
    n = 200_000
    rng = np.random.default_rng(2)
    row, column = rng.integers(0, n, (2, 2 * n), np.int32)
    half = sp.coo_array((np.ones(2 * n, np.float32), (row, column)), shape=(n, n)).tocsr()
    G = hpg.Graph((half + half.T).tocsr(), directed=False)
    algorithm(G, 0)
    tracemalloc.start()
    algorithm(G, 0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Apart from what does not grow with the graph: the trace, and what each worker begins.
    assert peak < bytes_ * n + 400_000
    assert f"{bytes_} bytes a vertex" in algorithm.__doc__
