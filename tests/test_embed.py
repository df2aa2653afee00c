"""Embeddings against their definitions in dense matrices, and what their vectors are to tell apart."""

from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pytest
from arrays import host

import hpgraph as hpg

ALL = {
    "fastrp": hpg.embed.fastrp, "hope": hpg.embed.hope, "ppr": partial(hpg.embed.hope, proximity="ppr"),
    "strap": hpg.embed.strap, "node2vec": hpg.embed.node2vec, "spectral": hpg.embed.spectral,
}  # fmt: skip
SERIES = {name: ALL[name] for name in ("hope", "ppr")}


def random_graph(directed: bool, seed: int, n: int = 20) -> Any:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, 3 * n))
    return hpg.Graph.from_edges(*ends, rng.random(3 * n) + 0.5, n_vertices=n + 1, directed=directed)


def adjacency(G: Any) -> Any:
    made = np.zeros((G.n_vertices, G.n_vertices))
    source, target, weight = G.edges(both_ways=True)
    made[host(source), host(target)] = 1 if weight is None else host(weight)
    return made


@pytest.mark.parametrize("name", ALL)
def test_communities_are_distinguished(name: str, device: str) -> None:
    graph = nx.planted_partition_graph(4, 40, 0.3, 0.01, seed=1)
    G, part = hpg.from_networkx(graph).to(device), np.repeat(np.arange(4), 40)
    found = ALL[name](G, 16)
    vectors = host(found)
    assert vectors.shape == (160, 16) and vectors.dtype == np.float32 and np.isfinite(vectors).all()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    middles = np.array([unit[part == k].mean(axis=0) for k in range(4)])
    assert ((unit @ middles.T).argmax(axis=1) == part).mean() > 0.95
    assert (host(ALL[name](G, 16)) == vectors).all()
    if name != "spectral":
        assert (host(ALL[name](G, 16, seed=1)) != vectors).any()


@pytest.mark.parametrize("directed", [False, True])
def test_fastrp_averages_over_neighbours(directed: bool, device: str) -> None:
    G = random_graph(directed, 1).to(device)
    A = adjacency(G)
    P = A / np.maximum(A.sum(axis=1, keepdims=True), 1e-300)
    start = 4.0 * host(hpg.embed.fastrp(G, 16, weights=(), self_influence=1))
    assert (abs(start) == 1).all()

    def unit(X: Any) -> Any:
        return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)

    found = host(hpg.embed.fastrp(G, 16, weights=(0.5, 0, 2.0)))
    assert np.allclose(found, 0.5 * unit(P @ start) + 2 * unit(P @ P @ P @ start), atol=1e-5)
    degree = np.where(A.sum(axis=1) > 0, A.sum(axis=1), 1)
    found = host(hpg.embed.fastrp(G, 16, weights=(1,), normalization_strength=-0.5))
    assert np.allclose(found, unit(P @ (start / np.sqrt(degree)[:, None])), atol=1e-5)


def proximity(G: Any, name: str) -> Any:
    """The whole series, by an inverse."""
    A = adjacency(G)
    rows = np.maximum(A.sum(axis=1, keepdims=True), 1e-300)
    M = 0.5 / np.linalg.norm(A, 2) * A if name == "hope" else 0.85 * A / rows
    return np.linalg.inv(np.eye(len(A)) - M) - np.eye(len(A))


@pytest.mark.parametrize(("name", "directed"), [("hope", True), ("ppr", True), ("ppr", False)])
def test_series_are_factorized(name: str, directed: bool, device: str) -> None:
    """With as many coordinates as vertices sources times targets are the proximity, less what the series leaves out."""
    G = random_graph(directed, 2).to(device)
    n, want = G.n_vertices, proximity(G, name)
    vectors = host(SERIES[name](G, 2 * n))
    assert np.allclose(vectors[:, :n] @ vectors[:, n:].T, want, atol=2e-3 * abs(want).max())
    values = np.linalg.svd(want)[1]
    assert np.allclose(np.linalg.norm(vectors[:, :n], axis=0) ** 2, values, atol=2e-3 * values[0])
    few = host(SERIES[name](G, 6))
    assert np.allclose(np.linalg.norm(few[:, :3], axis=0) ** 2, values[:3], rtol=0.1)


