"""Columns of edges and of vertices against pandas: rows that are kept, parts of graphs, unfit columns."""

import pickle
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from column_tables import TITLES, graph_of, plain, rows_kept, rows_ordered, same_columns, tables
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg


@pytest.mark.parametrize("duplicates", ["min", "max", "first"])
@given(table=tables(), directed=st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_row_whose_weight_is_kept_gives_the_columns(duplicates: str, table: pd.DataFrame, directed: bool) -> None:
    G = graph_of(table, columns=TITLES, directed=directed, duplicates=duplicates)
    want = rows_kept(table, directed, duplicates)
    same_columns(G, want)
    assert G.edges().weight.tolist() == want.weight.tolist()
    all_titles = [title for title in table.columns if title not in ("source", "target", "weight")]
    arrays = {title: table[title].to_numpy() for title in all_titles}
    again = hpg.Graph.from_edges(
        table.source, table.target, table.weight, directed=directed, duplicates=duplicates, columns=arrays
    )
    same_columns(again, want)


@given(table=tables(), directed=st.booleans())
@settings(max_examples=30, deadline=None)
def test_sums_are_of_all_rows(table: pd.DataFrame, directed: bool) -> None:
    G = graph_of(table, columns=["year"], directed=directed, duplicates="sum")
    plain_rows = table if directed else rows_ordered(table)
    want = plain_rows.groupby(["source", "target"], as_index=False)[["weight", "year"]].sum()
    assert G.edge_column("year").tolist() == want.year.tolist() and G.edges().weight.tolist() == want.weight.tolist()
    for title in ("kind", "lit"):
        with pytest.raises(TypeError, match=f"columns: '{title}' holds .*cannot add up"):
            graph_of(table.assign(kind="text"), columns=[title], duplicates="sum")


@given(table=tables(), directed=st.booleans(), chosen=st.lists(st.booleans(), min_size=6, max_size=6))
@settings(max_examples=30, deadline=None)
def test_parts_keep_the_columns_of_what_they_keep(table: pd.DataFrame, directed: bool, chosen: list[bool]) -> None:
    G = graph_of(table, columns=TITLES, directed=directed, duplicates="min", n_vertices=6)
    G = G.with_columns(vertices={"age": np.arange(6) * 10})
    want = rows_kept(table, directed, "min")
    flags = np.array(chosen)
    within = want[flags[want.source] & flags[want.target]]
    number = np.cumsum(flags) - 1
    part = G.subgraph(flags, names=False)
    same_columns(part, within.assign(source=number[within.source], target=number[within.target]))
    assert part.vertex_column("age").tolist() == (np.flatnonzero(flags) * 10).tolist()

    later = want[want.year > 100]
    same_columns(G.filter(edges=G.edge_column("year", both_ways=True) > 100), later)
    same_columns(G.filter(edges=lambda source, edge, target: edge.year > 100), later)
    same_columns(G.filter(edges=lambda source, weight, target: weight > 1), want[want.weight > 1])
    both = want[(want.year > 100) & want.lit & (want.source < 3)]
    same_columns(G.filter(edges=lambda source, edge, target: edge.year > 100 and edge.lit and source.id < 3), both)
    assert G.edge_subgraph(G.edge_column("lit", both_ways=True)).edge_column("lit").all()

    turned = G.reverse().reverse()
    same_columns(turned, want)
    if directed:
        back = want.rename(columns={"source": "target", "target": "source"}).sort_values(["source", "target"])
        same_columns(G.T, back)
    same_columns(pickle.loads(pickle.dumps(G)), want)
    same_columns(hpg.Graph(G, names=list("abcdef")), want)


def test_weights_are_exchanged_without_copying_arcs() -> None:
    G = hpg.from_edges(
        [0, 1, 0, 2], [1, 2, 2, 0], [3, 1, 9, 2], columns={"minutes": [50, 5, 20, 1], "kind": list("abab")}
    )
    before = hpg.pagerank(G, weight=True).rank  # builds the arcs by target
    H = G.with_weight("minutes")
    assert H.out_csr.indices is G.out_csr.indices and H.out_csr.indptr is G.out_csr.indptr
    assert H.in_csr.indices is G.in_csr.indices and H.in_csr.indptr is G.in_csr.indptr
    assert H.weights.tolist() == [50, 20, 5, 1] and H.edge_columns == G.edge_columns
    fresh = hpg.Graph.from_edges([0, 1, 0, 2], [1, 2, 2, 0], [50, 5, 20, 1])
    assert np.array_equal(hpg.pagerank(H, weight=True).rank, hpg.pagerank(fresh, weight=True).rank)
    assert not np.array_equal(before, hpg.pagerank(H, weight=True).rank)
    assert H.with_weight(None).weights is None and G.with_weight("kind").weights.tolist() == [0, 0, 1, 1]
    assert hpg.sssp(H, 0).distance.tolist() == hpg.sssp(fresh, 0).distance.tolist()


def test_vertices_take_columns_by_name() -> None:
    people = pd.DataFrame({"vertex": ["cyd", "ann", "bob"], "age": [3, 1, 2], "town": ["x", None, "y"]})
    for table in (people, pl.from_pandas(people), people.to_dict("list")):
        G = hpg.from_edges([("ann", "bob"), ("bob", "cyd")], vertex_columns=table)
        assert G.vertex_column("age").tolist() == [1, 2, 3] and plain(G.vertex_column("town")) == [None, "y", "x"]
    assert "columns" not in repr(G) and "columns a, b" in repr(G.with_columns(edges={"a": [1, 2], "b": [3, 4]}))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"a": [1]}), ValueError, "a value for each of the 2 edges"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"weight": [1, 2]}), ValueError, "rename it"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={3: [1, 2]}), TypeError, "a title must be text"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"a": [object(), 1]}), TypeError, "not objects"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"a": ["x", 1]}), TypeError, "not objects"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"a": [1j, 2]}), TypeError, "'a'"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"a": [1, [2, 3]]}), TypeError, r"such as \[2, 3\]"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"a": [1, 2**64]}), TypeError, f"such as {2**64}"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"a": np.zeros(2, "m8[s]")}), TypeError, "astype"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"a": [[1], [2]]}), ValueError, "one-dimensional"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns=["a"]), TypeError, "give a dict"),
        (lambda: hpg.from_edges([(0, 1)], columns=True), TypeError, "give a dict"),
        (lambda: hpg.from_edges({"a": [1], "b": [2]}, columns=["c"]), ValueError, "'c' is none of the table's"),
        (lambda: hpg.from_edges({"a": [1], "b": [2]}, columns=["a"]), ValueError, "'a' holds the ends"),
        (lambda: hpg.from_edges(nx.path_graph(3), columns=["c"]), ValueError, "no attribute 'c'"),
        (lambda: hpg.from_edges([0], [1], vertex_columns={"a": [1]}), ValueError, "each of the 2 vertices"),
        (lambda: hpg.from_edges([0], [1], vertex_columns={"vertex": [1], "a": [1]}), ValueError, "has 0 for 0"),
        (lambda: hpg.from_edges([0], [1], vertex_columns=3), TypeError, "a dict of columns or a table"),
        (lambda: hpg.from_edges([0], [1], vertex_columns=pd.DataFrame({"a": [1]})), ValueError, 'a column "vertex"'),
        (lambda: hpg.Graph.from_edges([0], [1]).edge_column("a"), ValueError, "no edge column 'a'; it has none"),
        (lambda: hpg.Graph.from_edges([0], [1]).with_weight("a"), ValueError, "no edge column 'a'; it has none"),
        (lambda: hpg.Graph.from_edges([0], [1]).vertex_column("a"), ValueError, "no vertex column 'a'"),
        (
            lambda: hpg.Graph.from_edges([0], [1], directed=False).with_columns(edges={"a": [1, 2]}),
            ValueError, "differs between an arc and its reverse",
        ),
        (
            lambda: hpg.StreamedGraph.of(hpg.Graph.from_edges([0], [1])).with_columns(edges={"a": [1]}),
            ValueError, "in the memory of one device",
        ),
    ],
)  # fmt: skip
def test_bad_columns(make: Any, error: type[Exception], message: str) -> None:
    raises(error, message, make)


