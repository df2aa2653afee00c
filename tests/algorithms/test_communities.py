"""Communities, against NetworkX's measures, SciPy's components and slow references that share no code with ours."""

import itertools
from collections import Counter
from functools import partial

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph
from graph_examples import every_kind, example
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.communities.level import level_of, likely_weights

SEARCHES = {
    "louvain": hpg.louvain,
    "leiden": hpg.leiden,
    "infomap": hpg.infomap,
    "ecg": hpg.ecg,
    "label_propagation_communities": hpg.label_propagation_communities,
}


def sorted_by_number(g):
    made = nx.empty_graph(len(g))
    made.add_edges_from(g.edges)
    return made


# Planted parts, hubs whose arcs fill a block's table and more, levels of few vertices, and regular graphs full of ties.
CASES = {
    "planted": sorted_by_number(nx.random_partition_graph([40] * 5, 0.4, 0.02, seed=1)),
    "hubs": nx.compose(nx.star_graph(2500), nx.relabel_nodes(nx.star_graph(400), {0: 7})),
    "scale-free": nx.barabasi_albert_graph(600, 5, seed=2),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(15, 15)),
    "cliques": nx.ring_of_cliques(8, 6),
    "apart": nx.disjoint_union_all([nx.path_graph(5), nx.complete_graph(4), nx.empty_graph(3)]),
    "directed": nx.gnp_random_graph(150, 0.04, seed=3, directed=True),
}


