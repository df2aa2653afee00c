"""Columns in files and in other libraries, dates among them."""

from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from column_tables import TITLES, graph_of, plain, rows_kept, same_columns, tables
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg


@pytest.mark.parametrize("suffix", [".hpg", ".npz", ".parquet", ".arrow", ".graphml", ".gv"])
@given(table=tables(), directed=st.booleans())
@settings(max_examples=20, deadline=None)
def test_files_keep_columns(suffix: str, tmp_path_factory: Any, table: pd.DataFrame, directed: bool) -> None:
    if suffix == ".gv":  # a backslash at the end of a text, which DOT cannot hold, is refused
        assume(not any("\\" in text for text in table["kind"] if text))
    G = graph_of(table, columns=TITLES, directed=directed, duplicates="min")
    ages = {"age": np.arange(G.n_vertices, dtype=np.int16), "who": [chr(97 + v) for v in range(G.n_vertices)]}
    G = G.with_columns(vertices=ages)
    path = tmp_path_factory.mktemp("files") / f"graph{suffix}"
    G.save(path)
    H = hpg.read(path)
    same_columns(H, rows_kept(table, directed, "min"))
    assert H.directed == G.directed
    if suffix in (".hpg", ".npz", ".graphml", ".gv"):
        assert H.vertex_columns == ("age", "who")
        assert plain(H.vertex_column("age")) == plain(G.vertex_column("age"))
        assert plain(H.vertex_column("who")) == plain(G.vertex_column("who"))
    if suffix not in (".graphml", ".gv"):
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
        raises(ValueError, r"columns: .*nope", hpg.read, tmp_path / path, columns=bad)
    hpg.Graph.from_edges([0], [1]).save(tmp_path / "g.el")
    raises(ValueError, "columns is for tables, GraphML and DOT", hpg.read, tmp_path / "g.el", columns=True)


@pytest.mark.parametrize(
    ("index", "fault"),
    [
        ('[{"of": "edges", "title": "a", "type": "<i8", "at": 0}', "columns are invalid"),
        ('[{"of": "edges", "title": "a", "type": "|O", "at": 0}]', "columns are invalid"),
        ('[{"of": "edges", "title": "a", "type": "<i8", "at": 8}]', "has no 3 values"),
        ('[{"of": "edges", "title": "a", "type": "<i8", "at": -8}]', "a place that is none"),
        ('[{"of": "arcs", "title": "a", "type": "<i8", "at": 0}]', "columns are invalid"),
        ('[{"of": "edges", "title": "a", "type": "<i8", "at": 0, "categories": ["x"]}]', "codes must lie in"),
        ('[{"of": "edges", "title": "a", "type": "<i8", "at": 0, "categories": [1]}]', "categories must be text"),
        ('[{"of": "edges", "title": "weight", "type": "<i8", "at": 0}]', "rename it"),
        ("[[]]", "columns are invalid"),
        ("[" * 100_000, "columns are invalid"),
    ],
)  # fmt: skip
def test_forged_columns_are_refused(tmp_path: Path, index: str, fault: str) -> None:
    path = tmp_path / "g.npz"
    hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], columns={"a": [7, 8, 9]}).save(path)
    held = dict(np.load(path))
    held["columns.index"] = np.frombuffer(index.encode(), np.uint8)
    np.savez(path, **held)
    raises(hpg.FileFormatError, fault, hpg.read, path)


def test_damaged_columns_of_hpg_are_refused_and_files_without_are_as_before(tmp_path: Path) -> None:
    path, plain_path = tmp_path / "g.hpg", tmp_path / "plain.hpg"
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], columns={"a": [7, 8, 9]})
    G.save(path)
    hpg.Graph(G.out_csr, directed=True).save(plain_path)
    assert b"columns" not in plain_path.read_bytes() and hpg.read(plain_path).edge_columns == ()
    content = bytearray(path.read_bytes())
    content[content.rindex(np.int64(8).tobytes())] = 9
    path.write_bytes(content)
    raises(hpg.FileFormatError, "does not have its checksum", hpg.read, path)


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


@pytest.mark.parametrize("columns", [{"a\x0b": [1, 2]}, {"a": ["b\x0b", "c"]}])
def test_graphml_holds_no_control_characters(columns: Any, tmp_path: Path) -> None:
    for held in ({"edges": columns}, {"vertices": columns}):
        G = hpg.from_edges([(0, 1), (1, 0)]).with_columns(**held)
        raises(ValueError, "g.graphml: XML holds no control characters", G.save, tmp_path / "g.graphml")
        G.save(tmp_path / "g.npz")
        assert hpg.read(tmp_path / "g.npz").edge_columns == G.edge_columns
