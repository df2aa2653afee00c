"""Epidemics and influence, against exact chances of small graphs."""

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.stats
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device

SMALL = nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 3), (3, 1), (0, 3), (3, 4)])


def law(g, initial, beta, gamma, steps, immune):
    """The exact chances of all states, a letter for each vertex, after some steps."""
    states = {"".join("I" if v in initial else "S" for v in g): 1.0}
    for _ in range(steps):
        after = {}
        for state, share in states.items():
            turns = []
            for v in g:
                stays = {}
                if state[v] == "S":
                    escapes = np.prod([(1 - beta) ** d for u, _, d in g.in_edges(v, data="weight", default=1)
                                       if state[u] == "I"])  # fmt: skip
                    stays = {"S": escapes, "I": 1 - escapes}
                elif state[v] == "I":
                    stays = {"I": 1 - gamma, "R" if immune else "S": gamma}
                else:
                    stays = {"R": 1.0}
                turns.append(stays.items())
            for each in itertools.product(*turns):
                key = "".join(letter for letter, _ in each)
                after[key] = after.get(key, 0) + share * np.prod([chance for _, chance in each])
        states = after
    return states


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("immune", [True, False])
def test_exact_chances(immune, weighted, device):
    g, runs, steps = SMALL.copy(), 6000, 4
    for k, edge in enumerate(g.edges):
        g.edges[edge]["weight"] = 1 + k % 3 if weighted else 1
    spread = hpg.sir if immune else hpg.sis
    G = hpg.from_networkx(g, weight="weight").to(device)
    found = spread(G, [0], 0.3, 0.4, weight=weighted, max_steps=steps, runs=runs, seed=3)
    exact = law(g, {0}, 0.3, 0.4, steps, immune)
    for letter, counts in (("S", found.susceptible), ("I", found.infected), ("R", found.recovered)):
        counts = to_device(counts, "cpu")
        assert counts.shape == (steps + 1, runs) and counts[0, 0] == {"S": 4, "I": 1, "R": 0}[letter]
        expected = np.zeros(6)
        for state, share in exact.items():
            expected[state.count(letter)] += share
        seen = np.bincount(counts[-1], minlength=6)
        some = expected * runs > 5
        assert seen[~some].sum() <= expected[~some].sum() * runs + 20
        if some.sum() > 1:
            share = expected[some] / expected[some].sum() * seen[some].sum()
            assert scipy.stats.chisquare(seen[some], share).pvalue > 1e-3
    if immune:
        # Each vertex that was ever infected has not stayed susceptible.
        ever = (to_device(found.infected_at, "cpu") >= 0).sum(axis=0)
        assert (ever == 5 - to_device(found.susceptible, "cpu")[-1]).all()
    again = spread(G, [0], 0.3, 0.4, weight=weighted, max_steps=steps, runs=runs, seed=3)
    assert (again.infected == found.infected).all()


def test_certain_spread(device):
    """Where all arcs transmit, vertices are infected in the order of a breadth-first search."""
    G = hpg.datasets.gnm_random_graph(500, 900, seed=2, device=device)
    found = hpg.sir(G, [3, 8], 1, 1)
    level = to_device(hpg.bfs(G, sources=[3, 8]).level, "cpu").astype(np.int64)
    nearest = np.where(level < 0, 10**6, level).min(axis=0)
    assert (to_device(found.infected_at, "cpu") == np.where(nearest == 10**6, -1, nearest)).all()
    assert int(found.infected[-1]) == 0 and found.infected_at.shape == (500,)
    assert hpg.sir(G, [3], 0, 0.5).recovered[-1] == 1


def expected_reach(g, chances):
    """The exact expected number of vertices that cascades from each set of two reach."""
    edges, sums = list(g.edges), {}
    for live in itertools.product([False, True], repeat=len(edges)):
        share = np.prod([p if on else 1 - p for p, on in zip(chances, live, strict=True)])
        h = nx.DiGraph([e for e, on in zip(edges, live, strict=True) if on])
        h.add_nodes_from(g)
        reach = {v: {v} | nx.descendants(h, v) for v in g}
        for pair in itertools.combinations(g, 2):
            sums[pair] = sums.get(pair, 0) + share * len(reach[pair[0]] | reach[pair[1]])
    return sums


@pytest.mark.parametrize("weighted", [False, True])
def test_influence_of_two(weighted, device):
    g = nx.DiGraph([*SMALL.edges, (5, 6), (6, 5), (4, 5)])
    chances = np.linspace(0.1, 0.9, g.number_of_edges()) if weighted else np.full(g.number_of_edges(), 0.4)
    for edge, chance in zip(g.edges, chances, strict=True):
        g.edges[edge]["weight"] = chance
    exact = expected_reach(g, chances)
    G = hpg.from_networkx(g, weight="weight" if weighted else None).to(device)
    found = hpg.influence_maximization(G, 2, None if weighted else 0.4, weight=weighted, epsilon=0.1, seed=1)
    pair = tuple(sorted(int(v) for v in found.vertices))
    assert exact[pair] > 0.98 * max(exact.values())
    assert found.spread[-1] == pytest.approx(exact[pair], rel=0.02)
    again = hpg.influence_maximization(G, 2, None if weighted else 0.4, weight=weighted, epsilon=0.1, seed=1)
    assert (again.vertices == found.vertices).all() and (again.spread == found.spread).all()


def test_influence_agrees_with_cascades(device):
    """What is estimated from reverse sets is what cascades reach, and more than vertices of large degree do."""
    G = hpg.datasets.social(9, 4, device=device)
    found = hpg.influence_maximization(G, 5, 0.05, epsilon=0.2)
    reached = 512 - to_device(hpg.sir(G, found.vertices, 0.05, 1, runs=2000).susceptible, "cpu")[-1]
    assert found.spread[-1] == pytest.approx(reached.mean(), rel=0.05)
    hubs = np.argsort(-to_device(G.out_degree, "cpu"))[:5]
    of_hubs = 512 - to_device(hpg.sir(G, hubs, 0.05, 1, runs=2000).susceptible, "cpu")[-1]
    assert reached.mean() > 0.98 * of_hubs.mean() and (np.diff(found.spread) >= 0).all()
    with hpg.config(threads=1):
        assert (hpg.influence_maximization(G, 5, 0.05, epsilon=0.2).vertices == found.vertices).all()


def test_arguments():
    ring = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0])
    negative = hpg.Graph.from_edges([0], [1], [-1.0])
    for call, says in (
        (lambda: hpg.sir(ring, [0], 2, 0.5), "beta must be from 0 to 1"),
        (lambda: hpg.sir(ring, [0], 0.5, -1), "gamma must be from 0 to 1"),
        (lambda: hpg.sir(ring, [0], 0.5, 0), "max_steps"),
        (lambda: hpg.sis(ring, [0], 0.5, 0.5, runs=-1), "runs must not be negative"),
        (lambda: hpg.sir(negative, [0], 0.5, 0.5, weight=True), "must not be negative"),
        (lambda: hpg.influence_maximization(ring, 4), "k must be"),
        (lambda: hpg.influence_maximization(ring, 1, 1.5), "probabilities of arcs"),
        (lambda: hpg.influence_maximization(negative, 1, weight=True), "probabilities of arcs"),
        (lambda: hpg.influence_maximization(ring, 1, epsilon=0), "epsilon must be"),
    ):
        raises(ValueError, says, call)
    with pytest.raises(IndexError):
        hpg.sir(ring, [7], 0.5, 0.5)
