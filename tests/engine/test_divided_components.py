"""Components of graphs in shards whose kernels run side by side: two parts and more of one GPU, or of two."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from busy_stream import made_ready, spin
from scipy.sparse.csgraph import connected_components
from test_multi_gpu import _places

import hpgraph as hpg
from hpgraph.containers.divided_graph import DividedGraph, divide
from hpgraph.core.device import cuda_available, to_device
from hpgraph.engine import multi_gpu
from hpgraph.kernels.structure import cuda_divided_components

needs_cuda = pytest.mark.skipif(not cuda_available(), reason="no CUDA device")
N = 3000


def _ends(kind: str) -> Any:
    """Both ends of edges between N vertices, or more; halves and thirds of them are those of the parts, or nearly."""
    rng = np.random.default_rng(7)
    if kind == "sparse":
        # Hundreds of small components.
        return rng.integers(0, N, (2, N // 2))
    if kind == "at random":
        return rng.integers(0, N, (2, 2 * N))
    if kind == "lone vertices":
        ends = rng.integers(0, N, (2, 20 * N))
        return ends[:, (ends % 3 == 0).all(axis=0)]
    if kind == "across alone":
        # No vertex has a neighbour in its own half.
        return np.array([rng.integers(0, N // 2, 4 * N), rng.integers(N // 2, N, 4 * N)])
    if kind == "pairs across":
        return np.array([np.arange(N // 2), rng.permutation(N // 2) + N // 2])
    if kind == "path":
        order = rng.permutation(N)
        return np.array([order[:-1], order[1:]])
    if kind == "two that interleave":
        # The largest trees of the halves belong to different components, each of which goes on in the other half.
        ends = 2 * rng.integers(0, N // 2, (2, 10 * N))
        odd = (ends.max(axis=0) >= N // 2 + 100) & (rng.random(10 * N) < 0.9)
        return ends + odd
    if kind == "one edge between":
        within = rng.integers(0, N // 3, (2, 6 * N))
        ends = np.concatenate([within, within + N // 3, within + 2 * (N // 3)], axis=1)
        return np.concatenate([ends, [[5, N // 3 + 9], [N // 3 + 7, N - 4]]], axis=1)
    if kind == "hub":
        # Of more arcs than a warp follows, and in another part than most of them.
        return np.array([np.full(7 * N, 11), np.arange(7 * N)])
    raise ValueError(kind)


KINDS = (
    "sparse", "at random", "lone vertices", "across alone", "pairs across", "path", "two that interleave",
    "one edge between", "hub",
)  # fmt: skip


def _want(ends: Any, n: int) -> np.ndarray:
    _, label = connected_components(sp.coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(n, n)), directed=False)
    first = np.unique(label, return_index=True)[1]
    return np.argsort(np.argsort(first))[label]


@needs_cuda
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("scatter", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_components_of_parts(kind: str, scatter: bool, directed: bool) -> None:
    ends = _ends(kind)
    n = max(N, int(ends.max()) + 1)
    graph = hpg.Graph.from_edges(ends[0], ends[1], n_vertices=n, directed=directed)
    want = _want(ends, n)
    for devices in _places():
        divided = divide(graph.to("cuda"), devices, scatter=scatter)
        # What a call leaves behind must not show in the next.
        for _ in range(3):
            count, label = multi_gpu.components(divided)
            assert count == want.max() + 1
            np.testing.assert_array_equal(to_device(label, "cpu"), want)


@needs_cuda
def test_parts_of_so_many_arcs_that_offsets_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_divided_components, "SHORT", 0)
    ends = _ends("at random")
    graph = hpg.Graph.from_edges(ends[0], ends[1], n_vertices=N)
    for devices in _places():
        label = multi_gpu.components(divide(graph.to("cuda"), devices))[1]
        np.testing.assert_array_equal(to_device(label, "cpu"), _want(ends, N))


@needs_cuda
@pytest.mark.parametrize("n", [1, 63, 64, 65, 130])
def test_parts_without_vertices(n: int) -> None:
    ends = np.array([np.zeros(n, np.int64), np.arange(n)])
    graph = hpg.Graph.from_edges(ends[0], ends[1], n_vertices=n)
    for devices in _places():
        count, label = multi_gpu.components(divide(graph.to("cuda"), devices, scatter=False))
        assert count == 1 and not label.any()


@needs_cuda
def test_vertices_without_arcs_alone() -> None:
    graph = hpg.Graph.from_edges([], [], n_vertices=200)
    for devices in _places():
        count, label = multi_gpu.components(divide(graph.to("cuda"), devices))
        assert count == 200
        np.testing.assert_array_equal(to_device(label, "cpu"), np.arange(200))


@needs_cuda
def test_phases_wait_for_each_other() -> None:
    """Whichever part is late."""
    ends = _ends("two that interleave")
    graph = hpg.Graph.from_edges(ends[0], ends[1], n_vertices=N)
    want = _want(ends, N)
    for devices in _places():
        divided = divide(graph.to("cuda"), devices)
        assert isinstance(divided, DividedGraph)
        multi_gpu.components(divided)
        kept = [value for key, value in divided._layouts._kept.items() if "weak components" in str(key)]
        for late in kept[0]:
            with late.here:
                made_ready()
                spin()
            np.testing.assert_array_equal(to_device(multi_gpu.components(divided)[1], "cpu"), want)
