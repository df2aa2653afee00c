"""Files that NetworkX reads and writes: to and fro, beside what NetworkX itself makes of them, and damaged ones."""

import gzip
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from graph_examples import every_kind, example, same
from raising import raises

import hpgraph as hpg
from hpgraph.io import text_rows

SUFFIXES = [".gml", ".gexf", ".net", ".json", ".gml.gz", ".json.gz"]
WRITERS: dict[str, Any] = {
    ".gml": nx.write_gml, ".gexf": nx.write_gexf, ".net": nx.write_pajek, ".graphml": nx.write_graphml,
}  # fmt: skip


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".dot", ".gv.gz"])
@every_kind
def test_to_and_fro(suffix: str, directed: bool, weighted: bool, named: bool, tmp_path: Path) -> None:
    g = example(directed, weighted, named)
    G = hpg.from_networkx(g)
    G.save(tmp_path / f"g{suffix}")
    found = hpg.read(tmp_path / f"g{suffix}")
    same(found, g)
    assert (found.names is None) == (G.names is None) and found.weighted == weighted
    assert found.names is None or found.names.tolist() == G.names.tolist()


@pytest.mark.parametrize("suffix", [".gml", ".gexf", ".net"])
def test_networkx_files(suffix: str, tmp_path: Path) -> None:
    g = nx.les_miserables_graph()
    WRITERS[suffix](g, tmp_path / f"g{suffix}")
    same(hpg.read(tmp_path / f"g{suffix}"), g)


