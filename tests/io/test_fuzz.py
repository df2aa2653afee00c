"""A share of what ``make fuzz`` reads."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.forged_files import check, forged


@pytest.mark.parametrize(("fuzzer", "cases"), [("readers", 400), ("graph_files", 150)])
def test_malformed_files_are_refused_in_our_words(fuzzer: str, cases: int, tmp_path: Path) -> None:
    """And damaged graph files are refused or unchanged."""
    run = subprocess.run(
        [sys.executable, "-m", f"tests.fuzz.{fuzzer}", "--cases", str(cases), "--keep", str(tmp_path / "failed")],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{cases} files from seed 0, 0 failures" in run.stdout


def test_forged_graph_files_are_refused(tmp_path: Path) -> None:
    refused = 0
    for seed in range(60):
        random = Random(seed)
        graph = forged(random)
        check(graph, tmp_path / "graph.hpg", random, {"bfs", "connected_components", "core_number"})
        refused += not graph.keeps_format
    assert 20 < refused < 50
