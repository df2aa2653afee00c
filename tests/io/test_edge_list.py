"""Edge lists: what is found out about a file, ids that are names, and files that are not what they seem."""

import gzip
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg
from hpgraph.core.errors import FileFormatError
from hpgraph.io import read


def put(folder: Path, text: str | bytes, name: str = "g.txt") -> Path:
    path = folder / name
    content = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def arcs(graph: hpg.Graph) -> list[tuple[int, int]]:
    csr = graph.out_csr
    rows = np.repeat(np.arange(graph.n_vertices), np.diff(csr.indptr))
    return list(zip(rows.tolist(), csr.indices.tolist(), strict=True))


@pytest.mark.parametrize("name", ["g.txt", "g.el", "g.wel", "g.tsv", "g.csv", "g.txt.gz", "g.csv.gz", "G.TXT"])
@pytest.mark.parametrize("delimiter", [" ", "\t", ",", ";", "   ", " , "])
@pytest.mark.parametrize("weights", [None, [5, 7, 9], [0.5, 7, 1e-3]])
def test_delimiters_are_found(tmp_path: Path, name: str, delimiter: str, weights: list[float] | None) -> None:
    rows = [[0, 1], [1, 2], [2, 0]]
    if weights is not None:
        rows = [[*row, weight] for row, weight in zip(rows, weights, strict=True)]
    graph = read(put(tmp_path, "".join(delimiter.join(map(str, row)) + "\n" for row in rows), name))
    assert arcs(graph) == [(0, 1), (1, 2), (2, 0)]
    assert graph.directed
    assert graph.names is None
    assert graph.weighted is (weights is not None)
    if weights is not None:
        assert graph.out_csr.data.tolist() == weights
        assert graph.out_csr.data.dtype == (np.int64 if weights[0] == 5 else np.float64)


def test_comments_blank_lines_and_line_ends(tmp_path: Path) -> None:
    text = "# Nodes: 3\r\n% more \xe9\r\n\r\n0 1\r\n# between\r\n  1 2  # after\r\n\r\n2 0"
    graph = read(put(tmp_path, text.encode("latin-1")))
    assert arcs(graph) == [(0, 1), (1, 2), (2, 0)]
    assert arcs(read(put(tmp_path, "// a\n0 1\n", "c.txt"), comments="//")) == [(0, 1)]
    with pytest.raises(FileFormatError, match=r"line 1"):
        read(put(tmp_path, "# a b c\n0 1\n", "d.txt"), comments=None)


def test_byte_order_mark(tmp_path: Path) -> None:
    assert arcs(read(put(tmp_path, b"\xef\xbb\xbf0,1\n1,2\n", "g.csv"))) == [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("source,target\n0,1\n", [(0, 1)]), ("Source;Target;Weight\n0;1;2.5\n", [(0, 1, 2.5)]),
        ("a,b\n0,1\n", [(0, 1)]), ("a,b,km\n0,1,3\n", [(0, 1, 3)]), ("target,source\n0,1\n", [(1, 0)]),
        ("Source,Target,Type,Id,Label,Weight\n0,1,Directed,17,,2.5\n1,0,Directed,18,x,3\n", [(0, 1, 2.5), (1, 0, 3)]),
        ("id,from,to,label\n7,0,1,x\n", [(0, 1)]), ("from,to,kind\n0,1,road\n", [(0, 1)]),
        ('"from","to","km"\n"0","1","3"\n', [(0, 1, 3)]),
    ],
)  # fmt: skip
def test_header_lines(tmp_path: Path, text: str, expected: list[tuple[float, ...]]) -> None:
    graph = read(put(tmp_path, text, "g.csv"))
    found = arcs(graph)
    if graph.weighted:
        found = [(*arc, weight) for arc, weight in zip(found, graph.out_csr.data.tolist(), strict=True)]  # type: ignore[misc]
    assert found == expected


def test_names_are_numbered_as_they_come(tmp_path: Path) -> None:
    text = 'from,to,km\n"Bonn, Rhein",Köln,30\nKöln,"the ""Trier""",150\n# Mainz,Bonn,1\nC#,Köln,1\n'
    graph = read(put(tmp_path, text, "g.csv"))
    assert list(graph.names) == ["Bonn, Rhein", "Köln", 'the "Trier"', "C#"]
    assert arcs(graph) == [(0, 1), (1, 2), (3, 1)]
    assert graph.out_csr.data.tolist() == [30, 150, 1]
    assert graph.index_of("Köln") == 1


