"""Measures of whole graphs and of neighbourhoods, against NetworkX and definitions that share no code."""

import itertools
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.special
from graph_examples import every_kind, example, without_loops
from raising import raises

import hpgraph as hpg
from hpgraph.algorithms.mixing import by_products, correlation
from hpgraph.core.device import device_of, to_device

ENDS = ("in", "out", "in+out")


def listed(found):
    return to_device(found, "cpu").tolist()


@every_kind
def test_measures(directed, weighted, named, device):
    g = example(directed, weighted, named)
    G, nodes, weight = hpg.from_networkx(g).to(device), list(g), "weight" if weighted else None
    assert hpg.density(G) == pytest.approx(nx.density(g))
    assert sorted(listed(hpg.isolates(G))) == sorted(nx.isolates(g))
    for source, target in itertools.product(ENDS, ENDS) if directed else [("out", "out")]:
        wanted = nx.average_neighbor_degree(g, source, target, weight=weight)
        found = hpg.average_neighbor_degree(G, source, target, weight=weight)
        assert device_of(found) == device and listed(found) == pytest.approx([wanted[v] for v in nodes])
        some = nodes[5:1:-1]
        assert listed(hpg.average_neighbor_degree(G, source, target, some, weight=weight)) == pytest.approx(
            [wanted[v] for v in some]
        )
        if directed:
            wanted = nx.average_degree_connectivity(g, source, target, weight=weight)
            found = listed(hpg.average_degree_connectivity(G, source, target, weight=weight))
            assert {k: value for k, value in enumerate(found) if value == value} == pytest.approx(wanted)
    if not directed:
        wanted = nx.average_degree_connectivity(g, nodes=nodes[:20], weight=weight)
        found = listed(hpg.average_degree_connectivity(G, vertices=nodes[:20], weight=weight))
        assert {k: value for k, value in enumerate(found) if value == value} == pytest.approx(wanted)
    for x, y in itertools.product(ENDS[:2], ENDS[:2]):
        wanted = nx.degree_assortativity_coefficient(g, x, y, weight=weight)
        assert hpg.degree_assortativity_coefficient(G, x, y, weight=weight) == pytest.approx(wanted)
    rng = np.random.default_rng(4)
    size, color = rng.integers(0, 9, len(g)), rng.choice(["red", "green", "blue"], len(g))
    nx.set_node_attributes(g, dict(zip(nodes, size.tolist(), strict=True)), "size")
    nx.set_node_attributes(g, dict(zip(nodes, color.tolist(), strict=True)), "color")
    wanted = nx.numeric_assortativity_coefficient(g, "size")
    for given in (size, dict(zip(nodes, size.tolist(), strict=True))):
        assert hpg.numeric_assortativity_coefficient(G, given) == pytest.approx(wanted)
    wanted = nx.attribute_assortativity_coefficient(g, "size")
    for given in (size, to_device(size, device)):
        assert hpg.attribute_assortativity_coefficient(G, given) == pytest.approx(wanted)
    wanted = nx.attribute_assortativity_coefficient(g, "color")
    for given in (color, color.tolist(), dict(zip(nodes, color.tolist(), strict=True))):
        assert hpg.attribute_assortativity_coefficient(G, given) == pytest.approx(wanted)
    plain = without_loops(nx.Graph(g))
    wanted = nx.rich_club_coefficient(plain, normalized=False)
    assert dict(enumerate(listed(hpg.rich_club_coefficient(G)))) == pytest.approx(wanted)


def test_reciprocity(device):
    g = example(True, False, True)
    G, nodes = hpg.from_networkx(g).to(device), [v for v in g if g.degree(v)]
    assert hpg.reciprocity(G) == pytest.approx(nx.overall_reciprocity(g))
    wanted = nx.reciprocity(g, nodes)
    assert listed(hpg.reciprocity(G, nodes)) == pytest.approx([wanted[v] for v in nodes])
    empty = hpg.Graph.from_edges([], [], n_vertices=2)
    assert np.isnan(hpg.reciprocity(empty)) and np.isnan(hpg.reciprocity(empty, [1])).all()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 40, 150])
