"""Shared parts of measures of similarity: pairs, their scores, and all pairs two arcs apart in blocks."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hpgraph.algebra.mxm import mxm
from hpgraph.algebra.mxv import mxv
from hpgraph.algorithms.distances import weight_facts
from hpgraph.algorithms.out_strength import scaled_arcs
from hpgraph.containers.graph import Graph, vertex_names, whole
from hpgraph.containers.graph_parts import ends_of_edges
from hpgraph.containers.public import matrix_of_csr
from hpgraph.containers.result_table import ResultTable
from hpgraph.core.device import Array, array_module, check_memory, free_memory, to_device
from hpgraph.formats import CSR, attached, occurrences
from hpgraph.kernels.backend import kernels, similarity
from hpgraph.kernels.similarity import COMMON, COSINE, JACCARD, OVERLAP, SORENSEN, Common

# Bytes a pair of a block of rows: the product and its temporaries.
_PAIR_BYTES = 64
# A block takes at most 1 / _SHARE of the free memory, and _MAX_PAIRS pairs, beyond which it gets no faster.
_SHARE, _MAX_PAIRS = 8, 1 << 25


@dataclass(frozen=True, eq=False)
class SimilarPairs(ResultTable, columns=("score", "source", "target"), ends=("source", "target"), edges=True):
    """Pairs of vertices and how similar they are.

    Attributes
    ----------
    source, target : integer arrays of shape (k,)
        Indices of the vertices, on the graph's device.
    score : float64 or int64 array of shape (k,)
        Similarity of each pair.
    graph : Graph
        The graph of the vertices.
    """

    source: Array
    target: Array
    score: Array
    graph: Graph

    @property
    def _names(self) -> Any:  # type: ignore[override]
        return self.graph._names

    def __len__(self) -> int:
        return len(self.score)

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        """Triples of two vertices, by name if the graph has names, and their score, as in NetworkX."""
        columns = vertex_names(self.graph, self.source), vertex_names(self.graph, self.target), self.score
        return zip(*(to_device(column, "cpu").tolist() for column in columns), strict=True)

    def __repr__(self) -> str:
        return f"<SimilarPairs: {len(self):,} of {self.graph.n_vertices:,} vertices>"


class Measure(NamedTuple):
    """A measure of similarity of two rows."""

    rows: CSR  # each vertex's neighbours, itself not among them; float values where weights count
    common: Common  # the values that are summed over common neighbours
    form: int  # the formula applied to the sum, of `hpgraph.kernels.similarity`
    sizes: Any  # float64, of each row
    incoming: bool  # whether the rows are those of arcs that reach a vertex
    arcs: CSR  # the rows with loops, and weights where these count

    @property
    def looped(self) -> bool:
        """Whether loops count, so that two neighbours may be common neighbours of themselves."""
        return self.form == JACCARD and self.arcs.nnz > self.rows.nnz


@attached
def _loopless(arcs: CSR) -> list[CSR]:
    """The arcs without loops in a list, which is empty if there are no loops, to avoid a cyclic reference."""
    without = arcs.without_diagonal()
    return [] if without is arcs else [without]


def neighbours_apart(arcs: CSR) -> CSR:
    """The arcs without loops, computed once."""
    pairs = _loopless(arcs)
    return pairs[0] if pairs else arcs


@attached
def _degrees(arcs: CSR) -> Any:
    return arcs.degrees.astype(np.float64)


@attached
def _weight_sums(arcs: CSR) -> Any:
    return _row_sums(arcs, arcs.data.astype(np.float64))


@attached
def _weight_squares(arcs: CSR) -> Any:
    return _row_sums(arcs, arcs.data.astype(np.float64) ** 2)


def _row_sums(arcs: CSR, values: Any) -> Any:
    xp = array_module(values)
    return mxv(matrix_of_csr(arcs.with_data(values, copy=False)), xp.ones(arcs.shape[1]))


def measure_of(graph: Graph, form: int, *, weighted: bool = False, incoming: bool = False) -> Measure:
    """A measure of the sizes of rows, by entries or by weights."""
    arcs = graph.in_csr if incoming else graph.out_csr
    arcs = scaled_arcs(arcs) if weighted else arcs
    rows = neighbours_apart(arcs)
    if not weighted:
        return Measure(_pattern(rows), Common(), form, _degrees(arcs), incoming, _pattern(arcs))
    facts = weight_facts(scaled_arcs(graph.out_csr))
    if facts.has_nan or facts.least < 0 or not np.isfinite(facts.mean):
        unfit = "NaN" if facts.has_nan else "infinity" if facts.least >= 0 else f"{facts.least:g}"
        raise ValueError(f"weight: similarity takes finite weights from 0 on, and there is {unfit}; or weight=None")
    product = form == COSINE
    sizes = (_weight_squares if product else _weight_sums)(arcs)
    return Measure(_with_floats(rows), Common(None, product), form, sizes, incoming, arcs)


def _pattern(rows: CSR) -> CSR:
    return rows if rows.data is None else rows.with_data(None)


@attached
def _floats(rows: CSR) -> Any:
    return rows.data.astype(np.float64)


def _with_floats(rows: CSR) -> CSR:
    if rows.data.dtype in (np.float32, np.float64):
        return rows
    return rows.with_data(_floats(rows), copy=False)


def counting(graph: Graph, values: Any, *, incoming: bool) -> Measure:
    """The sum of a vertex value over the common neighbours."""
    arcs = graph.in_csr if incoming else graph.out_csr
    return Measure(_pattern(neighbours_apart(arcs)), Common(values), COMMON, values, incoming, arcs)


def similar(graph: Graph, measure: Measure, pairs: Any, top: Any, vertices: Any, joined: bool) -> Any:
    """Scores of the pairs given, or pairs and scores."""
    if pairs is not None:
        if top is not None or vertices is not None:
            raise ValueError("give either pairs, or top and vertices")
        source, target = graph._pairs(*ends_of_edges(pairs, "pairs"))
        form = COMMON if measure.looped else measure.form
        work = similarity(graph.device)
        result = work.pair_scores(measure.rows, source, target, measure.common, form, measure.sizes)
        return _finished(measure, result, source, target) if measure.looped else result
    if top is not None:
        whole(top, "top", "a whole number or None", least=1)
    xp, chosen = array_module(graph.device), None
    if vertices is not None:
        chosen = to_device(graph.indices_of(vertices), graph.device).astype(np.int64, copy=False)
    parts = list(_blocks(graph, measure, chosen, None if top is None else int(top), joined))
    check_memory(24 * sum(len(part[2]) for part in parts), "all pairs that have something in common (see top)",
                 graph.device)  # fmt: skip
    source, target, score = (xp.concatenate(column) for column in zip(*parts, strict=True))
    return SimilarPairs(source, target, score, graph)


def _blocks(graph: Graph, measure: Measure, chosen: Any, top: int | None, joined: bool) -> Iterator[tuple[Any, ...]]:
    """Sources, targets and scores of pairs two arcs apart, a block of rows after the other."""
    xp, work = array_module(graph.device), kernels(graph.device)
    left, right, times = _factors(graph, measure)
    n = graph.n_vertices
    vertices = xp.arange(n) if chosen is None else chosen
    empty = xp.empty(0, np.int64)
    yield empty, empty, xp.empty(0)
    fused = top if graph.device == "cpu" and not measure.looped else None
    for begin, end in pairwise(_bounds(left, right, vertices, n if fused is None else min(fused, n))):
        block = vertices[begin:end]
        if fused is not None:
            # Imported here, since it imports Numba.
            from hpgraph.kernels.similarity.cpu_best_pairs import best_pairs

            apart = [] if joined else [graph.out_csr, graph.in_csr] if graph.directed else [graph.out_csr]
            product = measure.common.product
            best = best_pairs(left, right, product, block, fused, apart, measure.form, measure.sizes)
            yield block[best.expand_rows()], best.indices.astype(np.int64), best.data
            continue
        products = mxm(matrix_of_csr(work.rows_of(left, block, 0, n)), matrix_of_csr(right), times).csr
        place, target = products.expand_rows(), products.indices
        source = block[place]
        keep = source != target
        if chosen is None and top is None:
            keep &= source < target
        source, target, place = source[keep].astype(np.int64), target[keep].astype(np.int64), place[keep]
        score = _finished(measure, products.data[keep].astype(np.float64), source, target)
        if not joined:
            apart = work.positions_of(graph.out_csr, source, target) < 0
            if graph.directed:
                apart &= work.positions_of(graph.out_csr, target, source) < 0
            source, target, place, score = source[apart], target[apart], place[apart], score[apart]
        if top is not None:
            best = similarity(graph.device).best_of_rows(_rows_again(place, target, score, len(block), n), top)
            source, target, score = block[best.expand_rows()], best.indices.astype(np.int64), best.data
        yield source, target, score


def _rows_again(place: Any, target: Any, score: Any, rows: int, n: int) -> CSR:
    xp = array_module(score)
    indptr = xp.zeros(rows + 1, np.int64)
    if len(place):
        indptr[1:] = xp.cumsum(occurrences(place, rows))
    return CSR((rows, n), indptr, target.astype(np.int32 if n < 2**31 else np.int64), score, validate=False)


def _factors(graph: Graph, measure: Measure) -> tuple[CSR, CSR, str]:
    """The factors and the semiring of the product that holds the weight of common neighbours."""
    rows, common = measure.rows, measure.common
    transposed = rows
    if graph.directed:
        transposed = neighbours_apart(graph.out_csr if measure.incoming else graph.in_csr)
        transposed = _pattern(transposed) if rows.data is None else _with_floats(transposed)
    if common.values is not None:
        return rows.with_data(common.values[rows.indices], copy=False), transposed, "plus_first"
    if rows.data is None:
        return rows, transposed, "plus_pair"
    return rows, transposed, "plus_times" if common.product else "plus_min"


def _bounds(left: CSR, right: CSR, vertices: Any, top: int) -> list[int]:
    """Boundaries of blocks of rows such that the pairs of each, at most `top` a row, fit its memory."""
    lengths = right.degrees.astype(np.float64)
    pairs = mxv(matrix_of_csr(left.with_data(None)), lengths, "plus_second")
    device = left.device
    block_pairs = max(1, min(_MAX_PAIRS, free_memory(device) // _SHARE // _PAIR_BYTES))
    pairs = to_device(array_module(device).minimum(pairs, top)[vertices], "cpu")
    ends = np.cumsum(pairs)
    cuts = np.searchsorted(ends, np.arange(block_pairs, ends[-1] if len(ends) else 0, block_pairs), side="right")
    return np.unique(np.concatenate(([0], np.maximum(cuts, 1), [len(ends)]))).astype(int).tolist()


def _finished(measure: Measure, common: Any, source: Any, target: Any) -> Any:
    """The measure of pairs, from the weight of their common neighbours."""
    if measure.form == COMMON:
        return common
    xp = array_module(common)
    # The lower vertex first, as in the kernels, for the same rounding.
    a, b = measure.sizes[xp.minimum(source, target)], measure.sizes[xp.maximum(source, target)]
    if measure.form == JACCARD:
        size = a + b - common - (_common_with_self(measure.arcs, source, target) if measure.looped else 0)
    elif measure.form == OVERLAP:
        size = xp.minimum(a, b)
    elif measure.form == SORENSEN:
        common, size = 2 * common, a + b
    else:
        size = xp.sqrt(a) * xp.sqrt(b)
    return xp.where(size > 0, common / xp.where(size > 0, size, 1), 0.0)


def _common_with_self(arcs: CSR, source: Any, target: Any) -> Any:
    """Weight of those common neighbours of each pair that are one of the pair itself."""
    work, sums = kernels(arcs.device), 0
    # A vertex paired with itself counts once.
    for one, other, counts in ((source, target, True), (target, source, source != target)):
        at, loop = work.positions_of(arcs, other, one), work.positions_of(arcs, one, one)
        both = (at >= 0) & (loop >= 0) & counts
        weight = 1.0 if arcs.data is None else array_module(both).minimum(arcs.data[at], arcs.data[loop])
        sums = sums + both * weight
    return sums


def degree_of_common(graph: Graph, incoming: bool) -> Any:
    """Number of vertices that have each vertex as a neighbour; a loop of an undirected graph counts twice."""
    if not graph.directed:
        return graph.degree
    return graph.out_degree if incoming else graph.in_degree


def inverse(degree: Any) -> Any:
    """1 over each degree, 0 where it is 0."""
    xp = array_module(degree)
    return xp.where(degree > 0, 1 / xp.maximum(degree, 1), 0.0)


def inverse_log(degree: Any) -> Any:
    """1 / log(degree); infinity for degree 1, a neighbour that only a vertex and itself have in common."""
    xp = array_module(degree)
    return xp.where(degree > 1, 1 / xp.log(xp.maximum(degree, 2)), np.inf)
