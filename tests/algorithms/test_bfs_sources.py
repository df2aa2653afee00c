"""Breadth-first searches from many sources at once: each as if it were alone, on every device."""

import numpy as np
import pytest
import scipy.sparse
from arrays import tree_of
from raising import raises
from reference_algorithms import check_tree, levels, random_digraph, smallest_parents

import hpgraph as hpg
from hpgraph.core.device import device_of
from hpgraph.kernels.traversal import cpu_sources


def path(n, device="cpu"):
    return hpg.Graph.from_edges(np.arange(n - 1), np.arange(1, n), directed=False).to(device)


@pytest.fixture(scope="module")
def csr():
    return random_digraph(1500, 12_000, seed=1)


@pytest.mark.parametrize("k", [1, 3, 65])
def test_levels(csr, k, device):
    G = hpg.Graph(csr, directed=True).to(device)
    sources = np.random.default_rng(2).integers(0, 1500, k)
    found = hpg.bfs(G, sources=sources, parents=False)
    assert device_of(found.level) == device and found.level.dtype == np.int8 and found.parent is None
    level, _ = tree_of(found)
    assert (level == [levels(csr, source) for source in sources.tolist()]).all()
    assert f"1500 vertices from {k} sources" in repr(found)


@pytest.mark.parametrize("k", [1, 65])
@pytest.mark.parametrize("deterministic", [False, True])
def test_parents(csr, k, deterministic, device):
    G = hpg.Graph(csr, directed=True).to(device)
    sources = np.random.default_rng(3).integers(0, 1500, k)
    found = hpg.bfs(G, sources=sources, deterministic=deterministic)
    assert found.parent.dtype == G.out_csr.indices.dtype
    level, parent = tree_of(found)
    for lane, source in enumerate(sources.tolist()):
        expected = levels(csr, source)
        assert (level[lane] == expected).all()
        check_tree(csr, source, level[lane], parent[lane])
        assert not deterministic or (parent[lane] == smallest_parents(csr, expected)).all()


@pytest.mark.parametrize("k", [2, 20, 130])
@pytest.mark.parametrize("kind", ["random", "long row", "path"])
def test_parents_where_arcs_have_their_reverse(kind, k, device):
    """On a GPU found by remainders of levels: those of neighbours differ by one."""
    n = 400 if kind == "path" else 1500
    csr = scipy.sparse.csr_array(scipy.sparse.diags_array([np.ones(n - 1)], offsets=[1]))
    if kind != "path":
        csr = random_digraph(n, 3000, seed=4)
    if kind == "long row":
        csr = csr + scipy.sparse.coo_array((np.ones(1400), (np.zeros(1400, int), np.arange(50, 1450))), (n, n))
    csr = scipy.sparse.csr_array(csr + csr.T != 0)
    G = hpg.Graph(csr).to(device)
    sources = np.random.default_rng(6).integers(0, n, k)
    level, parent = tree_of(hpg.bfs(G, sources=sources, deterministic=True))
    for lane, source in enumerate(sources.tolist()):
        expected = levels(csr, source)
        assert (level[lane] == expected).all()
        assert (parent[lane] == smallest_parents(csr, expected)).all()


