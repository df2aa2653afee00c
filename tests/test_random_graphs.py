"""Random graphs: sizes, simplicity, and distributions by chi-squared tests against the definitions."""

import collections
import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import scipy.spatial
import scipy.stats
from raising import raises

import hpgraph as hpg
from hpgraph import datasets
from hpgraph.core.device import array_module, to_device
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels, sampling
from hpgraph.kernels.sampling.shuffles import MAX_SERIAL

MAKES = {
    "gnp": lambda **o: datasets.gnp_random_graph(200, 0.05, **o),
    "gnp directed": lambda **o: datasets.gnp_random_graph(200, 0.7, directed=True, **o),
    "gnm": lambda **o: datasets.gnm_random_graph(200, 900, **o),
    "gnm directed": lambda **o: datasets.gnm_random_graph(200, 39000, directed=True, **o),
    "blocks": lambda **o: datasets.stochastic_block_model([80, 0, 50], [[0.2, 0, 0.02], [0, 0, 0], [0.02, 0, 1]], **o),
    "chung lu": lambda **o: datasets.expected_degree_graph(np.linspace(0, 30, 200), **o),
    "barabasi": lambda **o: datasets.barabasi_albert_graph(200, 4, **o),
    "watts": lambda **o: datasets.watts_strogatz_graph(200, 7, 0.4, **o),
    "configuration": lambda **o: datasets.configuration_model([40, 40] + [5] * 198, **o),
    "exact": lambda **o: datasets.configuration_model([40, 40] + [5] * 198, exact=True, **o),
    "regular": lambda **o: datasets.random_regular_graph(5, 200, **o),
    "weighted blocks": lambda **o: datasets.stochastic_block_model(
        [120, 80], [[0.2, 0.02], [0.02, 0.3]], theta=np.linspace(0, 2, 200), **o
    ),
    "rmat": lambda **o: datasets.rmat(8, 4, 0.5, 0.3, 0.1, **o),
    "lfr": lambda **o: datasets.LFR_benchmark_graph(300, 2.5, 1.5, 0.2, min_degree=5, max_degree=40, **o),
    "geometric": lambda **o: datasets.random_geometric_graph(200, 0.1, 3, **o),
}


def matrix(G):
    return to_device(G.to("cpu").out_csr.to_scipy().toarray(), "cpu")


@pytest.mark.parametrize("name", MAKES)
def test_simple_and_repeatable(name, device):
    G = MAKES[name](seed=3, device=device)
    A = matrix(G)
    assert G.device == device and G.directed == ("directed" in name) and G.out_csr.is_canonical()
    assert A.diagonal().sum() == 0 and (G.directed or (A == A.T).all())
    assert (matrix(MAKES[name](seed=3, device=device)) == A).all()
    assert (matrix(MAKES[name](seed=4, device=device)) != A).any()


@pytest.mark.parametrize(("n", "m"), [(3, 150_000), (1000, 140_000), (300_000, 400_000), (1 << 17, 200_000)])
def test_edges_in_any_order(n, m, device):
    """Duplicates and loops among them, vertices without edges, rows much longer than others; and triangles mirrored."""
    xp, rng = array_module(device), np.random.default_rng(n)
    ends = (rng.random((2, m)) ** 3 * n).astype(np.int64)
    A = scipy.sparse.coo_array((np.ones(m), ends), (n, n)).tocsr()
    A.setdiag(0)
    A = (A + A.T).tocsr()
    A.eliminate_zeros()
    A.sort_indices()
    own = kernels(device)
    upper = scipy.sparse.triu(A, format="csr")
    triangle = CSR((n, n), xp.asarray(upper.indptr), xp.asarray(upper.indices))
    for found in (own.undirected(n, *map(xp.asarray, ends)), own.mirrored(triangle)):
        assert found.device == device and (to_device(found.indptr, "cpu") == A.indptr).all()
        assert (to_device(found.indices, "cpu") == A.indices).all()
    few = own.undirected(n, *(xp.asarray(side[:50]) for side in ends))
    assert few.is_canonical() and few.is_symmetric() and own.undirected(n, *(xp.empty((2, 0), np.int64))).nnz == 0


