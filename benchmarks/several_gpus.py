"""The same work on one GPU and divided between several: times, how many times as fast, and whether answers agree."""

import gc
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.containers.divided_graph import DividedGraph
from hpgraph.core.device import require_cupy, to_device
from hpgraph.core.devices import Devices
from hpgraph.core.errors import ConvergenceWarning
from hpgraph.engine.divided_sources import MAX
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import Parts
from hpgraph.kernels.runtime.cuda.part import Rows

from . import exchange
from .record import Record, command_parser
from .report import aligned

# Graphs by name: what makes them on the GPU, with weights where one GPU has the room.
GRAPHS: dict[str, Callable[[], hpg.Graph]] = {
    "kron24": lambda: hpg.datasets.kron(24, 16, weighted=True, device="cuda"),
    "urand25": lambda: hpg.datasets.uniform(25, 16, weighted=True, device="cuda"),
    "kron26": lambda: hpg.datasets.kron(26, 16, device="cuda"),
    "kron21": lambda: hpg.datasets.kron(21, 48, weighted=True, device="cuda"),
    "road4096": lambda: hpg.datasets.grid(4096, weighted=True, device="cuda"),
    "kron16": lambda: hpg.datasets.kron(16, 16, weighted=True, device="cuda"),
}
# Iterations whose times are subtracted, so that what is done once a call does not count as an iteration's.
FEW, MANY = 10, 30
# Products in a row, as in a solver.
PRODUCTS = 10


@dataclass
class Case:
    """A graph on one GPU and on several, and what some works need of it."""

    one: hpg.Graph
    several: Any
    devices: Devices

    @cached_property
    def sources(self) -> list[int]:
        """Vertices to search from."""
        candidates = np.flatnonzero(to_device(self.one.out_degree, "cpu") > 0)
        drawn: list[int] = np.random.default_rng(7).choice(candidates, 8, replace=False).tolist()
        return drawn

    @cached_property
    def vector(self) -> Any:
        """A float32 vector to multiply by."""
        return require_cupy().asarray(np.random.default_rng(11).random(self.one.n_vertices, np.float32))

    @cached_property
    def matrices(self) -> dict[bool, Any]:
        """The weighted adjacency, whole and divided."""
        whole = hpg.Matrix(self.one.out_csr)
        return {False: whole, True: whole.to(self.devices)}

    def graph(self, divided: bool) -> Any:
        """The graph, on one GPU or on several."""
        return self.several if divided else self.one


# What one call takes, in seconds, and its answer, given a case and whether it is the divided one.
Work = Callable[[Case, bool], Iterator[tuple[float, Any]]]


def synchronize(case: Case) -> None:
    """Wait for every GPU."""
    for device in case.devices:
        with device.here:
            require_cupy().cuda.Device().synchronize()


