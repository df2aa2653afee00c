"""What README and notebooks call on the CPU that `hpgraph.warmup` does not: small graphs, matrices, bundled ones."""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.engine.declarations import declarations_of
from hpgraph.engine.forms import form_of
from hpgraph.kernels.runtime.cpu.bits import SIDE


def example_calls() -> list[tuple[str, Callable[[], Any]]]:
    """The calls, by name."""
    debian = hpg.datasets.debian()
    both = debian.undirected
    rng = np.random.default_rng(1)
    source, target = rng.integers(0, 50, (2, 200))
    web = hpg.Graph.from_edges(source, target, rng.random(200), n_vertices=50, duplicates="min")
    payer, payee = rng.integers(0, 1 << 12, (2, 1 << 16))
    payments = hpg.Graph.from_edges(payer, payee, rng.random(1 << 16), duplicates="sum")
    groups = hpg.datasets.kron(9)
    # Searches that never meet, of which each soon goes on by itself; as a few do from the start.
    vertices = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    rings = hpg.Graph.from_edges(vertices.ravel(), np.roll(vertices, 1, axis=1).ravel(), directed=False)
    apart = {"apart": (rings, vertices[:, 0]), "a few": (groups, range(2))}
    return [
        ("BFS, small graph", partial(hpg.bfs, web, 0)),
        ("SSSP, small graph", partial(hpg.sssp, web, 0)),
        ("PageRank, small graph", partial(hpg.pagerank, web)),
        ("PageRank, weighted", partial(hpg.pagerank, payments, weight=True)),
        ("connected components, strong", partial(hpg.connected_components, web, connection="strong")),
        ("connected components, many vertices", partial(hpg.connected_components, debian)),
        ("triangle count, small graph", partial(hpg.triangle_count, web)),
        ("core numbers, small graph", partial(hpg.core_number, web)),
        ("louvain, small graph", partial(hpg.louvain, groups)),
        ("labels, small graph", partial(hpg.label_propagation_communities, groups)),
        ("paths, walks and motifs in time", partial(_in_time, source, target)),
        ("Leiden", lambda: hpg.modularity(both, hpg.leiden(both, seed=1))),
        ("clusters by eigenvectors", partial(hpg.spectral_clustering, groups, 6)),
        ("communities of points", _points),
        ("betweenness, directed", partial(hpg.betweenness_centrality, debian, sources=500, seed=7)),
        ("BFS, landmarks", partial(hpg.landmarks, both)),
        ("sets of edges", partial(_sets, debian)),
        ("PageRank, after changes", _changes),
        ("SciPy's matrices", partial(_as_scipy, web)),
        ("samples of neighbours, of parts", lambda: next(iter(hpg.SubgraphLoader(both, hpg.leiden(both), seed=1)))),
        ("samples of neighbours, of a sample", lambda: hpg.sample_neighbors(both, ["bash", "python3"], [3, 2], seed=7)),
        ("random walks, with a bias", lambda: hpg.node2vec_walk(both, length=8, p=0.5, q=2.0, seed=3)),
        ("layout by forces, a part", lambda: hpg.layout.force_atlas2(hpg.k_hop(debian, "python3", 3), max_iter=1)),
        ("layout by forces, two kinds", _layouts),
        ("small matrices", partial(_matrices, web)),
        ("A.mxv, any_pair, a frontier", partial(_levels, both)),
        ("row @ A", partial(_ranks, debian)),
        ("A.mxm, plus_pair, masked", partial(_triangles, both)),
        ("A @ A, int32, and A + B", partial(_votes, both)),
        ("pages", _pages),
        ("update that is its reduce", _recognized),
        *((f"closeness, {what}", partial(hpg.closeness_centrality, *given)) for what, given in apart.items()),
        *(
            (f"BFS, many sources, {what}", partial(hpg.bfs, G, sources=s, parents=False))
            for what, (G, s) in apart.items()
        ),
    ]


class _Widest(hpg.VertexProgram):
    edges = "in"
    width = hpg.Property("float32", initial=0.0)

    @staticmethod
    def gather(source: Any, weight: Any, target: Any) -> Any:
        return min(source.width, weight)

    reduce = "max"

    @staticmethod
    def update(vertex: Any, message: Any) -> Any:
        return max(vertex.width, message)


def _recognized() -> None:
    """What such a program is compared with: of its type and its reduce alone, whatever it gathers."""
    declared = declarations_of(_Widest)
    form_of(declared, declared.code((np.dtype(np.float32),)))


def _sets(debian: hpg.Graph) -> None:
    packages = debian.subgraph(["libc6", "libgcc-s1", "gcc-12-base", "perl"])
    debian.filter(vertices=debian.in_degree > 100)
    packages.add_edges(["perl"], ["dash"]) | debian.subgraph(["dash", "dpkg"])
    packages.has_edge(hpg.id([0, 1]), hpg.id([1, 2]))


