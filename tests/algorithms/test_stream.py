"""Results of a stream of changes beside those that NetworkX and SciPy find in a dict of its edges."""

from typing import Any

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device

ends = st.tuples(st.integers(0, 49), st.integers(0, 49))
weights = st.integers(1, 5)
N = 50


class Changing(RuleBasedStateMachine):
    """Batches in any order, between them questions; each answer is that of the edges alone."""

    @initialize(directed=st.booleans(), arcs=st.sampled_from([1, 60, 2000]), seed=st.integers(0, 9))
    def begin(self, directed: bool, arcs: int, seed: int) -> None:
        self.directed, self.edges = directed, {}
        rng = np.random.default_rng(seed)
        self.put({(u, v): w for u, v, w in rng.integers(1, 50, (arcs, 3)).tolist()})
        source, target = zip(*self.edges, strict=True)
        G = hpg.Graph.from_edges(source, target, list(self.edges.values()), n_vertices=N, directed=directed)
        self.stream = hpg.Stream(hpg.Graph(G, directed=directed))

    def put(self, edges: dict[Any, int]) -> None:
        for (u, v), weight in edges.items():
            for arc in ((u, v),) if self.directed else ((u, v), (v, u)):
                self.edges[arc] = weight

    def some(self, data: Any) -> list[Any]:
        return data.draw(st.lists(st.sampled_from(sorted(self.edges)), max_size=3)) if self.edges else []

    @rule(data=st.data(), insert=st.dictionaries(ends, weights, max_size=3))
    def change(self, data: Any, insert: dict[Any, int]) -> None:
        deleted, other = self.some(data), self.some(data)
        gone = set(deleted) | (set() if self.directed else {arc[::-1] for arc in deleted})
        other = [arc if self.directed else min(arc, arc[::-1]) for arc in other if arc not in gone]
        given = {arc: data.draw(weights) for arc in other}
        insert = {arc: weight for arc, weight in insert.items() if self.directed or arc[0] <= arc[1]}
        self.stream.update(
            insert=[(*arc, weight) for arc, weight in insert.items()] or None,
            delete=deleted or None,
            set=[(*arc, weight) for arc, weight in given.items()] or None,
        )
        for arc in gone:
            del self.edges[arc]
        self.put(given)
        self.put(insert)

    @rule(arc=ends)
    def refuse(self, arc: Any) -> None:
        if arc not in self.edges:
            raises(ValueError, "no edge of the graph", self.stream.update, delete=[arc])

    def matrix(self) -> Any:
        source, target = zip(*self.edges, strict=True) if self.edges else ((), ())
        return sp.csr_array((np.array([*self.edges.values()], float), (source, target)), shape=(N, N))

    @rule(source=st.integers(0, 2))
    def distances(self, source: int) -> None:
        for found, unweighted in ((self.stream.sssp(source).distance, False), (self.stream.bfs(source).level, True)):
            found = np.asarray(found, float)
            expected = sp.csgraph.dijkstra(self.matrix(), indices=source, unweighted=unweighted)
            assert np.where(found < 0, np.inf, found).tolist() == expected.tolist()
        path = nx.DiGraph([arc for arc in self.edges if arc[0] != arc[1]])
        for v in np.flatnonzero((found > 0) & (found < np.inf))[:3].tolist():
            for result in (self.stream.bfs(source), self.stream.sssp(source)):
                assert nx.is_path(path, result.path_to(v))

    @rule()
    def structure(self) -> None:
        found = self.stream.components()
        count, label = sp.csgraph.connected_components(self.matrix(), connection="weak")
        assert found.count == count
        assert len(set(zip(found.label.tolist(), label.tolist(), strict=True))) == count
        plain = nx.Graph(arc for arc in self.edges if arc[0] != arc[1])
        assert self.stream.triangle_count() == sum(nx.triangles(plain).values()) // 3

    @rule()
    def ranks(self) -> None:
        anew = hpg.pagerank(self.stream.graph, tol=1e-10, max_iteration=1000).rank
        assert np.allclose(self.stream.pagerank(tol=1e-10, max_iteration=1000).rank, anew, atol=1e-9)
        katz = hpg.katz_centrality(self.stream.graph, 0.01, tol=1e-12).centrality
        assert np.allclose(self.stream.katz(alpha=0.01, tol=1e-12).centrality, katz, atol=1e-9)

    @invariant()
    def holds_the_edges(self) -> None:
        source, target, weight = (part.tolist() for part in self.stream.graph.edges(both_ways=True))
        assert dict(zip(zip(source, target, strict=True), weight, strict=True)) == self.edges


