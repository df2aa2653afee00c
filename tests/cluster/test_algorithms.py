"""Algorithms over four blocks in two processes give what SciPy and NetworkX give."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph

import hpgraph as hpg
from benchmarks import cluster_cost as cost
from hpgraph.algorithms.bfs import Tree
from hpgraph.algorithms.distances import SingleDistances
from tests.cluster.conftest import matrix_of, on_each_device, sparse_graph


@pytest.fixture(scope="module")
def graph():
    return sparse_graph(1)


@pytest.fixture(scope="module", params=["cpu", "cuda"])
def on_cluster(request, client, graph):
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4, device=on_each_device(request)) as C:
        yield C


def test_the_grid_has_every_arc_once(on_cluster, graph) -> None:
    assert on_cluster.n_edges == graph.n_edges
    assert (on_cluster.grid.rows, on_cluster.grid.columns, len(set(on_cluster.placed.values()))) == (2, 2, 2)


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_bfs(on_cluster, graph, direction) -> None:
    found = on_cluster.bfs(7, direction=direction)
    hops = scipy.sparse.csgraph.shortest_path(matrix_of(graph), unweighted=True, indices=7)
    assert (found.level == np.where(np.isinf(hops), -1, hops)).all()
    reached = np.flatnonzero(found.level > 0)
    assert (found.level[found.parent[reached]] == found.level[reached] - 1).all()
    assert (matrix_of(graph)[found.parent[reached], reached] != 0).all()


def test_pagerank(on_cluster, graph) -> None:
    found = on_cluster.pagerank(tol=1e-10)
    wanted = nx.pagerank(nx.from_scipy_sparse_array(matrix_of(graph) != 0, create_using=nx.DiGraph), tol=1e-12)
    assert found.converged
    np.testing.assert_allclose(found.rank, [wanted[v] for v in range(graph.n_vertices)], atol=1e-9)


@pytest.mark.parametrize("order", ["given", "scattered"])
def test_sssp_by_buckets(client, order, device) -> None:
    side = 24
    source, target = nx.to_scipy_sparse_array(nx.grid_2d_graph(side, side)).nonzero()
    weight = np.random.default_rng(8).random(len(source)).astype(np.float32)
    # Arcs of no length, and a vertex that nothing reaches.
    weight[weight < 0.01] = 0
    some = target != side * side - 1
    graph = hpg.Graph.from_edges(source[some], target[some], weight[some], n_vertices=side * side)
    doubled = matrix_of(graph).astype(np.float64)
    doubled.data[doubled.data == 0] = 1e-300
    wanted = scipy.sparse.csgraph.dijkstra(doubled, indices=5)
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4, order=order, device=device) as C:
        found = C.sssp(5, parents=True)
        np.testing.assert_allclose(found.distance, wanted, rtol=1e-5)
        near = np.where(wanted <= 3.3, wanted, np.inf)
        np.testing.assert_allclose(C.sssp(5, cutoff=3.3).distance, near, rtol=1e-5)
        # The same minima, whatever the bound and in whatever steps it is raised.
        for delta in (0.02, 1e9, None):
            again = C.run(SingleDistances, active=hpg.id(5), delta=delta)
            assert (again.distance == found.distance).all()
        hops = C.run(SingleDistances, active=hpg.id(5), direction="push")
        assert (hops.distance == found.distance).all()
        if order == "given":
            assert len(again.trace) < len(hops.trace) / 3
        with pytest.raises(ValueError, match="delta"):
            C.run(Tree, active=hpg.id(5), delta=1.0)
    reached = np.flatnonzero(np.isfinite(wanted) & (np.arange(side * side) != 5))
    before = found.parent[reached]
    tight = found.distance[before] + matrix_of(graph)[before, reached].astype(np.float32)
    assert (tight.astype(np.float32) == found.distance[reached]).all()


@pytest.mark.parametrize("shape", [(2, 3), (3, 1)])
def test_triangles(client, graph, shape) -> None:
    rng = np.random.default_rng(4)
    ends = rng.integers(0, 120, (2, 900))
    dense = hpg.Graph.from_edges(*ends, n_vertices=120, directed=False)
    wanted = nx.triangles(nx.Graph(ends.T[ends[0] != ends[1]].tolist()))
    with hpg.cluster.Graph.from_graph(client, dense, shape=shape, order="scattered") as C:
        found = C.triangles()
        assert found.tolist() == [wanted.get(v, 0) for v in range(120)] and found.max() > 9
        assert C.triangle_count() == sum(wanted.values()) // 3
        assert (C.triangles(gather=False).compute() == found).all()
    with (
        hpg.cluster.Graph.from_graph(client, graph, shape=shape) as C,
        pytest.raises(ValueError, match="triangles are of undirected graphs"),
    ):
        C.triangles()


def test_products(on_cluster, graph) -> None:
    X = np.random.default_rng(6).random((graph.n_vertices, 2))
    np.testing.assert_allclose(on_cluster @ X, matrix_of(graph) @ X)
    np.testing.assert_allclose(on_cluster @ X[:, 1], matrix_of(graph) @ X[:, 1])
    with pytest.raises(ValueError, match=r"row for each of 300 vertices, not the shape \(299,\)"):
        on_cluster @ X[1:, 0]


def test_components_and_cores_and_betweenness(client, on_cluster, graph) -> None:
    count, label = scipy.sparse.csgraph.connected_components(matrix_of(graph), connection="weak")
    found = on_cluster.connected_components()
    assert found.count == count
    assert len(np.unique(np.stack([label, found.label]), axis=1).T) == count
    undirected = nx.from_scipy_sparse_array(matrix_of(graph.undirected))
    undirected.remove_edges_from(list(nx.selfloop_edges(undirected)))
    device = on_cluster.blocks_on
    with hpg.cluster.Graph.from_graph(client, graph.undirected, blocks=4, device=device) as C:
        cores = nx.core_number(undirected)
        assert C.core_number().tolist() == [cores[v] for v in range(graph.n_vertices)]
    small = sparse_graph(9, n=40, m=60)
    with hpg.cluster.Graph.from_graph(client, small, blocks=4, device=device) as C:
        directed = nx.from_scipy_sparse_array(matrix_of(small), create_using=nx.DiGraph)
        wanted = nx.betweenness_centrality(directed)
        np.testing.assert_allclose(C.betweenness_centrality(), [wanted[v] for v in range(40)], atol=1e-12)


def test_bytes_are_those_of_the_model(on_cluster) -> None:
    shape = cost.Shape(on_cluster.n_vertices, on_cluster.n_edges, 2, 2)
    for call, traits in (
        (on_cluster.pagerank, cost.PAGERANK), (lambda: on_cluster.bfs(7), cost.BFS),
        (lambda: on_cluster.sssp(7), cost.SSSP),
    ):  # fmt: skip
        trace = call().trace
        after = np.append(trace.active[1:], 0)
        rows = zip(after, trace.messages, trace.raises, strict=True)
        predicted = sum(cost.superstep_bytes(shape, traits, *row) for row in rows)
        assert 1 / 1.1 <= trace.sent.sum() / predicted <= 1.1
