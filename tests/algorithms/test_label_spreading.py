"""Labels spread along arcs, beside dense solutions of what they end at, and scikit-learn's loop step by step."""

from typing import Any

import numpy as np
import pytest
from arrays import host
from raising import raises

import hpgraph as hpg

every_kind = pytest.mark.parametrize(("directed", "weighted"), [(d, w) for d in (False, True) for w in (False, True)])


def made(directed: bool, weighted: bool, device: str) -> tuple[np.ndarray, hpg.Graph, np.ndarray]:
    """A graph with loops and two vertices apart, densely too; and labels 3, 5, 8 of some of its vertices."""
    rng = np.random.default_rng(8)
    W = np.where(rng.random((40, 40)) < 0.12, rng.integers(1, 6, (40, 40)) if weighted else 1, 0)
    W = W if directed else np.triu(W) + np.triu(W, 1).T
    W[:2], W[:, :2] = 0, 0
    u, v = np.nonzero(W)
    G = hpg.Graph.from_edges(u, v, W[u, v] if weighted else None, 40, directed=directed).to(device)
    labels = np.where(rng.random(40) < 0.3, rng.choice([3, 5, 8], 40), -1)
    labels[:4] = -1, 5, 3, 8
    return np.where(np.eye(40, dtype=bool), 0, W).astype(float), G, labels


def one_hot(labels: np.ndarray) -> np.ndarray:
    return (labels[:, None] == [3, 5, 8]).astype(float)


def scaled(F: np.ndarray) -> np.ndarray:
    return F / np.where(F.sum(1) > 0, F.sum(1), 1)[:, None]


@every_kind
def test_spreading(directed: bool, weighted: bool, device: str) -> None:
    W, G, labels = made(directed, weighted, device)
    with np.errstate(divide="ignore"):
        leaving, arriving = (np.where(d > 0, 1 / np.sqrt(d), 0) for d in (W.sum(1), W.sum(0)))
    S, Y = arriving[:, None] * W.T * leaving, one_hot(labels)
    for alpha in (0.2, 0.9):
        found = hpg.label_spreading(G, labels, alpha=alpha, tol=1e-13, max_iteration=1000)
        expected = scaled(np.linalg.solve(np.eye(40) - alpha * S, (1 - alpha) * Y))
        np.testing.assert_allclose(host(found.distribution), expected, atol=1e-12)
        assert found.converged and host(found.classes).tolist() == [3, 5, 8]
        assert np.asarray(found).tolist() == np.where(expected.any(1), found_of(expected), -1).tolist()
    assert np.asarray(found)[:2].tolist() == [-1, 5]
    # Step by step as scikit-learn: so many, and where they lead.
    F, steps = Y, 0
    while True:
        F, before, steps = 0.2 * S @ F + 0.8 * Y, F, steps + 1
        if abs(F - before).sum() < 1e-3:
            break
    usual = hpg.label_spreading(G, labels)
    assert usual.iterations == steps and usual.residual < 1e-3
    np.testing.assert_allclose(host(usual.distribution), scaled(F), atol=1e-13)


def found_of(distribution: np.ndarray) -> np.ndarray:
    return np.array([3, 5, 8])[distribution.argmax(1)]


@every_kind
def test_propagation(directed: bool, weighted: bool, device: str) -> None:
    W, G, labels = made(directed, weighted, device)
    found = hpg.label_propagation(G, labels, tol=1e-13)
    P, Y, known = scaled(W.T), one_hot(labels), labels >= 0
    F = Y
    for _ in range(500):
        F = np.where(known[:, None], Y, scaled(P @ F))
    np.testing.assert_allclose(host(found.distribution), F, atol=1e-11)
    assert (np.asarray(found)[known] == labels[known]).all() and np.asarray(found)[0] == -1
    if not directed:
        # The harmonic function, solved for.
        free = ~known & (W.sum(1) > 0)
        inside = np.eye(free.sum()) - P[np.ix_(free, free)]
        solved = np.linalg.solve(inside, P[np.ix_(free, known)] @ Y[known])
        np.testing.assert_allclose(host(found.distribution)[free], solved, atol=1e-11)


