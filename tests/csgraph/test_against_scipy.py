"""csgraph's functions on whole graphs return what SciPy's return, on either device and for every kind of input."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph as theirs
from raising import raises

import hpgraph as hpg
from hpgraph import csgraph as ours
from hpgraph.csgraph.spanning_tree import lightest_tree
from hpgraph.formats import CSR

GRAPHS = [(1, 0.0), (5, 0.3), (60, 0.03), (300, 0.005), (300, 0.02)]


def random_graph(n: int, density: float, negative: bool = False) -> sp.csr_array:
    rng = np.random.default_rng(n)
    graph = sp.random_array((n, n), density=density, rng=rng, format="csr")
    graph.data = np.floor(graph.data * 10) + 1
    if negative:
        # Lengths of a potential's differences close no negative cycle.
        height = rng.integers(0, 20, n)
        rows = np.repeat(np.arange(n), np.diff(graph.indptr))
        graph.data += height[rows] - height[graph.indices]
    return graph


def moved(graph: sp.csr_array, device: str) -> Any:
    return graph if device == "cpu" else hpg.Matrix(graph).to("cuda").tocsr()


def home(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(home(part) for part in value)
    value = value.get() if hasattr(value, "get") else value
    return value.toarray() if sp.issparse(value) else value


def same(mine: Any, expected: Any) -> None:
    mine, expected = home(mine), home(expected)
    if isinstance(expected, tuple):
        assert len(mine) == len(expected)
        for one, other in zip(mine, expected, strict=True):
            np.testing.assert_allclose(one, other)
    else:
        np.testing.assert_allclose(mine, expected)


@pytest.mark.parametrize("most", [1, 100, 1 << 17])
def test_breadth_first_of_long_and_short_queues(most: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # On the GPU one block empties a queue of up to so many arcs, and a grid follows longer ones.
    monkeypatch.setattr("hpgraph.kernels.structure.cuda_fifo.MAX_ARCS", most)
    hub = random_graph(4000, 0.0006).tolil()
    hub[7, ::2] = 1
    path = sp.diags_array([np.ones(499)], offsets=[1], shape=(500, 500), format="csr")
    for graph in (hub.tocsr(), path):
        same(ours.breadth_first_order(moved(graph, device), 0), theirs.breadth_first_order(graph, 0))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", ["shortest_path", "dijkstra", "bellman_ford", "johnson"])
def test_shortest_paths(name: str, directed: bool, device: str) -> None:
    graph = random_graph(60, 0.03)
    expected = getattr(theirs, name)(graph, directed=directed, indices=[0, 7, 59])
    distance, before = getattr(ours, name)(
        moved(graph, device), directed=directed, indices=[0, 7, 59], return_predecessors=True
    )
    same(distance, expected)
    before, arcs = home(before), graph.toarray()
    if not directed:
        arcs = np.where((arcs > 0) & (arcs.T > 0), np.minimum(arcs, arcs.T), np.maximum(arcs, arcs.T))
    for row, start in enumerate((0, 7, 59)):
        for v in range(60):
            u = before[row, v]
            assert (u == -9999) == (v == start or np.isinf(expected[row, v]))
            if u >= 0:
                assert arcs[u, v] > 0 and expected[row, u] + arcs[u, v] == expected[row, v]


@pytest.mark.parametrize("name", ["bellman_ford", "johnson", "shortest_path", "floyd_warshall"])
def test_negative_lengths(name: str, device: str) -> None:
    graph = random_graph(60, 0.05, negative=True)
    assert graph.data.min() < 0
    same(getattr(ours, name)(moved(graph, device)), theirs.bellman_ford(graph))


def test_a_negative_cycle_is_both_libraries_error(device: str) -> None:
    graph = moved(sp.csr_array(np.array([[0, 1.0, 0], [0, 0, -3.0], [1.0, 0, 0]])), device)
    for kind in (theirs.NegativeCycleError, hpg.NegativeCycleError):
        for name in ("bellman_ford", "johnson", "shortest_path", "floyd_warshall"):
            with pytest.raises(kind):
                getattr(ours, name)(graph)


def test_limits_and_nearest(device: str) -> None:
    graph = random_graph(60, 0.05)
    for limit in (0, 9, np.inf):
        same(ours.dijkstra(moved(graph, device), limit=limit), theirs.dijkstra(graph, limit=limit))
    distance, before, source = home(
        ours.dijkstra(moved(graph, device), indices=[3, 50, 3], min_only=True, return_predecessors=True)
    )
    same(distance, theirs.dijkstra(graph, indices=[3, 50], min_only=True))
    each = theirs.dijkstra(graph, indices=[3, 50])
    for v in range(60):
        assert source[v] == -9999 if np.isinf(distance[v]) else each[[3, 50].index(source[v]), v] == distance[v]
        assert before[v] == -9999 or source[before[v]] == source[v]


def test_many_weak_components(device: str) -> None:
    # More than a million, so that a GPU numbers them by more thread blocks than a warp looks back at in one go.
    n = 1_500_000
    ends = np.random.default_rng(5).integers(0, n, (2, n // 4))
    graph = sp.csr_array((np.ones(n // 4), tuple(ends)), shape=(n, n))
    same(ours.connected_components(moved(graph, device), False), theirs.connected_components(graph, False))


@pytest.mark.parametrize(("n", "density"), GRAPHS)
def test_strong_components(n: int, density: float, device: str) -> None:
    graph = random_graph(n, density)
    count, label = theirs.connected_components(graph, connection="strong")
    for given in (moved(graph, device), hpg.Graph(graph).to(device)):
        found, mine = home(ours.connected_components(given, connection="strong"))
        assert found == count == len(set(zip(label, mine, strict=True)))
    engine = hpg.connected_components(hpg.Graph(graph).to(device), connection="strong")
    assert engine.count == count == len(set(zip(label, home(engine.label), strict=True)))
    # Numbered by the smallest vertex.
    _, first = np.unique(home(engine.label), return_index=True)
    assert (np.diff(first) > 0).all()


def strong_partition(graph: Any, source: Any, target: Any, n: int) -> None:
    matrix = sp.csr_array((np.ones(len(source)), (source, target)), shape=(n, n))
    _, label = theirs.connected_components(matrix, connection="strong")
    _, first = np.unique(label, return_index=True)
    found = home(hpg.connected_components(graph, connection="strong").label)
    # Numbered by the smallest vertex of each component.
    np.testing.assert_array_equal(found, np.argsort(np.argsort(first))[label])


def test_strong_components_of_small_graphs(device: str) -> None:
    rng = np.random.default_rng(0)
    for n in [0, 1, 1, 2, *rng.integers(2, 30, 60)]:
        # With loops and parallel arcs.
        source, target = rng.integers(0, max(n, 1), (2, rng.integers(0, 3 * n + 1)))
        graph = hpg.Graph.from_edges(source, target, n_vertices=n, directed=True).to(device)
        strong_partition(graph, source, target, n)


def test_many_strong_components(device: str) -> None:
    """More vertices on cycles than a GPU has warps, some cycles in a row, and a cycle of all kinds of lengths."""
    length = np.random.default_rng(3).integers(2, 30, 2000)
    end = np.cumsum(length)
    n = int(end[-1])
    following = np.arange(1, n + 1)
    following[end - 1] = end - length
    bridge = np.flatnonzero(np.arange(2000) % 3 > 0)
    source = np.concatenate((np.arange(n), end[bridge] - 2))
    target = np.concatenate((following, (end - length)[(bridge + 1) % 2000]))
    graph = hpg.Graph.from_edges(source, target, n_vertices=n, directed=True).to(device)
    strong_partition(graph, source, target, n)


def test_strong_components_around_a_hub(device: str) -> None:
    # Enough arcs that the component of a hub is found first; cycles before and behind it, and beside.
    rng = np.random.default_rng(1)
    n, side = 40_000, 12_000
    source, target = rng.integers(side, n - side, (2, 600_000))
    before, after = rng.integers(0, side, (2, 15_000)), rng.integers(n - side, n, (2, 15_000))
    joins = rng.integers(0, n - side, 500), rng.integers(side, n, 500)
    joins = np.sort(joins, axis=0)
    source = np.concatenate((source, before[0], after[0], joins[0]))
    target = np.concatenate((target, before[1], after[1], joins[1]))
    order = rng.permutation(n)
    source, target = order[source], order[target]
    graph = hpg.Graph.from_edges(source, target, n_vertices=n, directed=True).to(device)
    strong_partition(graph, source, target, n)
    strong_partition(hpg.StreamedGraph.of(graph), source, target, n)


@pytest.mark.parametrize(("n", "density"), GRAPHS)
def test_spanning_trees(n: int, density: float, device: str) -> None:
    graph = random_graph(n, density)
    expected = theirs.minimum_spanning_tree(graph)
    for tree in (
        ours.minimum_spanning_tree(moved(graph, device)),
        lightest_tree(CSR.from_scipy(graph).to(device)).to_scipy(),
    ):
        assert tree.nnz == expected.nnz and float(tree.sum()) == expected.sum()
        joined = sp.csr_array(home(tree))
        same(theirs.connected_components(joined, False), theirs.connected_components(graph, False))
    # Where no two weights are equal there is only one, each arc in the direction in which it is stored.
    graph.data[:] = np.random.default_rng(1).permutation(graph.nnz) + 1.0
    expected = theirs.minimum_spanning_tree(graph)
    same(ours.minimum_spanning_tree(moved(graph, device)), expected)
    same(lightest_tree(CSR.from_scipy(graph).to(device)).to_scipy(), expected)


def test_every_kind_of_graph_is_taken(device: str) -> None:
    dense = random_graph(5, 0.5).toarray()
    expected = theirs.shortest_path(dense)
    graph = hpg.Graph(sp.csr_array(dense), directed=True).to(device)
    given = [graph, hpg.Matrix(sp.csr_array(dense)).to(device), graph.out_csr.to_scipy()]
    if device == "cpu":
        given += [dense, sp.csc_matrix(dense), np.ma.masked_equal(dense, 0), dense.tolist()]
    else:
        import cupy

        given += [cupy.asarray(dense), cupy.asarray(np.where(dense == 0, np.nan, dense))]
    for one in given:
        same(ours.shortest_path(one), expected)


def test_mistakes_are_named(device: str) -> None:
    graph = moved(random_graph(5, 0.5), device)
    with pytest.raises(ValueError, match="must be square"):
        ours.shortest_path(moved(sp.csr_array((2, 3)), device))
    raises(ValueError, "method must be", ours.shortest_path, graph, method="A*")
    raises(ValueError, "indices out of range", ours.dijkstra, graph, indices=5)
    raises(TypeError, "whole numbers", ours.dijkstra, graph, indices=[0.5])
    raises(ValueError, "limit must not be negative", ours.dijkstra, graph, limit=-1)
    raises(ValueError, "connection must be", ours.connected_components, graph, connection="loose")
    raises(IndexError, "i_start 5", ours.breadth_first_order, graph, 5)
    with pytest.raises(AttributeError, match="no attribute 'steiner_tree'"):
        _ = ours.steiner_tree


def test_what_fills_blocks_is_no_edge() -> None:
    """As SciPy has it from 1.18 on."""
    blocks = sp.bsr_array(np.diag([1.0, 1, 0, 0]), blocksize=(2, 2))
    assert blocks.nnz == 4
    count, label = ours.connected_components(blocks, directed=False)
    assert count == 4 and label.tolist() == [0, 1, 2, 3]
    assert blocks.nnz == 4, "the caller's matrix stays as it is"
