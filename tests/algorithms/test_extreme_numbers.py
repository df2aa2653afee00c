"""Weights and shares next to the ends of what floats hold, against fractions, which have no ends."""

from fractions import Fraction

import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph import csgraph
from hpgraph.core.device import array_module, to_device

SOURCE, TARGET = [0, 0, 1, 1, 2, 2, 3, 3, 0, 3], [1, 2, 2, 3, 3, 0, 0, 1, 4, 4]
WEIGHT = np.arange(1.0, 11.0)


def ranks(weights: np.ndarray, jumps: list[float], steps: int = 40) -> np.ndarray:
    """PageRank in exact arithmetic."""
    n, total = len(jumps), sum(map(Fraction, jumps))
    teleport = [Fraction(jump) / total for jump in jumps]
    arcs = list(zip(SOURCE, map(Fraction, weights), strict=True))
    leaving = [sum((w for s, w in arcs if s == v), Fraction(0)) for v in range(n)]
    damping, rank = Fraction(85, 100), teleport
    for _ in range(steps):
        dangling = sum(r for r, out in zip(rank, leaving, strict=True) if not out)
        after = [(1 - damping) * t + damping * dangling * t for t in teleport]
        for s, t, w in zip(SOURCE, TARGET, weights, strict=True):
            after[t] += damping * rank[s] * Fraction(w) / leaving[s]
        # Kept short: fractions would otherwise double their length each time.
        rank = [Fraction(float(r)) for r in after]
    return np.array([float(r) for r in rank])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "exponents",
    [[1020] * 4, [-1070] * 4, [1000, -1000, 0, 3], [125, -120, -10, 0], [0] * 4],
    ids=["large", "subnormal", "mixed", "single precision", "usual"],
)
def test_weights_count_in_proportion_whatever_their_size(exponents: list[int], dtype: type, device: str) -> None:
    xp = array_module(device)
    weights = np.ldexp(WEIGHT, np.array(exponents)[SOURCE] - 3)
    G = hpg.Graph.from_edges(*map(xp.asarray, (SOURCE, TARGET, weights)))
    found = hpg.pagerank(G, weight=True, dtype=dtype, tol=0, max_iteration=40).rank
    assert found.dtype == dtype
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(to_device(found, "cpu"), ranks(weights, [1.0] * 5), rtol=tolerance)


@pytest.mark.parametrize(
    "jumps",
    [[1e308, 1e308, 0, 0, 0], [5e-324, 5e-324, 0, 0, 0], [5e-324, 1e-323, 0, 0, 1e-323], [1e308, 5e-324, 1, 0, 0]],
)
def test_jumps_count_in_proportion_whatever_their_size(jumps: list[float], device: str) -> None:
    xp = array_module(device)
    G = hpg.Graph.from_edges(*map(xp.asarray, (SOURCE, TARGET, WEIGHT)))
    found = hpg.pagerank(G, weight=True, personalization=jumps, tol=1e-12, max_iteration=200)
    assert found.converged
    np.testing.assert_allclose(to_device(found.rank, "cpu"), ranks(WEIGHT, jumps, 200), rtol=1e-9, atol=1e-300)
    again = hpg.pagerank(G, weight=True, start=jumps, tol=1e-12, max_iteration=200)
    np.testing.assert_allclose(to_device(again.rank, "cpu"), ranks(WEIGHT, [1.0] * 5, 200), rtol=1e-9)


@pytest.mark.parametrize("jumps", [[0] * 5, [0.0, -0.0, 0, 0, 0], [np.nan] * 5, [np.inf, 1, 0, 0, 0], [-1, 2, 0, 0, 0]])
@pytest.mark.parametrize("name", ["personalization", "start"])
def test_what_is_no_distribution_is_refused_by_name(name: str, jumps: list[float]) -> None:
    with pytest.raises(ValueError, match=f"{name} must be finite and not negative, with a positive sum"):
        hpg.pagerank(hpg.Graph.from_edges(SOURCE, TARGET), **{name: jumps})


def path(weights: list[float], dtype: type, device: str) -> hpg.Graph:
    xp, m = array_module(device), len(weights)
    with np.errstate(all="ignore"):
        given = np.array(weights).astype(dtype)
    return hpg.Graph.from_edges(xp.arange(m), xp.arange(1, m + 1), xp.asarray(given), n_vertices=m + 2)


@pytest.mark.parametrize("weights", [[5e-324] * 3, [5e-324, 1e308, 1.0], [-0.0, 0.0, -0.0], [1e308, 5e307, -1e308]])
@pytest.mark.parametrize("delta", [None, 5e-324, 1e300, 10**400])
def test_distances_are_exact_sums_rounded(weights: list[float], delta: float | None, device: str) -> None:
    expected, so_far = [0.0], Fraction(0)
    for weight in weights:
        so_far += Fraction(weight)
        expected.append(float(so_far))
    found = hpg.sssp(path(weights, np.float64, device), 0, delta=delta, parents=True)
    assert to_device(found.distance, "cpu").tolist() == [*expected, np.inf]
    assert to_device(found.parent, "cpu").tolist() == [0, 0, 1, 2, -1]


@pytest.mark.parametrize(("weights", "dtype"), [([1e308, 1e308, 1.0], np.float64), ([3e38, 3e38, 1.0], np.float32)])
def test_a_distance_beyond_floats_is_not_taken_for_no_path(weights: list[float], dtype: type, device: str) -> None:
    G = path(weights, dtype, device)
    raises(ValueError, r"weights add up to more than float.* on the way to vertex 2.*cutoff", hpg.sssp, G, 0)
    largest = float(np.finfo(dtype).max)
    assert to_device(hpg.sssp(G, 0, cutoff=largest).distance, "cpu").tolist()[2:] == [np.inf] * 3
    if dtype == np.float64:  # which csgraph computes in
        raises(ValueError, "weights add up to more than", csgraph.dijkstra, G, indices=0)


def test_an_arc_of_infinite_length_still_reaches_nothing(device: str) -> None:
    found = hpg.sssp(path([1.0, np.inf, 2.0], np.float64, device), 0)
    assert to_device(found.distance, "cpu").tolist() == [0, 1, np.inf, np.inf, np.inf]