def test_labels_by_vertex(device: str) -> None:
    names = list("abcdef")
    G = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], directed=False, names=names).to(device)
    left, right = ("side", 1), "right"
    found = hpg.label_spreading(G, {"e": right, "a": left, "c": None})
    assert np.asarray(found).tolist() == [left, left, right, right, right, None]  # the tie goes to the first given
    assert found.classes.tolist() == [right, left] and len(found) == 6
    numbers = hpg.label_spreading(G, {"a": 7, hpg.id(4): 2, "c": -1})
    assert host(numbers.label).tolist() == [7, 7, 2, 2, 2, -1]
    by_array = hpg.label_spreading(G, [7, -1, -1, -1, 2, -1])
    assert host(by_array.distribution).tolist() == host(numbers.distribution).tolist()
    assert repr(found).startswith("<LabelResult: 6 vertices, 2 labels, converged after ")
    assert set(np.asarray(hpg.label_propagation(G, np.full(6, 4, np.uint8)))) == {4}


def test_single_precision(device: str) -> None:
    _, G, labels = made(True, True, device)
    for method in (hpg.label_spreading, hpg.label_propagation):
        found = method(G, labels, dtype=np.float32)
        assert found.distribution.dtype == np.float32
        np.testing.assert_allclose(host(found.distribution), host(method(G, labels).distribution), atol=1e-4)


def test_weights_of_no_use(device: str) -> None:
    """Weights can be left out, and those that are 0 say nothing."""
    G = hpg.Graph.from_edges([0, 1], [1, 2], [-1.0, 2.0], directed=False).to(device)
    assert np.asarray(hpg.label_spreading(G, {0: 1}, weight=False)).tolist() == [1, 1, 1]
    G = hpg.Graph.from_edges([0, 1], [1, 2], [0.0, 2.0], directed=False).to(device)
    assert np.asarray(hpg.label_spreading(G, {0: 1})).tolist() == [1, -1, -1]


PATH = hpg.Graph.from_edges([0, 1], [1, 2], directed=False)


@pytest.mark.parametrize("method", [hpg.label_spreading, hpg.label_propagation])
@pytest.mark.parametrize(
    ("labels", "given", "error", "says"),
    [
        ([-1, -1, -1], {}, ValueError, "labels must give at least one vertex a label"),
        ({}, {}, ValueError, "labels must give at least one vertex a label"),
        ([1, 2], {}, ValueError, r"labels must have one value for each of the 3 vertices, not shape \(2,\)"),
        ([[1], [2], [3]], {}, ValueError, r"not shape \(3, 1\)"),
        ([0.5, 1, 2], {}, TypeError, "labels must be whole numbers that int64 can hold, .* not float64"),
        (["a", "b", "c"], {}, TypeError, "a dict gives others by vertex"),
        ({0: [1]}, {}, TypeError, "labels must be values that a dict takes for keys"),
        ({0: 1, hpg.id(0): 2}, {}, ValueError, "labels must not give a vertex twice"),
        ({7: 1}, {}, IndexError, "labels"),
        ({0: 1}, {"tol": -1}, ValueError, "tol must not be negative"),
        ({0: 1}, {"max_iteration": -1}, ValueError, "max_iteration"),
        ({0: 1}, {"dtype": int}, TypeError, "dtype must be float32 or float64"),
    ],
)  # fmt: skip
def test_unfit_input(method: Any, labels: Any, given: dict[str, Any], error: type[Exception], says: str) -> None:
    raises(error, says, method, PATH, labels, **given)


@pytest.mark.parametrize("alpha", [0, 1, -0.5, float("nan")])
def test_unfit_alpha(alpha: float) -> None:
    raises(ValueError, "alpha must be above 0 and below 1", hpg.label_spreading, PATH, {0: 1}, alpha=alpha)


@pytest.mark.parametrize("weight", [-1.0, np.inf, np.nan, 1e300])
def test_unfit_weights(weight: float) -> None:
    G = hpg.Graph.from_edges([0, 1], [1, 2], [weight, 2.0], directed=False)
    with pytest.raises(ValueError, match="weights must be finite in float32, and not negative"):
        hpg.label_propagation(G, {0: 1}, dtype=np.float32)


def test_an_early_end() -> None:
    with pytest.warns(hpg.ConvergenceWarning, match="label spreading stopped after 2 iterations"):
        found = hpg.label_spreading(PATH, {0: 1}, alpha=0.9, max_iteration=2)
    assert not found.converged and found.iterations == 2
    with pytest.warns(hpg.ConvergenceWarning, match="label propagation stopped after 0 iterations"):
        assert np.asarray(hpg.label_propagation(PATH, {0: 1}, max_iteration=0)).tolist() == [1, -1, -1]
    hpg.label_spreading(PATH, {0: 1}, tol=0, max_iteration=2)  # asked for so many, it does not warn
