"""Works of the family of random graphs: graphs of as many edges, or nearly, by each library."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph import datasets

from .families_peers import Given, Row, ig, nk, rx


def _made(graph: Any) -> None:
    """Calls differ by their times alone."""


def random_graphs(scale: int, device: str) -> Iterator[Row]:
    """Of 16 edges a vertex; R-MAT and `gnm_random_graph` with more at larger scales."""
    n, where = 2**scale, {"device": device}
    m = 16 * n
    size, p = f"{m:,} edges", 2 * 16 / n
    yield Row("random graphs", f"gnp_random_graph, {size}", lambda: _made(datasets.gnp_random_graph(n, p, **where)), {
        "networkit": lambda: _made(nk.generators.ErdosRenyiGenerator(n, p).generate()),
        "igraph": lambda: _made(ig.Graph.Erdos_Renyi(n, p)),
        "rustworkx": lambda: _made(rx.undirected_gnp_random_graph(n, p)),
    })  # fmt: skip
    yield Row("random graphs", f"gnm_random_graph, {size}", lambda: _made(datasets.gnm_random_graph(n, m, **where)), {
        "igraph": lambda: _made(ig.Graph.Erdos_Renyi(n, m=m)),
        "rustworkx": lambda: _made(rx.undirected_gnm_random_graph(n, m)),
    })  # fmt: skip
    work = f"barabasi_albert_graph, {size}"
    yield Row("random graphs", work, lambda: _made(datasets.barabasi_albert_graph(n, 16, **where)), {
        "networkit": lambda: _made(nk.generators.BarabasiAlbertGenerator(16, n, 16, False).generate()),
        "igraph": lambda: _made(ig.Graph.Barabasi(n, 16)),
        "rustworkx": lambda: _made(rx.barabasi_albert_graph(n, 16)),
    })  # fmt: skip
    work = f"watts_strogatz_graph, {size}"
    yield Row("random graphs", work, lambda: _made(datasets.watts_strogatz_graph(n, 32, 0.1, **where)), {
        "networkit": lambda: _made(nk.generators.WattsStrogatzGenerator(n, 16, 0.1).generate()),
        "igraph": lambda: _made(ig.Graph.Watts_Strogatz(1, n, 16, 0.1)),
    })  # fmt: skip
    degree = _degrees(n)
    given, size = degree.tolist(), f"{degree.sum() // 2:,} edges"
    work = f"configuration_model, {size}"
    yield Row("random graphs", work, lambda: _made(datasets.configuration_model(degree, **where)), {
        "networkit": lambda: _made(nk.generators.ConfigurationModelGenerator(given).generate()),
        "igraph": lambda: _made(ig.Graph.Degree_Sequence(given, method="configuration").simplify()),
    })  # fmt: skip
    work = f"configuration_model, exact, {size}"
    yield Row("random graphs", work, lambda: _made(datasets.configuration_model(degree, exact=True, **where)), {
        "networkit": lambda: _made(nk.generators.EdgeSwitchingMarkovChainGenerator(given, True, 1).generate()),
        "igraph": lambda: _made(ig.Graph.Degree_Sequence(given, method="edge_switching_simple")),
    })  # fmt: skip
    work = f"expected_degree_graph, {size}"
    weights = degree.astype(np.float64)
    yield Row("random graphs", work, lambda: _made(datasets.expected_degree_graph(weights, **where)), {
        "networkit": lambda: _made(nk.generators.ChungLuGenerator(given).generate()),
        "igraph": lambda: _made(ig.Graph.Static_Fitness(int(degree.sum() // 2), given)),
    })  # fmt: skip
    size = f"{m:,} edges"
    work = f"random_regular_graph, {size}"
    yield Row("random graphs", work, lambda: _made(datasets.random_regular_graph(32, n, **where)), {
        "igraph": lambda: _made(ig.Graph.K_Regular(n, 32)),
        "rustworkx": lambda: _made(rx.random_regular_graph(n, 32)),
    })  # fmt: skip
    blocks, within, between = [n // 16] * 16, 24 * 16 / n, 8 / 15 * 16 / n
    table = np.where(np.eye(16, dtype=bool), within, between)
    work = f"stochastic_block_model, {size}"
    yield Row("random graphs", work, lambda: _made(datasets.stochastic_block_model(blocks, table, **where)), {
        "igraph": lambda: _made(ig.Graph.SBM(table.tolist(), blocks)),
        "networkit": lambda: _made(nk.generators.ClusteredRandomGraphGenerator(n, 16, within, between).generate()),
    })  # fmt: skip
    radius = float(np.sqrt(32 / (np.pi * n)))
    work = f"random_geometric_graph, {size}"
    yield Row("random graphs", work, lambda: _made(datasets.random_geometric_graph(n, radius, **where)), {
        "igraph": lambda: _made(ig.Graph.GRG(n, radius)),
    })  # fmt: skip
    chances = 0.57, 0.19, 0.19
    yield Row("random graphs", f"rmat, {size}", lambda: _made(datasets.rmat(scale, 16, *chances, **where)), {
        "networkit": lambda: _made(nk.generators.RmatGenerator(scale, 16, *chances, 0.05).generate()),
    })  # fmt: skip
    yield Row("random graphs", f"LFR_benchmark_graph, {size}", lambda: _made(datasets.LFR_benchmark_graph(
        n, 2.5, 1.5, 0.2, average_degree=32, max_degree=256, min_community=64, max_community=1024, **where)), {
        "networkit": lambda: _lfr(n),
    })  # fmt: skip
    graph = Given(datasets.gnm_random_graph(n, 4 * n), device)
    work = f"double_edge_swap, {4 * n:,} times of {4 * n:,} edges"
    yield Row("random graphs", work, lambda: _made(datasets.double_edge_swap(graph.graph, 4 * n, 16 * n)), {
        "networkit": lambda: _made(nk.randomization.EdgeSwitching(graph.nk, 1.0, False).run()),
        "igraph": lambda: _made(graph.ig.copy().rewire(4 * n)),
    })  # fmt: skip


def _degrees(n: int) -> np.ndarray:
    """A power law from 11 on with the exponent 2.5, whose mean is near 32."""
    degree = np.minimum(11 * (1 - np.random.default_rng(8).random(n)) ** (-1 / 1.5), np.sqrt(32 * n)).astype(np.int64)
    degree[0] += degree.sum() % 2
    return degree


def _lfr(n: int) -> None:
    generator = nk.generators.LFRGenerator(n)
    generator.generatePowerlawDegreeSequence(32, 256, -2.5)
    generator.generatePowerlawCommunitySizeSequence(64, 1024, -1.5)
    generator.setMu(0.2)
    generator.generate()
