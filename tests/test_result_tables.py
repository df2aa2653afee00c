"""Results as tables: names joined, in pandas, Arrow and Polars; the largest values; ways back along parents."""

import copy
import pickle
import sys
from typing import Any

import networkx as nx
import numpy as np
import pandas
import polars
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.algorithms.similar_pairs import SimilarPairs
from hpgraph.containers.result_table import ResultTable
from hpgraph.containers.vertex_array import named
from hpgraph.core.device import to_device

NAMES = ["ann", "bob", "eve", "xia", "yun"]


def people(names: Any = NAMES) -> hpg.Graph:
    return hpg.Graph.from_edges([0, 1, 0, 3], [1, 2, 2, 4], names=names)


def test_a_search_as_tables() -> None:
    found = hpg.bfs(people(), "ann")
    assert found.to_arrow().to_pydict() == {
        "vertex": NAMES, "level": [0, 1, 1, -1, -1], "parent": ["ann", "ann", "ann", None, None]
    }  # fmt: skip
    frame = found.to_pandas()
    assert frame["vertex"].tolist() == NAMES and frame["level"].dtype == np.int32
    assert frame["parent"].isna().tolist() == [False, False, False, True, True]
    assert polars.DataFrame(found)["parent"].to_list() == ["ann", "ann", "ann", None, None]
    by_index = hpg.bfs(people(None), 0).to_pandas()
    assert by_index["vertex"].tolist() == [0, 1, 2, 3, 4] and by_index["parent"].tolist() == [0, 0, 0, -1, -1]
    assert "parent" not in hpg.bfs(people(), "ann", parents=False).to_pandas()


def test_several_searches() -> None:
    found = hpg.bfs(people(), sources=["xia", "ann"])
    frame = found.to_pandas()
    assert frame["source"].tolist() == ["xia"] * 5 + ["ann"] * 5
    assert frame["vertex"].tolist() == NAMES * 2
    assert frame["level"].tolist() == [-1, -1, -1, 0, 1, 0, 1, 1, -1, -1]
    assert found.top(2) == [("xia", "yun", 1), ("ann", "bob", 1)]
    assert found.path_to("yun", source="xia") == ["xia", "yun"]
    raises(TypeError, "path_to\\(vertex, source=", found.path_to, "yun")
    raises(ValueError, "no search began at 'bob'", found.path_to, "yun", source="bob")


def test_paths_are_shortest() -> None:
    graph = nx.gnp_random_graph(60, 0.04, seed=5, directed=True)
    found = hpg.bfs(hpg.from_networkx(graph), 0)
    lengths = nx.single_source_shortest_path_length(graph, 0)
    for vertex in graph:
        if vertex not in lengths:
            with pytest.raises(hpg.NoPathError):
                found.path_to(vertex)
            continue
        path = found.path_to(vertex)
        assert path[0] == 0 and path[-1] == vertex and len(path) == lengths[vertex] + 1 and nx.is_path(graph, path)


def test_paths_that_cannot_be_written() -> None:
    found = hpg.bfs(people(), "ann")
    assert found.path_to(hpg.id(2), source="ann") == ["ann", "eve"]
    raises(ValueError, "did not begin at 'bob'", found.path_to, "eve", source="bob")
    raises(ValueError, "no vertex is named 'eva': did you mean 'eve'", found.path_to, "eva")
    # Pickled, a result does not hold the graph that parents would be found in; copied in memory it does.
    found = hpg.sssp(people(), "ann")
    raises(ValueError, "parents=True", pickle.loads(pickle.dumps(found)).path_to, "eve")
    assert copy.copy(found).path_to("eve") == ["ann", "eve"]
    assert found.path_to("eve") == pickle.loads(pickle.dumps(found)).path_to("eve"), "found once, parents are kept"


def test_paths_without_parents(device: str) -> None:
    """Among weights that are rounded, and zeros, so that cycles have length 0."""
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 40, (2, 130))
    weights = rng.choice([0.0, 0.1, 0.2, 0.7, 1 / 3], 130)
    N = nx.DiGraph()
    N.add_nodes_from(range(40))
    for u, v, w in zip(*ends.tolist(), weights.tolist(), strict=True):
        N.add_edge(u, v, weight=min(w, N.edges[u, v]["weight"]) if N.has_edge(u, v) else w)
    G = hpg.from_networkx(N).to(device)
    lengths, steps = nx.single_source_dijkstra_path_length(N, 0), nx.single_source_shortest_path_length(N, 0)
    one, many = hpg.sssp(G, 0), hpg.sssp(G, sources=[7, 0])
    levels, searches = hpg.bfs(G, 0, parents=False), hpg.bfs(G, sources=[7, 0], parents=False)
    assert one.parent is many.parent is levels.parent is searches.parent is None
    assert 5 < len(lengths) < 40
    for vertex in N:
        for found, given in ((one, {}), (many, {"source": 0}), (levels, {}), (searches, {"source": 0})):
            if vertex not in lengths:
                with pytest.raises(hpg.NoPathError):
                    found.path_to(vertex, **given)
                continue
            path = found.path_to(vertex, **given)
            assert path[0] == 0 and path[-1] == vertex
            if isinstance(found, hpg.BFSResult):
                assert len(path) == steps[vertex] + 1 and nx.is_path(N, path)
            else:
                assert nx.path_weight(N, path, "weight") == pytest.approx(lengths[vertex])


