"""Measures of communities, against NetworkX and sums over all pairs, and over all steps of a walk."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
import scipy.cluster.hierarchy
import scipy.linalg
from graph_examples import every_kind, example
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device


@every_kind
def test_conductance(directed, weighted, named, device):
    g = example(directed, weighted, named)
    label = np.random.default_rng(3).integers(0, 5, len(g))
    nodes = np.array(list(g), dtype=object)
    sets = [set(nodes[label == c]) for c in range(5)]
    G = hpg.from_networkx(g).to(device)
    for weight in ("weight", None):
        expected = [nx.conductance(g, part, weight=weight) for part in sets]
        for given in (sets, label):
            found = hpg.conductance(G, given, weight=weight)
            assert device_of(found) == device and found.dtype == np.float64
            assert np.allclose(to_device(found, "cpu"), expected, rtol=1e-12)


def test_conductance_at_the_ends():
    G = hpg.Graph.from_edges([0, 2], [1, 3], n_vertices=6, directed=False)
    found = hpg.conductance(G, [0, 0, 1, 2, 3, 3])
    assert found[:3].tolist() == [0, 1, 1] and np.isnan(found[3])
    assert np.isnan(hpg.conductance(G, [0] * 6)).all()


@every_kind
def test_silhouette(directed, weighted, named, device):
    """As Rousseeuw defines it of similarities, over all pairs."""
    g = example(directed, weighted, named)
    label = np.random.default_rng(3).integers(0, 5, len(g))
    label[label == 3], label[7] = 4, 3
    for weight in ("weight", None):
        A = nx.to_numpy_array(g, weight=weight)
        A = A + A.T if directed else A
        np.fill_diagonal(A, 0)
        scores = np.zeros(len(g))
        for v in range(len(g)):
            means = [A[v, label == c].sum() / max((label == c).sum() - (c == label[v]), 1) for c in range(5)]
            inside, outside = means.pop(label[v]), max(means)
            if max(inside, outside) > 0 and (label == label[v]).sum() > 1:
                scores[v] = 1 - outside / inside if inside > outside else inside / outside - 1
        found = hpg.silhouette(hpg.from_networkx(g).to(device), label, weight=weight)
        assert device_of(found) == device and found.dtype == np.float64
        assert np.allclose(to_device(found, "cpu"), [scores[label == c].mean() for c in range(5)], rtol=1e-12)


def test_silhouette_at_the_ends():
    G = hpg.Graph.from_edges([0, 2, 4, 5, 5], [1, 3, 5, 5, 6], n_vertices=9, directed=False)
    assert hpg.silhouette(G, [0, 0, 1, 2, 3, 4, 4, 5, 5]).tolist() == [1, 0, 0, 0, 0.5, 0]
    assert hpg.silhouette(G, [0] * 9).tolist() == [pytest.approx(7 / 9)]
    assert hpg.silhouette(hpg.Graph.from_edges([0, 1], [2, 3], directed=False), [0, 0, 1, 1]).tolist() == [-1, -1]
    assert hpg.silhouette(hpg.Graph.from_edges([], [], n_vertices=0), []).tolist() == []
    with pytest.raises(ValueError, match="finite and not negative"):
        hpg.silhouette(hpg.Graph.from_edges([0], [1], [-1.0], directed=False), [0, 1])


def plogp(p):
    return p * math.log2(p) if p > 0 else 0.0


def code_length(A, label):
    """Of two levels: what is said when a walk enters a community, and of the vertices and the exit in each."""
    visits = A.sum(axis=0) / A.sum()
    length, enters = 0.0, []
    for c in set(label):
        inside = label == c
        leave = A[inside][:, ~inside].sum() / A.sum()
        enters.append(A[~inside][:, inside].sum() / A.sum())
        words = [leave, *visits[inside]]
        length += plogp(sum(words)) - sum(map(plogp, words))
    return length + plogp(sum(enters)) - sum(map(plogp, enters))


@pytest.mark.parametrize("weighted", [False, True])
def test_map_equation(weighted, device):
    g = example(False, weighted, False)
    A = nx.to_numpy_array(g, weight="weight" if weighted else None)
    G = hpg.from_networkx(g).to(device)
    rng = np.random.default_rng(1)
    for label in (rng.integers(0, 4, len(g)), np.zeros(len(g), int), np.arange(len(g))):
        assert hpg.map_equation(G, label) == pytest.approx(code_length(A, label), abs=1e-12)
    assert math.isnan(hpg.map_equation(hpg.Graph.from_edges([], [], n_vertices=2, directed=False), [0, 1]))
    # By Infomap 2.16 and igraph 1.0.
    G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4, 0, 5], [1, 2, 2, 3, 4, 5, 5, 0, 5], [1.0] * 8 + [2], directed=False)
    assert hpg.map_equation(G.to(device), [0, 0, 0, 1, 1, 1]) == pytest.approx(2.204937850315531, abs=1e-12)


def carried(A, damping):
    """What a walk carries along arcs, that jumps to the source of a random one."""
    strength = A.sum(axis=1)
    steps = np.divide(A, strength[:, None], out=np.zeros_like(A), where=strength[:, None] > 0)
    jumps = strength / strength.sum()
    rank = np.linalg.solve(np.eye(len(A)) - damping * (steps + np.outer(strength == 0, jumps)).T, (1 - damping) * jumps)
    return rank[:, None] * steps


@pytest.mark.parametrize("weighted", [False, True])
def test_map_equation_of_directed_graphs(weighted, device):
    g = example(True, weighted, False)
    A = nx.to_numpy_array(g, weight="weight" if weighted else None)
    label = np.random.default_rng(1).integers(0, 4, len(g))
    for damping in (0.85, 0.5):
        found = hpg.map_equation(hpg.from_networkx(g).to(device), label, damping=damping)
        assert found == pytest.approx(code_length(carried(A, damping), label), abs=1e-10)
    assert hpg.map_equation(hpg.from_networkx(g), label, None) != pytest.approx(found)


@pytest.mark.parametrize("directed", [False, True])
def test_infomap(directed, device):
    """Minus the map equation is the quality; communities are connected; parts that are planted are found."""
    g = nx.random_partition_graph([30] * 6, 0.4, 0.02, seed=1, directed=directed)
    G = hpg.from_networkx(g).to(device)
    found = hpg.infomap(G, seed=1)
    assert device_of(found.label) == device
    assert found.quality == pytest.approx(-hpg.map_equation(G, found), abs=1e-12)
    assert hpg.adjusted_rand_index(found, np.arange(180) // 30) == 1
    assert hpg.infomap(G, n_iterations=-1, start=found).quality >= found.quality
    for seed in range(3):
        sparse = nx.gnp_random_graph(150, 0.02, seed=seed, directed=directed)
        parts = hpg.infomap(hpg.from_networkx(sparse).to(device), seed=seed).communities()
        assert all(nx.is_connected(sparse.subgraph(part).to_undirected()) for part in parts)


@pytest.mark.parametrize("g", [nx.karate_club_graph(), nx.gnp_random_graph(100, 0.5, seed=1)])
def test_infomap_finds_no_more_than_a_walk_needs(g, device):
    """As few bits as Infomap needs, and never more than for components."""
    G = hpg.from_networkx(g).to(device)
    found = hpg.infomap(G)
    assert -found.quality <= hpg.map_equation(G, [0] * len(g)) + 1e-12
    infomap = pytest.importorskip("infomap")
    peer = infomap.Infomap(two_level=True, silent=True, num_trials=5)
    peer.add_links([(u, v, float(w)) for u, v, w in g.edges(data="weight", default=1)])
    peer.run()
    assert -found.quality < peer.codelength + 1e-6


def test_ensembles_agree_where_single_searches_do_not(device):
    """On parts that hardly show, by a seed of its own each, and never worse on the mean."""
    truth = np.arange(1000) // 50
    g = nx.random_partition_graph([50] * 20, 0.2, 0.025, seed=2)
    G = hpg.from_networkx(g).to(device)
    scores = [
        [hpg.adjusted_rand_index(find(G, seed=seed), truth) for seed in range(3)] for find in (hpg.ecg, hpg.leiden)
    ]
    assert np.mean(scores[0]) > np.mean(scores[1])


@pytest.mark.parametrize("method", ["pagerank", "heat_kernel"])
@pytest.mark.parametrize("weighted", [False, True])
def test_local_cluster(method, weighted, device):
    """A planted part around its vertices, of the conductance that NetworkX finds."""
    g = nx.random_partition_graph([30] * 8, 0.5, 0.005, seed=1)
    rng = np.random.default_rng(1)
    for _, _, data in g.edges(data=True):
        data["weight"] = float(rng.uniform(1, 3)) * 1e6
    weight = "weight" if weighted else None
    G = hpg.from_networkx(g).to(device)
    for seeds in (4, [65, 70]):
        vertices, conductance = hpg.local_cluster(G, seeds, method=method, damping=0.7, t=3, weight=weight)
        part = np.flatnonzero(np.arange(240) // 30 == np.ravel(seeds)[0] // 30)
        assert conductance == pytest.approx(nx.conductance(g, to_device(vertices, "cpu").tolist(), weight=weight))
        assert conductance < 2 * nx.conductance(g, part, weight=weight) and len(vertices) < 36
        assert np.isin(part, to_device(vertices, "cpu")).all()


def best_of_sweep(A, held):
    """The least conductance, by definition, of the first vertices in the order of what they hold by their strength."""
    strength = A.sum(axis=1)
    order = np.argsort(-held / strength, kind="stable")
    found = []
    for size in range(1, len(A)):
        inside = np.isin(np.arange(len(A)), order[:size])
        found.append(A[inside][:, ~inside].sum() / min(strength[inside].sum(), strength[~inside].sum()))
    return min(found)


@pytest.mark.parametrize("method", ["pagerank", "heat_kernel"])
@pytest.mark.parametrize("mixing", [0.02, 0.1])
def test_local_cluster_is_that_of_the_exact_diffusion(method, mixing, device):
    """By linear equations and a matrix exponential; faint clusters are as good as the diffusion has them."""
    g = nx.random_partition_graph([20] * 6, 0.5, mixing, seed=2)
    G, A = hpg.from_networkx(g).to(device), nx.to_numpy_array(g)
    walk = A / A.sum(axis=1, keepdims=True)
    for seed, reach in ((3, 0.7), (50, 0.9), (111, 0.98)):
        start = np.eye(len(A))[seed]
        if method == "pagerank":
            held = np.linalg.solve(np.eye(len(A)) - reach * walk.T, start)
            options = {"damping": reach}
        else:
            held = scipy.linalg.expm(5 * reach * (walk.T - np.eye(len(A)))) @ start
            options = {"t": 5 * reach}
        _, conductance = hpg.local_cluster(G, seed, method=method, tol=1e-10, **options)
        assert conductance == pytest.approx(best_of_sweep(A, held), rel=1e-9)


def test_local_cluster_at_the_ends():
    G = hpg.Graph.from_edges([0, 1, 3], [1, 2, 4], n_vertices=6, directed=False)
    vertices, conductance = hpg.local_cluster(G, 5)
    assert vertices.tolist() == [5] and math.isnan(conductance)
    vertices, conductance = hpg.local_cluster(G, 0)
    assert sorted(vertices.tolist()) == [0, 1, 2] and conductance == 0
    names, _ = hpg.local_cluster(nx.Graph([("a", "b"), ("b", "c")]), "a")
    assert set(names) <= {"a", "b", "c"}


def test_pagerank_nibble_looks_at_what_is_near():
    """The fewer pushes, the larger the tolerance: on a path hardly more than the seed is reached."""
    G = hpg.Graph.from_edges(np.arange(10_000), np.arange(1, 10_001), directed=False)
    reached = [len(hpg.local_cluster(G, 5000, tol=tol)[0]) for tol in (1e-6, 1e-2)]
    assert reached[0] < 300 and reached[1] < 40


@pytest.mark.parametrize("g", [nx.karate_club_graph(), nx.les_miserables_graph(), nx.gnp_random_graph(60, 0.2, seed=1)])
def test_k_clique_communities(g):
    G = hpg.from_networkx(g)
    for k in (2, 3, 4, 7):
        found = {frozenset(part.tolist()) for part in hpg.k_clique_communities(G, k)}
        assert found == set(nx.community.k_clique_communities(g, k))


def test_labels_that_vertices_remember(device):
    """Planted parts that share vertices; above a half, parts do not overlap, and none lies within another."""
    rng = np.random.default_rng(1)
    parts = [set(range(begin, begin + 40)) for begin in range(0, 180, 36)]
    pairs = [pair for part in parts for pair in itertools.combinations(sorted(part), 2) if rng.random() < 0.7]
    G = hpg.from_networkx(nx.Graph(pairs)).to(device)
    found = [set(part.tolist()) for part in hpg.slpa(G, 60, 0.1, seed=1)]
    assert all(not one < other for one, other in itertools.permutations(found, 2))
    assert set().union(*found) == set(range(184))
    assert np.mean([max(len(part & each) / len(part | each) for each in found) for part in parts]) > 0.8
    again = [set(part.tolist()) for part in hpg.slpa(G, 60, 0.1, seed=1)]
    assert again == found
    single = hpg.slpa(G, 60, 0.51)
    assert sum(map(len, single)) == len(set(np.concatenate(single).tolist()))


def merged(A):
    """Distances at which the nearest two clusters merge, by matrices."""
    A = A.copy()
    strength, total, distances = A.sum(axis=1), A.sum(), []
    while len(A) > 1:
        with np.errstate(divide="ignore"):
            apart = np.outer(strength, strength) / (A * total)
        np.fill_diagonal(apart, np.inf)
        a, b = sorted(np.unravel_index(apart.argmin(), apart.shape))
        distances.append(apart[a, b])
        A[a] += A[b]
        A[:, a] += A[:, b]
        strength[a] += strength[b]
        A, strength = np.delete(np.delete(A, b, 0), b, 1), np.delete(strength, b)
    return distances


@pytest.mark.parametrize("directed", [False, True])
def test_paris(directed, device):
    """As agglomeration by matrices, where no two distances are the same; components merge last, at infinity."""
    g = nx.disjoint_union(
        nx.random_partition_graph([15] * 4, 0.6, 0.05, seed=1, directed=directed),
        nx.gnp_random_graph(20, 0.2, seed=2, directed=directed),
    )
    rng = np.random.default_rng(1)
    for _, _, data in g.edges(data=True):
        data["weight"] = float(rng.uniform(1, 2))
    A = nx.to_numpy_array(g)
    found = hpg.paris(hpg.from_networkx(g).to(device))
    assert scipy.cluster.hierarchy.is_valid_linkage(found, throw=True)
    expected = merged(A + A.T if directed else A)
    assert np.allclose(found[:, 2], expected, rtol=1e-9)
    parts = scipy.cluster.hierarchy.fcluster(found, 1e9, "distance")
    components = list(nx.connected_components(g.to_undirected()))
    assert len(set(parts.tolist())) == len(components)
    assert all(len({parts[v] for v in component}) == 1 for component in components)


def test_paris_of_hubs_and_of_nothing():
    star = hpg.paris(hpg.Graph.from_edges(np.zeros(300, int), np.arange(1, 301), directed=False))
    assert scipy.cluster.hierarchy.is_valid_linkage(star) and star[-1, 3] == 301
    assert (np.diff(star[:, 2]) >= 0).all()
    assert [hpg.paris(hpg.Graph.from_edges([], [], n_vertices=n)).shape for n in range(3)] == [(0, 4), (0, 4), (1, 4)]


def test_paris_passes_over_arcs_of_weight_0():
    rng = np.random.default_rng(3)
    source, target = rng.integers(0, 40, (2, 600))
    weight = rng.integers(0, 2, 600) * rng.uniform(1, 2, 600)
    there = weight > 0
    some, every = (
        hpg.Graph.from_edges(source[kept], target[kept], weight[kept], 40, directed=False, duplicates="max")
        for kept in (there, there | ~there)
    )
    assert (hpg.paris(some) == hpg.paris(every)).all()
    nothing = hpg.paris(hpg.Graph.from_edges([0, 1], [1, 2], [0.0, 0.0], directed=False))
    assert np.isinf(nothing[:, 2]).all()


def test_adjusted_rand_index():
    rng = np.random.default_rng(2)
    for sizes in ((3, 4), (20, 2)):
        a, b = (rng.integers(0, size, 40) for size in sizes)
        pairs = list(itertools.combinations(range(40), 2))
        of_a, of_b = (np.array([x[i] == x[j] for i, j in pairs], float) for x in (a, b))
        chance, most = of_a.sum() * of_b.sum() / len(pairs), (of_a.sum() + of_b.sum()) / 2
        assert hpg.adjusted_rand_index(a, b) == pytest.approx(((of_a * of_b).sum() - chance) / (most - chance))
        assert hpg.adjusted_rand_index(a, a + 7) == 1
    assert hpg.adjusted_rand_index([], []) == hpg.adjusted_rand_index([1, 1], [2, 2]) == 1
    raises(ValueError, "same vertices", hpg.adjusted_rand_index, [0], [0, 1])
