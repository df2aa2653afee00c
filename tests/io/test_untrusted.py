"""Files that ended the process, or took its memory: read by a process of their own, which must live and stay small."""

import gzip
import io
import resource
import shutil
import struct
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from new_process import printed
from raising import raises

import hpgraph as hpg
from hpgraph.core.errors import DeviceMemoryError, FileFormatError
from hpgraph.io.memory import Budget
from hpgraph.io.stream import LONGEST_LINE

REAL = b"%%MatrixMarket matrix coordinate real general\n"
ARRAY = b"%%MatrixMarket matrix array real "

READ = """
import sys, resource, hpgraph as hpg
hpg.Graph.from_edges([0], [1], [2.5])
for path in sys.argv[1:]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        graph = hpg.read(path)
        said = f"{graph.n_vertices} {graph.n_edges}"
    except Exception as error:
        said = f"{type(error).__name__}: {error}".replace("\\n", " ")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, said, flush=True)
"""


def read_apart(*paths: Path) -> list[tuple[int, str]]:
    """KiB that each file took at the peak, and the graph's vertices and edges or what was raised."""
    lines = printed(READ, *paths).splitlines()
    return [(int(grown), said) for grown, said in (line.split(" ", 1) for line in lines)]


def packed(**arrays: Any) -> bytes:
    target = io.BytesIO()
    np.savez_compressed(target, **arrays)
    return target.getvalue()


def csr(**changed: Any) -> dict[str, Any]:
    """A 3 x 3 array as SciPy saves it, with some arrays replaced."""
    whole = {
        "format": np.array(b"csr"), "shape": np.array([3, 3]), "indptr": np.array([0, 1, 2, 3]),
        "indices": np.array([1, 2, 0]), "data": np.ones(3),
    }  # fmt: skip
    return {**whole, **changed}


def test_matrix_market_that_ends_scipys_parser(tmp_path: Path) -> None:
    cases = {
        ARRAY + b"general\n0 0\n": "0 0",
        ARRAY + b"general\n0 0\n1\n": "too many",
        ARRAY + b"general\n0 5\n": "0 x 5 matrix",
        ARRAY + b"symmetric\n2 5\n" + 10 * b"1\n": "2 x 5 matrix",
        ARRAY + b"skew-symmetric\n1 1\n5\n": "too many",
        ARRAY + b"skew-symmetric\n1 1\n": "1 0",
        ARRAY + b"symmetric\n3 3\n1\n2\n3\n": "3 entries too early",
        ARRAY + b"symmetric\n2 2\n1\n2\n3\n4\n": "too many",
        REAL + b"2 2 2\n1 1 1\n2 2 1 ": "2 2",
        REAL + b"2 2 2\n1 1 1\n2 2 1junk": "2 2",
        REAL + b"2 2 2\n1 1 1\n2 2 ": "invalid floating-point value",
        REAL + b"2 2 1\n1 1 1\0\n": "line 3: a NUL byte",
        REAL + b"2 2 1\n1 1 1 \0": "line 3: a NUL byte",
        REAL + b"2 2 1\n1 1 1\n\0\0\0": "line 4: a NUL byte",
        REAL + b"-1 -1 -1\n1 1 1\n": "the size of the matrix",
        REAL + b"9223372036854775808 9223372036854775808 0\n": "do not fit 64 bits",
        REAL + b"9223372036854775807 9223372036854775807 0\n": "DeviceMemoryError",
        ARRAY + b"general\n4294967296 4294967296\n1\n": "more than a file of this size can hold",
    }
    paths = [tmp_path / f"{at}.mtx" for at in range(len(cases))]
    for path, content in zip(paths, cases, strict=True):
        path.write_bytes(content)
    for (content, expected), (_, said) in zip(cases.items(), read_apart(*paths), strict=True):
        assert expected in said, content


def test_array_with_triangle_of_each_symmetry(tmp_path: Path) -> None:
    path = tmp_path / "g.mtx"
    path.write_bytes(ARRAY + b"symmetric\n3 3\n1\n2\n0\n4\n5\n6\n")
    assert hpg.read(path).out_csr.to_scipy().toarray().tolist() == [[1, 2, 0], [2, 4, 5], [0, 5, 6]]
    path.write_bytes(ARRAY + b"skew-symmetric\n3 3\n1\n2\n3\n")
    assert hpg.read(path).out_csr.to_scipy().toarray().tolist() == [[0, -1, -2], [1, 0, -3], [2, 3, 0]]


