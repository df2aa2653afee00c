"""Files that something happened to are read, or refused in our own words.

    python -m tests.fuzz.readers --cases 20000 --seed 0

A process of its own reads them, so that a crash is seen; the file is on disk before it is read. A case follows from the
seed and its number: ``--seed S --first K --cases 1`` repeats one.
"""

import resource
import sys
import traceback
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.io.arrow_stream import ARROW
from hpgraph.io.kinds import EDGE_LISTS
from tests.fuzz.files import damaged, whole_files
from tests.fuzz.supervised import check, is_ours, keep, limited, run

SECONDS = 30
"""That one file may take."""
MEMORY = 64 << 20
"""Bytes that a read is allowed by its argument."""
GROWTH = 512 << 20
"""Bytes by which the process may grow: many times as many, for they are estimates, but not what a bomb takes."""


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
        try:
            with limited(SECONDS), warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", hpg.DuplicateEdgesWarning)
                arguments = _arguments(random, suffix)
                if random.random() < 0.25:
                    _convert(path, arguments)
                graph = hpg.read(path, memory=MEMORY, **arguments)
                check(graph)
            accepted += 1
        except BaseException as error:
            if not is_ours(error):
                print(f"FAILED case {case}, {suffix}: {''.join(traceback.format_exception(error)[-4:])}", flush=True)
                keep(folder, case)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        if grown > GROWTH:
            print(f"FAILED case {case}, {suffix}: took {grown >> 20} MiB", flush=True)
            keep(folder, case)
    print(f"cases {first} to {case}: {accepted} graphs, the rest refused")
    return 0


def _arguments(random: Random, suffix: str) -> dict[str, Any]:
    """What else a call of `hpgraph.read` says, now and then."""
    choices: dict[str, list[Any]] = {"directed": [True, False], "dtype": ["int64", "float32", "uint8", "bool"]}
    if suffix.startswith((*EDGE_LISTS, *ARROW)):
        choices |= {"names": [True, False], "n_vertices": [0, 12, 2**40]}
    if suffix.startswith(EDGE_LISTS):
        choices |= {"delimiter": [",", " ", "\t"]}
        choices |= {"comments": [None, "//", ("#", "%", "c")]}
    return {name: random.choice(values) for name, values in choices.items() if random.random() < 0.15}


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
        if not is_ours(error):
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


if __name__ == "__main__":
    sys.exit(run("tests.fuzz.readers", __doc__, "readers", 20_000, _work))
