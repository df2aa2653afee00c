"""Sets of numbers and of pairs of vertices, drawn in order, over the arrays of either device."""

from types import ModuleType
from typing import Any

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.duplicates import run_starts


def sorted_draws(xp: ModuleType, rng: Any, total: int, count: int) -> Any:
    """`hpgraph.kernels.sampling.Sampling.sorted_draws` on either device."""
    # Sums of exponential variables, over the last one, are uniform variables in order.
    reached = xp.cumsum(rng.standard_exponential(count + 1))
    place = xp.minimum((reached[:-1] * (total / reached[-1])).astype(np.int64), total - 1)
    while True:
        if count > 1:
            place = place[run_starts(place)]
        if len(place) == count:
            return place
        place = xp.sort(xp.concatenate([place, rng.integers(0, total, count - len(place))]))


def first_pairs(xp: ModuleType, n: int, directed: bool) -> Any:
    """At which number the pairs of each vertex begin: with all others, or with those above it."""
    vertex = xp.arange(n + 1, dtype=np.int64)
    return vertex * (n - 1) - (0 if directed else vertex * (vertex - 1) // 2)


def rows_of_pairs(n: int, place: Any, directed: bool) -> CSR:
    """`hpgraph.kernels.sampling.Sampling.rows_of_pairs` on either device."""
    xp = array_module(place)
    begins = first_pairs(xp, n, directed)
    arcs = CSR((n, n), xp.searchsorted(place, begins).astype(np.int64), place, validate=False)
    row = arcs.expand_rows()
    column = place - begins[row]
    column += (column >= row) if directed else row + 1
    return CSR((n, n), arcs.indptr, column.astype(index_dtype(n)), validate=False)
