"""Walks follow arcs, with the chances that they should have; seeds are fixed, so that no test turns with the day."""

from typing import Any

import numpy as np
import pytest
import scipy.stats
from arrays import host
from raising import raises

import hpgraph as hpg


def dense(seed: int, n: int = 12) -> Any:
    """Weights of arcs; the last vertex has none, and vertex 1 arcs of weight 0 among others."""
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random((n, n)) < 0.5, rng.integers(1, 9, (n, n)), 0).astype(float)
    weights[-1] = 0
    return weights


def graph_of(weights: Any, device: str, extra: Any = ()) -> hpg.Graph:
    """The graph of the positive weights, and of some arcs of weight 0."""
    source, target = np.nonzero(weights)
    value = weights[source, target]
    for u, v in extra:
        assert weights[u, v] == 0
        source, target, value = np.append(source, u), np.append(target, v), np.append(value, 0.0)
    return hpg.Graph.from_edges(source, target, value, n_vertices=len(weights)).to(device)


def fits(counts: Any, chances: Any) -> bool:
    """χ²: whether counts may come from the chances; what has no chance has no count."""
    assert not counts[chances == 0].any()
    there = chances > 0
    if there.sum() < 2:
        return True
    expected = chances[there] / chances[there].sum() * counts.sum()
    return bool(scipy.stats.chisquare(counts[there], expected).pvalue > 1e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("incoming", [False, True])
def test_steps_have_their_chances(weighted: bool, incoming: bool, device: str) -> None:
    weights = dense(1)
    extra = [(int(u), int(v)) for u, v in zip(*np.nonzero(weights[:3] == 0), strict=True)][:4]
    G = graph_of(weights, device, extra if weighted else ())
    walks = host(hpg.random_walk(G, np.repeat(np.arange(12), 500), 12, weight=weighted, incoming=incoming, seed=5))
    assert walks.shape == (6000, 13) and (walks[:, 0] == np.repeat(np.arange(12), 500)).all()
    chance = (weights if weighted else (weights > 0).astype(float)).T if incoming else (
        weights if weighted else (weights > 0).astype(float)
    )  # fmt: skip
    counts = np.zeros((12, 12), np.int64)
    u, v = walks[:, :-1].ravel(), walks[:, 1:].ravel()
    np.add.at(counts, (u[v >= 0], v[v >= 0]), 1)
    assert counts.sum() > 20_000
    assert all(fits(counts[w], chance[w]) for w in range(12))
    # Walks stop only at vertices without arcs, and do not continue.
    assert set(u[(v < 0) & (u >= 0)].tolist()) <= set(np.flatnonzero(chance.sum(axis=1) == 0).tolist())
    assert (v[u < 0] < 0).all()


def test_steps_are_independent(device: str) -> None:
    """Pairs of steps that follow each other, and the same steps of walks that do, in a complete graph."""
    n = 6
    u, v = np.nonzero(~np.eye(n, dtype=bool))
    walks = host(hpg.random_walk(hpg.Graph.from_edges(u, v).to(device), np.zeros(20_000, int), 3, seed=11))
    turns = np.diff(walks, axis=1) % n
    for one, two in ((turns[:, 0], turns[:, 1]), (turns[:, 1], turns[:, 2]), (turns[:-1, 0], turns[1:, 0])):
        counts = np.zeros((n, n), np.int64)
        np.add.at(counts, (one, two), 1)
        assert fits(counts[1:, 1:].ravel(), np.ones((n - 1) ** 2))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("p", "q"), [(4.0, 0.25), (0.01, 1.0), (1e5, 1e4)])
def test_second_order(p: float, q: float, weighted: bool, device: str) -> None:
    """Against the chances of every arc after every other; the last two make proposals fail, now and then for long."""
    weights = dense(2, 8)
    G = graph_of(weights, device)
    start = np.repeat(np.arange(8), 4000)
    walks = host(hpg.node2vec_walk(G, start, 3, p=p, q=q, weight=weighted, seed=3))
    chance = weights if weighted else (weights > 0).astype(float)
    counts: dict[tuple[int, int], Any] = {}
    for t in range(1, 3):
        for before, here, after in walks[:, t - 1 : t + 2]:
            if after >= 0:
                counts.setdefault((before, here), np.zeros(8, np.int64))[after] += 1
    assert len(counts) > 15
    for (before, here), found in counts.items():
        factor = np.where(weights[before] > 0, 1.0, 1 / q)
        factor[before] = 1 / p
        assert fits(found, chance[here] * factor)
    first = np.zeros((8, 8), np.int64)
    np.add.at(first, (walks[walks[:, 1] >= 0, 0], walks[walks[:, 1] >= 0, 1]), 1)
    assert all(fits(first[w], chance[w]) for w in range(8))


def test_walks_repeat(device: str) -> None:
    G = hpg.datasets.kron(8, weighted=True)
    H = G.to(device)
    for walk in (hpg.random_walk, hpg.node2vec_walk):
        one, again, other = (host(walk(H, length=5, seed=seed)) for seed in (2**70 + 3, 2**70 + 3, 4))
        assert (one == again).all() and (one != other).any()
        with hpg.config(threads=1):
            assert (one == host(walk(G, length=5, seed=2**70 + 3))).all()
        # A walk does not ask what others there are.
        some = np.arange(7)
        assert (one[:7] == host(walk(H, some, 5, seed=2**70 + 3))).all()
    assert (host(hpg.random_walk(H, length=5, weight=True)) == hpg.random_walk(G, length=5, weight=True)).mean() > 0.999


def test_ugly_graphs(device: str) -> None:
    G = hpg.Graph.from_edges([1, 1, 2], [1, 2, 0], [0.0, 0.0, 2.0], n_vertices=4).to(device)
    assert host(hpg.random_walk(G, [3, 1, 2], 2, weight=True)).tolist() == [[3, -1, -1], [1, -1, -1], [2, 0, -1]]
    assert host(hpg.node2vec_walk(G, [3, 2], 2, weight=True)).tolist() == [[3, -1, -1], [2, 0, -1]]
    loop = hpg.Graph.from_edges([0], [0]).to(device)
    assert host(hpg.random_walk(loop, [0], 3)).tolist() == [[0, 0, 0, 0]]
    assert host(hpg.random_walk(G, [], 3)).shape == (0, 4)
    assert host(hpg.random_walk(G, 2, 0)).tolist() == [[2]]
    named = hpg.Graph.from_edges([0], [1], names=["a", "b"]).to(device)
    assert named.names[host(hpg.random_walk(named, ["a"], 1))].tolist() == [["a", "b"]]
    raises(IndexError, r"starts must lie in 0..3", hpg.random_walk, G, [4])
    raises(ValueError, "length must be from 0", hpg.random_walk, G, length=-1)
    raises(TypeError, "seed must be a whole number", hpg.random_walk, G, seed=0.5)
    for name, bad in (("p", 0), ("q", -1.0), ("p", np.inf), ("q", np.nan)):
        raises(ValueError, f"{name} must be positive", hpg.node2vec_walk, G, **{name: bad})
    for bad, said in ((-1.0, "-1"), (np.nan, "NaN"), (np.inf, "infinity")):
        with pytest.raises(ValueError, match=f"weight: probabilities need .* there is {said}"):
            hpg.random_walk(hpg.Graph.from_edges([0, 1], [1, 0], [1.0, bad]).to(device), weight=True)
