"""Shortest paths in csgraph where thousands of vertices wait at a time, against SciPy: near and far, or equally far."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph
from test_against_scipy import home, moved

from hpgraph import csgraph

N = 3000


def graph(kind: str) -> Any:
    rng = np.random.default_rng(7)
    source, target = rng.integers(0, N, (2, 8 * N))
    weight = {
        "even": lambda k: rng.random(k) + 1e-6,
        "equal": lambda k: np.ones(k),
        "whole": lambda k: rng.integers(1, 4, k).astype(float),
        "many magnitudes": lambda k: 10.0 ** rng.uniform(-150, 150, k),
        # One arc in two adds nothing to a large distance.
        "absorbed": lambda k: np.where(rng.random(k) < 0.5, 1.0, 2.0**60),
        "subnormal": lambda k: rng.integers(1, 9, k) * 5e-324,
    }
    if kind == "stars":
        # A hub, leaves of equal distance, and a leaf on each.
        ends = np.r_[np.zeros(N // 2 - 1, int), np.arange(1, N // 2)], np.r_[1 : N // 2, N // 2 : N - 1]
        return sp.csr_array((np.ones(N - 2), ends), shape=(N, N))
    made = sp.coo_array((weight[kind](len(source)), (source, target)), shape=(N, N))
    made.sum_duplicates()
    return made.tocsr()


def fewest_arcs(S: Any, distance: Any, start: int) -> Any:
    """The least number of arcs of a shortest path to each vertex."""
    arcs = S.tocoo()
    tight = (distance[arcs.row] + arcs.data == distance[arcs.col]) & (distance[arcs.col] < np.inf)
    hops = np.full(N, N)
    hops[start] = 0
    for _ in range(N):
        found = hops.copy()
        np.minimum.at(found, arcs.col[tight], hops[arcs.row[tight]] + 1)
        if (found == hops).all():
            return hops
        hops = found
    raise AssertionError("a cycle of tight arcs has no end")


KINDS = ["even", "equal", "whole", "many magnitudes", "absorbed", "subnormal", "stars"]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", KINDS)
class TestManyWaiting:
    def test_distances_and_predecessors(self, kind: str, directed: bool, device: str) -> None:
        S = graph(kind)
        given = moved(S, device)
        distance, before = home(csgraph.dijkstra(given, directed, 0, return_predecessors=True))
        assert np.array_equal(distance, scipy.sparse.csgraph.dijkstra(S, directed, 0))
        assert np.array_equal(home(csgraph.dijkstra(given, directed, 0)), distance)
        both = S if directed else S.maximum(S.T)
        if not directed:
            shared = S.astype(bool).multiply(S.T.astype(bool))
            both = (both - both.multiply(shared) + S.minimum(S.T).multiply(shared)).tocsr()
        reached = np.flatnonzero((distance < np.inf) & (np.arange(N) != 0))
        assert (before[np.setdiff1d(np.arange(N), reached)] == -9999).all()
        along = np.array([both[before[v], v] for v in reached])
        assert np.array_equal(distance[before[reached]] + along, distance[reached])
        hops = fewest_arcs(both, distance, 0)
        assert np.array_equal(hops[before[reached]] + 1, hops[reached])

    def test_limits_and_several_sources(self, kind: str, directed: bool) -> None:
        S = graph(kind)
        distance = scipy.sparse.csgraph.dijkstra(S, directed, 0)
        limit = float(np.median(distance[distance < np.inf]))
        sources = np.arange(0, N, 500)
        for options in ({"limit": limit}, {"limit": limit, "unweighted": True}, {}, {"min_only": True}):
            wanted = scipy.sparse.csgraph.dijkstra(S, directed, sources, **options)
            for trees in (False, True):
                found = csgraph.dijkstra(S, directed, sources, return_predecessors=trees, **options)
                assert np.array_equal(found[0] if trees else found, wanted)


@pytest.mark.parametrize("change", ["a weight", "an arc", "order", "a duplicate", "a loop", "nothing", "NaN"])
def test_a_matrix_that_is_nearly_symmetric(change: str) -> None:
    rng = np.random.default_rng(8)
    half = sp.random_array((200, 200), density=0.03, rng=rng, format="csr")
    S = sp.csr_array(sp.triu(half, 1) + sp.triu(half, 1).T)
    S.indices, S.indptr = S.indices.astype(np.int32), S.indptr.astype(np.int32)
    row = int(np.argmax(np.diff(S.indptr)))
    at = int(S.indptr[row])
    if change == "a weight":
        S.data[at] = 0.001
    elif change == "NaN":
        S.data[at] = np.nan
    elif change == "an arc":
        S.indices[at] = next(v for v in range(200) if v not in S.indices[at : S.indptr[row + 1]] and v != row)
    elif change == "order":
        S.indices[at : at + 2], S.data[at : at + 2] = (
            S.indices[at : at + 2][::-1].copy(),
            S.data[at : at + 2][::-1].copy(),
        )
    elif change == "a duplicate":
        S.indices[at] = S.indices[at + 1]
    elif change == "a loop":
        S = sp.csr_array(S + sp.csr_array(([1.0], ([row], [row])), shape=S.shape))
    for name in ("breadth_first_order", "depth_first_order"):
        wanted, found = (getattr(m, name)(S, row, directed=False) for m in (scipy.sparse.csgraph, csgraph))
        assert np.array_equal(wanted[0], found[0])
        assert np.array_equal(wanted[1], found[1])
    if change != "NaN":
        wanted, found = (m.dijkstra(S, False, [row, 3]) for m in (scipy.sparse.csgraph, csgraph))
        assert np.array_equal(wanted, found)
        whole = sp.csr_array((np.ceil(S.data * 9).astype(np.int32), S.indices, S.indptr), shape=S.shape)
        whole.sum_duplicates()
        wanted, found = (m.maximum_flow(whole, row, 3) for m in (scipy.sparse.csgraph, csgraph))
        assert wanted.flow_value == found.flow_value
