"""Every public function of a graph means the same wherever the graph's arcs lie, or says that it does not run there."""

import functools
import inspect

import networkx as nx
import numpy as np
import programs
import pytest
import scipy.sparse as sp
from arrays import host
from calls import arguments
from graph_examples import without_loops
from raising import raises
from scipy.sparse import csgraph

import hpgraph as hpg
from hpgraph.containers.divided_graph import divide
from hpgraph.containers.divided_streamed_graph import DividedStreamedGraph
from hpgraph.core.device import cuda_available
from hpgraph.core.placements import EVERYTHING, PLACEMENTS
from hpgraph.io.hpg_writer import write_hpg

N = 80
PLACES = {
    "memory": None, "file": "in pages", "file for a GPU": "in pages", "host memory": "in pages",
    "parts": "on several devices", "parts of a GPU": "on several devices", "parts in pages": "in pages",
    "cluster": "on a cluster",
}  # fmt: skip


def _matrices() -> dict[bool, sp.csr_array]:
    """By directedness: whole weights, loops, vertices alone; directed with a hub, undirected in three pieces."""
    rng = np.random.default_rng(5)
    source, target = rng.integers(0, N - 6, 300), rng.integers(0, N, 300)
    source[:40] = 7
    weight = rng.integers(1, 9, 300).astype(np.float64)
    directed = hpg.Graph.from_edges(source, target, weight, n_vertices=N, duplicates="min")
    source, target = rng.integers(0, 30, 150), rng.integers(0, 30, 150)
    source[100:] += 35
    target[100:] += 35
    undirected = hpg.Graph.from_edges(source, target, weight[:150], n_vertices=N, directed=False, duplicates="min")
    return {
        G.directed: sp.csr_array((G.out_csr.data, G.out_csr.indices, G.out_csr.indptr), shape=(N, N))
        for G in (directed, undirected)
    }


MATRICES = _matrices()
GRAPHS = {directed: hpg.Graph(matrix, directed=directed) for directed, matrix in MATRICES.items()}
SEEN = {True: nx.DiGraph(MATRICES[True]), False: nx.Graph(MATRICES[False])}
OPTIONS = {
    "pagerank": {"tol": 1e-12}, "hits": {"tol": 1e-12, "max_iteration": 1000},
    "katz_centrality": {"alpha": 0.01, "tol": 1e-12},
    "eigenvector_centrality": {"tol": 1e-12, "max_iteration": 5000}, "betweenness_centrality": {"sources": [0, 3, 7]},
    **{name: {"largest_component": True} for name in ("eccentricity", "diameter", "radius", "center", "periphery")},
}  # fmt: skip


def _by_vertex(values: dict) -> np.ndarray:
    return np.array([values[v] for v in range(N)])


# What SciPy and NetworkX say of `MATRICES`, by directedness; other functions are compared with the graph in memory.
REFERENCES = {
    "bfs": lambda d: csgraph.dijkstra(MATRICES[d], unweighted=True, indices=0),
    "sssp": lambda d: csgraph.dijkstra(MATRICES[d], indices=0),
    "pagerank": lambda d: _by_vertex(nx.pagerank(SEEN[d], tol=1e-14, max_iter=1000, weight=None)),
    "katz_centrality": lambda d: _by_vertex(nx.katz_centrality(SEEN[d], alpha=0.01, tol=1e-12)),
    "hits": lambda d: _by_vertex(nx.hits(SEEN[d])[0]),
    "degree_centrality": lambda d: _by_vertex(nx.degree_centrality(SEEN[d])),
    "in_degree_centrality": lambda d: np.bincount(MATRICES[d].indices, minlength=N) / (N - 1),
    "out_degree_centrality": lambda d: np.diff(MATRICES[d].indptr) / (N - 1),
    "closeness_centrality": lambda d: _by_vertex(nx.closeness_centrality(SEEN[d])),
    "harmonic_centrality": lambda d: _by_vertex(nx.harmonic_centrality(SEEN[d])),
    "connected_components": lambda d: csgraph.connected_components(MATRICES[d])[1],
    "core_number": lambda d: _by_vertex(nx.core_number(without_loops(SEEN[d]))),
    "k_core": lambda d: len(nx.k_core(without_loops(SEEN[d]), 3)),
    "k_shell": lambda d: len(nx.k_shell(without_loops(SEEN[d]), 3)),
    "triangle_count": lambda d: sum(nx.triangles(without_loops(SEEN[d]).to_undirected()).values()) // 3,
    "triangles": lambda d: _by_vertex(nx.triangles(without_loops(SEEN[d]).to_undirected())),
    "ego_graph": lambda d: len(nx.ego_graph(SEEN[d], 0)),
    "k_hop": lambda d: len(functools.reduce(nx.compose, (nx.ego_graph(SEEN[d], v, 3) for v in (0, 3)))),
    "run": lambda d: csgraph.connected_components(MATRICES[d])[1],
}
# Sums of floats over all vertices or sources, whose order differs; all else has the same bits.
ROUNDED = {
    "pagerank", "hits", "eigenvector_centrality", "katz_centrality", "harmonic_centrality", "betweenness_centrality",
    "heat_kernel",
}  # fmt: skip


