"""Parallel edges: kept, counted as the guide's table says, merged by `simple`, in and out of NetworkX and files."""

import inspect
import itertools
import pickle
import re
from collections import Counter
from operator import attrgetter
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from calls import arguments
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import array_module, to_device

N = 24
MERGED = {"min": min, "max": max, "sum": sum, "count": len}
both_kinds = pytest.mark.parametrize("directed", [True, False])


def rows(seed: int = 3, n: int = N, m: int = 110, acyclic: bool = False) -> list[tuple[int, int, int]]:
    random = np.random.default_rng(seed)
    # Squares make vertices of many edges, and so many parallel ones and some loops.
    u, v = (n * random.random((2, m)) ** 2).astype(int)
    if acyclic:
        u, v = np.minimum(u, v), np.maximum(u, v) + 1
    return list(zip(u.tolist(), v.tolist(), random.integers(1, 9, m).tolist(), strict=True))


def networkx_of(given: list[tuple[int, int, int]], directed: bool, n: int = N) -> Any:
    made = nx.MultiDiGraph() if directed else nx.MultiGraph()
    made.add_nodes_from(range(n))
    made.add_weighted_edges_from(given)
    return made


def kept(given: list[tuple[int, int, int]], directed: bool, n: int = N, device: str = "cpu") -> hpg.Graph:
    columns = np.array(given).T
    return hpg.Graph.from_edges(*columns, n_vertices=n, directed=directed, duplicates="keep").to(device)


def merged(given: list[tuple[int, int, int]], directed: bool, how: str) -> dict[tuple[int, int], int]:
    """Weights by ends, each pair once; of an undirected edge the lower end first."""
    found: dict[tuple[int, int], list[int]] = {}
    for u, v, w in given:
        found.setdefault((u, v) if directed else (min(u, v), max(u, v)), []).append(w)
    return {ends: MERGED[how](weights) for ends, weights in found.items()}


def simple(given: list[tuple[int, int, int]], directed: bool, how: str, n: int = N, device: str = "cpu") -> hpg.Graph:
    arcs = [(u, v, w) for (u, v), w in merged(given, directed, how).items()]
    return hpg.Graph.from_edges(*np.array(arcs).T, n_vertices=n, directed=directed).to(device)


def plain(found: Any) -> Any:
    """What a function returned, to be compared by `repr`, which NaN survives."""
    if isinstance(found, hpg.Graph):
        return [plain(part) for part in (*found.edges(both_ways=True), found.names, found.multigraph)]
    if isinstance(found, hpg.MaximumFlow):
        return found.flow_value, found.flow.toarray().tolist()
    if hasattr(found, "dtype") and hasattr(found, "tolist"):
        return to_device(found, "cpu").tolist()
    if isinstance(found, hpg.Landmarks):
        return plain(found.distance(np.arange(8), np.arange(8) + 9))
    if isinstance(found, dict | set | str | int | float | bool | None):
        return found
    if hasattr(type(found), "__dataclass_fields__"):
        names = [name for name in type(found).__dataclass_fields__ if name not in ("trace", "traces", "find")]
        return [plain(getattr(found, name)) for name in names]
    return [plain(part) for part in found]


def meanings() -> dict[str, str]:
    """The guide's table: what each function makes of parallel edges."""
    page = (Path(__file__).parents[1] / "docs/guide/multigraphs.md").read_text(encoding="utf-8")
    text = page.partition("<!-- parallel edges -->\n")[2].partition("\n\n")[0]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]
    return {name: meaning for names, meaning in lines for name in re.findall(r"`([\w.]+)`", names)}