@pytest.mark.parametrize("parts", ["any", "bipartite"])
def test_symmetric_series_keep_their_signs(parts: str, device: str) -> None:
    """Products of rows are the proximity less its negative eigenvalues, of the rank of the coordinates."""
    G = random_graph(False, 2) if parts == "any" else hpg.from_networkx(nx.complete_bipartite_graph(7, 9))
    G = G.to(device)
    want = proximity(G, "hope")
    values, turn = np.linalg.eigh(want)
    assert values[0] < -0.05
    assert np.isfinite(host(hpg.embed.hope(G, 3, beta=0.99999 / np.linalg.norm(adjacency(G), 2)))).all()
    for dim in (3, G.n_vertices):
        kept = np.where(np.arange(len(values)) >= len(values) - dim, values.clip(0), 0)
        vectors = host(hpg.embed.hope(G, dim))
        assert np.allclose(vectors @ vectors.T, turn * kept @ turn.T, atol=2e-3 * values[-1])


def test_strap_takes_logarithms_of_ranks(device: str) -> None:
    G = random_graph(True, 3).to(device)
    A, n = adjacency(G), G.n_vertices

    def ranks(A: Any) -> Any:
        P = A / np.maximum(A.sum(axis=1, keepdims=True), 1e-300)
        return 0.5 * (np.linalg.inv(np.eye(n) - 0.5 * P) - np.eye(n))

    delta = 0.02
    want = np.log(np.maximum(ranks(A) / delta, 1)) + np.log(np.maximum(ranks(A.T).T / delta, 1))
    vectors = host(hpg.embed.strap(G, 2 * n, walks=4000, delta=delta))
    assert abs(vectors[:, :n] @ vectors[:, n:].T - want).max() < 0.35
    G = random_graph(False, 3).to(device)
    want = np.log(np.maximum(ranks(adjacency(G)) / delta, 1))
    values, turn = np.linalg.eigh(want + want.T)
    vectors = host(hpg.embed.strap(G, n, walks=4000, delta=delta))
    assert abs(vectors @ vectors.T - turn * values.clip(0) @ turn.T).max() < 0.35


def test_node2vec_factorizes_cooccurrences_on_walks(device: str) -> None:
    """On a cycle: walks of one step meet neighbours, half of the time each."""
    n = 8
    G = hpg.Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n, directed=False).to(device)
    vectors = host(hpg.embed.node2vec(G, n, walks=4000, length=1, window=1))
    want = np.log(n / 2) * (np.eye(n, k=1) + np.eye(n, k=-1) + np.eye(n, k=n - 1) + np.eye(n, k=1 - n))
    values = np.sort(abs(np.linalg.eigvalsh(want)))[::-1]
    assert np.allclose(np.linalg.norm(vectors, axis=0) ** 2, values, atol=0.1)


@pytest.mark.parametrize("directed", [False, True])
def test_spectral_is_of_eigenvectors(directed: bool, device: str) -> None:
    G = random_graph(directed, 4, 30).to(device)
    A = adjacency(G) * (1 - np.eye(G.n_vertices))
    A = A + A.T if directed else A
    degree = A.sum(axis=1)
    vectors = host(hpg.embed.spectral(G, 5)).astype(float)
    there = degree > 0
    values = (vectors * degree[:, None] * vectors).sum(axis=0)
    product = vectors[there] - (A @ vectors)[there] / degree[there, None]
    rates = (product * degree[there, None] * vectors[there]).sum(axis=0) / np.where(values > 0, values, 1)
    assert np.allclose(product, rates * vectors[there], atol=1e-5) and (np.diff(rates) > -1e-6).all()