@pytest.fixture(scope="module", params=PLACES)
def placed(request, tmp_path_factory):
    """The name of a placement, and both graphs there."""
    folder, place = tmp_path_factory.mktemp("pages"), request.param
    if "GPU" in place and not cuda_available():
        pytest.skip("no CUDA GPU here")
    if place == "cluster":
        pytest.importorskip("distributed")
        with hpg.cluster.local(n_workers=2, threads=1, memory_limit="2 GiB") as client:
            kind = hpg.cluster.Graph
            yield place, {directed: kind.from_graph(client, G, blocks=2) for directed, G in GRAPHS.items()}
        return
    makes = {
        "file": lambda G: _opened(G, folder / f"{G.directed}.hpg", "cpu"),
        "file for a GPU": lambda G: _opened(G, folder / f"{G.directed}.hpg", "cuda"),
        "host memory": lambda G: hpg.StreamedGraph.of(G, arcs_per_page=64),
        "parts in pages": lambda G: DividedStreamedGraph.of_graph(G, ["cpu", "cpu"], arcs_per_page=64),
    }
    yield place, {directed: makes.get(place, lambda G: G)(G) for directed, G in GRAPHS.items()}


def _opened(graph, path, device):
    """With room for a few pages, which come and go."""
    write_hpg(graph, path, compression="gaps", arcs_per_page=32)
    with pytest.raises(hpg.BudgetError, match="give at least") as said:
        hpg.open(path, device, memory=500)
    return hpg.open(path, device, memory=1000 + int(str(said.value).rpartition(" ")[2].replace(",", "")))


def _call(name, graph):
    if name == "run":
        return hpg.run(programs.Component, graph)
    given = arguments(name, N, target=1, sink=1, k=4 if name == "count_cliques" else 3)
    return getattr(hpg, name)(graph, *given, **OPTIONS.get(name, {}))


def _values(found):
    """What compares of a result: of graphs their arcs, of results their first column that is by vertex."""
    if isinstance(found, hpg.Graph):
        return host(found.out_csr.indices)
    if isinstance(found, dict):
        return np.array(list(found.values()))
    if inspect.isgenerator(found):
        return np.concatenate([host(rows) for _, rows in found])
    for column in ("ahead", "level", "distance", "rank", "hubs", "centrality", "label", "score"):
        if hasattr(found, column):
            return host(getattr(found, column))
    return host(found)


@functools.cache
def _in_memory(name, directed):
    return _values(_call(name, GRAPHS[directed]))


def test_the_table_has_every_function() -> None:
    of_graphs = {
        name for name, module in hpg._MODULE_OF.items() if module.startswith("hpgraph.algorithms") and name[0].islower()
        and "G" in inspect.signature(getattr(hpg, name)).parameters
    }  # fmt: skip
    assert {*of_graphs, "run"} == EVERYTHING
    for placement in PLACEMENTS.values():
        assert set(placement.serves.split()) <= EVERYTHING and set(placement.only) <= EVERYTHING


