"""The command line: what it prints and writes, and how it refuses."""

from __future__ import annotations

import csv
import gzip
import io
import re
import subprocess
import sys
import time
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import hpgraph as hpg
from hpgraph import __version__
from hpgraph.cli import main

ROADS = "from,to,km\nBonn,Mainz,170\nMainz,Trier,160\nBonn,Trier,145\nTrier,Metz,100\nUlm,Metz,350\n"


@pytest.fixture
def roads(tmp_path: Path) -> str:
    path = tmp_path / "roads.csv"
    path.write_text(ROADS)
    return str(path)


@pytest.fixture
def karate(tmp_path: Path) -> str:
    path = tmp_path / "karate.txt"
    nx.write_edgelist(nx.karate_club_graph(), path, data=False)
    return str(path)


def table(path: Path) -> list[dict[str, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="") as file:  # type: ignore[operator]
        return list(csv.DictReader(file))


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


def test_pagerank(karate: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "ranks.npz"
    arguments = ["pagerank", karate, "--undirected", "--top", "3", "--tol", "1e-10", "--damping", "0.9", "-o", str(out)]
    assert main([*arguments, "--device", device]) == 0
    expected = nx.pagerank(nx.karate_club_graph(), alpha=0.9, tol=1e-12, weight=None)
    best = sorted(expected, key=lambda vertex: -expected[vertex])[:3]
    lines = capsys.readouterr().out.splitlines()
    start = next(at for at, line in enumerate(lines) if line.split() == ["vertex", "rank"])
    assert [int(line.split()[0]) for line in lines[start + 1 : start + 4]] == best
    assert float(lines[start + 1].split()[1]) == pytest.approx(expected[best[0]], rel=1e-5)
    with np.load(out) as stored:
        np.testing.assert_allclose(stored["rank"], [expected[vertex] for vertex in range(34)], atol=1e-9)


def test_triangles(karate: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "triangles.csv"
    assert main(["triangles", karate, "--undirected", "--device", device, "--top", "1", "-o", str(out)]) == 0
    expected = nx.triangles(nx.karate_club_graph())
    assert f"{sum(expected.values()) // 3} triangles on {device}" in capsys.readouterr().out
    assert [int(row["triangles"]) for row in table(out)] == [expected[vertex] for vertex in range(34)]


def test_structures(karate: str, roads: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    g, out = nx.karate_club_graph(), tmp_path / "cores.csv"
    assert main(["cores", karate, "--undirected", "--device", device, "--top", "1", "-o", str(out)]) == 0
    expected = nx.core_number(g)
    largest = max(expected.values())
    count = list(expected.values()).count(largest)
    assert f"largest core number {largest}, of {count} vertices" in capsys.readouterr().out
    assert [int(row["core"]) for row in table(out)] == [expected[vertex] for vertex in range(34)]

    out = tmp_path / "colors.csv"
    assert main(["colors", karate, "--undirected", "--device", device, "-o", str(out)]) == 0
    color = [int(row["color"]) for row in table(out)]
    assert all(color[u] != color[v] for u, v in g.edges)
    assert f"{max(color) + 1} colours" in capsys.readouterr().out

    assert main(["forest", karate, "--undirected", "--device", device]) == 0
    assert "33 edges, 1 tree, total weight" in capsys.readouterr().out


def test_sets_and_trusses(karate: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    g, out = nx.karate_club_graph(), str(tmp_path / "each.csv")
    assert main(["truss", karate, "--undirected", "-o", out]) == 0
    # The 5-truss of the karate club is the last one that is not empty.
    inside = {v for v, row in enumerate(table(Path(out))) if row["truss"] == "5"}
    assert inside == set(nx.k_truss(g, 5))
    assert f"largest truss number 5, at {len(inside)} vertices" in capsys.readouterr().out

    assert main(["degree", karate, "--undirected", "-o", out]) == 0
    found = [float(row["degree_centrality"]) for row in table(Path(out))]
    assert found == pytest.approx([nx.degree_centrality(g)[v] for v in range(34)])

    assert main(["independent", karate, "--undirected", "-o", out]) == 0
    inside = {v for v, row in enumerate(table(Path(out))) if row["independent"] == "1"}
    assert f"{len(inside)} vertices in the set" in capsys.readouterr().out
    assert not any(u in inside and v in inside for u, v in g.edges)
    assert inside.union(*(g[v] for v in inside)) == set(g)

    assert main(["matching", karate, "--undirected", "-o", out]) == 0
    mates = [row["mate"] for row in table(Path(out))]
    pairs = {(v, int(mate)) for v, mate in enumerate(mates) if mate and v < int(mate)}
    assert f"{len(pairs)} edges in the matching" in capsys.readouterr().out
    assert nx.is_maximal_matching(g, pairs)


def test_connectivity(
    karate: str, roads: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    g, out = nx.karate_club_graph(), str(tmp_path / "each.csv")
    assert main(["components", roads, "--directed", "--device", device, "-o", out]) == 0
    said = capsys.readouterr().out
    assert f"1 weak component on {device}" in said
    assert "  5 vertices" in said
    assert {row["component"] for row in table(Path(out))} == {"0"}
    assert main(["components", roads, "--directed", "--strong", "--device", device]) == 0
    assert "5 strong components" in capsys.readouterr().out

    assert main(["cuts", karate, "--undirected", "--device", device, "-o", out]) == 0
    assert "  bridges: 0 - 11\n" in capsys.readouterr().out
    found = {v for v, row in enumerate(table(Path(out))) if row["articulation_point"] == "1"}
    assert found == set(nx.articulation_points(g))

    assert main(["bipartite", karate, "--undirected", "--device", device]) == 0
    assert "not bipartite" in capsys.readouterr().out
    star = tmp_path / "star.el"
    star.write_text("0 1\n0 2\n0 3\n")
    assert main(["bipartite", str(star), "--device", device, "-o", out]) == 0
    assert "sides of 1 vertex and 3 vertices" in capsys.readouterr().out
    assert [row["side"] for row in table(Path(out))] == ["0", "1", "1", "1"]


def test_order(roads: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "order.csv")
    assert main(["order", roads, "--directed", "--weighted", "-o", out]) == 0
    assert "longest path, of 4 vertices: Bonn, Mainz, Trier, Metz" in capsys.readouterr().out
    place = {row["vertex"]: int(row["place"]) for row in table(Path(out))}
    assert all(place[u] < place[v] for u, v, _ in (line.split(",") for line in ROADS.splitlines()[1:]))
    assert main(["order", roads, "--undirected"]) == 2
    assert "G has a cycle" in capsys.readouterr().err


def test_propagation(karate: str, roads: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, given = str(tmp_path / "each.csv"), tmp_path / "given.csv"
    given.write_text("vertex,label\n0,Mr. Hi\n33,Officer\n5,\n")
    assert main(["labels", karate, "--undirected", "--labels", str(given), "-o", out]) == 0
    label = [row["label"] for row in table(Path(out))]
    assert "2 labels spread on cpu: converged" in capsys.readouterr().out
    assert (label[0], label[33]) == ("Mr. Hi", "Officer")
    club = nx.get_node_attributes(nx.karate_club_graph(), "club")
    assert sum(label[v] == club[v] for v in range(34)) >= 31

    assert main(["heat", roads, "--undirected", "--source", "Bonn", "--time", "0.5", "-o", out]) == 0
    heat = {row["vertex"]: float(row["heat"]) for row in table(Path(out))}
    assert sum(heat.values()) == pytest.approx(1)
    assert max(heat, key=lambda vertex: heat[vertex]) == "Bonn"

    unary = tmp_path / "unary.csv"
    unary.write_text("vertex,dry,wet\nBonn,9,1\n")
    assert main(["beliefs", roads, "--undirected", "--unary", str(unary), "--potential", "2,1;1,2", "-o", out]) == 0
    assert "dry: 5 vertices" in capsys.readouterr().out
    assert all(float(row["dry"]) > 0.5 for row in table(Path(out)))


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


def test_warmup_compiles_for_later(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warmup", "--device", "cpu"]) == 0
    said = capsys.readouterr().out
    for what in ("BFS", "SSSP, float32", "PageRank, float64", "triangle count, uneven", "A @ A, float64"):
        assert f"cpu   {what}" in said
    assert re.search(r"^cpu   \d+ calls compiled, or found compiled, in [\d.]+ s$", said, re.MULTILINE)


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
    path.write_text("0 1 1\n1 0 -2\n")
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


def test_help_is_quick_and_imports_nothing_heavy() -> None:
    start = time.perf_counter()
    assert "pagerank" in hpgraph("--help").stdout
    # Three times what it may take, for a machine with other things to do.
    assert time.perf_counter() - start < 0.9
    code = (
        "import sys, hpgraph.cli\n"
        "try: hpgraph.cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'scipy', 'numba', 'networkx', 'tqdm', 'cupy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_stops_early(roads: str) -> None:
    script = f"{sys.executable} -m hpgraph.cli info {roads} | true; exit ${{PIPESTATUS[0]}}"
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")


def test_closeness(karate: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    networkx = pytest.importorskip("networkx")
    out = tmp_path / "closeness.csv"
    assert main(["closeness", karate, "--undirected", "--device", device, "--top", "2", "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    expected = networkx.closeness_centrality(networkx.karate_club_graph())
    first, second = sorted(expected, key=lambda v: -expected[v])[:2]
    assert f"closeness of 34 vertices on {device}" in printed
    lines = [line.split() for line in printed.splitlines()]
    at = lines.index(["vertex", "closeness"])
    assert [line[0] for line in lines[at + 1 : at + 3]] == [str(first), str(second)]
    rows = [line.split(",") for line in out.read_text().splitlines()]
    assert rows[0] == ["vertex", "closeness"]
    assert [float(value) for _, value in rows[1:]] == pytest.approx(list(expected.values()))
    assert main(["closeness", karate, "--harmonic", "--sources", "3", "--device", device]) == 0
    printed = capsys.readouterr().out
    assert "harmonic centrality of 3 vertices" in printed and "nan" not in printed


@pytest.mark.parametrize("command", ["eigenvector", "katz", "hits", "clustering"])
def test_numbers_of_neighbours(
    karate: str, command: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    networkx = pytest.importorskip("networkx")
    out, top = tmp_path / "out.csv", ["--top", "1"]
    options = ["--alpha", "0.05"] if command == "katz" else []
    assert main([command, karate, "--undirected", "--device", device, "-o", str(out), *top, *options]) == 0
    printed = capsys.readouterr().out
    N = networkx.karate_club_graph()
    expected, column = {
        "eigenvector": (lambda: networkx.eigenvector_centrality(N, weight=None), "centrality"),
        "katz": (lambda: networkx.katz_centrality(N, 0.05, weight=None), "centrality"),
        "hits": (lambda: networkx.hits(networkx.Graph(N.edges()))[1], "authorities"),
        "clustering": (lambda: networkx.clustering(N), "clustering"),
    }[command]
    rows = [line.split(",") for line in out.read_text().splitlines()]
    found = {int(row[0]): float(row[rows[0].index(column)]) for row in rows[1:]}
    assert found == pytest.approx(expected(), abs=1e-4)
    assert ("converged after" in printed) == (command != "clustering") and f" on {device}" in printed


def test_betweenness(karate: str, device: str, capsys: pytest.CaptureFixture[str]) -> None:
    networkx = pytest.importorskip("networkx")
    assert main(["betweenness", karate, "--undirected", "--device", device, "--top", "1"]) == 0
    expected = networkx.betweenness_centrality(networkx.karate_club_graph())
    printed = capsys.readouterr().out
    assert "betweenness by paths from all vertices" in printed
    assert printed.splitlines()[-1].split() == ["0", f"{expected[0]:.6g}"]


def test_diameter(karate: str, device: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diameter", karate, "--undirected", "--device", device]) == 0
    printed = capsys.readouterr().out
    assert "diameter 5, radius 3" in printed and "center: 8 vertices (0, 1, 2, 3, 8, ...)" in printed
    assert main(["diameter", "debian", "--undirected", "--device", device]) == 2
    assert "--largest" in capsys.readouterr().err


def test_similar(karate: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, out = nx.karate_club_graph(), tmp_path / "like.csv"
    assert main(["similar", karate, "--undirected", "--source", "0", "--top", "2", "-o", str(out)]) == 0
    pairs = [(0, v) for v in graph if v]
    expected = {str(v): score for _, v, score in nx.jaccard_coefficient(graph, pairs)}
    many = sum(score > 0 for score in expected.values())
    assert f"jaccard on cpu: {many} vertices with a neighbour in common with 0" in capsys.readouterr().out
    found = {row["vertex"]: float(row["jaccard"]) for row in table(out)}
    assert found.pop("0") == 0 and found == pytest.approx(expected)
    how = ["--undirected", "--source", "0", "--measure", "common_neighbors", "--links", "--top", "1"]
    assert main(["similar", karate, *how]) == 0
    assert capsys.readouterr().out.split()[-2:] == ["33", "4"]


def test_walks_and_samples(karate: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for bias in ([], ["--q", "0.5"]):
        out = tmp_path / "visits.csv"
        how = ["--undirected", "--source", "33", "--count", "50", "--length", "4", *bias]
        assert main(["walks", karate, *how, "--top", "1", "-o", str(out)]) == 0
        said = capsys.readouterr().out
        assert "50 walks from 33 on cpu: 200 steps to" in said
        assert sum(int(row["visits"]) for row in table(out)) == 200
    out = tmp_path / "hops.csv"
    assert main(["sample", karate, "--undirected", "--source", "0", "--fanouts", "4,2", "-o", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines if line.split()[0] in "01"] == [["0", "1"], ["1", "4"]]
    distance = nx.single_source_shortest_path_length(nx.karate_club_graph(), 0)
    hops = {int(row["vertex"]): int(row["hop"]) for row in table(out)}
    assert all(distance[v] <= hop for v, hop in hops.items() if hop >= 0)
    assert sorted(hops.values()).count(1) == 4
    assert main(["sample", karate, "--source", "0", "--fanouts", "many"]) == 2
    assert "--fanouts many: give numbers" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["louvain", "leiden", "labels", "cdlp"])
def test_communities(karate, method, device, tmp_path, capsys):
    out = tmp_path / "communities.csv"
    assert main(["communities", karate, "--undirected", "--method", method, "--device", device, "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    labels = [line.split(",")[1] for line in out.read_text().splitlines()[1:]]
    assert len(labels) == 34 and f"{len(set(labels))} communities" in printed and "vertices" in printed
