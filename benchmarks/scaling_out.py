"""Graphs in blocks on the workers of a local cluster: times, bytes and answers beside one process; and the model."""

import contextlib
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg

from . import graphs
from .record import Record, command_parser
from .report import aligned

GRAPHS = ("cnr-2000", "kron18", "urand18", "road1000")
WORKS = ("bfs", "sssp", "pagerank", "components", "product", "triangles", "cores", "betweenness")
# Of undirected graphs; a directed one is measured with its arcs both ways.
UNDIRECTED = ("triangles", "cores")
# A superstep of so few arcs is all overhead.
THIN = 1000


def main(words: Sequence[str]) -> int:
    """Measure each number of workers, or print what the model predicts.

    Returns
    -------
    int
        1 when an answer was wrong, else 0.
    """
    parser = command_parser("scaling-out", __doc__)
    parser.add_argument("--workers", default="1,2,4", help="numbers separated by commas (1,2,4)")
    parser.add_argument("--threads", type=int, default=1, help="threads of each worker (1)")
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="names separated by commas")
    parser.add_argument("--works", default=",".join(WORKS), help="of " + ", ".join(WORKS))
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, after one that compiles (3)")
    parser.add_argument("--device", default="cpu", help="what works on blocks, cpu or cuda (cpu)")
    parser.add_argument("--model", action="store_true", help="print what the model predicts, and measure nothing")
    chosen = parser.parse_args(words)
    if chosen.model:
        print("\n".join(predictions()))
        return 0
    record = Record.of(chosen, words, "cpu")
    found: dict[str, dict[str, Any]] = {}
    for number in map(int, chosen.workers.split(",")):
        with hpg.cluster.local(n_workers=number, threads=chosen.threads, device=chosen.device) as client:
            for name in chosen.graphs.split(","):
                graph = graph_called(name)
                for work, row in measured(client, graph, chosen.works.split(","), chosen.threads * number,
                                          chosen.repeat, chosen.device):  # fmt: skip
                    found[f"{name} {work} {number}"] = row
                    texts = (f"{key} {value}" for key, value in row.items())
                    print(name, work, f"{number} workers:", *texts, flush=True)
                record.save(scaling_out=found)
    print("\n".join(table(found)))
    print(f"saved in {record.path}")
    return int(not all(row["right"] for row in found.values()))


def graph_called(name: str) -> hpg.Graph:
    """A graph that is measured; cnr-2000 lies in the folder that HPGRAPH_DATA names."""
    if name == "cnr-2000":
        return hpg.read(Path(os.environ["HPGRAPH_DATA"]) / "cnr-2000.mtx.gz")
    return graphs.make(name, "cpu", 1).graph


