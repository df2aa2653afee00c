"""Under ``NUMBA_DISABLE_JIT=1`` the CPU kernels are Python functions, and their answers those of SciPy and NetworkX."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BEGINNING = """
import sys, warnings
import networkx as nx, numpy as np, scipy.sparse as sp, scipy.sparse.csgraph as scs
import hpgraph as hpg, hpgraph.csgraph as cs
from numpy.testing import assert_allclose, assert_array_equal as same

# Arithmetic that overflows or makes no number would be a kernel's mistake.
warnings.simplefilter("error")
random = np.random.default_rng(3)

def matrix(n, arcs):
    A = sp.coo_array((np.ones(arcs), random.integers(0, n, (2, arcs))), shape=(n, n)).tocsr()
    A.data = random.integers(1, 10, A.nnz).astype(float)
    return A

A, LARGE = matrix(50, 200), matrix(3000, 40_000)
n = A.shape[0]
G, U = hpg.Graph(A), hpg.Graph(A + A.T, directed=False)
N, NU = nx.from_scipy_sparse_array(A, create_using=nx.DiGraph), nx.from_scipy_sparse_array(A + A.T)
M, x = hpg.Matrix(A), random.random(n)
"""

PROGRAMS = {
    "bfs": """
for g, other in ((G, N), (U, NU)):
    expected = nx.single_source_shortest_path_length(other, 0)
    for deterministic in (False, True):
        found = hpg.bfs(g, 0, deterministic=deterministic)
        same(found.level, [expected.get(v, -1) for v in range(n)])
        for v in np.flatnonzero(found.level > 0):
            assert other.has_edge(found.parent[v], v) and found.level[found.parent[v]] == found.level[v] - 1
order = scs.breadth_first_order(LARGE, 0, return_predecessors=False)
assert set(np.flatnonzero(hpg.bfs(hpg.Graph(LARGE), 0).level >= 0)) == set(order)
""",
    "sssp": """
for g, other in ((G, N), (U, NU)):
    expected = nx.single_source_dijkstra_path_length(other, 0)
    for options in ({}, {"parents": True}):
        found = hpg.sssp(g, 0, **options)
        same(found.distance, [expected.get(v, np.inf) for v in range(n)])
same(hpg.sssp(hpg.Graph(LARGE), 0).distance, scs.dijkstra(LARGE, indices=0))
""",
    "pagerank": """
expected = nx.pagerank(N, tol=1e-12, weight=None)
assert_allclose(hpg.pagerank(G, tol=1e-10).rank, [expected[v] for v in range(n)], atol=1e-8)
assert_allclose(hpg.pagerank(G, dtype="float32", tol=1e-5).rank, [expected[v] for v in range(n)], atol=1e-4)
""",
    "betweenness": """
for g, other in ((G, N), (U, NU)):
    for weight in (None, "weight"):
        expected = nx.betweenness_centrality(other, weight=weight)
        assert_allclose(hpg.betweenness_centrality(g, weight=weight), [expected[v] for v in range(n)], atol=1e-12)
""",
    "triangles and components": """
each = nx.triangles(nx.from_scipy_sparse_array(A + A.T))
same(hpg.triangles(U), [each[v] for v in range(n)])
assert hpg.triangle_count(U) == sum(each.values()) // 3
count, labels = scs.connected_components(A)
found = hpg.connected_components(U)
assert len(set(zip(labels.tolist(), found.label.tolist()))) == count == len(set(found.label.tolist()))
""",
    "products": """
assert_allclose(M @ x, A @ x)
assert_allclose(M.T @ x, A.T @ x)
assert_allclose(hpg.Matrix(A, format="hyb") @ x, A @ x)
assert_allclose(M @ np.stack([x, 2 * x], axis=1), A @ np.stack([x, 2 * x], axis=1))
assert_allclose((M @ M).toarray(), (A @ A).toarray())
assert_allclose(hpg.Matrix(LARGE) @ np.arange(3000.0), LARGE @ np.arange(3000.0))
dense, infinite = A.toarray(), np.where(A.toarray() == 0, np.inf, A.toarray())
least = (infinite + x).min(axis=1)
found = M.mxv(x, "min_plus")
assert_allclose(found[np.isfinite(least)], least[np.isfinite(least)])
out = np.full(n, 3.0)
mask = x > 0.5
M.mxv(x, "min_plus", mask=mask, accum="min", out=out)
assert_allclose(out, np.where(mask, np.minimum(3.0, least), 3.0))
for semiring in ("plus_pair", "any_pair", "lor_land", "max_plus", "min_max"):
    product = M.mxm(M, semiring)
    same(product.toarray() != 0, (A @ A).toarray() != 0)
