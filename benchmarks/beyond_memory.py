"""Topology larger than its memory: streamed from host memory or from a disk, beside the same graph in memory.

Answers are compared with those of the graph in memory. A table says what a call took, how many bytes were brought, and
at what rate the *stored* bytes went by; another what each technique is worth.
"""

import argparse
import contextlib
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg
import hpgraph.core.device
from hpgraph.core.device import to_device
from hpgraph.core.errors import ConvergenceWarning
from hpgraph.formats import Pages
from hpgraph.formats.file_stretch import FileStretch
from hpgraph.kernels.pages import cut

from . import graphs
from .record import Record, command_parser

MiB = 1 << 20


def size(text: str) -> int:
    """Bytes of a text such as 512MiB or 3GiB."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", MiB), ("KiB", 1 << 10)):
        if text.endswith(unit):
            return int(float(text.removesuffix(unit)) * factor)
    return int(text)


def in_file(pages: Pages, folder: Path) -> Pages:
    """The same pages, their ids and weights in files of the folder."""
    path = folder / f"{pages.encoding}.pages"
    stored = _written(pages.stored, path)
    values = None if pages.values is None else _written(pages.values, folder / f"{pages.encoding}.weights")
    return Pages(
        pages.shape, pages.indptr, pages.first_arc, pages.offset, stored, pages.checksum, pages.id_dtype,
        pages.encoding, values, pages.value_checksum, pages.first_row, pages.last_row, str(path),
    )  # fmt: skip


def _written(array: Any, path: Path) -> FileStretch:
    """An array in a file of its own, behind a first block as a header would be."""
    with open(path, "wb") as file:
        file.write(bytes(4096))
        file.write(array)
    return FileStretch(open(path, "rb"), 4096, len(array), array.dtype)


class Bench:
    """One graph in pages, what its answers are, and the rows of its tables."""

    def __init__(self, name: str, whole: hpg.Graph, chosen: argparse.Namespace, record: Record) -> None:
        self.name, self.chosen, self.record = name, chosen, record
        self.rows: list[dict[str, Any]] = []
        self.n, self.arcs, self.device = whole.n_vertices, whole.n_edges, chosen.device
        self.asked = chosen.works.split(",")
        degree = to_device(whole.out_degree, "cpu")
        reached = np.flatnonzero(degree > 0)
        self.sources = np.random.default_rng(7).choice(reached, chosen.sources, replace=False).tolist()
        self.expected = self.answers(whole, True)
        arcs = whole.to("cpu").out_csr
        self.pages = {
            encoding: cut(arcs, arcs_per_page=chosen.arcs_per_page, encoding=encoding)
            for encoding in chosen.encodings.split(",")
        }

    def answers(self, graph: Any, timed: bool = False) -> dict[str, Any]:
        """What each work finds, on the CPU; and what the graph in memory takes."""
        self.memory: dict[str, float] = getattr(self, "memory", {})
        every: dict[str, Callable[[], Any]] = {
            "bfs": lambda: np.stack([to_device(hpg.bfs(graph, source).level, "cpu") for source in self.sources[:2]]),
            "pagerank": lambda: to_device(self.ranks(graph).rank, "cpu"),
            "components": lambda: hpg.connected_components(graph).count,
            "sssp": lambda: to_device(hpg.sssp(graph, self.sources[0]).distance, "cpu"),
            "cores": lambda: to_device(hpg.core_number(graph), "cpu"),
            "triangles": lambda: hpg.triangle_count(graph),
        }
        found = {work: every[work]() for work in self.asked}
        if timed:
            self.memory = {work: self.time(call, graph) for work, call in self.works().items()}
        return found

    def ranks(self, graph: Any) -> Any:
        """A few iterations of PageRank."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return hpg.pagerank(graph, tol=0, max_iteration=self.chosen.iterations, dtype=self.chosen.dtype)

    def works(self) -> dict[str, Callable[[Any], Any]]:
        """What is measured, by name."""
        every: dict[str, Callable[[Any], Any]] = {
            "bfs": lambda graph: [hpg.bfs(graph, source) for source in self.sources],
            "pagerank": self.ranks,
            "components": hpg.connected_components,
            "sssp": lambda graph: [hpg.sssp(graph, source) for source in self.sources],
            "cores": hpg.core_number,
            "triangles": hpg.triangle_count,
        }
        return {work: every[work] for work in self.asked}

    def each(self, work: str) -> int:
        """What a time is divided by: searches, or iterations."""
        return {"bfs": len(self.sources), "sssp": len(self.sources), "pagerank": self.chosen.iterations}.get(work, 1)

    def time(self, call: Callable[[Any], Any], graph: Any) -> float:
        """Milliseconds of a call, the device's work included."""
        began = time.perf_counter()
        call(graph)
        if self.device == "cuda":
            import cupy

            cupy.cuda.get_current_stream().synchronize()
        return (time.perf_counter() - began) * 1e3

    def wrong(self, graph: Any) -> list[str]:
        """What the streamed graph answers otherwise."""
        tolerance = 1e-9 if self.chosen.dtype == "float64" else 1e-4
        same: dict[str, Callable[[Any, Any], bool]] = {
            "pagerank": lambda a, b: np.allclose(a, b, rtol=tolerance, atol=0)
        }
        found = self.answers(graph)
        return [work for work in self.asked if not same.get(work, np.array_equal)(found[work], self.expected[work])]

    @contextlib.contextmanager
    def graph(self, pages: Pages, **options: Any) -> Iterator[hpg.StreamedGraph]:
        """The graph over some pages, within the budget."""
        budgets: dict[str, Any] = {"memory": size(self.chosen.memory), "host_memory": None} | options
        graph = hpg.StreamedGraph(pages, directed=False, device=self.device, **budgets)
        try:
            yield graph
        finally:
            graph._stores.close()

    def measure(self, title: str, pages: Pages, check: bool, works: Sequence[str] = (), **options: Any) -> bool:
        """Rows of a table for one way of streaming; whether an answer was wrong."""
        with self.graph(pages, **options) as graph:
            said = self.wrong(graph) if check else []
            for work in works or self.works():
                call = self.works()[work]
                before, rounds = graph.moved, self.chosen.rounds
                first = self.time(call, graph)
                if rounds:
                    before = graph.moved
                times = [self.time(call, graph) for _ in range(rounds)] or [first]
                moved = (graph.moved - before) / len(times) / self.each(work)
                took = statistics.median(times) / self.each(work)
                rate = pages.nbytes / took / 1e6
                self.record_row(title, work, first / self.each(work), took, moved, rate)
            for text in said:
                print(f"WRONG: {text} ({title})", flush=True)
        return bool(said)

    def record_row(self, title: str, work: str, first: float, took: float, moved: float, rate: float) -> None:
        """Print a row and keep it."""
        memory = self.memory.get(work, float("nan")) / self.each(work)
        print(
            f"| {self.name} | {title} | {work} | {first:,.1f} | {took:,.1f} | {memory:,.2f} | {moved / 1e9:,.3f} "
            f"| {rate:,.1f} |",
            flush=True,
        )
        self.rows.append({
            "graph": self.name, "way": title, "work": work, "first_ms": first, "ms": took, "in_memory_ms": memory,
            "bytes": moved, "stored_gb_per_s": rate,
        })  # fmt: skip
        self.record.save(**{self.name: self.rows})


