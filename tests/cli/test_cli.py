"""The command line: what it prints and writes, and how it refuses."""

import csv
import io
import re
import subprocess
import sys
from collections.abc import Callable
from email.message import Message
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import networkx as nx
import numpy as np
import pytest
from new_process import printed
from written import ROADS, table

import hpgraph as hpg
from hpgraph import __version__
from hpgraph.cli import _one_line, main


def test_info(roads: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", roads]) == 0
    said = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert said[0].startswith(f"{roads}: 5 vertices, 5 arcs, directed; read in ")
    for line in (
        "vertices 5",
        "arcs 5",
        "directed yes",
        "weights int64, 100 to 350",
        "self-loops 0",
        "without an edge 0",
        "mean degree 1",
        "largest out-degree 2 (vertex Bonn)",
        "largest in-degree 2 (vertex Trier)",
    ):
        assert line in said


def test_info_undirected_without_an_arc(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 0\n")
    assert main(["info", str(path)]) == 0
    assert "undirected" in capsys.readouterr().out


def test_bfs(roads: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "levels.csv"
    assert main(["bfs", roads, "--source", "Bonn", "--device", device, "-o", str(out), "--explain"]) == 0
    said = capsys.readouterr().out
    assert f"BFS from Bonn on {device}: 4 of 5 vertices reached, the farthest in 2 steps" in said
    assert "direction" in said
    rows = table(out)
    assert [row["vertex"] for row in rows] == ["Bonn", "Mainz", "Trier", "Metz", "Ulm"]
    assert [row["level"] for row in rows] == ["0", "1", "1", "2", "-1"]
    assert [row["parent"] for row in rows][1:] == ["Bonn", "Bonn", "Trier", ""]


def test_bfs_takes_ids_too(karate: str, roads: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bfs", karate, "--source", "33", "--undirected"]) == 0
    expected = max(nx.single_source_shortest_path_length(nx.karate_club_graph(), 33).values())
    assert f"34 of 34 vertices reached, the farthest in {expected} steps" in capsys.readouterr().out
    assert main(["bfs", roads, "--source-id", "1"]) == 0
    assert "BFS from Mainz" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["bfs", "sssp"])
def test_names_that_are_numbers(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sparse.txt"
    path.write_text("1001 7\n7 12\n")
    for option, start in ((["--source", "1001"], "1001"), (["--source", "+12"], "12"), (["--source-id", "1"], "12")):
        assert main([command, str(path), *option]) == 0
        assert f"{command.upper()} from {start} on cpu" in capsys.readouterr().out
    assert main([command, str(path), "--source", "1"]) == 2
    said = capsys.readouterr().err
    assert "no vertex is named 1; names are such as 7, 12, 1001; hpgraph.id(1)" in said and "--source-id 1" in said


def test_names_keep_their_type_in_the_output(tmp_path: Path) -> None:
    path, out = tmp_path / "sparse.txt", tmp_path / "levels.npz"
    path.write_text("1001 7\n7 12\n")
    assert main(["bfs", str(path), "--source", "1001", "-o", str(out)]) == 0
    with np.load(out) as stored:
        assert dict(zip(stored["names"].tolist(), stored["level"].tolist(), strict=True)) == {1001: 0, 7: 1, 12: 2}


def test_sssp(roads: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "lengths.csv.gz"
    assert main(["sssp", roads, "--source", "Bonn", "--device", device, "-o", str(out)]) == 0
    assert "the farthest (Metz) at distance 245" in capsys.readouterr().out
    rows = {row["vertex"]: row for row in table(out)}
    assert [float(rows[city]["distance"]) for city in ("Bonn", "Mainz", "Trier", "Metz")] == [0, 170, 145, 245]
    assert rows["Metz"]["parent"] == "Trier"
    assert rows["Ulm"]["parent"] == ""
    assert main(["sssp", roads, "--source", "Ulm", "--device", device]) == 0


def test_path(roads: str, karate: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["path", roads, "--source", "Bonn", "--target", "Metz", "--weighted"]) == 0
    assert "2 steps of length 245;" in (said := capsys.readouterr().out) and "  Bonn -> Trier -> Metz\n" in said
    assert main(["path", roads, "--source", "Metz", "--target", "Bonn", "--reverse"]) == 0
    assert "  Metz -> Trier -> Bonn\n" in capsys.readouterr().out
    assert main(["path", roads, "--source", "Metz", "--target", "Bonn"]) == 2
    assert "Metz" in capsys.readouterr().err


def test_convert(roads: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, turned in (("g.hpg", []), ("g.parquet", []), ("g.graphml", ["--reverse"])):
        assert main(["convert", roads, str(tmp_path / name), *turned]) == 0
    graph, back = hpg.read(tmp_path / "g.parquet"), hpg.read(tmp_path / "g.graphml")
    assert graph.has_edge("Ulm", "Metz") and back.has_edge("Metz", "Ulm") and graph.n_edges == back.n_edges == 5
    capsys.readouterr()
    assert main(["convert", roads, str(tmp_path / "nowhere" / "g.mtx")]) == 2
    said = capsys.readouterr()
    assert "there is no such folder" in said.err and "read in" not in said.out


def test_convert_to_a_url(roads: str) -> None:
    pytest.importorskip("fsspec")
    assert main(["convert", roads, "memory://roads/g.csv"]) == 0
    assert hpg.read("memory://roads/g.csv").names.tolist() == hpg.read(roads).names.tolist()


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ROADS.encode())))
    assert main(["bfs", "-", "--source", "Bonn", "-o", "-"]) == 0
    said = capsys.readouterr()
    assert [row["level"] for row in csv.DictReader(io.StringIO(said.out))] == ["0", "1", "1", "2", "-1"]
    assert "BFS from Bonn on cpu" in said.err


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_tables_of_arrow(suffix: str, roads: str, tmp_path: Path) -> None:
    feather = pytest.importorskip("pyarrow.feather")
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / f"levels{suffix}"
    assert main(["bfs", roads, "--source", "Bonn", "-o", str(out)]) == 0
    found = (parquet.read_table if suffix == ".parquet" else feather.read_table)(out).to_pydict()
    assert found["vertex"] == ["Bonn", "Mainz", "Trier", "Metz", "Ulm"] and found["level"] == [0, 1, 1, 2, -1]
    assert found["parent"] == ["Bonn", "Bonn", "Bonn", "Trier", None]


def test_every_command_checks_its_output_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cores", "nothing.mtx", "-o", str(tmp_path / "nowhere" / "x.csv")]) == 2
    assert "there is no such folder" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "betweenness" in script and "source-id" in script
    if shell == "bash":
        asked = f"{script}\nCOMP_WORDS=(hpgraph bfs --sou); COMP_CWORD=2; _hpgraph; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["--source", "--source-id"]


def test_the_bundled_graph(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bfs", "debian", "--source", "firefox-esr"]) == 0
    assert "BFS from firefox-esr on cpu" in capsys.readouterr().out


def test_a_misspelt_choice(capsys: pytest.CaptureFixture[str]) -> None:
    for words, says in (
        (["pagernk", "debian"], "argument COMMAND: no 'pagernk' is known: did you mean pagerank?\n"),
        (["bfs", "debian", "--source", "perl", "--device", "cudaa"], "no 'cudaa' is known: did you mean cuda?\n"),
        (["xyzzy", "debian"], "invalid choice: 'xyzzy' (choose from"),
    ):
        with pytest.raises(SystemExit):
            main(words)
        assert says in capsys.readouterr().err


def test_an_address_that_is_not_there_is_named() -> None:
    missing = HTTPError("http://example.org/web.mtx", 404, "Not Found", Message(), None)
    assert _one_line(missing) == "http://example.org/web.mtx: HTTP Error 404: Not Found"


def first_calls(device: str) -> list[tuple[str, Callable[[], Any]]]:
    """As warmup begins; its processes find it here. All calls are made, of its graphs, in tests/test_warmup.py."""
    graph = hpg.Graph.from_edges([0, 1], [1, 2], directed=False).to(device)
    return [
        ("BFS", partial(hpg.bfs, graph, 0)),
        ("BFS, smallest parents", partial(hpg.bfs, graph, 0, deterministic=True)),
    ]


def test_warmup_prints_what_it_compiles(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hpgraph.warmup.built_in_calls", first_calls)
    with hpg.config(progress=False):
        assert main(["warmup", "--device", "cpu"]) == 0
    said = capsys.readouterr().out
    for what in ("BFS", "BFS, smallest parents", "2 calls compiled, or found compiled, in"):
        assert re.search(rf"^cpu   {what} +[\d.]+ s$", said, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "nothing.mtx"], "nothing.mtx: No such file or directory"),
        (["info", "graph.xyz"], "graph.xyz: the suffix does not name a known format; known are .mtx"),
        (["bfs", "ROADS", "--source", "Bon"], "no vertex is named 'Bon': did you mean 'Bonn'?"),
        (["bfs", "ROADS", "--source", "1"], "no vertex is named '1'; names are such as 'Bonn', 'Mainz', 'Trier', ..."),
        (["bfs", "ROADS", "--source-id", "5"], "--source-id 5 is not in 0..4"),
        (["bfs", "KARATE", "--source", "-1"], "--source -1 is not in 0..33"),
        (["sssp", "KARATE", "--source", "bob"], "--source bob: the vertices of this graph have no names"),
        (["bfs", "ROADS", "--source", "Bonn", "-o", "x.xlsx"], "--output x.xlsx: the name must end in .csv"),
        (["pagerank", "ROADS", "--damping", "1.5"], "damping"),
        (["info", "ROADS", "--threads", "0"], "threads must be at least 1"),
        (["labels", "ROADS", "--labels", "BAD"], "bad.el: the first line must name a column vertex"),
        (["labels", "ROADS", "--labels", "ROADS"], "the first line must name a column vertex"),
        (["beliefs", "ROADS", "--unary", "UNARY", "--potential", "1"], "--potential must have 2 rows of 2 numbers"),
        (["beliefs", "ROADS", "--unary", "UNARY", "--potential", "1,a;1,2"], "--potential: could not convert"),
        (["info", "BAD"], "bad.el, line 3: 2 fields expected (blanks between them), 1 found: '2'"),
    ],
)
def test_one_line_and_status_2(
    arguments: list[str], message: str, roads: str, karate: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.el"
    bad.write_text("0 1\n1 2\n2\n")
    unary = tmp_path / "unary.csv"
    unary.write_text("vertex,dry,wet\nBonn,9,1\n")
    files = {"ROADS": roads, "KARATE": karate, "BAD": str(bad), "UNARY": str(unary)}
    assert main([files.get(argument, argument) for argument in arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("hpgraph: ")
    assert message in error
    assert error.count("\n") == 1


def test_memory_for_reading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.el"
    path.write_text("".join(f"{k} {k + 1}\n" for k in range(1000)))
    assert main(["info", str(path), "--memory", "1 MiB"]) == 0
    assert main(["info", str(path), "--memory", "4kB"]) == 2
    assert "3.9 KiB may be taken (memory=... allows more)" in capsys.readouterr().err


def test_a_negative_cycle_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cycle.wel"
    path.write_text("0 1 1.5\n1 0 -2\n")
    assert main(["sssp", str(path), "--source", "0"]) == 2
    assert "negative" in capsys.readouterr().err


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        main(["info", str(tmp_path / "nothing.mtx"), "--debug"])


@pytest.mark.parametrize("arguments", [[], ["fly"], ["bfs", "x.mtx"], ["info"], ["bfs", "x", "--device", "tpu"]])
def test_arguments_that_make_no_sense(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


def hpgraph(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "hpgraph.cli", *arguments], capture_output=True, text=True, timeout=60)


def test_as_a_process(roads: str) -> None:
    assert hpgraph("--version").stdout == f"hpgraph {__version__}\n"
    good = hpgraph("info", roads)
    assert (good.returncode, good.stderr) == (0, "")
    assert "5 vertices, 5 arcs, directed" in good.stdout
    bad = hpgraph("info", "nothing.mtx")
    assert (bad.returncode, bad.stdout, bad.stderr) == (2, "", "hpgraph: nothing.mtx: No such file or directory\n")


def test_help_imports_nothing_heavy() -> None:
    assert "pagerank" in hpgraph("--help").stdout
    code = (
        "import sys, hpgraph.cli\n"
        "try: hpgraph.cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'scipy', 'numba', 'networkx', 'tqdm', 'cupy') if m in sys.modules])"
    )
    assert printed(code).splitlines()[-1] == "[]"


def test_a_reader_that_stops_early(roads: str) -> None:
    script = f"{sys.executable} -m hpgraph.cli info {roads} | true; exit ${{PIPESTATUS[0]}}"
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")


def test_python_m_hpgraph() -> None:
    asked = [sys.executable, "-m", "hpgraph", "--version"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == f"hpgraph {__version__}\n"


@pytest.mark.filterwarnings("default:edges are given more than once")
def test_duplicates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("source,target,weight\na,b,3\na,b,1\n")
    for given, weight in (([], 1), (["--duplicates", "min"], 1), (["--duplicates", "sum"], 4)):
        assert main(["info", str(path), *given]) == 0
        said = capsys.readouterr()
        assert f"{weight} to {weight}" in said.out
        assert said.err.startswith("hpgraph: warning: edges are given more than once") == (not given)
        assert len(said.err.splitlines()) == (not given)


@pytest.mark.parametrize("given", [["pagerank", "ROADS", "--top", "-1"], ["info", "debian", "--memory", "abc"]])
def test_numbers_that_are_none(given: list[str], roads: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        assert main([word.replace("ROADS", roads) for word in given]) == 2
    except SystemExit as end:
        assert end.code == 2
    assert re.search("--top: must be a whole number from 0 on|--memory must be bytes", capsys.readouterr().err)


def test_names_do_not_act_on_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "names.csv"
    path.write_text("source,target\na\x1b[31m,=1+1\n=1+1,c\n", encoding="utf-8")
    out = tmp_path / "out.csv"
    assert main(["degree", str(path), "-o", str(out)]) == 0
    assert main(["path", str(path), "--source", "a\x1b[31m", "--target", "c"]) == 0
    assert main(["bfs", str(path), "--source", "\x1b[31m"]) == 2
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err and "a\\x1b[31m -> =1+1 -> c" in said.out
    assert [row["vertex"] for row in table(out)] == ["a\x1b[31m", "=1+1", "c"], "files hold names as they are"


def test_closed_and_ascii_streams(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("source,target\n\u00e9ve,b\n", encoding="utf-8")
    command = f"{sys.executable} -m hpgraph"
    ascii_only = "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"
    for line, code, out, err in (
        (f"{command} info - <&-", 2, b"", b"hpgraph: standard input is closed: give a file\n"),
        (f"{command} info {path} >&-", 0, b"", b""),
        (f"{command} degree {path} -o - >&-", 2, b"", b"hpgraph: --output -: standard output is closed\n"),
        (f"{command} info {tmp_path}/none.csv 2>&-", 2, b"", b""),
        (f"{ascii_only} {command} degree {path}", 0, b"\\xe9ve", b""),
        (f"{ascii_only} {command} degree {path} -o - 2>/dev/null", 0, "\u00e9ve,1.0".encode(), b""),
        (f"mkfifo {tmp_path}/pipe.csv; (cat {path} > {tmp_path}/pipe.csv &); {command} info {tmp_path}/pipe.csv", 0,
         b"2 vertices, 1 arcs", b""),
    ):  # fmt: skip
        done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (code, err), line
        assert out in done.stdout and (out or not done.stdout), line
