"""PageRank against NetworkX's, against a dense loop over vertices, and on ugly inputs."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from arrays import graph
from raising import raises
from reference_algorithms import GRAPHS, pagerank, random_digraph, stored

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device
from hpgraph.formats import CSR

# Small, with loops, dangling vertices and one that nothing reaches.
SMALL = random_digraph(40, 150, seed=1)


def ranks(G, **options):
    return to_device(hpg.pagerank(G, **options).rank, "cpu")


def by_networkx(csr, weighted=False, **options):
    """NetworkX's ranks; its tolerance is multiplied by the number of vertices."""
    networkx = pytest.importorskip("networkx")
    G = networkx.from_scipy_sparse_array(csr, create_using=networkx.DiGraph)
    options = {"tol": 1e-10 / csr.shape[0], "max_iter": 1000, **options}
    found = networkx.pagerank(G, weight="weight" if weighted else None, **options)
    return np.array([found[v] for v in range(csr.shape[0])])


def close(found, expected):
    assert np.abs(found - expected).sum() < 1e-6
    assert abs(found.sum() - 1) < 1e-9


def test_small(device):
    found = hpg.pagerank(graph(SMALL, device), tol=1e-10)
    assert device_of(found.rank) == device and found.rank.dtype == np.float64
    assert found.converged and 0 < found.residual <= 1e-10 and found.iterations == len(found.trace)
    close(to_device(found.rank, "cpu"), by_networkx(SMALL))
    assert "converged after" in repr(found) and "not" not in repr(found)


@pytest.mark.parametrize("name", GRAPHS)
def test_real_graphs(data_dir, name, device):
    csr = stored(data_dir, name)
    if csr.nnz > 50_000:
        # As NetworkX does it, without its graph, which takes longest of all to make.
        expected = np.full(csr.shape[0], 1 / csr.shape[0])
        degree = np.diff(csr.indptr)
        turned = scipy.sparse.csr_array((np.ones(csr.nnz), csr.indices, csr.indptr), csr.shape).T.tocsr()
        for _ in range(120):
            share = expected / np.maximum(degree, 1)
            expected = 0.15 / csr.shape[0] + 0.85 * (turned @ share + expected[degree == 0].sum() / csr.shape[0])
    else:
        expected = by_networkx(csr)
    close(ranks(graph(csr, device), tol=1e-9, max_iteration=300), expected)


@pytest.mark.parametrize("damping", [0, 0.5, 0.99])
def test_damping(damping, device):
    found = ranks(graph(SMALL, device), damping=damping, tol=1e-10, max_iteration=5000)
    close(found, by_networkx(SMALL, alpha=damping, max_iter=5000))


def test_damping_of_one_keeps_the_ranks_sum(device):
    found = hpg.pagerank(graph(SMALL, device), damping=1, tol=0, max_iteration=7)
    expected = pagerank((SMALL.toarray() > 0).astype(float), 7, damping=1)
    assert np.abs(to_device(found.rank, "cpu") - expected).sum() < 1e-12


def test_personalization(device):
    wanted = np.zeros(40)
    wanted[[3, 8, 39]] = 1, 2, 5
    expected = by_networkx(SMALL, personalization=dict(enumerate(wanted)))
    found = ranks(graph(SMALL, device), personalization=wanted.tolist(), tol=1e-10)
    close(found, expected)
    # NetworkX starts elsewhere: starting there too changes the way, not the end.
    close(ranks(graph(SMALL, device), personalization=wanted, start=np.ones(40), tol=1e-10), expected)


@pytest.mark.parametrize("personal", [False, True])
def test_weighted(personal, device):
    wanted = np.arange(40.0) if personal else None
    options = {"personalization": dict(enumerate(wanted))} if personal else {}
    found = ranks(graph(SMALL, device), weight=True, personalization=wanted, tol=1e-10)
    close(found, by_networkx(SMALL, weighted=True, **options))


def test_weights_are_summed_once(device):
    """The sums are kept with the graph, and neither another type nor another method changes them."""
    G = graph(SMALL, device)
    first = ranks(G, weight=True, tol=1e-10)
    for options in ({"dtype": "float32"}, {"method": "delta"}, {"normalization": "hpgraph"}):
        hpg.pagerank(G, weight=True, **options)
        assert np.array_equal(ranks(G, weight=True, tol=1e-10), first)
    assert not np.array_equal(ranks(graph(2 * SMALL.multiply(SMALL), device), weight=True, tol=1e-10), first)