def test_censuses(n, device):
    """Of sparse and dense graphs, with loops; the sums are those of all pairs and triples."""
    rng = np.random.default_rng(n)
    for p in (1.5 / max(n, 1), 0.4):
        g = nx.from_numpy_array((rng.random((n, n)) < min(p, 20 / max(n, 1))).astype(int), create_using=nx.DiGraph)
        G = hpg.from_networkx(g).to(device)
        assert hpg.triadic_census(G) == nx.triadic_census(g)
        A = nx.to_numpy_array(g) if n else np.zeros((0, 0))
        np.fill_diagonal(A, 0)
        mutual = int((A * A.T).sum()) // 2
        census = hpg.dyad_census(G)
        assert census["mutual"] == mutual and census["asymmetric"] == int(A.sum()) - 2 * mutual
        assert sum(census.values()) == n * (n - 1) // 2
        both = hpg.Graph(G, directed=False)
        assert hpg.triadic_census(both) == nx.triadic_census(nx.DiGraph(g.to_undirected()))


@pytest.mark.parametrize("directed", [False, True])
def test_voterank(directed, device):
    g = without_loops(example(directed, False, True))
    G = hpg.from_networkx(g).to(device)
    # NetworkX's sums are rounded, and its ties then broken otherwise.
    wanted = elected(g)
    assert listed(hpg.voterank(G)) == wanted and nx.voterank(g)[:5] == wanted[:5]
    assert listed(hpg.voterank(G, 3)) == wanted[:3] and listed(hpg.voterank(G, 0)) == []


def elected(g):
    """VoteRank in fractions; of equal votes the first vertex."""
    less = Fraction(len(g), sum(degree for _, degree in (g.out_degree() if g.is_directed() else g.degree())))
    power, found = dict.fromkeys(g, Fraction(1)), []
    while True:
        votes = {v: 0 if v in found else sum(power[u] for u in g[v]) for v in g}
        best = max(votes, key=votes.__getitem__)
        if not votes[best]:
            return found
        found.append(best)
        power[best] = Fraction(0)
        power |= {u: max(power[u] - less, Fraction(0)) for u in g[best]}


def test_effective_diameter(device):
    g = example(False, False, False)
    G = hpg.from_networkx(g).to(device)
    distances = sorted(d for _, row in nx.all_pairs_shortest_path_length(g) for d in row.values() if d)
    within = lambda d: sum(one <= d for one in distances) / len(distances)  # noqa: E731
    for share in (0.1, 0.5, 0.9):
        found = hpg.effective_diameter(G, share)
        whole = int(found)
        assert within(whole) + (found - whole) * (within(whole + 1) - within(whole)) == pytest.approx(share)
    assert hpg.effective_diameter(G, 1) == max(distances)
    assert np.isnan(hpg.effective_diameter(hpg.Graph.from_edges([], [], n_vertices=3)))


@pytest.mark.parametrize("n", [30, 60_000])
def test_correlation_at_the_ends_of_arcs(n, device):
    # More vertices than one thread takes alone; some have no arcs, and what these hold does not matter.
    rng = np.random.default_rng(n)
    source, target = (n * rng.random((2, 3 * n)) ** 3).astype(np.int64)
    loops = np.arange(0, n, 7)
    for directed in (True, False):
        G = hpg.Graph.from_edges(np.r_[source, loops], np.r_[target, loops], n_vertices=n, directed=directed).to(device)
        arcs = G.out_csr
        row, column = (to_device(end, "cpu") for end in (arcs.expand_rows(), arcs.indices))
        x = rng.normal(1e6, 1.0, n)
        x[np.bincount(row, minlength=n) + np.bincount(column, minlength=n) == 0] = np.nan
        y = rng.normal(-3.0, 1e-3, n) + 1e-3 * np.nan_to_num(x) if directed else x
        for value, other in ((x, y), (1e140 * x, y if directed else 1e140 * y)):
            wanted = np.corrcoef((value / value[row[0]])[row], (other / other[row[0]])[column])[0, 1]
            given = to_device(value, device), to_device(other, device)
            for found in (correlation, by_products):
                assert found(arcs, G.in_degree if directed else None, *given) == pytest.approx(wanted, abs=1e-7)