def test_names_index_values(device: str) -> None:
    """One rule: text is a name, whole numbers are indices, and what is computed is an array."""
    G = people().to(device)
    for found in (hpg.closeness_centrality(G), hpg.eigenvector_centrality(G), hpg.katz_centrality(G), hpg.pagerank(G),
                  hpg.betweenness_centrality(G), hpg.core_number(G), hpg.connected_components(G), G.degree,
                  hpg.bfs(G, "ann").level, hpg.sssp(G, "ann").distance):  # fmt: skip
        held = np.array(to_device(found.copy(), "cpu"))
        assert len(held) == 5
        assert [float(found[name]) for name in NAMES] == held.tolist() == [float(found[i]) for i in range(5)]
        assert float(found[hpg.id(2)]) == held[2]
        assert to_device(found[["eve", "ann"]], "cpu").tolist() == held[[2, 0]].tolist()
        assert dict(found.items()) == dict(zip(NAMES, held.tolist(), strict=True))
        assert {name: float(value) for name, value in dict(found).items()} == dict(found.items())
        assert "eve" in found and "zoe" not in found
        doubled = found * 2 + found
        assert to_device(doubled, "cpu").tolist() == (held * 2 + held).tolist()
        assert float(found.sum()) == held.sum() and to_device(found > 0, "cpu").tolist() == (held > 0).tolist()
        assert to_device(found[1:3], "cpu").tolist() == held[1:3].tolist()
        assert found.dtype == held.dtype and found.tolist() == held.tolist()
        with pytest.raises(ValueError, match="no vertex is named 'eva': did you mean 'eve'"):
            found["eva"]
    near = hpg.closeness_centrality(G)
    assert near.top(1) == hpg.closeness_centrality(people()).top(1) == G.table(value=near).top(1)
    assert near.to_pandas()["vertex"].tolist() == NAMES
    for cut in (near * 2, near[1:], near.astype("float32")):
        with pytest.raises((TypeError, IndexError)):
            cut["ann"]


def test_names_that_are_numbers(device: str) -> None:
    """`[]` takes whole numbers for indices, as of any array; items() has names."""
    found = hpg.core_number(people([2, 1, 0, 3, 9]).to(device))
    assert dict(found.items()) == {2: 2, 1: 2, 0: 2, 3: 1, 9: 1} and int(found[3]) == 1
    raises(TypeError, r"names such as 2, 1, 0, .* dict\(r.items\(\)\)", dict, found)
    plain = hpg.core_number(people(None).to(device))
    assert {v: int(c) for v, c in dict(plain).items()} == dict(plain.items()) == {0: 2, 1: 2, 2: 2, 3: 1, 4: 1}
    with pytest.raises(IndexError, match="have no names"):
        plain["ann"]


def test_the_largest() -> None:
    G = people()
    ranks = hpg.pagerank(G)
    expected = sorted(zip(NAMES, ranks.rank.tolist(), strict=True), key=lambda pair: -pair[1])
    assert ranks.top(3) == expected[:3] and ranks.top(0) == [] and len(ranks.top(99)) == 5
    assert hpg.bfs(G, "ann").top(9) == [("bob", 1), ("eve", 1), ("ann", 0)], "what is not reached is left out"
    assert hpg.connected_components(G).top(2) == [(0, 3), (1, 2)]
    raises(ValueError, "by must be one of 'rank', not 'level'", ranks.top, 3, by="level")
    raises(ValueError, "negative", ranks.top, -1)
    with pytest.raises(TypeError, match="k must"):
        ranks.top("three")  # type: ignore[arg-type]


class Values(ResultTable, columns=("value",)):
    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value)


def test_the_largest_of_ugly_numbers() -> None:
    assert Values([1.0, np.nan, np.inf, 3.0, 1.0, 3.0]).top(3) == [(3, 3.0), (5, 3.0), (0, 1.0)]
    assert Values(np.array([0, 2**64 - 1, 5], np.uint64)).top(2) == [(1, 2**64 - 1), (2, 5)]
    assert Values([]).top(3) == [] and len(Values([]).to_pandas()) == 0
    rng = np.random.default_rng(1)
    values = rng.integers(0, 50, 1000)
    expected = sorted(enumerate(values.tolist()), key=lambda pair: -pair[1])
    for k in (1, 17, 400, 1000):
        assert Values(values).top(k) == expected[:k], "of equal ones the first"