def test_weighted_without_weights(device):
    pattern = CSR(SMALL.shape, SMALL.indptr.astype(np.int64), SMALL.indices, None)
    close(ranks(hpg.Graph(pattern, directed=True).to(device), weight=True, tol=1e-10), by_networkx(SMALL))


def test_arcs_of_weight_zero_carry_nothing(device):
    G = hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 0, 0], [0.0, 3.0, 1.0, 0.0]).to(device)
    expected = pagerank(np.array([[0, 0, 3.0], [1, 0, 0], [0, 0, 0]]), 200)
    close(ranks(G, weight=True, tol=1e-12, max_iteration=500), expected)


@pytest.mark.parametrize("personal", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_paper_s_normalization(weighted, personal, device):
    matrix = SMALL.toarray() if weighted else (SMALL.toarray() > 0).astype(float)
    wanted = np.arange(40.0) if personal else None
    # The ranks that each has at first sum to the number of vertices.
    start = 40 * wanted / wanted.sum() if personal else np.ones(40)
    expected = pagerank(matrix, 12, teleport=wanted, paper=True, start=start)
    options = {"normalization": "hpgraph", "weight": weighted, "personalization": wanted}
    found = ranks(graph(SMALL, device), tol=0, max_iteration=12, **options)
    assert np.abs(found - expected).max() < 1e-12
    assert abs(found.sum() - 1) > 1


def test_each_iteration(device):
    """Also those before the end are the ranks of that many iterations, and the residual is theirs."""
    matrix = (SMALL.toarray() > 0).astype(float)
    for iterations in (1, 2, 5):
        found = hpg.pagerank(graph(SMALL, device), tol=0, max_iteration=iterations)
        expected = pagerank(matrix, iterations)
        assert np.abs(to_device(found.rank, "cpu") - expected).max() < 1e-14
        assert abs(found.residual - np.abs(expected - pagerank(matrix, iterations - 1)).sum()) < 1e-13
        assert found.iterations == iterations and found.converged == (found.residual <= 0)


def test_single_precision(device):
    # With a personalization, as lanes are compared with.
    found = hpg.pagerank(graph(SMALL, device), dtype=np.float32, personalization=np.ones(40))
    assert found.rank.dtype == np.float32
    assert np.abs(to_device(found.rank, "cpu") - by_networkx(SMALL)).sum() < 1e-5
    assert hpg.pagerank(graph(SMALL, device), dtype="float32", weight=True).rank.dtype == np.float32


def test_a_warm_start_is_shorter(device):
    G = graph(SMALL, device)
    cold = hpg.pagerank(G, tol=1e-8)
    warm = hpg.pagerank(G, tol=1e-8, start=cold.rank)
    assert warm.iterations <= 2 < cold.iterations
    close(to_device(warm.rank, "cpu"), by_networkx(SMALL))
    # A start need not sum to 1.
    assert np.abs(ranks(G, tol=1e-8, start=1000 * cold.rank) - to_device(warm.rank, "cpu")).max() < 1e-12


def test_convergence_by_vertex(device):
    G = graph(SMALL, device)
    found = hpg.pagerank(G, tol=1e-5, convergence="vertex")
    before = ranks(G, tol=0, max_iteration=found.iterations - 1)
    earlier = ranks(G, tol=0, max_iteration=found.iterations - 2)
    rank = to_device(found.rank, "cpu")
    assert found.converged
    assert np.abs(rank - before).max() <= 1e-5 < np.abs(before - earlier).max()
    assert found.iterations < hpg.pagerank(G, tol=1e-5).iterations


def test_not_converged(device):
    with pytest.warns(hpg.ConvergenceWarning, match="stopped after 3 iterations.* above what tol=1e-06") as seen:
        found = hpg.pagerank(graph(SMALL, device), max_iteration=3)
    assert seen[0].filename == __file__, "the warning points to the caller"
    assert not found.converged and found.iterations == 3 and found.residual > 1e-6
    assert "not converged" in repr(found)


def test_no_iterations(device):
    with pytest.warns(hpg.ConvergenceWarning, match="0 iterations"):
        found = hpg.pagerank(graph(SMALL, device), max_iteration=0)
    assert (to_device(found.rank, "cpu") == 1 / 40).all() and found.iterations == 0


def test_a_tolerance_of_zero_does_not_warn(device):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hpg.pagerank(graph(SMALL, device), tol=0, max_iteration=3).iterations == 3


def test_tiny_graphs(device):
    def found(source, target, n):
        return ranks(hpg.Graph.from_edges(source, target, n_vertices=n).to(device)).tolist()

    assert found([], [], 0) == []
    assert found([], [], 1) == [1]
    assert found([0], [0], 1) == [1]
    assert np.allclose(found([], [], 4), 0.25)
    assert np.allclose(found([0, 1], [1, 0], 2), 0.5)
    empty = hpg.pagerank(hpg.Graph.from_edges([], [], n_vertices=0).to(device))
    assert empty.converged and empty.iterations == 0 and len(empty.trace) == 0


def test_a_star_and_a_hub_of_many(device):
    n = 60_001
    G = hpg.Graph.from_edges(np.arange(1, n), np.zeros(n - 1, np.int64)).to(device)
    rank = ranks(G, tol=1e-12, max_iteration=500)
    # The hub keeps nothing: its rank is spread over all.
    assert abs(rank.sum() - 1) < 1e-9 and np.ptp(rank[1:]) == 0
    assert abs(rank[0] / rank[1] - (1 + 0.85 * (n - 1))) < 1e-6 * n


def test_threads_change_no_bit():
    csr = random_digraph(9000, 90_000, seed=2)
    with hpg.config(threads=1):
        one = hpg.pagerank(graph(csr), tol=1e-8)
    two = hpg.pagerank(graph(csr), tol=1e-8)
    assert (one.rank == two.rank).all() and one.residual == two.residual


def test_repeats_bit_for_bit(device):
    G = graph(random_digraph(3000, 90_000, seed=2), device)
    assert (ranks(G) == ranks(G)).all()


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_that_are_refused(weight, device):
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, weight, 1.0]).to(device)
    raises(ValueError, "weights must be finite and not negative", hpg.pagerank, G, weight=True)
    assert np.allclose(ranks(G), 1 / 3), "without their weights the arcs are fine"


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"damping": 1.5}, ValueError, "damping must lie between 0 and 1, not 1.5"),
        ({"damping": np.nan}, ValueError, "damping"),
        ({"damping": "0.85"}, TypeError, "damping must be a number"),
        ({"tol": -1e-6}, ValueError, "tol must not be negative"),
        ({"tol": np.nan}, ValueError, "tol"),
        ({"tol": None}, TypeError, "tol must be a number"),
        ({"max_iteration": -1}, ValueError, "max_iteration must not be negative"),
        ({"max_iteration": 2.0}, TypeError, "max_iteration must be a whole number"),
        ({"max_iteration": True}, TypeError, "max_iteration must be a whole number"),
        ({"normalization": "l2"}, ValueError, '"standard" or "hpgraph"'),
        ({"convergence": "l2"}, ValueError, '"global" or "vertex"'),
        ({"dtype": np.int32}, TypeError, "dtype must be float32 or float64, not int32"),
        ({"personalization": [1.0, 2.0]}, ValueError, "personalization must have one value for each of the 3"),
        ({"personalization": [0, 0, 0]}, ValueError, "personalization must be finite .* with a positive sum"),
        ({"personalization": [1, -1, 1]}, ValueError, "personalization must be finite"),
        ({"personalization": [1, np.inf, 1]}, ValueError, "personalization must be finite"),
        ({"personalization": ["a", "b", "c"]}, TypeError, "personalization must hold numbers"),
        ({"start": np.ones((3, 1))}, ValueError, "start must have one value"),
        ({"start": [1, np.nan, 1]}, ValueError, "start must be finite"),
    ],
)
def test_what_does_not_fit(arguments, error, says):
    with pytest.raises(error, match=says):
        hpg.pagerank(hpg.Graph.from_edges([0, 1], [1, 2]), **arguments)


def test_a_result_is_taken_for_its_ranks(device):
    csr = random_digraph(20, 60, 1)
    found = hpg.pagerank(graph(csr, device))
    assert np.array_equal(np.asarray(found), to_device(found.rank, "cpu"))
    assert np.asarray(found, np.float32).dtype == np.float32
    assert len(found) == 20