def fits(counts, expected):
    """Whether counts of one kind fit what is expected of them, classes of few put together."""
    counts, expected = (np.asarray(side, float) for side in (counts, expected))
    order = np.argsort(-expected)
    counts, expected = counts[order], expected[order]
    few = int(np.searchsorted(-expected, -5.0))
    parts = [np.append(side[:few], side[few:].sum()) for side in (counts, expected)]
    if parts[1][-1] < 5:
        parts = [np.append(side[: few - 1], side[few - 1 :].sum()) for side in (counts, expected)]
    return scipy.stats.chisquare(parts[0], parts[1] * parts[0].sum() / parts[1].sum()).pvalue > 1e-3


@pytest.mark.parametrize("m", [2, 3])
def test_degrees(m, device):
    """Binomial degrees of G(n, p), and the cubic law of Barabási and Albert's vertices."""
    n, p = 4000, 0.002
    degree = to_device(datasets.gnp_random_graph(n, p, device=device).out_degree, "cpu")
    k = np.arange(60)
    assert fits(np.bincount(degree, minlength=60), n * scipy.stats.binom.pmf(k, n - 1, p))
    # Few edges are drawn by arrays, many by a kernel.
    n = {2: 60_000, 3: 50_000}[m]
    G = datasets.barabasi_albert_graph(n, m, device=device)
    assert G.n_edges == 2 * m * (n - m)
    k = np.arange(m, 4000)
    assert G.out_csr.is_canonical()
    late = to_device(G.out_degree, "cpu")[100:]
    expected = len(late) * 2 * m * (m + 1) / (k * (k + 1.0) * (k + 2))
    near = np.abs(np.bincount(late, minlength=4000)[m:20] - expected[: 20 - m])
    assert (near < 6 * np.sqrt(expected[: 20 - m]) + 30).all()


