"""The commands of the benchmarks run, on small graphs, and record what they measured."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from new_process import printed

import hpgraph as hpg

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder benchmarks/ is not installed; what a command tells other libraries of threads goes with the test."""
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setenv("OMP_NUM_THREADS", str(hpg.config.threads))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command in this process, and what it prints; `test_memory` begins one of its own."""
    from benchmarks.__main__ import main

    def printed(*words: str) -> str:
        assert main(words) == 0
        return capsys.readouterr().out

    return printed


def test_the_command(tmp_path: Path, run: Callable[..., str]) -> None:
    output = tmp_path / "results.json"
    words = ["cpu", "--graphs", "kron12", "--libraries", "SciPy", "--sources", "2", "--output", str(output)]
    words += ["--works", "bfs,spmv,triangles,build"]
    assert "kron12: 4,096 vertices" in run(*words)
    record = json.loads(output.read_text())
    assert record["commands"] == ["python -m benchmarks " + " ".join(words)]
    assert {"hpgraph", "scipy", "numpy", "numba", "python"} <= set(record["versions"])
    results = {(r["library"], r["work"]): r for r in record["graphs"]["kron12"]["results"]}
    assert {work for library, work in results if library == "hpgraph"} == set(words[-1].split(","))
    assert {work for library, work in results if library == "SciPy"} == {"bfs", "spmv"}
    assert all(0 < r["min_s"] <= r["median_s"] <= r["max_s"] for r in results.values())
    assert results["hpgraph", "bfs"]["calls"] == 2
    assert results["hpgraph", "triangles"]["new_graph_s"] > 0


def test_ablation(tmp_path: Path, run: Callable[..., str]) -> None:
    output = tmp_path / "ablation.json"
    printed = run(
        "ablation", "cpu", "--graphs", "road64", "--works", "bfs,sssp", "--sources", "2", "--output", str(output)
    )
    rows = json.loads(output.read_text())["ablation"]["road64"]
    assert [row["technique"] for row in rows].count("all techniques") == 2
    assert {"push only", "pull only", "without buckets"} <= {row["technique"] for row in rows}
    assert all(row["median_s"] > 0 for row in rows)
    assert ["BFS", "all", "techniques"] in [line.split()[:3] for line in printed.splitlines()]


def test_scaling(tmp_path: Path, run: Callable[..., str]) -> None:
    from benchmarks import scaling

    output = tmp_path / "scaling.json"
    words = ["scaling", "--threads", "1,2", "--graphs", "road64", "--works", "bfs,spmv", "--sources", "1"]
    printed = run(*words, "--output", str(output))
    assert {threads: set(times) for threads, times in json.loads(output.read_text())["scaling"]["road64"].items()} == {
        "1": {"bfs", "spmv"}, "2": {"bfs", "spmv"}
    }  # fmt: skip
    assert printed.splitlines()[0].split() == ["road64,", "ms", "1", "thread", "2", "threads"]
    assert scaling.table("g", {1: {"bfs": 0.008}, 4: {"bfs": 0.0025}}).splitlines()[-1].split() == [
        "BFS", "8", "(100%)", "2.5", "(80%)"
    ]  # fmt: skip


def test_startup(tmp_path: Path, run: Callable[..., str]) -> None:
    output = tmp_path / "startup.json"
    run("startup", "--calls", "triangles", "--repeats", "1", "--output", str(output))
    found = json.loads(output.read_text())
    assert not {"numba", "cupy", "pandas", "scipy.sparse.csgraph"} & set(found["imported"])
    times = found["calls"]["triangles"]
    # Both first calls import Numba; on a loaded machine that alone can take longer than compiling on a quiet one.
    assert 0 < times["second_call_s"] < min(times["first_call_s"], times["cold_s"])


def test_memory(tmp_path: Path) -> None:
    from benchmarks import memory

    output = tmp_path / "memory.json"
    words = ["memory", "--graphs", "urand12", "--output", str(output)]
    subprocess.run([sys.executable, "-m", "benchmarks", *words], cwd=ROOT, capture_output=True, check=True)
    found = json.loads(output.read_text())["memory"]["urand12"]
    assert set(found["works"]) == {"graph", "bfs", "sssp", "pagerank", "spmv", "triangles"}
    # In a new process: this one may have freed memory at hand, and then takes none.
    code = """
