"""Cliques, against NetworkX's and sums over all sets of vertices."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from graph_examples import KINDS, example, without_loops
from raising import raises

import hpgraph as hpg


def graphs():
    for directed, weighted, named in KINDS:
        yield example(directed, weighted, named)
    yield nx.empty_graph(0)
    yield nx.empty_graph(3)
    yield nx.complete_graph(150)
    yield nx.complete_multipartite_graph(*[3] * 8)
    for n, p, seed in ((90, 0.5, 1), (50, 0.8, 2), (400, 0.05, 3), (1000, 0.004, 4)):
        yield nx.gnp_random_graph(n, p, seed=seed)
    star = nx.star_graph(300)
    star.add_edges_from((i, i + 1) for i in range(1, 200))
    yield star


@pytest.mark.parametrize("g", list(graphs()), ids=str)
def test_maximal_cliques(g, device):
    plain = without_loops(nx.Graph(g))
    wanted = sorted(map(sorted, nx.find_cliques(plain)))
    G = hpg.from_networkx(g).to(device)
    assert sorted(sorted(clique.tolist()) for clique in hpg.find_cliques(G)) == wanted
    large = sorted(sorted(clique.tolist()) for clique in hpg.find_cliques(G, min_size=4))
    assert large == [clique for clique in wanted if len(clique) >= 4]
    best = hpg.maximum_clique(G).tolist()
    assert len(best) == max(map(len, wanted), default=0)
    assert all(plain.has_edge(u, v) for u, v in itertools.combinations(best, 2))
    # Each k-clique has its vertices in one largest set of each of its members: counted by the sets of maximal cliques.
    if len(wanted) < 2000:
        for k in (1, 2, 3, 4, 5):
            sets = {part for clique in wanted if len(clique) < 20 for part in itertools.combinations(clique, k)}
            if max(map(len, wanted), default=0) < 20:
                assert hpg.count_cliques(G, k) == len(sets)


def test_counts(device):
    G = hpg.from_networkx(nx.complete_graph(70)).to(device)
    assert [hpg.count_cliques(G, k) for k in (1, 2, 3, 4, 5)] == [math.comb(70, k) for k in (1, 2, 3, 4, 5)]
    small = hpg.from_networkx(nx.complete_graph(12)).to(device)
    assert [hpg.count_cliques(small, k) for k in range(1, 15)] == [math.comb(12, k) for k in range(1, 15)]
    rng = np.random.default_rng(2)
    A = np.triu(rng.random((60, 60)) < 0.4, 1)
    A = (A | A.T).astype(np.int64)
    wanted = sum(A[np.ix_(four, four)].sum() == 12 for four in itertools.combinations(range(40), 4))
    assert hpg.count_cliques(hpg.Graph(scipy.sparse.csr_array(A[:40, :40])), 4) == wanted


def test_blocks_go_on_where_they_ended():
    """More cliques than a block holds: 3^10 of 10 vertices each."""
    G = hpg.from_networkx(nx.complete_multipartite_graph(*[3] * 10))
    found = np.sort(list(hpg.find_cliques(G)), axis=1)
    assert len(found) == 3**10 == len(np.unique(found, axis=0))
    assert (found // 3 == np.arange(10)).all()


def test_arguments():
    for call, says in (
        (lambda: hpg.count_cliques(([0], [1]), 0), "k must be at least 1"),
        (lambda: hpg.count_cliques(([0], [1]), 2.5), "k must be a whole number"),
        (lambda: hpg.find_cliques(([0], [1]), min_size="a"), "min_size must be"),
    ):
        raises((ValueError, TypeError), says, call)
