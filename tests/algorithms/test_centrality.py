"""Degree, eigenvector and Katz centrality, hubs and authorities, beside NetworkX."""

import inspect
import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from arrays import host
from raising import raises

import hpgraph as hpg

every_kind = pytest.mark.parametrize(("directed", "weighted"), [(d, w) for d in (False, True) for w in (False, True)])


def connected(directed: bool, weighted: bool) -> nx.Graph:
    """Dense enough that iterations converge soon; with loops, and names in no order."""
    rng = np.random.default_rng(4)
    made = nx.DiGraph() if directed else nx.Graph()
    for u, v in rng.integers(0, 60, (400, 2)).tolist():
        made.add_edge(f"v{u}", f"v{v}", **({"weight": float(rng.integers(1, 6))} if weighted else {}))
    return made


def listed(by_node: dict[Any, float]) -> np.ndarray:
    return np.array(list(by_node.values()))


@every_kind
def test_degrees(directed: bool, weighted: bool, device: str) -> None:
    N = connected(directed, weighted)
    G = hpg.from_networkx(N).to(device)
    assert host(hpg.degree_centrality(G)).tolist() == pytest.approx(listed(nx.degree_centrality(N)))
    if directed:
        for name in ("in_degree_centrality", "out_degree_centrality"):
            assert host(getattr(hpg, name)(G)).tolist() == pytest.approx(listed(getattr(nx, name)(N)))


@every_kind
def test_eigenvector(directed: bool, weighted: bool, device: str) -> None:
    N = connected(directed, weighted)
    G = hpg.from_networkx(N).to(device)
    given = {"weight": "weight"} if weighted else {}
    expected = listed(nx.eigenvector_centrality(N, tol=1e-13, max_iter=1000, **given))
    found = hpg.eigenvector_centrality(G, tol=1e-13, max_iteration=1000, weight=weighted)
    assert found.converged and found.residual < 1e-13 * len(G)
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-11)
    usual = hpg.eigenvector_centrality(G, weight=weighted)
    assert usual.converged and usual.iterations < 20
    np.testing.assert_allclose(np.asarray(usual), expected, atol=1e-5)
    start = dict.fromkeys(N, 2.0) | {next(iter(N)): 5.0}
    from_there = hpg.eigenvector_centrality(G, tol=1e-13, max_iteration=1000, start=start, weight=weighted)
    np.testing.assert_allclose(np.asarray(from_there), expected, atol=1e-11)


@pytest.mark.parametrize("unit", [1e-200, 1e-7, 1.0, 1e7, 1e200])
@pytest.mark.parametrize("kind", ["symmetric", "directed", "bipartite", "star"])
def test_eigenvector_in_any_unit_of_weights(kind: str, unit: float) -> None:
    rng = np.random.default_rng(2)
    A = np.where(rng.random((40, 40)) < 0.15, rng.random((40, 40)) * 50, 0)
    if kind != "directed":
        A += A.T
    if kind == "bipartite":
        A[:25, :25] = A[25:, 25:] = 0
    if kind == "star":
        A[1:, 1:] = A[0, 0] = 0
        A[0, 1:] = A[1:, 0] = 1 + np.arange(39) ** 3
    values, vectors = np.linalg.eig(A.T)
    expected = abs(vectors[:, np.argmax(values.real)].real)
    G = hpg.Graph(scipy.sparse.csr_array(A * unit), directed=kind == "directed")
    found = hpg.eigenvector_centrality(G, weight=True)
    assert found.converged
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-5)
    exact = hpg.eigenvector_centrality(G, weight=True, tol=1e-14, max_iteration=500)
    np.testing.assert_allclose(np.asarray(exact), expected, atol=1e-12)


