"""What the algorithms should find, by SciPy or step by step in Python; and what any right answer has to satisfy."""

import functools
import heapq
import inspect
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse
import scipy.sparse.csgraph

# Every graph of the data folder; three are matrices of a physical problem, with values of either sign.
GRAPHS = ("bcsstk13", "ca-AstroPh", "cnr-2000", "cryg2500", "email-Enron", "jagmesh7", "soc-Epinions1", "west0067")


@functools.lru_cache(maxsize=2)
def stored(folder: Path, name: str) -> scipy.sparse.csr_array:
    """A graph of the data folder, with whole positive weights where it has none; read by SciPy alone."""
    # Releases of SciPy that can be asked for an array warn where they are not.
    arrays = {"spmatrix": False} if "spmatrix" in inspect.signature(scipy.io.mmread).parameters else {}
    matrix = scipy.sparse.coo_array(scipy.io.mmread(folder / f"{name}.mtx.gz", **arrays))
    weight = np.abs(matrix.data).astype(np.float64)
    if (weight == 1).all():
        weight = np.random.default_rng(7).integers(1, 256, len(weight)).astype(np.float64)
    # A stored zero is no arc to SciPy's csgraph.
    weight[weight == 0] = 1
    csr = scipy.sparse.coo_array((weight, matrix.coords), matrix.shape).tocsr()
    assert (csr.data > 0).all()
    return narrow(csr)


