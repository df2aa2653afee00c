"""Measures of communities, against NetworkX and sums over all pairs, and over all steps of a walk."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from graph_examples import KINDS, example

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device


@pytest.mark.parametrize(("directed", "weighted", "named"), KINDS)
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


def plogp(p):
    return p * math.log2(p) if p > 0 else 0.0


def code_length(A, label):
    """Of two levels: what is said when a walk enters a community, and of the vertices and the exit in each."""
    visits = A.sum(axis=1) / A.sum()
    length, enters = 0.0, []
    for c in set(label):
        inside = label == c
        leave = A[inside][:, ~inside].sum() / A.sum()
        enters.append(leave)
        words = [leave, *visits[inside]]
        length += plogp(sum(words)) - sum(map(plogp, words))
    return length + plogp(sum(enters)) - sum(map(plogp, enters))


@pytest.mark.parametrize("weighted", [False, True])
def test_map_equation(weighted, device):
    g = example(False, weighted, False)
    A = nx.to_numpy_array(g, weight="weight" if weighted else None)
    A += np.diag(A.diagonal())
    G = hpg.from_networkx(g).to(device)
    rng = np.random.default_rng(1)
    for label in (rng.integers(0, 4, len(g)), np.zeros(len(g), int), np.arange(len(g))):
        assert hpg.map_equation(G, label) == pytest.approx(code_length(A, label), abs=1e-12)
    with pytest.raises(ValueError, match="directed"):
        hpg.map_equation(hpg.Graph.from_edges([0], [1]), [0, 0])
    assert math.isnan(hpg.map_equation(hpg.Graph.from_edges([], [], n_vertices=2, directed=False), [0, 1]))


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
    with pytest.raises(ValueError, match="same vertices"):
        hpg.adjusted_rand_index([0], [0, 1])
