"""Columns of edges and of vertices against pandas: rows that are kept, parts, programs, files, other libraries."""

import pickle
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hpgraph as hpg

TITLES = ["year", "share", "kind", "lit"]
VALUES = {
    "year": st.integers(-(2**31), 2**40),
    "share": st.floats(allow_infinity=False, width=32),
    "kind": st.none() | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=3),
    "lit": st.booleans(),
}


@st.composite
def tables(draw: Any) -> pd.DataFrame:
    """Rows of edges among few vertices, so that many are given more than once, and of equal weights."""
    ends, columns = st.integers(0, 5), st.fixed_dictionaries(VALUES)
    rows = draw(st.lists(st.tuples(ends, ends, st.integers(0, 3), columns), min_size=1, max_size=25))
    return pd.DataFrame(
        {
            "source": [u for u, _, _, _ in rows],
            "target": [v for _, v, _, _ in rows],
            "weight": [w for _, _, w, _ in rows],
            "year": np.array([one["year"] for *_, one in rows], np.int64),
            "share": np.array([one["share"] for *_, one in rows], np.float32),
            "kind": pd.Series([one["kind"] for *_, one in rows], dtype=object),
            "lit": np.array([one["lit"] for *_, one in rows], bool),
        }
    )


def rows_kept(table: pd.DataFrame, directed: bool, duplicates: str) -> pd.DataFrame:
    """By pandas: of rows with the same ends the first, or the first of the least or the largest weight."""
    kept = table.copy()
    if not directed:
        ends = np.sort(kept[["source", "target"]].to_numpy(), axis=1)
        kept["source"], kept["target"] = ends[:, 0], ends[:, 1]
    if duplicates != "first":
        kept = kept.sort_values("weight", kind="stable", ascending=duplicates == "min")
    return kept.drop_duplicates(["source", "target"]).sort_values(["source", "target"]).reset_index(drop=True)


def graph_of(table: Any, **options: Any) -> hpg.Graph:
    return hpg.from_edges(table, source="source", target="target", weight="weight", names=False, **options)


def plain(column: Any) -> list[Any]:
    """A column as Python's values; what is missing, NaN too, as None."""
    column = column.text() if isinstance(column, tuple) else column
    return [None if value is None or value != value else value for value in column.tolist()]


def same_columns(G: hpg.Graph, want: pd.DataFrame, titles: list[str] = TITLES) -> None:
    source, target, _ = G.edges()
    assert source.tolist() == want.source.tolist() and target.tolist() == want.target.tolist()
    assert G.edge_columns == tuple(titles)
    for title in titles:
        assert plain(G.edge_column(title)) == plain(want[title]), title


