"""Graphs in parts, on one device and on two GPUs: bodies of other tests once more, and what parts add to them."""

import networkx as nx
import numpy as np
import programs
import pytest
import scipy.sparse.csgraph
import test_phases
import test_run
from arrays import host
from busy_stream import made_ready, spin
from raising import raises
from reference_algorithms import SMALL, check_tree, levels

import hpgraph as hpg
from hpgraph.containers.divided_graph import divide
from hpgraph.core.devices import place_of
from hpgraph.engine import multi_gpu
from hpgraph.kernels.sweep import cuda_divided
from hpgraph.scipy_api.divided_matrix import divide_matrix


@pytest.fixture(autouse=True)
def sweeps_divided(monkeypatch):
    """Sweeps over graphs as small as these would stay on one device."""
    monkeypatch.setattr(multi_gpu, "LAUNCHES", 0.0)


@pytest.fixture
def device(places):
    return places[0].partition(":")[0]


@pytest.fixture(params=[False, True], ids=["ranges", "scattered"])
def G(request, places):
    return divide(hpg.Graph(SMALL, directed=True), places, scatter=request.param)


test_widest_path = test_run.test_widest_path
test_components = test_run.test_components
test_all_vertices_are_updated_in_every_superstep = test_run.test_all_vertices_are_updated_in_every_superstep
test_conditions_of_a_search = test_run.test_conditions_of_a_search
test_conditions_of_a_relaxation = test_run.test_conditions_of_a_relaxation
test_without_update_the_message_joins_the_property = test_run.test_without_update_the_message_joins_the_property
test_a_run_that_is_cut_off_goes_on_from_there = test_run.test_a_run_that_is_cut_off_goes_on_from_there
test_luby = test_phases.test_luby


def test_sums_over_all_parts_decide_when_to_stop(places):
    small = divide(hpg.Graph(SMALL / 40, directed=True), places)
    test_run.check_sums(small)
    rank = hpg.pagerank(small, weight=True, tol=1e-12).rank
    assert np.allclose(host(rank), hpg.pagerank(hpg.Graph(SMALL, directed=True), weight=True, tol=1e-12).rank)
    assert "whole" not in small._layouts


def test_short_sweeps_stay_on_one_device(places, monkeypatch):
    graph = divide(hpg.Graph(SMALL / 40, directed=True), places)
    divided = hpg.run(programs.Halving, graph)
    monkeypatch.setattr(multi_gpu, "LAUNCHES", 1.0)
    alone = hpg.run(programs.Halving, graph)
    stays = "; on one device, as supersteps are too small for several"
    # On the CPU one device has all threads: its parts are swept one after the other, however small.
    assert stays not in divided.trace.explain() and (stays in alone.trace.explain()) == (places[0] != "cpu")
    assert alone.supersteps == divided.supersteps and np.allclose(host(alone.value), host(divided.value), rtol=1e-12)
    assert np.isclose(alone.world["change"], divided.world["change"])
    apart = hpg.run(programs.Halving, graph, gather=False)
    assert (np.asarray(apart.value) == host(alone.value)).all()


def test_gpus_without_access_to_each_other_copy(places, monkeypatch):
    if places[0] == "cpu":
        pytest.skip("the CPU has one memory")
    graph = divide(hpg.Graph(SMALL / 40, directed=True), places)
    ranks, sums = hpg.pagerank(graph), hpg.run(programs.Halving, graph)
    monkeypatch.setattr("hpgraph.kernels.sweep.cuda_divided.reach_each_other", lambda devices: False)
    again, copied = hpg.pagerank(graph), hpg.run(programs.Halving, graph)
    assert (host(again.rank) == host(ranks.rank)).all() and again.iterations == ranks.iterations
    assert (host(copied.value) == host(sums.value)).all() and copied.world == sums.world


def test_updates_wait_for_sums(places, monkeypatch):
    # The dangling sum, of the end of the path, is part of every vertex's next rank.
    graph = divide(hpg.Graph.from_edges(range(199), range(1, 200)), places)

    def ranks():
        return host(hpg.pagerank(graph, tol=0, max_iteration=3).rank)

    want = ranks()
    if places[0] != "cpu":
        made_ready()
        conclude = cuda_divided.conclude
        monkeypatch.setattr(cuda_divided, "conclude", lambda *given: (spin(), conclude(*given)))
    assert (ranks() == want).all()


def test_a_part_without_vertices(places):
    graph = divide(hpg.Graph.from_edges([0, 1], [1, 2], [2.0, 1.0], 40), places)
    assert graph.bounds[1] in (0, 40)
    assert host(hpg.run(programs.Widest, graph, active=[0]).width).tolist()[1:4] == [2, 1, 0]
    assert host(hpg.run(programs.Counter, graph, max_iteration=2).times).tolist() == [2] * 40


def test_options_of_searches(G):
    """What they find without these, `test_placements` compares."""
    distance = scipy.sparse.csgraph.dijkstra(SMALL, indices=3)
    cut = host(hpg.sssp(G, 3, cutoff=20).distance)
    assert (cut == np.where(distance <= 20, distance, np.inf)).all()
    for sources in ([3], [3, 9]):
        found = host(hpg.sssp(G, sources=sources).distance)
        assert (found == scipy.sparse.csgraph.dijkstra(SMALL, indices=sources)).all()
    tree = hpg.bfs(G, 3, parents=True)
    assert (host(tree.level) == levels(SMALL, 3)).all()
    check_tree(SMALL, 3, host(tree.level), host(tree.parent))
    rank = hpg.pagerank(G, tol=1e-12)
    assert rank.converged and rank.trace.supersteps == rank.iterations
    both = hpg.Graph(SMALL, directed=True)
    for function in (hpg.triangles, hpg.betweenness_centrality):
        np.testing.assert_allclose(host(function(G)), function(both), rtol=1e-9)


