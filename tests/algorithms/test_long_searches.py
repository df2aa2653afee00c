"""Searches of thousands of supersteps of one to four vertices each."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph

import hpgraph as hpg
from hpgraph.core.device import to_device

N = 3000


def ladder(n: int) -> scipy.sparse.csr_array:
    """Two rows of vertices with some rungs between them, weighted."""
    rng = np.random.default_rng(5)
    along = np.arange(n - 2)
    rungs = np.flatnonzero(rng.random(n // 2) < 0.3) * 2
    source, target = np.concatenate([along, rungs]), np.concatenate([along + 2, rungs + 1])
    arcs = scipy.sparse.coo_array((rng.integers(1, 9, source.size).astype(np.float32), (source, target)), shape=(n, n))
    return (arcs + arcs.T).tocsr()


@pytest.mark.parametrize("directed", [False, True])
def test_levels(device, directed):
    arcs = scipy.sparse.triu(ladder(N), format="csr") if directed else ladder(N)
    found = hpg.bfs(hpg.Graph(arcs).to(device), 0)
    level, parent = to_device(found.level, "cpu"), to_device(found.parent, "cpu")
    steps = scipy.sparse.csgraph.shortest_path(arcs, unweighted=True, indices=0)
    assert np.array_equal(np.where(level < 0, np.inf, level), steps)
    reached = np.flatnonzero(level > 0)
    assert (level[parent[reached]] + 1 == level[reached]).all()
    assert found.trace.supersteps == len(found.trace) == level.max() + 1
    with pytest.warns(DeprecationWarning, match="host"):
        assert not found.trace.on_host.any()


@pytest.mark.parametrize("delta", [None, 2.0, 1e9])
def test_distances(device, delta):
    arcs = ladder(N)
    found = hpg.sssp(hpg.Graph(arcs).to(device), 0, delta=delta)
    expected = scipy.sparse.csgraph.dijkstra(arcs, indices=0)
    assert np.array_equal(to_device(found.distance, "cpu"), expected.astype(np.float32))


@pytest.mark.parametrize("depth", [5, 30, 400])
def test_a_limit(device, depth):
    found = hpg.bfs(hpg.Graph(ladder(N)).to(device), 0, max_depth=depth)
    assert to_device(found.level, "cpu").max() == depth and found.trace.supersteps == depth


def test_a_technique_that_was_dropped():
    with pytest.warns(DeprecationWarning, match="host_takeover"), hpg.techniques(host_takeover=False):
        assert hpg.techniques.hyb
    with pytest.warns(DeprecationWarning):
        assert not hpg.techniques.host_takeover