MEANINGS = meanings()
# Of functions without parallel edges: of points, and of two partitions.
ELSEWHERE = {
    "knn_graph", "from_knn", "nearest_neighbors", "normalized_mutual_information", "adjusted_rand_index",
    "power_law_fit",
}  # fmt: skip
UNDIRECTED = {"spectral_clustering", "label_propagation_communities", "local_cluster", "stoer_wagner", "gomory_hu_tree"}
UNDIRECTED |= {"max_weight_matching", "random_spanning_tree", "core_periphery", "top_closeness"}
CURRENT = {"current_flow_closeness_centrality", "current_flow_betweenness_centrality"}
UNDIRECTED |= CURRENT
DIRECTED = {
    "is_dag", "is_directed_acyclic_graph", "topological_sort", "dag_longest_path", "condensation", "reciprocity",
    "dyad_census", "triadic_census",
}  # fmt: skip
CONNECTED = {"eccentricity", "diameter", "radius", "center", "periphery", *CURRENT}
ACYCLIC = {"topological_sort", "dag_longest_path"}
WEIGHTS = {"ego_graph": {"distance": True}, "distance_histogram": {"weight": True, "width": 1.0}}
HOW = {"the lightest": "min", "the heaviest": "max", "once": "min"}


def test_the_table_has_every_function() -> None:
    page = (Path(__file__).parents[1] / "docs/reference/algorithms.rst").read_text(encoding="utf-8")
    named = set(re.findall(r"^   ([a-z]\w+|(?:Neighbor|Subgraph)Loader)$", page, re.MULTILINE))
    named |= {f"embed.{name}" for name in hpg.embed.__all__}
    assert named - ELSEWHERE == set(MEANINGS)


def called(name: str, graph: Any, weight: Any) -> Any:
    function, said = attrgetter(name)(hpg), WEIGHTS.get(name)
    if said is None:
        takes = inspect.signature(inspect.unwrap(function)).parameters
        said = {"weight": weight} if "weight" in takes else {}
    found = function(graph, *arguments(name, N), **said)
    found = list(itertools.islice(found, 5)) if name in ("shortest_simple_paths", "all_simple_paths") else found
    return repr(plain(found))


