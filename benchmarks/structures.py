"""Cores, trusses, spanning forests, sets, colours, matchings and depth-first searches; answers are checked first.

Of other libraries SciPy and, where they are installed, networkit and igraph stand beside them on the CPU.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse.csgraph

import hpgraph as hpg
from hpgraph.core.device import to_device

from . import peers_cpu
from .graphs import Case
from .library import Library
from .suite import GRAPHS, Suite, Work, aims

# What KCoreGPU and ECL-MST find on these graphs: the largest core number, and the weight of the spanning forest.
FOUND = dict(zip(GRAPHS, ((1767, 17691886), (134, 35573052), (23, 24541563), (2, 101841776)), strict=True))


class SciPy(peers_cpu.SciPy):
    """Kruskal's algorithm, on one thread."""

    def forest(self) -> Any:
        return scipy.sparse.csgraph.minimum_spanning_tree(self._graph)


class IGraph(peers_cpu.IGraph):
    """igraph, C, on one thread."""

    def cores(self) -> Any:
        return self._graph.coreness()

    def forest(self) -> Any:
        return self._graph.spanning_tree(weights=self._weight, return_tree=False)

    def bridges(self) -> Any:
        return self._graph.bridges()

    def articulation(self) -> Any:
        return self._graph.articulation_points()

    def biconnected(self) -> Any:
        return self._graph.biconnected_components()

    def colors(self) -> Any:
        return self._graph.vertex_coloring_greedy()

    def bipartite(self) -> Any:
        return self._graph.is_bipartite()


class NetworKit(peers_cpu.NetworKit):
    """networkit, C++ and OpenMP."""

    def cores(self) -> Any:
        return self._nk.centrality.CoreDecomposition(self._unweighted).run()

    def biconnected(self) -> Any:
        return self._nk.components.BiconnectedComponents(self._unweighted).run()

    def matching(self) -> Any:
        return self._nk.matching.PathGrowingMatcher(self._unweighted).run()


PEERS: dict[str, type[Library]] = {kind.name: kind for kind in (SciPy, NetworKit, IGraph)}


def _rows(case: Case) -> Any:
    return case.graph.out_csr.expand_rows()