@pytest.mark.parametrize("suffix", SUFFIXES[:4])
def test_names_and_weights_of_every_kind(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"g{suffix}"
    for names in ([7, 1001, -3], ["é 漢", "b&<", "c"]):
        for weight in ([0.5, -1e300], [3, 4], None):
            G = hpg.Graph.from_edges([0, 1], [1, 2], weight, names=names)
            G.save(path)
            found = hpg.read(path)
            assert found.names.tolist() == names and found.edges().target.tolist() == [1, 2]  # type: ignore[union-attr]
            assert weight is None or found.weights.tolist() == weight
    refused: list[tuple[Any, list[Any]]] = [(None, ["a", 5, "b"]), (None, [1.5, 2.5, 3.5])]
    if suffix != ".json":
        refused.append((None, ["1", "2", "3"]))
    if suffix == ".net":
        refused.append(([1, 1], [4, 5, 6]))
        # NetworkX 3.7 began to escape quotation marks.
        if tuple(map(int, nx.__version__.split(".")[:2])) < (3, 7):
            refused.append((None, ['a"b c', "b", "c"]))
    before = path.read_bytes()
    for weight, names in refused:
        with pytest.raises(ValueError, match=r"cannot hold names or weights .*\.npz can"):
            hpg.Graph.from_edges([0, 1], [1, 2], weight, names=names).save(path)
        assert path.read_bytes() == before


def test_files_of_others(tmp_path: Path) -> None:
    for name, text, edges in (
        ("g.gml", "graph [ directed 1 node [ id 0 ] node [ id 1 ] edge [ source 1 target 0 ] ]", [(1, 0)]),
        ("g.net", "*Vertices 3\n1 \"a b\" 0.1 0.2\n2 c\n3 d\n*Edges\n1 2 2.5\n2 3 1\n", [("a b", "c"), ("c", "d")]),
        ("g.json", '{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b", "weight": 2}]}',
         [("a", "b")]),
        ("h.json", '{"directed": true, "multigraph": false, "graph": {}, "nodes": [{"id": 5}], "edges": []}', []),
        ("g.gexf", '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2"><graph defaultedgetype="directed"><nodes>'
         '<node id="x" label="X"/><node id="y"/></nodes><edges><edge id="0" source="x" target="y" weight="2"/></edges>'
         "</graph></gexf>", [("x", "y")]),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
        G = hpg.read(tmp_path / name)
        assert list(zip(*(side.tolist() for side in G.edges(names=True)[:2]), strict=True)) == edges


def test_damaged_files(tmp_path: Path) -> None:
    for name, text in (
        ("g.gml", "graph [ node [ id 0 label 5"),
        ("g.gml", "[" * 5000),
        ("g.gexf", "<gexf><graph>"),
        ("g.gexf", '<!DOCTYPE gexf [<!ENTITY a "b">]><gexf/>'),
        ("g.gexf", "<graphml/>"),
        ("g.net", "*vertices many\n"),
        ("g.net", "*Vertices 1\n1 a\n*edges\n1 7\n"),
        ("g.json", "[1, 2"),
        ("g.json", "[1, 2]"),
        ("g.json", '{"nodes": 5, "links": []}'),
        ("g.json", '{"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "a", "weight": "heavy"}]}'),
    ):
        (tmp_path / name).write_text(text)
        raises(hpg.FileFormatError, f"{name}.*not a \\w+ file", hpg.read, tmp_path / name)


GEXF = (
    '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2"><graph><nodes><node id="a" label="1"/></nodes>'
    '<edges><edge source="a" target="b"/></edges></graph></gexf>'
)


@pytest.mark.parametrize(("name", "text", "says"), [
    ("g.gexf", GEXF, "an edge at 'b'"),
    ("g.net", '*vertices 2\n1 "a"\n7 "2"\n*arcs\n2 1\n', "an edge at '2'"),
    ("g.net", "*vertices 3\n1 0\n2 1\n3 2\n*arcs\n0 2 3\n", "an edge at '0'"),
    ("g.net", "*vertices 3\n1 a\n2 b\n3 c\n*arcslist\n1 2 3\n", "arcslist is not read"),
    ("g.json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}', "1 nodes and 2 ids"),
    ("g.json", '{"nodes": [{"id": 1}, {"id": 1}], "links": []}', "2 nodes and 1 ids"),
])  # fmt: skip
def test_edges_at_vertices_that_are_not_listed(name: str, text: str, says: str, tmp_path: Path) -> None:
    """NetworkX adds them, and takes a number that Pajek's vertices lack for a label."""
    (tmp_path / name).write_text(text)
    raises(hpg.FileFormatError, f"{name}.*{says}", hpg.read, tmp_path / name)
    (tmp_path / "g.gexf").write_text(GEXF.replace('"b"', '"a"'))
    assert hpg.read(tmp_path / "g.gexf").n_edges == 1


def test_the_budget_bounds_what_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "g.json.gz").write_bytes(gzip.compress(b" " * (64 << 20)))
    raises(hpg.DeviceMemoryError, r"g\.json\.gz", hpg.read, tmp_path / "g.json.gz", memory="64MiB")
    G = hpg.Graph.from_edges(np.arange(9), np.arange(9) + 1)
    G.save(tmp_path / "g.gml")
    assert hpg.read(tmp_path / "g.gml", memory="4MiB").n_edges == 9


def test_conversion_keeps_names_that_are_numbers(tmp_path: Path) -> None:
    G = hpg.Graph.from_edges([0, 1], [1, 2], names=[7, 1001, -3])
    for suffix in (".json", ".net", ".gv"):
        G.save(tmp_path / f"g{suffix}")
        hpg.convert(tmp_path / f"g{suffix}", tmp_path / "g.hpg")
        assert hpg.read(tmp_path / "g.hpg").names.tolist() == [7, 1001, -3]  # type: ignore[union-attr]
    (tmp_path / "g.json").write_text('{"nodes": [{"id": "a"}, {"id": 5}], "links": []}')
    with pytest.raises(ValueError, match="some are neither"):
        hpg.convert(tmp_path / "g.json", tmp_path / "g.hpg")


@pytest.mark.parametrize("padded", [True, False])
def test_text_rows(padded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    if not padded:
        monkeypatch.setattr(text_rows, "_PADDING", 0)
        monkeypatch.setattr(text_rows, "_SPARE", 0)
    monkeypatch.setattr(text_rows, "_PIECE", 200)
    one, other = ["", "é", "a" * 50], [str(number) for number in range(99)]
    which = rng.integers(0, 3, 99)
    expected = "".join(f"<{one[which[k]]}, {other[k]}>\n" for k in range(99))
    assert "".join(text_rows.text_rows(("<", ", ", ">\n"), (one, which), (other, None))) == expected
    assert "".join(text_rows.text_rows(("", "\n"), ([], np.zeros(0, int)))) == ""


@pytest.mark.parametrize("suffix", [*SUFFIXES[:4], ".dot", ".npz", ".gt"])
def test_whole_names_of_64_bits(suffix: str, tmp_path: Path) -> None:
    path, ends = tmp_path / f"g{suffix}", ([0, 1], [1, 2])
    for names in ([2**63 - 1, -(2**63), 0], [10**18, 5, -1]):
        hpg.Graph.from_edges(*ends, names=names).save(path)
        assert hpg.read(path).names.tolist() == names  # type: ignore[union-attr]


def test_names_that_end_in_nul(tmp_path: Path) -> None:
    """Text of fixed width would lose it, and two names could become one."""
    G = hpg.Graph.from_edges([0, 1], [1, 2], names=["", "\0", "a long name of many characters"])
    raises(ValueError, r"g.npz: .npz holds no name that ends in NUL; .hpg", G.save, tmp_path / "g.npz")
    G.save(tmp_path / "g.hpg")
    assert hpg.read(tmp_path / "g.hpg").names.tolist() == G.names.tolist()  # type: ignore[union-attr]
