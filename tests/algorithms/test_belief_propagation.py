"""Belief propagation beside sums over all states of all vertices, and a slow one of messages in a dict."""

import itertools
from typing import Any

import networkx as nx
import numpy as np
import pytest
from arrays import host
from raising import raises

import hpgraph as hpg

SYMMETRIC = np.array([[4.0, 1, 0.5], [1, 3, 2], [0.5, 2, 1]])
LOPSIDED = np.array([[4.0, 1, 0.1], [2, 3, 7], [0.5, 2, 1]])
# A tree of six vertices and one apart; the same with two cycles.
TREE = [(0, 1), (2, 1), (1, 3), (4, 3), (3, 5)]
CIRCLES = [*TREE, (0, 2), (5, 4)]


def unary_of(n: int) -> np.ndarray:
    made = np.random.default_rng(6).random((n, 3)) + 0.1
    made[2] = [0, 1, 0]  # it is known
    made[4, 1] = 0
    return made


def enumerated(
    edges: list[tuple[int, int]], weights: list[float], unary: np.ndarray, potential: np.ndarray, join: Any
) -> np.ndarray:
    """Marginals by all states there are; `join` is max or sum."""
    joint = np.zeros((3,) * len(unary))
    for states in itertools.product(range(3), repeat=len(unary)):
        joint[states] = np.prod([unary[v, x] for v, x in enumerate(states)]) * np.prod(
            [potential[states[u], states[v]] ** w for (u, v), w in zip(edges, weights, strict=True)]
        )
    found = [join(join(joint, axis=tuple(range(v + 1, joint.ndim))), axis=tuple(range(v))) for v in range(joint.ndim)]
    return np.array([row / row.sum() for row in found])


def slowly(N: nx.Graph, unary: np.ndarray, potential: np.ndarray, iterations: int, damping: float) -> np.ndarray:
    """Sum-product by messages in a dict, all at once."""
    sent = {arc: np.full(3, 1 / 3) for u, v in N.edges for arc in ((u, v), (v, u))}
    for _ in range(iterations):
        made = {}
        for u, v in sent:
            others = np.prod([sent[w, u] for w in N[u] if w != v], axis=0)
            message = (unary[u] * others) @ potential
            message = message ** (1 - damping) * sent[u, v] ** damping
            made[u, v] = message / message.sum()
        sent = made
    belief = np.array([unary[v] * np.prod([sent[u, v] for u in N[v]], axis=0) for v in range(len(unary))])
    return belief / belief.sum(1)[:, None]


@pytest.mark.parametrize("product", ["sum", "max"])
@pytest.mark.parametrize(("directed", "weighted"), [(d, w) for d in (False, True) for w in (False, True)])
def test_exact_on_trees(directed: bool, weighted: bool, product: str, device: str) -> None:
    potential, unary = LOPSIDED if directed else SYMMETRIC, unary_of(7)
    edges = [*TREE, (3, 3)] + ([(1, 0)] if directed else [])  # a loop; and an arc back, which makes no cycle
    weights = [1.5, -1, 0.5, 2, 1, 0.7, 3][: len(edges)] if weighted else [1] * len(edges)
    u, v = zip(*edges, strict=True)
    G = hpg.Graph.from_edges(u, v, weights if weighted else None, 7, directed=directed).to(device)
    found = hpg.belief_propagation(G, unary, potential, product=product)
    join = np.sum if product == "sum" else np.max
    expected = enumerated(edges, weights, unary, potential, join)
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-12)
    assert host(found.state).tolist() == expected.argmax(1).tolist()
    # As far as the longest path, and once more to see that nothing changes.
    assert found.converged and found.iterations <= 4 and found.residual < 1e-6


@pytest.mark.parametrize("damping", [0, 0.4])
def test_step_by_step(damping: float, device: str) -> None:
    N = nx.gnp_random_graph(30, 0.15, seed=2)
    G, unary = hpg.from_networkx(N).to(device), unary_of(30)
    for iterations in (0, 1, 2, 7):
        found = hpg.belief_propagation(G, unary, SYMMETRIC, damping=damping, tol=0, max_iteration=iterations)
        assert found.iterations == iterations
        np.testing.assert_allclose(
            np.asarray(found), slowly(N, unary, SYMMETRIC, iterations, damping), rtol=1e-9, atol=1e-15
        )