def test_archives_whose_arrays_do_not_fit_each_other(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        (csr(indptr=np.array([0, 10**7, 3, 3])), "not decrease"),
        (csr(indptr=np.array([0, 1, 2, 4])), "from 0 to 4"),
        (csr(indptr=np.array([0, 1, 3])), "indptr of shape (3,) for 3 rows"),
        (csr(indptr=np.array([0.0, 1, 2, 3])), "indptr holds float64"),
        (csr(indices=np.array([1, 2, 10**7])), "indices holds 10000000"),
        (csr(indices=np.array([1, 2, -1])), "indices holds -1"),
        (csr(indices=np.array([1, 2])), "indices of shape (2,) for 3 rows and data of shape (3,)"),
        (csr(shape=np.array([10**12, 10**12])), "indptr of shape (4,)"),
        (csr(format=np.array(b"coo"), shape=np.array([2**62] * 2), row=np.arange(3), col=np.arange(3)), "DeviceMemory"),
        (csr(shape=np.array([-3, -3])), "-3 rows"),
        (csr(format=np.array(b"csc"), indptr=np.array([0, 10**7, 3, 3])), "not decrease"),
        (csr(format=np.array(b"bsr"), data=np.ones((3, 2, 2))), "do not divide 3 rows"),
        (csr(format=np.array(b"bsr"), data=np.ones((3, 1, 1)), indices=np.array([1, 2, 9])), "indices holds 9"),
        (csr(format=np.array(b"coo"), row=np.array([0, 1, 7]), col=np.array([0, 1, 2])), "row holds 7"),
        (csr(format=np.array(b"dia"), offsets=np.array([0, 1]), data=np.ones((3, 3))), "offsets of shape (2,)"),
        (csr(format=np.array(7)), "format is not a text"),
        (csr(format=np.array(b"lil")), "'lil'; known are"),
        (csr(data=np.array([1, None, 2])), "object"),
        (csr(hpgraph_names=np.array(["a", "b"])), "2 names"),
        (csr(hpgraph_names=np.array([1.5, 2, 3])), "names of type float64"),
        (csr(hpgraph_directed=np.array([1, 0])), "hpgraph_directed is True or False"),
    ]
    paths = [tmp_path / f"{at}.npz" for at in range(len(cases))]
    for path, (arrays, _) in zip(paths, cases, strict=True):
        path.write_bytes(packed(**arrays))
    for (arrays, expected), (_, said) in zip(cases, read_apart(*paths), strict=True):
        assert expected in said, arrays


def test_two_arrays_of_one_name_in_an_archive(tmp_path: Path) -> None:
    for at, name in enumerate(("data.npy", "data")):
        path = tmp_path / f"{at}.npz"
        path.write_bytes(packed(**csr()))
        with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings(action="ignore"):
            archive.writestr(name, archive.read("indices.npy"))
        raises(hpg.FileFormatError, "two arrays are called 'data'", hpg.read, path)


