"""The first line of edge lists by hpgraph, and the distinction of comments, titles and edges."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from raising import raises
from test_edge_list import arcs

import hpgraph as hpg
from hpgraph.core.errors import FileFormatError
from hpgraph.io import read, write

SUFFIXES = [".el", ".txt", ".tsv", ".csv", ".el.gz", ".csv.gz"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("g.csv", "0,1 # note\n1,2\n", [(0, 1), (1, 2)]),
        ("g.csv", "0,1 # note\n1,2 # note\n", [(0, 1), (1, 2)]),
        ("g.csv", "0,1,5 % note\n1,2,6\n", [(0, 1), (1, 2)]),
        ("g.csv", "source,target # note\n0,1\n", [(0, 1)]),
        ("g.csv", "0,1 # a single line", [(0, 1)]),
        ("g.el", "0 1 # note\n1 2\n", [(0, 1), (1, 2)]),
        ("g.el", "0 1 # one, two\n1 2\n", [(0, 1), (1, 2)]),
        ("g.el", "0 1\n1 2 # one, two\n", [(0, 1), (1, 2)]),
        ("g.tsv", "0\t1\t# note\n1\t2\n", [(0, 1), (1, 2)]),
    ],
)
def test_a_comment_may_end_the_first_line(
    tmp_path: Path, name: str, text: str, expected: list[tuple[int, int]]
) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert arcs(read(path)) == expected


@pytest.mark.parametrize("number", ["-1", "", "nan", "1e3", "1" + 30 * "0"])
def test_a_damaged_comment_is_not_passed_over(tmp_path: Path, number: str) -> None:
    """Without it the graph would be directed, and its last vertices missing."""
    path = tmp_path / "g.el"
    write(hpg.Graph.from_edges([0], [1], n_vertices=4, directed=False), path)
    path.write_text(path.read_text().replace("4 vertices", f"{number} vertices"))
    raises(FileFormatError, "line 1: the comment of hpgraph.write is damaged", read, path)


def test_a_comment_line_hides_in_no_column(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("id,from,to\n6,0,1\n# 7,1,1\n8,1,2\n")
    assert arcs(read(path)) == [(0, 1), (1, 2)]


def test_a_mark_within_names_is_no_comment(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("C#,F#\nF#,C\n")
    assert list(read(path).names) == ["C#", "F#", "C"]
    path.write_text("7,8 # a\n1,2 # b\n")
    assert list(read(path, names=True).names) == ["7", "8 # a", "1", "2 # b"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("weights", [None, [5, 7]])
@pytest.mark.parametrize("names", [["source", "target"], ["from", "to"], ["a", "1"], ["Source", "weight"]])
def test_a_first_edge_that_looks_like_titles(
    tmp_path: Path, suffix: str, weights: list[int] | None, names: list[str]
) -> None:
    graph = hpg.Graph.from_edges([0, 1], [1, 0], weights, names=names)
    write(graph, tmp_path / f"g{suffix}")
    again = read(tmp_path / f"g{suffix}")
    assert list(again.names) == names
    assert arcs(again) == [(0, 1), (1, 0)]
    assert again.weighted is (weights is not None)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("names", [None, ["a", "b"], [40, -7]])
def test_an_end_that_was_lost_is_missed(tmp_path: Path, suffix: str, names: list[str] | None) -> None:
    graph = hpg.Graph.from_edges([0, 1, 0], [1, 0, 0], [10, 20, 30], names=names)
    path = tmp_path / f"g{suffix}"
    write(graph, path)
    assert read(path).n_edges == 3
    unpack, pack = (gzip.decompress, gzip.compress) if suffix.endswith(".gz") else (bytes, bytes)
    whole = unpack(path.read_bytes())
    first = whole.index(b"\n") + 1
    for keep in range(first, len(whole)):
        path.write_bytes(pack(whole[:keep]))
        raises(FileFormatError, r"cut short|fields expected|is not a|without a name", read, path)
    path.write_bytes(pack(whole + whole[-8:]))
    with pytest.raises(FileFormatError):
        read(path)


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".mtx", ".npz"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint64", "float32", "float64"])
def test_weights_without_edges(tmp_path: Path, suffix: str, dtype: str) -> None:
    graph = hpg.Graph.from_edges(np.empty(0, int), np.empty(0, int), np.empty(0, dtype), n_vertices=4)
    write(graph, tmp_path / f"g{suffix}")
    again = read(tmp_path / f"g{suffix}")
    assert (again.n_vertices, again.n_edges, again.weighted) == (4, 0, True)
    assert suffix == ".mtx" or again.dtype == dtype


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".wel"])
@pytest.mark.parametrize("names", [None, ["a", "b", "c"]])
def test_weights_of_every_type(tmp_path: Path, suffix: str, names: list[str] | None) -> None:
    values = {
        "uint64": [2**64 - 1, 2**63, 2**53 + 1], "int64": [-(2**63), 2**63 - 1, 2**53 + 1], "int8": [-128, 0, 127],
        "bool": [True, False, True], "float32": [0.1, np.inf, 3.0], "float64": [0.1, -0.0, 1e300],
    }  # fmt: skip
    for dtype, weights in values.items():
        graph = hpg.Graph.from_edges([0, 1, 2], [1, 2, 0], np.array(weights, dtype), names=names)
        write(graph, tmp_path / f"g{suffix}")
        again = read(tmp_path / f"g{suffix}")
        assert again.dtype == dtype
        assert again.out_csr.data.tolist() == graph.out_csr.data.tolist()


@pytest.mark.parametrize("id_of", [str, "v{}".format])
def test_whole_weights_beyond_63_bits(tmp_path: Path, id_of: object) -> None:
    path = tmp_path / "g.el"
    low = [f"{id_of(k)} {id_of(k + 1)} {k}" for k in range(20_000)]  # type: ignore[operator]
    path.write_text("\n".join([*low, f"{id_of(7)} {id_of(3)} {2**64 - 1}"]))  # type: ignore[operator]
    graph = read(path)
    assert graph.dtype == np.uint64
    assert sorted(graph.out_csr.data.tolist()) == [*range(20_000), 2**64 - 1]
    # No type holds these: the nearest numbers that one does.
    path.write_text("\n".join([f"{id_of(1)} {id_of(2)} -1", *low[2:], f"{id_of(7)} {id_of(3)} {2**64 - 1}"]))  # type: ignore[operator]
    assert sorted(read(path).out_csr.data.tolist()) == [-1, *range(2, 20_000), 2.0**64]


def test_files_of_earlier_versions(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text(
        "# hpgraph: 3 vertices, 2 edges, undirected by name\nsource,target,weight\nsource,target,5\na,b,6\n"
    )
    graph = read(path)
    assert list(graph.names) == ["source", "target", "a", "b"]
    assert sorted(graph.out_csr.data.tolist()) == [5, 5, 6, 6]
    assert not graph.directed
    path = tmp_path / "g.el"
    path.write_text("# hpgraph: 4 vertices, 2 edges, directed\n0 1 1.5\n1 2 2\n")
    assert arcs(read(path)) == [(0, 1), (1, 2)]
    assert read(path).n_vertices == 4


def test_the_comment_against_the_lines(tmp_path: Path) -> None:
    path = tmp_path / "g.el"
    path.write_text("# hpgraph: 3 vertices, 1 edges, directed, int8 weights\n0 1\n")
    raises(FileFormatError, "int8 weights announced, and there is no third column", read, path)
    # Changed by hand: kept, rather than squeezed into the type that was.
    path.write_text("# hpgraph: 3 vertices, 1 edges, directed, int8 weights\n0 1 300\n")
    assert read(path).out_csr.data.tolist() == [300]
    path.write_text("# hpgraph: 3 vertices, 1 edges, directed\n0 x\n")
    raises(FileFormatError, "line 2: vertex id 'x' is not a whole number", read, path)
