"""Other libraries on the CPU, each used as its own documentation or reference algorithms would."""

import functools
import importlib.util
from typing import Any

import numpy as np

from .answers import DAMPING, ITERATIONS
from .gapbs import GAPBS
from .graphs import Case
from .library import Library


class SciPy(Library):
    """scipy.sparse and its csgraph."""

    name = "SciPy"
    distribution = "scipy"

    @functools.cached_property
    def _graph(self) -> Any:
        # csgraph works in float64, and would convert at each call.
        return self.case.csr(self.case.weights.astype(np.float64))

    def bfs(self, source: int) -> Any:
        from scipy.sparse import csgraph

        return csgraph.breadth_first_order(self._graph, source, directed=True, return_predecessors=True)

    def read_bfs(self, raw: Any) -> Any:
        order, predecessor = raw
        level = np.full(self.case.n, -1)
        level[order[0]] = 0
        for vertex, parent in zip(order[1:].tolist(), predecessor[order[1:]].tolist(), strict=True):
            level[vertex] = level[parent] + 1
        return level

    def sssp(self, source: int) -> Any:
        from scipy.sparse import csgraph

        return csgraph.dijkstra(self._graph, indices=source)

    def spmv(self) -> Any:
        return self.case.matrix @ self.case.vector

    spmv_hyb = spmv

    def spmv64(self) -> Any:
        return self.case.wide_matrix @ self.case.wide_vector


