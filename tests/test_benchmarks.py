"""The benchmarks: a wrong answer is caught and never timed, and reports say what was measured."""

import importlib
import json
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
    from benchmarks import __main__, answers, floors, gapbs, graphs, layouts, library, record, report, timing

    return SimpleNamespace(
        answers=answers, floors=floors, gapbs=gapbs, graphs=graphs, layouts=layouts, library=library,
        main=__main__.main, record=record, report=report, timing=timing,
    )  # fmt: skip


@pytest.fixture
def case(benchmarks: Any) -> Any:
    """Two triangles that share a vertex, a path hanging on, and a vertex alone; weights 1, 2, 3, ..."""
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4), (4, 5), (5, 6)]
    row, column = np.array(edges).T
    upper = scipy.sparse.coo_array((np.arange(1, 9, dtype=np.float32), (row, column)), shape=(8, 8))
    arcs = scipy.sparse.csr_array(upper + upper.T)
    return benchmarks.graphs.Case(
        "two triangles", "cpu", arcs.indptr.astype(np.int64), arcs.indices, arcs.data, None, [0, 5], [1, 5]
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
    assert benchmarks.answers.agree("triangles", 2, 2, 1e-6) is None
    assert benchmarks.answers.agree("triangles", 2, 3, 1e-6) is not None


@pytest.mark.parametrize("work", ["spmv", "spmv_hyb", "spmv64", "min_plus", "lor_land", "any_pair", "plus_pair"])
def test_products_are_proven(benchmarks: Any, case: Any, work: str) -> None:
    dense = case.matrix.toarray()
    arc = dense > 0
    right = {
        "spmv": dense @ case.vector, "spmv_hyb": dense @ case.vector,
        "spmv64": dense.astype(np.float64) @ case.wide_vector,
        "min_plus": np.where(arc, dense + case.vector, np.inf).min(axis=1), "lor_land": (arc & case.flags).any(axis=1),
        "any_pair": (arc & case.flags).any(axis=1), "plus_pair": (arc & case.flags).sum(axis=1),
    }[work]  # fmt: skip
    wrong = right.copy()
    wrong[3] = not wrong[3] if wrong.dtype == bool else wrong[3] + 1
    for check in (lambda answer: benchmarks.answers.prove(work, case, None, answer, 1e-6),
                  lambda answer: benchmarks.answers.agree(work, answer, right, 1e-6)):  # fmt: skip
        assert check(right) is None
        assert "off by" in check(wrong)


def test_a_wrong_library_gets_no_time(benchmarks: Any, case: Any, tmp_path: Path) -> None:
    class Liar(benchmarks.library.Library):
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
    assert right.new_graph is None
    assert references.supersteps == 4.5
    assert benchmarks.timing.measure(Liar(case), "sssp", references, budget=1) is None
    record = benchmarks.record.Record(tmp_path / "results.json", ["cpu"], "cpu", [Liar.distribution])
    record.add(case, [wrong, right], references.supersteps)
    text = benchmarks.report.tables(record.read(record.path))
    assert "WRONG: liar, triangles: counted 3, not 2" in text
    assert "two triangles: 8 vertices, 16 arcs, largest degree 4" in text


def test_results_merge(benchmarks: Any, case: Any, tmp_path: Path) -> None:
    def record(seconds: float, work: str, library: str, merge: bool) -> dict[str, Any]:
        measurement = benchmarks.timing.Measurement(case.name, work, library, [seconds], seconds, [2 * seconds])
        made = benchmarks.record.Record(tmp_path / "results.json", [work], "cpu", merge=merge)
        made.add(case, [measurement], None)
        return made.read(made.path)

    record(8.0, "bfs", "GAPBS", merge=False)
    record(1.0, "triangles", "hpgraph", merge=True)
    record(1.0, "triangles", "igraph", merge=True)
    record(3.0, "bfs", "hpgraph", merge=True)
    content = record(2.0, "bfs", "hpgraph", merge=True)
    assert len(content["graphs"][case.name]["results"]) == 4
    assert content["commands"] == [f"python -m benchmarks {w}" for w in ("bfs", "triangles", "triangles", "bfs", "bfs")]
    ratios = benchmarks.report.ratios(content).splitlines()
    assert ratios[0].split() == ["ours", "/", "GAPBS", "two", "triangles", "aim"]
    assert ["BFS", "0.25", "1.3"] in [line.split() for line in ratios]
    # Others prepare in every call, so that triangles compare by the first call on a new graph.
    assert ["triangles", "2.00", "0.6"] in [line.split() for line in ratios]
    assert record(1.0, "bfs", "hpgraph", merge=False)["graphs"][case.name]["results"][0]["calls"] == 1


@pytest.mark.parametrize(
    "words", [["cpu", "--graphs", "kron99"], ["cpu", "--works", "bsf"], ["tpu"], ["cpu", "--gapbs", "no such folder"]]
)
def test_unknown_names_are_refused(benchmarks: Any, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    try:
        status = benchmarks.main(words)
    except SystemExit as end:
        status = end.code
    assert status == 2
    assert words[-1] in capsys.readouterr().err


def test_every_switch_is_in_the_ablation(benchmarks: Any) -> None:
    import hpgraph as hpg
    from benchmarks import lanes
    from benchmarks.ablation import CONCERNS

    switches = {name for name in dir(hpg.techniques) if getattr(hpg.techniques, name) is True}
    # How much kernels side by side are worth takes several GPUs: see scaling-out.
    assert switches <= {*CONCERNS, *lanes.TECHNIQUES, "multi_gpu"}


def test_the_table_of_layouts_is_that_of_the_saved_results(benchmarks: Any) -> None:
    saved = sorted((ROOT / "benchmarks" / "results").glob("layouts-*.json"))[-1]
    rows = benchmarks.record.Record.read(saved)["layouts"]
    page = ROOT / "docs" / "internals" / "measurements.md"
    assert benchmarks.layouts.summary(rows) in page.read_text(encoding="utf-8")
    assert not any(row["wrong"] for row in rows)
    head, _, *lines = benchmarks.layouts.table(rows).splitlines()
    assert head.split()[:2] == ["ms", "cuSPARSE"] and len(lines) == len(rows)


@pytest.mark.parametrize(("name", "rows"), [("families-cpu", "families"), ("embeddings-cpu", "embeddings")])
def test_tables_of_the_documentation(monkeypatch: pytest.MonkeyPatch, name: str, rows: str) -> None:
    monkeypatch.syspath_prepend(ROOT)
    saved = sorted((ROOT / "benchmarks" / "results").glob(f"{name}-*.json"))[-1]
    module = importlib.import_module(f"benchmarks.{rows}")
    table = module.table(json.loads(saved.read_text(encoding="utf-8"))[rows])
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert f"\n\n{table}\n\n" in page, f"benchmarks.{rows}.table of {saved.name} prints it"
