"""The GAP Benchmark Suite (S. Beamer, K. Asanović, D. Patterson, arXiv:1508.03619), C++ and OpenMP, built elsewhere.

Its programs read the graph from a file, run a few trials and print their times, which do not include reading. They lie
in the folder that GAPBS_DIR names.
"""

import functools
import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .answers import ITERATIONS
from .graphs import Case
from .library import Library, OwnClock

PROGRAMS = ("bfs", "sssp", "pr", "pr_spmv", "tc")
# Widths of SSSP's buckets that are tried, and the sources they are tried from.
DELTAS = tuple(1 << k for k in range(14))
TRIED_SOURCES = 2


class GAPBS(Library):
    """One process a call, over the same arcs in the suite's own file format."""

    name = "GAPBS"
    distribution = "gapbs"
    own_clock = True
    # It prints how many vertices were reached, the highest scores, and the number of triangles.
    whole_answers = False

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self._scratch = tempfile.TemporaryDirectory(prefix="gapbs-")
        self._graph = write_serialized(Path(self._scratch.name) / "graph.sg", case)
        self._weighted = write_serialized(Path(self._scratch.name) / "graph.wsg", case, case.weights)

    @classmethod
    def is_installed(cls) -> bool:
        return all((folder() / program).is_file() for program in PROGRAMS)

    def bfs(self, source: int) -> OwnClock:
        return _run("bfs", self._graph, "-r", source)

    def sssp(self, source: int) -> OwnClock:
        return self._sssp(source, self._delta)

    def pagerank(self) -> OwnClock:
        return self._pagerank(self._variant)

    # It has no other precision.
    pagerank32 = pagerank

    def triangles(self) -> OwnClock:
        return _run("tc", self._graph, trials=2)

    def read_bfs(self, raw: str) -> int:
        return int(_found(r"BFS Tree has (\d+) nodes", raw)[0])

    def read_sssp(self, raw: str) -> int:
        return int(_found(r"SSSP Tree reaches (\d+) nodes", raw)[0])

    def read_pagerank(self, raw: str) -> dict[int, float]:
        return {int(vertex): float(score) for vertex, score in _found(r"^(\d+):([\d.e+-]+)$", raw)}

    read_pagerank32 = read_pagerank

    def read_triangles(self, raw: str) -> int:
        return int(_found(r"(\d+) triangles", raw)[0])

    def compare(self, work: str, answer: Any, reference: Any) -> str | None:
        if work in ("pagerank", "pagerank32"):
            # Mass of vertices without arcs is lost there, so that scores agree up to a factor only.
            factors = [float(reference[vertex]) / score for vertex, score in answer.items()]
            spread = max(factors) / min(factors) - 1
            return None if spread < 0.02 else f"the highest scores are off by {spread:.1%}"
        searched = work in ("bfs", "sssp")
        expected = int(((reference >= 0) & np.isfinite(reference)).sum()) if searched else int(reference)
        return None if answer == expected else f"counted {answer:,}, not {expected:,}"

    def note(self, work: str) -> str | None:
        if work == "sssp":
            return f"delta {self._delta}"
        return f"{self._variant}, in float32" if work in ("pagerank", "pagerank32") else None

    def run(self, program: str, *options: str | int) -> OwnClock:
        """One of the suite's programs on the graph."""
        return _run(program, self._graph, *options)

    def _sssp(self, source: int, delta: int, trials: int = 4) -> OwnClock:
        return _run("sssp", self._weighted, "-r", source, "-d", delta, trials=trials)

    def _pagerank(self, program: str) -> OwnClock:
        return _run(program, self._graph, "-i", ITERATIONS, "-t", 0)

    @functools.cached_property
    def _delta(self) -> int:
        """The best bucket width for this graph: wider ones are tried until they clearly lose."""
        sources = self.case.sources[:TRIED_SOURCES]
        times: dict[int, float] = {}
        for delta in DELTAS:
            times[delta] = sum(self._sssp(source, delta, trials=2).seconds for source in sources)
            if times[delta] > 1.5 * min(times.values()):
                break
        return min(times, key=lambda delta: times[delta])

    @functools.cached_property
    def _variant(self) -> str:
        """The faster of its two programs for PageRank: in place, or by products."""
        return min(("pr", "pr_spmv"), key=lambda program: self._pagerank(program).seconds)


def folder() -> Path:
    """Where the suite's programs lie; a folder that does not exist when GAPBS_DIR is not set."""
    return Path(os.environ.get("GAPBS_DIR") or os.devnull)


def write_serialized(path: Path, case: Case, weights: Any = None) -> Path:
    """Write a symmetric graph in the suite's binary form: a flag, two sizes, row offsets, and the arcs' other ends.

    Parameters
    ----------
    path : Path
        Ends in ``.sg``, or ``.wsg`` for a graph with weights: programs go by that.
    case : Case
        The graph.
    weights : array, optional
        Whole numbers, one for each arc; written beside its end as an int32.

    Returns
    -------
    Path
        The same path.
    """
    ends = np.asarray(case.indices, np.int32)
    if weights is not None:
        ends = np.stack([ends, np.asarray(weights, np.int32)], axis=1)
    with path.open("wb") as out:
        np.array([False]).tofile(out)
        np.array([case.n_arcs, case.n], np.int64).tofile(out)
        np.asarray(case.indptr, np.int64).tofile(out)
        ends.tofile(out)
    return path


def _run(program: str, graph: Path, *options: str | int, trials: int = 4) -> OwnClock:
    """Run a program; the time is the median of its trials after the first, the answer what it printed of the last."""
    words = [str(folder() / program), "-f", str(graph), "-n", str(trials), "-a", *map(str, options)]
    printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    times = [float(seconds) for seconds in _found(r"Trial Time:\s+([\d.]+)", printed)]
    return OwnClock(statistics.median(times[1:]), printed)


def _found(pattern: str, printed: str) -> list[Any]:
    found = re.findall(pattern, printed, re.MULTILINE)
    if not found:
        raise ValueError(f"no {pattern!r} in what GAPBS printed:\n{printed}")
    return found