def narrow(csr: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """The same with ids of 32 bits, which hpgraph would otherwise take as they are."""
    csr.indices, csr.indptr = csr.indices.astype(np.int32), csr.indptr.astype(np.int32)
    return csr


def sources(csr: scipy.sparse.csr_array, count: int = 8) -> list[int]:
    """Vertices to start from: some with arcs, some as they come."""
    rng = np.random.default_rng(3)
    leaving = np.flatnonzero(np.diff(csr.indptr))
    return [*rng.choice(leaving, count - 2).tolist(), *rng.choice(csr.shape[0], 2).tolist()]


def levels(csr: scipy.sparse.csr_array, source: int) -> np.ndarray:
    """Arcs from the source to every vertex, -1 where there is no way, from SciPy's breadth_first_order."""
    order, predecessor = scipy.sparse.csgraph.breadth_first_order(csr, source, directed=True)
    place = np.empty(csr.shape[0], np.int64)
    place[order] = np.arange(len(order))
    # Where each vertex's predecessor stands in the order; it never falls, so a level is a stretch of the order.
    before = place[predecessor[order[1:]]]
    level = np.full(csr.shape[0], -1)
    begin, end, depth = 0, 1, 0
    while begin < end:
        level[order[begin:end]] = depth
        begin, end, depth = end, 1 + int(np.searchsorted(before, end)), depth + 1
    return level


def entry(csr: scipy.sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The entries at the given places of a matrix whose rows are sorted, NaN where none is stored."""
    n = csr.shape[0]
    keys = np.repeat(np.arange(n), np.diff(csr.indptr)) * n + csr.indices
    wanted = rows.astype(np.int64) * n + columns
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    found = keys[at] == wanted if len(keys) else np.zeros(len(wanted), bool)
    return np.where(found, csr.data[at] if len(keys) else 0, np.nan)


def check_tree(csr: scipy.sparse.csr_array, source: int, level: np.ndarray, parent: np.ndarray) -> None:
    """Assert that parents are one level up along an arc, and absent where nothing is reached."""
    assert parent[source] == source and level[source] == 0
    assert (parent[level < 0] == -1).all()
    below = np.flatnonzero(level > 0)
    assert (level[parent[below]] == level[below] - 1).all()
    assert not np.isnan(entry(csr, parent[below], below)).any(), "no such arc"


def smallest_parents(csr: scipy.sparse.csr_array, level: np.ndarray) -> np.ndarray:
    """The smallest in-neighbour one level up, the vertex itself where its level is 0, -1 where that is -1."""
    row = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    fits = (level[row] >= 0) & (level[row] + 1 == level[csr.indices])
    parent = np.full(csr.shape[0], csr.shape[0])
    np.minimum.at(parent, csr.indices[fits], row[fits])
    parent[level == 0] = np.flatnonzero(level == 0)
    parent[level < 0] = -1
    return parent


def check_shortest_paths(csr: scipy.sparse.csr_array, source: int, distance: np.ndarray, parent: np.ndarray) -> None:
    """Assert that parents lead to the source along tight arcs, and are absent where nothing is reached."""
    n = csr.shape[0]
    assert parent[source] == source and distance[source] == 0
    reached = np.isfinite(distance)
    assert (parent[~reached] == -1).all()
    below = np.flatnonzero(reached & (np.arange(n) != source))
    assert (distance[parent[below]] + entry(csr, parent[below], below).astype(distance.dtype) == distance[below]).all()
    ahead, steps = np.where(reached, parent, source), 1
    while steps < n:
        ahead, steps = ahead[ahead], 2 * steps
    assert (ahead == source).all(), "parents form a cycle"


def pagerank(
    matrix: np.ndarray,
    iterations: int,
    damping: float = 0.85,
    teleport: np.ndarray | None = None,
    start: np.ndarray | None = None,
    paper: bool = False,
) -> np.ndarray:
    """Ranks after some iterations, with a dense matrix; every vertex in turn.

    With `paper`, the form of the HPGraph paper: ranks start at 1, jumps bring (1 - damping), dangling rank is lost.
    """
    n = len(matrix)
    leaving = matrix.sum(axis=1)
    jump = np.full(n, 1 / n) if teleport is None else teleport / teleport.sum()
    rank = np.ones(n) if paper else jump.copy()
    if start is not None:
        rank = start.astype(float) if paper else start / start.sum()
    for _ in range(iterations):
        lost = sum(rank[u] for u in range(n) if leaving[u] == 0)
        new = np.zeros(n)
        for v in range(n):
            came = sum(rank[u] * matrix[u, v] / leaving[u] for u in range(n) if matrix[u, v])
            if paper:
                new[v] = (1 - damping) * (1 if teleport is None else n * jump[v]) + damping * came
            else:
                new[v] = (1 - damping) * jump[v] + damping * (came + lost * jump[v])
        rank = new
    return rank


def widest(csr: scipy.sparse.csr_array, source: int) -> np.ndarray:
    """Width of the widest path to every vertex, 0 where there is none, by Dijkstra's algorithm with a heap."""
    width = np.zeros(csr.shape[0])
    width[source] = np.inf
    heap = [(-np.inf, source)]
    while heap:
        negative, u = heapq.heappop(heap)
        if -negative < width[u]:
            continue
        for j in range(csr.indptr[u], csr.indptr[u + 1]):
            through = min(width[u], csr.data[j])
            if through > width[csr.indices[j]]:
                width[csr.indices[j]] = through
                heapq.heappush(heap, (-through, csr.indices[j]))
    return width


def core(csr: scipy.sparse.csr_array, k: int) -> np.ndarray:
    """Which vertices of an undirected graph are in its k-core, by taking away one at a time."""
    degree = np.diff(csr.indptr).astype(int)
    stays = np.ones(csr.shape[0], bool)
    while (weak := np.flatnonzero(stays & (degree < k))).size:
        v = weak[0]
        stays[v] = False
        for u in csr.indices[csr.indptr[v] : csr.indptr[v + 1]]:
            degree[u] -= 1
    return stays


def random_digraph(n: int, arcs: int, seed: int = 0, low: int = 1, high: int = 20) -> scipy.sparse.csr_array:
    """A random directed graph with whole weights, loops and vertices without arcs among the last."""
    rng = np.random.default_rng(seed)
    keys = np.unique(rng.integers(0, (n - n // 10) ** 2, arcs))
    row, column = keys // (n - n // 10), keys % (n - n // 10)
    weight = rng.integers(low, high, len(keys)).astype(np.float64)
    return narrow(scipy.sparse.csr_array((weight, (row, column)), (n, n)))


SMALL = random_digraph(200, 900, seed=1)


def bellman_ford(n: int, arcs: list[tuple[int, int, float]], source: int) -> list[float] | None:
    """Distances by n rounds over all arcs; None if the source reaches a negative cycle."""
    distance = [np.inf] * n
    distance[source] = 0.0
    for _ in range(n):
        changed = False
        for u, v, weight in arcs:
            if distance[u] + weight < distance[v]:
                distance[v] = distance[u] + weight
                changed = True
        if not changed:
            return distance
    return None


def broom(handle: int, bristles: int) -> scipy.sparse.csr_array:
    """A path with leaves in the middle, symmetric: frontiers are thin, burst, and are thin again."""
    line, leaves = np.arange(handle - 1), np.arange(handle, handle + bristles)
    source, target = np.r_[line, np.full(bristles, handle // 2)], np.r_[line + 1, leaves]
    ends = np.r_[source, target], np.r_[target, source]
    return scipy.sparse.csr_array((np.ones(len(ends[0])), ends), shape=(handle + bristles,) * 2)


def hubs(n: int, arcs: int, seed: int, exponent: float = 2.0) -> scipy.sparse.csr_array:
    """A digraph whose few hubs have thousands of arcs, so that frontiers outgrow whatever takes the small ones."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    source = order[(n * rng.random(arcs) ** exponent).astype(np.int64)]
    target = order[(n * rng.random(arcs) ** exponent).astype(np.int64)]
    weight = rng.integers(1, 100, arcs).astype(np.float64)
    made = narrow(scipy.sparse.csr_array((weight, (source, target)), shape=(n, n)))
    made.sum_duplicates()
    return made
