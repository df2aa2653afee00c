"""Clustering coefficients beside NetworkX, and LDBC's beside its definition."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from arrays import host
from graph_examples import every_kind, example

import hpgraph as hpg
from hpgraph.algorithms import clustering as squares


def listed(by_node: dict[Any, float]) -> np.ndarray:
    return np.array(list(by_node.values()))


@every_kind
def test_clustering(directed: bool, weighted: bool, named: bool, device: str) -> None:
    N = example(directed, weighted, named)
    G = hpg.from_networkx(N).to(device)
    expected = listed(nx.clustering(N, weight="weight" if weighted else None))
    assert expected.any()
    np.testing.assert_allclose(host(hpg.clustering(G, weight=weighted)), expected, rtol=1e-12)
    some = [list(N)[i] for i in (7, 2, 7)]
    np.testing.assert_allclose(host(hpg.clustering(G, some, weight=weighted)), expected[[7, 2, 7]], rtol=1e-12)
    for zeros in (True, False):
        ours = hpg.average_clustering(G, weight=weighted, count_zeros=zeros)
        theirs = nx.average_clustering(N, weight="weight" if weighted else None, count_zeros=zeros)
        assert ours == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_ldbc(directed: bool, device: str) -> None:
    N = example(directed, weighted=True, named=True)
    found = host(hpg.clustering(hpg.from_networkx(N).to(device), form="ldbc"))
    for v, ours in zip(N, found, strict=True):
        around = set(nx.all_neighbors(N, v)) - {v}
        arcs = sum(N.has_edge(u, w) for u in around for w in around if u != w)
        assert ours == pytest.approx(arcs / (len(around) * (len(around) - 1)) if arcs else 0)


@pytest.mark.parametrize("directed", [False, True])
def test_transitivity(directed: bool, device: str) -> None:
    N = example(directed, weighted=False, named=False)
    G = hpg.from_networkx(N).to(device)
    assert hpg.transitivity(G) == pytest.approx(nx.transitivity(N.to_undirected()), rel=1e-15)


@pytest.mark.skipif(
    tuple(map(int, nx.__version__.split(".")[:2])) < (3, 5), reason="older NetworkX counts squares otherwise"
)
@pytest.mark.parametrize("ways", [1, 200, 1 << 24])
def test_square_clustering(ways: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row by row, in several turns and in one."""
    monkeypatch.setattr(squares, "WAYS", ways)
    for directed, named in ((False, True), (True, False)):
        N = example(directed, weighted=True, named=named)
        G = hpg.from_networkx(N).to(device)
        expected = listed(nx.square_clustering(N.to_undirected()))
        np.testing.assert_allclose(host(hpg.square_clustering(G)), expected, rtol=1e-15)
        some = [list(N)[i] for i in (7, 2, 39, 7)]
        np.testing.assert_allclose(host(hpg.square_clustering(G, some)), expected[[7, 2, 39, 7]], rtol=1e-15)
    N = nx.complete_bipartite_graph(3, 4)
    assert host(hpg.square_clustering(hpg.from_networkx(N).to(device))).tolist() == [1.0] * 7


def test_graphs_of_nothing(device: str) -> None:
    for n in (0, 1, 3):
        G = hpg.Graph.from_edges([], [], n_vertices=n).to(device)
        assert host(hpg.clustering(G)).tolist() == host(hpg.square_clustering(G)).tolist() == [0.0] * n
        assert hpg.transitivity(G) == 0
        assert np.isnan(hpg.average_clustering(G)) == (n == 0)
    loop = hpg.Graph.from_edges([0, 0], [0, 1], [1.0, 2.0]).to(device)
    assert host(hpg.clustering(loop, weight=True)).tolist() == [0, 0]
    assert host(hpg.clustering(loop, form="ldbc")).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda G: hpg.clustering(G, form="fagiolo"), ValueError, 'form must be "networkx" or "ldbc"'),
        (lambda G: hpg.clustering(G, form="ldbc", weight=True), ValueError, "has no weights"),
        (lambda G: hpg.clustering(G, [5]), IndexError, "vertices must lie in 0..2"),
        (lambda G: hpg.square_clustering(G, ["a"]), ValueError, "no names"),
        (lambda G: hpg.clustering(G.filter(edges=G.weights < 0), weight=True), ValueError, "largest positive"),
    ],
)
def test_unfit_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(hpg.Graph.from_edges([0, 1], [1, 2], [-1.0, 2.0], directed=False))
