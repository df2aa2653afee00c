"""Searches on graphs in shards: kernels side by side on two GPUs, or two on one, and lanes that devices divide."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

import hpgraph as hpg
from hpgraph.algorithms.bfs import Tree
from hpgraph.algorithms.distances import facts_of
from hpgraph.containers.divided_graph import DividedGraph, divide
from hpgraph.core.device import cuda_available, to_device
from hpgraph.core.devices import Devices
from hpgraph.core.errors import DeviceMemoryError
from hpgraph.engine import multi_gpu
from hpgraph.engine.declarations import declarations_of
from hpgraph.engine.divided_sources import Strategies
from hpgraph.kernels.traversal import cuda_sources_team
from hpgraph.placement.on_devices import InShards

needs_cuda = pytest.mark.skipif(not cuda_available(), reason="no CUDA device")


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels side by side, whatever the graph."""
    monkeypatch.setattr(multi_gpu, "is_worth_it", lambda *given: True)


def _graph(kind: str, seed: int = 1) -> hpg.Graph:
    """Weighted by whole numbers, so that every order of sums gives the same."""
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        n, ends = 3000, rng.integers(0, 3000, (2, 30000))
    elif kind == "hubs":
        n, ends = 2100, rng.permutation(2100)[(2100 * rng.random((2, 40000)) ** 3).astype(np.int64)]
    elif kind == "hubs first":
        n, ends = 2100, (2100 * rng.random((2, 40000)) ** 3).astype(np.int64)
    elif kind == "path":
        n, ends = 130, np.array([np.arange(129), np.arange(1, 130)])
    elif kind == "two halves":
        # An arc between the halves, whose vertices are in the largest tree of either.
        within = rng.integers(0, 1024, (2, 20000))
        n, ends = 2048, np.concatenate([within, within + 1024, [[7], [2040]]], axis=1)
    else:
        n, ends = 500, np.array([np.zeros(499, np.int64), np.arange(1, 500)])
    directed = kind == "uniform"
    weights = rng.integers(1, 64, ends.shape[1]).astype(np.float32)
    return hpg.Graph.from_edges(ends[0], ends[1], weights, n_vertices=n, directed=directed)


KINDS = ("uniform", "hubs", "hubs first", "path", "two halves", "star")


def _arrays(graph: hpg.Graph) -> Any:
    csr = graph.out_csr
    return sp.csr_array((csr.data, csr.indices, csr.indptr), csr.shape)


def _places() -> list[list[Devices]]:
    """Two parts and three on one GPU; two and three on two, where there are as many."""
    import cupy

    one, other = Devices("cuda", (0,)), Devices("cuda", (1,))
    found = [[one, one], [one, one, one]]
    return [*found, [one, other], [one, other, one]] if cupy.cuda.runtime.getDeviceCount() > 1 else found


def _check_tree(level: np.ndarray, parent: np.ndarray, arcs: Any, source: int) -> None:
    want = dijkstra(arcs, indices=source, unweighted=True)
    np.testing.assert_array_equal(np.where(np.isinf(want), -1, want), level)
    others = np.flatnonzero(level > 0)
    np.testing.assert_array_equal(level[parent[others]], level[others] - 1)
    assert parent[source] == source and (parent[level < 0] == -1).all()
    pattern = arcs.astype(bool)
    assert all(pattern[u, v] for u, v in zip(parent[others][:50], others[:50], strict=True))