@pytest.mark.parametrize("n", [30, 600])
def test_regularized_spectral(n: int, device: str) -> None:
    """As LAPACK finds it of the matrix with an edge between all pairs, some vertices alone and a small part."""
    G = random_graph(False, 5, n).to(device)
    A = adjacency(G) * (1 - np.eye(G.n_vertices)) + 0.7 / G.n_vertices
    degree = A.sum(axis=1)
    _, want = np.linalg.eigh(A / np.sqrt(degree[:, None] * degree))
    want = want[:, -2:-5:-1] / np.sqrt(degree)[:, None]
    found = host(hpg.embed.spectral(G, 3, regularization=0.7)).astype(float)
    assert np.allclose(found * np.sign((found * want).sum(axis=0)), want, atol=2e-3 * abs(want).max())


@pytest.mark.parametrize("name", ALL)
def test_ugly_graphs(name: str, device: str) -> None:
    embed = ALL[name]
    for G in (
        hpg.Graph.from_edges([], [], n_vertices=0), hpg.Graph.from_edges([], [], n_vertices=5),
        hpg.Graph.from_edges([0], [0], n_vertices=5), hpg.Graph.from_edges([0, 0, 1], [1, 1, 2], [1.0, 2.0, 0.0],
        n_vertices=5, duplicates="keep"), hpg.Graph.from_edges([0, 3], [1, 4], directed=False),
        hpg.Graph.from_edges([0, 1], [1, 2], n_vertices=5, names=list("abcde")),
    ):  # fmt: skip
        vectors = host(embed(G.to(device), 4))
        assert vectors.shape == (G.n_vertices, 4) and np.isfinite(vectors).all()
    for bad in ([1.0, -1.0], [1.0, np.nan], [1.0, np.inf]):
        with pytest.raises(ValueError, match="weight"):
            embed(hpg.Graph.from_edges([0, 1], [1, 2], bad, n_vertices=9).to(device), 4)
    vectors = host(embed(hpg.Graph.from_edges([0, 1], [1, 2], [1.0, -1.0], n_vertices=9).to(device), 4, weight=None))
    assert np.isfinite(vectors).all()
    with pytest.raises(ValueError, match="dim must be at least 1"):
        embed(hpg.Graph.from_edges([0, 1], [1, 2]), 0)


@pytest.mark.parametrize(("name", "how", "said"), [
    ("fastrp", {"weights": [np.nan]}, "must be finite"),
    ("hope", {"proximity": "jaccard"}, "proximity must be"),
    ("hope", {"beta": 10.0}, "beta must be below 1,? 1 over|beta must be below"),
    ("ppr", {"alpha": 1.0}, "alpha must be above 0 and below 1"),
    ("hope", {"dim": 5}, "dim must be even"),
    ("strap", {"dim": 5}, "dim must be even"),
    ("strap", {"walks": 0}, "walks must be at least 1"),
    ("strap", {"delta": -1.0}, "delta must be finite and positive"),
    ("node2vec", {"window": 0}, "window must be at least 1"),
    ("node2vec", {"p": 0.0}, "p must be positive"),
    ("spectral", {"regularization": -1.0}, "regularization must be finite and"),
    ("spectral", {"dim": 4}, "dim must be below the number of vertices"),
])  # fmt: skip
def test_refused_arguments(name: str, how: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ALL[name](hpg.Graph.from_edges([0, 1, 2], [1, 2, 3]), **how)


@pytest.mark.parametrize("name", ["fastrp", "hope", "ppr"])
def test_in_pages(name: str) -> None:
    G = random_graph(True, 5)
    want = ALL[name](G, 8)
    assert np.allclose(ALL[name](hpg.StreamedGraph.of(G), 8), want, atol=1e-4)


@pytest.mark.parametrize("name", ["strap", "node2vec", "spectral"])
def test_pages_are_refused(name: str) -> None:
    with pytest.raises(hpg.StreamingError):
        ALL[name](hpg.StreamedGraph.of(random_graph(True, 5)), 8)
