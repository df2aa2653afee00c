"""Diffusion beside exponentials of dense Laplacians."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg
from arrays import host
from raising import raises

import hpgraph as hpg


def made(directed: bool, weighted: bool, device: str) -> tuple[np.ndarray, hpg.Graph]:
    """A graph with loops, two vertices apart and, directed, some that no arc leaves; densely too."""
    rng = np.random.default_rng(5)
    W = np.where(rng.random((40, 40)) < 0.12, rng.integers(1, 6, (40, 40)) if weighted else 1, 0)
    W = W if directed else np.triu(W) + np.triu(W, 1).T
    W[:2], W[:, :2] = 0, 0
    if directed:
        W[5:8] = 0
    u, v = np.nonzero(W)
    G = hpg.Graph.from_edges(u, v, W[u, v] if weighted else None, 40, directed=directed)
    return W.astype(float), G.to(device)


def laplacian(W: np.ndarray, kind: str) -> np.ndarray:
    d = W.sum(1)
    if kind == "normalized":
        return np.asarray(nx.normalized_laplacian_matrix(nx.from_numpy_array(W)).todense())
    if kind == "combinatorial":
        return np.diag(d) - W.T
    return np.eye(len(W)) - np.where(d > 0, W.T / np.where(d > 0, d, 1), np.eye(len(W)))


KINDS = [
    ("combinatorial", False), ("combinatorial", True), ("normalized", False), ("random-walk", False),
    ("random-walk", True),
]  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kind", "directed"), KINDS)
def test_against_the_dense_exponential(kind: str, directed: bool, weighted: bool, device: str) -> None:
    W, G = made(directed, weighted, device)
    L = laplacian(W, kind)
    heat = np.random.default_rng(1).normal(size=(40, 3))
    for t in (0.01, 1, 30):
        E = scipy.linalg.expm(-t * L)
        for tol in (1e-3, 1e-12):
            found = host(hpg.heat_kernel(G, heat, t, laplacian=kind, tol=tol))
            off, given = found - E @ heat, heat
            if kind == "random-walk" and not directed:
                scale = np.sqrt(np.where(W.sum(1) > 0, W.sum(1), 1))[:, None]
                off, given = off / scale, heat / scale
            order = 1 if directed else 2
            bound = tol * np.linalg.norm(given, order, axis=0)
            assert (np.linalg.norm(off, order, axis=0) <= bound * 1.01).all()
            one = host(hpg.heat_kernel(G, heat[:, 1], t, laplacian=kind, tol=tol))
            np.testing.assert_allclose(one, found[:, 1], atol=1e-12)
        if kind != "normalized":
            np.testing.assert_allclose(found.sum(axis=0), heat.sum(axis=0), atol=1e-10)


def test_a_long_time(device: str) -> None:
    """Where numbers such as exp(−t) are 0; at last heat is even."""
    H = hpg.Graph.from_edges(np.arange(9), np.arange(1, 10), directed=False).to(device)
    even = host(hpg.heat_kernel(H, {3: 5}, 1e5))
    np.testing.assert_allclose(even, 0.5, atol=1e-7)
    ring = hpg.Graph.from_edges(np.arange(9), (np.arange(9) + 1) % 9).to(device)
    around = hpg.heat_kernel(ring, {3: 9}, 2e4, laplacian="random-walk", tol=1e-13)
    np.testing.assert_allclose(host(around), 1, atol=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_beside_expm_multiply(directed: bool, device: str) -> None:
    N = nx.gnp_random_graph(400, 0.02, seed=3, directed=directed)
    A = nx.to_scipy_sparse_array(N, dtype=float)
    L = (scipy.sparse.diags_array(A.sum(axis=1)) - A.T).tocsr()
    heat = np.random.default_rng(2).random((400, 2))
    found = hpg.heat_kernel(hpg.Graph(A, directed=directed).to(device), heat, 0.7, tol=1e-13)
    np.testing.assert_allclose(host(found), scipy.sparse.linalg.expm_multiply(-0.7 * L, heat), rtol=1e-10)


def test_forms_of_heat(device: str) -> None:
    names = list("abcd")
    G = hpg.Graph.from_edges([0, 1], [1, 2], [2, 3], 4, directed=False, names=names).to(device)
    by_array = hpg.heat_kernel(G, [0, 2, 0, 1])
    assert by_array.shape == (4,) and host(by_array)[3] == pytest.approx(1, rel=1e-7)
    assert host(hpg.heat_kernel(G, {"b": 2, "d": 1})).tolist() == host(by_array).tolist()
    np.testing.assert_allclose(host(hpg.heat_kernel(G, 2)), 2, rtol=1e-7)
    given = np.array([0.0, 2, 0, 1])
    for t in (0, 1):
        found = hpg.heat_kernel(G, given, t)
        found += 1
        assert given.tolist() == [0, 2, 0, 1]
    unweighted = hpg.heat_kernel(G, given, weight=False)
    plain = hpg.Graph.from_edges([0, 1], [1, 2], None, 4, directed=False).to(device)
    assert host(unweighted).tolist() == host(hpg.heat_kernel(plain, given)).tolist()
    single = hpg.heat_kernel(G, given, tol=1e-6, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(host(single), host(by_array), atol=1e-5)


def test_nothing_to_do(device: str) -> None:
    for directed in (False, True):
        empty = hpg.Graph.from_edges([], [], None, 0, directed=directed).to(device)
        assert hpg.heat_kernel(empty, []).shape == (0,)
        apart = hpg.Graph.from_edges([1], [1], None, 3, directed=directed).to(device)
        for kind in ("combinatorial", "random-walk"):
            assert host(hpg.heat_kernel(apart, [1, 2, 3], laplacian=kind)) == pytest.approx([1, 2, 3], rel=1e-7)
        assert hpg.heat_kernel(apart, np.ones((3, 0))).shape == (3, 0)


PATH = hpg.Graph.from_edges([0, 1], [1, 2], directed=False)


@pytest.mark.parametrize(
    ("heat", "given", "error", "says"),
    [
        ([1, 2], {}, ValueError, "heat must have one value for each of the 3 vertices"),
        (np.ones((2, 3)), {}, ValueError, "heat must have one row for each of the 3 vertices"),
        ([[1, 2], [3], [4]], {}, ValueError, "heat must have rows of one length"),
        ([1, 2, np.nan], {}, ValueError, "heat must be finite"),
        (np.full((3, 2), np.inf), {}, ValueError, "heat must be finite"),
        (np.full((3, 2), "a"), {}, TypeError, "heat must hold numbers"),
        ({5: 1}, {}, IndexError, "heat"),
        (1, {"t": -1}, ValueError, "t must be finite and not negative"),
        (1, {"t": np.inf}, ValueError, "t must be finite and not negative"),
        (1, {"t": "1"}, TypeError, "t must be a number"),
        (1, {"t": 1e300}, ValueError, "t must be smaller"),
        (1, {"tol": 0}, ValueError, "tol must be above 0"),
        (1, {"laplacian": "other"}, ValueError, 'laplacian must be "combinatorial", '),
        (1, {"dtype": int}, TypeError, "dtype must be float32 or float64"),
    ],
)  # fmt: skip
def test_unfit_input(heat: Any, given: dict[str, Any], error: type[Exception], says: str) -> None:
    raises(error, says, hpg.heat_kernel, PATH, heat, **given)


def test_unfit_graphs() -> None:
    directed = hpg.Graph.from_edges([0, 1], [1, 2])
    raises(ValueError, r"give G\.undirected", hpg.heat_kernel, directed, 1, laplacian="normalized")
    raises(ValueError, "t must be smaller", hpg.heat_kernel, directed, 1, t=1e6)
    for weight in (-1.0, np.nan):
        with pytest.raises(ValueError, match="weights must be finite in float64, and not negative"):
            hpg.heat_kernel(hpg.Graph.from_edges([0, 1], [1, 2], [weight, 2.0], directed=False), 1)
    with pytest.raises(ValueError, match="their sum at a vertex"):
        hpg.heat_kernel(hpg.Graph.from_edges([0, 0], [1, 2], [1e308, 1e308]), 1)
