"""The algebra's operations beside other libraries': ``python -m benchmarks.algebra [--device cpu|cuda] [WORK ...]``.

Each work is a list of contestants, ours first; they are called in turn, round by round, so that a machine that changes
its pace changes it for all, and every answer is compared with ours before its time counts. The table has medians, and
ours over theirs: below 1 we are faster. On CUDA it has the peak of CuPy's memory pool, too.
"""

import argparse
import functools
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import array_module, require_cupy
from hpgraph.semiring import Semiring, get_binary, get_monoid

from .algebra_entries import ENTRYWISE
from .peers_sparse import cusparse_product, graphblas_product, graphblas_triangles
from .timing import timed

ROUNDS = 5
# Seconds before each call on the CPU: threads of OpenMP spin for a while after their work is done, and would have the
# cores of the next call.
PAUSE = 0.02


@dataclass
class Work:
    """An operation: the libraries that do it, and how two answers are compared (entries, or the count itself)."""

    name: str
    contestants: dict[str, Callable[[], Any]]
    size: Callable[[Any], int]


@functools.cache
def _graph(name: str, device: str) -> hpg.Matrix | None:
    if name != "cnr-2000":
        maker, scale = name.rstrip("0123456789"), int(name.lstrip("abcdefghijklmnopqrstuvwxyz"))
        return hpg.Matrix(getattr(hpg.datasets, maker)(scale, weighted=True, device=device))
    data = os.environ.get("HPGRAPH_DATA")
    if data is None:
        print("HPGRAPH_DATA names no folder of graphs: cnr-2000 is left out")
        return None
    return hpg.Matrix(hpg.read(Path(data) / "cnr-2000.mtx.gz", device=device), dtype=np.float32)


def _entries(C: Any) -> int:
    if hasattr(C, "ndim") and C.ndim == 1:
        return len(C)
    return int(C.nvals if hasattr(C, "nvals") else C.nnz)


def entrywise(wanted: str) -> Callable[[str, hpg.Matrix], Work]:
    """A work of `algebra_entries`."""
    title, contestants = ENTRYWISE[wanted]
    return lambda name, A: Work(f"{title}, {name}", contestants(A), _entries)


def squares(name: str, A: hpg.Matrix) -> Work:
    """A @ A, over the built-in operators and over a user's."""
    own = Semiring(get_monoid("plus"), get_binary(lambda a, b: a * b))
    contestants: dict[str, Callable[[], Any]] = {"hpgraph": lambda: A @ A, "a Python operator": lambda: A.mxm(A, own)}
    if A.device == "cpu":
        S = A.tocsr()
        contestants["SciPy"] = lambda: S @ S
        contestants["python-graphblas"] = graphblas_product(S)
    else:
        contestants["cuSPARSE"] = cusparse_product(A)
    return Work(f"A @ A, {name}", contestants, _entries)


def _symmetric(A: hpg.Matrix) -> hpg.Matrix:
    """The pattern of the graph without directions."""
    return (A.structure.astype(np.int8) + A.T.structure.astype(np.int8)).structure


def _by_degree(symmetric: hpg.Matrix) -> hpg.Matrix:
    """The lower triangle of rows and columns in order of degree, hubs first, so that no row of it is long."""
    order = array_module(symmetric.device).argsort(-symmetric.csr.degrees)
    return hpg.tril(symmetric[order[:, None], order], -1)


def ordering(name: str, A: hpg.Matrix) -> Work:
    """What the order of degree costs before triangles."""
    symmetric = _symmetric(A)
    return Work(f"rows in order of degree, {name}", {"hpgraph": lambda: _by_degree(symmetric)}, _entries)


def triangles(name: str, A: hpg.Matrix) -> Work:
    """Triangles as a masked product: of a lower triangle in the order of ids, and in that of degree, made before."""
    symmetric = _symmetric(A)
    L, D = hpg.tril(symmetric, -1), _by_degree(symmetric)
    contestants: dict[str, Callable[[], Any]] = {
        "hpgraph": lambda: int(hpg.mxm(L, L.T, "plus_pair", mask=L).sum()),
        "in order of degree": lambda: int(hpg.mxm(D, D.T, "plus_pair", mask=D).sum()),
    }
    graph = hpg.Graph(symmetric, directed=False)
    contestants["triangle_count"] = lambda: hpg.triangle_count(graph)
    if A.device == "cpu":
        contestants["python-graphblas"] = graphblas_triangles(L.csr)
    return Work(f"triangles by mxm, {name}", contestants, int)


WORKS = {
    "squares": (squares, ["cnr-2000", "social18"]),
    "triangles": (triangles, ["cnr-2000", "kron18", "social18"]),
    "ordering": (ordering, ["cnr-2000", "kron18", "social18"]),
    **{name: (entrywise(name), ["cnr-2000", "kron18"]) for name in ENTRYWISE},
}
# What the product of social18 with itself, 1.5 billion entries, takes is beyond a small machine.
CPU_GRAPHS = {"squares": ["cnr-2000"], "triangles": ["cnr-2000", "kron18"]}


def measure(work: Work, device: str, rounds: int = ROUNDS) -> dict[str, tuple[float, float | None]]:
    """Median seconds of each contestant, and MiB of the pool at its peak on CUDA; one that fails is left out."""
    first: int | None = None
    seconds: dict[str, list[float]] = {name: [] for name in work.contestants}
    memory: dict[str, float] = {}
    for round_ in range(rounds + 1):
        for name, call in work.contestants.items():
            if name not in seconds:
                continue
            try:
                if device == "cuda" and round_ == rounds:
                    took, answer, memory[name] = _with_peak(call)
                else:
                    time.sleep(PAUSE if device == "cpu" else 0)
                    took, answer = timed(call, device)
                size = work.size(answer)
            except Exception as error:
                print(f"  {name} fails: {type(error).__name__}: {error}")
                del seconds[name]
                continue
            del answer
            first = size if first is None else first
            if size != first:
                print(f"  {name} errs: {size} instead of {first}")
                del seconds[name]
            elif 0 < round_ < rounds or (device == "cpu" and round_):
                seconds[name].append(took)
    return {name: (statistics.median(times), memory.get(name)) for name, times in seconds.items()}


def _with_peak(call: Callable[[], Any]) -> tuple[float, Any, float]:
    """Seconds and answer of a call, and by how many MiB it made an empty pool grow; that it must grow takes time."""
    pool = require_cupy().get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.total_bytes()
    took, answer = timed(call, "cuda")
    return took, answer, (pool.total_bytes() - before) / 2**20


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.algebra", description=__doc__)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"of {', '.join(WORKS)}; default: all")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--graphs", nargs="*", help="cnr-2000, or kron, social, uniform with a scale, as in kron18")
    given = parser.parse_args(arguments)
    array_module(given.device)
    for wanted in given.works or WORKS:
        make, graphs = WORKS[wanted]
        default = graphs if given.device == "cuda" else CPU_GRAPHS.get(wanted, graphs)
        for name in given.graphs or default:
            A = _graph(name, given.device)
            if A is None:
                continue
            work = make(name, A)
            print(work.name)
            measured = measure(work, given.device, given.rounds)
            ours, our_memory = measured["hpgraph"]
            for library, (took, memory) in measured.items():
                line = f"  {library:28} {took * 1e3:10.2f} ms   x{ours / took:.2f}"
                print(line if memory is None else f"{line}   {memory:,.0f} MiB  x{our_memory / max(memory, 1e-9):.2f}")


if __name__ == "__main__":
    main()