@pytest.mark.parametrize("duplicates", ["min", "max", "first"])
@given(table=tables(), directed=st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_row_whose_weight_is_kept_gives_the_columns(duplicates: str, table: pd.DataFrame, directed: bool) -> None:
    G = graph_of(table, columns=TITLES, directed=directed, duplicates=duplicates)
    want = rows_kept(table, directed, duplicates)
    same_columns(G, want)
    assert G.edges().weight.tolist() == want.weight.tolist()
    everyone = [title for title in table.columns if title not in ("source", "target", "weight")]
    arrays = {title: table[title].to_numpy() for title in everyone}
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


def rows_ordered(table: pd.DataFrame) -> pd.DataFrame:
    ends = np.sort(table[["source", "target"]].to_numpy(), axis=1)
    return table.assign(source=ends[:, 0], target=ends[:, 1])


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


def test_programs_read_a_column_along_arcs(device: str) -> None:
    rng = np.random.default_rng(5)
    u, v = rng.integers(0, 40, (2, 300))
    year, toll = rng.integers(1990, 2025, 300), rng.random(300)
    G = hpg.Graph.from_edges(u, v, columns={"year": year, "toll": toll}, n_vertices=40).to(device)

    class Latest(hpg.VertexProgram):
        latest = hpg.Property("int64", initial=0)
        reduce, max_iteration = "max", 1

        def edge_cond(source, edge, target):
            return edge.year < 2020

        def gather(source, edge, target):
            return edge.year

        def update(vertex, message):
            return max(vertex.latest, message)

    class Cheapest(hpg.VertexProgram):
        cost = hpg.Property("float64", initial=np.inf, start=0.0)
        reduce = "min"

        def gather(source, edge, target):
            return source.cost + edge.toll

    arcs = pd.DataFrame({"u": u, "v": v, "year": year, "toll": toll}).drop_duplicates(["u", "v"])
    want = arcs[arcs.year < 2020].groupby("v").year.max().reindex(range(40), fill_value=0)
    assert hpg.run(Latest, G).latest.tolist() == want.tolist()
    lengths = hpg.Graph.from_edges(arcs.u, arcs.v, arcs.toll, n_vertices=40).to(device)
    found = hpg.run(Cheapest, G, active=[0])
    assert np.array_equal(found.cost.tolist(), hpg.sssp(lengths, 0).distance.tolist())
    assert "relaxation" in found.trace.loop
    many = hpg.run(Cheapest, G, active=[[0], [3]])
    assert many.cost[1].tolist() == hpg.run(Cheapest, G, active=[3]).cost.tolist()


def test_programs_read_several_columns(device: str) -> None:
    rng = np.random.default_rng(6)
    u, v = rng.integers(0, 40, (2, 300))
    year, toll, weight = rng.integers(1990, 2025, 300), rng.random(300), rng.random(300)
    G = hpg.Graph.from_edges(u, v, weight, columns={"year": year, "toll": toll}, n_vertices=40, duplicates="first")
    G = G.to(device)

    class Cheapest(hpg.VertexProgram):
        cost = hpg.Property("float64", initial=np.inf, start=0.0)
        factor = hpg.Parameter("float64", 1.0)
        reduce = "min"

        def edge_cond(source, edge, target):
            return edge.year < 2020

        def gather(source, edge, target, world):
            return source.cost + world.factor * edge.toll + edge.weight

        def update(vertex, message):
            return min(vertex.cost, message)

        def sends(before, vertex):
            return vertex.cost < before.cost

    arcs = pd.DataFrame({"u": u, "v": v, "w": 2 * toll + weight, "year": year}).drop_duplicates(["u", "v"])
    arcs = arcs[arcs.year < 2020]
    lengths = hpg.Graph.from_edges(arcs.u, arcs.v, arcs.w, n_vertices=40)
    found = hpg.run(Cheapest, G, active=[0], factor=2.0)
    assert list(found.properties) == ["cost"] and np.allclose(found.cost.tolist(), hpg.sssp(lengths, 0).distance)
    many = hpg.run(Cheapest, G, active=[[0], [3]], factor=2.0)
    assert np.allclose(many.cost[1].tolist(), hpg.sssp(lengths, 3).distance)
    Cheapest.edge_cond = lambda source, edge, target: edge.year < 1980
    assert hpg.run(Cheapest, G, active=[0]).supersteps == 1
    program = Cheapest()
    program.edge_cond = lambda source, edge, target: edge.year < 2020
    assert np.array_equal(hpg.run(program, G, active=[0], factor=2.0).cost.tolist(), found.cost.tolist())


def test_edge_programs_have_columns_for_constant_properties(device: str) -> None:
    columns = {"price": [5, 7, 2], "kind": ["toll", "free", "toll"]}
    G = hpg.from_edges([0, 1, 0], [1, 2, 2], columns=columns).to(device)

    class Paid(hpg.EdgeVertexProgram):
        paid = hpg.Property("int64")
        price = hpg.EdgeProperty(constant=True)
        kind = hpg.EdgeProperty(constant=True)
        combiner, max_iteration = "plus", 1

        def edge_compute(source, edge, target):
            return edge.price if edge.kind == 1 else 0

    assert hpg.run(Paid, G).paid.tolist() == [0, 5, 2]
    assert hpg.run(Paid, G, price=1).paid.tolist() == [0, 1, 1]


@pytest.mark.parametrize("suffix", [".hpg", ".npz", ".parquet", ".arrow", ".graphml"])
@given(table=tables(), directed=st.booleans())
@settings(max_examples=20, deadline=None)
def test_files_keep_columns(suffix: str, tmp_path_factory: Any, table: pd.DataFrame, directed: bool) -> None:
    G = graph_of(table, columns=TITLES, directed=directed, duplicates="min")
    ages = {"age": np.arange(G.n_vertices, dtype=np.int16), "who": [chr(97 + v) for v in range(G.n_vertices)]}
    G = G.with_columns(vertices=ages)
    path = tmp_path_factory.mktemp("files") / f"graph{suffix}"
    G.save(path)
    H = hpg.read(path)
    same_columns(H, rows_kept(table, directed, "min"))
    assert H.directed == G.directed
    if suffix in (".hpg", ".npz", ".graphml"):
        assert H.vertex_columns == ("age", "who")
        assert plain(H.vertex_column("age")) == plain(G.vertex_column("age"))
        assert plain(H.vertex_column("who")) == plain(G.vertex_column("who"))
    if suffix != ".graphml":
        assert [H.edge_column(title).dtype for title in ("year", "share", "lit")] == ["int64", "float32", "bool"]


@given(table=tables(), directed=st.booleans())
@settings(max_examples=20, deadline=None)
def test_other_libraries_keep_columns(table: pd.DataFrame, directed: bool) -> None:
    G = graph_of(table, columns=TITLES, directed=directed, duplicates="min")
    G, want = G.with_columns(vertices={"age": np.arange(G.n_vertices)}), rows_kept(table, directed, "min")
    out = G.edges(columns=True)
    for other in (out, out.to_pandas(), out.to_arrow(), pl.DataFrame(out), pa.table(out)):
        same_columns(graph_of(other, columns=TITLES, directed=directed), want)
    assert out.to_pandas().source.tolist() == want.source.tolist()
    N = hpg.to_networkx(G)
    frame = nx.to_pandas_edgelist(hpg.to_networkx(G.with_columns(edges={"kind": ["a"] * len(want)})))
    assert frame.kind.tolist() == ["a"] * len(want)
    H = hpg.from_networkx(N, columns=[title for title in TITLES if title != "kind"], vertex_columns=True)
    same_columns(H, want, ["year", "share", "lit"])
    assert H.vertex_column("age").tolist() == G.vertex_column("age").tolist()


def test_categories_of_tables_stay() -> None:
    kind = pd.Categorical(["lo", None, "hi"], ["lo", "mid", "hi"], ordered=True)
    frame = pd.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "a"], "kind": kind})
    for table in (frame, pa.Table.from_pandas(frame), pl.from_pandas(frame)):
        codes, categories = hpg.from_edges(table, columns=True).edge_column("kind")
        assert [None if code < 0 else categories[code] for code in codes] == ["lo", None, "hi"]
    codes, categories = hpg.from_edges(frame, columns=["kind"]).edge_column("kind")
    assert codes.tolist() == [0, -1, 2] and categories.tolist() == ["lo", "mid", "hi"]