Changing.TestCase.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
test_changing = Changing.TestCase


RANDOM, RING = (2000, 8000), 3000


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [None, "f4", "i8"])
@pytest.mark.parametrize("of", [RANDOM, RING])
def test_a_larger_graph(directed: bool, dtype: str | None, of: Any, device: str) -> None:
    """Few changes of many arcs, so that results are repaired; vertices that are new; searches of hundreds of levels."""
    rng = np.random.default_rng(3)

    def some(n: int, count: int) -> tuple[Any, Any]:
        source = rng.integers(0, n, count)
        return source, rng.integers(0, n, count) if of == RANDOM else (source + rng.integers(1, 6, count)) % n

    if of == RANDOM:
        source, target = some(*RANDOM)
    else:
        source, target = (np.concatenate((np.arange(RING),) * 2), np.concatenate([np.arange(RING) + k for k in (1, 2)]))
        target %= RING

    def weighing(count: int) -> Any:
        return None if dtype is None else rng.integers(1, 20, count).astype(dtype)

    G = hpg.Graph.from_edges(source, target, weighing(len(source)), directed=directed, duplicates="first").to(device)
    S = hpg.Stream(G)
    for inserted, deleted in ((4, 4), (0, 5), (5, 0), (60, 60)):
        S.sssp(0), S.bfs(0), S.components(), S.triangle_count(), S.core_numbers()
        start, end = (to_device(part, "cpu") for part in S.graph.edges()[:2])
        gone = rng.choice(len(start), deleted, replace=False)
        n = S.graph.n_vertices + 2
        S.update(
            insert=(*some(n, inserted), weighing(inserted)), delete=(start[gone], end[gone]), duplicates="first",
            n_vertices=n,
        )  # fmt: skip
        H = S.graph
        for found, anew in (
            (S.sssp(0).distance, hpg.sssp(H, 0).distance),
            (S.bfs(0).level, hpg.bfs(H, 0).level),
            (S.components().label, hpg.connected_components(H).label),
            (S.core_numbers(), hpg.core_number(H)),
        ):
            assert found.dtype == anew.dtype and to_device(found, "cpu").tolist() == to_device(anew, "cpu").tolist()
        assert S.triangle_count() == hpg.triangle_count(H) and S.components().count == hpg.connected_components(H).count


def test_communities_and_names(device: str) -> None:
    rng = np.random.default_rng(5)
    names = [f"v{i}" for i in range(300)]
    drawn = rng.integers(0, 300, (900, 2)).tolist()
    pairs = [(names[u], names[v]) for u, v in drawn if u // 30 == v // 30 or u % 9 == 0]
    S = hpg.Stream(hpg.from_edges(pairs, directed=False).to(device))
    before = [to_device(found.label, "cpu").tolist() for found in (S.louvain(), S.leiden())]
    S.eigenvector()
    S.update(insert=[("v1", "new"), ("new", "newer")], delete=pairs[:2])
    for found, label in zip((S.louvain(), S.leiden()), before, strict=True):
        assert len(found) == S.graph.n_vertices
        assert found.modularity >= hpg.modularity(S.graph, [*label, max(label) + 1, max(label) + 2]) - 1e-12
    assert S.louvain() is S.louvain() and S.louvain(seed=3) is not S.louvain()
    expected = hpg.eigenvector_centrality(S.graph, tol=1e-9, max_iteration=1000).centrality
    assert abs(S.eigenvector(tol=1e-9, max_iteration=1000).centrality - expected).max() < 1e-5
    assert S.bfs("v1").path_to("newer") == ["v1", "new", "newer"]
    assert "results kept" in repr(S)


def test_unfit_input() -> None:
    S = hpg.Stream(([0, 1], [1, 2]))
    raises(IndexError, "source", S.bfs, 7)
    with pytest.raises(ValueError, match=r"G\.simple"):
        hpg.Stream(hpg.from_edges([(0, 1), (0, 1)], duplicates="keep"))
    with pytest.raises(ValueError, match="memory of one device"):
        hpg.Stream(hpg.StreamedGraph.of(S.graph))
    raises(TypeError, "no graph can be made", hpg.Stream, 3)
