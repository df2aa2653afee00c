"""Similarity against NetworkX, and against sets and sums by the definitions."""

import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from arrays import host
from raising import raises

import hpgraph as hpg

PREDICTIONS = {
    "jaccard_coefficient": nx.jaccard_coefficient,
    "adamic_adar_index": nx.adamic_adar_index,
    "resource_allocation_index": nx.resource_allocation_index,
}
SETS: dict[str, Callable[[set[int], set[int], int], float]] = {
    "jaccard": lambda a, b, common: common / len(a | b) if a | b else 0.0,
    "overlap": lambda a, b, common: common / min(len(a), len(b)) if a and b else 0.0,
    "sorensen": lambda a, b, common: 2 * common / (len(a) + len(b)) if a or b else 0.0,
    "cosine": lambda a, b, common: common / math.sqrt(len(a) * len(b)) if a and b else 0.0,
    "common_neighbors": lambda a, b, common: common,
}


def with_loops() -> nx.Graph:
    """Uneven degrees, a hub that has most for neighbours, loops, and a vertex alone."""
    graph = nx.barabasi_albert_graph(60, 3, seed=5)
    graph.add_edges_from((0, v) for v in range(1, 50))
    graph.add_edges_from([(3, 3), (0, 0), (57, 57)])
    graph.add_node(60)
    return graph


@pytest.fixture(scope="module")
def arcs() -> Any:
    """A directed graph with weights, as a matrix."""
    rng = np.random.default_rng(3)
    dense = np.where(rng.random((30, 30)) < 0.2, rng.integers(1, 9, (30, 30)), 0).astype(float)
    dense[4], dense[:, 7] = 0, 0
    return dense


@pytest.mark.parametrize("name", PREDICTIONS)
def test_as_networkx(name: str, device: str) -> None:
    graph = with_loops()
    G = hpg.from_networkx(graph).to(device)
    expected = {frozenset(pair): score for *pair, score in PREDICTIONS[name](graph)}
    found = getattr(hpg, name)(G)
    scores = {frozenset((u, v)): score for u, v, score in found}
    assert len(scores) == len(found) and scores.keys() == {pair for pair, score in expected.items() if score}
    assert scores == pytest.approx({pair: expected[pair] for pair in scores})
    # Edges, pairs given twice or the other way round, and enough of them with the hub for it to be marked.
    pairs = [(0, v) for v in range(1, 61)] + [(v, 2) for v in range(3, 60)] + [(5, 9), (9, 5), (60, 1)]
    want = [score for *_, score in PREDICTIONS[name](graph, pairs)]
    assert host(getattr(hpg, name)(G, pairs)).tolist() == pytest.approx(want)


@pytest.mark.parametrize("incoming", [False, True])
@pytest.mark.parametrize("name", SETS)
def test_directed_by_sets(name: str, incoming: bool, arcs: Any, device: str) -> None:
    G = hpg.Graph(np_sparse(arcs), directed=True).to(device)
    rows = [set(np.flatnonzero(row).tolist()) for row in (arcs.T if incoming else arcs)]
    n = len(arcs)
    table = np.array([
        [SETS[name](rows[u], rows[v], len((rows[u] & rows[v]) - {u, v})) for v in range(n)] for u in range(n)
    ])  # fmt: skip
    u, v = (ends.ravel() for ends in np.indices((n, n)))
    measure = getattr(hpg, name)
    assert np.allclose(host(measure(G, (u, v), incoming=incoming)).reshape(n, n), table)
    every = measure(G, joined=True, incoming=incoming)
    assert {(a, b): score for a, b, score in every} == pytest.approx(
        {(a, b): table[a, b] for a in range(n) for b in range(a + 1, n) if table[a, b] > 0}
    )
    apart = {(a, b) for a, b, _ in measure(G, incoming=incoming)}
    assert apart == {(a, b) for a, b, _ in every if not arcs[a, b] and not arcs[b, a]}


