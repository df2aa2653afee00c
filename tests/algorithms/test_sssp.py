"""Shortest paths against SciPy's, by what any shortest distances satisfy, and on ugly inputs."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph
from arrays import graph
from graph_shapes import ENDS, from_and_to, shape
from raising import raises
from reference_algorithms import GRAPHS, check_shortest_paths, hubs, random_digraph, sources, stored

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device
from hpgraph.formats import CSR

INF = np.inf


def arcs(source, target, weight=None, n=None, device="cpu"):
    return hpg.Graph.from_edges(source, target, weight, n_vertices=n).to(device)


def distances(G, source, **options):
    return to_device(hpg.sssp(G, source, **options).distance, "cpu")


def reweighted(csr, seed=0, dtype=np.float64):
    """The graph with a potential's difference added to each whole weight: some are negative, no cycle is.

    Returns the graph and the potential: its distances are those of the other graph plus the difference of the ends'.
    """
    potential = np.random.default_rng(seed).integers(0, 100, csr.shape[0])
    row = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    weight = (csr.data + potential[row] - potential[csr.indices]).astype(dtype)
    return CSR(csr.shape, csr.indptr.astype(np.int64), csr.indices, weight), potential


def test_small(device):
    found = hpg.sssp(arcs([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0], 4, device), 0, parents=True)
    assert device_of(found.distance, found.parent) == device
    assert to_device(found.distance, "cpu").tolist() == [0, 1, 3, INF]
    assert to_device(found.parent, "cpu").tolist() == [0, 0, 1, -1]
    assert "4 vertices" in repr(found)


@pytest.mark.parametrize("name", GRAPHS)
def test_real_graphs(data_dir, name, device):
    csr = stored(data_dir, name)
    G = graph(csr, device)
    row = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    chosen = sources(csr)
    expected = scipy.sparse.csgraph.dijkstra(csr, indices=chosen)
    for i, source in enumerate(chosen):
        found = hpg.sssp(G, source, parents=i < 4)
        distance = to_device(found.distance, "cpu")
        assert (distance == expected[i]).all()
        assert (distance[csr.indices] <= distance[row] + csr.data).all()
        if i < 4:
            check_shortest_paths(csr, source, distance, to_device(found.parent, "cpu"))


# Of the smaller ones: what is looked at by many threads is the same for weights of either sign, and looked at above.
@pytest.mark.parametrize("name", ["bcsstk13", "cryg2500", "jagmesh7", "west0067"])
def test_real_graphs_with_negative_weights(data_dir, name, device):
    csr = stored(data_dir, name)
    # Whole weights, whose sums are exact.
    csr = scipy.sparse.csr_array((np.ceil(csr.data % 256) + 1, csr.indices, csr.indptr), csr.shape)
    negative, potential = reweighted(csr)
    assert (negative.data < 0).any()
    chosen = sources(csr, 3)
    expected = scipy.sparse.csgraph.dijkstra(csr, indices=chosen)
    G = hpg.Graph(negative, directed=True).to(device)
    for i, source in enumerate(chosen):
        assert (distances(G, source) == expected[i] + potential[source] - potential).all()


def test_negative_weights_equal_bellman_ford(device):
    csr = random_digraph(300, 2000, seed=1)
    negative, _ = reweighted(csr)
    # SciPy drops a stored zero: it is given such a small weight that no sum shows it.
    nonzero = np.where(negative.data == 0, 1e-300, negative.data)
    theirs = scipy.sparse.csr_array((nonzero, csr.indices, csr.indptr), csr.shape)
    G = hpg.Graph(negative, directed=True).to(device)
    for source in (0, 5, 100):
        expected = scipy.sparse.csgraph.bellman_ford(theirs, indices=source)
        found = hpg.sssp(G, source, parents=True)
        distance = to_device(found.distance, "cpu")
        assert (distance == expected).all()
        mine = scipy.sparse.csr_array((negative.data, csr.indices, csr.indptr), csr.shape)
        check_shortest_paths(mine, source, distance, to_device(found.parent, "cpu"))


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_types_of_weights(dtype, device):
    csr = random_digraph(400, 3000, seed=2).astype(dtype)
    distance = distances(graph(csr, device), 3)
    assert distance.dtype == (np.float32 if dtype == "float32" else np.float64)
    assert (distance == scipy.sparse.csgraph.dijkstra(csr, indices=3)).all()


def test_single_precision_rounds_once_an_arc(device):
    """Along a path the sums of float32 are those of adding one weight after another."""
    weight = np.random.default_rng(0).random(1000, np.float32)
    found = distances(arcs(np.arange(1000), np.arange(1, 1001), weight, device=device), 0)
    assert (found[1:] == np.cumsum(weight, dtype=np.float32)).all()


def test_no_weights(device):
    csr = random_digraph(400, 1600, seed=3)
    pattern = CSR(csr.shape, csr.indptr.astype(np.int64), csr.indices, None)
    found = hpg.sssp(hpg.Graph(pattern, directed=True).to(device), 0, parents=True)
    distance = to_device(found.distance, "cpu")
    assert distance.dtype == np.float64
    csr.data[:] = 1
    assert (distance == scipy.sparse.csgraph.dijkstra(csr, indices=0)).all()
    check_shortest_paths(csr, 0, distance, to_device(found.parent, "cpu"))


@pytest.mark.parametrize("weight", [None, np.float64])
@pytest.mark.parametrize("cutoff", [None, 0, 1.5, 2, 1e300])
def test_where_every_arc_has_length_one_levels_are_distances(weight, cutoff, device):
    csr = random_digraph(300, 700, seed=8)
    rows, columns = csr.nonzero()
    weights = None if weight is None else np.ones(rows.size, weight)
    G = hpg.Graph.from_edges(rows, columns, weights, n_vertices=300, directed=False).to(device)
    starts = [5, 0, 5]
    # Many searches without weights alone: beside weights, which they do not read, their kernels compile all over.
    for start in ({"source": 5}, *(() if weights is not None else ({"sources": starts},))):
        found, many = (
            hpg.sssp(G, **start, cutoff=cutoff, parents=True, deterministic=True, **options)
            for options in ({}, {"group_size": 8})
        )
        for column in ("distance", "parent"):
            one, other = (to_device(getattr(result, column), "cpu") for result in (found, many))
            assert np.array_equal(one, other) and one.dtype == other.dtype
    lazy = hpg.sssp(G, sources=starts)
    farthest = int(np.argmax(np.where(np.isinf(distances(G, 5)), 0, distances(G, 5))))
    assert len(lazy.path_to(farthest, source=5)) == distances(G, 5)[farthest] + 1


def test_wide_ids(device, wide_graph):
    """With parents of distances in float32, which none of the tests of narrow ids has."""
    csr = random_digraph(400, 3000, seed=2).astype(np.float32)
    found = hpg.sssp(wide_graph(csr, directed=True).to(device), 3, parents=True)
    assert found.parent.dtype == np.int64
    distance = to_device(found.distance, "cpu")
    assert (distance == scipy.sparse.csgraph.dijkstra(csr, indices=3)).all()
    check_shortest_paths(csr, 3, distance, to_device(found.parent, "cpu"))


@pytest.mark.parametrize("threads", [1, 2])
def test_buckets_of_the_cpu_widen_where_they_hold_next_to_nothing(threads):
    # A path whose weights span thousands of the first buckets, and a chain of cliques beside it.
    n, size = 40_000, 12
    rng = np.random.default_rng(3)
    source, target = np.arange(n - 1), np.arange(1, n)
    near = [(n + size * k + np.array(np.triu_indices(size, 1))) for k in range(500)]
    bridges = n + size * np.arange(499)
    source = np.concatenate([source, *(ends[0] for ends in near), bridges, [0]])
    target = np.concatenate([target, *(ends[1] for ends in near), bridges + size, [n]])
    weight = rng.integers(1, 65, source.size).astype(np.float64)
    G = hpg.Graph.from_edges(source, target, weight, directed=False)
    with hpg.config(threads=threads):
        found = hpg.sssp(G, 0, delta=0.5)
    expected = scipy.sparse.csgraph.dijkstra(G.out_csr.to_scipy(), indices=0)
    np.testing.assert_array_equal(found.distance, expected)
    # As they began, one bucket in two or so would be a superstep: the distances are whole numbers.
    assert len(found.trace) < np.unique(expected).size / 20


@pytest.mark.parametrize("delta", [1e-3, 1, 7.5, 1e6, INF, None])
def test_the_bucket_s_width_changes_nothing(delta, device):
    csr = random_digraph(1000, 8000, seed=4, high=1000)
    expected = scipy.sparse.csgraph.dijkstra(csr, indices=3)
    found = hpg.sssp(graph(csr, device), 3, delta=delta)
    assert (to_device(found.distance, "cpu") == expected).all()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("delta", [None, 0.5, 6, 40, 1000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_supersteps(dtype, delta, directed, device, monkeypatch):
    """On a GPU these supersteps count as large, for which messages are staged."""
    if device == "cuda":
        persistent = pytest.importorskip("hpgraph.kernels.runtime.cuda.persistent")
        monkeypatch.setattr(persistent, "wave", lambda: 0)
    rng = np.random.default_rng(3)
    # A dense part, one hub, vertices of one arc, a path, and vertices that nothing reaches.
    dense, n = 900, 3000
    source = [*rng.integers(0, dense, 40 * dense), *[7] * 1200, *range(2100, 2500)]
    target = [*rng.integers(0, dense, 40 * dense), *range(dense, 2100), *range(2101, 2501)]
    weight = rng.choice([0, 0.25, *range(1, 65), INF], len(source)).astype(dtype)
    G = hpg.Graph.from_edges(
        [*source, 1000], [*target, 2100], np.append(weight, 3).astype(dtype), n_vertices=n, directed=directed
    ).to(device)
    out = G.to("cpu").out_csr
    # SciPy takes a stored zero for no arc.
    tiny = np.where(out.data == 0, 1e-30, out.data.astype(np.float64))
    matrix = scipy.sparse.csr_matrix((tiny, out.indices, out.indptr), shape=(n, n))
    for start in (7, 3, 2400):
        expected = np.round(4 * scipy.sparse.csgraph.dijkstra(matrix, indices=start)) / 4
        assert (distances(G, start, delta=delta) == expected).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_hubs(dtype, device):
    csr = hubs(30_000, 400_000, seed=6, exponent=3)
    source = int(np.flatnonzero(np.diff(csr.indptr) == 1)[0])
    expected = scipy.sparse.csgraph.dijkstra(csr, indices=source)
    G = graph(csr.astype(dtype), device)
    for delta in (None, 20, INF):
        assert (to_device(hpg.sssp(G, source, delta=delta).distance, "cpu") == expected).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_bucket_narrower_than_the_rounding_of_distances(dtype, device):
    """Beyond 1e17 not even a double tells a distance from one a bucket further on."""
    weight = np.array([1e17, 1e-3, 1e-3, 5.0], dtype)
    found = distances(arcs([0, 1, 2, 0], [1, 2, 3, 4], weight, device=device), 0, delta=1e-3)
    far = weight[0]
    assert found.tolist() == [0, far, far, far, 5]


@pytest.mark.parametrize("cutoff", [0, 0.5, 3, 20.0, INF, 1e300, pytest.param(10**400, id="huge")])
def test_cutoff(cutoff, device, recwarn):
    csr = random_digraph(300, 1500, seed=5)
    expected = scipy.sparse.csgraph.dijkstra(csr, indices=7)
    expected[expected > min(cutoff, 1e300)] = INF
    found = hpg.sssp(graph(csr, device), 7, cutoff=cutoff, parents=True)
    distance = to_device(found.distance, "cpu")
    assert (distance == expected).all()
    assert (distances(graph(csr.astype(np.float32), device), 7, cutoff=cutoff) == expected).all()
    check_shortest_paths(csr, 7, distance, to_device(found.parent, "cpu"))
    assert not recwarn.list


def test_cutoff_with_negative_weights(device):
    G = arcs([0, 1, 0, 3], [1, 2, 3, 4], [10.0, -9.0, 4.0, 1.0], device=device)
    found = hpg.sssp(G, 0, cutoff=4, parents=True)
    assert to_device(found.distance, "cpu").tolist() == [0, INF, 1, 4, INF]
    assert to_device(found.parent, "cpu").tolist() == [0, 0, 1, 0, 3], "the way to 2 leads through 1"


def test_zeros(device):
    """Circles of length zero neither run for ever nor tie parents in a knot."""
    source, target = [0, 1, 2, 3, 1, 0, 4], [1, 2, 3, 1, 4, 5, 4]
    found = hpg.sssp(arcs(source, target, [0.0] * 7, 7, device), 0, parents=True)
    assert to_device(found.distance, "cpu").tolist() == [0, 0, 0, 0, 0, 0, INF]
    assert to_device(found.parent, "cpu").tolist() == [0, 0, 1, 2, 1, 0, -1]


def test_many_zeros(device):
    csr = random_digraph(500, 6000, seed=6, low=0, high=3)
    assert (csr.data == 0).sum() > 1000
    theirs = csr.copy()
    theirs.data[theirs.data == 0] = 1e-300
    found = hpg.sssp(graph(csr, device), 0, parents=True, deterministic=True)
    distance = to_device(found.distance, "cpu")
    parent = to_device(found.parent, "cpu")
    assert (distance == np.round(scipy.sparse.csgraph.dijkstra(theirs, indices=0), 10)).all()
    check_shortest_paths(csr, 0, distance, parent)


def test_arcs_lost_in_rounding_have_parents(device):
    """Behind a long arc single precision sees no difference of 1, along a path and back to where it began."""
    order = np.random.default_rng(4).permutation(300)
    source, target = np.append(order[:-1], order[-1]), np.append(order[1:], order[1])
    weight = np.ones(300, np.float32)
    weight[0] = 1e9
    found = hpg.sssp(arcs(source, target, weight, device=device), int(order[0]), parents=True)
    assert (to_device(found.distance, "cpu")[order[1:]] == np.float32(1e9)).all()
    assert (to_device(found.parent, "cpu")[order[1:]] == order[:-1]).all()


def test_the_smallest_of_parents(device):
    """Among ways of equal length the one of fewest arcs, among those the smallest id."""
    source, target = [0, 0, 0, 3, 2, 0, 5, 1], [3, 2, 1, 4, 4, 5, 4, 5]
    weight = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 2.0, 0.0]
    found = hpg.sssp(arcs(source, target, weight, device=device), 0, parents=True, deterministic=True)
    assert to_device(found.distance, "cpu").tolist() == [0, 0, 1, 1, 2, 0]
    assert to_device(found.parent, "cpu").tolist() == [0, 0, 0, 0, 2, 0]


def test_arcs_of_infinite_length_reach_nothing(device):
    found = hpg.sssp(arcs([0, 1, 0, 2], [1, 2, 3, 3], [1.0, INF, INF, 1.0], device=device), 0, parents=True)
    assert to_device(found.distance, "cpu").tolist() == [0, 1, INF, INF]
    assert to_device(found.parent, "cpu").tolist() == [0, 0, -1, -1]


def test_infinite_beside_negative(device):
    G = arcs([0, 1, 0, 2], [1, 2, 3, 3], [1.0, INF, -2.0, 1.0], device=device)
    found = hpg.sssp(G, 0, parents=True)
    assert to_device(found.distance, "cpu").tolist() == [0, 1, INF, -2]
    assert to_device(found.parent, "cpu").tolist() == [0, 0, -1, 0]


@pytest.mark.filterwarnings("error")
def test_sums_that_overflow_are_beyond_any_cutoff(device):
    weight = np.array([3e38, 3e38], np.float32)
    G = arcs([0, 1], [1, 2], weight, device=device)
    assert distances(G, 0, cutoff=1e300).tolist() == [0, float(weight[0]), INF]
    raises(ValueError, "weights add up to more than float32 holds", distances, G, 0)


def test_the_lightest_of_parallel_arcs(device):
    G = arcs([0, 0, 0, 1], [1, 1, 1, 1], [3.0, 1.0, 2.0, 0.5], device=device)
    assert distances(G, 0).tolist() == [0, 1]


@pytest.mark.parametrize("name", ENDS)
def test_shapes(name, device):
    csr = shape(name)
    for source in from_and_to(name):
        found = hpg.sssp(hpg.Graph(csr).to(device), source, parents=True)
        distance, parent = (to_device(array, "cpu") for array in (found.distance, found.parent))
        assert (distance == scipy.sparse.csgraph.dijkstra(csr, indices=source)).all()
        check_shortest_paths(csr, source, distance, parent)


# --- what does not fit


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", [np.nan, -INF])
def test_weights_that_are_refused(weight, device):
    with pytest.raises(ValueError, match="weights must not be NaN or -inf"):
        hpg.sssp(arcs([0, 1, 1], [1, 2, 0], [1.0, weight, INF], device=device), 0)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"cutoff": -1}, ValueError, "cutoff must not be negative"),
        ({"cutoff": np.nan}, ValueError, "cutoff"),
        ({"cutoff": "1"}, TypeError, "cutoff must be a number"),
        ({"delta": 0}, ValueError, "delta must be positive"),
        ({"delta": np.nan}, ValueError, "delta must be positive"),
        ({"delta": [1]}, TypeError, "delta must be a number"),
        ({"source": 9}, IndexError, r"source 9 is not in 0\.\.2"),
        ({"source": 0.5}, TypeError, "source must be a vertex id"),
        ({"source": False}, TypeError, "source must be a vertex id"),
    ],
)
def test_what_does_not_fit(arguments, error, says):
    with pytest.raises(error, match=says):
        hpg.sssp(arcs([0, 1], [1, 2], [1.0, 2.0]), **{"source": 0, **arguments})


def test_no_vertices():
    with pytest.raises(IndexError, match="no vertices"):
        hpg.sssp(arcs([], [], n=0), 0)
