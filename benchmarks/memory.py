"""Peak memory of each algorithm, per vertex and per arc, held to what is stated.

On the CPU by the operating system's account of resident memory, which misses nothing; on the GPU by the allocations
from CuPy's pool.
"""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hpgraph import ConvergenceWarning
from hpgraph.core.device import require_cupy

from . import graphs
from .graphs import Case
from .library import HPGraph
from .record import Record, command_parser
from .report import aligned
from .works import WORKS

# For glibc: what is freed goes back to the system at once, so that resident memory is memory in use.
_FREED_AT_ONCE = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "0"}
MEASURED = ("bfs", "sssp", "pagerank", "spmv", "triangles")
# At most so many bytes a vertex and an arc, beyond the arrays given, of a graph with ids of 32 bits and float32
# weights: `graph` when it is made of SciPy's or CuPy's CSR, the others when an algorithm runs on it.
STATED: dict[str, dict[str, tuple[float, float]]] = {
    "cpu": {
        "graph": (24, 24),
        "bfs": (24, 0),
        "sssp": (32, 0),
        "pagerank": (56, 0),
        "spmv": (40, 4),
        "triangles": (24, 4),
    },
    "cuda": {
        "graph": (16, 1),
        "bfs": (40, 0.2),
        "sssp": (32, 0.2),
        "pagerank": (256, 14),
        "spmv": (200, 14),
        "triangles": (64, 8),
    },
}
# Stacks of threads, bounds of their shares, and what interpreters do on the side.
SLACK = 8 << 20


@dataclass
class Usage:
    """Bytes in use after a block beyond those before, and the most at any time within it."""

    kept: int = 0
    peak: int = 0


@contextlib.contextmanager
def _resident() -> Iterator[Usage]:
    """Resident memory of this process, whose high-water mark Linux lets us lower to what is in use now."""
    usage = Usage()
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    yield usage
    usage.peak, usage.kept = _status("VmHWM") - before, _status("VmRSS") - before


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024


@contextlib.contextmanager
def _pool() -> Iterator[Usage]:
    """What CuPy's memory pool hands out and takes back."""
    usage = Usage()

    class Account(require_cupy().cuda.memory_hook.MemoryHook):  # type: ignore[misc]
        name = "account"

        def malloc_postprocess(self, **allocation: int) -> None:
            usage.kept += allocation["mem_size"]
            usage.peak = max(usage.peak, usage.kept)

        def free_postprocess(self, **allocation: int) -> None:
            usage.kept -= allocation["mem_size"]

    with Account():
        yield usage


def usage_of(call: Callable[[], Any], device: str) -> Usage:
    """Memory that a call takes, its result among it while it runs.

    Parameters
    ----------
    call : callable
        Without arguments; what it returns is dropped.
    device : {"cpu", "cuda"}
        Whose memory.

    Returns
    -------
    Usage
    """
    gc.collect()
    with _pool() if device == "cuda" else _resident() as usage:
        call()
        gc.collect()
    return usage


def _measure(case: Case) -> dict[str, dict[str, int]]:
    """By work: bytes that the first call on a new graph leaves with it, and the most that are in use in a call."""
    found = {}
    for work in MEASURED:
        # On a graph like it code is compiled, threads are started and SciPy is imported: which code runs depends on its
        # degrees.
        before = HPGraph(case)
        before.renew()
        _task(before, work)()
        del before
        library = HPGraph(case)
        task = _task(library, work)
        graph = usage_of(library.renew, case.device)
        first, later = usage_of(task, case.device), usage_of(task, case.device)
        found.setdefault("graph", {"kept": graph.kept, "peak": graph.peak})
        found[work] = {"kept": first.kept, "peak": max(first.peak, first.kept + later.peak)}
    return found


def _task(library: HPGraph, work: str) -> Callable[[], Any]:
    call = library.call(work)
    assert call is not None
    arguments = () if WORKS[work].calls else library.case.sources[:1]

    def task() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            call(*arguments)

    return task


def beyond(entry: Mapping[str, Any], device: str) -> list[str]:
    """Works that took more than is stated.

    Parameters
    ----------
    entry : mapping
        ``vertices``, ``arcs``, and by ``works`` the bytes in use at the peak.
    device : {"cpu", "cuda"}
        Whose statements.

    Returns
    -------
    list of str
    """
    most = {
        work: a_vertex * entry["vertices"] + an_arc * entry["arcs"] + SLACK
        for work, (a_vertex, an_arc) in STATED[device].items()
    }
    return [work for work, bytes_ in entry["works"].items() if bytes_["peak"] > most[work]]


def main(words: Sequence[str]) -> int:
    """Measure, print a table a graph, and save the results.

    Returns
    -------
    int
        1 when an algorithm took more than is stated, else 0.
    """
    parser = command_parser("memory", __doc__, "graphs")
    parser.add_argument("device", nargs="?", default="cpu", choices=["cpu", "gpu"], help="whose memory (cpu)")
    parser.add_argument("--graphs", help="names separated by commas")
    chosen = parser.parse_args(words)
    if chosen.device == "cpu" and not _FREED_AT_ONCE.items() <= os.environ.items():
        # The allocator reads them when a process starts.
        command = [sys.executable, "-m", "benchmarks", *words]
        return subprocess.run(command, env={**os.environ, **_FREED_AT_ONCE}, check=False).returncode
    device = "cuda" if chosen.device == "gpu" else "cpu"
    record = Record.of(chosen, words, device)
    broken = False
    for name in chosen.graphs.split(",") if chosen.graphs else graphs.default(device):
        case = graphs.make(name, device, 1)
        entry = {"vertices": case.n, "arcs": case.n_arcs, "works": _measure(case)}
        record.save(memory={**record.content.get("memory", {}), name: entry})
        print(table(name, entry, device), end="\n\n", flush=True)
        broken = broken or bool(beyond(entry, device))
        del case
    print(f"saved in {record.path}")
    return int(broken)


def table(graph: str, entry: Mapping[str, Any], device: str) -> str:
    """One graph's memory.

    Parameters
    ----------
    graph, entry, device
        Its name, and as for `beyond`.

    Returns
    -------
    str
        A row a work: bytes beyond the input's own arrays (for algorithms: beyond the graph), MB being 10^6.
    """
    n, arcs, over = entry["vertices"], entry["arcs"], beyond(entry, device)
    rows = [[graph, "kept, MB", "peak, MB", "bytes a vertex", "or bytes an arc", "stated: a vertex", "and an arc"]]
    for work, bytes_ in entry["works"].items():
        peak, (a_vertex, an_arc) = bytes_["peak"], STATED[device][work]
        title = WORKS[work].title.partition(",")[0] if work in WORKS else work
        cells = [f"{bytes_['kept'] / 1e6:.1f}", f"{peak / 1e6:.1f}", f"{peak / n:.1f}", f"{peak / arcs:.2f}"]
        rows.append([title, *cells, f"{a_vertex:g}", f"{an_arc:g}" + (" BROKEN" if work in over else "")])
    return "\n".join(aligned(rows))
