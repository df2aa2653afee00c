"""Several threads ask the blocks of one client at once."""

import threading

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph

import hpgraph as hpg
from tests.cluster.conftest import matrix_of, sparse_graph


@pytest.mark.parametrize("count", [2, 8])
def test_each_gets_its_own_answer(client, count) -> None:
    graph = sparse_graph(1)
    A = matrix_of(graph)
    hops = scipy.sparse.csgraph.shortest_path(A, unweighted=True)
    lengths = scipy.sparse.csgraph.dijkstra(A)
    ranks = nx.pagerank(nx.from_scipy_sparse_array(A != 0, create_using=nx.DiGraph), tol=1e-12)

    def search(C, source):
        assert (C.bfs(source, restarts=0).level == np.where(np.isinf(hops[source]), -1, hops[source])).all()

    def paths(C, source):
        np.testing.assert_allclose(C.sssp(source, restarts=0).distance, lengths[source], rtol=1e-6)

    def rank(C, source):
        np.testing.assert_allclose(C.pagerank(tol=1e-10, restarts=0).rank, [ranks[v] for v in range(300)], atol=1e-9)

    raised, start = [], threading.Barrier(count)

    def ask(C, k):
        start.wait()
        try:
            for turn in range(2):
                (search, rank, paths)[(k + turn) % 3](C, 7 + 11 * k)
        except BaseException as error:
            raised.append(error)

    # Where two runs have some of the workers each, both end after these seconds.
    limits = hpg.cluster.Limits(connect=10)
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4) as C:
        # Workers compile for longer than that on slow machines.
        for work in (search, rank, paths):
            work(C, 7)
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4, limits=limits) as C:
        threads = [threading.Thread(target=ask, args=(C, k), daemon=True) for k in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(100)
        assert not any(thread.is_alive() for thread in threads), "one waits for ever"
    if raised:
        raise raised[0]