def test_names_against_networkx(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    ends = random.integers(0, 90, (300, 2)).tolist()
    text = "".join(f"v{a:x} v{b:x} {w:.3f}\n" for (a, b), w in zip(ends, random.random(300), strict=True))
    path = put(tmp_path, "# names\n" + text, "g.wel")
    expected = nx.read_weighted_edgelist(path, create_using=nx.MultiDiGraph)
    lightest: dict[tuple[str, str], float] = {}
    for a, b, weight in expected.edges(data="weight"):
        lightest[a, b] = min(weight, lightest.get((a, b), np.inf))
    graph = read(path)
    assert list(graph.names) == list(expected)
    found = {(graph.names[a], graph.names[b]): w for (a, b), w in zip(arcs(graph), graph.out_csr.data, strict=True)}
    assert found == lightest


def test_sparse_ids_become_names(tmp_path: Path) -> None:
    text = "9223372036854775807 40\n40 7000000000000\n"
    graph = read(put(tmp_path, text))
    assert np.asarray(graph.names).tolist() == [40, 7000000000000, 9223372036854775807]
    assert arcs(graph) == [(0, 1), (2, 0)]
    assert graph.index_of(40) == 0


def test_which_numbers_are_names(tmp_path: Path) -> None:
    half_used = put(tmp_path, "0 1\n5 1\n")
    assert read(half_used).names is None
    assert read(half_used).n_vertices == 6
    sparser = put(tmp_path, "0 1\n6 1\n", "sparser.txt")
    assert np.asarray(read(sparser).names).tolist() == [0, 1, 6]
    assert read(sparser, names=False).n_vertices == 7
    assert read(sparser, n_vertices=9).n_vertices == 9
    assert read(sparser, n_vertices=9).names is None
    assert list(read(sparser, names=True).names) == ["0", "1", "6"]


def test_undirected(tmp_path: Path) -> None:
    graph = read(put(tmp_path, "0 1 4\n1 0 3\n1 2 5\n"), directed=False)
    assert arcs(graph) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert graph.out_csr.data.tolist() == [3, 3, 5, 5]
    assert not graph.directed


def test_weights_that_turn_fractional_late(tmp_path: Path) -> None:
    lines = [f"{k} {k + 1} {k}" for k in range(200)]
    lines[150] = "150 151 0.25"
    graph = read(put(tmp_path, "\n".join(lines)))
    assert graph.out_csr.data.dtype == np.float64
    assert graph.out_csr.data[150] == 0.25
    named = read(put(tmp_path, "\n".join("v" + line.replace(" ", " v", 1) for line in lines), "named.txt"))
    assert named.out_csr.data.tolist() == graph.out_csr.data.tolist()


def test_nan_weights_are_kept(tmp_path: Path) -> None:
    graph = read(put(tmp_path, "0 1 nan\n1 2 -inf\n2 0 1\n"))
    np.testing.assert_array_equal(graph.out_csr.data, [np.nan, -np.inf, 1])


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("0 1\n1 2\n2\n", 3, "2 fields expected (blanks between them), 1 found: '2'"),
        ("0,1\n1,2\n2,3,4\n", 3, "2 fields expected (a comma between them), 3 found: '2,3,4'"),
        ("0,1,5\n1,,2\n", 2, "vertex id '' is not a whole number"),
        ("# c\n0 1\n\n1 b\n", 4, "vertex id 'b' is not a whole number (names=True reads all ids as names): '1 b'"),
        ("0 1\n1 2.5\n", 2, "vertex id '2.5' is not a whole number"),
        ("0 1\n1 1_0\n", 2, "vertex id '1_0' is not a whole number"),
        ("0 1\n1 -2\n", 2, "vertex id -2 is negative"),
        ("-1 0\n", 1, "vertex id -1 is negative"),
        ("0 1\n1 9223372036854775808\n", 2, "vertex id 9223372036854775808 does not fit 64 bits"),
        ("0 1\n1 " + "9" * 5000 + "\n", 2, "does not fit 64 bits"),
        ("0 1 0.5\n1 2 heavy\n", 2, "weight 'heavy' is not a number: '1 2 heavy'"),
        ("0 1 knows\n1 2 knows\n", 1, "the weight, column 3, is not a number: 'knows'"),
        ("0 1 {}\n1 2 {}\n", 1, "the weight, column 3, is not a number: '{}'"),
        ("0\n1\n", 1, "2 fields expected (blanks between them), 1 found: '0'"),
        ("a b\nb\n", 2, "2 fields expected (blanks between them), 1 found: 'b'"),
        ("a,b\nb,\n", 2, "a vertex without a name"),
        ("a b 1\nb c x\n", 2, "weight 'x' is not a number"),
        (b"a b\nb \xff\n", 2, "a name that is not UTF-8"),
    ],
)
@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_malformed_files_name_the_line(tmp_path: Path, text: str | bytes, line: int, reason: str, suffix: str) -> None:
    path = put(tmp_path, text, f"bad{suffix}")
    with pytest.raises(FileFormatError) as caught:
        read(path)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert reason in str(caught.value)


