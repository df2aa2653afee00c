"""Several threads use one graph at once, in memory, in pages, and in parts of either."""

import sys
import threading

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph
from arrays import host
from graphs_in_pages import in_file, streamed
from reference_algorithms import levels, random_digraph

import hpgraph as hpg
from hpgraph.engine.multi_source_totals import Levels

SMALL = random_digraph(200, 2400, seed=4)
SMALL.setdiag(SMALL.diagonal())
# Rows in order: before SciPy 1.17, and not by its word, what setdiag adds stands last.
SMALL = SMALL.tocsc().tocsr()
COO = SMALL.tocoo()
# Some of the loops are stored zeros, which are arcs all the same.
ARCS = nx.DiGraph(list(zip(COO.row.tolist(), COO.col.tolist(), strict=True)))
RANK = nx.pagerank(ARCS, tol=1e-12)
LABEL = scipy.sparse.csgraph.connected_components(SMALL, directed=True, connection="weak")[0]


def at_once(asked):
    """Call functions in a thread each, all at once; raise what one of them raised."""
    raised, start = [], threading.Barrier(len(asked))

    def ask(one):
        start.wait()
        try:
            one()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=ask, args=(one,), daemon=True) for one in asked]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    finally:
        sys.setswitchinterval(usual)
    assert not any(thread.is_alive() for thread in threads), "one waits for ever"
    if raised:
        raise raised[0]


def search(G, source):
    found = hpg.bfs(G, source)
    assert (host(found.level) == levels(SMALL, source)).all()


def paths(G, source):
    wanted = scipy.sparse.csgraph.dijkstra(SMALL, indices=source)
    assert np.allclose(host(hpg.sssp(G, source).distance), wanted)


def ranks(G, source):
    found = hpg.pagerank(G, tol=1e-10, weight=None).rank
    assert np.allclose(host(found), [RANK[v] for v in range(200)], atol=1e-8)


def components(G, source):
    assert hpg.connected_components(G).count == LABEL


def backwards(G, source):
    class Back(Levels):
        edges = "out"

    assert (host(hpg.run(Back, G, active=[source]).level) == levels(SMALL.T.tocsr(), source)).all()


def rows(G, source):
    for vertex in range(source, source + 5):
        assert host(G.neighbors(vertex)).tolist() == SMALL.indices[slice(*SMALL.indptr[vertex : vertex + 2])].tolist()


def edges(G, source):
    if not hasattr(G, "edge_blocks"):
        return
    found = [[host(array) for array in block] for block in G.edge_blocks()]
    for array, wanted in zip(zip(*found, strict=True), (COO.row, COO.col, COO.data), strict=True):
        assert (np.concatenate(array) == wanted).all()


def products(G, source):
    X = np.random.default_rng(source).normal(size=(200, 2))
    assert np.allclose(host(hpg.AdjacencyOperator(G) @ X), SMALL @ X)


ALL = [search, ranks, edges, paths, components, backwards, rows, products]


@pytest.fixture(params=["memory", "file", "gaps", "parts", "parts of pages"])
def G(request, device, tmp_path):
    if request.param == "memory":
        return hpg.Graph(SMALL).to(device)
    if "parts" not in request.param:
        return streamed(SMALL, device, request.param, tmp_path, True, memory=40_000)
    places = ["cpu", "cpu"] if device == "cpu" else ["cuda:0", "cuda:0"]
    if request.param == "parts":
        from hpgraph.containers.divided_graph import divide

        return divide(hpg.Graph(SMALL), places)
    from hpgraph.containers.divided_streamed_graph import DividedStreamedGraph
    from hpgraph.kernels.pages import cut

    whole = hpg.Graph(SMALL)
    out, into = (in_file(cut(csr, arcs_per_page=64), tmp_path, name) for csr, name in (
        (whole.out_csr, "out"), (whole.in_csr, "in")))  # fmt: skip
    return DividedStreamedGraph(out, into, directed=True, devices=places, memory=40_000)


def test_each_gets_its_own_answer(G):
    at_once([lambda k=k: [ALL[(k + turn) % 8](G, 20 * k) for turn in range(2)] for k in range(8)])


def test_one_algorithm_from_many_sources(in_pages):
    at_once([lambda k=k: [search(in_pages, source) for source in range(k, 200, 29)] for k in range(8)])


@pytest.fixture(params=["file", "gaps"])
def in_pages(request, device, tmp_path):
    return streamed(SMALL, device, request.param, tmp_path, True, memory=40_000)


def test_a_graph_is_used_between_its_blocks(in_pages):
    found = []
    for k, (block, other) in enumerate(zip(in_pages.edge_blocks(), in_pages.edge_blocks(), strict=True)):
        ALL[k % 8](in_pages, k)
        found.append([host(array) for array in block])
        assert all((a == b).all() for a, b in zip(block, other, strict=True))
    assert len(found) > 1
    for array, wanted in zip(zip(*found, strict=True), (COO.row, COO.col, COO.data), strict=True):
        assert (np.concatenate(array) == wanted).all()


def test_abandoned_blocks_do_not_block_runs(in_pages):
    left = in_pages.edge_blocks()
    next(left)
    at_once([lambda: search(in_pages, 3), lambda: edges(in_pages, 3)])
    rest = [host(block.source) for block in left]
    assert len(rest) and rest[-1][-1] == COO.row[-1]


def test_an_error_leaves_the_graph_to_others(device, tmp_path):
    negative = SMALL.copy()
    negative.data[-2000] = -1
    G = streamed(negative, device, "file", tmp_path, True, memory=40_000)
    # What was raised is kept, and with it the pass that it left half way.
    kept = []
    for _ in range(3):
        with pytest.raises(ValueError, match="weights must be finite") as error:
            hpg.label_spreading(G, {3: 0, 50: 1}, max_iteration=2)
        kept.append(error)
        at_once([lambda: search(G, 3), lambda: ranks(G, 0)])
        search(G, 9)


def test_an_interrupt_leaves_the_graph_to_others(in_pages):
    def stop(world):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hpg.run(hpg.Phases([Levels], until=stop), in_pages, active=[3])
    at_once([lambda: search(in_pages, 3), lambda: ranks(in_pages, 0)])


def test_a_condition_may_read_the_graph(in_pages):
    def asks(world):
        search(in_pages, 5)
        edges(in_pages, 5)
        return True

    found = hpg.run(hpg.Phases([Levels], until=asks), in_pages, active=[3])
    assert (host(found.level) == levels(SMALL, 3)).all()