HEAD = "| graph | way | work | first call, ms | ms | in memory, ms | GB brought | stored GB/s |\n" + "|---" * 8 + "|"


def main(words: Sequence[str]) -> int:
    """Measure, print tables, and save the results.

    Returns
    -------
    int
        1 when an answer was wrong, else 0.
    """
    parser = command_parser("beyond-memory", __doc__)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--graphs", default="kron20", help="names of benchmarks.graphs, or kron26 and the like")
    parser.add_argument("--memory", default="32MiB", help="budget for topology, as 3GiB")
    parser.add_argument("--encodings", default="gaps,none")
    parser.add_argument("--works", default="bfs,pagerank,components", help="of those, and sssp, cores, triangles")
    parser.add_argument("--weighted", action="store_true", help="arcs weigh 1 to 64, in float32")
    parser.add_argument("--arcs-per-page", type=int, default=1 << 18)
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--iterations", type=int, default=5, help="of PageRank in a call (5)")
    parser.add_argument("--rounds", type=int, default=3, help="calls after the first (3); 0: the first is all")
    parser.add_argument("--dtype", default="float64", choices=["float32", "float64"])
    parser.add_argument("--disk", action="store_true", help="from a file too, with --host-memory for its pages")
    parser.add_argument("--host-memory", default="0", help="pinned memory for pages of a file, on the GPU")
    parser.add_argument("--folder", help="where the files are written")
    parser.add_argument("--only-disk", action="store_true", help="not from host memory")
    parser.add_argument("--fits", action="store_true", help="with room for all of it too")
    parser.add_argument("--ablation", action="store_true", help="each technique switched off or changed")
    parser.add_argument("--trace", action="store_true", help="predicted and measured, superstep by superstep")
    chosen = parser.parse_args(words)
    record = Record.of(chosen, words, chosen.device)
    failed = False
    for name in chosen.graphs.split(","):
        bench = Bench(name, whole(name, chosen.device, chosen.weighted), chosen, record)
        if chosen.device == "cuda":
            hpg.core.device.require_cupy().get_default_memory_pool().free_all_blocks()
        stored = ", ".join(f"{kind} {p.nbytes / 1e9:.2f} GB" for kind, p in bench.pages.items())
        print(f"\n{name}: {bench.n:,} vertices, {bench.arcs:,} arcs; stored {stored}\n{HEAD}", flush=True)
        for encoding, pages in bench.pages.items():
            if not chosen.only_disk:
                failed |= bench.measure(f"host, {encoding}", pages, True)
        if chosen.fits:
            pages = next(iter(bench.pages.values()))
            failed |= bench.measure("all of it fits", pages, True, memory=16 * pages.nnz)
        if chosen.disk or chosen.only_disk:
            with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
                for encoding, pages in bench.pages.items():
                    host = size(chosen.host_memory) if chosen.device == "cuda" else None
                    failed |= bench.measure(f"disk, {encoding}", in_file(pages, Path(folder)), True, host_memory=host)
        pages = next(iter(bench.pages.values()))
        if chosen.trace:
            with bench.graph(pages) as graph:
                for source in bench.sources[:2]:
                    hpg.bfs(graph, source)
                    print(hpg.bfs(graph, source).trace.explain())
                print(bench.ranks(graph).trace.explain())
        if chosen.ablation:
            ablate(bench, pages)
            with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
                ablate_disk(bench, {name: in_file(each, Path(folder)) for name, each in bench.pages.items()})
    return int(failed)