def _wrong_cores(case: Case, core: Any) -> str | None:
    """In its core each vertex has so many neighbours; and one of the cores is the same by array operations."""
    xp, rows = case.xp, _rows(case)
    if case.name in FOUND and int(core.max()) != FOUND[case.name][0]:
        return f"the largest is {int(core.max())}, not {FOUND[case.name][0]}"
    inside = core[case.indices] >= core[rows]
    if not bool((xp.bincount(rows[inside], minlength=case.n) >= core).all()):
        return "a vertex has too few neighbours in its core"
    k = max(1, int(core.max()) // 2)
    kept = xp.ones(case.n, bool)
    while True:
        both = kept[case.indices] & kept[rows]
        stays = kept & (xp.bincount(rows[both], minlength=case.n) >= k)
        if bool((stays == kept).all()):
            break
        kept = stays
    return None if bool((kept == (core >= k)).all()) else f"another {k}-core"


def _wrong_forest(case: Case, forest: hpg.SpanningForest) -> str | None:
    total = FOUND[case.name][1] if case.name in FOUND else None
    if case.device == "cpu":
        total = scipy.sparse.csgraph.minimum_spanning_tree(case.matrix).sum(dtype=np.float64)
    if total is not None and forest.total != total:
        return f"weighs {forest.total}, not {total}"
    count = hpg.connected_components(case.graph).count
    joined = hpg.connected_components(forest.graph).count
    return None if forest.count == count == joined else f"{joined} trees, not {count}"


def _wrong_truss(case: Case, truss: hpg.Graph) -> str | None:
    """By SciPy, for as many edges as that takes little time for."""
    plain = truss.to("cpu").out_csr.to_scipy(np.float64)
    some = np.flatnonzero(np.diff(plain.indptr) > 0)[:200]
    found = (plain[some] @ plain).multiply(plain[some])
    least = found.data.min() if found.nnz else 2
    return None if found.nnz == plain[some].nnz and least >= 2 else "an edge in fewer than two triangles"


def _wrong_numbers(case: Case, number: Any) -> str | None:
    """One truss by its own function, which removes edges at one level alone."""
    k = max(3, int(number.max()) // 2)
    found, expected = int((number >= k).sum()), hpg.k_truss(case.graph, k).n_edges
    return None if found == expected else f"{found} arcs in the {k}-truss, not {expected}"


def _wrong_set(case: Case, vertices: Any) -> str | None:
    xp, rows = case.xp, _rows(case)
    taken = xp.zeros(case.n, bool)
    taken[vertices] = True
    if bool((taken[rows] & taken[case.indices]).any()):
        return "two neighbours"
    met = xp.bincount(rows[taken[case.indices]], minlength=case.n) > 0
    return None if bool((met | taken).all()) else "not maximal"


def _wrong_colors(case: Case, color: Any) -> str | None:
    rows = _rows(case)
    proper = bool((color[rows] != color[case.indices]).all()) and bool((color >= 0).all())
    return None if proper and bool((color <= case.degree).all()) else "not a greedy colouring"


def _wrong_matching(case: Case, mate: Any) -> str | None:
    rows = _rows(case)
    pairs = case.xp.flatnonzero(mate >= 0)
    if not bool((mate[mate[pairs]] == pairs).all()):
        return "a mate of another"
    free = mate < 0
    return "not maximal" if bool((free[rows] & free[case.indices]).any()) else None


def _unlike_cpu(search: Callable[[hpg.Graph], Any]) -> Callable[[Case, Any], str | None]:
    """On the GPU the answer must be what the CPU gives, another way."""

    def wrong(case: Case, found: Any) -> str | None:
        if case.device == "cpu":
            return None
        expected = search(case.graph.to("cpu"))
        if isinstance(found, hpg.BiconnectedComponents):
            return None if found.count == expected.count else f"{found.count} components, not {expected.count}"
        return None if np.array_equal(to_device(found, "cpu"), expected) else "unlike the CPU's"

    return wrong


WORKS: dict[str, Work] = {
    "cores": Work("core numbers", lambda case: hpg.core_number(case.graph), _wrong_cores, "cores",
                  aims(40, 10, 6, 1.2)),
    "truss": Work("4-truss", lambda case: hpg.k_truss(case.graph, 4), _wrong_truss, "", aims(400, 120, 30, 1)),
    "trusses": Work("truss numbers", lambda case: hpg.truss_number(case.graph), _wrong_numbers, "",
                    aims(600, 50, 25, 0.7)),
    "forest": Work("spanning forest", lambda case: hpg.minimum_spanning_forest(case.graph), _wrong_forest, "forest",
                   aims(15, 12, 20, 2.5)),
    "set": Work("independent set", lambda case: hpg.maximal_independent_set(case.graph), _wrong_set),
    "colors": Work("colouring", lambda case: hpg.greedy_color(case.graph), _wrong_colors, "colors"),
    "matching": Work("matching", lambda case: hpg.maximal_matching(case.graph), _wrong_matching, "matching"),
    "bipartite": Work("bipartite", lambda case: hpg.is_bipartite(case.graph), peer="bipartite"),
    "bridges": Work("bridges", lambda case: hpg.bridges(case.graph), _unlike_cpu(hpg.bridges), "bridges"),
    "articulation": Work("articulation points", lambda case: hpg.articulation_points(case.graph),
                         _unlike_cpu(hpg.articulation_points), "articulation"),
    "biconnected": Work("biconnected components", lambda case: hpg.biconnected_components(case.graph),
                        _unlike_cpu(hpg.biconnected_components), "biconnected"),
}  # fmt: skip

SUITE = Suite("structures", __doc__ or "", WORKS, PEERS)
main = SUITE.main
