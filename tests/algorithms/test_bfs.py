"""Breadth-first search against SciPy's, by what any breadth-first tree satisfies, and on ugly inputs."""

import numpy as np
import pytest
import scipy.sparse
from arrays import graph, tree_of
from graph_shapes import ENDS, from_and_to, shape
from raising import raises
from reference_algorithms import GRAPHS, check_tree, hubs, levels, random_digraph, smallest_parents, sources, stored

import hpgraph as hpg
from hpgraph.core.device import cuda_available, device_of


@pytest.fixture(params=["cpu", "one thread", *(["cuda"] if cuda_available() else [])])
def device(request, monkeypatch):
    """Each device in turn, the CPU twice: of small graphs as well, searches by several threads and by one."""
    arcs = 1 << 20 if request.param == "one thread" else 0
    monkeypatch.setattr("hpgraph.kernels.traversal.cpu.LONE_THREAD_ARCS", arcs)
    return "cuda" if request.param == "cuda" else "cpu"


def arcs(source, target, n=None, device="cpu"):
    return hpg.Graph.from_edges(source, target, n_vertices=n).to(device)


def test_small(device):
    G = arcs([0, 0, 1, 2, 3], [1, 2, 3, 3, 0], 5, device)
    found = hpg.bfs(G, 0, deterministic=True)
    assert device_of(found.level, found.parent) == device
    assert found.level.dtype == np.int32 and found.parent.dtype == G.out_csr.indices.dtype
    level, parent = tree_of(found)
    assert level.tolist() == [0, 1, 1, 2, -1]
    assert parent.tolist() == [0, 0, 0, 1, -1]
    assert "5 vertices" in repr(found)


@pytest.mark.parametrize("name", GRAPHS)
def test_real_graphs(data_dir, name, device):
    csr = stored(data_dir, name)
    G = graph(csr, device)
    row = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    for i, source in enumerate(sources(csr)):
        expected = levels(csr, source)
        level, parent = tree_of(hpg.bfs(G, source))
        assert (level == expected).all()
        check_tree(csr, source, level, parent)
        # No arc leads down by more than one level, and none from what is reached to what is not.
        begin, end = level[row], level[csr.indices]
        assert ((begin < 0) | ((end >= 0) & (end <= begin + 1))).all()
        if not G.directed:
            assert (np.abs(end - begin) <= 1).all()
        if i < 2:
            assert (tree_of(hpg.bfs(G, source, deterministic=True))[1] == smallest_parents(csr, expected)).all()
            for direction in ("push", "pull"):
                level, parent = tree_of(hpg.bfs(G, source, direction=direction))
                assert (level == expected).all()
                check_tree(csr, source, level, parent)


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
def test_directions(direction, device):
    csr = random_digraph(3000, 40_000, seed=1)
    found = hpg.bfs(graph(csr, device), 5, direction=direction)
    level, parent = tree_of(found)
    assert (level == levels(csr, 5)).all()
    check_tree(csr, 5, level, parent)
    used = set(found.trace.direction.tolist())
    assert used == {"push", "pull"} if direction == "auto" else used == {direction}
    assert found.trace.active.sum() == (level >= 0).sum()


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
def test_hubs(direction, device):
    csr = hubs(30_000, 400_000, seed=5, exponent=3)
    assert np.diff(csr.indptr).max() > 5000
    G, source = graph(csr, device), int(np.flatnonzero(np.diff(csr.indptr) == 1)[0])
    level, parent = tree_of(hpg.bfs(G, source, direction=direction))
    assert (level == levels(csr, source)).all()
    check_tree(csr, source, level, parent)


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
def test_adjacent_hubs_with_few_in_neighbours(direction, device):
    """Hubs with thousands of in-neighbours, of which only the last becomes active; other hubs are unreachable."""
    hubs, leaves, deaf = np.arange(64, 96), np.arange(1000, 4000), np.arange(128, 160)
    others = leaves[:-1]
    source = np.r_[np.arange(6), np.tile(leaves, len(hubs)), hubs, np.tile(others, len(deaf))]
    target = np.r_[np.arange(1, 6), leaves[-1], np.repeat(hubs, len(leaves)), hubs + 500, np.repeat(deaf, len(others))]
    csr = scipy.sparse.csr_array((np.ones(len(source)), (source, target)), shape=(4100, 4100))
    level, parent = tree_of(hpg.bfs(graph(csr, device), 0, direction=direction))
    assert (level == levels(csr, 0)).all() and (level[hubs] == 7).all() and (level[deaf] == -1).all()
    check_tree(csr, 0, level, parent)


@pytest.mark.skipif(not cuda_available(), reason="no CUDA device")
def test_a_push_that_reaches_many():
    """The GPU pushes in two passes if a superstep reaches some 140,000 of these vertices."""
    csr = random_digraph(400_000, 5_000_000, seed=4)
    level, parent = tree_of(hpg.bfs(graph(csr, "cuda"), 5, direction="push"))
    assert np.bincount(level[level >= 0]).max() > 200_000
    assert (level == levels(csr, 5)).all()
    check_tree(csr, 5, level, parent)


