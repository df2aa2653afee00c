"""Communities: Louvain, Leiden and labels; the modularity of each answer is worked out by array operations first.

Of other libraries networkit and igraph stand beside them on the CPU, where they are installed. Edges weigh 1 for all.
"""

from typing import Any

import hpgraph as hpg

from . import peers_cpu
from .graphs import Case
from .library import Library
from .suite import GRAPHS, Suite, Work, aims

# What cuGraph reaches on these graphs, less a spread of .002: the least that is right.
LOUVAIN = dict(zip(GRAPHS, (0.0250, 0.0989, 0.0674, 0.9902), strict=True))


class NetworKit(peers_cpu.NetworKit):
    """networkit, C++ and OpenMP: its parallel Louvain, Leiden and label propagation."""

    def louvain(self) -> Any:
        return self._nk.community.PLM(self._unweighted).run()

    def leiden(self) -> Any:
        return self._nk.community.ParallelLeiden(self._unweighted).run()

    def labels(self) -> Any:
        return self._nk.community.PLP(self._unweighted).run()


class IGraph(peers_cpu.IGraph):
    """igraph, C, on one thread."""

    def louvain(self) -> Any:
        return self._graph.community_multilevel()

    def leiden(self) -> Any:
        return self._graph.community_leiden(objective_function="modularity", n_iterations=2)


PEERS: dict[str, type[Library]] = {kind.name: kind for kind in (NetworKit, IGraph)}


def _modularity(case: Case, label: Any) -> float:
    xp = case.xp
    degree = case.degree
    within, total = 0, case.n_arcs
    for row, column, _ in case.arcs():
        within += int((label[row] == label[column]).sum())
    strength = xp.bincount(label, weights=degree) / total
    return float(within / total - (strength * strength).sum())


def _wrong(case: Case, found: hpg.Communities) -> str | None:
    quality = _modularity(case, found.label)
    if abs(quality - found.modularity) > 1e-9:
        return f"a modularity of {quality}, not {found.modularity}"
    least = LOUVAIN.get(case.name, 0)
    return None if quality >= least else f"a modularity of {quality}, below {least}"


def _wrong_leiden(case: Case, found: hpg.Communities) -> str | None:
    rows = case.graph.out_csr.expand_rows()
    inside = found.label[rows] == found.label[case.indices]
    within = hpg.Graph.from_edges(rows[inside], case.indices[inside], n_vertices=case.n, directed=False)
    parts = hpg.connected_components(within).count
    return _wrong(case, found) if parts == found.count else f"{found.count} communities in {parts} pieces"


WORKS: dict[str, Work] = {
    "louvain": Work("Louvain", lambda case: hpg.louvain(case.graph, weight=None), _wrong, "louvain",
                    aims(300, 400, 700, 40)),
    "leiden": Work("Leiden", lambda case: hpg.leiden(case.graph, weight=None), _wrong_leiden, "leiden",
                   aims(500, 600, 900, 60)),
    "labels": Work("labels, asynchronous", lambda case: hpg.label_propagation_communities(case.graph), peer="labels"),
    "cdlp": Work("CDLP, 10 rounds", lambda case: hpg.cdlp(case.graph), aims=aims(20, 25, 50, 3)),
}  # fmt: skip

SUITE = Suite("communities", __doc__ or "", WORKS, PEERS)
main = SUITE.main