def timed(case: Case, call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, with all that it started on any GPU."""
    gc.disable()
    try:
        synchronize(case)
        began = time.perf_counter()
        answer = call()
        synchronize(case)
        return time.perf_counter() - began, answer
    finally:
        gc.enable()


def pagerank(case: Case, divided: bool) -> Iterator[tuple[float, Any]]:
    """An iteration."""

    def ranked(iterations: int) -> tuple[float, Any]:
        return timed(case, lambda: hpg.pagerank(case.graph(divided), max_iteration=iterations, tol=0).rank)

    while True:
        few, many = ranked(FEW), ranked(MANY)
        yield (many[0] - few[0]) / (MANY - FEW), many[1]


def spmv(case: Case, divided: bool) -> Iterator[tuple[float, Any]]:
    """A product of several in a row; the vector and the product lie on the first GPU."""
    A, x = case.matrices[divided], case.vector

    def products() -> Any:
        for _ in range(PRODUCTS):
            y = A @ x
        return y

    while True:
        seconds, answer = timed(case, products)
        yield seconds / PRODUCTS, answer


def each_source(call: Callable[[Any, int], Any]) -> Work:
    """A work that starts at one vertex after another."""

    def work(case: Case, divided: bool) -> Iterator[tuple[float, Any]]:
        # The first is for warming up.
        for source in (case.sources[0], *case.sources):
            yield timed(case, lambda: call(case.graph(divided), source))  # noqa: B023

    return work


def searches(case: Case, divided: bool) -> Iterator[tuple[float, Any]]:
    """Breadth-first from 128 vertices at once, past the trials; of the levels, the last search's are compared."""
    starts = (np.resize(case.sources, 128) + np.arange(128)) % case.one.n_vertices
    for _ in range(2 * MAX + 2):
        hpg.bfs(case.graph(divided), sources=starts, parents=False)
    while True:
        seconds, found = timed(case, lambda: hpg.bfs(case.graph(divided), sources=starts, parents=False))
        yield seconds, found.level[-1]


def level(case: Case, divided: bool) -> Iterator[tuple[float, Any]]:
    """What a level of a search pays for telling the others: the words of a frontier, and a meeting."""
    one, several = case.one, case.several
    rows = [Rows(shard.device.indices[0], shard.first, shard.last, shard.out_csr, shard.in_csr)
            for shard in several.shards]  # fmt: skip
    parts = Parts(rows if divided else [Rows(rows[0].device, 0, one.n_vertices, one.out_csr, one.in_csr)])
    while True:
        yield exchange.level(parts), 0


def repeated(call: Callable[[hpg.Graph], Any]) -> Work:
    """A work that is the same call again and again."""

    def work(case: Case, divided: bool) -> Iterator[tuple[float, Any]]:
        while True:
            yield timed(case, lambda: call(case.graph(divided)))

    return work


WORKS: dict[str, Work] = {
    "pagerank": pagerank,
    "triangles": repeated(hpg.triangle_count),
    "spmv": spmv,
    "betweenness": repeated(lambda graph: hpg.betweenness_centrality(graph, k=128, seed=1)),
    "cores": repeated(hpg.core_number),
    "louvain": repeated(lambda graph: hpg.louvain(graph, seed=1).modularity),
    "leiden": repeated(lambda graph: hpg.leiden(graph, seed=1).modularity),
    "bfs": each_source(lambda graph, source: hpg.bfs(graph, source).level),
    "bfs-apart": each_source(
        lambda graph, source: hpg.bfs(graph, source, gather=not isinstance(graph, DividedGraph)).level
    ),
    "sssp": each_source(lambda graph, source: hpg.sssp(graph, source).distance),
    "searches": searches,
    "components": repeated(lambda graph: hpg.connected_components(graph).label),
    "level": level,
}


def measure(work: Work, case: Case, divided: bool, repeats: int) -> tuple[float, list[Any]]:
    """The median of the times after the first, and the answers."""
    runs = work(case, divided)
    next(runs)
    seconds, answers = [], []
    for _, (took, answer) in zip(range(repeats), runs, strict=False):
        seconds.append(took)
        if isinstance(answer, hpg.DividedArray):
            answer = answer.gather()
        answers.append(to_device(answer, "cpu") if hasattr(answer, "dtype") else answer)
    return statistics.median(seconds), answers


def agree(ours: list[Any], theirs: list[Any]) -> bool:
    """Whether answers are the same, but for the order in which floating-point numbers were added."""
    return all(np.allclose(a, b, rtol=1e-4, atol=1e-12) for a, b in zip(ours, theirs, strict=True))


def divided(graph: hpg.Graph, devices: Devices) -> tuple[float, Case]:
    """Seconds that dividing a graph takes, and the case."""
    seconds, several = timed(Case(graph, None, devices), lambda: graph.to(devices))
    return seconds, Case(graph, several, devices)


def main(words: Sequence[str]) -> int:
    """Measure, print a table, and save the results.

    Returns
    -------
    int
        1 when answers differed, else 0.
    """
    parser = command_parser("several-gpus", __doc__, "graphs")
    parser.add_argument("--devices", default="cuda:all", help="between which to divide (cuda:all)")
    parser.add_argument("--graphs", default="kron24,urand25", help="of " + ", ".join(GRAPHS))
    parser.add_argument("--works", default=",".join(WORKS), help="of " + ", ".join(WORKS))
    parser.add_argument("--repeats", type=int, default=5, help="calls after the first (5)")
    chosen = parser.parse_args(words)
    warnings.simplefilter("ignore", ConvergenceWarning)
    record = Record.of(chosen, words, "cuda")
    wrong = False
    for name in chosen.graphs.split(","):
        seconds, case = divided(GRAPHS[name](), Devices.of(chosen.devices))
        print(f"{name}: {case.several}, divided in {seconds:.2f} s", flush=True)
        rows = [["", "one GPU, ms", f"{len(case.devices)} GPUs, ms", "times as fast"]]
        saved: dict[str, Any] = {"divided": seconds, "arcs": case.one.n_edges, "devices": str(case.devices)}
        for work in chosen.works.split(","):
            (alone, expected), (together, found) = (
                measure(WORKS[work], case, several, chosen.repeats) for several in (False, True)
            )
            right = agree(found, expected)
            wrong = wrong or not right
            rows.append([work, f"{alone * 1e3:.3f}", f"{together * 1e3:.3f}",
                         f"{alone / together:.2f}" if right else "WRONG"])  # fmt: skip
            saved[work] = {"one": alone, "several": together, "right": right}
            print("  ".join(rows[-1]), flush=True)
        print("\n".join(aligned(rows)), end="\n\n", flush=True)
        record.save(several_gpus={**record.content.get("several_gpus", {}), name: saved})
        del case
        gc.collect()
        require_cupy().get_default_memory_pool().free_all_blocks()
    print(f"saved in {record.path}")
    return int(wrong)
