"""Edges in tables, rows and graphs of other libraries: the same graph from each, and what is refused."""

from __future__ import annotations

import sys
from typing import Any

import networkx as nx
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from raising import raises

import hpgraph as hpg

TITLED = {"src": ["a", "b", "c", "b"], "dst": ["b", "c", "a", "b"], "km": [1.5, 2.0, 3.0, 0.5]}
TABLES = {
    "dict": dict,
    "pandas": pandas.DataFrame,
    "objects": lambda held: pandas.DataFrame(held).astype({"src": object, "dst": object}),
    "categories": lambda held: pandas.DataFrame(held).astype({"src": "category", "dst": "category"}),
    "polars": polars.DataFrame,
    "arrow": pyarrow.table,
    "arrow in chunks": lambda held: pyarrow.concat_tables([pyarrow.table(held).slice(i, 2) for i in (0, 2)]),
}


def edges_of(G: hpg.Graph) -> set[Any]:
    source, target, weight = G.edges(names=True)
    ends = [source.tolist(), target.tolist()]
    return set(zip(*ends, strict=True) if weight is None else zip(*ends, weight.tolist(), strict=True))


@pytest.mark.parametrize("kind", TABLES)
def test_tables(kind: str) -> None:
    table = TABLES[kind](TITLED)
    expected = set(zip(*TITLED.values(), strict=True))
    for G in (hpg.from_edges(table, weight="km"), hpg.Graph(table, source="src", target="dst", weight="km")):
        assert edges_of(G) == expected and G.names is not None and G.names.tolist() == ["a", "b", "c"]
    turned = hpg.from_edges(table, source="dst", target="src", weight=False, directed=False)
    assert not turned.directed and turned.has_edge("a", "c") and not turned.weighted
    assert hpg.bfs(table, "a").path_to("c") == ["a", "b", "c"]