def test_a_policy_of_ones_own(device):
    csr = random_digraph(3000, 40_000, seed=1)
    found = hpg.bfs(graph(csr, device), 5, direction=hpg.Direction(alpha=2.0))
    assert set(found.trace.direction.tolist()) == {"push"}
    assert (tree_of(found)[0] == levels(csr, 5)).all()


def test_without_parents(device):
    csr = random_digraph(500, 2000, seed=2)
    found = hpg.bfs(graph(csr, device), 1, parents=False)
    assert found.parent is None
    assert (tree_of(found)[0] == levels(csr, 1)).all()


def test_wide_ids(device, wide_graph):
    csr = random_digraph(500, 2000, seed=3)
    found = hpg.bfs(wide_graph(csr, directed=True).to(device), 7, deterministic=True)
    assert found.parent.dtype == np.int64
    level, parent = tree_of(found)
    assert (level == levels(csr, 7)).all()
    assert (parent == smallest_parents(csr, level)).all()


def test_a_deterministic_tree_repeats(device):
    csr = random_digraph(2000, 60_000, seed=4)
    G = graph(csr, device)
    first, again = (tree_of(hpg.bfs(G, 0, deterministic=True))[1] for _ in range(2))
    assert (first == again).all()


def test_weights_are_not_read(device):
    """Neither their signs, nor NaN, nor a stored zero keep an arc from being one."""
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], [0.0, np.nan, -np.inf]).to(device)
    assert tree_of(hpg.bfs(G, 0))[0].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
@pytest.mark.parametrize("name", ENDS)
def test_shapes(name, direction, device):
    csr = shape(name)
    # A path has as many supersteps as vertices; pulls of it look at all vertices in each.
    for source in from_and_to(name)[: 1 if (name, direction) == ("a path", "pull") else None]:
        depth = 20 if (name, direction) == ("a path", "pull") else None
        level, parent = tree_of(hpg.bfs(hpg.Graph(csr).to(device), source, direction=direction, max_depth=depth))
        expected = levels(csr, source)
        assert (level == (expected if depth is None else np.where(expected > depth, -1, expected))).all()
        check_tree(csr, source, level, parent)


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_max_depth(depth, device):
    csr = random_digraph(500, 1500, seed=5)
    level, parent = tree_of(hpg.bfs(graph(csr, device), 2, max_depth=depth))
    expected = levels(csr, 2)
    expected[expected > depth] = -1
    assert (level == expected).all()
    check_tree(csr, 2, level, parent)


def test_source_by_name(device):
    G = hpg.Graph.from_edges([0, 1], [1, 2], names=["a", "b", "c"]).to(device)
    assert tree_of(hpg.bfs(G, "b"))[0].tolist() == [-1, 0, 1]
    assert tree_of(hpg.bfs(G, hpg.id(2)))[0].tolist() == [-1, -1, 0]
    raises(ValueError, "d", hpg.bfs, G, "d")


@pytest.mark.parametrize(
    ("source", "error", "says"),
    [
        (3, IndexError, r"source 3 is not in 0\.\.2"), (-1, IndexError, r"source -1 is not in 0\.\.2"),
        (1.0, TypeError, "source must be a vertex id"), (True, TypeError, "source must be a vertex id"),
        (None, TypeError, "source=... is needed"), ([0], TypeError, "source must be a vertex id"),
        ("a", ValueError, "names"),
    ],
)  # fmt: skip
def test_what_is_no_source(source, error, says):
    with pytest.raises(error, match=says):
        hpg.bfs(arcs([0, 1], [1, 2]), source)


def test_no_vertices():
    with pytest.raises(IndexError, match="no vertices"):
        hpg.bfs(arcs([], [], 0), 0)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"direction": "sideways"}, ValueError, '"auto", "push" or "pull", not \'sideways\''),
        ({"direction": 1}, ValueError, "direction"),
        ({"direction": ["push"]}, ValueError, "direction"),
        ({"max_depth": -1}, ValueError, "max_depth must not be negative"),
        ({"max_depth": 1.5}, TypeError, "max_depth must be a whole number"),
        ({"max_depth": True}, TypeError, "max_depth must be a whole number"),
    ],
)
def test_what_does_not_fit(arguments, error, says):
    with pytest.raises(error, match=says):
        hpg.bfs(arcs([0, 1], [1, 2]), 0, **arguments)


def test_what_is_no_graph():
    with pytest.raises(TypeError):
        hpg.bfs("a graph", 0)
    with pytest.raises(ValueError, match="square"):
        hpg.bfs(scipy.sparse.csr_array((2, 3)), 0)


def test_a_negative_threshold_is_refused():
    raises(ValueError, "alpha", hpg.Direction, alpha=-1)
    with pytest.raises(ValueError, match="beta must not be negative"):
        hpg.Direction(beta=float("nan"))