masked = M.mxm(M, "plus_times", mask=M)
assert_allclose(masked.toarray(), np.where(dense != 0, (A @ A).toarray(), 0))
few = np.where(x > 0.9, x, 0)
assert_allclose(np.asarray(hpg.vxm(hpg.Vector(few, present=few != 0), M).values), A.T @ few)
""",
    "entries": """
assert_allclose((M + M.T).toarray(), (A + A.T).toarray())
assert_allclose((M * M.T).toarray(), (A * A.T).toarray())
assert_allclose((hpg.Matrix(LARGE) + hpg.Matrix(LARGE.T.tocsr())).sum(), 2 * LARGE.sum())
assert_allclose(M.sum(axis=1), A.sum(axis=1))
assert_allclose(M.max(axis=0), A.max(axis=0).toarray().ravel())
assert_allclose(abs(-M).toarray(), A.toarray())
assert_allclose(M[2:9, [1, 5, 7]].toarray(), A[2:9][:, [1, 5, 7]].toarray())
assert_allclose(hpg.tril(M).toarray(), np.tril(A.toarray()))
assert_allclose(hpg.kron(M[:4, :4], M[:3, :3]).toarray(), np.kron(A[:4, :4].toarray(), A[:3, :3].toarray()))
assert_allclose(M.T.tocsr().toarray(), A.T.toarray())
assert_allclose(hpg.ewise_add(M, M.T, "max").toarray(), A.maximum(A.T).toarray())
""",
    "vertex programs": """
import programs
widest = np.zeros(n); widest[0] = np.inf
for _ in range(n):
    for u, v, w in N.edges(data="weight"):
        widest[v] = max(widest[v], min(widest[u], w))
for program in (programs.Widest, programs.WidestInPlace):
    for way in ("push", "pull", "auto"):
        # Bins of a width that is infinite: what a processor computes with it is no number, and is asked for no more.
        with np.errstate(invalid="ignore"):
            same(hpg.run(program, G, active=[0], direction=way).width, widest)
parts = {frozenset(part) for part in nx.weakly_connected_components(N)}
label = hpg.run(programs.Component, G).label
assert {frozenset(np.flatnonzero(label == one).tolist()) for one in np.unique(label)} == parts
for size in (0, 1, 2):
    empty = hpg.Graph.from_edges([], [], np.empty(0), n_vertices=size)
    for program in (programs.Widest, programs.WidestInPlace, programs.Component, programs.Guarded, programs.Halving):
        assert all(len(array) == size for array in hpg.run(program, empty, max_iteration=3).properties.values())
level = nx.single_source_shortest_path_length(N, 0)
same(hpg.run(programs.Guarded, G, active=[0]).level >= 0, [v in level for v in range(n)])
""",
    "csgraph": """
for name in ("dijkstra", "bellman_ford", "johnson", "floyd_warshall", "shortest_path"):
    assert_allclose(getattr(cs, name)(A), getattr(scs, name)(A))
same(cs.breadth_first_order(A, 0)[0], scs.breadth_first_order(A, 0)[0])
assert cs.connected_components(A)[0] == scs.connected_components(A)[0]
assert_allclose(cs.minimum_spanning_tree(A + A.T).sum(), scs.minimum_spanning_tree(A + A.T).sum())
assert_allclose(cs.laplacian(A + A.T).toarray(), scs.laplacian(A + A.T).toarray())
""",
    "the kernels are Python": """
from hpgraph.kernels.runtime.cpu import claim, progress
from hpgraph.kernels.spmv import cpu as product
from hpgraph.kernels.traversal import direction_optimizing as traverse
for kernel in (traverse.run_supersteps, product._pull, progress.now, progress.cycles, claim.flush):
    assert type(kernel).__name__ == "function", kernel
assert progress.cycles.__name__ == "cycles" and progress.cycles.__doc__ == "The processor's cycle counter."
""",
}


@pytest.mark.parametrize("part", [0, 1])
def test_answers_without_compiling(tmp_path: Path, part: int) -> None:
    """In two processes, each of which runs every other program."""
    program = "".join(list(PROGRAMS.values())[part::2])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "HPGRAPH_CACHE_DIR": str(tmp_path / "cache")}
    sys_path = f"import sys; sys.path.append({str(Path(__file__).parent / 'engine')!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", sys_path + BEGINNING + program + "print('done')"],
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr
    assert list(tmp_path.rglob("*.nb?")) == []
