"""Formats of other programs: what they write, written by hand or by NetworkX, and what we write and read again."""

import gzip
import io
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.io import graphml

pytest.importorskip("pyarrow")

UNDIRECTED = hpg.Graph.from_edges([0, 1, 0, 3], [1, 2, 4, 4], [2, 7, 1, 3], n_vertices=6, directed=False)
ALL = [".graphml", ".graph", ".gr", ".wsg", ".e", ".v", ".parquet", ".arrow", ".feather", ".graphml.gz", ".gr.zst",
       ".wsg.gz", ".gt", ".gt.zst", ".csv.zst", ".mtx.zst", ".graph.zst"]  # fmt: skip


def arcs(graph: hpg.Graph) -> list[tuple[Any, ...]]:
    source, target, *weight = graph.edges(both_ways=True) if graph.weighted else (*graph.edges(both_ways=True),)
    names = range(graph.n_vertices) if graph.names is None else graph.names.tolist()
    columns = [[names[v] for v in end.tolist()] for end in (source, target)]
    return sorted(zip(*columns, *(w.tolist() for w in weight if w is not None), strict=True))


def same(found: hpg.Graph, expected: hpg.Graph) -> bool:
    a, b = found.out_csr, expected.out_csr
    return (
        found.n_vertices == expected.n_vertices
        and found.directed is expected.directed
        and a.indptr.tolist() == b.indptr.tolist()
        and a.indices.tolist() == b.indices.tolist()
        and (None if a.data is None else a.data.tolist()) == (None if b.data is None else b.data.tolist())
    )


@pytest.mark.parametrize("suffix", ALL)
def test_what_is_written_is_read_again(suffix: str, tmp_path: Path) -> None:
    hpg.write(UNDIRECTED, tmp_path / f"g{suffix}")
    assert same(hpg.load(tmp_path / f"g{suffix}"), UNDIRECTED)


@pytest.mark.parametrize("suffix", [".graphml", ".gr", ".wsg", ".gt", ".e", ".parquet", ".feather"])
def test_directed(suffix: str, tmp_path: Path) -> None:
    graph = hpg.Graph.from_edges([2, 0, 1], [0, 1, 1], [5, -6, 7], n_vertices=4)
    graph.save(tmp_path / f"g{suffix}")
    assert same(hpg.read(tmp_path / f"g{suffix}"), graph)


@pytest.mark.parametrize("suffix", [".graphml", ".graph", ".col", ".sg", ".gt", ".e", ".parquet"])
def test_without_weights(suffix: str, tmp_path: Path) -> None:
    graph = hpg.Graph.from_edges([0, 1, 0, 3], [1, 2, 4, 4], n_vertices=6, directed=False)
    hpg.write(graph, tmp_path / f"g{suffix}")
    assert same(hpg.read(tmp_path / f"g{suffix}"), graph)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("edges", [([0, 1, 2], [1, 2, 4], [1.5, 2, 3]), ([], [], np.empty(0, np.float32))])
def test_a_converted_table_is_the_graph_that_was_written(suffix: str, edges: Any, tmp_path: Path) -> None:
    graph = hpg.Graph.from_edges(*edges, n_vertices=7, directed=False)
    hpg.write(graph, tmp_path / f"g{suffix}")
    hpg.convert(tmp_path / f"g{suffix}", tmp_path / "g.hpg")
    found = hpg.read(tmp_path / "g.hpg")
    assert same(found, graph) and found.dtype == graph.dtype


@pytest.mark.parametrize("suffix", [".graphml", ".gt", ".e", ".parquet", ".arrow"])
def test_names(suffix: str, tmp_path: Path) -> None:
    names: list[Any] = [70, 10, 40] if suffix == ".e" else ['a "b" <c>', "é", "x & y"]
    graph = hpg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.25], names=names)
    hpg.write(graph, tmp_path / f"g{suffix}")
    found = hpg.read(tmp_path / f"g{suffix}")
    assert arcs(found) == arcs(graph) and found.directed