@every_kind
def test_katz(directed: bool, weighted: bool, device: str) -> None:
    N = connected(directed, weighted)
    G = hpg.from_networkx(N).to(device)
    given = {"weight": "weight"} if weighted else {}
    for normalized in (True, False):
        expected = nx.katz_centrality(N, 0.01, normalized=normalized, **given)
        found = hpg.katz_centrality(G, 0.01, normalized=normalized, weight=weighted)
        assert found.converged
        np.testing.assert_allclose(np.asarray(found), listed(expected), rtol=1e-12)
    if weighted:
        return  # weights and what a vertex has to begin with know nothing of each other
    beta = {v: 1 + i % 3 for i, v in enumerate(N)}
    expected = nx.katz_centrality(N, 0.02, beta, nstart=dict.fromkeys(N, 1.0))
    for given_beta in (beta, listed(beta)):
        found = hpg.katz_centrality(G, 0.02, given_beta, start=1)
        np.testing.assert_allclose(np.asarray(found), listed(expected), rtol=1e-12)
    A = nx.to_scipy_sparse_array(N, weight=None)
    solved = np.linalg.solve(np.eye(len(N)) - 0.02 * A.T.toarray(), listed(beta))
    found = hpg.katz_centrality(G, 0.02, beta, tol=1e-14, normalized=False)
    np.testing.assert_allclose(np.asarray(found), solved, rtol=1e-10)


@every_kind
def test_hits(directed: bool, weighted: bool, device: str) -> None:
    N = connected(directed, weighted)
    G = hpg.from_networkx(N).to(device)
    found = hpg.hits(G, tol=1e-14, max_iteration=1000)
    assert found.converged and found.residual <= 1e-14
    svd = {"method": "svd"} if "method" in inspect.signature(nx.hits.orig_func).parameters else {}
    for ours, theirs in zip(found, nx.hits(N, **svd), strict=True):
        np.testing.assert_allclose(host(ours), listed(theirs), atol=1e-10)
    for ours, theirs in zip(hpg.hits(G, tol=1e-14, normalized=False), nx.hits(N, normalized=False, **svd), strict=True):
        np.testing.assert_allclose(host(ours), abs(listed(theirs)), atol=1e-10)
    # Iteration by iteration.
    A = nx.to_scipy_sparse_array(N)
    hubs = np.arange(1.0, 61)
    for limit in (1, 2, 3):
        authorities = A.T @ hubs
        hubs = A @ authorities
        found = hpg.hits(G, tol=0, max_iteration=limit, start=np.arange(1.0, 61))
        assert found.iterations == limit
        np.testing.assert_allclose(host(found.hubs), hubs / hubs.sum(), rtol=1e-12)
        np.testing.assert_allclose(host(found.authorities), authorities / authorities.sum(), rtol=1e-12)


@pytest.mark.parametrize("directed", [True, False])
def test_hits_of_close_singular_values(directed: bool, device: str) -> None:
    # A thousand powers would not do for the first; the second's largest is twofold, and both get their share of it.
    ring = np.arange(300)
    chords = hpg.Graph.from_edges(np.r_[ring, 0], np.r_[(ring + 1) % 300, 150], n_vertices=300, directed=directed)
    twins = hpg.Graph.from_edges([0, 0, 1, 4, 4, 5, 8], [1, 2, 3, 5, 6, 7, 9], n_vertices=10, directed=directed)
    for G in (chords, twins):
        found = hpg.hits(G.to(device), tol=1e-10)
        A = (hpg.Matrix(G).toarray() != 0).astype(float)
        values, vectors = np.linalg.eigh(A @ A.T)
        largest = vectors[:, values > values[-1] * (1 - 1e-9)]
        hubs = largest @ largest.sum(axis=0)
        assert found.converged
        np.testing.assert_allclose(host(found.hubs), hubs / hubs.sum(), atol=1e-7)


def test_single_precision(device: str) -> None:
    """One of them goes on: they differ in functions of their own, which do not know of types."""
    N = connected(True, weighted=False)
    G = hpg.from_networkx(N).to(device)
    found = hpg.eigenvector_centrality(G, dtype=np.float32).centrality
    np.testing.assert_allclose(host(found), listed(nx.eigenvector_centrality(N)), atol=1e-5)
    begun = {"tol": 0, "max_iteration": 0, "dtype": np.float32}
    hits = hpg.hits(G, **begun)
    for values in (found, hpg.katz_centrality(G, **begun).centrality, hits.hubs, hits.authorities):
        assert values.dtype == np.float32


