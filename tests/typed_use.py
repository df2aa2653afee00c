# mypy: warn-unused-ignores
"""What type checkers make of a user's program: read by ``make lint``, not run."""

from typing import Any, assert_type

import numpy as np

import hpgraph as hpg

Array = np.ndarray[Any, np.dtype[Any]]


class Widest(hpg.VertexProgram):
    edges = "in"
    width = hpg.Property("float32", initial=0.0)
    reduce = "max"

    @staticmethod
    def gather(source, weight, target):
        return min(source.width, weight)

    def update(vertex, message):
        return max(vertex.width, message)


class Rumour(hpg.EdgeVertexProgram):
    best = hpg.Property("int64")
    passed = hpg.EdgeProperty("int8", initial=0)
    combiner = "max"

    def edge_compute(source, edge, target):
        return source.best, edge.passed + 1


G = hpg.datasets.kron(4, weighted=True)
assert_type(hpg.run(Widest, G, active=[0]).supersteps, int)
assert_type(hpg.run(Rumour, G).world, dict[str, Any])
assert_type(hpg.bfs(G, 0).level, Array)
assert_type(hpg.sssp(G, 0).distance, Array)
assert_type(hpg.pagerank(G).rank, Array)
assert_type(hpg.core_number(G), Array)
assert_type(hpg.closeness_centrality(G), Array)
assert_type(hpg.louvain(G).label, Array)
assert_type(hpg.read("web.mtx"), hpg.Graph)
hpg.page_rank  # type: ignore[attr-defined]  # noqa: B018
