"""Algorithms on graphs in pages, with so little memory that pages must come and go."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from arrays import host
from graphs_in_pages import streamed
from raising import raises
from reference_algorithms import levels, random_digraph

import hpgraph as hpg
from hpgraph.core.device import to_device
from hpgraph.engine.multi_source_totals import Levels

SMALL = random_digraph(200, 2400, seed=4)
SMALL.setdiag(SMALL.diagonal())
# Rows in order: before SciPy 1.17, and not by its word, what setdiag adds stands last.
SMALL = SMALL.tocsc().tocsr()
BOTH = SMALL.maximum(SMALL.T).tocsr()
SIMPLE = nx.from_scipy_sparse_array(BOTH)
SIMPLE.remove_edges_from(list(nx.selfloop_edges(SIMPLE)))


@pytest.fixture
def made(device, tmp_path):
    """Makes a graph in pages of 64 arcs, of which a few fit; tests/engine has the other kinds of pages."""
    return lambda matrix, directed, memory=24_000: streamed(matrix, device, "file", tmp_path, directed, memory=memory)


def test_arcs_of_both_directions(made):
    class Either(Levels):
        edges = "all"

    G = made(SMALL, True, 40_000)
    for direction in ("auto", "push", "pull"):
        found = host(hpg.run(Either, G, active=[7], direction=direction).level)
        assert (found == levels(BOTH, 7)).all(), direction

    class Degree(hpg.VertexProgram):
        edges = "all"
        reduce = "plus"
        degree = hpg.Property("int32", initial=0)

        def gather(source, weight, target):
            return 1

        def update(vertex, message):
            return message

    raises(hpg.StreamingError, r"message comes twice.*directed=False.*in_memory", hpg.run, Degree, G)


def test_columns_go_through_together(made, device):
    A, X = hpg.AdjacencyOperator(made(SMALL, True, 40_000)), np.random.default_rng(1).normal(size=(200, 3))
    assert np.allclose(host(A @ X), SMALL @ X) and np.allclose(host(A.rmatmat(X)), SMALL.T @ X)
    assert np.allclose(host(A.to_linear_operator() @ to_device(X, device)), SMALL @ X)
    raises(ValueError, "X must have 200 rows", A.matmat, X[:5])


def test_several_blocks_of_rows(made):
    from hpgraph.algorithms import triangles

    G, expected = made(BOTH, False), sum(nx.triangles(SIMPLE).values()) // 3
    with G.memory_for_arcs() as room:
        assert room // triangles._READ > 300, "a block has several rows"
        assert room // triangles._HELD < BOTH.nnz // 2, "and there are several blocks"
    assert triangles.count_triangles(G) == expected


def test_sums_of_distances(made):
    G, sources = made(SMALL, True, 40_000), [3, 90, 41]
    away = np.array([levels(SMALL.T.tocsr(), v) for v in sources])
    harmonic = [(1 / row[row > 0]).sum() for row in away]
    assert np.allclose(host(hpg.harmonic_centrality(G, sources)), harmonic)
    assert host(hpg.reach(G, sources, incoming=True)).tolist() == (away >= 0).sum(axis=1).tolist()
    forth = [levels(SMALL, v) for v in sources]
    assert (host(hpg.bfs(G.reverse(), sources=sources).level) == away).all()
    assert (host(hpg.bfs(G, sources=sources).level) == forth).all()
    found = hpg.sssp(G, sources=sources).distance
    for source, row in zip(sources, found, strict=True):
        assert np.allclose(host(row), host(hpg.sssp(G, source).distance))


def test_graph_properties(made):
    G, D = made(SMALL, True, 40_000), nx.from_scipy_sparse_array(SMALL, create_using=nx.DiGraph)
    for vertex in (0, 77, 199):
        assert host(G.neighbors(vertex)).tolist() == sorted(D.successors(vertex))
        assert host(G.predecessors(vertex)).tolist() == sorted(D.predecessors(vertex))
    assert host(G.degree).tolist() == [D.degree(v) for v in range(200)]
    pairs = np.random.default_rng(2).integers(0, 200, (2, 300))
    assert host(G.has_edge(*pairs)).tolist() == [D.has_edge(u, v) for u, v in pairs.T.tolist()]
    assert G.has_edge(*next(iter(D.edges))) and 7 in G and 200 not in G
    some = np.flatnonzero(np.arange(200) % 3 == 0)
    part = G.subgraph(some)
    assert type(part) is hpg.Graph and (part.to("cpu").out_csr.to_scipy() != SMALL[some][:, some]).nnz == 0
    blocks = [[host(array) for array in block] for block in G.edge_blocks()]
    source, target, weight = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    coo = SMALL.tocoo()
    assert (source == coo.row).all() and (target == coo.col).all() and (weight == coo.data).all()


def test_edges_once(made):
    blocks = [[host(array) for array in block[:2]] for block in made(BOTH, False).edge_blocks()]
    source, target = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    coo = BOTH.tocoo()
    assert sorted(zip(source, target, strict=True)) == sorted(
        (u, v) for u, v in zip(coo.row, coo.col, strict=True) if u <= v
    )
    (whole,) = hpg.Graph(BOTH, directed=False).edge_blocks()
    assert (whole.source == source).all() and (whole.target == target).all()


@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_without_arcs(directed, made):
    """It has no pages, and nothing to read."""
    G = made(scipy.sparse.csr_array((5, 5)), directed)
    assert host(hpg.bfs(G, 3).level).tolist() == [-1, -1, -1, 0, -1]
    assert host(hpg.sssp(G, 3).distance).tolist() == [np.inf, np.inf, np.inf, 0, np.inf]
    assert host(hpg.connected_components(G)).tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(host(hpg.pagerank(G).rank), np.full(5, 0.2))
    assert host(hpg.core_number(G)).tolist() == host(hpg.closeness_centrality(G)).tolist() == [0] * 5
    assert host(hpg.heat_kernel(G, np.arange(5.0))).tolist() == [0, 1, 2, 3, 4]