@pytest.mark.parametrize("name", sorted(EVERYTHING))
def test_the_same_everywhere(name, placed) -> None:
    place, graphs = placed
    placement = PLACEMENTS.get(PLACES[place])
    serves = EVERYTHING if placement is None else placement.serves.split()
    parts = PLACES[place] == "on several devices"
    if (parts or place == "memory") and name not in (serves if parts else REFERENCES):
        pytest.skip("the same as in memory" if parts else "compared with itself")
    for directed, graph in graphs.items():
        if parts:  # anew, so that no whole graph is left of another function
            graph = divide(graph, ["cpu", "cpu"] if place == "parts" else ["cuda", "cuda"])
        limit = "" if placement is None else placement.only.get(name, "")
        if name not in serves:
            raises(hpg.StreamingError, rf"^\w+ needs the whole topology.*{placement.where}", _call, name, graph)
            continue
        if directed and (limit == "undirected graphs" or (place == "cluster" and name == "run")):
            raises(ValueError, r"undirected|directed=False|whole topology", _call, name, graph)
            continue
        result = _call(name, graph)
        found, expected = _values(result), _in_memory(name, directed)
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-11, equal_nan=True) if name in ROUNDED else (
            np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")
        )  # fmt: skip
        if name in REFERENCES:
            _check(name, directed, result)
        if place == "parts" and not limit:
            assert graph._layouts.get("whole") is None


def _check(name, directed, found) -> None:
    right = REFERENCES[name](directed)
    if isinstance(found, hpg.Graph):
        assert len(found) == right
    elif name in ("connected_components", "run"):
        assert len(np.unique(np.stack([_values(found), right]), axis=1).T) == right.max() + 1
    elif name == "bfs":
        assert np.array_equal(_values(found), np.where(np.isinf(right), -1, right))
    else:
        assert np.allclose(_values(found), right, rtol=1e-6, atol=1e-8)


def test_what_a_program_and_arguments_need(placed) -> None:
    place, graphs = placed
    graph = graphs[False]
    if place == "cluster":
        for call, says in (
            (lambda: hpg.pagerank(graph, personalization=[[0], [1]]), "^pagerank needs the whole topology"),
            (lambda: hpg.bfs(graph, sources=[0, 1]), "^active is of several starts"),
            (lambda: hpg.run(programs.Component, graph, active=[[0], [1]]), "^active is of several starts"),
            (lambda: hpg.Graph(graph), "lies on a cluster's workers: what runs there is .*bfs.*hpgraph.open"),
        ):
            raises(hpg.StreamingError, says, call)
        with hpg.cluster.Graph.from_graph(graph.client, hpg.Graph.from_edges([], []), blocks=2) as empty:
            assert hpg.pagerank(empty).converged and not len(hpg.pagerank(empty).rank)
        assert np.array_equal(hpg.pagerank(graph, damping=0.5, weight=None).rank, graph.pagerank(damping=0.5).rank)
        assert np.array_equal(hpg.bfs(graph, 0, gather=False).level.compute(), hpg.bfs(GRAPHS[False], 0).level)
        assert np.array_equal(hpg.AdjacencyOperator(graph).rmatmat(np.eye(N)), MATRICES[False].T.toarray())
        for name, options in (
            ("pagerank", {"personalization": {0: 1}, "start": np.ones(N)}), ("pagerank", {"normalization": "hpgraph"}),
            ("bfs", {"source": 0, "deterministic": True}), ("sssp", {"source": 0, "deterministic": True, "cutoff": 9}),
            ("betweenness_centrality", {"sources": [0, 3], "endpoints": True}),
        ):  # fmt: skip
            found, expected = (getattr(hpg, name)(G, **options) for G in (graph, GRAPHS[False]))
            np.testing.assert_allclose(_values(found), _values(expected), rtol=1e-5)
            if "deterministic" in options:
                assert np.array_equal(found.parent, expected.parent)
    elif PLACES[place] == "in pages":
        with pytest.raises(hpg.StreamingError, match=r"^betweenness_centrality needs .* G\.in_memory\(\)"):
            hpg.betweenness_centrality(graph, weight="weight")
    raises(TypeError, r"source=\.\.\. is needed", hpg.bfs, graph)
    raises(TypeError, r"pagerank\(\) has no argument 'alpha': did you mean damping\?", hpg.pagerank, graph, alpha=0.5)
    raises(TypeError, "Component has no property or parameter 'typo'", hpg.run, programs.Component, graph, typo=1)