@pytest.mark.parametrize("name", ["jaccard", "overlap", "sorensen", "cosine"])
def test_weights(name: str, arcs: Any, device: str) -> None:
    G = hpg.Graph(np_sparse(arcs), directed=True).to(device)
    n = len(arcs)
    apart = arcs - np.diag(np.diag(arcs))
    table = np.zeros((n, n))
    for u in range(n):
        for v in range(n):
            least, a, b = np.minimum(apart[u], apart[v]).sum(), arcs[u].sum(), arcs[v].sum()
            long = np.linalg.norm(arcs[u]) * np.linalg.norm(arcs[v])
            over, under = {
                "jaccard": (least, np.maximum(arcs[u], arcs[v]).sum()), "overlap": (least, min(a, b)),
                "sorensen": (2 * least, a + b),
                "cosine": (apart[u] @ apart[v], long),
            }[name]  # fmt: skip
            table[u, v] = over / under if under else 0
    u, v = (ends.ravel() for ends in np.indices((n, n)))
    measure = getattr(hpg, name)
    assert np.allclose(host(measure(G, (u, v), weight=True)).reshape(n, n), table)
    assert {(a, b): score for a, b, score in measure(G, joined=True, weight=True)} == pytest.approx(
        {(a, b): table[a, b] for a in range(n) for b in range(a + 1, n) if table[a, b] > 0}
    )
    unweighted = host(measure(G, (u, v)))
    ones = hpg.Graph(np_sparse((arcs > 0).astype(float)), directed=True).to(device)
    assert np.allclose(host(measure(ones, (u, v), weight=True)), unweighted)


@pytest.mark.parametrize("name", ["adamic_adar", "resource_allocation"])
def test_directed_sums(name: str, arcs: Any, device: str) -> None:
    """A common successor counts by how many have it for a successor."""
    G = hpg.Graph(np_sparse(arcs), directed=True).to(device)
    reached = (arcs > 0).sum(axis=0)
    value = {"adamic_adar": lambda d: 1 / math.log(d), "resource_allocation": lambda d: 1 / d}[name]
    u, v = np.triu_indices(len(arcs), 1)
    want = [
        sum(value(reached[w]) for w in np.flatnonzero((arcs[a] > 0) & (arcs[b] > 0)) if w not in (a, b))
        for a, b in zip(u, v, strict=True)
    ]
    assert host(getattr(hpg, name)(G, (u, v))).tolist() == pytest.approx(want)


