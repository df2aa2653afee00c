"""A fuzzer of files: a process of its own reads them, case after case, and another goes on behind a case that ended it.

The files of cases that failed are kept. What such fuzzers ask of a graph, and of an error, stands here too.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

import hpgraph as hpg

ALLOWED = (ValueError, TypeError, IndexError, OSError, MemoryError)
OURS = tuple(Path(hpg.__file__).parents[1] / part for part in ("hpgraph", "formats", "semiring"))
MIN = 40
"""Failures to stop at."""

Work = Callable[[Path, int, int, int], int]
"""What a worker does: ``work(folder, seed, first, cases)`` writes the number of each case to ``folder/case`` and its
file to ``folder/graph.SUFFIX``, and prints FAILED for each that failed."""


def run(module: str, about: str | None, title: str, cases: int, work: Work) -> int:
    """Run the cases that the command line asks for; the exit status says whether one failed."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
    parser.add_argument("--cases", type=int, default=cases)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--keep", type=Path, help="folder for the files of cases that failed (default: a new one)")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker is not None:
        return work(arguments.worker, arguments.seed, arguments.first, arguments.cases)
    with tempfile.TemporaryDirectory() as folder:
        failures = _supervise(module, Path(folder), arguments)
    print(f"{title}: {arguments.cases} files from seed {arguments.seed}, {failures} failures")
    return failures > 0


def _supervise(module: str, folder: Path, arguments: argparse.Namespace) -> int:
    """Start a worker, and another after the case that ended it."""
    failures, first, end = 0, arguments.first, arguments.first + arguments.cases
    while first < end and failures < MIN:
        command = [sys.executable, "-m", module, "--worker", str(folder), "--seed", str(arguments.seed)]
        command += ["--first", str(first), "--cases", str(end - first)]
        worker = subprocess.run(command, capture_output=True, text=True)
        sys.stdout.write(worker.stdout)
        failures += worker.stdout.count("FAILED")
        case = int((folder / "case").read_text()) if (folder / "case").exists() else first
        first = case + 1
        if worker.returncode != 0:
            print(f"FAILED case {case}: exit status {worker.returncode}\n{worker.stderr[-3000:]}")
            failures += 1
            keep(folder, case)
    if failures:
        kept = arguments.keep or Path(tempfile.mkdtemp(prefix="hpgraph-fuzz-"))
        shutil.copytree(folder / "failed", kept, dirs_exist_ok=True)
        print(f"their files are in {kept}")
    return failures


def keep(folder: Path, case: int) -> None:
    """Set the file of a case aside, where there is one."""
    (folder / "failed").mkdir(exist_ok=True)
    for path in folder.glob("graph.*"):
        shutil.copy(path, folder / "failed" / f"{case}{path.name.removeprefix('graph')}")


def is_ours(error: BaseException) -> bool:
    """Whether the library itself raised it, for a cause that a caller can act on."""
    innermost = traceback.extract_tb(error.__traceback__)[-1]
    return isinstance(error, ALLOWED) and any(map(Path(innermost.filename).is_relative_to, OURS))


def check(graph: hpg.Graph) -> None:
    """What came out is a graph."""
    csr = graph.out_csr
    assert csr.indptr[0] == 0 and csr.indptr[-1] == csr.indices.size and (np.diff(csr.indptr) >= 0).all()
    assert csr.indices.size == 0 or (csr.indices.min() >= 0 and csr.indices.max() < graph.n_vertices)
    assert csr.data is None or csr.data.size == csr.indices.size
    assert graph.names is None or len(graph.names) == graph.n_vertices
