"""One algorithm in a new process: ``python -m benchmarks.first_call NAME DEVICE`` prints the seconds of each step.

Nothing is imported before the clock starts but what Python itself needs, and this package, which is empty.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

# What a user of one algorithm should not have to wait for.
HEAVY = ("numba", "cupy", "scipy.sparse", "scipy.sparse.csgraph", "pandas", "networkx", "matplotlib", "numpy")


def _own_program(hpg: Any, graph: Any) -> Any:
    class Widest(hpg.VertexProgram):  # type: ignore[misc]
        width = hpg.Property("float32", initial=0.0, start=1e9)
        reduce = "max"

        def gather(source, weight, target):  # type: ignore[no-untyped-def]
            return min(source.width, weight)

        def update(vertex, message):  # type: ignore[no-untyped-def]
            return max(vertex.width, message)

    return hpg.run(Widest, graph, active=[0])


CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "bfs": lambda hpg, graph, x: hpg.bfs(graph, 0),
    "sssp": lambda hpg, graph, x: hpg.sssp(graph, 0),
    "pagerank": lambda hpg, graph, x: hpg.pagerank(graph),
    "triangles": lambda hpg, graph, x: hpg.triangle_count(graph),
    "64 searches": lambda hpg, graph, x: hpg.bfs(graph, sources=range(64)),
    "components": lambda hpg, graph, x: hpg.connected_components(graph),
    "strong components": lambda hpg, graph, x: hpg.connected_components(graph, connection="strong"),
    "closeness": lambda hpg, graph, x: hpg.closeness_centrality(graph, range(64)),
    "diameter": lambda hpg, graph, x: hpg.diameter(graph, largest_component=True),
    "louvain": lambda hpg, graph, x: hpg.louvain(graph),
    "hits": lambda hpg, graph, x: hpg.hits(graph),
    "bridges": lambda hpg, graph, x: hpg.bridges(graph),
    "personalized ranks": lambda hpg, graph, x: hpg.pagerank(graph, personalization=[[0], [1]]),
    "spmv": lambda hpg, graph, x: hpg.Matrix(graph.out_csr) @ x,
    "min_plus": lambda hpg, graph, x: hpg.Matrix(graph.out_csr).mxv(x, "min_plus"),
    "a program of one's own": lambda hpg, graph, x: _own_program(hpg, graph),
}


def main(name: str, device: str) -> None:
    """Import, build a small graph, call twice; print JSON.

    Parameters
    ----------
    name : str
        One of `CALLS`, or "import" for that alone.
    device : {"cpu", "cuda"}
        Where the graph lies.
    """
    times = {}

    def lap(step: str, start: float) -> float:
        now = time.perf_counter()
        times[step] = now - start
        return now

    start = time.perf_counter()
    import hpgraph as hpg

    lap("import", start)
    found: dict[str, Any] = {"imported": [module for module in HEAVY if module in sys.modules]}
    if name != "import":
        import numpy as np

        rng = np.random.default_rng(5)
        ends = rng.integers(0, 1000, (2, 8000))
        weight = rng.integers(1, 65, 8000).astype(np.float32)
        start = time.perf_counter()
        graph = hpg.Graph.from_edges(*ends, weight, n_vertices=1000, directed=False, duplicates="min")
        graph = graph.to(device)
        lap("graph", start)
        x = np.ones(1000, np.float32)
        if device == "cuda":
            import cupy

            x = cupy.asarray(x)
        start, used = time.perf_counter(), time.process_time()
        CALLS[name](hpg, graph, x)
        start = lap("first call", start)
        times["processor"] = time.process_time() - used
        CALLS[name](hpg, graph, x)
        lap("second call", start)
    print(json.dumps({**found, "seconds": times}))


if __name__ == "__main__":
    main(*sys.argv[1:])
