"""The works of `benchmarks.lanes` in other libraries, each as its own documentation would have it."""

from typing import Any

import numpy as np

from . import gapbs, peers_cpu
from .gapbs import folder
from .library import Library, OwnClock


class SciPy(peers_cpu.SciPy):
    """csgraph takes many indices, and searches from one after the other."""

    def bfs(self, chosen: np.ndarray) -> Any:  # type: ignore[override]
        from scipy.sparse import csgraph

        return csgraph.dijkstra(self._graph, unweighted=True, indices=chosen)

    def sssp(self, chosen: np.ndarray) -> Any:  # type: ignore[override]
        from scipy.sparse import csgraph

        return csgraph.dijkstra(self._graph, indices=chosen)

    dijkstra = sssp


class IGraph(peers_cpu.IGraph):
    """igraph, C."""

    def bfs(self, chosen: np.ndarray) -> Any:  # type: ignore[override]
        return self._graph.distances(chosen.tolist())

    sssp = None  # type: ignore[assignment]

    def betweenness(self, chosen: np.ndarray) -> Any:
        return self._graph.betweenness(sources=chosen.tolist())


class NetworKit(peers_cpu.NetworKit):
    """networkit, C++ and OpenMP; it draws its sources itself: as many, others."""

    bfs = sssp = pagerank = None  # type: ignore[assignment]

    def betweenness(self, chosen: np.ndarray) -> Any:
        return self._nk.centrality.EstimateBetweenness(self._unweighted, len(chosen), False, True).run()


class GAPBS(gapbs.GAPBS):
    """The GAP Benchmark Suite; it draws its sources itself, and adds up in float32."""

    bfs = sssp = pagerank = None  # type: ignore[assignment]

    @classmethod
    def is_installed(cls) -> bool:
        return (folder() / "bc").is_file()

    def betweenness(self, chosen: np.ndarray) -> OwnClock:
        return self.run("bc", "-i", len(chosen))


PEERS: dict[str, type[Library]] = {kind.name: kind for kind in (GAPBS, SciPy, NetworKit, IGraph)}