def test_an_asymmetric_column_makes_a_graph_directed() -> None:
    ends = [0, 1], [1, 0]
    assert not hpg.Graph.from_edges(*ends, directed=None, columns={"a": [1, 1]}).directed
    G = hpg.Graph.from_edges(*ends, directed=None, columns={"a": [1, 2]})
    assert G.directed and G.edge_column("a").tolist() == [1, 2]


def test_algorithms_take_a_column_by_its_title() -> None:
    G = hpg.from_edges([0, 1, 0], [1, 2, 2], [1, 1, 1], columns={"minutes": [50, 5, 20]})
    assert hpg.closeness_centrality(G, weight="minutes").tolist() == (
        hpg.closeness_centrality(G.with_weight("minutes"), weight=True).tolist()
    )
    raises(ValueError, "no column of edges of that title", hpg.pagerank, G, weight="hours")


@given(table=tables(), directed=st.booleans())
@settings(max_examples=20, deadline=None)
def test_parallel_edges_keep_columns_of_their_own(table: pd.DataFrame, directed: bool) -> None:
    G = graph_of(table, columns=TITLES, directed=directed, duplicates="keep")
    rows = table if directed else rows_ordered(table)
    want = rows.sort_values(["source", "target"], kind="stable")
    same_columns(G, want)
    same_columns(G.filter(edges=lambda source, edge, target: edge.year > 100), want[want.year > 100])
    same_columns(G.filter(edges=lambda source, weight, target: weight > 1), want[want.weight > 1])
    assert G.with_weight("year").edges().weight.tolist() == want.year.tolist()


