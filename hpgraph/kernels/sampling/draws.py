"""Sets of numbers and of pairs of vertices, drawn in order, in NumPy: for few of them."""

from types import ModuleType
from typing import Any

import numpy as np

from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.duplicates import run_starts


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
        place = np.sort(np.concatenate([place, rng.integers(0, total, count - len(place))]))


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
    """`hpgraph.kernels.sampling.Sampling.attachments` in NumPy."""
    count = m * (n - m)
    edge = np.arange(count, dtype=np.int64)
    source, target, place = edge // m + m, edge + 1, np.zeros(count, np.int64)
    source[:m] = 0
    # The ends of edge e are at places 2e and 2e + 1; those of the vertices before are drawn.
    bound = edge // m * (2 * m)
    done = m
    while done < count:
        # Doubles the number of vertices: draws of earlier edges are final.
        new = again = edge[done : 2 * done]
        while len(again):
            place[again] = (rng.random(len(again)) * bound[again]).astype(np.int64)
            following, at = new, place[new]
            while len(following):
                drawn = (at & 1 == 1) & (at >> 1 >= done)
                ends, of = following[~drawn], at[~drawn]
                target[ends] = np.where(of & 1 == 0, source[of >> 1], target[of >> 1])
                following, at = following[drawn], place[at[drawn] >> 1]
            # Each vertex has its edges in a row of m.
            rows = target[new].reshape(-1, m)
            ordered = np.sort(rows, axis=1)
            bad = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
            column = np.argsort(rows[bad], axis=1)
            values = np.take_along_axis(rows[bad], column, axis=1)
            row, later = np.nonzero(values[:, 1:] == values[:, :-1])
            again = done + bad[row] * m + column[row, later + 1]
        done += len(new)
    return source, target