def test_a_pickle_in_an_archive_is_not_loaded(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    opened = type("Opened", (), {"__reduce__": lambda self: (open, (str(ran), "w"))})()
    names = np.empty(3, object)
    names[0] = opened
    path = tmp_path / "g.npz"
    path.write_bytes(packed(**csr(hpgraph_names=names)))
    raises(FileFormatError, "array of object, not of numbers or text", hpg.read, path)
    assert not ran.exists()


def test_a_line_without_an_end_takes_no_memory(tmp_path: Path) -> None:
    size = 256 << 20
    paths = []
    for name, top in (
        ("g.el.gz", b""),
        ("h.el.gz", b"0 1\n"),
        ("g.mtx.gz", b""),
        ("h.mtx.gz", REAL + b"9 9 9\n1 1 1\n"),
    ):
        paths.append(tmp_path / name)
        with gzip.open(paths[-1], "wb", 1) as target:
            target.write(top)
            for _ in range(size >> 20):
                target.write(b"1" * (1 << 20))
    for (grown, said), line in zip(read_apart(*paths), (1, 2, 1, 4), strict=True):
        assert f"line {line}: a line of more than {LONGEST_LINE} bytes" in said
        assert grown < 32 << 10


def test_the_longest_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "g.el"
    path.write_bytes(b"# " + b"x" * (LONGEST_LINE - 3) + b"\n0 1\n")
    assert hpg.read(path).n_edges == 1


def test_a_zip_bomb_is_seen_by_its_headers(tmp_path: Path) -> None:
    count = 64 << 20
    path = tmp_path / "g.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        arrays = csr()
        del arrays["data"]
        for name, array in arrays.items():
            with target.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array)
        with target.open("data.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (count,)})
            for _ in range(8 * count >> 20):
                member.write(bytes(1 << 20))
    assert path.stat().st_size < 4 << 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # It is not as long as the indices; and one that is, but for the last offset, is seen by its size.
    raises(FileFormatError, r"indices of shape \(3,\) for 3 rows and data of shape \(67108864,\)", hpg.read, path)
    path.write_bytes(packed(**csr(indices=np.zeros(count >> 3, np.int8), data=np.zeros(count >> 3, np.int8))))
    with pytest.raises(DeviceMemoryError, match=r"the array of 3 rows in .* and 64.0 MiB may be taken \(memory="):
        hpg.read(path, memory="64MiB")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10


@pytest.mark.parametrize("name", ["g.el", "n.el", "g.mtx", "g.npz"])
def test_memory_bounds_what_is_read(tmp_path: Path, name: str) -> None:
    m = 30_000
    source, target = np.random.default_rng(0).integers(0, 9_000, (2, m))
    names = [f"v{k}" for k in range(9_000)] if name == "n.el" else None
    graph = hpg.Graph.from_edges(source, target, np.ones(m), n_vertices=9_000, names=names)
    hpg.io.write(graph, tmp_path / name)
    with pytest.raises(DeviceMemoryError, match=r"500.0 KiB may be taken \(memory=... allows more\)"):
        hpg.read(tmp_path / name, memory="500 KiB")
    assert hpg.read(tmp_path / name, memory=1 << 30).n_edges == graph.n_edges


def test_many_vertices_in_few_bytes(tmp_path: Path) -> None:
    path = tmp_path / "g.el"
    path.write_text("# hpgraph: 1000000000 vertices, 1 edges, directed\n0 1\n")
    raises(DeviceMemoryError, "a graph of 1000000000 vertices", hpg.read, path, memory="1GB")


def test_amounts_of_memory() -> None:
    amounts = {7: 7, "7": 7, "2kb": 2000, "2 KiB": 2048, "1.5GiB": 3 << 29, "1TB": 10**12, np.int64(9): 9}
    assert {amount: Budget.of(amount).nbytes for amount in amounts} == amounts  # type: ignore[arg-type]
    for unfit in ("", "four", "4 GiBs", "-1", "0", 0, -5, "1e9"):
        raises(ValueError, "memory must be", Budget.of, unfit)
    with pytest.raises(TypeError, match=r"memory must be a whole number of bytes, .* not 1\.5"):
        Budget.of(1.5)  # type: ignore[arg-type]


def test_scipys_arrays_longer_than_their_last_offset(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    path.write_bytes(packed(**csr(indices=np.array([1, 2, 0, 1]), data=np.ones(4))))
    assert hpg.read(path).n_edges == scipy.sparse.load_npz(path).nnz == 3


WITHIN = """
import os, resource, sys
import hpgraph as hpg
small, *paths = sys.argv[1:]
for name in sorted(os.listdir(small)):
    hpg.read(os.path.join(small, name))
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (128 << 20),) * 2)
for path in paths:
    try:
        graph = hpg.read(path, memory="64MiB")
        print(graph.n_vertices, graph.n_edges, flush=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}", flush=True)
"""


def bomb(path: Path, *parts: bytes | tuple[bytes, int]) -> None:
    """A compressed file of some pieces, or of one so many times."""
    with gzip.open(path, "wb", 1) as target:
        for part in parts:
            piece, times = (part, 1) if isinstance(part, bytes) else part
            for _ in range(times):
                target.write(piece)


def varint(number: int) -> bytes:
    """As Thrift writes a number that is not negative."""
    number *= 2
    groups = [number >> 7 * k & 127 for k in range(max(-(-number.bit_length() // 7), 1))]
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def lie_of_sizes(path: Path) -> None:
    """Have the footer of a Parquet file say of each column that it takes some bytes, decompressed."""
    import pyarrow.parquet

    metadata = pyarrow.parquet.read_metadata(path)
    content = path.read_bytes()
    begin = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = content[begin:]
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            true = varint(column.total_uncompressed_size)
            footer = footer.replace(true, bytes([128 | 100, *[128] * (len(true) - 2), 0]))
    path.write_bytes(content[:begin] + footer)
    said = pyarrow.parquet.read_metadata(path).row_group(0).column(0)
    assert said.total_uncompressed_size == 50


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is of the address space, whose size Linux says")
def test_memory_holds_for_every_reader(tmp_path: Path) -> None:
    """Under a limit of the system, 128 MiB above what the process has."""
    feather, parquet = pytest.importorskip("pyarrow.feather"), pytest.importorskip("pyarrow.parquet")
    import pyarrow

    small = tmp_path / "small"
    small.mkdir()
    graph = hpg.Graph.from_edges([0, 1], [1, 2], names=["a", "b", "c"], directed=False)
    for suffix in (".graph", ".graphml", ".gr", ".hpg", ".parquet", ".feather", ".csv"):
        hpg.write(graph, small / f"g{suffix}")
    mega = 1 << 20
    top = b"<graphml><key id='w' for='edge' attr.name='weight' attr.type='double'/><graph><node id='a'>"
    edge = b"</node><edge source='a' target='a'><data key='w'>"
    tag, line = "a tag, or a comment, of more than", "what was read of"
    bombs: dict[str, tuple[str, tuple[Any, ...]]] = {
        "blank.graph.gz": (line, (b"4000000 0\n", (b"\n" * mega, 4))),
        "empty.graphml.gz": ("2 0", (top, (b"<data/>" * mega, 1), b"</node><node id='b'/></graph></graphml>")),
        "deep.graphml.gz": ("more than 1000 elements", (top, (b"<data>" * mega, 2))),
        "text.graphml.gz": ("a weight of more than 5000", (top, edge, (b"1" * mega, 100))),
        "tag.graphml.gz": (tag, (top, b"<data key='", (b"x" * mega, 100))),
        "comment.graphml.gz": (tag, (top, b"<!--", (b"x" * mega, 100))),
        "ids.graphml.gz": (line, (top, *(b"<data/></node><node id='%d" % k + b"x" * mega + b"'>" for k in range(60)))),
        "long.gr.gz": (line, (b"p sp 9 100\n", (b"a 1 2 3" + b" " * (mega - 9) + b"\n", 100))),
        "long.csv.gz": ("edges and more of", tuple(b"%d" % k + b"x" * (mega >> 1) + b",b\n" for k in range(200))),
    }  # fmt: skip
    expected = {}
    for name, (says, parts) in bombs.items():
        bomb(tmp_path / name, *parts)
        expected[name] = says
    for suffix, content in ((".v", b"0\n1\n"), (".e", b"0 1\n")):
        (tmp_path / f"g{suffix}").write_bytes(content)
    with (tmp_path / "g.properties").open("wb") as file:
        file.truncate(1 << 30)
    expected["g.e"] = "g.properties, line 1: a line of more than"
    zeros, names = np.zeros(1 << 23, np.int64), [f"{k}{'x' * mega}" for k in range(200)]
    for name, column in (("zeros", zeros), ("names", names)):
        table = pyarrow.table({"source": column, "target": column})
        parquet.write_table(table, tmp_path / f"{name}.parquet", compression="zstd", use_dictionary=False)
        feather.write_feather(table, tmp_path / f"{name}.feather", compression="zstd", chunksize=1 << 23)
        expected |= {f"{name}{suffix}": "64.0 MiB may be taken" for suffix in (".parquet", ".feather")}
    shutil.copy(tmp_path / "names.parquet", tmp_path / "lie.parquet")
    lie_of_sizes(tmp_path / "lie.parquet")
    expected["lie.parquet"] = "a batch of rows of"
    wide = pyarrow.array([b"x" * mega] * 100, pyarrow.binary(mega))
    parquet.write_table(pyarrow.table({"source": zeros[:100], "target": wide}), tmp_path / "wide.parquet")
    expected["wide.parquet"] = "column target holds fixed_size_binary[1048576], not numbers or text"
    listed = [*map(str, range(699)), "\ud800" + "x" * mega]
    hpg.write(hpg.Graph.from_edges(range(700), range(700), names=listed), tmp_path / "names.hpg")
    expected["names.hpg"] = "700 700"
    assert hpg.read(tmp_path / "names.hpg").names.tolist() == listed
    files = [tmp_path / name for name in expected]
    found = printed(WITHIN, small, *files, ARROW_DEFAULT_MEMORY_POOL="system", MALLOC_ARENA_MAX=1)
    for (name, says), said in zip(expected.items(), found.splitlines(), strict=True):
        assert says in said and not said.startswith("MemoryError"), (name, said)


def test_offsets_of_an_arrow_file_that_lead_out_of_it(tmp_path: Path) -> None:
    pyarrow, feather = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    names = ["a", "bb", "ccc", "dddd"]
    path = tmp_path / "g.feather"
    feather.write_feather(pyarrow.table({"source": names, "target": names[::-1]}), path, compression="uncompressed")
    whole, offsets = path.read_bytes(), np.array([0, 1, 3, 6, 10], "<i4")
    paths = []
    for at, forged in enumerate(([0, 1, 3, 6, 2**31 - 1], [2**30] * 5, [0, -(2**31), 3, 6, 10], [0, 6, 3, 1, 10])):
        paths.append(tmp_path / f"{at}.feather")
        paths[-1].write_bytes(whole.replace(offsets.tobytes(), np.array(forged, "<i4").tobytes()))
        assert paths[-1].read_bytes() != whole
    for _, said in read_apart(*paths):
        assert "FileFormatError" in said and "no whole .feather file" in said


def test_every_byte_of_the_footer_of_a_parquet_file(tmp_path: Path) -> None:
    """Some of a histogram's length end the process in pyarrow."""
    parquet = pytest.importorskip("pyarrow.parquet")
    hpg.Graph.from_edges([0, 1], [1, 2]).save(tmp_path / "g.parquet")
    whole = (tmp_path / "g.parquet").read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    assert footer > 0 and parquet.read_metadata(tmp_path / "g.parquet").num_row_groups == 1
    paths = []
    for at in range(footer, len(whole)):
        paths.append(tmp_path / f"{at}.parquet")
        paths[-1].write_bytes(whole[:at] + bytes([0]) + whole[at + 1 :])
    refused = 0
    for name, said in read_apart(*paths):
        assert said == "3 2" or said.startswith("FileFormatError"), (name, said)
        refused += said.startswith("FileFormatError")
    assert refused > 100


def test_an_arrow_file_cut_short_while_it_is_read(tmp_path: Path) -> None:
    pyarrow, feather = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    path = tmp_path / "g.feather"
    ids = np.arange(200_000)
    feather.write_feather(
        pyarrow.table({"source": ids, "target": ids}), path, compression="uncompressed", chunksize=50_000
    )
    script = """
import sys
from pathlib import Path
from hpgraph import FileFormatError
from hpgraph.io.arrow_stream import arrow_stream
from hpgraph.io.memory import Budget
path = Path(sys.argv[1])
blocks = arrow_stream(path, False, Budget(1 << 30), n_vertices=None, names=None).blocks()
assert len(next(blocks)[0]) == 50_000
with path.open("r+b") as file:
    file.truncate(1_000_000)
try:
    print(sum(len(block[0]) for block in blocks))
except FileFormatError as error:
    print("refused:", error)
"""
    said = printed(script, path)
    assert "refused:" in said and "no whole .feather" in said


def test_ids_of_64_bits_without_a_sign(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for largest in (7, 2**63):
        ids = np.array([1, largest], np.uint64)
        parquet.write_table(pyarrow.table({"source": ids, "target": ids[::-1]}), tmp_path / "g.parquet")
        if largest == 7:
            assert hpg.read(tmp_path / "g.parquet", names=False).n_vertices == 8
        else:
            for act in (lambda: hpg.read(tmp_path / "g.parquet"),
                        lambda: hpg.convert(tmp_path / "g.parquet", tmp_path / "g.hpg")):  # fmt: skip
                raises(FileFormatError, r"vertex 9223372036854775808 of column source does not fit", act)


@pytest.mark.parametrize(
    ("error", "becomes"),
    [(KeyError("x"), True), (OverflowError("x"), True), (struct.error("x"), True), (ValueError("x"), True),
     (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), True), (AttributeError("x"), False), (TypeError("x"), False),
     (AssertionError("x"), False)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_a_parser_raises_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, becomes: bool
) -> None:
    """An error that a damaged file can cause becomes one of ours, with its cause; a fault of the reader's does not."""
    from hpgraph.io.kinds import KINDS

    def reads(*given: Any, **more: Any) -> Any:
        raise error

    monkeypatch.setitem(KINDS, "METIS", KINDS["METIS"]._replace(read=reads))
    path = tmp_path / "g.graph"
    for act in (lambda: hpg.read(path), lambda: hpg.convert(path, tmp_path / "g.hpg")):
        with pytest.raises(Exception, match="x") as raised:
            act()
        if becomes:
            assert type(raised.value) is FileFormatError and str(path) in str(raised.value)
            assert raised.value.__cause__ is error and type(error).__name__ in str(raised.value)
        else:
            assert raised.value is error


def test_an_unknown_encoding(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    path.write_text("<?xml version='1.0' encoding='klingon'?><graphml/>")
    with pytest.raises(FileFormatError, match="klingon") as raised:
        hpg.read(path)
    assert isinstance(raised.value.__cause__, LookupError)