def _changes() -> None:
    stream = hpg.Stream(hpg.datasets.kron(12))
    for batch in ({}, {"insert": [(1, 2), (3, 4)]}, {"insert": [(5, 6)], "delete": [(1, 2)]}):
        stream.update(**batch)
        stream.triangle_count(), stream.components(), stream.pagerank()
    path = hpg.from_edges([("ann", "bob", 2.0), ("bob", "eve", 1.0)])
    hpg.sssp(path.update(insert=[("eve", "dan", 1.5)], set=[("ann", "bob", 0.5)]), "ann")


def _points() -> None:
    G = hpg.knn_graph(np.random.default_rng(1).random((300, 64)), 15)
    hpg.infomap(G), hpg.ecg(G), hpg.paris(G), hpg.local_cluster(G, 0, tol=1e-4)


def _layouts() -> None:
    road = hpg.datasets.grid(100, removed=0.1)
    label = hpg.connected_components(road).label
    road = road.subgraph(np.flatnonzero(label == np.bincount(label).argmax()), names=False)
    hpg.layout.spectral(road)
    hpg.layout.force_atlas2(road, max_iter=1)


def _in_time(source: Any, target: Any) -> None:
    for time in (np.arange(len(source)), np.arange(len(source)) / 2):
        T = hpg.TemporalGraph({"source": source, "target": target, "time": time})
        hpg.temporal_closeness(T)
        hpg.fewest_hops(T, int(source[0])).path_to(int(target[0]))
        hpg.maximum_clique(hpg.reachability_graph(T, mutual=True))
    T = hpg.TemporalGraph({"source": source, "target": target, "time": np.arange(len(source))})
    hpg.temporal_betweenness(T), hpg.temporal_katz(T), hpg.temporal_pagerank(T), hpg.temporal_motifs(T, 10)


def _as_scipy(web: hpg.Graph) -> None:
    roads = web.out_csr.to_scipy().toarray()
    hpg.csgraph.shortest_path(roads, indices=0), hpg.csgraph.connected_components(roads)


def _matrices(web: hpg.Graph) -> None:
    A = hpg.hyb_array(web.out_csr.to_scipy())
    ones = np.ones(A.shape[0])
    A @ ones, A.mxv(ones, "min_plus"), A.mxm(A, "min_plus", mask=A), hpg.tril(A, -1)
    B = hpg.hyb_array(hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], [4, 7, 9], directed=False).out_csr.to_scipy())
    loads = np.ones(B.shape[0], np.float32)
    B @ loads, B.mxv(loads, "max_min")
    lattice = hpg.datasets.grid(100, removed=0.1)
    hpg.hyb_array(lattice.out_csr.to_scipy()) @ np.ones(lattice.n_vertices)


def _levels(network: hpg.Graph) -> None:
    A = hpg.Matrix(network).select("offdiag").structure
    level = np.full(A.shape[0], -1)
    frontier = hpg.Vector.from_indices([network.index_of("libc6")], [True], A.shape[0])
    for depth in range(4):
        level[frontier.to_indices()[0]] = depth
        frontier = A.vxm(frontier, "any_pair", mask=level < 0)


def _ranks(packages: hpg.Graph) -> None:
    A = hpg.Matrix(packages).structure
    shares = A.astype(float).multiply(1 / np.maximum(A.sum(axis=1), 1)[:, np.newaxis])
    np.ones(A.shape[0]) @ shares


def _triangles(network: hpg.Graph) -> None:
    A = hpg.Matrix(network).select("offdiag").structure
    L = hpg.tril(A, -1)
    hpg.mxm(L, L.T, "plus_pair", mask=L).sum()
    hpg.triangle_count(network)
    # Of many edges and of few.
    for k in (2, 10):
        A = A.mxm(A, "plus_pair", mask=A).select("valuege", k).structure
    A.mxm(A, "plus_pair", mask=A)


def _votes(network: hpg.Graph) -> None:
    A, n = hpg.Matrix(network).select("offdiag").structure, network.n_vertices
    voters = A.astype("int32") + hpg.eye(n, dtype="int32")
    (voters @ hpg.Matrix.from_coo(np.arange(n), np.arange(n), np.ones(n, "int32"), (n, n))).argmax(axis=1)


def _pages() -> None:
    small = hpg.datasets.social(17)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        pages = Path(folder) / "social.hpg"
        hpg.write(small, pages)
        # Less than it takes whole.
        graph = hpg.open(pages, host_memory="9MiB")
        for given in (graph, small):
            hpg.bfs(given, 0)
            hpg.pagerank(given, max_iteration=2, tol=0)
