"""Sets of numbers and of pairs of vertices, drawn in order, in NumPy: for few of them."""

from types import ModuleType
from typing import Any

import numpy as np

from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.duplicates import run_starts
from hpgraph.semiring.counter_random import GOLDEN, mixed


def sorted_draws(rng: np.random.Generator, total: int, count: int) -> Any:
    """`hpgraph.kernels.sampling.Sampling.sorted_draws` in NumPy."""
    # Sums of exponential variables, over the last one, are uniform variables in order.
    reached = np.cumsum(rng.standard_exponential(count + 1))
    place = np.minimum((reached[:-1] * (total / reached[-1])).astype(np.int64), total - 1)
    while True:
        if count > 1:
            place = place[run_starts(place)]
        if len(place) == count:
            return place
        # Few are missing: inserting them takes less time than a sort of all.
        more = np.sort(rng.integers(0, total, count - len(place)))
        place = np.insert(place, np.searchsorted(place, more), more)


def to_draw(total: int, count: int) -> int:
    """Number of draws among which there are `count` different values: on average, and six standard deviations more."""
    repeated = -total * np.log1p(-count / total) - count
    return count + int(repeated + 6 * np.sqrt(max(repeated, 0))) + 8


def first_pairs(xp: ModuleType, n: int, directed: bool) -> Any:
    """The number of each vertex's first pair: with all others, or with those above it."""
    vertex = xp.arange(n + 1, dtype=np.int64)
    return vertex * (n - 1) - (0 if directed else vertex * (vertex - 1) // 2)


def rows_of_pairs(n: int, place: Any, directed: bool) -> CSR:
    """`hpgraph.kernels.sampling.Sampling.rows_of_pairs` in NumPy."""
    begins = first_pairs(np, n, directed)
    arcs = CSR((n, n), np.searchsorted(place, begins).astype(np.int64), place, validate=False)
    row = arcs.expand_rows()
    column = place - begins[row]
    column += (column >= row) if directed else row + 1
    return CSR((n, n), arcs.indptr, column.astype(index_dtype(n)), validate=False)


def attachments(rng: np.random.Generator, n: int, m: int) -> tuple[Any, Any]:
    """`hpgraph.kernels.sampling.Sampling.attachments` in Python."""
    # Both ends of each edge, and first those of the star.
    ends = [end for leaf in range(1, m + 1) for end in (0, leaf)]
    edge = np.arange(m, m * (n - m), dtype=np.uint64)
    seed = int(rng.integers(1 << 62))
    words = mixed(np.uint64(_mixed(seed)) + edge * np.uint64(GOLDEN)).tolist()
    for vertex in range(m + 1, n):
        bound, chosen = len(ends), dict[int, None]()
        for own in range(bound >> 1, (bound >> 1) + m):
            word, attempt = words[own - m], 0
            while (end := ends[int((word >> 11) * 2.0**-53 * bound)]) in chosen:
                attempt += 1
                word = _mixed((_mixed((seed + attempt * GOLDEN) % 2**64) + own * GOLDEN) % 2**64)
            chosen[end] = None
        for other in chosen:
            ends += vertex, other
    source, target = np.array(ends, np.int64).reshape(-1, 2).T.copy()
    return source, target


def _mixed(word: int) -> int:
    """`mixed` of one number: NumPy takes ten times as long."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31
