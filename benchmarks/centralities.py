"""Parts of graphs, iterated centralities and clustering, beside other libraries; answers are checked first.

On the GPU twenty iterations are timed, on the CPU iterations until the usual tolerance is reached, which is what other
libraries can be asked for.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

import hpgraph as hpg
from hpgraph.core.device import to_device

from . import peers_cpu
from .graphs import Case
from .library import Library
from .suite import Suite, Work, aims

ITERATIONS = 20


class SciPy(peers_cpu.SciPy):
    """Indexing takes what it copies twice."""

    def subgraph(self) -> Any:
        chosen = tenth(self.case)
        return self._graph[chosen][:, chosen]


class IGraph(peers_cpu.IGraph):
    """igraph, C; hubs and eigenvectors by ARPACK."""

    def subgraph(self) -> Any:
        return self._graph.induced_subgraph(tenth(self.case).tolist())

    def eigenvector(self) -> Any:
        return self._graph.eigenvector_centrality()

    def hits(self) -> Any:
        return self._graph.hub_score()

    def clustering(self) -> Any:
        return self._graph.transitivity_local_undirected(mode="zero")

    def transitivity(self) -> Any:
        return self._graph.transitivity_undirected()


class NetworKit(peers_cpu.NetworKit):
    """networkit, C++ and OpenMP."""

    def subgraph(self) -> Any:
        return self._nk.graphtools.subgraphFromNodes(self._unweighted, tenth(self.case).tolist())

    def eigenvector(self) -> Any:
        return self._nk.centrality.EigenvectorCentrality(self._unweighted, tol=1e-6).run()

    def katz(self) -> Any:
        return self._nk.centrality.KatzCentrality(self._unweighted, alpha(self.case), 1.0, 1e-6).run()

    def clustering(self) -> Any:
        return self._nk.centrality.LocalClusteringCoefficient(self._unweighted, turbo=True).run()


PEERS: dict[str, type[Library]] = {kind.name: kind for kind in (SciPy, NetworKit, IGraph)}


def tenth(case: Case) -> np.ndarray:
    """A tenth of the vertices, drawn, ascending; drawn once, outside of what is timed."""
    return _drawn(case.n)


def _there(case: Case) -> Any:
    return _on_device(case.n, case.device)


@functools.lru_cache(maxsize=2)
def _on_device(n: int, device: str) -> Any:
    return to_device(_drawn(n), device)


@functools.lru_cache(maxsize=2)
def _drawn(n: int) -> np.ndarray:
    return np.sort(np.random.default_rng(7).permutation(n)[: n // 10])


def alpha(case: Case) -> float:
    """Half of what is surely below 1 over the largest eigenvalue."""
    return 0.5 / max(int(case.degree.max()), 1)


def _how(case: Case, dtype: str) -> dict[str, Any]:
    ends = {"tol": 0, "max_iteration": ITERATIONS} if case.device == "cuda" else {}
    return {"dtype": np.dtype(dtype), **ends}


def _iterated(case: Case, step: Callable[[Any, Any], Any], rounds: int) -> Any:
    """A vector after some products with the adjacency matrix, by SciPy or CuPy in float64."""
    A = case.graph.out_csr.with_data(case.xp.ones(case.n_arcs)).to_scipy()
    vector = case.xp.ones(case.n)
    for _ in range(rounds):
        vector = step(A, vector)
    return vector


def _apart(found: Any, expected: Any) -> str | None:
    gap = float(abs(found - expected).sum() / abs(expected).sum())
    return None if gap <= 1e-4 else f"off by {gap:.1e} of the sum"


def _wrong_part(case: Case, found: hpg.Graph) -> str | None:
    chosen = tenth(case)
    arcs = to_device(case.indices, "cpu"), to_device(case.indptr, "cpu")
    whole = scipy.sparse.csr_array((np.ones(case.n_arcs, np.int8), *arcs), shape=(case.n, case.n))
    expected = whole[chosen][:, chosen]
    expected.sort_indices()
    made = found.to("cpu").out_csr
    same = np.array_equal(made.indptr, expected.indptr) and np.array_equal(made.indices, expected.indices)
    return None if same else "another part"


def _wrong_eigenvector(case: Case, found: Any) -> str | None:
    def step(A: Any, x: Any) -> Any:
        x = x + A @ x
        return x / case.xp.linalg.norm(x)

    return _apart(found.centrality, _iterated(case, step, found.iterations))


def _wrong_katz(case: Case, found: Any) -> str | None:
    solved = _iterated(case, lambda A, x: alpha(case) * (A @ x) + 1, found.iterations)
    return _apart(found.centrality, solved / case.xp.linalg.norm(solved))


def _wrong_hits(case: Case, found: Any) -> str | None:
    def step(A: Any, x: Any) -> Any:
        x = A @ (A @ x)
        return x / x.sum()

    return _apart(found.hubs, _iterated(case, step, found.iterations))


def _wrong_clustering(case: Case, found: Any) -> str | None:
    some = to_device(case.xp.argsort(-found)[: min(case.n, 50)], "cpu").tolist() + case.row[:10]
    indptr, indices = to_device(case.indptr, "cpu"), to_device(case.indices, "cpu")
    rows = [set(indices[indptr[v] : indptr[v + 1]].tolist()) for v in some]
    for v, row in zip(some, rows, strict=True):
        if len(row) > 500:
            continue
        closed = sum(len(row.intersection(indices[indptr[u] : indptr[u + 1]].tolist())) for u in row)
        expected = closed / (len(row) * (len(row) - 1)) if closed else 0.0
        if abs(float(found[v]) - expected) > 1e-12:
            return f"vertex {v} has {float(found[v])}, not {expected}"
    return None


def _wrong_triangles(case: Case, found: Any) -> str | None:
    expected = 3 * hpg.triangle_count(case.graph)
    return None if int(found.sum()) == expected else f"{int(found.sum())} in all, not {expected}"


WORKS: dict[str, Work] = {
    "subgraph": Work("a tenth of the vertices", lambda case: case.graph.subgraph(_there(case)), _wrong_part, "subgraph",
                     aims(1.2, 1.4, 2.2, 0.7)),
    "eigenvector": Work("eigenvector, float64", lambda case: hpg.eigenvector_centrality(case.graph, **_how(case, "f8")),
                        _wrong_eigenvector, "eigenvector"),
    "eigenvector32": Work("eigenvector, float32",
                          lambda case: hpg.eigenvector_centrality(case.graph, **_how(case, "f4")),
                          _wrong_eigenvector, "eigenvector", aims(11, 14, 26, 1.5)),
    "katz": Work("Katz, float64", lambda case: hpg.katz_centrality(case.graph, alpha(case), **_how(case, "f8")),
                 _wrong_katz, "katz"),
    "katz32": Work("Katz, float32", lambda case: hpg.katz_centrality(case.graph, alpha(case), **_how(case, "f4")),
                   _wrong_katz, "katz", aims(11, 14, 26, 1.5)),
    "hits": Work("HITS, float64", lambda case: hpg.hits(case.graph, weight=None, **_how(case, "f8")), _wrong_hits,
                 "hits"),
    "hits32": Work("HITS, float32",
                   lambda case: hpg.hits(case.graph, weight=None, **{"tol": 1e-6, **_how(case, "f4")}), _wrong_hits,
                   "hits", aims(22, 28, 52, 3)),
    "clustering": Work("clustering", lambda case: hpg.clustering(case.graph), _wrong_clustering, "clustering"),
    "triangles": Work("triangles by vertex", lambda case: hpg.triangles(case.graph), _wrong_triangles, "",
                      aims(38, 12, 14, 0.12)),
    "transitivity": Work("transitivity", lambda case: hpg.transitivity(case.graph), peer="transitivity"),
    "delta": Work("PageRank by changes", lambda case: hpg.pagerank(case.graph, method="delta", max_iteration=1000),
                  lambda case, found: _apart(found.rank, hpg.pagerank(case.graph, tol=1e-9, max_iteration=300).rank)),
    "power": Work("PageRank by iterations", lambda case: hpg.pagerank(case.graph, max_iteration=1000)),
}  # fmt: skip

SUITE = Suite("centralities", __doc__ or "", WORKS, PEERS, iterated=True)
main = SUITE.main
