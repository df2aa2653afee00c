"""PageRank from many personalizations at once: power iteration, as a product with a dense matrix.

Ranks of a vertex are contiguous, so an arc is read once for all. Each personalization stops by itself; the columns of
the remaining ones are compacted.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.array_result import ArrayResult
from hpgraph.containers.graph import Graph
from hpgraph.core.device import (
    Array,
    anywhere,
    array_module,
    check_memory,
    device_of,
    everywhere,
    first_true,
    is_cuda,
    is_sparse_matrix,
    native,
    sources_within,
    to_device,
    unmasked,
)
from hpgraph.core.work_clock import now
from hpgraph.engine.grouping import groups
from hpgraph.engine.result import Trace
from hpgraph.engine.state import are_sources
from hpgraph.formats import occurrences
from hpgraph.formats.interchange import check_places
from hpgraph.kernels.backend import joint_ranks, kernels
from hpgraph.kernels.runtime.direction import PULL
from hpgraph.kernels.sweep import JointRanks, RankArrays, Ranks

# Vertices per block of the transposition of ranks.
PIECE = 4096


@dataclass(frozen=True, eq=False)
class MultiSourcePageRankResult(ArrayResult, array="rank"):
    """Ranks from each of several personalizations. ``numpy.asarray`` takes it for the ranks.

    Attributes
    ----------
    rank : float array of shape (k, n)
        A row for each personalization, by index.
    iterations : int64 array of length k
        In NumPy, as the next two.
    residual : float64 array of length k
        The last iteration's change, summed over all vertices.
    converged : bool array of length k
    traces : list of Trace
        What each iteration of each group of personalizations did.
    """

    rank: Array
    iterations: np.ndarray
    residual: np.ndarray
    converged: np.ndarray
    traces: list[Trace]

    def __repr__(self) -> str:
        k, n = self.rank.shape
        end = f"{self.converged.sum()} converged, {int(self.iterations.max(initial=0))} iterations at the most"
        return f"<MultiSourcePageRankResult: {k} personalizations, {n} vertices, {end}>"


class Jumps(NamedTuple):
    """Where the jumps of k personalizations go: triples of a row, a vertex and a share, where these were given."""

    rows: Any  # int64, rising: the number of the personalization
    vertices: Any  # int64
    shares: Any  # float64: those of a row sum to 1
    k: int


class Rules(NamedTuple):
    """How to iterate; the first four as the programs of `hpgraph.algorithms.pagerank` take them."""

    damping: float
    jump: float
    spread: float
    tol: float
    all_rank: float  # initial sum of the ranks of a row
    limit: int  # iterations at the most
    alone: bool  # whether each vertex must change by no more than `tol`, rather than all together
    scaled: bool  # whether ranks sum to 1


def are_personalizations(personalization: Any, graph: Graph) -> bool:
    """Whether a personalization is several: of two dimensions, or a list of lists or arrays of vertices."""
    if isinstance(personalization, list | tuple):
        return are_sources(personalization, graph)
    return getattr(personalization, "ndim", 1) == 2


def jumps_of(personalization: Any, graph: Graph) -> Jumps:
    """The teleport distribution of each row, from an array of shape (k, n) or k lists of vertices."""
    n, name = graph.n_vertices, "personalization"
    if isinstance(personalization, list | tuple):
        k = len(personalization)
        each = [native(graph.indices_of(members, name)) for members in personalization]
        # On the CPU: compiling these operations for a GPU takes longer than computing them here.
        place = "cuda" if any(map(is_cuda, each)) else "cpu"
        xp, each = array_module(place), [to_device(members, place) for members in each]
        rows = xp.asarray(np.repeat(np.arange(k), [len(members) for members in each]))
        vertices = xp.concatenate(each).astype(np.int64)
        shares = xp.ones(len(vertices))
        if len(xp.unique(rows * n + vertices)) < len(vertices):
            raise ValueError(f"{name} must not give a vertex twice in one row")
    else:
        matrix = personalization
        if matrix.shape[1] != n:
            raise ValueError(f"{name} must have shape (k, {n}), a row for each personalization, not {matrix.shape}")
        if matrix.dtype.kind not in "biuf":
            raise TypeError(f"{name} must hold numbers, not {matrix.dtype}")
        k = matrix.shape[0]
        if is_sparse_matrix(matrix):
            check_places(matrix)
            matrix = matrix.tocsr(copy=True)
            matrix.sum_duplicates()
            matrix = matrix.tocoo()
            rows, vertices, shares = matrix.row, matrix.col, matrix.data
        else:
            matrix = native(unmasked(matrix, name))
            rows, vertices = matrix.nonzero()
            shares = matrix[rows, vertices]
        xp = array_module(rows)
        rows, vertices, shares = rows.astype(np.int64), vertices.astype(np.int64), shares.astype(np.float64)
    wrong = ~(xp.isfinite(shares) & (shares >= 0))
    if anywhere(wrong):
        row = int(rows[first_true(wrong)])
        raise ValueError(f"{name} must be finite and not negative, with a positive sum: row {row} is not")
    largest = xp.zeros(k)
    (np.maximum.at if xp is np else xp.maximum.at)(largest, rows, shares)
    if not everywhere(largest > 0):
        row = first_true(~(largest > 0))
        raise ValueError(f"{name} must be finite and not negative, with a positive sum: row {row} has none")
    # Divided by the maximum first, since the sum may overflow.
    shares = shares / largest[rows]
    shares /= occurrences(rows, k, shares)[rows]
    return Jumps(rows, vertices, shares, k)


def rank_from_each(
    graph: Graph, jumps: Jumps, leaving: Any, first: Any, rules: Rules, *, weighted: bool, dtype: np.dtype
) -> MultiSourcePageRankResult:
    """PageRank from each personalization; ``leaving``: out-degrees or strengths, -1 at dangling vertices."""
    xp, device, n, k = array_module(graph.device), graph.device, graph.n_vertices, jumps.k
    step = joint_ranks(device)
    group_size, size = min(step.MAX_RANKED, max(k, 1)), dtype.itemsize
    check_memory(k * n * size, f"ranks of {n} vertices from {k} personalizations", device)
    group_size = sources_within(group_size, lambda group: 3 * step.columns_held(group) * n * size, device, k * n * size)
    rows = graph.in_csr
    rows = rows if weighted else rows.pattern
    ranks, counts, converged = xp.empty((k, n), dtype), np.zeros(k, np.int64), np.zeros(k, np.bool_)
    result = MultiSourcePageRankResult(ranks, counts, np.zeros(k), converged, [])
    arrays = RankArrays(rows, leaving.astype(dtype, copy=False), None, None, rules.damping, rules.jump, rules.spread)
    with kernels(device).interruptible():
        for group in groups(np.arange(k), group_size, "PageRank"):
            _Group(step, arrays, rules, result).run(jumps, group, first)
    return result


def _write(rank: Any, rows: np.ndarray, shares: Any, columns: np.ndarray, leaving: Any) -> None:
    """Write the ranks of some rows, which lie in some columns; on the CPU in pieces that stay in the cache."""
    n = len(leaving)
    size = PIECE if isinstance(rank, np.ndarray) else max(n, 1)
    for begin in range(0, n, size):
        piece = slice(begin, begin + size)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            rank[row, piece] = shares[piece, column] * leaving[piece]


class _Group:
    """A group of personalizations that iterate together."""

    def __init__(self, step: JointRanks, arrays: RankArrays, rules: Rules, found: MultiSourcePageRankResult) -> None:
        self._step, self._arrays, self._rules, self._result = step, arrays, rules, found

    def run(self, jumps: Jumps, group: np.ndarray, first: Any) -> None:
        rules, result = self._rules, self._result
        begun = self._begin(jumps, group, first)
        leaving = self._arrays.leaving
        dangling = to_device(-begun[leaving < 0].sum(axis=0, dtype=np.float64), "cpu")
        ranks = self._step.ranks(self._arrays, begun)
        del begun
        # The row of each column, -1 once that has converged.
        columns, times, done = group.copy(), list[int](), 0
        while (live := np.flatnonzero(columns >= 0)).size:
            rows, over = columns[live], np.zeros(len(live), np.bool_)
            if done < rules.limit:
                began = now()
                sums = ranks.step(self._arrays, dangling, rules.tol)
                times.append(now() - began)
                done += 1
                dangling = sums[1]
                over = sums[2, live] == 0 if rules.alone else sums[0, live] <= rules.tol
                result.residual[rows], result.iterations[rows], result.converged[rows] = sums[0, live], done, over
            ends = over | (done >= rules.limit)
            if ends.any():
                _write(result.rank, rows[ends], ranks.shares, live[ends], leaving)
            columns[live[ends]] = -1
            stay = live[~ends]
            if len(stay) and self._step.columns_held(len(stay)) < ranks.shares.shape[1]:
                dangling, columns = self._compact(stay, ranks, dangling), columns[stay]
        table = np.empty((len(times), 4), np.int64)
        table[:, :3] = PULL, leaving.size, self._arrays.rows.nnz
        table[:, 3] = times
        result.traces.append(Trace(table))

    def _begin(self, jumps: Jumps, group: np.ndarray, first: Any) -> Any:
        """The group's teleport distributions, and its initial ranks over out-degrees or out-strengths."""
        arrays = self._arrays
        leaving = arrays.leaving
        xp, n, dtype = array_module(leaving), len(leaving), leaving.dtype
        held, own = self._step.columns_held(len(group)), array_module(jumps.rows)
        in_group = (jumps.rows >= int(group[0])) & (jumps.rows <= int(group[-1]))
        chosen, places = own.unique(jumps.vertices[in_group], return_inverse=True)
        jump = own.zeros((len(chosen), held), dtype)
        jump[places, jumps.rows[in_group] - int(group[0])] = jumps.shares[in_group]
        vertices, teleport = (to_device(part, device_of(leaving)) for part in (chosen, jump))
        teleport_rows = xp.full(n, -1, np.int32)
        teleport_rows[vertices] = xp.arange(len(vertices), dtype=np.int32)
        self._arrays = arrays._replace(teleport_rows=teleport_rows, teleport=teleport)
        shares = xp.zeros((n, held), dtype)
        if first is None:
            shares[vertices] = teleport * dtype.type(self._rules.all_rank) / leaving[vertices, None]
        else:
            shares[:, : len(group)] = (first / leaving)[:, None]
        return shares

    def _compact(self, stay: np.ndarray, ranks: Ranks, dangling: np.ndarray) -> np.ndarray:
        """Compact the columns of the remaining rows; returns their dangling ranks."""
        xp, held = array_module(ranks.shares), self._step.columns_held(len(stay))

        def closed(columns: Any) -> Any:
            kept = xp.zeros((len(columns), held), columns.dtype)
            kept[:, : len(stay)] = columns[:, xp.asarray(stay)]
            return kept

        self._arrays = self._arrays._replace(teleport=closed(self._arrays.teleport))
        ranks.keep(closed, stay)
        return np.concatenate([dangling[stay], np.zeros(held - len(stay))])
