"""Input of community detection: a graph with integer weights, so that sums do not depend on their order."""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import array_module, everywhere, to_device
from hpgraph.formats import CSR, attached, occurrences

# Integers up to here are exact as float64, and so are all sums of weights.
_EXACT = 2**52


class Level(NamedTuple):
    """A graph, or one whose vertices are the communities of another.

    ``arcs``: every edge from both of its ends; int64 weights, or None if all are 1. Loops are skipped, and are part of
    the strengths. ``sent, received``: the null model, by which ``sent · received / total`` is expected between two
    vertices; in modularity the weight of the arcs that leave and reach each; one array if equal.
    ``total``: weight of all arcs, an undirected edge twice; ``unit``: the original weight of 1 unit; ``directed``:
    whether ``arcs`` has the sums of both directions; ``strength``: sum of `sent`, 0 if it is the total. ``size``:
    original vertices of each, None without a size limit; ``movable``: False for vertices that keep their communities,
    None without such. ``flow``: by the map equation, of a walk that leaves vertices by `sent` and reaches them by
    `received`; on the CPU alone.
    """

    arcs: CSR
    sent: Any
    received: Any
    total: int
    unit: float
    directed: bool
    size: Any = None
    movable: Any = None
    flow: bool = False
    strength: int = 0

    @property
    def is_two_sided(self) -> bool:
        """Whether strengths sent and received differ."""
        return self.received is not self.sent

    def penalty(self, resolution: float) -> float:
        """Factor of ``sent · received + received · sent`` in the comparison with the weight between two communities."""
        return resolution / (self.total if self.directed else 2 * self.total)

    def of_parts(self, arcs: CSR, sent: Any, received: Any, number: Any) -> "Level":
        """The level whose vertices are parts of this one's, from the number of each vertex's part."""
        size, movable = self.size, self.movable
        if size is not None:
            size = summed_by(number, size, len(sent))
        if movable is not None:
            movable = occurrences(number[~movable], len(sent)) == 0
        return self._replace(arcs=arcs, sent=sent, received=received, size=size, movable=movable)


class Ending(NamedTuple):
    """What ends rounds and levels, and which levels are refined.

    ``few``: shares of all vertices, and of those examined, that end the rounds when fewer move; ``limit``: maximum
    number of levels; ``least``: share of moves of this level that ends it; ``left``: arcs of the next level, and as a
    share of a level's, between which it is refined; ``gain``: of the Louvain method, which keeps all levels and refines
    none, the gain in quality that ends the levels.
    """

    few: tuple[float, float]
    limit: float
    least: float = -1.0
    left: tuple[float, float] = (0.0, 0.0)
    gain: float | None = None


def level_of(out: CSR, directed: bool, weighted: bool) -> Level:
    """The level of a graph, whose sums are exact: they do not depend on the order of additions.

    Weights that are no integers, or too large, are rounded to multiples of a power of two below 2⁻⁵⁰ of their sum.
    Equal weights are the unit.
    """
    xp, n = array_module(out.indices), out.shape[0]
    weight, unit = out.data if weighted else None, 1.0
    if weight is not None and len(weight):
        first = float(weight[0])
        if 0 < first < np.inf and everywhere(weight == first):
            weight, unit = None, first
    if weight is not None:
        complaint = "weight: communities need weights that are finite and not negative; see weight=None"
        weight, unit = in_units(weight, complaint)
    at = loops_of(out)
    if not directed:
        sent = xp.diff(out.indptr) if weight is None else row_sums(out, weight)
        if len(at):
            # A loop counts at both of its ends.
            sent[out.indices[at]] += 1 if weight is None else weight[at]
        sent = received = sent.astype(np.int64, copy=False)
        arcs = out.with_data(weight, copy=False)
    else:
        row, apart = out.expand_rows(), xp.ones(out.nnz, np.bool_)
        weight = xp.ones(out.nnz, np.int64) if weight is None else weight
        sent, received = row_sums(out, weight), summed_by(out.indices, weight, n)
        apart[at] = False
        source, target, weight = row[apart].astype(out.indices.dtype, copy=False), out.indices[apart], weight[apart]
        both = xp.concatenate((source, target)), xp.concatenate((target, source)), xp.concatenate((weight, weight))
        arcs = CSR.from_coo(*both, out.shape, duplicates="sum", copy=False)
    total = int(sent.sum())
    return Level(arcs, sent, received, total, unit, directed)


def likely_weights(out: CSR, weighted: bool) -> tuple[bool, float]:
    """Whether `level_of` keeps weights, and their total, guessed from some; fractions are scaled to large numbers."""
    if not weighted or out.data is None:
        return False, out.nnz
    sample = to_device(out.data[:256], "cpu").astype(np.float64)
    if len(sample) and np.all((sample > 0) & (sample == sample[0])):
        return False, out.nnz
    total = float(sample.sum()) * (out.nnz / max(len(sample), 1))
    return True, total if total < _EXACT and np.all(sample == np.floor(sample)) else _EXACT


@attached
def loops_of(arcs: CSR) -> Any:
    """Positions of the loops."""
    return array_module(arcs.indices).flatnonzero(arcs.indices == arcs.expand_rows())


def first_neighbours(arcs: CSR) -> Any:
    """The first neighbour of each vertex, loops excluded, or its own number; rows ascend, without duplicates."""
    xp = array_module(arcs.indices)
    first = xp.arange(arcs.shape[0], dtype=arcs.indices.dtype)
    joined = xp.flatnonzero(arcs.indptr[1:] > arcs.indptr[:-1])
    begin, end = arcs.indptr[joined], arcs.indptr[joined + 1]
    begin = begin + (arcs.indices[begin] == joined)
    others = begin < end
    first[joined[others]] = arcs.indices[begin[others]]
    return first


def summed_by(number: Any, weight: Any, count: int) -> Any:
    """Sum of the weights of each number below `count`: int64, exact, as all sums of a level are below 2⁵²."""
    return occurrences(number, count, weight).astype(np.int64)


def row_sums(arcs: CSR, weight: Any) -> Any:
    """Sum of the int64 weights of each row; below 2⁵²."""
    xp = array_module(weight)
    before = xp.zeros(len(weight) + 1, np.int64)
    xp.cumsum(weight, out=before[1:])
    return xp.diff(before[arcs.indptr])


def in_units(data: Any, complaint: str) -> tuple[Any, float]:
    """Weights as integers, and the weight of one unit; `complaint` if one is negative or not finite."""
    xp, wide = array_module(data), data.astype(np.float64)
    # NaN if any weight is.
    least, largest = (float(wide.min()), float(wide.max())) if len(wide) else (0.0, 0.0)
    if not (least >= 0 and largest < np.inf):
        raise ValueError(complaint)
    if largest == 0:
        return wide.astype(np.int64), 1.0
    # Loops count twice, and rounding adds up to half a unit an arc.
    share = 4 * float((wide / largest).sum())
    if share * largest < _EXACT and everywhere(wide == xp.floor(wide)):
        return wide.astype(np.int64), 1.0
    exponent = int(np.floor(np.log2(_EXACT) - np.log2(share) - np.log2(largest)))
    # All float64 are multiples of 2⁻¹⁰⁷⁴, the least.
    exponent = min(exponent, 1074)
    # In place: pages of new arrays take longer than the arithmetic.
    return xp.rint(xp.ldexp(wide, exponent, out=wide), out=wide).astype(np.int64), float(np.ldexp(1.0, -exponent))
