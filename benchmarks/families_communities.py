"""Works of the families of communities and of points, each library used as its documentation does."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import hpgraph as hpg

from .families_peers import Given, Row, hierarchy, ig, la, nk, nx, sknn


def _found(communities: Any) -> None:
    """Searches find different communities: `python -m benchmarks objectives` compares how good they are."""


def communities(scale: int, device: str) -> Iterator[Row]:
    """Of a graph with planted communities, whose vertices are numbered at random, and of smaller ones."""
    planted = _planted(2**scale, device)
    G, size = planted.graph, f"{planted.host.n_edges:,} arcs"
    yield Row("communities", f"leiden, {size}", lambda: _found(hpg.leiden(G)), {
        "networkit": lambda: _found(nk.community.ParallelLeiden(planted.nk).run()),
        "igraph": lambda: _found(planted.ig.community_leiden("modularity", n_iterations=2)),
        "leidenalg": lambda: _found(la.find_partition(planted.ig, la.ModularityVertexPartition)),
    })  # fmt: skip
    yield Row("communities", f"louvain, {size}", lambda: _found(hpg.louvain(G)), {
        "networkit": lambda: _found(nk.community.PLM(planted.nk).run()),
        "igraph": lambda: _found(planted.ig.community_multilevel()),
    })  # fmt: skip
    yield Row("communities", f"label_propagation_communities, {size}", lambda: _found(
        hpg.label_propagation_communities(G)), {
        "networkit": lambda: _found(nk.community.PLP(planted.nk).run()),
        "igraph": lambda: _found(planted.ig.community_label_propagation()),
    })  # fmt: skip
    yield Row("communities", f"cdlp, 10 rounds, {size}", lambda: _found(hpg.cdlp(G)))
    yield Row("communities", f"ecg, {size}", lambda: _found(hpg.ecg(G)))
    yield Row("communities", f"slpa, {size}", lambda: _found(hpg.slpa(G)))
    seed = int(np.argmax(planted.host.out_degree))
    yield Row("communities", f"local_cluster of one vertex, {size}", lambda: _found(hpg.local_cluster(G, seed)), {
        "networkit": lambda: _found(nk.scd.PageRankNibble(planted.nk, 0.15, 1e-6).expandOneCommunity(seed)),
    })  # fmt: skip
    yield from _qualities(planted, size)
    few = _planted(2 ** (scale - 2), device)
    size = f"{few.host.n_edges:,} arcs"
    yield Row("communities", f"infomap, {size}", lambda: _found(hpg.infomap(few.graph)), {
        "igraph": lambda: _found(few.ig.community_infomap(trials=1)),
    })  # fmt: skip
    yield Row("communities", f"spectral_clustering, 8 groups, {size}", lambda: _found(
        hpg.spectral_clustering(few.graph)))  # fmt: skip
    yield Row("communities", f"paris, {size}", lambda: _found(hpg.paris(few.graph)), {
        "scikit-network": lambda: _found(hierarchy.Paris().fit_predict(few.matrix)),
    })  # fmt: skip
    yield Row("communities", f"k_clique_communities of 4, {size}", lambda: len(hpg.k_clique_communities(
        few.graph, 4)), {"NetworkX": lambda: len(list(nx.community.k_clique_communities(few.nx, 4)))})  # fmt: skip


def _planted(n: int, device: str) -> Given:
    graph = hpg.datasets.LFR_benchmark_graph(
        n, 2.5, 1.5, 0.3, average_degree=16, max_degree=64, min_community=20, max_community=200
    )
    order = np.random.default_rng(9).permutation(n)
    source, target, _ = graph.edges()
    return Given(hpg.Graph.from_edges(order[source], order[target], n_vertices=n, directed=False), device)


def _qualities(planted: Given, size: str) -> Iterator[Row]:
    """Of the same communities."""
    G = planted.graph
    label, other = (np.asarray(search(planted.host).label) for search in (hpg.louvain, hpg.leiden))
    numbers, others = label.tolist(), other.tolist()
    parts = None if nk is None else nk.Partition(len(label), data=label.astype(np.uint64))
    yield Row("communities", f"modularity, {size}", lambda: round(hpg.modularity(G, label), 9), {
        "networkit": lambda: round(nk.community.Modularity().getQuality(parts, planted.nk), 9),
        "igraph": lambda: round(planted.ig.modularity(numbers), 9),
    })  # fmt: skip
    yield Row("communities", f"partition_quality, {size}", lambda: round(hpg.partition_quality(G, label)[0], 9), {
        "networkit": lambda: round(nk.community.Coverage().getQuality(parts, planted.nk), 9),
    })  # fmt: skip
    yield Row("communities", f"community_quality by CPM, {size}", lambda: round(hpg.community_quality(
        G, label, "CPM", resolution=0.5), 3), {
        "leidenalg": lambda: round(la.CPMVertexPartition(planted.ig, numbers, resolution_parameter=0.5).quality(), 3),
    })  # fmt: skip
    yield Row("communities", f"conductance, {size}", lambda: float(hpg.conductance(G, label).sum()))
    yield Row("communities", f"silhouette, {size}", lambda: float(hpg.silhouette(G, label).sum()))
    yield Row("communities", f"map_equation, {size}", lambda: hpg.map_equation(G, label))
    for work, method in (("normalized_mutual_information", "nmi"), ("adjusted_rand_index", "adjusted_rand")):
        yield Row("communities", f"{work} of {len(label):,} labels", lambda work=work: round(
            getattr(hpg, work)(label, other), 9), {
            "igraph": lambda method=method: round(ig.compare_communities(numbers, others, method), 9),
        })  # fmt: skip


def points(scale: int, device: str) -> Iterator[Row]:
    """Twelve groups in 50 dimensions, and points of a plane; 15 neighbours of each."""
    rng, n = np.random.default_rng(10), 2 ** (scale - 1)
    X = (rng.normal(size=(n, 50)) + 3 * rng.normal(size=(12, 50))[rng.integers(0, 12, n)]).astype(np.float32)
    size = f"{n:,} points of 50 dimensions"
    yield _nearest(X, size, device)
    yield _nearest(rng.random((n, 2)), f"{n:,} points of 2 dimensions", device)
    yield Row("points", f"knn_graph, {size}", lambda: _found(hpg.knn_graph(X, device=device)))
    indices, distances = hpg.nearest_neighbors(X, device=device)
    yield Row("points", f"from_knn, {size}", lambda: _found(hpg.from_knn(indices, distances)))
    near = Given(hpg.from_knn(indices, distances), device)
    size = f"{near.host.n_edges:,} arcs of neighbours"
    yield Row("points", f"leiden, {size}", lambda: _found(hpg.leiden(near.graph)), {
        "networkit": lambda: _found(nk.community.ParallelLeiden(near.nk).run()),
        "igraph": lambda: _found(near.ig.community_leiden("modularity", "weight", n_iterations=2)),
        "leidenalg": lambda: _found(la.find_partition(near.ig, la.ModularityVertexPartition, weights="weight")),
    })  # fmt: skip


def _nearest(X: np.ndarray, size: str, device: str) -> Row:
    return Row("points", f"nearest_neighbors, {size}", lambda: _mean(hpg.nearest_neighbors(X, device=device)[1]), {
        "scikit-learn": lambda: _mean(sknn.NearestNeighbors(n_neighbors=15).fit(X).kneighbors()[0]),
    })  # fmt: skip


def _mean(distances: Any) -> float:
    return round(float(distances.mean()), 5)