def test_graphml_of_networkx(tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_edge("Bonn", "Mainz", weight=1.5, road="A61")
    graph.add_edge("Mainz", "Trier", weight=2.5)
    graph.add_node("Ulm", kind="city")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    found = hpg.read(tmp_path / "g.graphml")
    assert found.names.tolist() == list(graph) and not found.directed
    both_ways = [*graph.edges(data="weight"), *((v, u, weight) for u, v, weight in graph.edges(data="weight"))]
    assert arcs(found) == sorted(both_ways)
    hpg.write(found, tmp_path / "again.graphml")
    assert nx.utils.edges_equal(
        nx.read_graphml(tmp_path / "again.graphml").edges(data="weight"), graph.edges(data="weight")
    )


def test_metis_of_its_manual(tmp_path: Path) -> None:
    """Figures 2 (b) and 2 (d): weights of edges, and of vertices besides, three each."""
    path = tmp_path / "g.graph"
    path.write_text("% figure 2\n4 3 001\n2 1\n1 1 3 2\n2 2 4 5\n3 5\n")
    dense = hpg.read(path).out_csr.to_scipy().toarray()
    assert dense.tolist() == [[0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 5], [0, 0, 5, 0]]
    path.write_text("3 2 010 3\n1 2 0 2\n0 2 2 1 3\n4 1 1 2\n")
    found = hpg.read(path)
    assert found.n_edges == 4 and not found.weighted and found.neighbors(1).tolist() == [0, 2]


def test_dimacs_of_the_challenges(tmp_path: Path) -> None:
    (tmp_path / "g.gr").write_text("c USA-road\np sp 3 2\na 1 2 803\na 3 1 158\n")
    assert arcs(hpg.read(tmp_path / "g.gr")) == [(0, 1, 803), (2, 0, 158)]
    (tmp_path / "g.gr").write_text("p sp 3 2\na 1 2 1E3\na 3 1 158\n")
    assert arcs(hpg.read(tmp_path / "g.gr")) == [(0, 1, 1000.0), (2, 0, 158.0)]
    (tmp_path / "g.col").write_text("c myciel\np edge 3 2\ne 1 2\ne 2 3\n")
    found = hpg.read(tmp_path / "g.col")
    assert not found.directed and not found.weighted and found.n_edges == 4


def test_sg_as_the_suite_writes_it(tmp_path: Path) -> None:
    rows = struct.pack("=?qq", True, 3, 3) + struct.pack("=4q3i", 0, 2, 3, 3, 1, 2, 2)
    (tmp_path / "g.sg").write_bytes(rows + struct.pack("=4q3i", 0, 0, 1, 3, 0, 0, 1))
    assert arcs(hpg.read(tmp_path / "g.sg")) == [(0, 1), (0, 2), (1, 2)]
    hpg.write(hpg.read(tmp_path / "g.sg"), tmp_path / "again.sg")
    assert (tmp_path / "again.sg").read_bytes() == (tmp_path / "g.sg").read_bytes()


@pytest.mark.parametrize("directed", [True, False])
def test_sg_of_another_length(directed: bool, tmp_path: Path) -> None:
    """The half with reversed arcs is missed too, and so is the end of its gzip file, with the checksum."""
    path, zipped = tmp_path / "g.sg", tmp_path / "g.sg.gz"
    hpg.write(hpg.Graph.from_edges([0, 0, 1], [1, 2, 2], directed=directed), path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        raises(hpg.FileFormatError, "the file ends early", hpg.read, path)
    path.write_bytes(whole + b"\0")
    raises(hpg.FileFormatError, f"goes on behind the {len(whole)} bytes", hpg.read, path)
    packed = gzip.compress(whole)
    zipped.write_bytes(packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:])
    raises(hpg.FileFormatError, r"g\.sg\.gz", hpg.read, zipped)


def test_graphalytics(tmp_path: Path) -> None:
    (tmp_path / "example.v").write_text("1\n5\n9\n12\n")
    (tmp_path / "example.e").write_text("1 5 0.3\n9 1 1\n")
    found = hpg.read(tmp_path / "example.e")
    assert found.names.tolist() == [1, 5, 9, 12] and arcs(found) == [(1, 5, 0.3), (9, 1, 1.0)] and found.directed
    (tmp_path / "example.e").write_text("1 5 0.3\n9\n")
    raises(hpg.FileFormatError, r"example\.e, line 2: 3 numbers expected, 1 found", hpg.read, tmp_path / "example.v")
    (tmp_path / "example.e").write_text("1 5 0.3\n")
    (tmp_path / "example.properties").write_text("# a graph\ngraph.example.directed = false\n")
    assert not hpg.read(tmp_path / "example.v").directed


def test_tables_of_others(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"weight": [7.5, 1.0], "from": [1001, 1002], "to": [1002, 5]})
    table.to_parquet(tmp_path / "g.parquet")
    table.to_feather(tmp_path / "g.feather")
    for name in ("g.parquet", "g.feather"):
        found = hpg.read(tmp_path / name)
        assert found.names.tolist() == [5, 1001, 1002] and arcs(found) == [(1001, 1002, 7.5), (1002, 5, 1.0)]
    assert hpg.read(tmp_path / "g.parquet", n_vertices=2000).n_vertices == 2000


