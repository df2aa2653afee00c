"""The benchmarks: the command runs and records, and a wrong answer is caught and never timed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse import csgraph

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the folder benchmarks/, which is not installed."""
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import __main__, answers, graphs, report, timing

    return SimpleNamespace(answers=answers, graphs=graphs, main=__main__.main, report=report, timing=timing)


@pytest.fixture
def case(benchmarks: Any) -> Any:
    """Two triangles that share a vertex, a path hanging on, and a vertex alone; weights 1, 2, 3, ..."""
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4), (4, 5), (5, 6)]
    row, column = np.array(edges).T
    upper = scipy.sparse.coo_array((np.arange(1, 9, dtype=np.float32), (row, column)), shape=(8, 8))
    arcs = scipy.sparse.csr_array(upper + upper.T)
    return benchmarks.graphs.Case(
        "two triangles", "cpu", arcs.indptr.astype(np.int64), arcs.indices, arcs.data, None, [0, 5]
    )


def _right(case: Any, work: str, source: int) -> np.ndarray:
    distance = csgraph.dijkstra(case.matrix, indices=source, unweighted=work == "bfs")
    return np.where(np.isfinite(distance), distance, -1).astype(np.int32) if work == "bfs" else distance


@pytest.mark.parametrize("work", ["bfs", "sssp"])
@pytest.mark.parametrize("source", [0, 5])
def test_right_searches_are_proven(benchmarks: Any, case: Any, work: str, source: int) -> None:
    assert benchmarks.answers.prove(work, case, source, _right(case, work, source), 1e-6) is None


@pytest.mark.parametrize("work", ["bfs", "sssp"])
@pytest.mark.parametrize("vertex", [0, 3, 6, 7])
@pytest.mark.parametrize("change", [-1, 1, 40])
def test_wrong_searches_are_caught(benchmarks: Any, case: Any, work: str, vertex: int, change: int) -> None:
    right = _right(case, work, 0)
    reached = np.isfinite(right[vertex]) and right[vertex] >= 0
    answer = right.copy()
    answer[vertex] = right[vertex] + change if reached else 2 + abs(change)
    assert benchmarks.answers.prove(work, case, 0, answer, 1e-6) is not None
    assert benchmarks.answers.agree(work, answer, right, 1e-6) is not None


def test_a_search_that_stops_short_is_caught(benchmarks: Any, case: Any) -> None:
    answer = _right(case, "bfs", 0)
    answer[answer > 2] = -1
    assert benchmarks.answers.prove("bfs", case, 0, answer, 1e-6) is not None


def test_ranks_and_products(benchmarks: Any, case: Any) -> None:
    networkx = pytest.importorskip("networkx")
    benchmarks.answers.ITERATIONS, before = 200, benchmarks.answers.ITERATIONS
    try:
        ranks = networkx.pagerank(networkx.from_scipy_sparse_array(case.csr(np.ones(case.n_arcs))), tol=1e-12)
        right = np.array([ranks[vertex] for vertex in range(case.n)])
        assert benchmarks.answers.prove("pagerank", case, None, right, 1e-6) is None
        assert benchmarks.answers.prove("pagerank", case, None, right[::-1], 1e-6) is not None
    finally:
        benchmarks.answers.ITERATIONS = before
    product = case.matrix.toarray() @ case.vector
    assert benchmarks.answers.prove("spmv", case, None, product, 1e-6) is None
    assert benchmarks.answers.prove("spmv", case, None, product + 0.01, 1e-6) is not None
    assert benchmarks.answers.agree("triangles", 2, 2, 1e-6) is None
    assert benchmarks.answers.agree("triangles", 2, 3, 1e-6) is not None


def test_a_wrong_library_gets_no_time(benchmarks: Any, case: Any) -> None:
    from benchmarks.library import Library

    class Liar(Library):
        name = "liar"
        distribution = "numpy"

        def triangles(self) -> int:
            return 3

        def bfs(self, source: int) -> Any:
            return _right(self.case, "bfs", source)

    references = benchmarks.timing.References(case, triangles=2)
    wrong = benchmarks.timing.measure(Liar(case), "triangles", references, budget=1)
    right = benchmarks.timing.measure(Liar(case), "bfs", references, budget=60)
    assert wrong.median is None
    assert len(right.seconds) == len(case.sources)
    assert benchmarks.timing.measure(Liar(case), "sssp", references, budget=1) is None
    text = benchmarks.report.table(case, [wrong, right])
    assert "WRONG: liar, triangles: counted 3, not 2" in text
    assert "two triangles: 8 vertices, 16 arcs, largest degree 4" in text


def test_the_command(tmp_path: Path) -> None:
    output = tmp_path / "results.json"
    words = ["cpu", "--graphs", "kron12,road64", "--libraries", "SciPy", "--sources", "2", "--output", str(output)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *words], cwd=ROOT, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kron12: 4,096 vertices" in done.stdout
    record = json.loads(output.read_text())
    assert record["command"].startswith("python -m benchmarks cpu --graphs kron12")
    assert {"hpgraph", "scipy", "numpy", "numba", "python"} <= set(record["versions"])
    for graph in ("kron12", "road64"):
        results = {(r["library"], r["work"]): r for r in record["graphs"][graph]["results"]}
        assert {work for library, work in results if library == "hpgraph"} == {
            "bfs", "sssp", "pagerank", "spmv", "triangles", "build"
        }  # fmt: skip
        assert {work for library, work in results if library == "SciPy"} == {"bfs", "sssp", "spmv"}
        assert all(0 < r["min_s"] <= r["median_s"] <= r["max_s"] for r in results.values())
        assert results["hpgraph", "bfs"]["calls"] == 2


@pytest.mark.parametrize("words", [["cpu", "--graphs", "kron99"], ["cpu", "--works", "bsf"], ["tpu"]])
def test_unknown_names_are_refused(benchmarks: Any, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    with pytest.raises(SystemExit):
        benchmarks.main(words)
    assert words[-1] in capsys.readouterr().err