def test_mutual_arcs_of_skewed_rows(device):
    rng = np.random.default_rng(9)
    for n, m in ((1, 3), (50, 400), (20_000, 150_000)):
        source, target = (n * rng.random((2, m)) ** 2).astype(np.int64)
        G = hpg.Graph.from_edges(source, target, n_vertices=n).to(device)
        keys = np.unique(source * n + target)
        apart = keys[keys // n != keys % n]
        mutual = int(np.isin(apart % n * n + apart // n, apart).sum())
        assert hpg.reciprocity(G) == mutual / len(keys)
        found = hpg.dyad_census(G)
        assert (found["mutual"], found["asymmetric"]) == (mutual // 2, len(apart) - mutual)


def test_at_the_ends():
    ring = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False)
    empty = hpg.Graph.from_edges([], [], n_vertices=3, directed=False)
    assert np.isnan(hpg.degree_assortativity_coefficient(ring)) and np.isnan(
        hpg.degree_assortativity_coefficient(empty)
    )
    assert np.isnan(hpg.attribute_assortativity_coefficient(ring, [1, 1, 1]))
    # Means of equal values are rounded; values nowhere at an arc do not count.
    for n in (7, 1000):
        many = hpg.datasets.watts_strogatz_graph(n, 2, 0.0)
        for equal in (0.1, 1 / 3, -1e8 - 0.1):
            assert np.isnan(hpg.numeric_assortativity_coefficient(many, np.full(n, equal)))
    # Nor do their squares vanish, or exceed floats.
    chain = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    for size in (1e-170, 1, 1e155):
        assert abs(hpg.numeric_assortativity_coefficient(chain, size * np.array([1, 2, 3, 5])) - 5 / 14) < 1e-12
    # A first value far from the mean of the others.
    circle, far = hpg.datasets.watts_strogatz_graph(4000, 2, 0.0), np.random.default_rng(1).normal(0, 1, 4000)
    far[0] = 100.0
    wanted = np.corrcoef(np.r_[far, far], np.r_[np.roll(far, 1), np.roll(far, -1)])[0, 1]
    assert hpg.numeric_assortativity_coefficient(circle, far) == pytest.approx(wanted, abs=1e-12)
    # Sums that float64 does not hold exactly.
    hubs = hpg.Graph.from_edges(np.repeat([0, 1], 150_000), np.r_[2:150_002, 2:150_002], directed=False)
    ends = np.concatenate((np.stack(hubs.edges()[:2]), np.stack(hubs.edges()[1::-1])), axis=1)
    wanted = np.corrcoef(hubs.degree[ends[0]], hubs.degree[ends[1]])[0, 1]
    assert hpg.degree_assortativity_coefficient(hubs) == pytest.approx(wanted)
    # Nor of squares, where it holds those of products.
    degrees = [400_001, 400_003, 400_007]
    ends = np.repeat(range(3), degrees), np.concatenate([np.arange(d) + 7 * k + 3 for k, d in enumerate(degrees)])
    stars = hpg.Graph.from_edges(*ends)
    wanted = np.corrcoef(stars.out_degree[ends[0]] - 400_003.0, stars.in_degree[ends[1]])[0, 1]
    assert hpg.degree_assortativity_coefficient(stars) == pytest.approx(wanted, rel=1e-9)
    pair = hpg.Graph.from_edges([0], [1], n_vertices=3, directed=False)
    assert np.isnan(hpg.numeric_assortativity_coefficient(pair, [0.1, 0.1, 5.0]))
    assert hpg.density(hpg.Graph.from_edges([], [], n_vertices=1)) == 0 and hpg.isolates(empty).tolist() == [0, 1, 2]
    assert hpg.rich_club_coefficient(empty).tolist() == [] and hpg.voterank(empty).tolist() == []
    for call, says in (
        (lambda: hpg.average_neighbor_degree(ring, "up"), "source must be"),
        (lambda: hpg.attribute_assortativity_coefficient(ring, [1, 2]), "attribute must have one value"),
        (lambda: hpg.effective_diameter(ring, 1.5), "share must be"),
        (lambda: hpg.voterank(ring, -1), "number_of_nodes must not be negative"),
    ):
        raises(ValueError, says, call)


@pytest.mark.parametrize("directed", [False, True])
def test_groups(directed, device):
    """Against NetworkX, on graphs with parts out of reach; shares of paths against all of them, listed."""
    for seed in range(3):
        g = nx.gnm_random_graph(30, 50, seed=seed, directed=directed)
        rng = np.random.default_rng(seed)
        for u, v in g.edges:
            g.edges[u, v]["weight"] = float(rng.integers(1, 9))
        G, group = hpg.from_networkx(g, weight="weight").to(device), [2, 5, 11, 17]
        assert hpg.group_degree_centrality(G, group) == nx.group_degree_centrality(g, group)
        if directed:
            assert hpg.group_in_degree_centrality(G, group) == nx.group_in_degree_centrality(g, group)
            assert hpg.group_out_degree_centrality(G, group) == nx.group_out_degree_centrality(g, group)
        for weight in (None, "weight"):
            found, wanted = (each(graph, group, weight=weight) for each, graph in (
                (hpg.group_closeness_centrality, G), (nx.group_closeness_centrality, g)
            ))  # fmt: skip
            assert found == pytest.approx(wanted, rel=1e-12)
        total, outside = 0.0, [v for v in g if v not in group]
        for s in outside:
            for t in outside:
                paths = list(nx.all_shortest_paths(g, s, t)) if s != t and nx.has_path(g, s, t) else []
                total += sum(not set(group).isdisjoint(path) for path in paths) / max(len(paths), 1)
        assert hpg.group_betweenness_centrality(G, group) == pytest.approx(total / (26 * 25), rel=1e-12)
        plain = hpg.group_betweenness_centrality(G, group, normalized=False)
        assert plain == pytest.approx(total if directed else total / 2, rel=1e-12)
    single = hpg.Graph.from_edges([0], [1], directed=False)
    assert hpg.group_degree_centrality(single, [0, 1]) == hpg.group_closeness_centrality(single, [0, 1]) == 0
    assert hpg.group_betweenness_centrality(single, [0]) == 0


def test_power_law():
    """Against the package powerlaw 2.0 (numbers noted), scans of the likelihood, and the exponents of samples."""
    x = np.random.default_rng(0).random(5000) ** (-1 / 1.5)
    found = hpg.power_law_fit(x)
    assert found[:3] == pytest.approx((2.485445729653253, 0.02100737497044828, 1.000289492985446), rel=1e-9)
    assert hpg.power_law_fit(x, xmin=2.5)[:2] == pytest.approx((2.471483858689429, 0.04103316515454233), rel=1e-9)
    assert hpg.power_law_fit(x, xmin=2.5).distance == pytest.approx(0.021436422801316024, rel=1e-9)
    whole = np.random.default_rng(1).zipf(2.5, 20_000)
    assert hpg.power_law_fit(whole, xmin=1).alpha == pytest.approx(2.5, abs=5 * hpg.power_law_fit(whole, xmin=1).sigma)
    for xmin in (1, 3):
        tail, alphas = whole[whole >= xmin], np.linspace(2, 3, 20_001)
        likelihood = -len(tail) * np.log(scipy.special.zeta(alphas, xmin)) - alphas * np.log(tail).sum()
        found = hpg.power_law_fit(whole, xmin=xmin)
        assert found.alpha == pytest.approx(alphas[likelihood.argmax()], abs=1e-4) and found.n_tail == len(tail)
        k = np.arange(xmin, 200)
        law = np.cumsum(k**-found.alpha) / scipy.special.zeta(found.alpha, xmin)
        seen = (tail[:, None] <= k).mean(axis=0)
        assert found.distance == pytest.approx(abs(law - seen)[np.isin(k, tail)].max(), abs=1e-6)
    assert hpg.power_law_fit(whole).distance <= hpg.power_law_fit(whole, xmin=1).distance
    for call, says in (
        (lambda: hpg.power_law_fit([1, 1, 0]), "two or more different"),
        (lambda: hpg.power_law_fit([1.5, 2], discrete=True), "must be whole numbers"),
        (lambda: hpg.power_law_fit([1, 2], xmin=0), "xmin must be positive"),
        (lambda: hpg.power_law_fit([[1, 2]]), "one-dimensional"),
    ):
        raises(ValueError, says, call)