class GraphBLAS(Library):
    """SuiteSparse:GraphBLAS through python-graphblas, with the algorithms of LAGraph."""

    name = "graphblas"
    distribution = "python-graphblas"

    @classmethod
    def is_installed(cls) -> bool:
        return importlib.util.find_spec("graphblas") is not None

    def __init__(self, case: Case) -> None:
        import graphblas

        import hpgraph

        super().__init__(case)
        self._gb = graphblas
        graphblas.ss.config["nthreads"] = hpgraph.config.threads
        self._weighted = graphblas.io.from_scipy_sparse(case.matrix)
        self._pattern = graphblas.io.from_scipy_sparse(case.csr(np.ones(case.n_arcs, bool)))

    def bfs(self, source: int) -> Any:
        """Push while the frontier is small, pull otherwise; levels and parents (LAGr_BreadthFirstSearch)."""
        gb, adjacency, n = self._gb, self._pattern, self.case.n
        step = gb.semiring.ss.any_secondi
        parent = gb.Vector(np.int64, n)
        level = gb.Vector(np.int32, n)
        frontier = gb.Vector(np.int64, n)
        parent[source] = frontier[source] = source
        level[source] = depth = 0
        while True:
            depth += 1
            push = frontier.nvals < n / 16
            found = frontier.vxm(adjacency, step) if push else adjacency.mxv(frontier, step)
            frontier(~parent.S, replace=True) << found
            if frontier.nvals == 0:
                return level
            parent(frontier.S) << frontier
            level(frontier.S) << depth

    def read_bfs(self, raw: Any) -> Any:
        return raw.to_dense(-1)

    def sssp(self, source: int) -> Any:
        """Bellman-Ford over the vertices that became nearer."""
        gb, n = self._gb, self.case.n
        distance = gb.Vector(np.float32, n)
        distance[source] = 0
        frontier = distance.dup()
        while frontier.nvals:
            reached = frontier.vxm(self._weighted, gb.semiring.min_plus).new()
            nearer = gb.binary.lt(reached & distance).new()
            frontier = gb.Vector(np.float32, n)
            frontier(~distance.S) << reached
            frontier(nearer.V) << reached
            distance(gb.binary.min) << frontier
        return distance

    def read_sssp(self, raw: Any) -> Any:
        return raw.to_dense(np.inf)

    def pagerank(self) -> Any:
        """LAGr_PageRank: the mass of vertices without arcs is spread evenly."""
        gb, n = self._gb, self.case.n
        degree = gb.Vector.from_dense(np.maximum(self.case.degree, 1) / DAMPING)
        (isolated,) = np.nonzero(self.case.degree == 0)
        dangling = gb.Vector.from_coo(isolated, True, size=n)
        rank = gb.Vector.from_scalar(1 / n, n, np.float64)
        for _ in range(ITERATIONS):
            share = gb.binary.truediv(rank & degree).new()
            lost = rank.dup(mask=dangling.S).reduce().get(0.0) if dangling.nvals else 0.0
            rank = gb.Vector.from_scalar((1 - DAMPING + DAMPING * lost) / n, n, np.float64)
            rank(gb.binary.plus) << self._pattern.mxv(share, gb.semiring.plus_second)
        rank.wait()
        return rank

    def read_pagerank(self, raw: Any) -> Any:
        return raw.to_dense()

    @functools.cached_property
    def _vector(self) -> Any:
        return self._gb.Vector.from_dense(self.case.vector)

    @functools.cached_property
    def _flags(self) -> Any:
        return self._gb.Vector.from_dense(self.case.flags)

    @functools.cached_property
    def _some(self) -> Any:
        (present,) = np.nonzero(self.case.flags)
        return self._gb.Vector.from_coo(present, True, size=self.case.n)

    @functools.cached_property
    def _wide(self) -> tuple[Any, Any]:
        gb, case = self._gb, self.case
        return gb.io.from_scipy_sparse(case.wide_matrix), gb.Vector.from_dense(case.wide_vector)

    def _product(self, matrix: Any, vector: Any, semiring: str) -> Any:
        product = matrix.mxv(vector, getattr(self._gb.semiring, semiring)).new()
        product.wait()
        return product

    def spmv(self) -> Any:
        return self._product(self._weighted, self._vector, "plus_times")

    spmv_hyb = spmv

    def spmv64(self) -> Any:
        return self._product(*self._wide, "plus_times")

    def min_plus(self) -> Any:
        return self._product(self._weighted, self._vector, "min_plus")

    def lor_land(self) -> Any:
        return self._product(self._pattern, self._flags, "lor_land")

    def any_pair(self) -> Any:
        return self._product(self._pattern, self._some, "any_pair")

    def plus_pair(self) -> Any:
        return self._product(self._pattern, self._some, "plus_pair")

    def read_spmv(self, raw: Any) -> Any:
        return raw.to_dense(0)

    read_spmv_hyb = read_spmv64 = read_lor_land = read_any_pair = read_plus_pair = read_spmv

    def read_min_plus(self, raw: Any) -> Any:
        return raw.to_dense(np.inf)

    def triangles(self) -> int:
        """LAGr_TriangleCount: sum(L*L .* L), with the vertices sorted by degree where degrees are uneven."""
        gb, adjacency, degree = self._gb, self._pattern, self.case.degree
        if degree.mean() > 4 * np.median(degree):
            order = np.argsort(-degree, kind="stable").astype(np.uint64)
            adjacency = adjacency[order, order].new()
        lower = gb.select.tril(adjacency, -1).new()
        closed = gb.Matrix(np.int64, self.case.n, self.case.n)
        closed(lower.S) << lower.mxm(lower, gb.semiring.plus_pair)
        return int(closed.reduce_scalar().get(0))


