"""Leiden by other objectives, from given communities and within a size limit: dense references, and leidenalg."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph
from raising import raises

import hpgraph as hpg

RING = nx.ring_of_cliques(30, 5)
SCALE_FREE = nx.barabasi_albert_graph(800, 4, seed=2)
OBJECTIVES = ("modularity", "RBConfiguration", "CPM", "RBER")


def dense_quality(A, label, nodes, objective, resolution, directed, loops):
    """By definition, over all pairs of vertices; A has a loop of an undirected graph twice."""
    same = label[:, None] == label[None, :]
    total, within = A.sum(), A[same].sum()
    if objective in ("modularity", "RBConfiguration"):
        chance = np.outer(A.sum(axis=1), A.sum(axis=0))[same].sum() / total
        quality = within - resolution * chance
        return quality / total if objective == "modularity" else quality
    size = np.bincount(label, weights=nodes)
    pairs = (size * (size - 1)).sum()
    if objective == "RBER":
        return within - resolution * pairs * total / (nodes.sum() * (nodes.sum() - 1))
    return within - resolution * (pairs + (nodes.sum() * (1 if directed else 2) if loops else 0))


def example(directed, loops, rng):
    n = 14
    ends = rng.integers(0, n, (2, 60))
    ends = ends if loops else ends[:, ends[0] != ends[1]]
    ends = np.unique(ends if directed else np.sort(ends, axis=0), axis=1)
    return n, ends, rng.random(ends.shape[1])


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_qualities(directed, loops, objective, device):
    rng = np.random.default_rng(5)
    n, ends, weight = example(directed, loops, rng)
    A = np.zeros((n, n))
    np.add.at(A, tuple(ends), weight)
    A = A if directed else A + A.T
    G = hpg.Graph.from_edges(*ends, weight, n_vertices=n, directed=directed).to(device)
    for nodes in (None, rng.integers(1, 4, n), rng.random(n) + 1):
        if nodes is not None and objective in ("modularity", "RBConfiguration"):
            continue
        label, resolution = rng.integers(0, 4, n), 0.7
        given = {"weight": True, "resolution": resolution, "node_weights": nodes}
        found = hpg.community_quality(G, label, objective, **given)
        held = np.ones(n) if nodes is None else nodes
        expected = dense_quality(A, label, held, objective, resolution, directed, loops)
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)
        searched = hpg.leiden(G, objective=objective, **given)
        label = np.asarray(searched)
        expected = dense_quality(A, label, held, objective, resolution, directed, loops)
        assert searched.quality == pytest.approx(expected, rel=1e-10, abs=1e-10)
        seen = dense_quality(A, label, held, "modularity", resolution if "o" in objective else 1, directed, loops)
        assert searched.modularity == pytest.approx(seen, abs=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("directed", [False, True])
def test_leidenalg_agrees(directed, objective):
    """Its qualities of our communities are ours, and its search finds none that are much better."""
    leidenalg, igraph = pytest.importorskip("leidenalg"), pytest.importorskip("igraph")
    g = nx.gnp_random_graph(120, 0.06, seed=3, directed=True) if directed else SCALE_FREE
    kind = getattr(leidenalg, f"{objective.capitalize() if objective == 'modularity' else objective}VertexPartition")
    resolution = {"CPM": 0.05}.get(objective, 1)
    options = {} if objective == "modularity" else {"resolution_parameter": resolution}
    theirs = igraph.Graph(n=len(g), edges=list(g.edges), directed=directed)
    found = hpg.leiden(hpg.from_networkx(g), objective=objective, resolution=resolution, n_iterations=-1)
    same = kind(theirs, initial_membership=np.asarray(found).tolist(), **options)
    assert found.quality == pytest.approx(same.quality(), rel=1e-10, abs=1e-10)
    best = leidenalg.find_partition(theirs, kind, n_iterations=-1, seed=1, **options)
    assert found.quality > best.quality() - 0.03 * abs(best.quality())


def test_the_constant_potts_model_has_no_resolution_limit(device):
    """By modularity cliques of a ring are merged in pairs; by density each is a community."""
    G = hpg.from_networkx(RING).to(device)
    cliques = [set(range(v, v + 5)) for v in range(0, 150, 5)]
    assert hpg.leiden(G).count < 30
    for options in ({"objective": "CPM", "resolution": 0.3}, {"objective": "rber", "resolution": 10}):
        assert hpg.leiden(G, **options).communities() == cliques
    # Vertices also leave communities, and part of a community leaves another.
    for start in (np.zeros(150, int), np.arange(150) // 15, np.arange(150) // 3):
        found = hpg.leiden(G, objective="CPM", resolution=0.3, start=start, n_iterations=-1)
        assert found.communities() == cliques
    twice = hpg.leiden(G, objective="CPM", resolution=0.3 / 4, node_weights=2)
    assert twice.communities() == cliques


@pytest.mark.parametrize("scale", [1e300, 2.0**-1000, 5e-324])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_weights_near_the_ends_of_float64(objective, scale, device):
    """Their sums and quotients by a unit lie beyond; by CPM, the resolution is in weights too."""
    source, target = np.array([[0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]])
    plain, far = (
        hpg.Graph.from_edges(source, target, np.full(7, weight), directed=False).to(device) for weight in (1.0, scale)
    )
    density = 0.5 if objective == "CPM" else 1.0
    expected = hpg.leiden(plain, resolution=density, objective=objective)
    found = hpg.leiden(far, resolution=density * scale if objective == "CPM" else density, objective=objective)
    # Half of the least float64 is none.
    if objective != "CPM" or scale > 5e-324:
        assert np.array_equal(np.asarray(found), np.asarray(expected))
        unit = 1.0 if objective == "modularity" else scale
        assert found.quality == pytest.approx(expected.quality * unit, rel=1e-12, abs=1e-321)
    if objective == "CPM":
        # Any resolution of everyday joins no vertices of light edges, and all of heavy ones.
        assert hpg.leiden(far, resolution=0.5, objective="CPM").count == (1 if scale > 1 else 6)
        assert hpg.community_quality(far, np.arange(6), "CPM", resolution=0.5) == pytest.approx(0, abs=1e-12)
        assert hpg.community_quality(far, np.zeros(6, int), "CPM", resolution=0.5) == pytest.approx(
            14 * scale - 15, rel=1e-12
        )


@pytest.mark.parametrize("search", [hpg.louvain, hpg.leiden])
def test_start(search, device):
    """Never worse than what it starts with, in every form; a good start stays."""
    G = hpg.from_networkx(SCALE_FREE).to(device)
    rng = np.random.default_rng(1)
    random = rng.integers(0, 20, 800)
    best = hpg.leiden(G, n_iterations=-1, seed=3)
    for start in (random, dict(enumerate(random.tolist())), np.zeros(800, int), best, best.communities()):
        found = search(G, start=start)
        assert found.modularity >= hpg.modularity(G, start) - 1e-12
        # No single vertex gains by leaving a community of all, so that the Louvain method stays.
        assert found.modularity > 0.25 or (search is hpg.louvain and not np.any(start))
    cliques = hpg.from_networkx(nx.ring_of_cliques(6, 5)).to(device)
    planted = np.arange(30) // 5
    for start in (planted, np.arange(30)):
        assert np.array_equal(np.asarray(search(cliques, start=start)), planted)
    # Whole communities are joined where no vertex would move by itself.
    halves = np.repeat([0, 1], 15) * 40 + np.arange(30) // 5 * 2 + (np.arange(30) % 5 > 2)
    assert np.array_equal(np.asarray(search(cliques, start=halves)), planted)


def test_fixed(device):
    """Fixed vertices stay together, and apart, as they start; others choose among them."""
    g = nx.random_partition_graph([40] * 5, 0.4, 0.02, seed=1)
    G = hpg.Graph.from_edges(*np.array(g.edges).T, n_vertices=200, directed=False).to(device)
    start = np.arange(200)
    seeds = [0, 1, 2, 60, 61, 199]
    start[seeds] = [0, 0, 3, 0, 60, 199]
    mask = np.zeros(200, bool)
    mask[seeds] = True
    for fixed in (mask, seeds):
        for max_size in (None, 30):
            label = np.asarray(hpg.leiden(G, start=start, fixed=fixed, max_size=max_size))
            kept = label[seeds]
            assert np.array_equal(kept[:, None] == kept, start[seeds][:, None] == start[seeds])
            assert np.bincount(label).max() <= (max_size or 200)
    everything = hpg.leiden(G, start=start % 7, fixed=np.ones(200, bool))
    assert everything.count == 7 and hpg.normalized_mutual_information(everything, start % 7) == pytest.approx(1)


def are_connected(G, label):
    A = G.to("cpu").out_csr.to_scipy()
    row, column = A.nonzero()
    inside = label[row] == label[column]
    within = scipy.sparse.coo_array((np.ones(inside.sum()), (row[inside], column[inside])), shape=A.shape)
    return scipy.sparse.csgraph.connected_components(within, directed=False)[0] == label.max() + 1


@pytest.mark.parametrize("max_size", [1, 2, 7, 50])
def test_size_limit(max_size, device):
    """It is never passed, communities are connected, and the limit is used; on any number of threads the same."""
    graphs = [SCALE_FREE, nx.star_graph(300), nx.complete_graph(60), nx.grid_2d_graph(20, 20)]
    for g in graphs:
        G = hpg.from_networkx(nx.convert_node_labels_to_integers(g)).to(device)
        found = []
        for threads in (1, 2):
            with hpg.config(threads=threads):
                found.append(np.asarray(hpg.leiden(G, max_size=max_size, seed=2)))
        label = found[0]
        assert np.array_equal(*found)
        assert np.bincount(label).max() <= max_size
        assert are_connected(G, label)
        if max_size > 1:
            largest = hpg.leiden(G, max_size=max_size, objective="CPM", resolution=1e-9, n_iterations=4)
            assert np.bincount(np.asarray(largest)).max() >= 0.8 * min(max_size, len(g))
    start = np.arange(800) // max_size
    again = hpg.leiden(hpg.from_networkx(SCALE_FREE).to(device), start=start, max_size=max_size)
    assert np.bincount(np.asarray(again)).max() <= max_size


def test_hierarchy_is_left_out():
    assert len(hpg.leiden(hpg.from_networkx(SCALE_FREE), hierarchy=False).hierarchy) == 1
    alone = hpg.leiden(hpg.Graph.from_edges([], [], n_vertices=3), n_iterations=-1, objective="CPM", start=[0, 0, 1])
    assert alone.communities() == [{0}, {1}, {2}]


G = hpg.Graph.from_edges([0, 1], [1, 2], directed=False)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"objective": "potts"}, ValueError, 'objective must be "modularity", "RBConfiguration", "CPM" or "RBER"'),
        ({"node_weights": 1}, ValueError, "node_weights are only for"),
        ({"objective": "CPM", "node_weights": [1, -1, 1]}, ValueError, "node_weights must be finite and not negative"),
        ({"objective": "CPM", "node_weights": [1, 1]}, ValueError, "node_weights.*each of the 3"),
        ({"start": [0, 1]}, ValueError, "start must be a whole number for each of the 3"),
        ({"fixed": [True]}, ValueError, "fixed must say so for each of the 3"),
        ({"fixed": [7]}, IndexError, "fixed"),
        ({"max_size": 0}, ValueError, "max_size must be at least 1"),
        ({"max_size": 1.5}, TypeError, "max_size must be a whole number or None"),
        ({"max_size": 2, "start": [0, 0, 0]}, ValueError, "start: a community has 3 vertices, more than max_size=2"),
        ({"resolution_parameter": 1}, TypeError, "resolution"),
        ({"max_comm_size": 1}, TypeError, "max_size"),
    ],
)
def test_complaints(options, error, match):
    raises(error, match, hpg.leiden, G, **options)