def test_cores_are_peeled_on_the_shards(places):
    """Where the arcs do not all fit the first device, until the remainder does; the whole is then never gathered."""
    both = SMALL.maximum(SMALL.T).tocsr()
    for matrix, directed, kind, least in ((both, False, nx.Graph, 40_000), (SMALL, True, nx.DiGraph, 60_000)):
        plain = kind(matrix)
        plain.add_nodes_from(range(200))
        plain.remove_edges_from(list(nx.selfloop_edges(plain)))
        core = nx.core_number(plain)
        for memory in (least, 1 << 30):
            graph = divide(hpg.Graph(matrix, directed=directed), places, scatter=True, memory=memory)
            with graph.memory_for_arcs() as room:
                # Only the second has room for all arcs.
                assert (room >= (40 if directed else 12) * graph.n_edges) == (memory > least)
            assert host(hpg.core_number(graph)).tolist() == [core[v] for v in range(200)]
            inner = hpg.k_core(graph)
            assert list(inner) == [v for v in range(200) if core[v] == max(core.values())]
            expected = hpg.k_core(hpg.Graph(matrix, directed=directed))
            assert (inner.to("cpu").out_csr.to_scipy() != expected.out_csr.to_scipy()).nnz == 0
            assert "whole" not in graph._layouts


def test_values_stay_apart(places, G):
    far = hpg.run(programs.Widest, G, active=[3], gather=False)
    together = hpg.run(programs.Widest, G, active=[3])
    for values, expected in ((far.width, together.width), (hpg.pagerank(G, gather=False).rank, hpg.pagerank(G).rank)):
        assert isinstance(values, hpg.DividedArray) and len(values) == 200 and values.shape == expected.shape
        assert [len(piece) for piece in values.pieces] == np.diff(G.bounds).tolist()
        assert list(values.devices) == [place_of(shard.out_csr.indices) for shard in G.shards]
        for number, piece in enumerate(values.pieces):
            assert (host(piece) == host(expected)[host(values.vertices(number))]).all()
        assert (np.asarray(values) == host(expected)).all() and (host(values.gather()) == host(expected)).all()
    assert far.top(20) == together.top(20)
    tree, searched = hpg.bfs(G, 3, gather=False), hpg.bfs(G, 3)
    assert isinstance(tree.parent, hpg.DividedArray) and (np.asarray(tree.level) == host(searched.level)).all()
    farthest = int(host(searched.level).argmax())
    assert len(tree.path_to(farthest)) == len(searched.path_to(farthest))
    # They begin the next run, or enter a product, whose bounds are others.
    rank = hpg.pagerank(G, gather=False).rank
    for name in ("start", "personalization"):
        again = hpg.pagerank(G, gather=False, **{name: rank}).rank
        assert (np.asarray(again) == host(hpg.pagerank(G, **{name: rank.gather()}).rank)).all()
    wider = hpg.run(programs.Widest, G, active=[9], width=far.width).width
    assert (host(wider) == host(hpg.run(programs.Widest, G, active=[9], width=together.width).width)).all()
    moved = divide_matrix(hpg.Matrix(SMALL), places) @ rank
    assert isinstance(moved, hpg.DividedArray)
    assert np.allclose(np.asarray(moved), SMALL @ np.asarray(rank), rtol=1e-12)
    assert np.allclose(np.asarray(rank.map(lambda a, b: a + b, rank.gather())), 2 * np.asarray(rank))


def test_apart_is_the_old_name_of_gather(places):
    graph = divide(hpg.Graph(SMALL, directed=True), places)
    with pytest.warns(DeprecationWarning, match="gather=False"):
        assert isinstance(hpg.pagerank(graph, apart=True).rank, hpg.DividedArray)
    with pytest.warns(DeprecationWarning, match="gather=False"):
        assert isinstance(hpg.bfs(graph, 0, apart=True).level, hpg.DividedArray)


def test_what_cannot_stay_apart(places):
    whole = hpg.Graph(SMALL, directed=True)
    graph = divide(whole, places)
    for call in (lambda: hpg.pagerank(whole, gather=False), lambda: hpg.run(programs.Widest, whole, gather=False)):
        raises(ValueError, "gather=False takes a graph on several GPUs", call)
    raises(ValueError, "gather=False takes a graph on several GPUs", hpg.bfs, whole, 0, gather=False)
    for options in ({"sources": [0, 1]}, {"source": 0, "deterministic": True}):
        raises(ValueError, "one source", hpg.bfs, graph, gather=False, **options)
    raises(ValueError, "one start", hpg.run, programs.Widest, graph, active=[[1], [2]], gather=False)
    raises(ValueError, "one personalization", hpg.pagerank, graph, method="delta", gather=False)
    with pytest.raises(ValueError, match=r"x must have shape \(200,\)"):
        divide_matrix(hpg.Matrix(SMALL), places) @ hpg.DividedArray([np.ones(3)])