class NetworKit(Library):
    """networkit, C++ and OpenMP."""

    name = "networkit"
    distribution = "networkit"
    # It loses the mass of vertices without edges; scaling mends that exactly only once the ranks have converged.
    rank_tolerance = 1e-3

    def __init__(self, case: Case) -> None:
        import networkit

        import hpgraph

        super().__init__(case)
        self._nk = networkit
        networkit.setNumberOfThreads(hpgraph.config.threads)
        row, column, weight = _edges(case)
        ends = (row.astype(np.uint64), column.astype(np.uint64))
        self._graph = networkit.GraphFromCoo((weight.astype(np.float64), ends), n=case.n, weighted=True, directed=False)
        self._unweighted = networkit.GraphFromCoo(ends, n=case.n, weighted=False, directed=False)
        self._unweighted.indexEdges()

    def bfs(self, source: int) -> Any:
        return self._nk.distance.BFS(self._unweighted, source, storePaths=False).run()

    def read_bfs(self, raw: Any) -> Any:
        distance = np.asarray(raw.getDistances())
        return np.where(distance < self.case.n, distance, -1)

    def sssp(self, source: int) -> Any:
        return self._nk.distance.Dijkstra(self._graph, source, storePaths=False).run()

    def read_sssp(self, raw: Any) -> Any:
        distance = np.asarray(raw.getDistances())
        return np.where(distance < np.finfo(np.float64).max, distance, np.inf)

    def pagerank(self) -> Any:
        # A tolerance that is never met: so many iterations are asked for.
        ranks = self._nk.centrality.PageRank(self._unweighted, DAMPING, 1e-300)
        ranks.maxIterations = ITERATIONS
        return ranks.run()

    def read_pagerank(self, raw: Any) -> Any:
        scores = np.asarray(raw.scores())
        return scores / scores.sum()

    def triangles(self) -> Any:
        return self._nk.sparsification.TriangleEdgeScore(self._unweighted).run()

    def read_triangles(self, raw: Any) -> int:
        return round(sum(raw.scores()) / 3)


class IGraph(Library):
    """igraph, C."""

    name = "igraph"
    distribution = "igraph"

    def __init__(self, case: Case) -> None:
        import igraph

        super().__init__(case)
        row, column, weight = _edges(case)
        self._graph = igraph.Graph(n=case.n, edges=np.stack([row, column], axis=1).astype(np.int64))
        self._weight = weight.astype(np.float64).tolist()

    def bfs(self, source: int) -> Any:
        return self._graph.bfs(source)

    def read_bfs(self, raw: Any) -> Any:
        order, starts, _ = raw
        level = np.full(self.case.n, -1)
        level[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return level

    def sssp(self, source: int) -> Any:
        return self._graph.distances(source, weights=self._weight)

    def read_sssp(self, raw: Any) -> Any:
        return np.asarray(raw[0])

    def triangles(self) -> float:
        # The only count without a list of the triangles: closed triplets over all triplets.
        return float(self._graph.transitivity_undirected(mode="zero"))

    def read_triangles(self, raw: float) -> int:
        degree = self.case.degree.astype(np.int64)
        return round(raw * float((degree * (degree - 1) // 2).sum()) / 3)


class NetworkX(Library):
    """NetworkX, plain Python."""

    name = "NetworkX"
    distribution = "networkx"
    most_arcs = 3_000_000

    def __init__(self, case: Case) -> None:
        import networkx

        super().__init__(case)
        self._nx = networkx
        row, column, weight = _edges(case)
        self._graph = networkx.Graph()
        self._graph.add_nodes_from(range(case.n))
        edges = zip(row.tolist(), column.tolist(), weight.tolist(), strict=True)
        self._graph.add_weighted_edges_from(edges)

    def bfs(self, source: int) -> Any:
        return self._nx.single_source_shortest_path_length(self._graph, source)

    def read_bfs(self, raw: Any) -> Any:
        return self._dense(raw, -1)

    def sssp(self, source: int) -> Any:
        return self._nx.single_source_dijkstra_path_length(self._graph, source)

    def read_sssp(self, raw: Any) -> Any:
        return self._dense(raw, np.inf)

    def triangles(self) -> Any:
        return sum(self._nx.triangles(self._graph).values()) // 3

    def _dense(self, by_vertex: dict[int, float], elsewhere: float) -> Any:
        values = np.full(self.case.n, float(elsewhere))
        values[list(by_vertex)] = list(by_vertex.values())
        return values


def _edges(case: Case) -> tuple[Any, Any, Any]:
    """Each edge once, for libraries whose undirected graphs are lists of edges."""
    parts = [(row[row < column], column[row < column], weight[row < column]) for row, column, weight in case.arcs()]
    row, column, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    return row, column, weight


PEERS: tuple[type[Library], ...] = (GAPBS, SciPy, GraphBLAS, NetworKit, IGraph, NetworkX)
