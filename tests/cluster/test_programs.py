"""Programs of one's own over four blocks: against the definition of a superstep, written out in NumPy."""

import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from tests.cluster.conftest import matrix_of, sparse_graph


def rising() -> type[hpg.VertexProgram]:
    """Diffusion: vertices of a higher level send to lower ones, against the arcs, until little moves.

    It uses everything that blocks exchange: properties of sources and targets, ids, global sums.
    """

    class Rising(hpg.VertexProgram):
        edges = "out"
        reduce = "plus"
        aggregators = ("moved",)
        level = hpg.Property("float64", initial=lambda G: np.arange(G.n_vertices) % 7)
        arrived = hpg.Property("int32", initial=0)
        least = hpg.Parameter("float64", default=0.5)

        def edge_cond(source, weight, target):
            return source.level > target.level

        def gather(source, weight, target):
            return (source.level - target.level) * weight / (64 + source.id % 3)

        def update(vertex, message, world):
            return vertex.level + message, vertex.arrived + world.superstep

        def sends(before, vertex):
            return vertex.arrived % 3 != 0

        def aggregate(before, vertex):
            return vertex.level - before.level

        def converged(world):
            return world.moved < world.least

    return Rising


def by_definition(matrix, least: float):
    """`rising` in NumPy, a superstep at a time."""
    n = matrix.shape[0]
    # A vertex gathers along its out-arcs: messages go against the arcs.
    target, source = matrix.nonzero()
    weight = matrix.data.astype(float)
    level, arrived, active = np.arange(n) % 7 + 0.0, np.zeros(n, int), np.ones(n, bool)
    for step in range(1, 100):
        sent = active[source] & (level[source] > level[target])
        received = np.bincount(target[sent], minlength=n) > 0
        given = (level[source] - level[target]) * weight / (64 + source % 3)
        message = np.bincount(target[sent], given[sent], n)
        moved = message[received].sum()
        level[received] += message[received]
        arrived[received] += step
        active = received & (arrived % 3 != 0)
        if moved < least or not active.any():
            return level, arrived, step
    raise AssertionError("it should have ended")


def test_a_program_that_reads_both_ends(client, device) -> None:
    graph = sparse_graph(3)
    level, arrived, steps = by_definition(matrix_of(graph), 2.0)
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4, order="scattered", device=device) as C:
        found = C.run(rising(), least=2.0)
        kept = C.run(rising(), least=2.0, gather=False)
    np.testing.assert_allclose(found.level, level, rtol=1e-12)
    assert (found.arrived == arrived).all()
    assert found.supersteps == steps and len(found.trace.sent) == steps
    assert (kept.level.compute() == found.level).all()


def by_mirrors(real: bool) -> None:
    """In a worker: properties as on a GPU, behind mirrors, but in the host's memory."""
    from hpgraph.cluster import memory, run_block

    class Mirrored(memory.Memory):
        def __init__(self, *what):
            super().__init__(*what)
            self.mirrored = True

        def put(self, values):
            return np.array(values)

        def get(self, values):
            return np.array(values)

        @staticmethod
        def _pinned(count, dtype):
            return np.full(count, 77, dtype)

    run_block.Memory = memory.Memory if real else Mirrored


def test_values_behind_mirrors(client) -> None:
    graph = sparse_graph(3)
    level, arrived, _ = by_definition(matrix_of(graph), 2.0)
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4, order="scattered") as C:
        right = C.sssp(7).distance, C.pagerank().rank, C.bfs(7).level
        client.run(by_mirrors, False)
        try:
            found = C.run(rising(), least=2.0)
            np.testing.assert_allclose(found.level, level, rtol=1e-12)
            assert (found.arrived == arrived).all()
            again = C.sssp(7).distance, C.pagerank().rank, C.bfs(7).level
        finally:
            client.run(by_mirrors, True)
        assert all((a == b).all() for a, b in zip(right, again, strict=True))


def test_what_is_refused(client) -> None:
    graph = sparse_graph(3)
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4) as C:
        raises(TypeError, "VertexProgram", C.run, hpg.Graph)
        raises(ValueError, "undirected", C.core_number)
        raises(IndexError, "300", C.bfs, 300)
        with pytest.raises(TypeError, match="no property or parameter 'speed'"):
            C.run(rising(), speed=2)
        raises(ValueError, "max_depth", C.bfs, 0, max_depth=-1)
    raises(ValueError, "order", hpg.cluster.Graph.from_graph, client, graph, order="upwards")
    raises(ValueError, "blocks", hpg.cluster.Graph.from_graph, client, graph, blocks=0)