def ablate(bench: Bench, pages: Pages) -> None:
    """What each technique is worth, on the first encoding."""
    if bench.device == "cpu":
        return
    for mebibytes in (4, 8, 32):
        bench.measure(f"windows of {mebibytes} MiB", pages, False, ("pagerank",), window_bytes=mebibytes * MiB)
    bench.measure("nothing in place", pages, False, ("bfs",), in_place=False)
    bench.measure("no heads", pages, False, ("bfs",), hub_cache=False)


def ablate_disk(bench: Bench, files: dict[str, Pages]) -> None:
    """Requests to a disk: how many windows ahead, how large, and gaps between rows that are read along."""
    host: dict[str, Any] = {"host_memory": 0} if bench.device == "cuda" else {}
    for encoding, pages in files.items():
        if bench.device == "cpu":
            for ahead in (1, 2, 4, 8, 16, 32):
                bench.measure(f"disk, {encoding}, {ahead} windows ahead", pages, False, ("pagerank",), ahead=ahead)
        else:
            for mebibytes in (1, 4, 8, 16):
                title = f"disk, {encoding}, requests of {mebibytes} MiB"
                bench.measure(title, pages, False, ("pagerank",), window_bytes=mebibytes * MiB, **host)
        for kibibytes in (0, 8, 16, 64, 256):
            title = f"disk, {encoding}, gaps of {kibibytes} KiB"
            bench.measure(title, pages, False, ("bfs",), gap=kibibytes << 10, **host)


def whole(name: str, device: str, weighted: bool) -> hpg.Graph:
    """A graph in memory."""
    if name.startswith("kron") and name[4:].isdigit() and int(name[4:]) > 20:
        return hpg.datasets.kron(int(name[4:]), 16, weighted=weighted, device=device)
    graph = graphs.make(name, device, 1).graph
    return graph if weighted else hpg.Graph(graph.out_csr.with_data(None), directed=False)