@needs_cuda
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("together")
def test_searches_side_by_side(kind: str) -> None:
    graph = _graph(kind)
    arcs, n = _arrays(graph), graph.n_vertices
    count, label = connected_components(arcs)
    distances = {source: dijkstra(arcs, indices=source) for source in (0, n // 2)}
    for devices in _places():
        divided = divide(graph.to("cuda"), devices)
        for source in (0, n // 2):
            for direction in ("auto", "push", "pull"):
                found = hpg.bfs(divided, source, direction=direction)
                assert "side by side" in str(found.trace.loop)
                _check_tree(to_device(found.level, "cpu"), to_device(found.parent, "cpu"), arcs, source)
                # Every vertex that is reached sends in one superstep, also where it was reached by letter.
                assert found.trace.active.sum() == (to_device(found.level, "cpu") >= 0).sum()
                there = hpg.bfs(divided, source, direction=direction, gather=False)
                assert "side by side" in str(there.trace.loop)
                # Scattered vertices keep their ids here, in ranges of their own.
                bounds = divided.bounds if divided.order is None else divided.by_own_ids.bounds
                assert there.level.bounds == bounds
                _check_tree(np.asarray(there.level), np.asarray(there.parent), arcs, source)
            shallow = hpg.bfs(divided, source, max_depth=1)
            assert int(shallow.level.max()) <= 1
            for delta in (None, 3.0):
                way = hpg.sssp(divided, source, delta=delta)
                assert "side by side" in str(way.trace.loop)
                np.testing.assert_array_equal(to_device(way.distance, "cpu"), distances[source].astype(np.float32))
        first = np.unique(label, return_index=True)[1]
        want = np.argsort(np.argsort(first))[label]
        found_count, found_label = multi_gpu.components(divided)
        assert found_count == count
        np.testing.assert_array_equal(to_device(found_label, "cpu"), want)
        np.testing.assert_array_equal(to_device(hpg.connected_components(divided).label, "cpu"), want)


@needs_cuda
@pytest.mark.usefixtures("together")
def test_the_same_search_again_and_from_several_at_once() -> None:
    graph = _graph("hubs")
    want = hpg.bfs(graph, 5).level
    divided = divide(graph.to("cuda"), [Devices("cuda", (0,))] * 2)
    for _ in range(50):
        np.testing.assert_array_equal(to_device(hpg.bfs(divided, 5).level, "cpu"), want)

    class Nearest(hpg.VertexProgram):
        """Distance from a set of vertices."""

        weighted = False
        reduce = "any"
        steps = hpg.Property("int32", initial=-1, start=0)

        def gather(source, weight, target):
            return 1

        def update(vertex, message, world):
            return world.superstep

    found = hpg.run(Nearest, divided, active=np.array([3, 900, 2000]))
    np.testing.assert_array_equal(
        to_device(found.steps, "cpu"), hpg.run(Nearest, graph, active=np.array([3, 900, 2000])).steps
    )
    assert "side by side" in str(found.trace.loop)


@needs_cuda
def test_thin_searches_stay_on_one_device_and_report_it() -> None:
    divided = divide(hpg.datasets.grid(40).to("cuda"), [Devices("cuda", (0,))] * 2)
    with hpg.techniques(multi_gpu=True):
        found = hpg.bfs(divided, 0)
    assert "too small for several" in str(found.trace.loop)
    np.testing.assert_array_equal(to_device(found.level, "cpu"), hpg.bfs(hpg.datasets.grid(40), 0).level)


def test_vertices_without_arcs_are_in_no_search(device: str) -> None:
    graph = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], n_vertices=300)
    divided = divide(graph.to(device), [device] * 2)
    seen = multi_gpu.supersteps_of(
        InShards(divided, "in", False, declarations_of(Tree).code((np.dtype(np.int32),) * 2))
    )
    # 3 vertices have an arc each: 12 that are active in two supersteps send along 6 in each.
    seen.note(np.array([[0, 4, 1, 5], [0, 8, 1, 7]]), True)
    assert seen.seen(True) == (6, 1e-9)
    assert seen.seen(False) == (6, 0)


def test_without_them_searches_stay_on_one_device(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = _graph("hubs")
    divided = divide(graph.to(device), [device] * 2)
    monkeypatch.setattr(multi_gpu, "apart", lambda graph: None)
    with hpg.techniques(multi_gpu=False):
        _stay_on_one_device(graph, divided, monkeypatch)


def _stay_on_one_device(graph: hpg.Graph, divided: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = hpg.bfs(divided, 5)
    assert "on one device, as kernels side by side are switched off" in str(found.trace.loop)
    np.testing.assert_array_equal(to_device(found.level, "cpu"), hpg.bfs(graph, 5).level)
    _refuse_memory(monkeypatch)
    found = hpg.bfs(divided, 7)
    assert str(found.trace.loop) == "supersteps: the graph does not fit one device"
    np.testing.assert_array_equal(to_device(found.level, "cpu"), hpg.bfs(graph, 7).level)


@needs_cuda
def test_a_program_that_reads_its_target_goes_superstep_by_superstep() -> None:
    class Ways(hpg.VertexProgram):
        """Reachability with messages that read the target."""

        weighted = False
        reduce = "any"
        steps = hpg.Property("int32", initial=-1, start=0)

        def gather(source, weight, target):
            return target.steps + source.steps

        def update(vertex, message, world):
            return world.superstep

    graph = _graph("hubs")
    with hpg.techniques(multi_gpu=True):
        found = hpg.run(Ways, divide(graph.to("cuda"), [Devices("cuda", (0,))] * 2), active=hpg.id(0))
    assert "property of the target" in str(found.trace.loop)
    np.testing.assert_array_equal(to_device(found.steps, "cpu"), hpg.run(Ways, graph, active=hpg.id(0)).steps)


def test_lanes_are_divided(device: str) -> None:
    graph = _graph("hubs")
    divided = divide(graph.to(device), [device] * 3)
    assert isinstance(divided, DividedGraph)
    sources = [0, 7, 7, 1500, 2099]
    found = hpg.bfs(divided, sources=sources, parents=False)
    np.testing.assert_array_equal(to_device(found.level, "cpu"), hpg.bfs(graph, sources=sources, parents=False).level)
    # GPUs share the rows, and take every superstep together.
    assert len(found.traces) == (1 if device == "cuda" else 3)
    one = hpg.bfs(divided, sources=[4], parents=False)
    np.testing.assert_array_equal(to_device(one.level, "cpu"), hpg.bfs(graph, sources=[4], parents=False).level)


@needs_cuda
@pytest.mark.parametrize("kind", KINDS)
def test_searches_in_lanes_that_share_rows(kind: str) -> None:
    graph = _graph(kind)
    n = graph.n_vertices
    want = np.where(np.isinf(far := dijkstra(_arrays(graph), unweighted=True)), -1, far).astype(np.int64)
    for devices in _places():
        for k in (2, 64, 65, 128):
            sources = np.random.default_rng(k).integers(0, n, k)
            for direction in ("auto", "push", "pull"):
                # Anew for each, so that the next call is the first, which several GPUs have.
                divided = divide(graph.to("cuda"), devices)
                found = hpg.bfs(divided, sources=sources, parents=False, direction=direction)
                # More levels than a byte holds are searched for again, the other way.
                assert kind == "path" or "share the rows" in str(found.traces[0].loop)
                np.testing.assert_array_equal(to_device(found.level, "cpu"), want[sources])
                # A pair of lane and reached vertex is settled once.
                assert found.traces[0].rows[:, 4].sum() == (want[sources] > 0).sum()
            shallow = hpg.bfs(divide(graph.to("cuda"), devices), sources=sources, parents=False, max_depth=2)
            np.testing.assert_array_equal(
                to_device(shallow.level, "cpu"), np.where(want[sources] <= 2, want[sources], -1)
            )


@needs_cuda
@pytest.mark.parametrize("kind", ["uniform", "hubs", "star"])
def test_pushes_of_lanes_are_shared_too(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Telling each other takes no time: so it is worth it on small graphs.
    monkeypatch.setattr(cuda_sources_team, "LINK", np.inf)
    monkeypatch.setattr(cuda_sources_team, "MEETING", 0.0)
    graph = _graph(kind)
    n = graph.n_vertices
    want = np.where(np.isinf(far := dijkstra(_arrays(graph), unweighted=True)), -1, far).astype(np.int64)
    for devices in _places():
        for k, direction in ((64, "push"), (128, "push"), (65, "auto"), (3, "auto")):
            sources = np.random.default_rng(k).integers(0, n, k)
            found = hpg.bfs(divide(graph.to("cuda"), devices), sources=sources, parents=False, direction=direction)
            assert "share the rows" in str(found.traces[0].loop)
            np.testing.assert_array_equal(to_device(found.level, "cpu"), want[sources])
            assert found.traces[0].rows[:, 4].sum() == (want[sources] > 0).sum()


@needs_cuda
def test_the_same_searches_in_lanes_again() -> None:
    graph = _graph("hubs")
    sources = np.random.default_rng(5).integers(0, graph.n_vertices, 100)
    want = hpg.bfs(graph, sources=sources, parents=False).level
    divided = divide(graph.to("cuda"), _places()[-1])
    for _ in range(30):
        np.testing.assert_array_equal(to_device(hpg.bfs(divided, sources=sources, parents=False).level, "cpu"), want)


def test_sources_run_where_trials_were_faster() -> None:
    def tried(divided: list[float], whole: list[float]) -> tuple[int, bool]:
        """Number of trials, and the choice of the next call, for calls that take so many seconds."""
        strategies, left, calls = Strategies(), {True: divided[:], False: whole[:]}, 0
        while strategies.is_trying:
            on_all = strategies.choose()
            strategies.note(on_all, left[on_all].pop(0))
            calls += 1
        return calls, strategies.choose()

    # The first of each does not count, nor does what disturbs a later one.
    assert tried([90.0, 3.0, 3.0], [8.0, 5.0, 5.0]) == (6, True)
    assert tried([1.0, 3.0, 3.0], [8.0, 2.0, 9.0]) == (6, False)
    assert tried([9.0, 7.0, 3.0, 2.9, 2.7], [9.0, 2.8, 2.8, 2.8, 2.8]) == (10, True)

    graph = _graph("hubs")
    divided = divide(graph, ["cpu", "cpu"])
    want = hpg.bfs(graph, sources=[0, 7, 1500], parents=False).level
    for _ in range(7):
        np.testing.assert_array_equal(hpg.bfs(divided, sources=[0, 7, 1500], parents=False).level, want)


@pytest.mark.parametrize("weights", [[1.0, 2.0, 4.0, 64.0], [3.0, -2.0, 4.0, 1.0], [1.0, np.nan, 2.0, 3.0]])
def test_facts_of_the_weights_need_no_whole_graph(weights: list[float]) -> None:
    graph = hpg.Graph.from_edges([0, 70, 70, 190], [70, 0, 150, 3], weights, n_vertices=200, directed=True)
    divided = divide(graph, ["cpu", "cpu", "cpu"])
    facts, whole = facts_of(divided), facts_of(graph)
    np.testing.assert_allclose((facts.least, facts.mean), (whole.least, whole.mean))
    assert facts.has_nan == whole.has_nan
    longest = float(np.abs(weights).sum())
    assert np.isnan(longest) or facts.longest >= longest
    empty = hpg.Graph.from_edges([], [], n_vertices=200)
    assert facts_of(divide(empty, ["cpu", "cpu"])) == facts_of(empty)


def _refuse_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(arcs: InShards, size: int) -> None:
        raise DeviceMemoryError("the graph", 2, 1, "cuda")

    monkeypatch.setattr(InShards, "on_one_device", refuse)


def test_on_the_cpu_searches_go_superstep_by_superstep() -> None:
    graph = _graph("hubs")
    found = hpg.bfs(divide(graph, ["cpu", "cpu"]), 5)
    np.testing.assert_array_equal(found.level, hpg.bfs(graph, 5).level)
    assert str(found.trace.loop) == "supersteps: the arcs come in several parts"