def test_vertices_take_columns_by_name() -> None:
    people = pd.DataFrame({"vertex": ["cyd", "ann", "bob"], "age": [3, 1, 2], "town": ["x", None, "y"]})
    for table in (people, pl.from_pandas(people), people.to_dict("list")):
        G = hpg.from_edges([("ann", "bob"), ("bob", "cyd")], vertex_columns=table)
        assert G.vertex_column("age").tolist() == [1, 2, 3] and plain(G.vertex_column("town")) == [None, "y", "x"]
    assert "columns" not in repr(G) and "columns a, b" in repr(G.with_columns(edges={"a": [1, 2], "b": [3, 4]}))


def test_readers_take_columns_of_files_of_others(tmp_path: Path) -> None:
    frame = pd.DataFrame({"from": [0, 1], "to": [1, 2], "km": [1.5, 2.5], "year": [2019, 2024], "kind": ["a", "b"]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert hpg.read(tmp_path / "t.parquet").edge_columns == ()
    assert hpg.read(tmp_path / "t.parquet", columns=["kind"]).edge_columns == ("kind",)
    assert plain(hpg.read(tmp_path / "t.parquet", columns=True).edge_column("year")) == [2019, 2024]
    N = nx.Graph()
    N.add_node(0, age=4)
    N.add_edge(0, 1, year=2019, note="a<b")
    N.add_edge(1, 2, year=2024)
    nx.write_graphml(N, tmp_path / "n.graphml")
    assert hpg.read(tmp_path / "n.graphml").edge_columns == ()
    G = hpg.read(tmp_path / "n.graphml", columns=True)
    assert plain(G.edge_column("note")) == ["a<b", None] and plain(G.edge_column("year")) == [2019, 2024]
    assert plain(G.vertex_column("age"))[0] == 4
    G.save(tmp_path / "g.graphml")
    back = nx.read_graphml(tmp_path / "g.graphml")
    assert [held["year"] for _, _, held in back.edges(data=True)] == [2019, 2024]
    for bad, path in ((["nope"], "t.parquet"), (["nope"], "n.graphml")):
        with pytest.raises(ValueError, match=r"columns: .*nope"):
            hpg.read(tmp_path / path, columns=bad)
    hpg.Graph.from_edges([0], [1]).save(tmp_path / "g.el")
    with pytest.raises(ValueError, match="columns is for tables and GraphML"):
        hpg.read(tmp_path / "g.el", columns=True)


@pytest.mark.parametrize(
    ("index", "fault"),
    [
        ('[{"of": "edges", "title": "a", "type": "<i8", "at": 0}', "columns make no sense"),
        ('[{"of": "edges", "title": "a", "type": "|O", "at": 0}]', "columns make no sense"),
        ('[{"of": "edges", "title": "a", "type": "<i8", "at": 8}]', "has no 3 values"),
        ('[{"of": "edges", "title": "a", "type": "<i8", "at": -8}]', "a place that is none"),
        ('[{"of": "arcs", "title": "a", "type": "<i8", "at": 0}]', "columns make no sense"),
        ('[{"of": "edges", "title": "a", "type": "<i8", "at": 0, "categories": ["x"]}]', "codes must lie in"),
        ('[{"of": "edges", "title": "a", "type": "<i8", "at": 0, "categories": [1]}]', "categories must be text"),
        ('[{"of": "edges", "title": "weight", "type": "<i8", "at": 0}]', "rename it"),
        ("[[]]", "columns make no sense"),
        ("[" * 100_000, "columns make no sense"),
    ],
)  # fmt: skip
def test_forged_columns_are_refused(tmp_path: Path, index: str, fault: str) -> None:
    path = tmp_path / "g.npz"
    hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], columns={"a": [7, 8, 9]}).save(path)
    held = dict(np.load(path))
    held["columns.index"] = np.frombuffer(index.encode(), np.uint8)
    np.savez(path, **held)
    with pytest.raises(hpg.FileFormatError, match=fault):
        hpg.read(path)