@both_kinds
@pytest.mark.parametrize("name", [name for name, meaning in MEANINGS.items() if meaning in HOW])
def test_as_of_the_simple_graph(name: str, directed: bool) -> None:
    if name in (UNDIRECTED if directed else DIRECTED) or name in ("bridges", "edge_betweenness_centrality"):
        pytest.skip("of the other kind, or compared below")
    given = rows(acyclic=name in ACYCLIC)
    if name in CONNECTED:
        given += [(v, (v + 1) % N, 9) for v in range(N)]
    if name in ("bipartite_sets", "maximum_bipartite_matching"):
        given = [(u // 2 * 2, v // 2 * 2 + 1, w) for u, v, w in given]
    how, n = HOW[MEANINGS[name]], N + (name in ACYCLIC)
    for weight in (None, "weight" if name == "dag_longest_path" else True):
        wanted = called(name, simple(given, directed, how, n), weight)
        assert called(name, kept(given, directed, n), weight) == wanted, weight


@both_kinds
@pytest.mark.parametrize("name", [name for name, meaning in MEANINGS.items() if meaning.startswith("weights add up")])
def test_sums_and_counts(name: str, directed: bool) -> None:
    if directed and name in UNDIRECTED:
        pytest.skip("of undirected graphs alone")
    given = rows()
    if name in CONNECTED:
        given += [(v, (v + 1) % N, 9) for v in range(N)]
    if name == "edge_connectivity":
        ring = [(0, 1, 5)] * 9 + [(1, 2, 1), (2, 0, 3), (2, 0, 3)]
        assert hpg.edge_connectivity(kept(ring, directed, 3), 0, 1) == (9 if directed else 10)
        assert hpg.edge_connectivity(kept(ring[:-3] + [(1, 0, 2)] * 7, directed, 2)) == (7 if directed else 16)
        return
    assert called(name, kept(given, directed), True) == called(name, simple(given, directed, "sum"), True)
    counts = simple(given, directed, "count")
    if "weight" not in inspect.signature(inspect.unwrap(attrgetter(name)(hpg))).parameters:
        unweighted = hpg.Graph.from_edges(*np.array(given).T[:2], n_vertices=N, directed=directed, duplicates="keep")
        assert called(name, unweighted, True) == called(name, counts, True)
    else:
        assert called(name, kept(given, directed), None) == called(name, counts, True)


@both_kinds
def test_where_each_counts(directed: bool, device: str) -> None:
    given = rows()
    g, G = networkx_of(given, directed), kept(given, directed, device=device)
    sums, counts = (simple(given, directed, how, device=device) for how in ("sum", "count"))
    for function, options in (
        (hpg.pagerank, {"tol": 1e-12, "max_iteration": 500}), (hpg.pagerank, {"method": "delta", "tol": 1e-12}),
        (hpg.pagerank, {"personalization": [[0], [1, 2]], "tol": 1e-12}), (hpg.hits, {"tol": 1e-12}),
        (hpg.eigenvector_centrality, {"tol": 1e-10, "max_iteration": 5000}),
        (hpg.katz_centrality, {"alpha": 0.01, "tol": 1e-10}),
    ):  # fmt: skip
        for weight, other in ((True, sums), (None, counts)):
            found, wanted = (function(graph, weight=w, **options) for graph, w in ((G, weight), (other, True)))
            np.testing.assert_allclose(values(found), values(wanted), rtol=1e-7, atol=1e-9)
    ranks = nx.pagerank(g, tol=1e-12, max_iter=500)
    np.testing.assert_allclose(values(hpg.pagerank(G, weight=True, tol=1e-12)), [ranks[v] for v in g], rtol=1e-8)
    hubs = nx.hits(g, tol=1e-12, max_iter=2000)[0]
    np.testing.assert_allclose(values(hpg.hits(G, tol=1e-12)), [hubs[v] for v in g], atol=1e-8)
    assert to_device(G.degree, "cpu").tolist() == [degree for _, degree in g.degree]
    if directed:
        assert to_device(G.in_degree, "cpu").tolist() == [degree for _, degree in g.in_degree]
    for name in ("in_", "out_", "")[0 if directed else 2 :]:
        wanted = getattr(nx, f"{name}degree_centrality")(g)
        assert values(getattr(hpg, f"{name}degree_centrality")(G)).tolist() == pytest.approx(list(wanted.values()))
    assert hpg.density(G) == pytest.approx(nx.density(g))
    assert values(hpg.isolates(G)).tolist() == list(nx.isolates(g))
    assert hpg.degree_assortativity_coefficient(G) == pytest.approx(nx.degree_assortativity_coefficient(g))
    value = {v: v * v % 11 for v in g}
    nx.set_node_attributes(g, value, "value")
    found = hpg.numeric_assortativity_coefficient(G, list(value.values()))
    assert found == pytest.approx(nx.numeric_assortativity_coefficient(g, "value"))
    found = hpg.attribute_assortativity_coefficient(G, list(value.values()))
    assert found == pytest.approx(nx.attribute_assortativity_coefficient(g, "value"))
    # NetworkX sums over neighbours, each once, and divides by the number of edges.
    if directed:
        ends = [[g.out_degree(w) for _, w in g.edges(v)] for v in g]
        wanted = [np.mean(some) if some else 0 for some in ends]
        assert values(hpg.average_neighbor_degree(G, "out", "out")).tolist() == pytest.approx(wanted)


def values(found: Any) -> np.ndarray:
    for name in ("rank", "hubs", "centrality"):
        found = getattr(found, name, found)
    return np.asarray(to_device(found, "cpu"))


@both_kinds
def test_walks_and_samples(directed: bool) -> None:
    given = [(0, 1, 1)] * 3 + [(0, 2, 1), (1, 0, 1), (2, 0, 1)]
    G = kept(given, directed, 3)
    out = Counter(G.out_csr.indices[: G.out_csr.indptr[1]].tolist())
    walks = hpg.random_walk(G, np.zeros(40_000, np.int64), 1, seed=4)
    share = np.bincount(walks[:, 1], minlength=3) / len(walks)
    np.testing.assert_allclose(share, [out[v] / sum(out.values()) for v in range(3)], atol=0.01)
    assert hpg.node2vec_walk(G, [0, 1], length=5).shape == (2, 6)
    sample = hpg.sample_neighbors(G, [0], [10])
    assert len(sample.edge) == sum(out.values())
    assert sum(len(batch.edge) for batch in hpg.NeighborLoader(G, [10], seeds=[0, 1, 2], batch_size=1)) == G.n_edges


@both_kinds
@pytest.mark.parametrize("weight", [None, "weight"])
def test_results_of_edges(directed: bool, weight: Any) -> None:
    given = rows(m=60)
    g, G = networkx_of(given, directed), kept(given, directed)
    wanted: dict[tuple[int, int], list[float]] = {}
    for (u, v, _), value in nx.edge_betweenness_centrality(g, weight=weight).items():
        wanted.setdefault((u, v) if directed else (min(u, v), max(u, v)), []).append(value)
    found: dict[tuple[int, int], list[float]] = {}
    source, target, _ = G.edges(both_ways=True)
    between = hpg.edge_betweenness_centrality(G, weight=weight)
    assert between.shape == (G.n_edges,)
    for u, v, value in zip(source.tolist(), target.tolist(), between.tolist(), strict=True):
        if directed or u <= v:
            found.setdefault((u, v), []).append(value)
    assert {ends: sorted(some) for ends, some in found.items()} == {
        ends: pytest.approx(sorted(some)) for ends, some in wanted.items()
    }
    tree = [(v, v // 2, 1) for v in range(1, N)] + [(3, 1, 2), (7, 3, 1), (5, 5, 1)]
    if not directed:
        bridges = {tuple(sorted(edge)) for edge in nx.bridges(networkx_of(tree, False))}
        assert set(map(tuple, hpg.bridges(kept(tree, False)).tolist())) == bridges


def edges_of(G: hpg.Graph) -> Counter[tuple[Any, Any, Any]]:
    source, target, weight = (to_device(part, "cpu").tolist() for part in G.edges(names=True))
    return Counter(zip(source, target, weight, strict=True))


def wanted_of(given: list[tuple[int, int, int]], directed: bool) -> Counter[tuple[int, int, int]]:
    return Counter((u, v, w) if directed else (min(u, v), max(u, v), w) for u, v, w in given)


@both_kinds
def test_graph(directed: bool, device: str) -> None:
    given = rows()
    g, G = networkx_of(given, directed), kept(given, directed, device=device)
    assert G.multigraph and "parallel edges kept" in repr(G) and G.directed == directed
    assert edges_of(G) == wanted_of(given, directed) and G.out_csr.is_sorted()
    for how in MERGED:
        assert G.simple(how) is G.simple(how)
        found = {ends[:2]: ends[2] for ends in edges_of(G.simple(how))}
        assert found == merged(given, directed, how)
        assert not G.simple(how).multigraph
    assert G.simple().simple() is G.simple()
    unweighted = hpg.Graph((np.array([0, 0, 1]), np.array([1, 1, 2])), duplicates="keep").to(device)
    assert unweighted.simple("sum").weights.tolist() == [2, 1] and not unweighted.simple().weighted
    for v in range(N):
        assert G.successors(v).tolist() == sorted(g[v])
        assert G.predecessors(v).tolist() == sorted(g.pred[v] if directed else g[v])
    assert G.has_edge([0, 3], [1, 3]).tolist() == [g.has_edge(0, 1), g.has_edge(3, 3)]
    some = [0, 1, 2, 3, 5, 8]
    assert edges_of(G.subgraph(some)) == wanted_of([(u, v, w) for u, v, w in given if {u, v} <= set(some)], directed)
    assert edges_of(G.filter(edges=lambda source, weight, target: weight > 4)) == wanted_of(
        [row for row in given if row[2] > 4], directed
    )
    backwards = [(v, u, w) for u, v, w in given]
    assert edges_of(G.reverse()) == wanted_of(backwards if directed else given, directed)
    assert edges_of(G.undirected) == wanted_of(given, False) and not G.undirected.directed
    pair = given[0][:2]
    joined = [row for row in given if row[:2] == pair or (not directed and row[1::-1] == pair)]
    rest = list((Counter(given) - Counter(joined)).elements())
    assert edges_of(G.edge_subgraph([pair])) == wanted_of(joined, directed)
    assert edges_of(G.remove_edges([pair])) == edges_of(G - G.edge_subgraph([pair])) == wanted_of(rest, directed)
    more = G.add_edges([0, 0, N], [1, 1, N], [7, 7, 3], n_vertices=N + 1)
    assert edges_of(more) == wanted_of([*given, (0, 1, 7), (0, 1, 7), (N, N, 3)], directed) and more.multigraph
    changed = G.update(insert=[(0, 1, 7)], delete=[pair], set=[(*given[1][:2], 11)])
    u, v = given[1][:2]
    ends = {(u, v)} if directed else {(u, v), (v, u)}
    set_to = [(*row[:2], 11) if row[:2] in ends else row for row in rest]
    assert edges_of(changed) == wanted_of([*set_to, (0, 1, 7)], directed) and changed.multigraph
    both = G | G
    assert not both.multigraph and edges_of(both) == edges_of(G.simple())
    for same in (pickle.loads(pickle.dumps(G)), hpg.Graph(G), hpg.Graph(G.out_csr, duplicates="keep")):
        assert same.multigraph and edges_of(same) == edges_of(G) and same.directed == directed
    for how in ("min", "max", "sum"):
        assert edges_of(hpg.Graph(G, duplicates=how)) == edges_of(G.simple(how))
    u, v, w = np.array(given).T
    A = scipy.sparse.coo_array((w, (u, v)), shape=(N, N)).toarray()
    A = A if directed else A + A.T - np.diag(A.diagonal())
    x = np.arange(N) + 1.0
    assert (hpg.Matrix(G).to("cpu").toarray() == A).all()
    if device == "cpu":
        np.testing.assert_allclose(hpg.AdjacencyOperator(G) @ x, A @ x)


def test_programs_see_each_edge() -> None:
    class Received(hpg.VertexProgram):
        reduce = "plus"
        activity = "all"
        max_iteration = 1
        total = hpg.Property("int64")

        def gather(source, weight, target):
            return weight

        def update(vertex, message):
            return message

    given = rows()
    found = hpg.run(Received, kept(given, True)).total
    assert found.tolist() == np.bincount([v for _, v, _ in given], [w for _, _, w in given], N).astype(int).tolist()


@both_kinds
def test_networkx(directed: bool) -> None:
    given = rows()
    g = nx.relabel_nodes(networkx_of(given, directed), {v: f"v{v}" for v in range(N)})
    G = hpg.from_networkx(g, duplicates="keep")
    assert (
        G.multigraph
        and G.directed == directed
        and G.n_edges == 2 ** (not directed) * len(given) - (0 if directed else sum(u == v for u, v, _ in given))
    )
    back = hpg.to_networkx(G)
    assert type(back) is type(g) and list(back) == list(g)

    def listed(graph: Any) -> Counter[Any]:
        ends = ((u, v) if directed else tuple(sorted((u, v))) for u, v in graph.edges())
        return Counter(zip(ends, (w for *_, w in graph.edges(data="weight")), strict=True))

    assert listed(back) == listed(g)
    assert type(hpg.to_networkx(G.simple())) is (nx.DiGraph if directed else nx.Graph)
    bare = hpg.from_networkx(g, weight=None, duplicates="keep")
    assert not bare.weighted and bare.n_edges == G.n_edges


@both_kinds
@pytest.mark.parametrize("suffix", [".csv", ".el", ".parquet", ".graphml", ".txt.gz"])
def test_files(suffix: str, directed: bool, tmp_path: Path) -> None:
    G = kept(rows(), directed)
    G.save(tmp_path / f"edges{suffix}")
    back = hpg.read(tmp_path / f"edges{suffix}", directed=directed, duplicates="keep")
    assert back.multigraph and edges_of(back) == edges_of(G)


@both_kinds
@pytest.mark.parametrize("weighted", [True, False])
def test_hpg_files(weighted: bool, directed: bool, tmp_path: Path) -> None:
    source, target, weight = np.array(rows()).T
    year = np.arange(len(source))
    G = hpg.Graph.from_edges(
        source, target, weight if weighted else None, names=[f"v{k}" for k in range(N)], directed=directed,
        duplicates="keep", columns={"year": year}, vertex_columns={"age": list(range(N))},
    )  # fmt: skip
    path = tmp_path / "edges.hpg"
    G.save(path)
    back = hpg.read(path)
    assert back.multigraph and back.directed == directed and back.names.tolist() == G.names.tolist()
    parts = [[None if part is None else part.tolist() for part in of.edges()] for of in (back, G)]
    assert parts[0] == parts[1] and back.edge_column("year").tolist() == G.edge_column("year").tolist()
    assert back.vertex_column("age").tolist() == list(range(N))
    for refused in (lambda: hpg.open(path), lambda: hpg.convert(path, tmp_path / "again.hpg")):
        raises(ValueError, r"edges.hpg keeps parallel edges, .* hpgraph.read reads them", refused)
    with pytest.raises(hpg.DeviceMemoryError):
        hpg.read(path, memory=1 << 12)


def test_refused(tmp_path: Path) -> None:
    G = kept(rows(), True)
    for suffix in (".npz", ".mtx", ".gr", ".gml"):
        raises(ValueError, r"cannot keep parallel edges: G\.simple", G.save, tmp_path / f"edges{suffix}")
    raises(ValueError, "a graph in pages cannot keep", hpg.StreamedGraph.of, G)
    G.save(tmp_path / "edges.csv")
    with pytest.raises(ValueError, match=r"keep.* is for a graph in one memory"):
        hpg.convert(tmp_path / "edges.csv", tmp_path / "edges.hpg", duplicates="keep")
    raises(ValueError, "has each edge once", G.simple().add_edges, [0], [1], duplicates="keep")
    raises(ValueError, '"min", "max", "sum" or "count"', G.simple, "mean")
    hpg.StreamedGraph.of(G.simple())


@pytest.mark.parametrize(
    ("dtype", "weights"),
    [
        ("int8", [127, 1]),
        ("uint8", [255, 1]),
        ("int32", [2**31 - 1, 5]),
        ("int64", [2**63 - 1, 1]),
        ("int8", [-100, -29]),
    ],
)
def test_sums_beyond_the_type_of_weights_are_refused(dtype: str, weights: list[int], device: str) -> None:
    xp = array_module(device)
    source, target, weight = xp.asarray([0, 0, 1]), xp.asarray([1, 1, 2]), xp.asarray(np.array([*weights, 3], dtype))
    refused = f"weight: parallel edges add up to more than {dtype} holds"
    raises(ValueError, refused, hpg.Graph.from_edges, source, target, weight, duplicates="sum")
    kept = hpg.Graph.from_edges(source, target, weight, duplicates="keep")
    raises(ValueError, refused, kept.simple, "sum")
    if device == "cpu":
        edges = {("a", "r", "b"): (np.array([0, 0]), np.array([1, 1]), np.array(weights, dtype))}
        raises(ValueError, refused, hpg.HeteroGraph, edges, {"a": 1, "b": 2}, duplicates="sum")
    if min(weights) > 0:
        raises(ValueError, refused, hpg.louvain, kept, weight=True)
    assert kept.simple("max").n_edges == 2
    wide = hpg.Graph.from_edges(source, target, weight.astype(np.float64), duplicates="sum")
    assert to_device(wide.weights, "cpu").tolist() == [float(sum(weights)), 3]
    fits = hpg.Graph.from_edges(source, target, xp.asarray(np.array([weights[0], 0, 3], dtype)), duplicates="sum")
    assert fits.weights.dtype == dtype and to_device(fits.weights, "cpu").tolist() == [weights[0], 3]