def parts_of(found):
    """The communities as sets, from the labels alone."""
    label = np.asarray(found)
    return [set(np.flatnonzero(label == c).tolist()) for c in range(found.count)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("search", SEARCHES)
def test_communities_have_the_modularity_stated(search, case, device):
    """A partition numbered by smallest vertices, whose modularity is NetworkX's; each level is made of the last."""
    g = CASES[case]
    found = SEARCHES[search](hpg.from_networkx(g).to(device), seed=4)
    assert device_of(found.label) == device and len(found) == len(g)
    parts = found.communities()
    assert parts == parts_of(found) and [min(part) for part in parts] == sorted(min(part) for part in parts)
    assert found.modularity == pytest.approx(nx.community.modularity(g, parts), abs=1e-12)
    assert np.array_equal(to_device(found.hierarchy[-1], "cpu"), np.asarray(found))
    levels = [np.asarray(to_device(level, "cpu")) for level in found.hierarchy]
    for level in levels:
        # Numbered in the order in which they first occur.
        first = np.unique(level, return_index=True)[1]
        assert np.array_equal(level[np.sort(first)], np.arange(level.max() + 1))
    for finer, coarser in itertools.pairwise(levels):
        assert len(np.unique(np.stack([finer, coarser]), axis=1).T) == finer.max() + 1


@pytest.mark.parametrize("case", CASES)
def test_leiden_is_connected(case, device):
    g = CASES[case]
    A = nx.to_scipy_sparse_array(g)
    for options in ({}, {"max_level": 1, "n_iterations": 1}, {"resolution": 0.05}):
        label = np.asarray(hpg.leiden(hpg.from_networkx(g).to(device), **options))
        row, column = A.nonzero()
        inside = label[row] == label[column]
        within = scipy.sparse.coo_array((np.ones(inside.sum()), (row[inside], column[inside])), shape=A.shape)
        assert scipy.sparse.csgraph.connected_components(within, directed=False)[0] == label.max() + 1


def test_refined_parts_are_connected(device):
    """Also if nearly all vertices join in the first rounds, and a vertex that others joined might leave.

    Communities of the last graph are found by whole communities of the first level, and one of its last seed is not
    connected before it is split.
    """
    graphs = [(hpg.datasets.kron(10, 8), 1), (hpg.datasets.uniform(11, 4), 1), (hpg.datasets.grid(40), 1)]
    for (G, resolution), seed in itertools.product([*graphs, (hpg.datasets.uniform(13, 8), 10)], range(1, 4)):
        arcs = G.out_csr
        row = arcs.expand_rows()
        for level in hpg.leiden(G.to(device), resolution=resolution, seed=seed).hierarchy:
            label = to_device(level, "cpu")
            inside = label[row] == label[arcs.indices]
            ends = row[inside], arcs.indices[inside]
            within = scipy.sparse.coo_array((np.ones(inside.sum()), ends), shape=arcs.shape)
            assert scipy.sparse.csgraph.connected_components(within, directed=False)[0] == label.max() + 1


def test_no_worse_than_networkx(device):
    """Within what another seed of NetworkX's makes of it, and planted parts are found."""
    for case in ("planted", "scale-free", "grid", "directed"):
        g = CASES[case]
        G = hpg.from_networkx(g).to(device)
        theirs = min(nx.community.modularity(g, nx.community.louvain_communities(g, seed=seed)) for seed in range(3))
        assert np.mean([hpg.louvain(G, seed=seed).modularity for seed in range(3)]) > theirs - 0.01
        assert np.mean([hpg.leiden(G, seed=seed).modularity for seed in range(3)]) > theirs - 0.005
    planted = np.arange(200) // 40
    G = hpg.from_networkx(CASES["planted"]).to(device)
    for search in (hpg.louvain, hpg.leiden):
        assert hpg.normalized_mutual_information(search(G), planted) == 1
    # Labels run over a border where chance has it, theirs as well.
    ours, theirs = [], []
    for seed in range(5):
        ours.append(hpg.normalized_mutual_information(hpg.label_propagation_communities(G, seed=seed), planted))
        label = np.empty(200, np.int64)
        for number, part in enumerate(nx.community.asyn_lpa_communities(CASES["planted"], seed=seed)):
            label[list(part)] = number
        theirs.append(hpg.normalized_mutual_information(label, planted))
    assert np.mean(ours) > np.mean(theirs) - 0.1
    assert hpg.normalized_mutual_information(hpg.spectral_clustering(G, 5), planted) == 1


def test_as_much_is_found_where_communities_hardly_show(device):
    """Vertices that are alone join each other in whatever batches they are; where they do not, .2357 is found."""
    g = nx.LFR_benchmark_graph(
        3000, 2.5, 1.5, 0.55, average_degree=20, max_degree=100, min_community=20, max_community=200, max_iters=1000,
        seed=1,
    )  # fmt: skip
    g = sorted_by_number(g)
    g.remove_edges_from(list(nx.selfloop_edges(g)))
    theirs = [nx.community.modularity(g, nx.community.louvain_communities(g, seed=seed)) for seed in range(2)]
    G = hpg.from_networkx(g).to(device)
    assert np.mean([hpg.leiden(G, seed=seed).modularity for seed in range(4)]) > np.mean(theirs)


def test_labels_grow_where_all_are_equals(device):
    """On a grid all neighbours differ at first: labels spread in parts of many, and do not stay in pairs."""
    found = hpg.label_propagation_communities(hpg.datasets.grid(64).to(device))
    assert found.modularity > 0.75 and found.count < 600


def test_labels_find_planted_parts_of_many(device):
    """Whether vertices are numbered part by part, or not; one label does not run through all of them."""
    rng = np.random.default_rng(1)
    n, size = 6000, 200
    source = rng.integers(0, n, 12 * n)
    near = source // size * size + rng.integers(0, size, len(source))
    target = np.where(rng.random(len(source)) < 0.7, near, rng.integers(0, n, len(source)))
    for order in (np.arange(n), rng.permutation(n)):
        G = hpg.Graph.from_edges(order[source], order[target], n_vertices=n, directed=False).to(device)
        planted = np.empty(n, np.int64)
        planted[order] = np.arange(n) // size
        assert hpg.normalized_mutual_information(hpg.label_propagation_communities(G), planted) > 0.95


def test_no_order_of_vertices_decides():
    """The grid in scanning order, and shuffled: the modularity differs by no more than between seeds."""
    g = CASES["grid"]
    shuffled = nx.relabel_nodes(g, dict(zip(g, np.random.default_rng(1).permutation(len(g)).tolist(), strict=True)))
    scanned, mixed = (
        [hpg.leiden(hpg.from_networkx(graph), seed=seed).modularity for seed in range(5)]
        for graph in (g, nx.Graph(sorted(shuffled.edges)))
    )
    assert abs(np.mean(scanned) - np.mean(mixed)) < 0.02


@pytest.mark.parametrize("search", SEARCHES)
def test_answers_repeat(search, device):
    """To the bit, on any number of threads; another seed is another search."""
    g = hpg.datasets.social(12, 12, weighted=True).to(device)
    found = []
    for threads in (1, 2, 2):
        with hpg.config(threads=threads):
            found.append(SEARCHES[search](g, weight=True, seed=1))
    first = np.asarray(found[0])
    assert all(np.array_equal(first, np.asarray(one)) and found[0].modularity == one.modularity for one in found)
    another = np.asarray(SEARCHES[search](g, seed=2))
    assert search == "label_propagation_communities" or not np.array_equal(first, another)


@pytest.mark.parametrize("objective", ["modularity", "CPM"])
@pytest.mark.parametrize("directed", [False, True])
def test_no_move_raises_the_quality_in_the_end(directed, objective):
    """To any community, or to one of its own: of up to 99 vertices, rounds end when none moves."""
    rng = np.random.default_rng(5)
    for seed in range(12):
        n = int(rng.integers(2, 30))
        source, target = rng.integers(0, n, (2, 3 * n))
        weight = rng.integers(0, 4, 3 * n).astype(float)
        weight[0] = 1
        G = hpg.Graph.from_edges(source, target, weight, n_vertices=n, directed=directed)
        found = hpg.leiden(G, seed=seed, objective=objective, resolution=0.3, n_iterations=-1, threshold=0)
        quality = partial(hpg.community_quality, G, objective=objective, resolution=0.3)
        label = np.asarray(found).astype(np.int64)
        assert found.quality == pytest.approx(quality(label), rel=1e-12)
        for v in range(n):
            for community in range(found.count + 1):
                moved = label.copy()
                moved[v] = community
                assert quality(moved) <= found.quality + 1e-9, (seed, v, community)


@pytest.mark.parametrize("case", [*CASES, "social"])
def test_small_levels_are_as_good_in_one_kernel(case, monkeypatch):
    """As by calls level by level, where batches move: from the graph on, and from a later level on."""
    g = hpg.datasets.social(12, 8, weighted=True) if case == "social" else hpg.from_networkx(CASES[case])
    start = {"start": np.arange(g.n_vertices) // 3}
    leiden = (hpg.leiden, {}), (hpg.leiden, start), (hpg.leiden, {"n_iterations": -1})
    calls = *leiden, (hpg.louvain, {}), (hpg.infomap, {}), (hpg.infomap, start)
    whole = [[search(g, seed=seed, **given) for seed in range(5)] for search, given in calls]
    for found in itertools.chain(*whole):
        for finer, coarser in itertools.pairwise(found.hierarchy):
            assert len(set(zip(finer.tolist(), coarser.tolist(), strict=True))) == len(set(finer.tolist()))
    for seed, found in enumerate(whole[3]):
        each = [hpg.modularity(g, label) for label in found.hierarchy]
        assert each == sorted(each)
        assert np.array_equal(hpg.louvain(g, seed=seed, max_level=1).label, found.hierarchy[0])
    monkeypatch.setattr(kernels("cpu"), "finish_levels", lambda *_, **__: None)
    steps = [[search(g, seed=seed, **given) for seed in range(5)] for search, given in calls]
    for k in range(0, len(calls), 3):
        means = [np.mean([found.quality for found in itertools.chain(*each[k : k + 3])]) for each in (whole, steps)]
        assert means[0] >= means[1] - 0.01


@pytest.mark.parametrize("scale", [1.0, 0.1, 2.0**60, 1e-150])
def test_weights_of_any_size(scale, device):
    """What all weights are multiplied by makes no difference, and sums are exact where weights are no whole numbers."""
    g = example(False, True, False)
    for _, _, attributes in g.edges(data=True):
        attributes["weight"] *= scale
    found = hpg.leiden(hpg.from_networkx(g).to(device))
    assert found.modularity == pytest.approx(nx.community.modularity(g, found.communities()), abs=1e-12)
    if scale >= 1:
        plain = hpg.leiden(hpg.from_networkx(example(False, True, False)).to(device))
        assert np.array_equal(np.asarray(found), np.asarray(plain))


def test_equal_weights_are_the_unit(device):
    """Without rounding: communities and modularity to the bit as without weights, other objectives as a multiple."""
    g = CASES["planted"]
    plain = hpg.from_networkx(g).to(device)
    nx.set_edge_attributes(g := g.copy(), 0.3, "weight")
    equal = hpg.from_networkx(g).to(device)
    for directed in (False, True):
        made = [hpg.leiden(hpg.Graph(each.out_csr, directed=directed), seed=2) for each in (plain, equal)]
        assert np.array_equal(*map(np.asarray, made))
        assert made[0].modularity == made[1].modularity
    given = (hpg.leiden(plain), "CPM")
    qualities = [hpg.community_quality(plain, *given, None, 0.05), hpg.community_quality(equal, *given, True, 0.015)]
    assert qualities[1] == pytest.approx(0.3 * qualities[0], rel=1e-12)


@pytest.mark.parametrize(
    "weight", [None, [], [1, 1], [3, 2**40], [0.5, 2.0], [1e300, 1.0], [np.inf, 1.0], [np.nan, 1.0]]
)
def test_kernels_begin_for_the_type_of_the_sums(weight):
    ends = ([0, 1], [1, 2]) if weight != [] else ([], [])
    graph = hpg.Graph.from_edges(*ends, weight, n_vertices=3, directed=False)
    keeps, guessed = likely_weights(graph.out_csr, graph.weighted)
    assert guessed >= 0
    if weight is None or np.all(np.isfinite(weight)):
        made = level_of(graph.out_csr, graph.directed, graph.weighted)
        assert (guessed < 2**31) == (made.total < 2**31)
        assert keeps == (made.arcs.data is not None)


@every_kind
def test_measures(directed, weighted, named, device):
    """With loops, names, weights and directions, of communities in every form."""
    g = example(directed, weighted, named)
    G = hpg.from_networkx(g).to(device)
    rng = np.random.default_rng(3)
    label = rng.integers(0, 6, len(g))
    nodes = np.array(list(g), dtype=object)
    sets = [set(nodes[label == c]) for c in range(6)]
    for resolution in (1, 0.5):
        expected = nx.community.modularity(g, sets, resolution=resolution)
        for given in (sets, label, dict(zip(nodes, label.tolist(), strict=True)), label.tolist()):
            assert hpg.modularity(G, given, resolution=resolution) == pytest.approx(expected, abs=1e-12)
    expected = nx.community.modularity(g, sets, weight=None)
    assert hpg.modularity(G, sets, weight=None) == pytest.approx(expected, abs=1e-12)
    assert hpg.partition_quality(G, sets) == pytest.approx(nx.community.partition_quality(g, sets), abs=1e-12)
    found = hpg.leiden(G, resolution=0.7)
    assert found.modularity == pytest.approx(nx.community.modularity(g, found.communities(), resolution=0.7), abs=1e-12)
    assert set().union(*found.communities()) == set(g)


def slow_cdlp(g, rounds):
    """By definition: the most frequent label among in- and out-neighbours, the least of equals."""
    label = {v: v for v in g}
    for _ in range(rounds):
        following = {}
        for v in g:
            near = [*g.successors(v), *g.predecessors(v)] if g.is_directed() else list(g[v])
            counts = Counter(label[u] for u in near if u != v)
            most = max(counts.values(), default=0)
            following[v] = min((c for c, times in counts.items() if times == most), default=label[v])
        label = following
    return [label[v] for v in range(len(g))]


@pytest.mark.parametrize("case", CASES)
def test_cdlp_is_exact(case, device):
    g = CASES[case]
    G = hpg.from_networkx(g).to(device)
    for rounds in (0, 1, 3, 10):
        assert hpg.cdlp(G, rounds).tolist() == slow_cdlp(g, rounds)
    assert hpg.cdlp(G, 2, labels=[9] * len(g)).tolist() == [9] * len(g)


def test_cdlp_begins_with_what_is_given():
    assert hpg.cdlp(([0, 1], [1, 2]), 1, labels=[70, 50, 60]).tolist() == [50, 60, 50]


@pytest.mark.parametrize("search", SEARCHES)
def test_little_graphs(search, device):
    find = SEARCHES[search]
    assert find(hpg.Graph.from_edges([], [], n_vertices=0).to(device)).communities() == []
    alone = find(hpg.Graph.from_edges([], [], n_vertices=3).to(device))
    assert alone.communities() == [{0}, {1}, {2}] and np.isnan(alone.modularity)
    loop = find(hpg.Graph.from_edges([0], [0], n_vertices=2).to(device))
    assert loop.communities() == [{0}, {1}] and loop.modularity == 0
    assert find(hpg.Graph.from_edges([0], [1], directed=False).to(device)).communities() == [{0, 1}]


def test_names_and_attributes():
    g = nx.Graph([("a", "b", {"cost": 5.0}), ("b", "c", {"cost": 0.0}), ("c", "d", {"cost": 5.0})])
    assert hpg.louvain(g, weight="cost").communities() == [{"a", "b"}, {"c", "d"}]
    assert repr(hpg.louvain(g, weight="cost")) == "<Communities: 2 of 4 vertices, modularity 0.5000, 1 level>"
    assert np.asarray(hpg.louvain(g)).shape == (4,)


def test_levels_are_limited():
    g = hpg.from_networkx(CASES["grid"])
    one = hpg.louvain(g, max_level=1)
    assert len(one.hierarchy) == 1 < len(hpg.louvain(g).hierarchy) and one.count > hpg.louvain(g).count
    assert len(hpg.louvain(g, threshold=1.0).hierarchy) == 1


def test_normalized_mutual_information():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 4, 300), rng.integers(0, 3, 300)
    joint = np.histogram2d(a, b, bins=(4, 3))[0] / 300
    p, q = joint.sum(axis=1), joint.sum(axis=0)
    information = (joint * np.log(joint / np.outer(p, q))).sum()
    expected = 2 * information / -((p * np.log(p)).sum() + (q * np.log(q)).sum())
    assert hpg.normalized_mutual_information(a, b) == pytest.approx(expected)
    assert hpg.normalized_mutual_information([], []) == hpg.normalized_mutual_information([1, 1], [2, 2]) == 1
    assert hpg.normalized_mutual_information([0, 0], [0, 1]) == 0


G = hpg.Graph.from_edges([0, 1], [1, 2], directed=False)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: hpg.louvain(([0, 1], [1, 0], [-1.0, -1.0])), ValueError, "weight.*not negative"),
        (lambda: hpg.leiden(([0, 1], [1, 0], [np.nan, 1.0])), ValueError, "weight.*finite"),
        (lambda: hpg.modularity(([0, 1], [1, 0], [np.inf, 1.0]), [0, 0]), ValueError, "weight.*finite"),
        (lambda: hpg.louvain(([0, 1], [1, 0], [0.0, 0.0])), ValueError, "all weights are 0"),
        (lambda: hpg.louvain(G, resolution=-1), ValueError, "resolution"),
        (lambda: hpg.louvain(G, resolution="1"), TypeError, "resolution"),
        (lambda: hpg.louvain(G, max_level=0), ValueError, "max_level"),
        (lambda: hpg.louvain(G, threshold=np.nan), ValueError, "threshold must be a number, not NaN"),
        (lambda: hpg.leiden(G, threshold=np.nan), ValueError, "threshold must be a number, not NaN"),
        (lambda: hpg.louvain(G, seed=0.5), TypeError, "seed"),
        (lambda: hpg.leiden(G, n_iterations=0), ValueError, "n_iterations"),
        (lambda: hpg.infomap(G, n_iterations=0), ValueError, "n_iterations"),
        (lambda: hpg.infomap(([0], [1]), damping=2), ValueError, "damping"),
        (lambda: hpg.ecg(G, min_weight=2), ValueError, "min_weight"),
        (lambda: hpg.ecg(G, ensemble_size=0), ValueError, "ensemble_size"),
        (lambda: hpg.local_cluster(([0], [1]), 0), ValueError, "undirected"),
        (lambda: hpg.local_cluster(G, []), ValueError, "seeds"),
        (lambda: hpg.local_cluster(G, 7), IndexError, "seeds"),
        (lambda: hpg.local_cluster(G, 0, method="walk"), ValueError, "method"),
        (lambda: hpg.local_cluster(G, 0, tol=0), ValueError, "tol"),
        (lambda: hpg.k_clique_communities(G, 1), ValueError, "k must be at least 2"),
        (lambda: hpg.slpa(G, 0), ValueError, "n_iterations"),
        (lambda: hpg.slpa(G, threshold=2), ValueError, "threshold"),
        (lambda: hpg.cdlp(G, -1), ValueError, "max_iteration"),
        (lambda: hpg.cdlp(G, labels=[0, 1]), ValueError, "labels"),
        (lambda: hpg.cdlp(G, labels=[0, -1, 1]), ValueError, "labels must not be negative"),
        (lambda: hpg.modularity(G, [{0, 1}]), ValueError, "each of the 3 vertices once"),
        (lambda: hpg.modularity(G, [{0, 1}, {1, 2}]), ValueError, "each of the 3 vertices once"),
        (lambda: hpg.modularity(G, [0, 1]), ValueError, "whole number for each of the 3"),
        (lambda: hpg.modularity(G, [0.5, 1, 1]), ValueError, "whole number for each of the 3"),
        (lambda: hpg.modularity(G, [{0, 1}, {7}]), IndexError, "communities"),
        (lambda: hpg.spectral_clustering(G, 4), ValueError, "n_clusters"),
        (lambda: hpg.normalized_mutual_information([0, 1], [0]), ValueError, "same vertices"),
    ],
)  # fmt: skip
def test_what_cannot_be(call, error, match):
    raises(error, match, call)


def test_spectral_clustering_of_a_larger_graph(device):
    g = sorted_by_number(nx.random_partition_graph([60] * 4, 0.3, 0.01, seed=5))
    G = hpg.from_networkx(g).to(device)
    found = hpg.spectral_clustering(G, 4, seed=3)
    assert found.count == 4 and hpg.normalized_mutual_information(found, np.arange(240) // 60) > 0.95
    assert np.array_equal(np.asarray(found), np.asarray(hpg.spectral_clustering(G, 4, seed=3)))
    assert hpg.spectral_clustering(G, 1).count == 1


def test_modularity_where_nothing_weighs_anything() -> None:
    G = hpg.Graph.from_edges([0, 1], [1, 2], [0.0, 0.0], directed=False)
    assert np.isnan(hpg.modularity(G, [{0, 1}, {2}]))
    raises(ValueError, "all weights are 0", hpg.louvain, G)
