"""Similarity of a million edges, random walks, samples of neighbours and layouts; answers are checked first.

Of other libraries networkit, igraph and NetworkX stand beside them on the CPU, where they have the like.
"""

import functools
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import to_device
from hpgraph.kernels.backend import kernels

from . import peers_cpu
from .graphs import Case
from .library import Library
from .suite import Suite, Work, aims

STEPS, FANOUTS = 16, (10, 10)


class NetworKit(peers_cpu.NetworKit):
    """networkit, C++ and OpenMP."""

    @functools.cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        self._unweighted.sortEdges()
        return list(zip(*(ends.tolist() for ends in self.case.edges), strict=True))

    def jaccard(self) -> Any:
        return self._nk.linkprediction.JaccardIndex(self._unweighted).runOn(self._pairs)

    def adamic_adar(self) -> Any:
        return self._nk.linkprediction.AdamicAdarIndex(self._unweighted).runOn(self._pairs)

    def resource_allocation(self) -> Any:
        return self._nk.linkprediction.ResourceAllocationIndex(self._unweighted).runOn(self._pairs)

    def common(self) -> Any:
        return self._nk.linkprediction.CommonNeighborsIndex(self._unweighted).runOn(self._pairs)


class IGraph(peers_cpu.IGraph):
    """igraph, C, on one thread."""

    @functools.cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(zip(*(ends.tolist() for ends in self.case.edges), strict=True))

    def jaccard(self) -> Any:
        return self._graph.similarity_jaccard(pairs=self._pairs)

    def sorensen(self) -> Any:
        return self._graph.similarity_dice(pairs=self._pairs)

    def walks(self) -> Any:
        return [self._graph.random_walk(start, STEPS) for start in self.case.starts.tolist()]

    def ego(self) -> Any:
        some = self.case.seeds[:32].tolist()
        return [self._graph.induced_subgraph(part) for part in self._graph.neighborhood(some, order=2)]


PEERS: dict[str, type[Library]] = {kind.name: kind for kind in (NetworKit, IGraph)}


def _wrong_jaccard(case: Case, found: Any) -> str | None:
    """By sets, for some."""
    source, target = (ends[:50].tolist() for ends in case.edges)
    for u, v, score in zip(source, target, found[:50].tolist(), strict=True):
        rows = [set(to_device(case.indices[int(case.indptr[w]) : int(case.indptr[w + 1])], "cpu").tolist())
                for w in (u, v)]  # fmt: skip
        if abs(len(rows[0] & rows[1]) / len(rows[0] | rows[1]) - score) > 1e-12:
            return f"another coefficient of {u} and {v}"
    return None


def _wrong_walks(case: Case, walks: Any) -> str | None:
    here, there = walks[:, :-1].ravel().astype(np.int64), walks[:, 1:].ravel().astype(np.int64)
    goes = there >= 0
    if not bool((kernels(case.device).positions_of(case.graph.out_csr, here[goes], there[goes]) >= 0).all()):
        return "a step without an arc"
    ends = here[~goes & (here >= 0)]
    return None if bool((case.degree[ends] == 0).all()) else "a walk that stops where it could go on"


def _wrong_sample(case: Case, sample: hpg.NeighborSample) -> str | None:
    row, column = sample.vertex[sample.edge_index]
    if not bool((kernels(case.device).positions_of(case.graph.out_csr, column, row) == sample.edge).all()):
        return "an edge that is no arc"
    drawn = case.xp.bincount(sample.edge_index[1], minlength=len(sample))[: sum(sample.vertices_of_hop[:-1])]
    want = case.xp.minimum(case.degree[sample.vertex[: len(drawn)]], FANOUTS[0])
    return None if bool((drawn == want).all()) else "not as many as asked for"


def _sampled(case: Case, **how: Any) -> Any:
    return hpg.sample_neighbors(case.graph, case.seeds, FANOUTS, **how)


SIMILARITY: dict[str, Work] = {
    "jaccard": Work("Jaccard of edges", lambda case: hpg.jaccard(case.graph, case.edges), _wrong_jaccard, "jaccard",
                    aims(30, 8, 1.5, 0.5)),
    "weighted": Work("Jaccard, weighted", lambda case: hpg.jaccard(case.graph, case.edges, weight=True)),
    "sorensen": Work("Sørensen", lambda case: hpg.sorensen(case.graph, case.edges), peer="sorensen"),
    "common": Work("common neighbours", lambda case: hpg.common_neighbors(case.graph, case.edges), peer="common"),
    "adamic_adar": Work("Adamic–Adar", lambda case: hpg.adamic_adar(case.graph, case.edges), peer="adamic_adar"),
    "resource_allocation": Work("resource allocation", lambda case: hpg.resource_allocation(case.graph, case.edges),
                                peer="resource_allocation"),
    "top": Work("10 most like 100 vertices", lambda case: hpg.jaccard(case.graph, top=10, vertices=case.seeds[:100])),
}  # fmt: skip
SAMPLING: dict[str, Work] = {
    "walks": Work("walks of 16 steps", lambda case: hpg.random_walk(case.graph, case.starts, STEPS), _wrong_walks,
                  "walks", aims(1.5, 1.5, 1.8, 1.2)),
    "weighted walks": Work("walks, weighted",
                           lambda case: hpg.random_walk(case.graph, case.starts, STEPS, weight=True), _wrong_walks),
    "node2vec": Work("node2vec, p 0.5, q 2",
                     lambda case: hpg.node2vec_walk(case.graph, case.starts, STEPS, p=0.5, q=2.0), _wrong_walks),
    "sample": Work("10 × 10 around 10,000", _sampled, _wrong_sample, aims=aims(0.8, 0.8, 0.9, 0.5)),
    "replace": Work("the same with replacement", lambda case: _sampled(case, replace=True),
                    aims=aims(0.8, 0.8, 0.9, 0.5)),
    "weighted": Work("the same by weight", lambda case: _sampled(case, weight=True)),
    "ego": Work("2 hops around each of 32",
                lambda case: hpg.k_hop_subgraph(case.graph, case.seeds[:32], 2, each=True), peer="ego"),
}  # fmt: skip
SUITES = {
    "similarity": Suite("similarity", __doc__ or "", SIMILARITY, PEERS),
    "sampling": Suite("sampling", __doc__ or "", SAMPLING, PEERS),
}


def main(words: Any) -> int:
    """Measure what the first word names."""
    return SUITES[words[0]].main(words)