def test_damaged_columns_of_hpg_are_refused_and_files_without_are_as_before(tmp_path: Path) -> None:
    path, plain_path = tmp_path / "g.hpg", tmp_path / "plain.hpg"
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], columns={"a": [7, 8, 9]})
    G.save(path)
    hpg.Graph(G.out_csr, directed=True).save(plain_path)
    assert b"columns" not in plain_path.read_bytes() and hpg.read(plain_path).edge_columns == ()
    content = bytearray(path.read_bytes())
    content[content.rindex(np.int64(8).tobytes())] = 9
    path.write_bytes(content)
    with pytest.raises(hpg.FileFormatError, match="does not have its checksum"):
        hpg.read(path)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"a": [1]}), ValueError, "a value for each of the 2 edges"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"weight": [1, 2]}), ValueError, "rename it"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={3: [1, 2]}), TypeError, "a title must be text"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"a": [object(), 1]}), TypeError, "not objects"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"a": ["x", 1]}), TypeError, "not objects"),
        (lambda: hpg.from_edges([0, 1], [1, 2], columns={"a": [1j, 2]}), TypeError, "'a'"),
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
    with pytest.raises(error, match=message):
        make()


def test_bad_functions_of_columns() -> None:
    G = hpg.from_edges([0, 1], [1, 2], columns={"a": [1, 2], "b": [3, 4]})
    for holds in (lambda source, edge, target: edge.c > 1, lambda source, edge, target: edge.a > 1 and edge.c > 1):
        with pytest.raises(ValueError, match="no edge column 'c'; it has 'a', 'b'"):
            G.filter(edges=holds)
    with pytest.raises(TypeError, match=r"edges reads e\.a: .* call the parameter edge"):
        G.filter(edges=lambda s, e, t: e.a > 1)
    U = hpg.from_edges([0, 0, 1], [1, 2, 2], columns={"a": [1, 2, 3], "b": [1, 1, 1]}, directed=False)
    assert U.filter(edges=lambda source, edge, target: edge.a > edge.b and target.id == 2).n_edges == 4

    class Program(hpg.VertexProgram):
        value = hpg.Property("int64")
        reduce = "max"

    def two(source, edge, target):
        return edge.a + edge.b

    def none(source, edge, target):
        return edge.c

    Program.gather = two
    for name, value in (("edges", "all"), ("reduce", "any"), ("cond", lambda vertex: True)):
        one = type("Program", (Program,), {name: value})
        with pytest.raises(
            TypeError, match=rf"edge.a and edge.b, and has {name}.*: a VertexProgram is given one number"
        ):
            hpg.run(one, G)
    with pytest.raises(ValueError, match="no edge column 'a'"):
        hpg.run(Program, hpg.Graph.from_edges([0], [1]))
    with pytest.raises(TypeError, match="Program reads several columns of edges"):
        hpg.run(hpg.Phases([Program], max_iteration=1), G)
    Program.gather = none
    with pytest.raises(ValueError, match="no edge column 'c'"):
        hpg.run(Program, G)
    Program.gather = lambda source, edge, target: edge.a
    Program.edge_cond = lambda source, weight, target: weight > 1
    with pytest.raises(TypeError, match=r"reads edge.a, and edge_cond a weight"):
        hpg.run(Program, G)


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
    with pytest.raises(ValueError, match="no column of edges of that title"):
        hpg.pagerank(G, weight="hours")


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