@given(table=tables(), directed=st.booleans())
@settings(max_examples=20, deadline=None)
def test_edges_of_several_kinds_are_several(table: pd.DataFrame, directed: bool) -> None:
    G = graph_of(table, kind="kind", columns=["year"], directed=directed, n_vertices=6)
    assert G.multigraph and G.edge_columns == ("year", "kind")
    for kind in (None, *sorted({*table.kind} - {None})):
        rows = table[table.kind.map(lambda held, kind=kind: held == kind)]
        assert sorted(G.filter(edges={"kind": kind}).edge_column("year").tolist()) == sorted(rows.year)
    least = graph_of(table, kind="kind", directed=directed, duplicates="min", n_vertices=6)
    assert plain(least.edge_column("kind")) == plain(rows_kept(table, directed, "min").kind)


def test_kinds_beside_arrays_and_of_networkx() -> None:
    G = hpg.from_edges([0, 0], [1, 1], columns={"a": ["x", "y"]}, kind="a")
    assert G.filter(edges={"a": "y"}).n_edges == 1
    N = nx.MultiDiGraph([(0, 1, {"kind": "x"}), (0, 1, {"kind": "y"}), (1, 2, {"kind": "y"})])
    assert hpg.from_edges(N, kind="kind").filter(edges={"kind": "y"}).n_edges == 2
    table = {"u": [0], "v": [1], "w": [2], "k": ["x"]}
    assert hpg.from_edges(table, weight="w", columns=True, kind="k").edge_columns == ("k",)
    for call, message in (
        (lambda: hpg.from_edges([0], [1], columns={"a": [1]}, kind="b"), "'b' is none of the columns given; .* 'a'"),
        (lambda: hpg.from_edges({"u": [0], "v": [1]}, kind="b"), "'b' is none of the table's"),
    ):
        raises(ValueError, message, call)