def test_line_number_far_into_a_file(tmp_path: Path) -> None:
    lines = [f"{k % 700}\t{k % 900}\t0.5" for k in range(70_000)]
    lines[65_000] = "17\t4"
    with pytest.raises(FileFormatError, match="3 fields expected") as caught:
        read(put(tmp_path, "# a comment\n" + "\n".join(lines)))
    assert caught.value.line == 65_002


@pytest.mark.parametrize("text", ["", "\n\n", "# only\n% comments\n", "source,target\n"])
def test_no_edge_at_all(tmp_path: Path, text: str) -> None:
    path = put(tmp_path, text, "none.csv")
    raises(FileFormatError, r"no edge in the file; n_vertices=\.\.\. makes a graph", read, path)
    graph = read(path, n_vertices=4)
    assert (graph.n_vertices, graph.n_edges) == (4, 0)


def test_ids_beyond_n_vertices(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"line 2: vertex id 7 is not below n_vertices=5: '7 1'"):
        read(put(tmp_path, "0 1\n7 1\n"), n_vertices=5)


def test_names_and_numbers_by_option(tmp_path: Path) -> None:
    named = put(tmp_path, "a b\nb c\n")
    raises(FileFormatError, "line 1: vertex id 'a' is not a whole number", read, named, names=False)
    raises(ValueError, "n_vertices is for ids that are vertex numbers", read, named, n_vertices=7)


def test_truncated_gzip(tmp_path: Path) -> None:
    text = "".join(f"{k * 7919 % 1000} {k * 104729 % 1000}\n" for k in range(30_000))
    path = put(tmp_path, text, "cut.txt.gz")
    content = path.read_bytes()
    for keep in (20, len(content) // 2, len(content) - 6):
        path.write_bytes(content[:keep])
        with pytest.raises(FileFormatError, match="compressed data end early or are damaged") as caught:
            read(path)
        assert caught.value.line is not None
    assert 25_000 < caught.value.line <= 30_001


def test_damaged_gzip(tmp_path: Path) -> None:
    text = "".join(f"{k * 7919 % 1000} {k * 104729 % 1000}\n" for k in range(30_000))
    path = put(tmp_path, text, "hurt.txt.gz")
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 40] = b"\xaa" * 40
    path.write_bytes(content)
    with pytest.raises(FileFormatError):
        read(path)


def test_a_given_delimiter(tmp_path: Path) -> None:
    assert arcs(read(put(tmp_path, "0|1\n1|2\n"), delimiter="|")) == [(0, 1), (1, 2)]
    spaced = read(put(tmp_path, "New York\tSan Juan\n", "g.tsv"))
    assert list(spaced.names) == ["New York", "San Juan"]
    assert list(read(put(tmp_path, "a,b c,d\n"), delimiter=" ").names) == ["a,b", "c,d"]
    for unfit in ("", "||", "#", '"', "\n"):
        raises(ValueError, "delimiter must be one character", read, put(tmp_path, "0|1\n"), delimiter=unfit)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any")


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='0123 \t,;#\n-."ab%e+_', max_size=60), st.sampled_from([".txt", ".csv", ".tsv"]))
def test_edge_lists(place: Path, text: str, suffix: str) -> None:
    path = place / f"any{suffix}"
    path.write_text(text, newline="")
    try:
        graph = read(path)
    except FileFormatError as error:
        assert str(error).startswith(str(path))
    else:
        assert graph.n_vertices >= 0


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.floats(allow_nan=False, width=32) | st.integers(-9, 9)),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from([" ", "\t", ",", ", ", " ; "]),
    st.lists(st.sampled_from(["", "# c", "% 1 2 3", "   "]), max_size=12),
)
def test_numbers_as_a_plain_loop_reads_them(
    place: Path, rows: list[tuple[int, int, float]], delimiter: str, between: list[str]
) -> None:
    path = place / "numbers.txt"
    lines = [delimiter.join(map(repr, row)) for row in rows]
    for at, line in enumerate(between):
        lines.insert(2 * at, line)
    path.write_text("\n".join(lines))
    expected: dict[tuple[int, int], float] = {}
    for u, v, weight in rows:
        expected[u, v] = min(weight, expected.get((u, v), np.inf))
    graph = read(path, names=False)
    csr = graph.out_csr
    source = np.repeat(np.arange(graph.n_vertices), np.diff(csr.indptr)).tolist()
    assert dict(zip(zip(source, csr.indices.tolist(), strict=True), csr.data.tolist(), strict=True)) == expected


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["real", "pattern", "integer", "complex", ""]),
    st.sampled_from(["general", "symmetric", "skew-symmetric", "hermitian"]),
    st.text(alphabet="0123 \t\n-.a%", max_size=60),
)
def test_matrix_market(place: Path, field: str, symmetry: str, text: str) -> None:
    path = place / "any.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{text}", newline="")
    try:
        graph = read(path)
    except FileFormatError as error:
        assert str(error).startswith(str(path))
    else:
        assert field in ("real", "pattern", "integer")
        assert graph.weighted is (field != "pattern")