def test_graphs_of_nothing(device: str) -> None:
    nothing = hpg.Graph.from_edges([], [], n_vertices=0).to(device)
    alone = hpg.Graph.from_edges([], [], n_vertices=1).to(device)
    apart = hpg.Graph.from_edges([], [], n_vertices=2).to(device)
    for G in (nothing, alone, apart):
        ones = [1.0] * len(G)
        assert host(hpg.degree_centrality(G)).tolist() == ([0.0, 0.0] if G is apart else ones)
        scaled = [max(len(G), 1) ** -0.5] * len(G)
        for found in (hpg.eigenvector_centrality(G), hpg.katz_centrality(G)):
            assert np.asarray(found).tolist() == pytest.approx(scaled) and found.converged
            assert len(found) == len(G) and "converged after" in repr(found)
    assert np.asarray(hpg.eigenvector_centrality(alone), dtype=np.float32).dtype == np.float32


def test_a_bipartite_graph_converges(device: str) -> None:
    """Its adjacency matrix has the eigenvalues λ and -λ."""
    N = nx.complete_bipartite_graph(2, 5)
    G = hpg.from_networkx(N).to(device)
    expected = [0.5] * 2 + [10**-0.5] * 5
    np.testing.assert_allclose(np.asarray(hpg.eigenvector_centrality(G)), expected, atol=1e-5)
    assert hpg.hits(G).converged


def test_what_does_not_converge(device: str) -> None:
    G = hpg.from_networkx(connected(directed=False, weighted=False)).to(device)
    for call in (hpg.eigenvector_centrality, hpg.katz_centrality, hpg.hits):
        with pytest.warns(hpg.ConvergenceWarning, match="stopped after 3 iterations"):
            assert not call(G, max_iteration=3, tol=1e-9).converged  # type: ignore[operator]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert call(G, max_iteration=2, tol=0).iterations == 2  # type: ignore[operator]
    raises(ValueError, "alpha must be smaller", hpg.katz_centrality, G, 1.0, max_iteration=10_000)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda G: hpg.eigenvector_centrality(G, tol=-1), ValueError, "tol must not be negative"),
        (lambda G: hpg.eigenvector_centrality(G, start=[0, 0, 0]), ValueError, "start must not be zero"),
        (lambda G: hpg.eigenvector_centrality(G, start=[1, 2]), ValueError, "each of the 3 vertices"),
        (lambda G: hpg.eigenvector_centrality(G, start={7: 1}), IndexError, "start must lie in 0..2"),
        (lambda G: hpg.eigenvector_centrality(G, dtype=int), TypeError, "float32 or float64"),
        (lambda G: hpg.katz_centrality(G, "a"), TypeError, "alpha"),
        (lambda G: hpg.katz_centrality(G, beta={0: 1}), ValueError, "beta must have a value for each"),
        (lambda G: hpg.katz_centrality(G, beta=[1, np.nan, 1]), ValueError, "beta must be finite"),
        (lambda G: hpg.katz_centrality(G, max_iteration=-1), ValueError, "max_iteration"),
        (lambda G: hpg.hits(G, start={0: "a"}), TypeError, "start must hold numbers"),
        (lambda G: hpg.hits(G, start=0), ValueError, "start must not be zero"),
    ],
)
def test_unfit_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(hpg.Graph.from_edges([0, 1], [1, 2], directed=False))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_blamed(bad: float) -> None:
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, bad, 1.0], directed=False)
    for measure in (hpg.katz_centrality, hpg.eigenvector_centrality, hpg.hits):
        raises(ValueError, "weights must be finite, and there is", measure, G, weight=True)
