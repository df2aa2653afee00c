"""Cores, trusses, spanning forests, sets, colours, matchings and depth-first searches; answers are checked first.

Of other libraries SciPy and, where they are installed, networkit and igraph stand beside them on the CPU.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse.csgraph

import hpgraph as hpg

from . import graphs, peers_cpu, report
from .centralities import in_turn
from .graphs import Case
from .library import Library
from .record import RESULTS, Record

GRAPHS = ("kron21", "social22", "urand23", "road2048")
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


@dataclass(frozen=True)
class Work:
    """One row of a table; ``aims`` are milliseconds on the GPU by graph."""

    title: str
    ours: Callable[[Case], Any]
    wrong: Callable[[Case, Any], str | None] = lambda case, found: None
    peer: str = ""
    aims: dict[str, float] = field(default_factory=dict)
    devices: tuple[str, ...] = ("cpu", "cuda")


def _aims(*milliseconds: float) -> dict[str, float]:
    return dict(zip(GRAPHS, milliseconds, strict=True))


WORKS: dict[str, Work] = {
    "cores": Work("core numbers", lambda case: hpg.core_number(case.graph), _wrong_cores, "cores",
                  _aims(40, 10, 6, 1.2)),
    "truss": Work("4-truss", lambda case: hpg.k_truss(case.graph, 4), _wrong_truss, "", _aims(400, 120, 30, 1)),
    "forest": Work("spanning forest", lambda case: hpg.minimum_spanning_forest(case.graph), _wrong_forest, "forest",
                   _aims(15, 12, 20, 2.5)),
    "set": Work("independent set", lambda case: hpg.maximal_independent_set(case.graph), _wrong_set),
    "colors": Work("colouring", lambda case: hpg.greedy_color(case.graph), _wrong_colors, "colors"),
    "matching": Work("matching", lambda case: hpg.maximal_matching(case.graph), _wrong_matching, "matching"),
    "bipartite": Work("bipartite", lambda case: hpg.is_bipartite(case.graph), peer="bipartite"),
    "bridges": Work("bridges", lambda case: hpg.bridges(case.graph), peer="bridges", devices=("cpu",)),
    "articulation": Work("articulation points", lambda case: hpg.articulation_points(case.graph), peer="articulation",
                         devices=("cpu",)),
    "biconnected": Work("biconnected components", lambda case: hpg.biconnected_components(case.graph),
                        peer="biconnected", devices=("cpu",)),
}  # fmt: skip


def main(words: Sequence[str]) -> int:
    """Measure, print a table a graph, and save the results.

    Returns
    -------
    int
        1 when an answer was wrong, else 0.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks structures", description=__doc__)
    parser.add_argument("command", choices=["structures"])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"], help="where to measure (cpu)")
    parser.add_argument("--graphs", help="names separated by commas")
    parser.add_argument("--works", help="of " + ", ".join(WORKS))
    parser.add_argument("--libraries", help="beside hpgraph; by default all that are installed")
    parser.add_argument("--budget", type=float, default=10, help="seconds for one work, library and graph (10)")
    parser.add_argument("--threads", type=int, help="CPU threads")
    parser.add_argument("--output", type=Path, help="the JSON file (benchmarks/results/structures-DEVICE-DATE.json)")
    chosen = parser.parse_args(words)
    hpg.config.threads = chosen.threads or hpg.config.threads
    works = [name for name in (chosen.works.split(",") if chosen.works else WORKS)
             if chosen.device in WORKS[name].devices]  # fmt: skip
    output = chosen.output or RESULTS / f"structures-{chosen.device}-{Record.today()}.json"
    record = Record(output, words, chosen.device)
    wrong = False
    for name in chosen.graphs.split(",") if chosen.graphs else graphs.default(chosen.device):
        case = graphs.make(name, chosen.device, 1)
        there = [one for one, kind in PEERS.items() if chosen.device == "cpu" and kind.is_installed()]
        libraries = there if chosen.libraries is None else [one for one in chosen.libraries.split(",") if one]
        rows = _measured(case, works, libraries, chosen.budget)
        record.save(structures={**record.content.get("structures", {}), name: rows})
        print(table(name, rows), end="\n\n", flush=True)
        wrong = wrong or any("wrong" in row for row in rows)
        del case
    return int(wrong)


def _measured(case: Case, works: Sequence[str], libraries: Sequence[str], budget: float) -> list[dict[str, Any]]:
    others = {name: PEERS[name](case) for name in libraries}
    rows = []
    for name in works:
        work = WORKS[name]
        row: dict[str, Any] = {"work": name}
        rows.append(row)
        if complaint := work.wrong(case, work.ours(case)):
            row["wrong"] = complaint
            continue
        calls: dict[str, Callable[[], Any]] = {"hpgraph": lambda work=work: work.ours(case)}  # type: ignore[misc]
        calls |= {one: method for one in libraries if (method := getattr(others[one], work.peer or "-", None))}
        row["seconds"] = in_turn(calls, case.device, budget)
    return rows


def table(graph: str, rows: Sequence[dict[str, Any]]) -> str:
    """One graph's results: milliseconds of the whole call, and our share of the best of the others."""
    libraries = list(dict.fromkeys(who for row in rows for who in row.get("seconds", {})))
    cells = [[graph, *libraries, "ours/best", "aim"]]
    for row in rows:
        work, times = WORKS[row["work"]], row.get("seconds", {})
        best = min((value for who, value in times.items() if who != "hpgraph"), default=None)
        shown = [f"{times[who] * 1e3:.4g}" if who in times else "" for who in libraries]
        ratio = f"{times['hpgraph'] / best:.2f}" if best else row.get("wrong", "")
        cells.append([work.title, *shown, ratio, str(work.aims.get(graph, ""))])
    return "\n".join(report.aligned(cells))
