"""Pairs of points within a radius, by arrays: on the GPU, and for few points on the CPU.

Points lie in columns of cells, far apart from each other, and within a column by their first coordinate: the candidates
of a point are those within the radius along its own column and those beside.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import array_module, prefix_sum
from hpgraph.formats import CSR

# Pairs of points whose distances the CPU computes at a time.
_TOGETHER = 1 << 15


class Points(NamedTuple):
    """Points by columns of cells, and the search for their neighbours.

    ``key``: float64, ascending, columns and places in them; ``order``: the number of each point; ``sides``: an array
    of each coordinate; ``shifts`` (NumPy's): from a key to the same place in each column near, its own included;
    ``reach``: of keys, at least the radius.
    """

    key: Any
    order: Any
    sides: list[Any]
    shifts: np.ndarray[Any, Any]
    reach: float
    radius: float


def near_pairs(points: Points) -> Any:
    """The numbers of both points of each pair within the radius, in two arrays."""
    xp, order, key, n = array_module(points.key), points.order, points.key, len(points.key)
    edges = []
    for shift in points.shifts.tolist():
        if shift < 0:
            continue
        # In a point's own column, only later points.
        first = xp.searchsorted(key, key + (shift - points.reach)) if shift else xp.arange(1, n + 1)
        count = xp.searchsorted(key, key + (shift + points.reach), side="right") - first
        edges += [(order[own], order[other]) for own, other in _near(points, first, count)]
    none = xp.zeros(0, np.int64)
    return [xp.concatenate(side) for side in zip((none, none), *edges, strict=True)]


def _near(points: Points, first: Any, count: Any) -> Iterator[tuple[Any, Any]]:
    """Positions of points, and of their candidates within the radius; each has `count` candidates from `first` on."""
    xp, ends = array_module(points.key), prefix_sum(count)
    total = int(ends[-1])
    # On the CPU in chunks that fit its caches; all at once otherwise.
    cuts = xp.searchsorted(ends, xp.arange(0, total, _TOGETHER if xp is np else max(total, 1))).tolist()
    for begin, end in pairwise([*cuts, len(count)]):
        block_ends = ends[begin : end + 1]
        candidate = xp.arange(int(block_ends[0]), int(block_ends[-1]), dtype=np.int64)
        own = (
            begin
            + CSR((end - begin, len(candidate)), block_ends - block_ends[0], candidate, validate=False).expand_rows()
        )
        other = candidate - (ends[:-1] - first)[own]
        apart = xp.zeros(len(own))
        for side in points.sides:
            apart += (side[own] - side[other]) ** 2
        near = apart <= points.radius * points.radius
        yield own[near], other[near]