@given(table=tables(), directed=st.booleans(), ages=st.lists(st.integers(0, 9), min_size=6, max_size=6))
@settings(max_examples=20, deadline=None)
def test_filters_read_columns_of_vertices(table: pd.DataFrame, directed: bool, ages: list[int]) -> None:
    G = graph_of(table, columns=TITLES, directed=directed, duplicates="min", n_vertices=6)
    G = G.with_columns(vertices={"age": ages, "town": ["xy"[age % 2] for age in ages]})
    want, age = rows_kept(table, directed, "min"), np.array(ages)
    older = want[age[want.source] > age[want.target]]
    same_columns(G.filter(edges=lambda source, edge, target: source.age > target.age), older)
    both = older[(older.year > 100) & (age[older.target] % 2 == 0)]
    town = G.vertex_column("town").categories.tolist().index("x") if "x" in G.vertex_column("town").categories else -2
    found = G.filter(
        edges=lambda source, edge, target: source.age > target.age and edge.year > 100 and target.town == town
    )
    same_columns(found, both)
    grown = G.filter(vertices=lambda vertex: vertex.age > 4 and vertex.id != 2)
    assert grown.vertex_column("age").tolist() == [a for v, a in enumerate(ages) if a > 4 and v != 2]
    assert G.subgraph(lambda vertex: vertex.age > 9).n_vertices == 0
    kept = want[(age[want.source] > 4) & (age[want.target] > 4) & want.lit]
    part = G.filter(edges=lambda source, edge, target: edge.lit, vertices=lambda vertex: vertex.age > 4)
    assert plain(part.edge_column("share")) == plain(kept.share)


def test_bad_functions_of_vertices() -> None:
    G = hpg.from_edges([0, 1], [1, 2], columns={"a": [1, 2], "both": [3, 4]}, vertex_columns={"both": [1, 2, 3]})
    with pytest.raises(ValueError, match="no vertex column 'age'; it has 'both'"):
        G.filter(edges=lambda source, edge, target: source.age > 1)
    with pytest.raises(ValueError, match="no vertex column 'a'; it has 'both'"):
        G.filter(vertices=lambda vertex: vertex.a > 1)
    with pytest.raises(ValueError, match="a column 'both', and a function cannot read both"):
        G.filter(edges=lambda source, edge, target: source.both > edge.both)
    with pytest.raises(TypeError, match=r"edges reads source\.both: .* that stands second"):
        G.filter(edges=lambda source, weight, target: source.both > 1)
    with pytest.raises(TypeError, match=r"vertices must be a function of .vertex., not of 2"):
        G.filter(vertices=lambda vertex, other: True)


WHEN = ["2019-03-01", "2024-05-06", "NaT", "2021-01-01"]


