"""A fuzzer of files: processes of their own read them, case after case; another goes on behind a case that ended one.

The files of cases that failed are kept. What such fuzzers ask of a graph, and of an error, stands here too.
"""

import argparse
import contextlib
import faulthandler
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numba.core import event

import hpgraph as hpg

ALLOWED = (ValueError, TypeError, IndexError, OSError, MemoryError)
OURS = tuple(Path(hpg.__file__).parents[1] / part for part in ("hpgraph", "formats", "semiring"))
MIN = 40
"""Failures to stop at."""

Work = Callable[[Path, int, int, int], int]
"""What a worker does: ``work(folder, seed, first, cases)`` writes the number of each case to ``folder/case`` and its
file to ``folder/graph.SUFFIX``, and prints FAILED for each that failed."""
Warm = Callable[[Path, int, int], None]
"""What compiles the kernels before the cases: ``warm(folder, part, parts)`` calls its part of them once."""


def run(module: str, about: str | None, title: str, cases: int, work: Work, warm: Warm | None = None) -> int:
    """Run the cases that the command line asks for; the exit status says whether one failed."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
    parser.add_argument("--cases", type=int, default=cases)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time, among which the cases are divided")
    parser.add_argument("--keep", type=Path, help="folder for the files of cases that failed (default: a new one)")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--warm", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.warm is not None and warm is not None:
        warm(arguments.worker, arguments.warm, arguments.jobs)
        return 0
    if arguments.worker is not None:
        return work(arguments.worker, arguments.seed, arguments.first, arguments.cases)
    with tempfile.TemporaryDirectory() as folder:
        failures = _divide(module, Path(folder), arguments, warm is not None)
        kept = list(Path(folder).glob("*/failed"))
        if kept:
            place = arguments.keep or Path(tempfile.mkdtemp(prefix="hpgraph-fuzz-"))
            for failed in kept:
                shutil.copytree(failed, place, dirs_exist_ok=True)
            print(f"their files are in {place}")
    print(f"{title}: {arguments.cases} files from seed {arguments.seed}, {failures} failures")
    return failures > 0


def _divide(module: str, folder: Path, arguments: argparse.Namespace, warms: bool) -> int:
    """Divide the cases among jobs, after each has compiled its part of the kernels; returns the number of failures."""
    jobs, first, cases = arguments.jobs, arguments.first, arguments.cases
    places = [folder / str(job) for job in range(jobs)]
    for place in places:
        place.mkdir()
    bounds = [first + cases * job // jobs for job in range(jobs + 1)]

    def compiled(job: int) -> int:
        command = ["--jobs", str(jobs), "--warm", str(job)]
        return _failed(_worker(module, places[job], jobs, command), "while kernels were compiled")

    def supervised(job: int) -> int:
        return _supervise(module, places[job], jobs, arguments.seed, bounds[job], bounds[job + 1])

    with ThreadPoolExecutor(jobs) as pool:
        failures = sum(pool.map(compiled, range(jobs))) if warms else 0
        return failures + sum(pool.map(supervised, range(jobs)))


def _supervise(module: str, folder: Path, jobs: int, seed: int, first: int, end: int) -> int:
    """Start a worker, and another after the case that ended it."""
    failures = 0
    while first < end and failures < MIN:
        (folder / "case").write_text(str(first))
        command = ["--seed", str(seed), "--first", str(first), "--cases", str(end - first)]
        worker = _worker(module, folder, jobs, command)
        case = int((folder / "case").read_text())
        first = case + 1
        failures += worker.stdout.count("FAILED") + _failed(worker, f"case {case}")
        if worker.returncode != 0:
            keep(folder, case)
    return failures


def _worker(module: str, folder: Path, jobs: int, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a worker to its end, with its share of the cores, and print what it said."""
    threads = str(max(1, (os.cpu_count() or 1) // jobs))
    worker = subprocess.run(
        [sys.executable, "-m", module, "--worker", str(folder), *command],
        env={"HPGRAPH_NUM_THREADS": threads, **os.environ}, capture_output=True, text=True,
    )  # fmt: skip
    sys.stdout.write(worker.stdout)
    return worker


def _failed(worker: subprocess.CompletedProcess[str], when: str) -> int:
    """Whether a worker died, after saying so."""
    if worker.returncode != 0:
        print(f"FAILED {when}: exit status {worker.returncode}\n{worker.stderr[-3000:]}")
    return int(worker.returncode != 0)


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """End the process if the block takes longer; whatever is compiled, it has so many seconds afterwards."""

    class Pause(event.Listener):
        depth = 0

        def on_start(self, started: event.Event) -> None:
            self.depth += 1
            faulthandler.cancel_dump_traceback_later()

        def on_end(self, ended: event.Event) -> None:
            self.depth -= 1
            if not self.depth:
                faulthandler.dump_traceback_later(seconds, exit=True)

    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        with event.install_listener("numba:compile", Pause()):
            yield
    finally:
        faulthandler.cancel_dump_traceback_later()


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
