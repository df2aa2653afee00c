"""PageRank from many personalizations: what single calls answer, however they are given, and bad input."""

import numpy as np
import pytest
import scipy.sparse
from raising import raises
from reference_algorithms import random_digraph

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device

N = 300


@pytest.fixture(scope="module")
def csr():
    found = random_digraph(N, 1500, seed=3)
    # Some vertices without arcs that leave them.
    found.data[np.isin(np.repeat(np.arange(N), np.diff(found.indptr)), np.arange(0, N, 17))] = 0
    found.eliminate_zeros()
    return found


def lists(k):
    rng = np.random.default_rng(k)
    return [rng.choice(N, rng.integers(1, 5), replace=False).tolist() for _ in range(k)]


def dense(k):
    found = np.zeros((k, N))
    for lane, seeds in enumerate(lists(k)):
        found[lane, seeds] = np.arange(1, len(seeds) + 1)
    return found


@pytest.mark.parametrize(
    "options",
    [
        {}, {"convergence": "vertex", "tol": 1e-9}, {"normalization": "hpgraph", "tol": 1e-4}, {"weight": True},
        {"max_iteration": 7, "tol": 0}, {"max_iteration": 0, "tol": 0}, {"start": np.arange(N) + 1.0},
        {"dtype": np.float32, "tol": 1e-3},
    ],
    ids=str,
)  # fmt: skip
def test_every_lane_is_its_single_call(csr, options, device):
    G = hpg.Graph(csr, directed=True).to(device)
    given = dense(21)
    found = hpg.pagerank(G, personalization=given, **options)
    assert found.rank.shape == (21, N) and device_of(found.rank) == device
    assert found.rank.dtype == options.get("dtype", np.float64)
    close = {"rtol": 1e-4, "atol": 1e-7} if "dtype" in options else {"rtol": 1e-11, "atol": 1e-15}
    for lane, row in enumerate(given):
        single = hpg.pagerank(G, personalization=row, **options)
        assert found.iterations[lane] == single.iterations and found.converged[lane] == single.converged
        ranks, alone = to_device(found.rank[lane], "cpu"), to_device(single.rank, "cpu")
        if device == "cuda" and "dtype" not in options:
            # Underway a GPU's lanes differ by what rounding of changes has left: at the end they do not.
            assert np.abs(ranks - alone).sum() <= 2.0**-24 * alone.sum()
            close["atol"] = 2.0**-24 * alone.sum()
        np.testing.assert_allclose(ranks, alone, **close)
        np.testing.assert_allclose(found.residual[lane], single.residual, rtol=1e-2, atol=1e-12)
    assert "21 personalizations, 300 vertices" in repr(found)
    again = hpg.pagerank(G, personalization=given, **options)
    assert (to_device(again.rank, "cpu") == to_device(found.rank, "cpu")).all()


def test_lanes_end_where_single_calls_do(csr, device):
    G = hpg.Graph(csr, directed=True).to(device)
    how = {"tol": 1e-14, "max_iteration": 400}
    found = hpg.pagerank(G, personalization=dense(9), **how)
    assert found.converged.all()
    for lane, row in enumerate(dense(9)):
        alone = to_device(hpg.pagerank(G, personalization=row, **how).rank, "cpu")
        np.testing.assert_allclose(to_device(found.rank[lane], "cpu"), alone, rtol=1e-11, atol=1e-14)


def test_dense_sparse_and_lists_give_the_same(csr, device):
    G = hpg.Graph(csr, directed=True).to(device)
    seeds = lists(5)
    flags = np.zeros((5, N))
    for lane, vertices in enumerate(seeds):
        flags[lane, vertices] = 3
    # Sparse with an entry in two parts.
    rows, columns = flags.nonzero()
    halves = scipy.sparse.coo_array(
        (np.full(2 * len(rows), 1.5), (np.tile(rows, 2), np.tile(columns, 2))), shape=(5, N)
    )
    ranks = [to_device(hpg.pagerank(G, personalization=given).rank, "cpu") for given in (flags, halves, seeds)]
    assert (ranks[0] == ranks[1]).all() and (ranks[0] == ranks[2]).all()
    np.testing.assert_allclose(ranks[0].sum(axis=1), 1)


def test_hubs_and_more_lanes_than_a_group(device):
    # A vertex that 5,000 others point to, and back.
    n = 5001
    G = hpg.Graph.from_edges(np.r_[np.arange(1, n), np.zeros(n - 1, int)], np.r_[np.zeros(n - 1, int), np.arange(1, n)])
    G = G.to(device)
    found = hpg.pagerank(G, personalization=[[lane] for lane in range(70)], tol=1e-10, max_iteration=200)
    assert len(found.traces) > 1 and found.converged.all()
    for lane in (0, 69):
        single = to_device(hpg.pagerank(G, personalization={lane}, tol=1e-10, max_iteration=200).rank, "cpu")
        np.testing.assert_allclose(to_device(found.rank[lane], "cpu"), single, rtol=1e-11)


def test_names_and_groups_that_fit(csr):
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], names=["a", "b", "c"])
    by_name = hpg.pagerank(G, personalization=[["b"], ["a", "c"]])
    np.testing.assert_allclose(by_name.rank[0], hpg.pagerank(G, personalization=["b"]).rank)
    G = hpg.Graph(csr, directed=True)
    with hpg.config(memory_share=1e-9):
        found = hpg.pagerank(G, personalization=[[lane % N] for lane in range(600)], max_iteration=3, tol=0)
    assert max(len(trace.rows) for trace in found.traces) == 3 and len(found.traces) >= 150
    k, n = 1 << 20, 1 << 22
    many = scipy.sparse.csr_array((np.ones(k), np.arange(k), np.arange(k + 1)), shape=(k, n))
    with pytest.raises(hpg.DeviceMemoryError, match=f"from {k} personalizations"):
        hpg.pagerank(hpg.Graph(scipy.sparse.csr_array((n, n))), personalization=many)


def test_bad_input(csr, device):
    G = hpg.Graph(csr, directed=True).to(device)
    for wrong, kind, words in (
        (np.ones((2, N - 1)), ValueError, "must have shape"),
        (np.zeros((2, N)), ValueError, "row 0 has none"),
        (np.r_[np.ones((1, N)), np.full((1, N), -1.0)], ValueError, "row 1 is not"),
        (np.full((1, N), np.nan), ValueError, "row 0 is not"),
        (np.ones((1, N), complex), TypeError, "must hold numbers"),
        ([[1], []], ValueError, "row 1 has none"),
        ([[1], [2, 2]], ValueError, "twice in one row"),
        ([[1], [N]], IndexError, "personalization"),
    ):
        raises(kind, words, hpg.pagerank, G, personalization=wrong)
    raises(ValueError, "one personalization at a time", hpg.pagerank, G, personalization=[[1]], method="delta")
    with pytest.warns(hpg.ConvergenceWarning, match="2 of 2 personalizations after 2 iterations"):
        hpg.pagerank(G, personalization=[[1], [2]], max_iteration=2)