def dated(unit: str = "us") -> hpg.Graph:
    when = np.array(WHEN, f"M8[{unit}]")
    born = np.array(["1970-01-02", "1990-01-01", "NaT"], "M8[D]")
    table = pd.DataFrame({"source": [0, 0, 1, 2], "target": [1, 2, 2, 0], "weight": [1, 2, 3, 4], "when": when})
    return hpg.from_edges(table, columns=["when"], names=False, vertex_columns={"born": born})


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_columns_hold_dates(unit: str, tmp_path: Path) -> None:
    G, want = dated(unit), np.array(WHEN, f"M8[{unit}]")
    assert np.array_equal(G.edge_column("when"), want, equal_nan=True) and G.vertex_column("born").dtype == "M8[D]"
    # pandas has no days.
    assert unit == "D" or G.edge_column("when").dtype == want.dtype
    since, birthday = np.datetime64("2020-01-01"), date(1980, 1, 1)
    assert G.filter(edges=lambda source, edge, target: edge.when >= since).edges().weight.tolist() == [2, 4]
    found = G.filter(edges=lambda source, edge, target: edge.when >= since and edge.weight > 2)
    assert found.edges().weight.tolist() == [4]
    assert G.filter(vertices=lambda vertex: vertex.born > birthday).names.tolist() == [1]
    assert G.filter(edges=G.edge_column("when") > since).n_edges == 2
    assert np.array_equal(G.with_weight("when").weights, G.edge_column("when").view(np.int64))
    for suffix in (".hpg", ".npz", ".parquet", ".arrow"):
        G.save(tmp_path / f"g{suffix}")
        back = hpg.read(tmp_path / f"g{suffix}")
        assert np.array_equal(back.edge_column("when"), want, equal_nan=True), suffix
        if suffix in (".hpg", ".npz"):
            assert np.array_equal(back.vertex_column("born"), G.vertex_column("born"), equal_nan=True)
    G.save(tmp_path / "g.graphml")
    texts = plain(hpg.read(tmp_path / "g.graphml").edge_column("when"))
    assert [text and text[:10] for text in texts] == ["2019-03-01", "2024-05-06", None, "2021-01-01"]


def test_dates_in_and_out_of_other_libraries() -> None:
    G = dated()
    for other in (G.edges(columns=True), pl.DataFrame(G.edges(columns=True)), G.edges(columns=True).to_arrow()):
        H = hpg.from_edges(other, columns=["when"], names=False)
        assert np.array_equal(H.edge_column("when"), G.edge_column("when"), equal_nan=True)
    N = hpg.to_networkx(G)
    assert N.edges[0, 2]["when"] == datetime(2024, 5, 6) and "when" not in N.edges[1, 2]
    H = hpg.from_networkx(N, columns=["when"], vertex_columns=["born"])
    assert np.array_equal(H.edge_column("when"), G.edge_column("when"), equal_nan=True)
    zoned = pd.Series(pd.to_datetime(["2024-01-01 01:00"])).dt.tz_localize("Europe/Berlin")
    one = hpg.Graph.from_edges([0], [1], columns={"when": zoned})
    assert one.edge_column("when")[0] == np.datetime64("2024-01-01T00:00")
    same_zone = datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    assert hpg.Graph.from_edges([0], [1], columns={"w": [same_zone]}).edge_column("w")[0] == np.datetime64("2024-01-01")
    later = G.update(insert={"source": [1], "target": [0], "weight": [5], "when": np.array(["2030-01-01"], "M8[D]")})
    assert later.edge_column("when").dtype == "M8[us]" and str(later.edge_column("when")[2])[:4] == "2030"
    assert np.isnat(G.add_edges([1], [0]).edge_column("when")[2])
    assert G.undirected.edge_column("when").dtype == "M8[us]"


def test_bad_dates() -> None:
    G = dated("s").with_columns(vertices={"born": np.array(["1970-01-02"] * 3, "M8[D]")})
    noon = np.datetime64("2020-01-01T12:00:00.5")
    with pytest.raises(ValueError, match="is no whole number of the column's unit"):
        G.filter(edges=lambda source, edge, target: edge.when > noon)
    with pytest.raises(ValueError, match="give these one unit"):
        G.filter(edges=lambda source, edge, target: edge.when > noon and source.born > noon)
    with pytest.raises(ValueError, match=r"holds dates of .* does not hold"):
        G.update(insert={"source": [1], "target": [0], "when": np.array(["2030-01-01T00:00:00.5"], "M8[ms]")})
    with pytest.raises(TypeError, match="insert: 'when' holds dates in the graph, and numbers here"):
        G.update(insert={"source": [1], "target": [0], "when": [3]})
    with pytest.raises(TypeError, match=r"'when' holds dates, which .* cannot add up"):
        hpg.Graph.from_edges([0, 0], [1, 1], duplicates="sum", columns={"when": np.array(["2020", "2021"], "M8[s]")})
