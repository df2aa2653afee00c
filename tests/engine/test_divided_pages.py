"""Graphs in pages of which several devices each stream their own: the tests of graphs in pages, and what is added."""

import numpy as np
import programs
import pytest
import test_run
import test_streaming
from arrays import host
from graphs_in_pages import in_file
from raising import raises
from reference_algorithms import SMALL
from test_divided import device  # noqa: F401

import hpgraph as hpg
from hpgraph.containers.divided_streamed_graph import DividedStreamedGraph
from hpgraph.core.errors import BudgetError
from hpgraph.formats import Pages
from hpgraph.kernels.pages import cut

BOTH = test_streaming.BOTH


def _divided(matrix, places, folder, directed, **options):
    whole = hpg.Graph(matrix, directed=directed)
    out, into = (cut(csr, arcs_per_page=64) for csr in (whole.out_csr, whole.in_csr))
    if folder is not None:
        out, into = in_file(out, folder, "out"), in_file(into, folder, "in")
    assert isinstance(out, Pages)
    options = {"memory": 20_000} | options
    return DividedStreamedGraph(out, into if directed else None, directed=directed, devices=places, **options)


@pytest.fixture(params=[False, True], ids=["array", "file"])
def G(request, places, tmp_path):
    return _divided(SMALL, places, tmp_path if request.param else None, True)


@pytest.fixture
def undirected(places, tmp_path):
    return _divided(BOTH, places, tmp_path, False)


test_ranks = test_streaming.test_ranks
test_shortest_paths = test_streaming.test_shortest_paths
test_searches_from_several = test_streaming.test_searches_from_several


def test_programs(G, device):  # noqa: F811
    test_streaming.test_breadth_first("auto", G)
    test_streaming.test_widest_path("pull", G, device)


def test_each_brings_its_own(G):
    assert len(G.shards) == 2 and "Divided" in repr(G) and G.bounds[-1] == 200
    twice = sum(shard.graph.n_edges for shard in G.shards)
    # A page with rows of both goes to both.
    assert G.n_edges <= twice <= G.n_edges + 2 * 64
    hpg.pagerank(G, max_iteration=2, tol=0)
    assert all(shard.graph.moved > 0 for shard in G.shards) or not G.moved
    ranks = hpg.pagerank(G, gather=False).rank
    assert [len(piece) for piece in ranks.pieces] == np.diff(G.bounds).tolist()
    assert (np.asarray(ranks) == host(hpg.pagerank(G).rank)).all()


def test_a_program_of_its_own_reduce_and_the_graph_whole(undirected):
    assert (host(hpg.run(programs.WidestInPlace, undirected, active=[3]).width) == test_run.widest(BOTH, 3)).all()
    turned = undirected.reverse()
    assert turned is undirected and type(undirected.in_memory()) is hpg.Graph


def test_a_budget_that_is_too_small(places, tmp_path):
    raises(BudgetError, r"memory.*at least", _divided, SMALL, places, tmp_path, True, memory=1_000)


def test_few_vertices(places):
    graph = DividedStreamedGraph.of_graph(hpg.Graph.from_edges([0, 1], [1, 2], [2.0, 1.0], 40), places)
    assert host(hpg.run(programs.WidestInPlace, graph, active=[0]).width).tolist()[1:4] == [2, 1, 0]
