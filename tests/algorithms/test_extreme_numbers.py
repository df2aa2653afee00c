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


EDGES = [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4], [1, 2, 3, 4, 5, 6, 7, 2, 3, 4, 6, 7]
PAIRS, GROUPS = [(0, 1), (1, 3), (2, 4)], [0, 0, 0, 0, 1, 1, 1, 1]
# Answers that a common factor of all weights does not change.
SCALE_FREE = {
    "eigenvector": lambda G: hpg.eigenvector_centrality(G, weight=True, max_iteration=500).centrality,
    "hits": lambda G: hpg.hits(G).hubs,
    "simrank": lambda G: hpg.simrank_similarity(G, 0, weight=True),
    "cosine": lambda G: hpg.cosine(G, PAIRS, weight=True),
    "jaccard": lambda G: hpg.jaccard(G, PAIRS, weight=True),
    "current flow": lambda G: hpg.current_flow_betweenness_centrality(G.undirected, weight=True),
    "assortativity": lambda G: hpg.degree_assortativity_coefficient(G, weight=True),
    "neighbour degree": lambda G: hpg.average_neighbor_degree(G, weight=True),
    "degree connectivity": lambda G: hpg.average_degree_connectivity(G, weight=True),
    "random walk": lambda G: hpg.random_walk(G, [0, 1], 5, weight=True),
    "clustering": lambda G: hpg.clustering(G, weight=True),
    "local cluster": lambda G: hpg.local_cluster(G.undirected, [0])[1],
    "local heat": lambda G: hpg.local_cluster(G.undirected, [0], method="heat_kernel")[1],
    "modularity": lambda G: hpg.modularity(G, GROUPS),
}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", SCALE_FREE)
def test_answers_do_not_depend_on_the_unit_of_weights(name: str, directed: bool, device: str) -> None:
    xp, weights = array_module(device), np.array([1, 2, 3, 1, 2, 3, 4, 5, 1, 2, 1, 3.0])
    asked = SCALE_FREE[name]
    source, target = map(xp.asarray, EDGES)
    usual, large, small = (
        asked(hpg.Graph.from_edges(source, target, xp.asarray(np.ldexp(weights, shift)), directed=directed))
        for shift in (0, 1021, -1060)
    )
    for found in (large, small):
        np.testing.assert_allclose(to_device(found, "cpu"), to_device(usual, "cpu"), rtol=1e-9, atol=1e-12)


def test_resistances_of_large_and_small_conductances(device: str) -> None:
    xp = array_module(device)
    usual, large = (
        to_device(hpg.current_flow_closeness_centrality(network, weight=True), "cpu")
        for shift in (0, 1020)
        for network in [hpg.Graph.from_edges(*map(xp.asarray, (*EDGES, np.ldexp(np.ones(12), shift))), directed=False)]
    )
    np.testing.assert_allclose(np.ldexp(large, -1020), usual, rtol=1e-9)
    apart = hpg.Graph.from_edges(*map(xp.asarray, (*EDGES, np.where(np.arange(12) == 3, 1e308, 1.0))), directed=False)
    raises(ValueError, "weight: at vertex 3 conductances differ", hpg.current_flow_closeness_centrality, apart, True)


@pytest.mark.parametrize("directed", [False, True])
def test_a_path_beyond_floats_is_not_taken_for_none(directed: bool, device: str) -> None:
    xp = array_module(device)
    G = hpg.Graph.from_edges(*map(xp.asarray, (*EDGES, np.full(12, 1e308))), n_vertices=9, directed=directed)
    for asked in (
        lambda: hpg.shortest_path(G, 0, 7, weight=True),
        lambda: hpg.shortest_path_length(G, 0, 7, weight=True),
        lambda: hpg.astar_path(G, 0, 7, weight=True),
        lambda: hpg.steiner_tree(G, [0, 5, 7]),
        lambda: hpg.group_closeness_centrality(G, [6, 7], weight=True),
        lambda: hpg.contraction_hierarchy(G).distance(0, 7),
        lambda: hpg.contraction_hierarchy(G).distance([0, 1], 7),
        *([lambda: hpg.dag_longest_path(G)] if directed else []),
    ):
        raises(ValueError, "add up to more than float64 holds", asked)
    raises(hpg.NoPathError, "no path leads from 7 to 8", hpg.shortest_path, G, 7, 8)
    assert len(hpg.shortest_path(G, 0, 7)) == 4


@pytest.mark.parametrize("weight", [-np.inf, np.inf])
def test_infinite_weights_are_refused_where_they_mean_nothing(weight: float, device: str) -> None:
    xp = array_module(device)
    G = hpg.Graph.from_edges(*map(xp.asarray, (*EDGES, np.where(np.arange(12) == 3, weight, 1.0))), directed=False)
    raises(ValueError, "weights must be finite", hpg.clustering, G, weight=True)
    raises(ValueError, "must not be negative, NaN or infinite", hpg.sir, G, [0], 0.5, 0.5, weight=True)