@pytest.mark.parametrize("make", [dict, pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_numbers_are_indices_unless_few_are_used(make: Any) -> None:
    assert hpg.from_edges(make({"u": [0, 2], "v": [1, 3]})).names is None
    for ids in ([5_000_000_000, 7], [-1, 0]):
        G = hpg.from_edges(make({"u": ids, "v": ids[::-1]}))
        assert G.names is not None and G.names.tolist() == sorted(ids)
    assert hpg.from_edges(make({"u": [9], "v": [3]}), names=False).n_vertices == 10
    named = hpg.Graph(make({"u": [1, 2], "v": [2, 0]}), names=True)
    assert named.n_vertices == 3 and edges_of(named) == {(1, 2), (2, 0)}


@pytest.mark.parametrize("make", [dict, pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_empty_tables(make: Any) -> None:
    numbers, text = np.empty(0, np.int64), np.empty(0, object)
    for ids in (numbers, text) if make in (dict, pandas.DataFrame) else (numbers,):
        for G in (hpg.from_edges(make({"u": ids, "v": ids})), hpg.Graph(make({"u": ids, "v": ids}))):
            assert (G.n_vertices, G.n_edges) == (0, 0)
    assert hpg.from_edges(make({"u": numbers, "v": numbers}), n_vertices=3).n_vertices == 3


@pytest.mark.parametrize("make", [pandas.Series, polars.Series, lambda values: pyarrow.chunked_array([values])])
def test_a_column_alone_is_no_graph(make: Any) -> None:
    for entry_point in (hpg.Graph, hpg.pagerank, hpg.from_edges):
        with pytest.raises(TypeError, match=r"can be made of|cannot be read from|is not a table of edges"):
            entry_point(make([1, 2]))


def test_rows() -> None:
    assert edges_of(hpg.from_edges([("a", "b"), ("b", 3)])) == {("a", "b"), ("b", 3)}
    assert edges_of(hpg.from_edges([(0, 9, 0.5), (1, 0, 2)])) == {(0, 9, 0.5), (1, 0, 2.0)}
    assert edges_of(hpg.from_edges(np.array([[0, 1], [1, 2], [2, 5]]))) == {(0, 1), (1, 2), (2, 5)}
    assert edges_of(hpg.from_edges(np.array([[0, 1], [1, 0]]))) == {(0, 1), (1, 0)}, "an array of rows, not a matrix"
    assert edges_of(hpg.from_edges(np.array([[0, 1, 0.5], [1, 2, 2.5]]))) == {(0, 1, 0.5), (1, 2, 2.5)}
    assert edges_of(hpg.from_edges(np.array([["a", "b"], ["b", "c"]]))) == {("a", "b"), ("b", "c")}
    assert edges_of(hpg.from_edges([0, 1], [1, 2], [1.0, 2.0])) == {(0, 1, 1.0), (1, 2, 2.0)}
    assert edges_of(hpg.from_edges(["x", "y"], ["y", "z"])) == {("x", "y"), ("y", "z")}
    assert hpg.from_edges([(1001, 7)], names=True).n_vertices == 2
    assert hpg.from_edges([(0, 1)], names=["x", "y", "z"]).index_of("z") == 2
    assert hpg.from_edges([]).n_vertices == 0 and hpg.from_edges([(0, 1)], n_vertices=7).n_vertices == 7


@pytest.mark.parametrize(
    ("arguments", "options", "error", "says"),
    [
        ([TITLED], {"source": "from", "target": "dst"}, ValueError, "no column 'from'; it has 'src', 'dst', 'km'"),
        ([TITLED], {"weight": "kg"}, ValueError, "weight: the table has no column 'kg'"),
        ([TITLED], {"source": "src"}, ValueError, "both source and target"),
        ([{"a": [1]}], {}, ValueError, "a column for each end; it has 'a'"),
        ([pandas.DataFrame({"a": ["x", None], "b": ["y", "z"]})], {}, ValueError, "column 'a' holds no id in 1 of"),
        ([polars.DataFrame({"a": ["x", "y"], "b": ["z", None]})], {}, ValueError, "column 'b'.*the first is row 1"),
        ([polars.DataFrame({"a": [1, None], "b": [2, 3]})], {}, ValueError, "column 'a' holds no id"),
        ([pandas.DataFrame({"a": [1, None], "b": [2, 3]})], {}, ValueError, "column 'a' holds no id"),
        ([pandas.DataFrame({"a": [1.5, 2], "b": [2, 3]})], {}, TypeError, "column 'a' holds floats"),
        ([pandas.DataFrame({"a": [1], "b": [2], "w": [np.nan]})], {}, ValueError, "column 'w' holds no number in 1"),
        ([polars.DataFrame({"a": [1], "b": [2], "w": ["far"]})], {}, TypeError, "column 'w' holds"),
        ([{"a": [1, 2], "b": [1]}], {}, ValueError, "source and target must have one id for each arc, not 2 and 1"),
        ([TITLED], {"names": False}, ValueError, "column 'src' holds names"),
        ([[(1, 2), (3,)]], {}, ValueError, "each row must be a tuple"),
        ([["ab", "cd"]], {}, ValueError, "each row must be a tuple"),
        ([[([1], 2)]], {}, TypeError, "source must hold whole numbers or names, which are hashable"),
        ([[(None, 2)]], {}, ValueError, "source holds no id"),
        ([np.array([[0.5, 1, 2]])], {}, TypeError, "source must hold whole numbers"),
        (["edges.csv"], {}, TypeError, "edges cannot be read from str"),
        ([[("a", "b")]], {"names": ["x", "y"]}, ValueError, "the ids are names already"),
        ([[("a", "b")]], {"n_vertices": 3}, ValueError, "n_vertices is for ids that are indices"),
    ],
)
def test_what_is_refused(arguments: list[Any], options: dict[str, Any], error: type[Exception], says: str) -> None:
    raises(error, says, hpg.from_edges, *arguments, **options)


def test_what_a_graph_refuses() -> None:
    with pytest.raises(TypeError, match="weight is a column of a table, and tuple is none"):
        hpg.Graph((np.array([0]), np.array([1])), weight="w")
    # As rows of edges, (2, 3) would be two with weights, and (3, 2) three without.
    for shape in ((3, 3), (2, 3), (3, 2), (5, 4)):
        with pytest.raises(TypeError, match=r"wrap a dense adjacency matrix, which is square, .* hpgraph\.from_edges"):
            hpg.Graph(np.ones(shape))
    raises(TypeError, "True and False are for tables", hpg.Graph, (np.array([0]), np.array([1])), names=True)


def test_mixed_types_are_names() -> None:
    G = hpg.from_edges(pandas.DataFrame({"a": [1, "q"], "b": [2, 1]}))
    assert edges_of(G) == {(1, 2), ("q", 1)}


def test_many_names_in_chunks() -> None:
    """Against pandas' own way to number them."""
    rng = np.random.default_rng(3)
    ends = [np.char.add("vertex ", rng.integers(0, 500, 4000).astype(str)).tolist() for _ in range(2)]
    table = pyarrow.table({"u": ends[0], "v": ends[1]})
    cut = pyarrow.concat_tables([table.slice(at, 1300) for at in range(0, 4000, 1300)])
    numbers, names = pandas.factorize(np.array(ends[0] + ends[1], dtype=object))
    G = hpg.from_edges(cut)
    assert G.names is not None and G.names.tolist() == names.tolist()
    assert set(zip(*(end.tolist() for end in G.edges()[:2]), strict=True)) == set(
        zip(numbers[:4000].tolist(), numbers[4000:].tolist(), strict=True)
    )


# --- graphs of other libraries


def test_networkx() -> None:
    G = hpg.from_edges(nx.DiGraph([("a", "b"), ("b", "c")]))
    assert edges_of(G) == {("a", "b"), ("b", "c")} and G.directed


def test_graphblas() -> None:
    graphblas = pytest.importorskip("graphblas")
    weighted = graphblas.Matrix.from_coo([0, 1], [1, 2], [1.5, 2.0], nrows=4, ncols=4)
    G = hpg.Graph(weighted)
    assert edges_of(G) == {(0, 1, 1.5), (1, 2, 2.0)} and G.n_vertices == 4
    assert not hpg.Graph(graphblas.Matrix.from_coo([0], [1], True, nrows=2, ncols=2)).weighted


def of_library(name: str, **members: Any) -> Any:
    """An object with the members of one of a library that is not installed."""
    kind = type("Graph", (), {"__module__": f"{name}.graph", **members})
    return kind()


class Tensor:
    """As much of PyTorch's as is asked for."""

    is_cuda = False

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def detach(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self.values


class Attributes(dict[str, Any]):
    def attributes(self) -> list[str]:
        return list(self)


def test_igraph_networkit_and_geometric() -> None:
    igraph = of_library(
        "igraph", get_edgelist=lambda self: [(0, 1), (1, 2)], es=Attributes(weight=[1.5, 2.0]),
        vs=Attributes(name=["a", "b", "c"]), vcount=lambda self: 3, is_directed=lambda self: False,
    )  # fmt: skip
    G = hpg.Graph(igraph)
    assert edges_of(G) == {("a", "b", 1.5), ("b", "c", 2.0)} and not G.directed
    assert not hpg.from_edges(igraph, weight=False).weighted
    raises(ValueError, "edges have no attribute 'km'; they have 'weight'", hpg.from_edges, igraph, weight="km")
    networkit = of_library(
        "networkit", iterEdgesWeights=lambda self: iter([(0, 1, 2.5), (1, 3, 1.0)]), isWeighted=lambda self: True,
        upperNodeIdBound=lambda self: 5, isDirected=lambda self: True,
    )  # fmt: skip
    G = hpg.Graph(networkit)
    assert edges_of(G) == {(0, 1, 2.5), (1, 3, 1.0)} and G.directed and G.n_vertices == 5
    data = of_library(
        "torch_geometric", edge_index=Tensor([[0, 1], [1, 0]]), edge_weight=Tensor([1.0, 1.0]), num_nodes=3
    )
    G = hpg.Graph(data)
    assert not G.directed and G.n_vertices == 3 and edges_of(G) == {(0, 1, 1.0)}


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    class Relation:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            raise AssertionError

    monkeypatch.setitem(sys.modules, "pyarrow", None)  # type: ignore[arg-type]
    with pytest.raises(hpg.MissingExtraError, match=r"a graph of a Relation needs pyarrow.*hpgraph\[tables\]"):
        hpg.from_edges(Relation())
    assert edges_of(hpg.from_edges({"u": ["a"], "v": ["b"]})) == {("a", "b")}


@pytest.mark.parametrize("form", [list, np.array, lambda rows: pandas.DataFrame(rows, columns=["u", "v"])])
def test_one_rule_for_rows(form: Any) -> None:
    for make in (hpg.from_edges, *([] if form is np.array else [hpg.Graph])):
        G = make(form([(1001, 70042), (70042, 5)]))
        assert "named 5, 1001, 70042" in repr(G) and edges_of(G) == {(1001, 70042), (70042, 5)}
        assert make(form([(0, 2), (1, 3)])).names is None
        assert make(form([(0, 9)]), names=False).n_vertices == 10
    assert hpg.from_edges(form([(0, 9)]), n_vertices=12).n_vertices == 12
    assert hpg.from_edges(form([(0, 3)]), names=list("abcd")).index_of("d") == 3


def test_arrays_of_indices_that_cannot_be_meant(recwarn: pytest.WarningsRecorder) -> None:
    source, target = np.array([1001, 70042]), np.array([70042, 5])
    meant = [
        hpg.from_edges(source, target, names=False), hpg.from_edges(source, target, n_vertices=70043),
        hpg.Graph((source, target), names=False),
        hpg.Graph([(1001, 70042), (70042, 5)], names=False), hpg.Graph.from_edges(source, target, names=False),
    ]  # fmt: skip
    assert {G.n_vertices for G in meant} == {70043} and hpg.Graph.from_edges([0], [9_999]).n_vertices == 10_000
    assert hpg.from_edges(source, target, names=True).n_vertices == 3 and not recwarn.list
    for make in (hpg.from_edges, hpg.Graph.from_edges, lambda u, v: hpg.Graph((u, v))):
        with pytest.warns(hpg.SparseIdsWarning, match="at most 4 of 70,043 vertices .* names=True") as said:
            assert make(source, target).n_vertices == 70043
        assert said[0].filename == __file__