def test_snap(tmp_path: Path) -> None:
    text = "# Directed graph (each unordered pair of nodes is saved once)\n# FromNodeId\tToNodeId\n0\t1\n2\t0\n"
    with gzip.open(tmp_path / "web.txt.gz", "wt") as file:
        file.write(text)
    assert arcs(hpg.read(tmp_path / "web.txt.gz")) == [(0, 1), (2, 0)]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    given(b"0 1\n1 2\n")
    assert hpg.read("-").n_edges == 2
    given(gzip.compress(b"c\np sp 2 1\na 1 2 9\n"))
    assert arcs(hpg.read("-.gr")) == [(0, 1, 9)]


def test_urls(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    hpg.write(UNDIRECTED, "memory://graphs/g.gr.zst")
    assert same(hpg.read("memory://graphs/g.gr.zst"), UNDIRECTED)
    hpg.write(UNDIRECTED, tmp_path / "g.wel")
    assert same(hpg.read((tmp_path / "g.wel").as_uri()), UNDIRECTED)
    hpg.convert((tmp_path / "g.wel").as_uri(), tmp_path / "g.hpg")
    assert same(hpg.read(tmp_path / "g.hpg"), UNDIRECTED)


def test_from_the_web(tmp_path: Path) -> None:
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    hpg.write(UNDIRECTED, tmp_path / "g.csv.gz")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *said: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        assert same(hpg.read(f"{address}/g.csv.gz"), UNDIRECTED)
        raises(OSError, "404", hpg.read, f"{address}/h.csv.gz")
        server.shutdown()


BAD: list[tuple[str, str, str]] = [
    ("g.gr", "a 1 2 3\n", "line 1: no line of a DIMACS file"),
    ("g.gr", "p sp 2 1\na 1 3 1\n", r"line 2: vertex 3 is not in 1\.\.2"),
    ("g.gr", "p sp 2 1\na 1 x 1\n", "line 2: no numbers"),
    ("g.gr", "p sp 2 1\na 1.5 2 0.5\n", "line 2: no numbers"),
    ("g.gr", "p sp 2 2\na 1 2 1\n", "2 edges expected, as its line p says, 1 found"),
    ("g.gr", "c nothing\n", "no line that begins with p"),
    ("g.graph", "2 1\n2\n", "2 vertices expected, as its first line says, 1 lines found"),
    ("g.graph", "2 1\n2\n3\n", r"line 3: vertex 3 is not in 1\.\.2"),
    ("g.graph", "2 2\n2\n1\n", "2 edges expected, each at both ends, 2 ends found"),
    ("g.graph", "2 1 001\n2\n1 1\n", "line 2: neighbours and weights must come in pairs"),
    ("g.graph", "2 1 5\n2\n1\n", "line 1: 'N M"),
    ("g.graphml", "<graphml><graph><node id='a'/>", "not a complete XML file"),
    ("g.graphml", "<graphml/>", "it holds no <graph>"),
    ("g.graphml", "<graphml><graph><edge source='a' target='b'/></graph></graphml>", "'a', which is no node of it"),
    ("g.graphml", "<graphml><graph/><graph/></graphml>", "several graphs"),
    (
        "g.graphml",
        "<graphml><key id='w' for='edge' attr.name='weight' attr.type='double'/><graph><node id='a'/>"
        "<edge source='a' target='a'><data key='w'>heavy</data></edge></graph></graphml>",
        "a weight that is no float64",
    ),
    ("g.parquet", "PAR1 and so on", "no whole .parquet file"),
    ("g.sg", "\x01abc", "the file ends early"),
    ("g.sg", "\x07" + "\0" * 40, "its first 17 bytes do not fit"),
]


@pytest.mark.parametrize(("name", "content", "says"), BAD, ids=[f"{name}: {says[:30]}" for name, _, says in BAD])
def test_what_is_damaged(name: str, content: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    raises(hpg.FileFormatError, says, hpg.read, tmp_path / name)


@pytest.mark.parametrize("said", [b"[1]", b"{", b'{"n_vertices": -4}', b'{"weight": "O"}', b'{"directed": 3}'])
def test_metadata_that_are_not_ours(said: bytes, tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({"source": [0], "target": [1]}).replace_schema_metadata({b"hpgraph": said})
    pyarrow.parquet.write_table(table, tmp_path / "g.parquet")
    raises(hpg.FileFormatError, "hpgraph metadata were not", hpg.read, tmp_path / "g.parquet")


def test_compressed_data_that_end_early(tmp_path: Path) -> None:
    hpg.write(hpg.Graph.from_edges(range(50000), range(50000)), tmp_path / "g.el.zst")
    whole = (tmp_path / "g.el.zst").read_bytes()
    (tmp_path / "g.el.zst").write_bytes(whole[: len(whole) // 2])
    raises(hpg.FileFormatError, "end early or are damaged", hpg.read, tmp_path / "g.el.zst")


@pytest.mark.parametrize(
    ("suffix", "graph", "says"),
    [
        (".graph", lambda: hpg.Graph.from_edges([0], [1]), "undirected graphs without loops"),
        (".graph", lambda: hpg.Graph.from_edges([0], [1], [0.5], directed=False), "whole numbers above zero"),
        (".col", lambda: UNDIRECTED, r"\.gr holds arcs with weights"),
        (".sg", lambda: UNDIRECTED, r"write it to \.wsg"),
        (".wsg", lambda: hpg.Graph.from_edges([0], [1], [0.5]), "whole numbers of 32 bits"),
        (".e", lambda: hpg.Graph.from_edges([0], [1], names=["a", "b"]), "vertices are whole numbers there"),
        (".npz.zst", lambda: UNDIRECTED, "does not name a known format"),
    ],
)
def test_what_a_format_cannot_hold(suffix: str, graph: Callable[[], hpg.Graph], says: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=says):
        hpg.write(graph(), tmp_path / f"g{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["g.gr", "g.graph", "g.sg", "g.graphml", "g.e", "g.parquet"])
def test_memory(name: str, tmp_path: Path) -> None:
    graph = hpg.Graph.from_edges(np.arange(70000), np.arange(70000)[::-1], directed=False)
    hpg.write(graph, tmp_path / name)
    raises(hpg.DeviceMemoryError, "may be taken", hpg.read, tmp_path / name, memory="100 KiB")


def test_graphml_in_another_order(tmp_path: Path) -> None:
    """Edges before their nodes, defaults, data of nodes, comments and other encodings: as NetworkX reads it."""
    path = tmp_path / "g.graphml"
    text = (
        "<?xml version='1.0' encoding='{}'?><!DOCTYPE graphml SYSTEM 'graphml.dtd'>"
        "<graphml xmlns='http://graphml.graphdrawing.org/xmlns'><key id='k' for='all' attr.name='weight' "
        "attr.type='double'><desc>9</desc><default>4.5</default></key><graph edgedefault='undirected'>"
        "<data key='k'>99</data><node id='ü'><data key='k'>8</data></node><edge source='b' target='a'>"
        "<data key='x'>7</data><data key='k'> 2.<!-- and a half -->5 </data></edge><node id='a'/><node id='b'/>"
        "<edge source='ü' target='a'/></graph></graphml>"
    )
    for encoding in ("utf-8", "utf-16", "iso-8859-1"):
        path.write_bytes(text.format(encoding).encode(encoding))
        found = hpg.read(path)
        assert found.names.tolist() == ["ü", "a", "b"] and not found.directed
        assert arcs(found) == [("a", "b", 2.5), ("a", "ü", 4.5), ("b", "a", 2.5), ("ü", "a", 4.5)]
    for content, says in (
        ("<graphml><graph><node id='a'/>\n<node id='a'/></graph></graphml>", "two nodes 'a'"),
        ("<!DOCTYPE graphml [<!ENTITY a 'b'>]><graphml><graph/></graphml>", "line 1: it declares a document type"),
        ("<graphml><graph>\n<hyperedge/></graph></graphml>", "line 2: it holds hyperedges"),
        ("", "not a complete XML file"),
    ):
        path.write_text(content)
        raises(hpg.FileFormatError, says, hpg.read, path)


def test_names_in_dictionaries(tmp_path: Path) -> None:
    """Columns of categories; names are numbered in the order in which they come, row by row."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"source": list("bdbc") * 3, "target": list("adaa") * 3}, dtype="category")
    for path in (tmp_path / "g.parquet", tmp_path / "g.feather"):
        getattr(table, f"to_{path.suffix[1:]}")(path)
        found = hpg.read(path)
        assert found.names.tolist() == list("badc") and arcs(found) == [("b", "a"), ("c", "a"), ("d", "d")]
        hpg.convert(path, tmp_path / "g.hpg")
        assert same(hpg.read(tmp_path / "g.hpg"), found)


@pytest.mark.parametrize("names", [[1001, 7, 12], [2, 1, 0], ["0", "1", "2"], ["1001", "7", "12"], list("abc")])
def test_graphml_keeps_what_names_are(names: list[Any], tmp_path: Path) -> None:
    G = hpg.Graph.from_edges([0, 1], [1, 2], names=names)
    G.save(tmp_path / "g.graphml")
    assert hpg.read(tmp_path / "g.graphml").names.tolist() == names  # type: ignore[union-attr]
    assert list(nx.read_graphml(tmp_path / "g.graphml")) == list(map(str, names))


@pytest.mark.parametrize("directed", [True, False])
def test_dimacs_keeps_that_there_are_no_weights(directed: bool, tmp_path: Path) -> None:
    G = hpg.Graph.from_edges([0, 1], [1, 2], directed=directed)
    G.save(tmp_path / "g.gr")
    again = hpg.read(tmp_path / "g.gr")
    assert not again.weighted and again.directed == directed and again.n_edges == G.n_edges
    assert "a 1 2 1\n" in (tmp_path / "g.gr").read_text()


@pytest.mark.parametrize("piece", [30, 300, 1 << 16])
def test_plain_elements_of_graphml_are_those_of_the_parser(
    piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphml, "_PIECE", piece)
    monkeypatch.setattr(graphml, "_PLAIN_PIECE", 4 * piece)
    path = tmp_path / "x.graphml"
    rng = np.random.default_rng(7)
    source, target = rng.integers(0, 30, (2, 90))
    hpg.write(hpg.Graph.from_edges(source, target, rng.random(90), n_vertices=30, directed=True), path)
    whole, some = path.read_text(), '<node id="q"/>'
    changed = [whole, whole.replace("</graph>", f"{some}</graph>"), whole.replace('target="3"', 'target="none"', 1)]
    changed += [
        whole.replace("<node", f"<!-- {some} --><node", 1),
        whole.replace("/><node", f"/><!-- {some} --><node", 9),
    ]
    changed += [
        whole.replace("<edge", '<edge id="e"', 5),
        whole.replace("<node", f"<desc><![CDATA[{some}]]></desc><node", 1),
    ]
    changed += [whole.replace("<graph ", f'<!-- <graph edgedefault="directed">{some} --><graph ', 1), whole[:-30]]
    changed += [whole.replace('<data key="weight">', '<data key="other">', 3), whole.replace("</data>", " </data>")]
    changed += [whole[:k] + "<!-- -->" + whole[k:] for k in rng.integers(0, len(whole), 20).tolist()]

    def answer() -> Any:
        try:
            graph = hpg.read(path)
        except hpg.FileFormatError as error:
            return str(error)
        names = [] if graph.names is None else list(graph.names)
        return [names, *([] if part is None else part.tolist() for part in graph.edges())]

    for text in changed:
        path.write_text(text)
        found = answer()
        with monkeypatch.context() as patch:
            patch.setattr(graphml._Elements, "_add_plain", lambda self, content: content)
            assert found == answer()