@pytest.mark.parametrize("k", [1, 3, 1000])
def test_top(k: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks of a few rows, too; of equals the lower vertex is the better."""
    monkeypatch.setattr("hpgraph.algorithms.similar_pairs._MAX_PAIRS", 100)
    graph = with_loops()
    G = hpg.from_networkx(graph).to(device)
    found: dict[int, list[tuple[float, int]]] = {}
    for u, v, score in hpg.jaccard(G, top=k, joined=True):
        found.setdefault(u, []).append((-score, v))
    for u in graph:
        every = [(-score, v) for *_, v, score in nx.jaccard_coefficient(graph, [(u, v) for v in graph if v != u])]
        best = sorted(pair for pair in every if pair[0])[:k]
        assert [v for _, v in found.get(u, [])] == [v for _, v in best]
        assert [score for score, _ in found.get(u, [])] == pytest.approx([score for score, _ in best])
    some = hpg.jaccard(G, top=2, vertices=[9, 4], joined=True)
    assert [u for u, _, _ in some] == [9, 9, 4, 4]
    assert [(u, v) for u, v, _ in some] == [(u, v) for u in (9, 4) for _, v in found[u][:2]] or k == 1


@pytest.mark.parametrize("joined", [True, False])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in SETS),
        ("adamic_adar_index", {}),
        ("jaccard", {"weight": True}),
        ("cosine", {"weight": True}),
    ],
)
def test_top_of_all_pairs(
    name: str, options: dict[str, Any], directed: bool, joined: bool, arcs: Any, device: str
) -> None:
    dense = arcs if directed else np.maximum(arcs, arcs.T)
    dense = dense * ~np.eye(len(dense), dtype=bool)
    G = hpg.Graph(sp.csr_array(dense), directed=directed).to(device)
    source, target = np.nonzero(~np.eye(len(dense), dtype=bool))
    function = getattr(hpg, name)
    scores = np.zeros_like(dense)
    scores[source, target] = host(function(G, (source, target), **options))
    if not joined:
        scores[(dense > 0) | (dense.T > 0)] = 0
    for k in (1, 3, 100):
        chosen = [4, 9, 9, 0] if k == 3 else None
        found = function(G, top=k, vertices=chosen, joined=joined, **options)
        expected = [
            (u, v)
            for u in (range(len(dense)) if chosen is None else chosen)
            for v in np.lexsort((np.arange(len(dense)), -scores[u]))[:k]
            if scores[u, v] > 0
        ]
        pairs = list(zip(host(found.source).tolist(), host(found.target).tolist(), strict=True))
        # Sums of logarithms may be added in another order, so that scores that are equal come in another order, too.
        assert [pair[0] for pair in pairs] == [pair[0] for pair in expected] and len(set(pairs)) >= len(set(expected))
        assert [scores[pair] for pair in pairs] == pytest.approx([scores[pair] for pair in expected])
        assert host(found.score).tolist() == pytest.approx([scores[pair] for pair in expected])


def test_common_neighbours(device: str) -> None:
    graph = nx.relabel_nodes(with_loops(), {v: f"v{v}" for v in range(61)})
    G = hpg.from_networkx(graph).to(device)
    for u, v in (("v0", "v3"), ("v3", "v57"), ("v60", "v1")):
        assert set(hpg.common_neighbors(G, u, v).tolist()) == set(nx.common_neighbors(graph, u, v))
    counts = hpg.common_neighbors(G, [("v0", "v3"), ("v60", "v1")])
    assert counts.dtype == np.int64
    assert host(counts).tolist() == [len(nx.common_neighbors(graph, "v0", "v3")), 0]


def test_names_and_shapes_of_pairs(device: str) -> None:
    G = hpg.Graph.from_edges([0, 0, 1, 1], [2, 3, 2, 3], directed=False, names=["a", "b", "c", "d"]).to(device)
    for pairs in ([("a", "b")], (["a"], ["b"]), (hpg.id([0]), hpg.id([1]))):
        assert host(hpg.jaccard(G, pairs)).tolist() == [1.0]
    assert host(hpg.jaccard(G, [])).tolist() == [] == list(hpg.jaccard(hpg.Graph.from_edges([], [], n_vertices=3)))
    assert list(hpg.cosine(G, vertices=["b"])) == [("b", "a", pytest.approx(1.0))]
    assert repr(hpg.jaccard(G)) == "<SimilarPairs: 2 of 4 vertices>"
    assert host(hpg.jaccard(G, np.array([[0, 1]])[:0])).tolist() == []


def test_unfit_input(device: str) -> None:
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, -1.0, 1.0]).to(device)
    raises(IndexError, r"source must lie in 0..2", hpg.jaccard, G, [(3, 0)])
    raises(IndexError, r"target must lie in 0..2", hpg.overlap, G, ([0], [-1]))
    with pytest.raises(ValueError, match=r"weight: similarity takes finite weights from 0 on, and there is -1"):
        hpg.jaccard(G, [(0, 1)], weight=True)
    for bad, said in ((np.nan, "NaN"), (np.inf, "infinity")):
        with pytest.raises(ValueError, match=f"there is {said}"):
            hpg.cosine(hpg.Graph.from_edges([0, 1], [1, 0], [1.0, bad]).to(device), weight=True)
    raises(ValueError, "top must be at least 1, not 0", hpg.jaccard, G, top=0)
    raises(ValueError, "give either pairs, or top and vertices", hpg.jaccard, G, [(0, 1)], top=3)
    raises(ValueError, "pairs must be of shape", hpg.jaccard, G, np.zeros((2, 3), np.int64))
    for bad in ([0, 1], 5, [(0,)]):
        raises(ValueError, "pairs must be pairs", hpg.jaccard, G, bad)


def np_sparse(dense: Any) -> Any:
    import scipy.sparse

    return scipy.sparse.csr_array(dense)


def test_pairs_are_two_arrays_or_pairs_and_not_both() -> None:
    G = hpg.Graph.from_edges([0, 0, 1, 1, 2], [2, 3, 2, 3, 4], directed=False)
    expected = hpg.jaccard(G, [(0, 1), (2, 3)]).tolist()
    for pairs in (([0, 2], [1, 3]), (np.array([0, 2]), np.array([1, 3])), np.array([[0, 1], [2, 3]])):
        assert hpg.jaccard(G, pairs).tolist() == expected
    raises(ValueError, "could be two pairs, or two sources and their targets", hpg.jaccard, G, ((0, 2), (1, 3)))
    for surplus in ([(0, 2, 99)], [(0, 1), (1, 2, 0.5)], ["ab"]):
        raises(ValueError, "pairs must be pairs", hpg.jaccard, G, surplus)
