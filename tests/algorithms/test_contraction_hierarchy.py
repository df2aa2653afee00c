"""Contraction hierarchies, against searches."""

import copy
import itertools
import pickle
import threading

import numpy as np
import pytest
from graph_examples import example
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.floats(0, 4), st.integers(0, 10**6), st.booleans(), st.sampled_from([1, 9, 1000]))
def test_as_searches(n, degree, seed, directed, longest):
    """All pairs; whole numbers as lengths, zeros among them, so that sums are exact."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n, (2, int(n * degree)))
    weight = rng.integers(0, longest + 1, len(u)).astype(float)
    G = hpg.Graph.from_edges(u, v, weight, n_vertices=n, directed=directed, duplicates="min")
    H = hpg.contraction_hierarchy(G)
    wanted = np.array([hpg.sssp(G, i).distance for i in range(n)])
    pairs = np.divmod(np.arange(n * n), n)
    assert (H.distance(*pairs) == wanted.ravel()).all()
    assert (np.array([H.distances(i) for i in range(n)]) == wanted).all()
    length = {(int(a), int(b)): w for a, b, w in zip(*G.edges(both_ways=True), strict=True)}
    for s, t in itertools.islice(zip(*(wanted < np.inf).nonzero(), strict=True), 0, None, 7):
        path = H.path(int(s), int(t))
        assert path[0] == s and path[-1] == t and len(set(path)) == len(path)
        assert sum(length[arc] for arc in itertools.pairwise(path)) == wanted[s, t] == H.distance(int(s), int(t))


def test_a_road_network(device):
    G = hpg.datasets.grid(40, weighted=True, removed=0.1).to(device)
    H = hpg.contraction_hierarchy(G)
    vertices = np.arange(0, 1600, 97)
    wanted = np.array([to_device(hpg.sssp(G, int(v)).distance, "cpu") for v in vertices])
    np.testing.assert_allclose([H.distances(int(v)) for v in vertices], wanted, rtol=1e-5)
    np.testing.assert_allclose(H.distance(int(vertices[0]), vertices), wanted[0, vertices], rtol=1e-5)
    limit = float(np.median(wanted[1]))
    assert set(np.flatnonzero(wanted[1] < limit * 0.999)) <= set(H.isochrone(int(vertices[1]), limit).tolist())
    assert len(H) == 1600 and "1,600 vertices" in repr(H)


@pytest.mark.parametrize("directed", [False, True])
def test_names_and_hops(directed, device):
    g = example(directed, False, True)
    G = hpg.from_networkx(g).to(device)
    H = hpg.contraction_hierarchy(G)
    nodes = list(g)
    for s, t in itertools.product(nodes[:6], nodes[6:12]):
        try:
            path = hpg.shortest_path(G, s, t)
        except hpg.NoPathError as error:
            with pytest.raises(hpg.NoPathError) as found:
                H.path(s, t)
            assert str(found.value) == str(error) and H.distance(s, t) == np.inf
            continue
        assert len(H.path(s, t)) == len(path) == H.distance(s, t) + 1
        assert t in set(H.isochrone(s, len(path) - 1).tolist())


def test_threads_and_copies():
    """Each thread has a space of its own for queries, which a copy leaves behind."""
    H = hpg.contraction_hierarchy(hpg.datasets.grid(30, weighted=True))
    targets = np.arange(900)
    wanted = [H.distance(s, targets) for s in range(4)]
    found = [None] * 4

    def search(s):
        found[s] = H.distance(s, targets)

    threads = [threading.Thread(target=search, args=(s,)) for s in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((one == other).all() for one, other in zip(found, wanted, strict=True))
    for again in (pickle.loads(pickle.dumps(H)), copy.copy(H), copy.deepcopy(H)):
        assert (again.distance(0, targets) == wanted[0]).all()


def test_arguments():
    H = hpg.contraction_hierarchy(([0, 1], [1, 2]))
    for call, error, says in (
        (lambda: hpg.contraction_hierarchy(([0], [1], [-1.0])), ValueError, "neither negative nor NaN"),
        (lambda: hpg.contraction_hierarchy(([0], [1])).isochrone(0, np.nan), ValueError, "limit must be a number"),
        (lambda: hpg.contraction_hierarchy(([0], [1], [np.nan])), ValueError, "neither negative nor NaN"),
        (lambda: H.distance(0, 3), IndexError, "target"),
        (lambda: H.path(3, 0), IndexError, "source"),
    ):
        raises(error, says, call)