def test_pairs() -> None:
    pairs = SimilarPairs(np.array([0, 1]), np.array([2, 3]), np.array([0.25, 0.5]), people())
    assert pairs.to_pandas().to_dict("list") == {
        "source": ["ann", "bob"], "target": ["eve", "xia"], "score": [0.25, 0.5]
    }  # fmt: skip
    assert pairs.top(1) == [("bob", "xia", 0.5)]


@pytest.mark.parametrize("names", [NAMES, [10, -3, 7, 2**40, 5], [1, "a", None, 2.5, ("t", 1)]])
def test_names_of_any_type(names: list[Any]) -> None:
    ranks = hpg.pagerank(people(names))
    assert ranks.to_pandas()["vertex"].tolist() == names
    assert {name for name, _ in ranks.top(5)} == set(names)
    if names[0] == 1:
        raises(TypeError, "of no type that Arrow has: to_pandas", ranks.to_arrow)
    else:
        assert ranks.to_arrow()["vertex"].to_pylist() == names


def test_arrays_side_by_side() -> None:
    G = people()
    table = G.table(degree=G.out_degree, rank=hpg.pagerank(G))
    assert table.to_arrow().column_names == ["vertex", "degree", "rank"]
    assert table.top(2) == [("ann", 2), ("bob", 1)] and table.top(1, by="rank")[0][0] == "eve"
    assert "<td>ann</td><td>2</td>" in table._repr_html_()
    raises(ValueError, r"rank must have a value for each of the 5 vertices, not \(2,\)", G.table, rank=[1, 2])
    raises(ValueError, "needs columns", G.table)


def test_flows_and_components_as_graphs() -> None:
    carried = hpg.Matrix(np.array([[0, 2, 1], [-2, 0, 2], [-1, -2, 0]]))
    flow = named(hpg.MaximumFlow(3, carried), people())
    assert flow.to_pandas().to_dict("list") == {
        "source": ["ann", "ann", "bob"], "target": ["bob", "eve", "eve"], "flow": [2, 1, 2]
    }  # fmt: skip
    assert flow.top(1) == [("ann", "bob", 2)]
    G = people()
    parts = hpg.Condensation(G, np.array([0, 1, 1, 1, 2]), G.names)
    assert parts.to_arrow()["vertex"].to_pylist() == NAMES and parts.top(1) == [(1, 3)]


def test_edges_without_a_number() -> None:
    forest = hpg.SpanningForest(np.array([0]), np.array([1]), None, 2, None)
    assert forest.to_pandas().to_dict("list") == {"source": [0], "target": [1]}
    raises(ValueError, "no weights to sort by", forest.top, 1)


def test_in_a_notebook() -> None:
    shown = hpg.bfs(people(["<b>", *NAMES[1:]]), "<b>")._repr_html_()
    assert "<td>&lt;b&gt;</td><td>0</td>" in shown and "<th>level</th>" in shown
    assert "<th>label</th>" in hpg.connected_components(people())._repr_html_()


def test_programs() -> None:
    class Steps(hpg.VertexProgram):
        weighted = False
        reduce = "any"
        top = hpg.Property("int32", initial=-1, start=0)

        def gather(source, weight, target):  # type: ignore[no-untyped-def]
            return source.id

        def update(vertex, message, world):  # type: ignore[no-untyped-def]
            return world.superstep

    found = hpg.run(Steps, people(), active="ann")
    assert found.top.tolist() == [0, 1, 1, -1, -1], "a program's own words come first"
    assert found.to_pandas()["top"].tolist() == [0, 1, 1, -1, -1]
    assert found.to_pandas()["vertex"].tolist() == NAMES and "bob" in found._repr_html_()


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_without_the_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    result = named(Values([1.0]), people())
    with pytest.raises(hpg.MissingExtraError, match=rf"needs {package}: pip install 'hpgraph\[tables\]'"):
        result.to_pandas() if package == "pandas" else result.to_arrow()


def test_frames_are_pandas_own() -> None:
    assert isinstance(Values([2.0]).to_pandas(), pandas.DataFrame)


def test_results_compare_by_identity() -> None:
    graph = people()
    undirected = hpg.Graph.from_edges([0, 1, 0, 3], [1, 2, 2, 4], directed=False)
    flow = hpg.Graph.from_edges([0, 1], [1, 2], [2, 1])
    for find in (
        lambda: hpg.bfs(graph, "ann"), lambda: hpg.sssp(graph, "ann"), lambda: hpg.sssp(graph, sources=["ann", "xia"]),
        lambda: hpg.hits(graph), lambda: hpg.condensation(graph), lambda: hpg.maximum_flow(flow, 0, 2),
        lambda: hpg.biconnected_components(undirected), lambda: hpg.minimum_spanning_forest(undirected),
    ):  # fmt: skip
        one, other = find(), find()
        assert one == one and one != other and len({one, other}) == 2