def test_cycles(device: str) -> None:
    """Where states hardly depend on each other, beliefs come near the marginals."""
    unary, weak = unary_of(7), SYMMETRIC**0.1
    u, v = zip(*CIRCLES, strict=True)
    G = hpg.Graph.from_edges(u, v, None, 7, directed=False).to(device)
    found = hpg.belief_propagation(G, unary, weak)
    assert found.converged and len(found) == 7
    np.testing.assert_allclose(np.asarray(found), enumerated(CIRCLES, [1] * 7, unary, weak, np.sum), atol=2e-3)
    # Weights are powers, and so undo one.
    tenths = hpg.Graph.from_edges(u, v, np.full(7, 0.1), 7, directed=False).to(device)
    for product in ("sum", "max"):
        one, other = (
            np.asarray(hpg.belief_propagation(H, unary, like, product=product))
            for H, like in ((G, weak), (tenths, SYMMETRIC))
        )
        np.testing.assert_allclose(one, other, atol=1e-12)
    plain = hpg.belief_propagation(tenths, unary, weak, weight=False)
    assert np.asarray(plain).tolist() == np.asarray(found).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_far_apart_numbers(dtype: str, device: str) -> None:
    """Thousands of messages to one vertex, and factors of which one is beyond float32, are computed separately."""
    n = 5001
    star = hpg.Graph.from_edges(np.zeros(n - 1, int), np.arange(1, n), directed=False).to(device)
    unary = np.ones((n, 2))
    unary[1:2501], unary[2501:] = [1, 3], [3, 1]
    unary[0] = [1, 2]
    for odds in (4.0, 1e60):
        found = np.asarray(hpg.belief_propagation(star, unary, [[odds, 1], [1, odds]], dtype=dtype, tol=1e-3))
        assert found[0] == pytest.approx([1 / 3, 2 / 3], rel=1e-2 if dtype == "float32" else 1e-9)
    unary[1:] = [1, 3]
    found = np.asarray(hpg.belief_propagation(star, unary, [[4, 1], [1, 4]], dtype=dtype, tol=1e-3))
    assert found.dtype == dtype and found[0].tolist() == [0, 1]
    assert found[1] == pytest.approx([1 / 13, 12 / 13], rel=1e-3)


def test_by_vertex(device: str) -> None:
    G = hpg.Graph.from_edges([0, 1], [1, 2], names=list("abcd"), n_vertices=4, directed=False).to(device)
    found = hpg.belief_propagation(G, {"a": [0, 5], hpg.id(2): [1, 1]}, [[3, 1], [1, 3]])
    np.testing.assert_allclose(np.asarray(found), [[0, 1], [0.25, 0.75], [0.375, 0.625], [0.5, 0.5]], rtol=1e-12)
    assert repr(found).startswith("<BeliefResult: 4 vertices, 2 states, converged after 3 iterations")
    one = hpg.belief_propagation(G, {}, [[2]])
    assert np.asarray(one).tolist() == [[1]] * 4


@pytest.mark.parametrize("n", [0, 3])
def test_no_edges(n: int, device: str) -> None:
    for directed in (False, True):
        G = hpg.Graph.from_edges([], [], None, n, directed=directed).to(device)
        found = hpg.belief_propagation(G, np.ones((n, 2)), np.ones((2, 2)))
        assert found.converged and np.asarray(found).tolist() == [[0.5, 0.5]] * n


PATH = hpg.Graph.from_edges([0, 1], [1, 2], directed=False)
ALIKE = [[2, 1], [1, 2]]


@pytest.mark.parametrize(
    ("unary", "potential", "given", "error", "says"),
    [
        (np.ones((3, 3)), ALIKE, {}, ValueError, r"unary must have shape \(3, 2\)"),
        (np.ones(3), ALIKE, {}, ValueError, r"unary must have shape \(3, 2\)"),
        ([[1, 2], [3], [4]], ALIKE, {}, ValueError, "unary must have rows of one length"),
        ({0: [1, 2, 3]}, ALIKE, {}, ValueError, "unary must give 2 numbers a vertex"),
        ({0: [1, 2], hpg.id(0): [1, 2]}, ALIKE, {}, ValueError, "unary must not give a vertex twice"),
        ({9: [1, 2]}, ALIKE, {}, IndexError, "unary"),
        (-np.ones((3, 2)), ALIKE, {}, ValueError, "unary must be finite and not negative"),
        ({0: [0, 0]}, ALIKE, {}, ValueError, "unary must have a number above 0 in each row"),
        ({0: ["a", "b"]}, ALIKE, {}, TypeError, "unary must hold numbers"),
        ({}, [[1, 2]], {}, ValueError, "potential must have a row and a column for each state"),
        ({}, np.ones((0, 0)), {}, ValueError, "potential must have a row and a column for each state"),
        ({}, [[1, 0], [0, 1]], {}, ValueError, "potential must be positive and finite"),
        ({}, [[1, np.nan], [np.nan, 1]], {}, ValueError, "potential must be positive and finite"),
        ({}, [[1, 2], [3, 1]], {}, ValueError, "potential must be symmetric"),
        ({}, ALIKE, {"product": "min"}, ValueError, 'product must be "sum" or "max"'),
        ({}, ALIKE, {"damping": 1}, ValueError, "damping must be from 0 to below 1"),
        ({}, ALIKE, {"tol": -1}, ValueError, "tol must not be negative"),
        ({}, ALIKE, {"dtype": int}, TypeError, "dtype must be float32 or float64"),
    ],
)  # fmt: skip
def test_unfit_input(unary: Any, potential: Any, given: dict[str, Any], error: type[Exception], says: str) -> None:
    raises(error, says, hpg.belief_propagation, PATH, unary, potential, **given)


@pytest.mark.parametrize(("weight", "says"), [(np.inf, "weights must be finite"), (-1e200, "weights must be smaller")])
def test_unfit_weights(weight: float, says: str) -> None:
    G = hpg.Graph.from_edges([0, 1], [1, 2], [weight, 1.0], directed=False)
    raises(ValueError, says, hpg.belief_propagation, G, {}, ALIKE)


def test_an_early_end() -> None:
    with pytest.warns(hpg.ConvergenceWarning, match="belief propagation stopped after 2 iterations"):
        found = hpg.belief_propagation(PATH, {0: [1, 2]}, ALIKE, max_iteration=2)
    assert not found.converged