def measured(
    client: Any, graph: hpg.Graph, works: Sequence[str], threads: int, repeat: int, device: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each work on a cluster, and in this process on as many threads, in turn."""
    start = int(np.argmax(graph.out_degree))
    sources = np.flatnonzero(graph.out_degree)[:1]
    x = np.arange(graph.n_vertices) % 7 + 0.5
    with contextlib.ExitStack() as open_:
        C = both = open_.enter_context(hpg.cluster.Graph.from_graph(client, graph, device=device))
        if graph.directed and not set(works).isdisjoint(UNDIRECTED):
            both = open_.enter_context(hpg.cluster.Graph.from_graph(client, graph.undirected, device=device))
        calls: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[Any, Any], bool]]] = {
            "bfs": (lambda: C.bfs(start), lambda: hpg.bfs(graph, start), lambda a, b: bool((a.level == b.level).all())),
            "sssp": (
                lambda: C.sssp(start), lambda: hpg.sssp(graph, start),
                lambda a, b: bool((a.distance == b.distance).all()),
            ),
            "pagerank": (
                C.pagerank, lambda: hpg.pagerank(graph), lambda a, b: bool(np.abs(a.rank - b.rank).max() < 1e-9)
            ),
            "components": (
                C.connected_components, lambda: hpg.connected_components(graph),
                lambda a, b: bool((a.label == b.label).all()),
            ),
            "product": (lambda: C @ x, lambda: graph.out_csr.to_scipy(np.float64) @ x, same),
            "triangles": (both.triangles, lambda: hpg.triangles(graph), lambda a, b: bool((a == b).all())),
            "cores": (
                both.core_number, lambda: hpg.core_number(graph.undirected), lambda a, b: bool((a == b).all())
            ),
            "betweenness": (
                lambda: C.betweenness_centrality(sources=sources),
                lambda: hpg.betweenness_centrality(graph, sources=sources), same,
            ),
        }  # fmt: skip
        for work in works:
            there, here, right = calls[work]
            with hpg.config(threads=threads):
                answers = there(), here()
                times = [(timed(there), timed(here)) for _ in range(repeat)]
            seconds, alone = (statistics.median(column) for column in zip(*times, strict=True))
            row = {"right": right(*answers), "seconds": round(seconds, 4), "alone": round(alone, 4),
                   "ratio": round(seconds / alone, 2)}  # fmt: skip
            trace = getattr(answers[0], "trace", None)
            if work in ("bfs", "sssp", "pagerank"):
                thin = trace.seconds[trace.edges <= THIN]
                row |= {"supersteps": trace.supersteps, "arcs": int(trace.edges.sum())}
                row |= {"ms of a thin superstep": round(1e3 * float(np.median(thin)), 2) if len(thin) else None}
                row |= bytes_of(C, work, answers[0].trace)
            yield work, row


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether floats are the same but for rounding; what one source says of itself is NaN."""
    return bool(np.allclose(a, b, equal_nan=True))


def timed(call: Callable[[], Any]) -> float:
    """Seconds of a call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def bytes_of(C: Any, work: str, trace: Any) -> dict[str, Any]:
    """Bytes sent, and what the model says of them."""
    from . import cluster_cost as cost

    shape = cost.Shape(C.n_vertices, C.n_edges, C.grid.rows, C.grid.columns)
    traits = {"bfs": cost.BFS, "sssp": cost.SSSP, "pagerank": cost.PAGERANK}[work]
    if work == "sssp" and C.dtype != np.float32:
        traits = traits._replace(message=8, source=8)
    # The vertices that one superstep leaves active are those that the next begins with.
    after = np.append(trace.active[1:], 0)
    counted = np.array([
        cost.counts(shape, traits, *map(float, row))
        for row in zip(after, trace.messages, trace.edges, trace.raises, strict=True)
    ]).sum(axis=0)  # fmt: skip
    predicted = counted[3] * shape.blocks
    sent = int(trace.sent.sum())
    return {"bytes": sent, "of the model": round(sent / predicted, 3) if predicted else None,
            "counts": counted.round(1).tolist()}  # fmt: skip


def table(found: dict[str, dict[str, Any]]) -> list[str]:
    """Seconds by graph and work, a column for each number of workers, beside as many threads of one process."""
    rows = [["graph", "work", "workers", "seconds", "one process", "ratio", "ms, thin", "bytes", "of the model"]]
    for key, row in found.items():
        name, work, number = key.split()
        cells = [row[k] for k in ("seconds", "alone", "ratio")]
        cells += [row.get(k, "") for k in ("ms of a thin superstep", "bytes", "of the model")]
        rows.append([name, work, number, *map(str, cells)])
    return aligned(rows)


def predictions() -> list[str]:
    """What the model says of graphs and clusters that were not measured: a worker's memory, bytes, seconds."""
    from hpgraph.cluster.grid import shape_for

    from . import cluster_cost as cost

    # A worker of 16 cores whose vertices lie far beyond its caches (a line of 64 bytes an arc at 100 GB/s), 25 Gbit/s;
    # messages and supersteps as they are measured on one machine.
    machine = cost.Machine(arc=0.65e-9, vertex=0.3e-9, message=0.17e-3, byte=8 / 25e9, superstep=0.17e-3)
    rows = [["arcs", "vertices", "workers", "GiB a worker", "GB sent, PageRank", "s an iteration", "s, BFS"]]
    for m in (1e10, 1e11, 1e12):
        n = m / 32
        for workers in (16, 64, 256, 1024, 4096):
            shape = cost.Shape(n, m, *shape_for(workers))
            sent = cost.superstep_bytes(shape, cost.PAGERANK, n, 0) / workers
            seconds = cost.superstep_seconds(shape, cost.PAGERANK, machine, n, 0, m)
            # Seven levels, most vertices in two of them, each sent to all the blocks of its column.
            crowd = n / 2
            bfs = 2 * cost.superstep_seconds(shape, cost.BFS, machine, crowd, crowd * (shape.rows - 1), m / 2)
            bfs += 5 * cost.superstep_seconds(shape, cost.BFS, machine, 1000, 1000, 30_000)
            rows.append([f"{m:.0e}", f"{n:.1e}", str(workers), f"{cost.memory(shape, cost.PAGERANK) / 2**30:,.1f}",
                         f"{sent / 1e9:.2f}", f"{seconds:.2f}", f"{bfs:.2f}"])  # fmt: skip
    return aligned(rows)