def orders(n):
    """Numberings of a path of n vertices: of its k-th vertex the id."""
    k, drawn = np.arange(n), np.random.default_rng(7)
    pieces = np.array_split(k, n // 90)
    from_the_middle = np.where(k < n // 2, 2 * (n // 2 - k) - 1, 2 * (k - n // 2))
    return {
        "natural": k, "back": n - 1 - k, "by strides": 7 * k % n, "from the middle": from_the_middle,
        "pieces": np.concatenate([pieces[i] for i in drawn.permutation(len(pieces))]),
        "at random": drawn.permutation(n),
    }  # fmt: skip


@pytest.mark.parametrize("depth", [None, 1500])
@pytest.mark.parametrize(
    "kind", ["natural", "back", "by strides", "from the middle", "pieces", "at random", "cycle", "one way"]
)
def test_chains_in_any_order(kind, depth, device):
    """A GPU examines many vertices ahead of a search while their ids keep a stride."""
    n = 3000
    order = orders(n).get(kind, np.arange(n))
    G = hpg.Graph.from_edges(
        np.r_[order[:-1], order[-1:]] if kind == "cycle" else order[:-1],
        np.r_[order[1:], order[:1]] if kind == "cycle" else order[1:], n_vertices=n, directed=kind == "one way",
    ).to(device)  # fmt: skip
    place = np.argsort(order)
    for k in (2, 70):
        sources = np.random.default_rng(8).choice(n, k, replace=False)
        level, parent = tree_of(hpg.bfs(G, sources=sources, max_depth=depth))
        ahead = place - place[sources][:, None]
        expected = abs(ahead)
        if kind == "cycle":
            expected = np.minimum(expected, n - expected)
        outside = expected > (n if depth is None else depth)
        expected = np.where(outside | (ahead < 0) if kind == "one way" else outside, -1, expected)
        assert (level == expected).all()
        inner = expected > 0
        assert ((parent < 0) == (expected < 0)).all()
        assert (np.take_along_axis(level, np.maximum(parent, 0), 1)[inner] == expected[inner] - 1).all()


def test_wide_ids(device, wide_graph):
    csr = random_digraph(500, 2000, seed=3)
    found = hpg.bfs(wide_graph(csr, directed=True).to(device), sources=[7, 9])
    assert found.parent.dtype == np.int64
    level, parent = tree_of(found)
    for lane, source in enumerate([7, 9]):
        assert (level[lane] == levels(csr, source)).all()
        check_tree(csr, source, level[lane], parent[lane])


@pytest.mark.parametrize(("n", "dtype"), [(128, "int8"), (129, "int16"), (40_000, "int32")])
def test_the_least_type_that_holds_the_levels(n, dtype, device):
    G = path(n, device)
    for sources in ([0], [0, n - 1, n // 2]):
        found = hpg.bfs(G, sources=sources, parents=False)
        assert found.level.dtype == dtype
        assert (tree_of(found)[0] == abs(np.arange(n) - np.array(sources)[:, None])).all()
    # Once it is known how deep the graph is, still.
    again = hpg.bfs(G, sources=[n // 2, n // 2], parents=False)
    assert (tree_of(again)[0] == abs(np.arange(n) - n // 2)).all()


@pytest.mark.parametrize("short", [3, 64])
def test_short_searches_come_first(short, monkeypatch):
    """On the CPU as on a GPU, whose kernel of few supersteps compiles sooner."""
    monkeypatch.setattr(cpu_sources, "SHORT", short)
    for n in (3, 4, 5, 65, 66, 300):
        G = path(n)
        for _ in range(2):
            for depth in (None, 2, 70):
                level, _ = tree_of(hpg.bfs(G, sources=[0, n - 1], parents=False, max_depth=depth))
                expected = abs(np.arange(n) - np.array([[0], [n - 1]]))
                assert (level == np.where(expected > (n if depth is None else depth), -1, expected)).all()
                assert level.dtype == (np.int8 if n < 129 or depth else np.int16)


@pytest.mark.parametrize("depth", [0, 3, 130])
def test_max_depth(depth, device):
    level, _ = tree_of(hpg.bfs(path(300, device), sources=[0, 299], max_depth=depth, parents=False))
    expected = abs(np.arange(300) - np.array([[0], [299]]))
    assert (level == np.where(expected > depth, -1, expected)).all()
    assert level.dtype == (np.int8 if depth < 128 else np.int16)


def test_no_sources(device):
    found = hpg.bfs(path(5, device), sources=[])
    assert found.level.shape == found.parent.shape == (0, 5) and found.traces == []
    with pytest.raises(AttributeError, match="traces"):
        _ = found.trace


def test_the_same_source_twice_and_more_lanes_than_vertices(device):
    level, parent = tree_of(hpg.bfs(path(3, device), sources=[1, 1, 0, 2, 0, 1, 2]))
    assert level.tolist() == [[1, 0, 1], [1, 0, 1], [0, 1, 2], [2, 1, 0], [0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert parent.tolist()[:3] == [[1, 1, 1], [1, 1, 1], [0, 0, 1]]


def test_sources_without_arcs_and_parts_that_do_not_meet(device):
    G = hpg.Graph.from_edges([0, 3], [1, 4], n_vertices=6).to(device)
    level, parent = tree_of(hpg.bfs(G, sources=[0, 2, 3, 5]))
    assert level.tolist() == [
        [0, 1, -1, -1, -1, -1], [-1, -1, 0, -1, -1, -1], [-1, -1, -1, 0, 1, -1], [-1, -1, -1, -1, -1, 0],
    ]  # fmt: skip
    assert (parent[level < 0] == -1).all() and parent[0, 1] == 0 and parent[3, 5] == 5


def test_names_and_indices(device):
    G = hpg.Graph.from_edges([0, 1], [1, 2], names=["a", "b", "c"]).to(device)
    expected = [[-1, 0, 1], [0, 1, 2]]
    assert tree_of(hpg.bfs(G, sources=["b", "a"]))[0].tolist() == expected
    assert tree_of(hpg.bfs(G, sources=hpg.id([1, 0])))[0].tolist() == expected
    assert tree_of(hpg.bfs(G, sources=[hpg.id(1), hpg.id(0)]))[0].tolist() == expected
    raises(ValueError, "d", hpg.bfs, G, sources=["a", "d"])


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"sources": [0, 5]}, IndexError, r"sources must lie in 0\.\.2"),
        ({"sources": [-1]}, IndexError, r"sources must lie in 0\.\.2"),
        ({"sources": [0.5]}, TypeError, "sources"),
        ({"sources": 1}, TypeError, "sources must be a list"),
        ({"sources": "a"}, TypeError, "sources must be a list"),
        ({"sources": hpg.id(1)}, TypeError, "sources must be a list"),
        ({"source": 0, "sources": [1]}, TypeError, "either source"),
        ({"sources": [0], "max_depth": -1}, ValueError, "max_depth"),
        ({"sources": [0, 1], "direction": "sideways"}, ValueError, "direction"),
        ({}, TypeError, "source=... is needed"),
    ],
)
def test_what_does_not_fit(arguments, error, says):
    with pytest.raises(error, match=says):
        hpg.bfs(hpg.Graph.from_edges([0, 1], [1, 2]), **arguments)


def test_rows_that_fit_no_memory():
    G = hpg.Graph(scipy.sparse.csr_array((1 << 22, 1 << 22)))
    raises(hpg.DeviceMemoryError, "sources", hpg.bfs, G, sources=np.zeros(1 << 22, np.int64), parents=False)
