"""Batches with all edges among them: what they are, the chances of vertices and edges, and the factors of sums."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.stats
from arrays import host
from raising import raises

import hpgraph as hpg


def uneven(directed: bool) -> hpg.Graph:
    """With parallel edges, loops, and vertices without edges."""
    rng = np.random.default_rng(4)
    ends = rng.integers(0, 12, 60) ** 2 // 12, rng.integers(0, 14, 60)
    return hpg.Graph.from_edges(*ends, n_vertices=16, directed=directed, duplicates="keep" if directed else None)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("incoming", [False, True])
@pytest.mark.parametrize("by", ["vertices", "edges", "walks", "communities"])
def test_a_batch_has_all_edges_among_its_vertices(by: str, incoming: bool, directed: bool, device: str) -> None:
    graph = uneven(directed)
    label = np.arange(16) % 5
    how = {"by": label, "batch_size": 2} if by == "communities" else {"by": by, "batch_size": 3}
    loader = hpg.SubgraphLoader(graph.to(device), incoming=incoming, seed=3, **how)
    arcs, met = graph.edges(both_ways=True), []
    for batch in loader:
        vertex, (row, column), edge = host(batch.vertex), host(batch.edge_index), host(batch.edge)
        inside = np.isin(arcs.source, vertex) & np.isin(arcs.target, vertex)
        assert sorted(edge.tolist()) == np.flatnonzero(inside).tolist()
        one, other = (row, column) if incoming and directed else (column, row)
        assert (vertex[one] == arcs.source[edge]).all() and (vertex[other] == arcs.target[edge]).all()
        assert (np.diff(vertex) > 0).all() and (np.diff(column) >= 0).all() and (host(batch.indptr)[-1] == len(edge))
        assert host(batch.seeds).tolist() == list(range(len(vertex))) and batch.edges_of_hop == [len(edge)]
        met.append(vertex)
    assert len(met) == len(loader) == {"communities": 3, "vertices": 6, "edges": 3, "walks": 2}[by]
    if by == "communities":
        assert sorted(np.concatenate(met)) == list(range(16))
        assert len({frozenset(label[some].tolist()) for some in met}) == 3
    again = [host(batch.vertex) for batch in hpg.SubgraphLoader(graph.to(device), incoming=incoming, seed=3, **how)]
    assert all(np.array_equal(*pair) for pair in zip(met, again, strict=True))
    assert any(not np.array_equal(a, host(b.vertex)) for a, b in zip(met, loader, strict=True))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("by", "how"), [("vertices", {}), ("edges", {}), ("walks", {"coverage": 400, "length": 3})])
def test_factors_are_inverse_chances(by: str, how: dict[str, Any], directed: bool) -> None:
    """Each vertex, and each edge, is in a batch as often as its factor says: z-scores, together as chi-square."""
    graph, runs = uneven(directed), 4000
    loader = hpg.SubgraphLoader(graph, by, batch_size=4, batches=10, seed=1, **how)
    vertices, edges = np.zeros(16), np.zeros(graph.out_csr.nnz)
    chance, factor = np.zeros(16), np.full(len(edges), np.nan)
    done = 0
    while done < runs:
        for batch in loader:
            vertices[batch.vertex] += 1
            edges[batch.edge] += 1
            chance[batch.vertex] = 1 / batch.vertex_factor
            factor[batch.edge] = batch.edge_factor
            done += 1
    met = vertices > 0
    apart = (vertices - runs * chance)[met] ** 2 / (runs * chance * (1 - chance))[met]
    # Counts of the walks' own estimates vary as those here do.
    noise = 1 if by != "walks" else 2
    assert scipy.stats.chi2.sf(apart.sum() / noise, met.sum()) > 1e-4
    column = graph.out_csr.expand_rows()
    both = chance[column] / factor
    seen = edges > 0
    apart = (edges - runs * both)[seen] / np.sqrt(runs * both * (1 - both))[seen]
    assert np.abs(apart).max() < 5 * noise and np.abs(apart).mean() < 1.2 * noise
    assert met.sum() >= 14 and seen.any()


def test_sums_are_right_on_average() -> None:
    graph, x = uneven(False), np.random.default_rng(2).random(16)
    whole = hpg.Matrix(graph.out_csr.pattern.with_data(np.ones(graph.out_csr.nnz))) @ x
    sums, count = np.zeros(16), np.zeros(16)
    losses = []
    for batch in hpg.SubgraphLoader(graph, "edges", batch_size=6, batches=4000):
        row, column = batch.edge_index
        sums[batch.vertex] += np.bincount(column, batch.edge_factor * x[batch.vertex][row], len(batch))
        count[batch.vertex] += 1
        losses.append((batch.vertex_factor * x[batch.vertex]).sum())
    met = count > 0
    np.testing.assert_allclose((sums / np.maximum(count, 1))[met], whole[met], rtol=0.1)
    reached = x[host(graph.degree) > 0].sum()
    assert abs(np.mean(losses) - reached) < 4 * np.std(losses) / np.sqrt(len(losses))


def test_communities_of_ours_with_features(device: str) -> None:
    graph = hpg.from_networkx(nx.planted_partition_graph(6, 10, 0.6, 0.01, seed=1)).to(device)
    features = np.random.default_rng(1).random((60, 3))
    loader = hpg.SubgraphLoader(graph, hpg.leiden(graph), batch_size=2).attach(features, cache=20)
    met = []
    for batch in loader:
        assert (host(batch.features) == features[host(batch.vertex)]).all() and batch.edge_factor is None
        met += host(batch.vertex).tolist()
    assert sorted(met) == list(range(60)) and repr(loader).startswith("<SubgraphLoader: 3 batches by communities, 2 ea")


def test_ugly_subgraphs(device: str) -> None:
    empty = hpg.Graph.from_edges([], [], n_vertices=0).to(device)
    alone = hpg.Graph.from_edges([], [], n_vertices=3).to(device)
    for by in ("vertices", "edges", "walks", np.zeros(0, int)):
        assert list(hpg.SubgraphLoader(empty, by)) == []
    for by, most in (("vertices", 3), ("edges", 0), ("walks", 3)):
        (batch,) = hpg.SubgraphLoader(alone, by, batches=1)
        assert len(batch) == most and batch.edge_index.shape == (2, 0)
    loop = hpg.Graph.from_edges([0, 0], [0, 1], directed=False).to(device)
    (batch,) = hpg.SubgraphLoader(loop, "edges", batches=1, batch_size=50)
    assert host(batch.edge_factor) == pytest.approx(1) and host(batch.vertex_factor) == pytest.approx(1)
    for how, error, said in (
        ({"by": "nodes"}, ValueError, "by must be 'vertices'"),
        ({"by": [0, 1, 1]}, ValueError, "of each of 2 vertices"),
        ({"by": [0.5, 1.0]}, ValueError, "a whole number"), ({"by": [0, 1], "batches": 2}, ValueError, "omit batches"),
        ({"by": "edges", "batches": -1}, ValueError, "batches must not be"),
        ({"by": "walks", "length": -1}, ValueError, "length must not be"),
        ({"by": "edges", "batch_size": 0}, ValueError, "batch_size must be at least 1"),
    ):  # fmt: skip
        raises(error, said, hpg.SubgraphLoader, loop, **how)
    raises(ValueError, "cache must not be", hpg.SubgraphLoader(loop, "edges").attach, np.zeros(2), cache=-1)