import numpy as np
from benchmarks import memory
taken = memory.usage_of(lambda: np.ones(1 << 23).sum(), "cpu")
print(taken.peak, taken.kept)
"""
    peak, kept = map(int, printed(code, cwd=ROOT).split())
    assert 60e6 < peak < 75e6
    assert abs(kept) < 6e6
    found["works"]["bfs"]["peak"] = 10**9
    assert memory.beyond(found, "cpu") == ["bfs"]
    assert "BROKEN" in memory.table("urand12", found, "cpu")


def test_lanes(tmp_path: Path, run: Callable[..., str]) -> None:
    output = tmp_path / "lanes.json"
    words = ["lanes", "--graphs", "kron12", "--works", "bfs,dijkstra", "--budget", "0.1"]
    printed = run(*words, "--libraries", "SciPy", "--output", str(output))
    rows = json.loads(output.read_text())["lanes"]["kron12"]
    assert not any("wrong" in row for row in rows) and all(row["lanes_s"] > 0 for row in rows)
    assert [row["library"] for row in rows] == ["hpgraph", "SciPy", "hpgraph", "SciPy"]
    assert "64 BFS, all levels" in printed and rows[0]["ratio"] == rows[0]["lanes_s"] / rows[0]["single_s"]


@pytest.mark.parametrize(
    ("name", "words", "says"),
    [
        ("centralities", ["--works", "subgraph,katz"], "a tenth of the vertices"),
        ("structures", [], "biconnected components"),
        ("communities", [], "CDLP, 10 rounds"),
    ],
)
def test_works_of_one_kind(tmp_path: Path, run: Callable[..., str], name: str, words: list[str], says: str) -> None:
    output, libraries = tmp_path / "results.json", "" if name == "communities" else "SciPy"
    begin = [name, "--graphs", "kron12", "--libraries", libraries, "--budget", "0.05", "--output", str(output)]
    assert says in run(*begin, *words)
    rows = json.loads(output.read_text())[name]["kron12"]
    assert not any("wrong" in row for row in rows) and all(row["seconds"]["hpgraph"] > 0 for row in rows)


def test_planted_communities(tmp_path: Path, run: Callable[..., str]) -> None:
    output = tmp_path / "planted.json"
    words = ["planted", "--graphs", "1", "--seeds", "1", "--kinds", "small", "--mixing", ".4", "--libraries", "hpgraph"]
    found = dict(line.split(maxsplit=1) for line in run(*words, "--output", str(output)).splitlines()[2:])
    saved = {row["search"]: row for row in json.loads(output.read_text())["planted"]["results"]}
    for search in ("louvain", "leiden", "infomap", "ecg"):
        assert float(found[search].split()[0]) > 0.8
        assert saved[search]["mutual_information"] == pytest.approx(float(found[search].split()[0]), abs=5e-4)


def test_objectives(tmp_path: Path, run: Callable[..., str]) -> None:
    output = tmp_path / "objectives.json"
    words = ["--graphs", "karate_club,cliques", "--seeds", "1", "--output", str(output)]
    lines = run("objectives", *words).splitlines()[2:]
    assert len(lines) == 10 and all(len(line.split()) >= 5 for line in lines)
    rows = json.loads(output.read_text())["objectives"]
    assert len(rows) == 10 and all("hpgraph" in row["means"] and not row["wrong"] for row in rows)


def test_csgraph(tmp_path: Path, run: Callable[..., str]) -> None:
    output = tmp_path / "csgraph.json"
    words = ["--arcs", "2000", "--shapes", "grid;dense", "--works", "dijkstra;minimum;floyd", "--repeats", "1"]
    assert "ratios below 1" in run("csgraph", *words, "--output", str(output))
    rows = json.loads(output.read_text())["csgraph"]
    assert {row["shape"] for row in rows} == {"grid", "grid, whole weights", "dense"}
    assert all(row["same"] and row["ratio"] > 0 for row in rows)
    assert {row["work"].partition("(")[0] for row in rows} == {"dijkstra", "minimum_spanning_tree", "floyd_warshall"}
    words[2:] = ["--shapes", "dense", "--works", "floyd", "--repeats", "1"]
    run("csgraph", *words, "--merge", "--output", str(output))
    merged = json.loads(output.read_text())["csgraph"]
    assert [row["work"] for row in merged] == [row["work"] for row in rows]
    assert {row["shape"] for old, row in zip(rows, merged, strict=True) if old != row} == {"dense"}


def test_families(tmp_path: Path, run: Callable[..., str]) -> None:
    pytest.importorskip("networkx", "3.5", reason="older NetworkX hashes otherwise")
    output = tmp_path / "families.json"
    words = ["families", "--families", "trees,patterns", "--works", "forest,hash", "--scale", "12", "--repeats", "1"]
    printed = run(*words, "--output", str(output))
    found = {row["work"].split(",")[0]: row for row in json.loads(output.read_text())["families"]}
    assert found["maximum_spanning_forest"]["median_s"] > 0 and "| **patterns** |" in printed
    beside = found["weisfeiler_lehman_graph_hash"]["peers"]["NetworkX"]
    assert beside["alike"] and beside["ratio"] > 0
    run(*words, "--alone", "--output", str(output))
    assert not any("peers" in row for row in json.loads(output.read_text())["families"])


def test_training(tmp_path: Path, run: Callable[..., str]) -> None:
    pytest.importorskip("torch_geometric")
    output = tmp_path / "training.json"
    run("training", "--device", "cpu", "--scale", "0.001", "--epochs", "1", "--output", str(output))
    found = {row["way"]: row["accuracy"] for row in json.loads(output.read_text())["training"]}
    assert set(found) == {"hpgraph/hpgraph", "hpgraph/PyG", "PyG/PyG"}
    assert all(0 <= right <= 1 for right in found.values())


def test_torch(tmp_path: Path, run: Callable[..., str]) -> None:
    pytest.importorskip("torch_geometric")
    output = tmp_path / "torch.json"
    words = ["--device", "cpu", "--graphs", "road64", "--attention", "road64", "--repeats", "1"]
    assert "SpMM, 64 columns" in run("torch", *words, "--output", str(output))
    rows = json.loads(output.read_text())["torch"]
    assert {row["library"] for row in rows} == {"hpgraph", "PyTorch", "PyG"}
    assert all(row["median_s"] > 0 for row in rows)


def test_temporal(tmp_path: Path, run: Callable[..., str]) -> None:
    output = tmp_path / "temporal.json"
    printed = run("temporal", "--people", "40", "--contacts", "2000", "--repeats", "1", "--output", str(output))
    results = json.loads(output.read_text())["temporal"]["results"]
    assert "closeness, hops, all pairs" in printed and all(result["median_s"] > 0 for result in results)
