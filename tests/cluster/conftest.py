"""A cluster of two real processes for this folder; graphs are cut into four blocks, so that each process has two."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import hpgraph as hpg
from hpgraph.core.device import cuda_available

pytest.importorskip("distributed")


# The cluster that runs, if any.
_running: list[Any] = []


@pytest.fixture(scope="module")
def client() -> Any:
    """One cluster for the files of this folder that follow each other."""
    if not _running:
        _running.append(hpg.cluster.local(n_workers=2, threads=1, memory_limit="2 GiB"))
    return _running[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """End the cluster once a test of another folder is next: to pytest a folder without a package has no scope."""
    try:
        yield
    finally:
        if _running and (nextitem is None or nextitem.path.parent != item.path.parent):
            _running.pop().close()


def on_each_device(request: pytest.FixtureRequest) -> str:
    """The device of a fixture that has params=["cpu", "cuda"]."""
    if request.param == "cuda" and not cuda_available():
        pytest.skip("no CUDA GPU here")
    return str(request.param)


def sparse_graph(seed: int, n: int = 300, m: int = 900) -> hpg.Graph:
    """A directed graph with whole weights, some vertices that nothing reaches, and a hub."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, n - 20, m), rng.integers(0, n, m)
    source[: m // 8] = 7
    weight = rng.integers(1, 9, m).astype(np.float32)
    return hpg.Graph.from_edges(source, target, weight, n_vertices=n, duplicates="min")


def matrix_of(graph: hpg.Graph) -> scipy.sparse.csr_array:
    """A graph as SciPy's matrix; its arcs weigh 1 where it has no weights."""
    arcs = graph.out_csr
    data = np.ones(arcs.nnz) if arcs.data is None else arcs.data
    return scipy.sparse.csr_array((data, arcs.indices, arcs.indptr), shape=arcs.shape)
