"""Graphlets, against enumeration of all sets of vertices, and by sums."""

import itertools

import networkx as nx
import numpy as np
from graph_examples import every_kind, example, without_loops
from hypothesis import given, settings
from hypothesis import strategies as st

import hpgraph as hpg
from hpgraph.core.device import to_device

# Of each connected graph of k vertices, by its falling degrees, the orbits of vertices of these degrees.
ORBITS = {
    (1, 1): {1: 0}, (2, 1, 1): {1: 1, 2: 2}, (2, 2, 2): {2: 3}, (2, 2, 1, 1): {1: 4, 2: 5}, (3, 1, 1, 1): {1: 6, 3: 7},
    (2, 2, 2, 2): {2: 8}, (3, 2, 2, 1): {1: 9, 2: 10, 3: 11}, (3, 3, 2, 2): {2: 12, 3: 13}, (3, 3, 3, 3): {3: 14},
}  # fmt: skip


def enumerated(A):
    found = np.zeros((len(A), 15), np.int64)
    for k in (2, 3, 4):
        for some in itertools.combinations(range(len(A)), k):
            degree = A[np.ix_(some, some)].sum(0)
            orbit = ORBITS.get(tuple(sorted(degree.tolist(), reverse=True)))
            if orbit and degree.min() > 0:
                for v, d in zip(some, degree.tolist(), strict=True):
                    found[v, orbit[d]] += 1
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10), st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 0.8, 1.0]))
def test_orbits(n, seed, p):
    A = np.triu(np.random.default_rng(seed).random((n, n)) < p, 1)
    A = (A | A.T).astype(np.int64)
    G = hpg.Graph.from_edges(*A.nonzero(), n_vertices=n)
    assert (hpg.graphlet_degrees(G) == enumerated(A)).all()


@every_kind
def test_of_examples(directed, weighted, named, device):
    g = example(directed, weighted, named, n=20)
    plain = without_loops(nx.Graph(g))
    found = hpg.graphlet_degrees(hpg.from_networkx(g).to(device))
    assert (to_device(found, "cpu") == enumerated(nx.to_numpy_array(plain, weight=None).astype(int))).all()


def test_sums_of_a_larger_graph(device):
    """Sums that other functions and binomials give, of a graph of hubs and one of many cliques."""
    for G in (hpg.datasets.kron(11), hpg.datasets.gnp_random_graph(150, 0.5, seed=1)):
        G = G.undirected.to(device)
        counts, orbits = hpg.graphlet_counts(G), to_device(hpg.graphlet_degrees(G), "cpu")
        arcs = G.to("cpu").out_csr.without_diagonal()
        d = np.diff(arcs.indptr)
        assert (orbits[:, 0] == d).all() and counts["triangle"] == hpg.triangle_count(G)
        assert (orbits[:, 3] == to_device(hpg.triangles(G), "cpu")).all()
        assert counts["clique_4"] == hpg.count_cliques(G, 4)
        stars = sum(k * (k - 1) * (k - 2) // 6 for k in d.tolist())
        assert stars == counts["claw"] + counts["paw"] + 2 * counts["diamond"] + 4 * counts["clique_4"]
        A = np.zeros((len(d), len(d)))
        A[arcs.expand_rows(), arcs.indices] = 1
        # NumPy multiplies floats a thousand times as fast as integers; these numbers are exact.
        paths = np.triu(A @ A, 1).astype(np.int64)
        cycles = (paths * (paths - 1) // 2).sum() // 2
        assert cycles == counts["cycle_4"] + counts["diamond"] + 3 * counts["clique_4"]
        for (orbit, times), name in {(4, 2): "path_4", (5, 2): "path_4", (6, 3): "claw", (10, 2): "paw"}.items():
            assert orbits[:, orbit].sum() == times * counts[name]
