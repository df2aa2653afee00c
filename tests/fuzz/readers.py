"""Files that something happened to are read, or refused in our own words.

    python -m tests.fuzz.readers --cases 20000 --seed 0

A process of its own reads them, so that a crash is seen; the file is on disk before it is read. A case follows from the
seed and its number: ``--seed S --first K --cases 1`` repeats one.
"""

from __future__ import annotations

import argparse
import faulthandler
import resource
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import hpgraph as hpg
from tests.fuzz.files import damaged, whole_files

ALLOWED = (ValueError, TypeError, IndexError, OSError, MemoryError)
OURS = tuple(Path(hpg.__file__).parents[1] / part for part in ("hpgraph", "formats", "semiring"))
SECONDS = 30
"""That one file may take."""
MEMORY = 64 << 20
"""Bytes that a read is allowed by its argument."""
ENOUGH = 40
"""Failures to stop at."""
GROWTH = 512 << 20
"""Bytes by which the process may grow: many times as many, for they are estimates, but not what a bomb takes."""


def main() -> int:
    """Run the cases; the exit status says whether one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.readers", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--keep", type=Path, help="folder for the files of cases that failed (default: a new one)")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker is not None:
        return _work(arguments.worker, arguments.seed, arguments.first, arguments.cases)
    with tempfile.TemporaryDirectory() as folder:
        failures = _supervise(Path(folder), arguments)
    print(f"readers: {arguments.cases} files from seed {arguments.seed}, {failures} failures")
    return failures > 0


def _supervise(folder: Path, arguments: Any) -> int:
    """Start a worker, and another after the case that ended it."""
    keep = arguments.keep
    failures, first, end = 0, arguments.first, arguments.first + arguments.cases
    while first < end and failures < ENOUGH:
        worker = subprocess.run(
            [
                *(sys.executable, "-m", "tests.fuzz.readers", "--worker", str(folder), "--seed", str(arguments.seed)),
                *("--first", str(first), "--cases", str(end - first)),
            ],
            capture_output=True,
            text=True,
        )
        sys.stdout.write(worker.stdout)
        failures += worker.stdout.count("FAILED")
        case = int((folder / "case").read_text()) if (folder / "case").exists() else first
        first = case + 1
        if worker.returncode != 0:
            print(f"FAILED case {case}: exit status {worker.returncode}\n{worker.stderr[-3000:]}")
            failures += 1
            _keep(folder / "failed", case, next(folder.glob("graph.*"), None))
    if failures:
        keep = Path(tempfile.mkdtemp(prefix="hpgraph-fuzz-")) if keep is None else keep
        shutil.copytree(folder / "failed", keep, dirs_exist_ok=True)
        print(f"their files are in {keep}")
    return failures


def _work(folder: Path, seed: int, first: int, cases: int) -> int:
    """Read each case; say what it raised that it must not."""
    files = [file for pool in range(8) for file in whole_files(Random(f"{seed} pool {pool}"))]
    accepted = 0
    for case in range(first, first + cases):
        (folder / "case").write_text(str(case))
        random = Random(f"{seed} {case}")
        suffix, content = damaged(random, files)
        for old in folder.glob("graph.*"):
            old.unlink()
        path = folder / f"graph{suffix}"
        path.write_bytes(content)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                arguments = _arguments(random, suffix)
                if random.random() < 0.25:
                    _convert(path, arguments)
                graph = hpg.read(path, memory=MEMORY, **arguments)
            _check(graph)
            accepted += 1
        except BaseException as error:
            if not _is_ours(error):
                print(f"FAILED case {case}, {suffix}: {''.join(traceback.format_exception(error)[-4:])}", flush=True)
                _keep(folder / "failed", case, path)
        faulthandler.cancel_dump_traceback_later()
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        if grown > GROWTH:
            print(f"FAILED case {case}, {suffix}: took {grown >> 20} MiB", flush=True)
            _keep(folder / "failed", case, path)
    print(f"cases {first} to {case}: {accepted} graphs, the rest refused")
    return 0


def _arguments(random: Random, suffix: str) -> dict[str, Any]:
    """What else a call of `hpgraph.read` says, now and then."""
    choices: dict[str, list[Any]] = {"directed": [True, False], "dtype": ["int64", "float32", "uint8", "bool"]}
    if not suffix.startswith((".mtx", ".npz")):
        choices |= {"names": [True, False], "n_vertices": [0, 12, 2**40], "delimiter": [",", " ", "\t"]}
        choices |= {"comments": [None, "//", ("#", "%", "c")]}
    return {name: random.choice(values) for name, values in choices.items() if random.random() < 0.15}


def _check(graph: hpg.Graph) -> None:
    """What came out is a graph."""
    csr = graph.out_csr
    assert csr.indptr[0] == 0 and csr.indptr[-1] == csr.indices.size and (np.diff(csr.indptr) >= 0).all()
    assert csr.indices.size == 0 or (csr.indices.min() >= 0 and csr.indices.max() < graph.n_vertices)
    assert csr.data is None or csr.data.size == csr.indices.size
    assert graph.names is None or len(graph.names) == graph.n_vertices


def _convert(path: Path, arguments: dict[str, Any]) -> None:
    """A conversion ends as reading does: with the same graph, or an error of ours."""
    arguments = {name: value for name, value in arguments.items() if name != "dtype"}
    made = path.with_name("made.hpg")
    graph = other = None
    try:
        graph = hpg.read(path, memory=MEMORY, **arguments)
    except Exception as error:
        other = error
    try:
        hpg.convert(path, made, memory=MEMORY, **arguments)
    except Exception as error:
        # What needs no memory here may need too much there, but not the other way round.
        assert graph is None, f"read, and not converted: {error!r}"
        if not _is_ours(error):
            raise
        return
    assert graph is not None or isinstance(other, MemoryError), f"converted, and not read: {other!r}"
    if graph is not None:
        found = hpg.read(made)
        assert found.directed == graph.directed, "directed"
        assert (found.names is None) == (graph.names is None), "names"
        assert graph.names is None or found.names.tolist() == graph.names.tolist(), "names"
        for name in ("indptr", "indices", "data"):
            one, two = getattr(found.out_csr, name), getattr(graph.out_csr, name)
            assert (one is None) == (two is None) and (one is None or np.array_equal(one, two, equal_nan=True)), name


def _is_ours(error: BaseException) -> bool:
    """Whether the library itself raised it, for a cause that a caller can act on."""
    innermost = traceback.extract_tb(error.__traceback__)[-1]
    return isinstance(error, ALLOWED) and any(map(Path(innermost.filename).is_relative_to, OURS))


def _keep(folder: Path, case: int, path: Path | None) -> None:
    folder.mkdir(exist_ok=True)
    if path is not None:
        shutil.copy(path, folder / f"{case}{path.name.removeprefix('graph')}")


if __name__ == "__main__":
    sys.exit(main())