@pytest.mark.parametrize("directed", [False, True])
def test_many_pairs(directed, device):
    """Draws in parallel, of which one in ten repeats another: on any number of threads the same, and as likely."""
    n, m = 2000, 300_000
    graphs = []
    for threads in (1, 2):
        with hpg.config(threads=threads):
            graphs.append(datasets.gnm_random_graph(n, m, seed=5, directed=directed, device=device))
    A, again = (matrix(G) for G in graphs)
    assert (again == A).all() and A.sum() == (m if directed else 2 * m) and A.diagonal().sum() == 0
    assert graphs[0].out_csr.is_canonical() and (directed or (A == A.T).all())
    # Blocks of pairs, counted; drawn without replacement, they vary a little less than independent ones.
    counts = A[np.triu_indices(n, 1)][: n * (n - 1) // 2 // 500 * 500].reshape(500, -1).sum(axis=1)
    k = np.arange(int(counts.max()) + 200)
    law = scipy.stats.hypergeom(n * (n - 1) // (1 if directed else 2), m, n * (n - 1) // 2 // 500)
    assert fits(np.bincount(counts.astype(int), minlength=len(k)), 500 * law.pmf(k))
    degree = A.sum(axis=1).astype(int)
    law = scipy.stats.hypergeom(n * (n - 1) // (1 if directed else 2), m, n - 1)
    assert fits(np.bincount(degree, minlength=n), n * law.pmf(np.arange(n)))


def test_every_pair_is_as_likely(device):
    """How often each pair of a small graph is joined, over many seeds."""
    n, seeds = 6, 600
    for directed in (False, True):
        total = n * (n - 1) // (1 if directed else 2)
        for make, share in (
            (lambda seed, d=directed: datasets.gnm_random_graph(n, 5, seed=seed, directed=d, device=device), 5 / total),
            (lambda seed, d=directed: datasets.gnp_random_graph(n, 0.3, seed=seed, directed=d, device=device), 0.3),
        ):
            seen = sum(matrix(make(seed)) for seed in range(seeds))
            counts = seen[~np.eye(n, dtype=bool)] if directed else seen[np.triu_indices(n, 1)]
            assert abs(counts - seeds * share).max() < 5 * np.sqrt(seeds * share * (1 - share))
    assert datasets.gnm_random_graph(n, 15, device=device).n_edges == 30
    assert datasets.gnp_random_graph(n, 1, directed=True, device=device).n_edges == 30
    assert datasets.gnp_random_graph(n, 0, device=device).n_edges == 0 == len(datasets.gnp_random_graph(0, 1))


def test_probabilities_of_blocks_and_weights(device):
    sizes, p = [30, 50], np.array([[0.5, 0.1], [0.1, 0.02]])
    seen = sum(matrix(datasets.stochastic_block_model(sizes, p, seed=seed, device=device)) for seed in range(40))
    block = np.repeat([0, 1], sizes)
    for i, j in ((0, 0), (0, 1), (1, 1)):
        pairs = seen[np.ix_(block == i, block == j)]
        count = pairs.size - (len(pairs) if i == j else 0)
        assert pairs.sum() / count / 40 == pytest.approx(p[i, j], abs=5 * np.sqrt(p[i, j] / count / 40))
    weight = np.array([9, 1, 0, 3, 3, 8, 2, 14.0])
    seen = sum(matrix(datasets.expected_degree_graph(weight, seed=seed, device=device)) for seed in range(1500)) / 1500
    wanted = np.minimum(np.outer(weight, weight) / weight.sum(), 1)
    np.fill_diagonal(wanted, 0)
    assert abs(seen - wanted).max() < 5 * 0.5 / np.sqrt(1500)


def test_products_of_weights_beyond_the_range_of_floats(device):
    with np.errstate(over="raise"):
        graph = datasets.expected_degree_graph([1e200, 1e200, 0.0], device=device)
        table = [[0.5, 0.5], [0.5, 0.0]]
        blocks = datasets.stochastic_block_model([2, 1], table, theta=[1e-200, 1e200, 1e200], device=device)
    assert graph.has_edge(0, 1) and graph.n_edges == 2
    assert blocks.has_edge(1, 2) and blocks.n_edges in (2, 4)


def test_blocks_are_the_same_on_every_path(device, monkeypatch):
    """In NumPy, in parallel on the CPU, and on the GPU; with pairs drawn often, and dense blocks, of each pair once."""
    table, theta = [[0.6, 0.1, 0.01], [0.1, 0.1, 0.3], [0.01, 0.3, 0.7]], np.arange(220) * 97 % 220 / 110
    makes = (
        lambda **o: datasets.stochastic_block_model([90, 60, 70], table, **o),
        lambda **o: datasets.stochastic_block_model([90, 60, 70], table, theta=theta, **o),
        lambda **o: datasets.expected_degree_graph(np.arange(200) ** 2 / 300, **o),
    )
    for make in makes:
        found = []
        for where, serial in (("cpu", 1 << 17), ("cpu", 0), (device, 0)):
            monkeypatch.setattr("hpgraph.kernels.sampling.cpu_blocks.MAX_SERIAL", serial)
            found.append(matrix(make(seed=4, device=where)))
        assert all((other == found[0]).all() for other in found) and found[0].sum() > 1000


@pytest.mark.parametrize(("n", "m"), [(2, 1), (9000, 1), (9000, 8), (400, 130), (400, 300)])
def test_attachments_are_the_same_on_every_path(n, m, device, monkeypatch):
    """In Python, edge by edge on the CPU, and by passes on the GPU: over both ways to find repeated ends."""
    found = []
    for where, serial in (("cpu", 1 << 20), ("cpu", 0), (device, 0)):
        monkeypatch.setattr("hpgraph.kernels.sampling.cpu_draws.MAX_SERIAL", serial)
        found.append(sampling(where).attachments(np.random.default_rng(3), n, m))
    for other in found[1:]:
        assert all((to_device(other[side], "cpu") == found[0][side]).all() for side in (0, 1))


@pytest.mark.parametrize(("n", "m"), [(5, 2), (6, 1), (5, 3)])
def test_attachments_one_by_one(n, m, monkeypatch):
    """By the kernel: each graph comes as often as draws of ends of earlier edges, without repetitions, make it."""
    monkeypatch.setattr("hpgraph.kernels.sampling.cpu_draws.MAX_SERIAL", 0)
    # Chances of each set of edges, vertex by vertex.
    law = {frozenset((0, v) for v in range(1, m + 1)): 1.0}
    for v in range(m + 1, n):
        later = {}
        for edges, chance in law.items():
            degree = np.bincount([end for edge in edges for end in edge], minlength=n)
            for order in itertools.permutations(np.flatnonzero(degree).tolist(), m):
                p, left = chance, 2 * len(edges)
                for end in order:
                    p, left = p * degree[end] / left, left - degree[end]
                key = edges | {(end, v) for end in order}
                later[key] = later.get(key, 0) + p
        law = later
    seen = collections.Counter(
        frozenset(zip(*(side.tolist() for side in (target, source)), strict=True))
        for source, target in (sampling("cpu").attachments(np.random.default_rng(seed), n, m) for seed in range(4000))
    )
    seen = {frozenset(tuple(sorted(edge)) for edge in edges): count for edges, count in seen.items()}
    assert seen.keys() <= law.keys()
    assert fits([seen.get(edges, 0) for edges in law], [4000 * chance for chance in law.values()])


@pytest.mark.parametrize("count", [0, 1, 5, 1 << 19, (1 << 19) + 1, 700_007, 1 << 20])
def test_order_at_random(count, device):
    """All values, in one order on any number of threads; neighbours have places apart, and independent bits."""
    xp = array_module(device)
    values = xp.arange(count, dtype=np.int32)
    found = to_device(sampling(device).shuffled(values, 3), "cpu")
    if device == "cpu" or count <= MAX_SERIAL:
        with hpg.config(threads=1):
            assert (found == sampling("cpu").shuffled(np.arange(count, dtype=np.int32), 3)).all()
    assert (np.sort(found) == np.arange(count)).all()
    if count > 1000:
        assert (found != to_device(sampling(device).shuffled(values, 4), "cpu")).mean() > 0.99
        assert np.count_nonzero(abs(np.diff(found)) == 1) < 15
        for shift in (0, 3, 16):
            bits = found[: count // 2 * 2].reshape(-1, 2) >> shift & 3
            counts = np.bincount(bits[:, 0] * 4 + bits[:, 1], minlength=16)
            law = np.bincount(np.arange(count) >> shift & 3, minlength=4) / count
            assert fits(counts, np.outer(law, law).ravel() * counts.sum())
        # Where values go, by 64 parts of the array.
        part, own = (64 * side // count for side in (np.arange(count), found.astype(np.int64)))
        parts = np.bincount(64 * part + own, minlength=4096)
        assert fits(parts, np.full(4096, count / 4096))


def test_orders_are_equally_likely(monkeypatch):
    """Of elements that random blocks divide."""
    monkeypatch.setattr("hpgraph.kernels.sampling.shuffles.MAX_SERIAL", 0)
    monkeypatch.setattr("hpgraph.kernels.sampling.cpu_shuffles.BLOCK", 2)
    values = np.arange(5, dtype=np.int32)
    orders = np.array([sampling("cpu").shuffled(values, seed) for seed in range(3000)])
    assert (np.sort(orders, axis=1) == values).all()
    counts = np.unique(orders @ 10 ** values.astype(np.int64), return_counts=True)[1]
    assert len(counts) == 120 and fits(counts, np.full(120, 25))


def test_more_pairs_than_words_of_32_bits(device):
    n, p = 200_000, 5e-6
    edges = datasets.gnp_random_graph(n, p, device=device).n_edges / 2
    assert edges == pytest.approx(p * n * (n - 1) / 2, abs=5 * np.sqrt(p * n * n / 2))


@pytest.mark.parametrize("n", [400, 1000])
def test_attachment_to_many(n, device):
    m = 300
    G = datasets.barabasi_albert_graph(n, m, device=device)
    lower = scipy.sparse.tril(matrix(G)).tocsr()
    # The first m + 1 vertices are a star; a later one has m different neighbours among the earlier.
    assert lower.getnnz(axis=1).tolist() == [0] + [1] * (m - 1) + [1] + [m] * (n - m - 1)
    assert np.bincount(lower[m + 1 :].indices, minlength=n)[: m + 1].argmax() == 0


def test_degrees_that_are_given(device):
    rng = np.random.default_rng(1)
    degree = rng.zipf(2.2, 2000).clip(max=80)
    degree[0] += degree.sum() % 2
    exact = datasets.configuration_model(degree, exact=True, device=device)
    assert (to_device(exact.out_degree, "cpu") == degree).all()
    erased = to_device(datasets.configuration_model(degree, device=device).out_degree, "cpu")
    assert (erased <= degree).all() and erased.sum() > 0.9 * degree.sum()
    for d, n in ((0, 5), (3, 10), (7, 12), (11, 12), (40, 81)):
        assert (to_device(datasets.random_regular_graph(d, n, device=device).out_degree, "cpu") == d).all()
    for seed in range(8):
        dense = nx.gnp_random_graph(25, (0.5, 0.9)[seed % 2], seed=seed)
        degree = [degree for _, degree in dense.degree]
        made = datasets.configuration_model(degree, exact=True, seed=seed, device=device)
        assert to_device(made.out_degree, "cpu").tolist() == degree
    # Nearly no exchange with a random edge leaves the hubs without repeated edges.
    for degree in ([3001, 3001] + [2] * 3000, [2900, 2900, 2899] + [3] * 2899 + [2] * 40):
        made = datasets.configuration_model(degree, exact=True, device=device)
        assert to_device(made.out_degree, "cpu").tolist() == degree and made.out_csr.is_canonical()
    with pytest.raises(ValueError, match="the 1 largest have 2 ends of edges more"):
        datasets.configuration_model([3000, 3000] + [2] * 2997 + [0, 0, 0], exact=True, device=device)
    ring = datasets.watts_strogatz_graph(50, 4, 0, device=device)
    assert nx.utils.graphs_equal(hpg.to_networkx(ring), nx.watts_strogatz_graph(50, 4, 0))
    moved = matrix(datasets.watts_strogatz_graph(3000, 10, 0.3, device=device))
    same = (moved * matrix(datasets.watts_strogatz_graph(3000, 10, 0, device=device))).sum() / 30000
    assert moved.sum() == 30000 and same == pytest.approx(0.7, abs=0.02)


def test_blocks_with_weights(device):
    sizes, p, theta = [4, 5], np.array([[0.9, 0.3], [0.3, 0.5]]), np.array([1, 0, 2, 0.3, 1.1, 0.5, 0.5, 1, 4])
    seen = sum(
        matrix(datasets.stochastic_block_model(sizes, p, theta=theta, seed=seed, device=device)) for seed in range(1500)
    )
    block = np.repeat([0, 1], sizes)
    wanted = np.minimum(np.outer(theta, theta) * p[np.ix_(block, block)], 1)
    np.fill_diagonal(wanted, 0)
    assert abs(seen / 1500 - wanted).max() < 5 * 0.5 / np.sqrt(1500)


def test_rmat(device):
    """Chances alike give all pairs alike; those of Graph500 give kron's graph; impossible bits never come."""
    assert (matrix(datasets.rmat(9, device=device)) == matrix(datasets.kron(9, device=device))).all()
    degree = matrix(datasets.rmat(12, 8, 0.25, 0.25, 0.25, device=device)).sum(axis=1)
    k = np.arange(80)
    assert fits(np.bincount(degree.astype(int), minlength=80), 4096 * scipy.stats.binom.pmf(k, 2 * 8 * 4096, 1 / 4096))
    # One end of each edge is vertex 0, before vertices are renumbered.
    star = matrix(datasets.rmat(6, 8, 0.5, 0.5, 0, device=device)).sum(axis=1)
    assert star.max() == np.count_nonzero(star) - 1 == star.sum() / 2


@pytest.mark.parametrize("degrees", [{"min_degree": 10}, {"average_degree": 18}])
def test_planted_communities(degrees, device):
    n, mu = 20_000, 0.3
    G = datasets.LFR_benchmark_graph(
        n, 2.5, 1.5, mu, **degrees, max_degree=100, min_community=80, max_community=500, seed=2, device=device
    )
    degree, community = to_device(G.out_degree, "cpu"), to_device(G.vertex_column("community"), "cpu")
    sizes = np.bincount(community)
    assert sizes.min() >= 80 and sizes[:-1].max() <= 505 and sizes.sum() == n
    source, target, _ = (None if ends is None else to_device(ends, "cpu") for ends in G.edges())
    assert (community[source] != community[target]).mean() == pytest.approx(mu, abs=0.01)
    if "average_degree" in degrees:
        assert degree.mean() == pytest.approx(18, abs=1)
    else:
        k = np.arange(10, 101)
        # Some edges that no exchange made simple are missing.
        assert np.isin(degree, k).mean() > 0.999
        law = k**-2.5 / (k**-2.5).sum()
        assert abs(np.bincount(degree, minlength=101)[10:101] / n - law).max() < 5 * np.sqrt(0.15 / n)


def test_swaps():
    """One exchange is drawn evenly from all that are possible; many keep degrees, and leave little of the graph."""
    g = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3), (5, 6)])
    arcs, outcomes = [pair for edge in g.edges for pair in (edge, edge[::-1])], {}
    for u, x in arcs:
        for v, y in arcs:
            if len({u, v, x, y}) == 4 and not g.has_edge(u, y) and not g.has_edge(v, x):
                kept = {frozenset(e) for e in g.edges} - {frozenset((u, x)), frozenset((v, y))}
                made = frozenset(kept | {frozenset((u, y)), frozenset((v, x))})
                outcomes[made] = outcomes.get(made, 0) + 1
    G, counts = hpg.from_networkx(g), dict.fromkeys(outcomes, 0)
    for seed in range(3000):
        H = datasets.double_edge_swap(G, seed=seed)
        counts[frozenset(frozenset(map(int, e)) for e in zip(*H.edges()[:2], strict=True))] += 1
    expected = 3000 * np.array(list(outcomes.values())) / sum(outcomes.values())
    assert scipy.stats.chisquare(list(counts.values()), expected).pvalue > 1e-3
    G = datasets.barabasi_albert_graph(3000, 4)
    H = datasets.double_edge_swap(G, 120_000, 300_000, seed=1)
    assert (H.out_degree == G.out_degree).all() and H.out_csr.is_canonical() and H.n_edges == G.n_edges
    assert (matrix(H) * matrix(G)).sum() < 0.1 * G.n_edges
    assert (matrix(H) == matrix(datasets.double_edge_swap(G, 120_000, 300_000, seed=1))).all()


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_geometric(dim, device, monkeypatch):
    """Few points in arrays, more of them by a kernel: alike; points in one place, and on the border of a radius."""
    rng = np.random.default_rng(dim)
    points = rng.random((300, dim))
    for radius in (0, 0.03, 0.2, 0.7, 2):
        G = datasets.random_geometric_graph(300, radius, dim, points=points, device=device)
        far = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
        assert (matrix(G) == (far <= radius) & ~np.eye(300, dtype=bool)).all()
    monkeypatch.setattr("hpgraph.kernels.sampling.cpu_points.MAX_SERIAL", 0)
    for given in (points, np.round(points * 8) / 8, 0.5 + points / 1000, np.zeros((300, dim)), points[:1], points[:0]):
        far = np.sqrt(((given[:, None] - given) ** 2).sum(axis=2))
        for radius in (0, 0.0002, 0.03, 0.125, 0.7, 2):
            G = datasets.random_geometric_graph(len(given), radius, dim, points=given, device=device)
            assert (matrix(G) == (far <= radius) & ~np.eye(len(given), dtype=bool)).all() and G.out_csr.is_canonical()


def test_geometric_graph_of_many_points():
    """By a kernel on two threads, beside SciPy's tree; some of the points crowd together."""
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.random((20_000, 2)), 0.3 + rng.random((2000, 2)) / 100])
    G = datasets.random_geometric_graph(len(points), 0.01, points=points)
    pairs = scipy.spatial.cKDTree(points).query_pairs(0.01, output_type="ndarray")
    assert G.n_edges == 2 * len(pairs) and G.out_csr.is_canonical()
    lower, upper, _ = G.edges()
    found = np.sort(lower.astype(np.int64) * len(points) + upper)
    assert (found == np.sort(pairs.min(axis=1) * len(points) + pairs.max(axis=1))).all()


