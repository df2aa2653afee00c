"""Files made into ``.hpg`` in little memory hold what `hpgraph.read` reads, whatever happens on the way."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from new_process import printed
from raising import raises
from test_hpg import same as same_arcs

import hpgraph as hpg
from hpgraph.cli import main
from hpgraph.core.errors import DeviceMemoryError, FileFormatError, MissingExtraError
from hpgraph.io.arc_sorter import ArcSorter

# So little that some tens of thousands of arcs are sorted in several runs.
LITTLE = 26 << 20
ROOT = Path(__file__).parents[2]


def same(found, graph):
    same_arcs(found, graph)
    if graph.names is None:
        assert found.names is None
    else:
        np.testing.assert_array_equal(found.names, graph.names)
        assert found.names.dtype.kind == graph.names.dtype.kind


def edges(n, count, seed=0):
    return np.random.default_rng(seed).integers(0, n, (2, count)) ** 2 // n


def written(path, *columns, header=None, comment=""):
    lines = [" ".join(map(str, row)) for row in zip(*(column.tolist() for column in columns), strict=True)]
    path.write_text("\n".join([*([header] if header else []), *lines]) + "\n" + comment)
    return path


@pytest.mark.parametrize("suffix", [".el", ".csv.gz", ".mtx", ".mtx.gz", ".npz", ".hpg"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", [None, "int64", "float64"])
def test_every_format(tmp_path, suffix, directed, dtype):
    source, target = edges(2000, 60_000)
    weight = None if dtype is None else np.random.default_rng(1).integers(0, 99, source.size).astype(dtype)
    graph = hpg.Graph.from_edges(source, target, weight, n_vertices=2000, directed=directed)
    graph.save(tmp_path / f"graph{suffix}")
    hpg.convert(tmp_path / f"graph{suffix}", tmp_path / "made.hpg", memory=LITTLE, arcs_per_page=3000)
    same(hpg.read(tmp_path / "made.hpg"), hpg.read(tmp_path / f"graph{suffix}"))
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("directed", [None, False])
@pytest.mark.parametrize("kind", ["dense", "sparse", "wide", "wide text", "text", "titled"])
def test_ids_of_all_kinds(tmp_path, kind, directed):
    source, target = edges(900, 20_000)
    names = np.random.default_rng(2).choice(2**31, 900, replace=False)
    if kind == "sparse":
        source, target = names[source], names[target]
    elif kind.startswith("wide"):
        source, target = names[source] * 2**31 + 7, names[target] * 2**31 + 7
    weight = np.random.default_rng(3).integers(1, 9, source.size)
    path = written(tmp_path / "edges.txt", source, target, weight)
    if kind == "text" or kind == "wide text":
        path.write_text("".join(f"v{a}\tv{b}\t{w}\n" for a, b, w in zip(source, target, weight, strict=True)))
    elif kind == "titled":
        path = written(tmp_path / "edges.tsv", weight, source, target, header="w from to")
    hpg.convert(path, tmp_path / "made.hpg", memory=LITTLE, directed=directed)
    same(hpg.read(tmp_path / "made.hpg"), hpg.read(path, directed=directed))


@pytest.mark.parametrize("arguments", [{"names": True}, {"names": False}, {"n_vertices": 5000}])
def test_ids_option(tmp_path, arguments):
    source, target = edges(900, 3000)
    path = written(tmp_path / "edges.txt", source + 100, target + 100)
    hpg.convert(path, tmp_path / "made.hpg", **arguments)
    same(hpg.read(tmp_path / "made.hpg"), hpg.read(path, **arguments))


def test_weights_of_types_that_change_on_the_way(tmp_path):
    count = 30_000
    source, target = edges(5000, count)
    for last in ("0.5", str(2**63), "-3"):
        lines = [f"{a} {b} {k}" for k, (a, b) in enumerate(zip(source, target, strict=True))]
        lines[-1] = f"0 0 {last}"
        (tmp_path / "edges.txt").write_text("\n".join(lines))
        hpg.convert(tmp_path / "edges.txt", tmp_path / "made.hpg", memory=LITTLE)
        same(hpg.read(tmp_path / "made.hpg"), hpg.read(tmp_path / "edges.txt"))


@pytest.mark.parametrize("suffix", [".el", ".mtx", ".npz", ".hpg"])
@pytest.mark.parametrize("dtype", [None, "float64"])
def test_graphs_without_arcs(tmp_path, suffix, dtype):
    weight = None if dtype is None else np.empty(0, dtype)
    graph = hpg.Graph.from_edges([], [], weight, n_vertices=3)
    graph.save(tmp_path / f"graph{suffix}")
    hpg.convert(tmp_path / f"graph{suffix}", tmp_path / "made.hpg")
    same(hpg.read(tmp_path / "made.hpg"), hpg.read(tmp_path / f"graph{suffix}"))


def test_transposed_and_summed(tmp_path):
    source, target = edges(300, 20_000)
    weight = np.arange(source.size)
    path = written(tmp_path / "edges.txt", source, target, weight)
    hpg.convert(path, tmp_path / "made.hpg", transpose=True, duplicates="sum", memory=LITTLE)
    n = 1 + int(max(source.max(), target.max()))
    expected = np.zeros((n, n), dtype=np.int64)
    np.add.at(expected, (target, source), weight)
    found = hpg.read(tmp_path / "made.hpg").out_csr
    np.testing.assert_array_equal(found.to_scipy().toarray(), expected)
    hpg.convert(path, tmp_path / "made.hpg", directed=False, duplicates="sum", memory=LITTLE)
    both = expected + expected.T - np.diag(np.diag(expected))
    np.testing.assert_array_equal(hpg.read(tmp_path / "made.hpg").out_csr.to_scipy().toarray(), both)


def test_a_file_takes_its_own_place(tmp_path):
    graph = hpg.Graph.from_edges(*edges(100, 900), n_vertices=100)
    graph.save(tmp_path / "graph.hpg", compression="none")
    hpg.convert(tmp_path / "graph.hpg", tmp_path / "graph.hpg", transpose=True)
    np.testing.assert_array_equal(hpg.read(tmp_path / "graph.hpg").out_csr.indices, graph.in_csr.indices)


def test_blank_lines_among_the_entries_are_no_entries(tmp_path):
    text = b"%%MatrixMarket matrix coordinate pattern general\n4 4 3\n1 2\n\r\n2 3\n \t\n\n4 1\n\r"
    (tmp_path / "graph.mtx").write_bytes(text)
    hpg.convert(tmp_path / "graph.mtx", tmp_path / "made.hpg")
    graph = hpg.read(tmp_path / "graph.mtx")
    assert graph.n_edges == 3
    same(hpg.read(tmp_path / "made.hpg"), graph)


def test_the_sorter_against_a_sort(tmp_path):
    rng = np.random.default_rng(0)
    first_of = np.frompyfunc(lambda there, _: there, 2, 1)
    for duplicates, ufunc in (("min", np.minimum), ("sum", np.add), ("max", np.maximum), ("first", first_of)):
        sorter = ArcSorter(tmp_path, 64 * 1500, duplicates)
        expected: dict[tuple[int, int], int] = {}
        for _ in range(30):
            first, second, weight = rng.integers(0, 60, 700), rng.integers(0, 2**32, 700) % 80, rng.integers(0, 99, 700)
            sorter.add(first, second, weight)
            for a, b, w in zip(first.tolist(), second.tolist(), weight.tolist(), strict=True):
                expected[a, b] = int(ufunc(expected[a, b], w)) if (a, b) in expected else w
        pieces = list(sorter.sorted())
        assert len(pieces) > 1
        found = [tuple(row) for piece in pieces for row in np.column_stack(piece).tolist()]
        assert found == [(a, b, w) for (a, b), w in sorted(expected.items())]
        np.testing.assert_array_equal(sorter.ids(), np.unique([end for key in expected for end in key]))
    assert not list(tmp_path.iterdir())


def test_bad_input(tmp_path):
    path = written(tmp_path / "edges.txt", *edges(100, 900))
    made = tmp_path / "made.hpg"
    for change, kind, message in (
        ({"duplicates": "last"}, ValueError, 'duplicates must be "sum", "min", "max", "first", "keep" or "error"'),
        ({"duplicates": "error"}, ValueError, r"entry \(\d+, \d+\) is given more than once"),
        ({"compression": "zip"}, ValueError, "compression must be"),
        ({"arcs_per_page": 0}, ValueError, "arcs_per_page must be"),
        ({"memory": "1MiB"}, DeviceMemoryError, r"a conversion needs 25\.0 MiB"),
        ({"memory": "lots"}, ValueError, "memory must be"),
        ({"n_vertices": 50}, FileFormatError, r"edges\.txt, line \d+: vertex id \d+ is not below n_vertices=50"),
    ):
        raises(kind, message, hpg.convert, path, made, **change)
    raises(ValueError, r"converted to \.hpg", hpg.convert, path, tmp_path / "made.npz")
    path.write_text("0 1\n1 two\n")
    raises(FileFormatError, r"edges\.txt, line 2", hpg.convert, path, made)
    path.write_text("0 1\n-1 2\n")
    raises(FileFormatError, r"line 2: vertex id -1 is negative", hpg.convert, path, made)
    (tmp_path / "m.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n3 1 1.0\n")
    raises(FileFormatError, r"m\.mtx, line 4", hpg.convert, tmp_path / "m.mtx", made)
    (tmp_path / "m.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n")
    raises(FileFormatError, "entries too early", hpg.convert, tmp_path / "m.mtx", made)
    with pytest.raises(FileNotFoundError):
        hpg.convert(tmp_path / "none.txt", made)
    assert not made.exists() and len(list(tmp_path.iterdir())) == 2


def test_more_vertices_than_fit(tmp_path):
    (tmp_path / "edges.txt").write_text("0 1\n5 4000000\n")
    with pytest.raises(DeviceMemoryError, match="converting a graph of 4000001 vertices needs"):
        hpg.convert(tmp_path / "edges.txt", tmp_path / "made.hpg", memory=LITTLE, names=False)


CHILD = """
import sys, hpgraph as hpg
hpg.convert(sys.argv[1], sys.argv[2], memory=int(sys.argv[3]))
print("done", flush=True)
"""


def test_a_conversion_killed_at_any_time_leaves_the_old_file_and_can_restart(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = written(tmp_path / "edges.txt", *edges(3000, 120_000), np.arange(120_000))
    made = folder / "made.hpg"
    old = hpg.Graph.from_edges([0], [1])
    old.save(made)
    hpg.convert(path, tmp_path / "compiled.hpg", memory=LITTLE)
    command = [sys.executable, "-c", CHILD, str(path), str(made), str(LITTLE)]
    start = time.monotonic()
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout == "done\n"
    took = time.monotonic() - start
    whole = hpg.read(made)
    for share in (0.3, 0.6, 0.75, 0.9):
        old.save(made)
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        time.sleep(share * took)
        process.send_signal(signal.SIGKILL)
        process.wait()
        found = hpg.read(made)
        assert found.n_edges in (1, whole.n_edges)
        left = {file.name for file in folder.iterdir()} - {"made.hpg"}
        assert all(name.startswith(".made.hpg.") and name.endswith(".tmp") for name in left)
    hpg.convert(path, made, memory=LITTLE)
    same(hpg.read(made), whole)


def test_interrupted_it_leaves_nothing(tmp_path, ctrl_c):
    path = written(tmp_path / "edges.txt", *edges(3000, 120_000), np.arange(120_000))
    timer = threading.Timer(0.15, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        for _ in range(100):
            hpg.convert(path, tmp_path / "made.hpg", memory=LITTLE)
    assert {file.name for file in tmp_path.iterdir()} <= {"edges.txt", "made.hpg"}


GROWTH = """
import resource, sys
import numpy as np, hpgraph as hpg
memory = int(sys.argv[3])
hpg.convert(sys.argv[4], sys.argv[2], memory=memory)  # all that is imported and compiled
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
hpg.convert(sys.argv[1], sys.argv[2], memory=memory)
print(peak() - before)
"""


def test_it_stays_inside_its_memory(tmp_path):
    # 48 MB of ids and weights, both ways, and as much again while it is sorted.
    source, target = np.random.default_rng(0).integers(0, 60_000, (2, 1_000_000))
    weight = np.arange(source.size, dtype=np.float64)
    lines = np.char.add(np.char.add(source.astype("U8"), " "), target.astype("U8"))
    (tmp_path / "edges.txt").write_text("\n".join(np.char.add(lines, np.char.add(" ", weight.astype("U12")))))
    (tmp_path / "small.txt").write_text("0 1 0.5\n1 2 1.5\n")
    memory = 40 << 20
    arguments = tmp_path / "edges.txt", tmp_path / "made.hpg", memory, tmp_path / "small.txt"
    assert int(printed(GROWTH, *arguments, cwd=ROOT)) <= memory
    found = hpg.read(tmp_path / "made.hpg")
    same(found, hpg.Graph.from_edges(source, target, weight, n_vertices=60_000))


def test_the_command(tmp_path, capsys):
    path = written(tmp_path / "edges.txt", np.arange(99), np.arange(99) + 1)
    assert main(["convert", str(path), str(tmp_path / "made.hpg"), "--memory", "64MiB", "--undirected"]) == 0
    same(hpg.read(tmp_path / "made.hpg"), hpg.read(path, directed=False))
    said = capsys.readouterr().out
    assert f"{tmp_path / 'made.hpg'}: 100 vertices, 198 arcs," in said and " undirected; " in said
    assert main(["convert", str(path), str(tmp_path / "made.npz"), "--undirected"]) == 0
    same(hpg.read(tmp_path / "made.npz"), hpg.read(path, directed=False))
    assert main(["convert", str(path), str(tmp_path / "made.xyz")]) == 2
    assert "does not name a known format" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
@pytest.mark.parametrize("kind", ["numbers", "text", "no titles"])
def test_tables_of_arrow(tmp_path, suffix, kind):
    pyarrow = pytest.importorskip("pyarrow")
    feather, parquet = (pytest.importorskip(f"pyarrow.{name}") for name in ("feather", "parquet"))
    source, target = edges(500, 20_000)
    weight = np.random.default_rng(0).random(source.size).astype(np.float32)
    ends = [source, target] if kind != "text" else [[f"v{v}" for v in ids] for ids in (source, target)]
    titles = ("a", "b", "c") if kind == "no titles" else ("weight", "src", "dst")
    columns = dict(zip(titles, [*ends, weight] if kind == "no titles" else [weight, *ends], strict=True))
    table = pyarrow.table(columns)
    if suffix == ".parquet":
        parquet.write_table(table, tmp_path / "edges.parquet", row_group_size=3000)
    else:
        feather.write_feather(table, tmp_path / f"edges{suffix}", compression="uncompressed", chunksize=3000)
    hpg.convert(tmp_path / f"edges{suffix}", tmp_path / "made.hpg", memory=LITTLE)
    found = hpg.read(tmp_path / "made.hpg")
    if kind == "text":
        _, first = np.unique(np.column_stack((source, target)).ravel(), return_index=True)
        order = np.column_stack((source, target)).ravel()[np.sort(first)]
        assert found.names.tolist() == [f"v{v}" for v in order]
        place = np.empty(500, np.int64)
        place[order] = np.arange(order.size)
        source, target = place[source], place[target]
    expected = hpg.Graph.from_edges(source, target, weight)
    np.testing.assert_array_equal(found.out_csr.indices, expected.out_csr.indices)
    np.testing.assert_array_equal(found.in_csr.data, expected.in_csr.data)


def test_without_pyarrow_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "edges.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingExtraError, match=r"pip install 'hpgraph\[arrow\]'"):
        hpg.convert(tmp_path / "edges.parquet", tmp_path / "made.hpg")


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_text_that_is_no_utf_8_is_refused_by_tables(tmp_path, suffix):
    pytest.importorskip("pyarrow")
    G = hpg.from_edges([("\ud800", "x")])
    with pytest.raises(ValueError, match=f"g{suffix}: names there hold no half of a surrogate pair"):
        hpg.write(G, tmp_path / f"g{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_what_is_no_table_is_refused(tmp_path, suffix):
    pytest.importorskip("pyarrow")
    (tmp_path / f"edges{suffix}").write_bytes(b"0 1\n1 2\n" * 10)
    raises(FileFormatError, f"no whole {suffix} file", hpg.convert, tmp_path / f"edges{suffix}", tmp_path / "made.hpg")


def test_names_that_do_not_fit_are_refused(tmp_path):
    (tmp_path / "edges.csv").write_text("".join(f"name{k},name{k + 1}\n" for k in range(200_000)))
    with pytest.raises(DeviceMemoryError, match=r"the names of \d+ vertices and more of .*edges\.csv"):
        hpg.convert(tmp_path / "edges.csv", tmp_path / "made.hpg", memory=LITTLE)
    assert [file.name for file in tmp_path.iterdir()] == ["edges.csv"]


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_arrays_of_scipy(tmp_path, layout, symmetric):
    source, target = edges(3000, 80_000)
    matrix = sp.coo_array((np.arange(1.0, source.size + 1), (source, target)), shape=(3000, 3000)).tocsr()
    if layout == "dia":
        matrix = sp.diags_array([np.arange(1.0, 3000), np.full(3000, 2.0)], offsets=[1, 0], shape=(3000, 3000))
    matrix = (matrix + matrix.T if symmetric else matrix).asformat(layout)
    sp.save_npz(tmp_path / "array.npz", matrix)
    hpg.convert(tmp_path / "array.npz", tmp_path / "made.hpg", memory="1GiB" if layout in ("bsr", "dia") else LITTLE)
    expected = hpg.read(tmp_path / "array.npz")
    assert expected.directed is not symmetric
    same(hpg.read(tmp_path / "made.hpg"), expected)


@pytest.mark.parametrize("layout", ["csr", "coo"])
def test_names_that_occur_twice_are_refused(tmp_path, layout):
    """As `hpgraph.read` refuses them, also those of a .hpg whose checksums fit."""
    path, made = tmp_path / "g.npz", tmp_path / "g.hpg"
    hpg.write(hpg.from_edges([("a", "b"), ("b", "c")]), path)
    held = dict(np.load(path))
    if layout == "coo":
        made_of = sp.csr_array((held["data"], held["indices"], held["indptr"]), held["shape"]).tocoo()
        for name in ("indices", "indptr"):
            del held[name]
        held.update(format=b"coo", row=made_of.coords[0], col=made_of.coords[1])
    np.savez(path, **{**held, "hpgraph_names": np.array(["a", "b", "b"])})
    for call in (lambda: hpg.read(path), lambda: hpg.convert(path, made)):
        with pytest.raises(ValueError, match="both named 'b'"):
            call()
    assert not made.exists()


def test_damaged_arrays(tmp_path):
    path = tmp_path / "array.npz"
    hpg.Graph.from_edges(*edges(3000, 200_000), n_vertices=3000).save(path)
    content = path.read_bytes()
    for share in (0.2, 0.5, 0.8):
        damaged = bytearray(content)
        damaged[int(share * len(content))] ^= 255
        path.write_bytes(damaged)
        raises(FileFormatError, "not a whole NumPy archive", hpg.convert, path, tmp_path / "made.hpg", memory=LITTLE)
    np.savez(path, format=b"csr", shape=[2, 2], indptr=[0, 1, 2], indices=[0, 7], data=[1, 1])
    raises(FileFormatError, "indices holds 7", hpg.convert, path, tmp_path / "made.hpg")
    np.savez(path, format=b"csr", shape=[2, 2], indptr=[0, 3, 2], indices=[0, 1], data=[1, 1])
    raises(FileFormatError, "indptr must not decrease", hpg.convert, path, tmp_path / "made.hpg")
    np.savez(path, format=b"csr", shape=[2, 2], indptr=[0, 1, 2], indices=[0, 1], data=np.ones(2, np.float16))
    raises(TypeError, r"weights must be .* not float16", hpg.convert, path, tmp_path / "made.hpg")


@pytest.mark.parametrize("memory", [None, "64MiB"])
def test_sums_that_wrap_are_refused(memory: str | None, tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text(f"source,target,weight\n0,1,{2**62}\n0,2,1\n0,1,{2**62}\n")
    how = {"duplicates": "sum", "directed": True, "memory": memory}
    raises(ValueError, "parallel edges add up to more than int64 holds", hpg.convert, path, tmp_path / "e.hpg", **how)
    assert [file.name for file in tmp_path.iterdir()] == ["e.csv"]
    path.write_text(f"source,target,weight\n0,1,{2**62}\n0,2,1\n0,1,{2**62 - 1}\n")
    hpg.convert(path, tmp_path / "e.hpg", **how)
    assert hpg.read(tmp_path / "e.hpg").edges()[2].tolist() == [2**63 - 1, 1]