def test_arguments():
    for call, says in (
        (lambda: datasets.gnp_random_graph(-1, 0.5), "n must be"),
        (lambda: datasets.gnp_random_graph(5, 1.5), "p must be from 0 to 1"),
        (lambda: datasets.gnm_random_graph(5, 11), "m must be from 0 to 10"),
        (lambda: datasets.stochastic_block_model([2, 3], [[1, 0.5], [0.4, 1]]), "p must be symmetric"),
        (lambda: datasets.expected_degree_graph([-1.0]), "w must be"),
        (lambda: datasets.expected_degree_graph([1e308] * 4), "the sum of w must be finite"),
        (lambda: datasets.barabasi_albert_graph(5, 5), "m must be from 1 to 4"),
        (lambda: datasets.watts_strogatz_graph(10, 5, 0.1), "k must be from 0 to 4"),
        (lambda: datasets.configuration_model([1, 2]), "an even sum"),
        (lambda: datasets.configuration_model([2**62] * 4), "from 0 to 2305843009213693951"),  # their sum wraps to 0
        (lambda: datasets.configuration_model([5, 1], exact=True), "no graph without loops"),
        (lambda: datasets.random_regular_graph(3, 5), "must be even"),
        (lambda: datasets.random_geometric_graph(5, 0.1, 4), "dim must be"),
        (lambda: datasets.random_geometric_graph(5, 0.1, points=[[0, 0]]), "points must have shape"),
        (lambda: datasets.gnp_random_graph(5, 0.1, device="tpu"), "device must be"),
        (lambda: datasets.rmat(3, 2, 0.5, 0.5, 0.5), "must add up"),
        (lambda: datasets.stochastic_block_model([2], [[1]], theta=[1]), "theta must have"),
        (lambda: datasets.LFR_benchmark_graph(50, 2, 2, 0.1), "either average_degree or"),
        (lambda: datasets.LFR_benchmark_graph(50, 1, 2, 0.1, 3), "tau1 must be"),
        (lambda: datasets.LFR_benchmark_graph(50, 3, 2, 0.1, 60), "average_degree"),
        (lambda: datasets.LFR_benchmark_graph(500, 2, 2, 0, min_degree=20, max_community=20), "no community has room"),
        (lambda: datasets.double_edge_swap(([0, 1], [1, 2])), "is directed"),
        (lambda: datasets.double_edge_swap(nx.path_graph(2)), "fewer than two"),
        (lambda: datasets.double_edge_swap(nx.complete_graph(5)), "max_tries"),
    ):
        raises(ValueError, says, call)
