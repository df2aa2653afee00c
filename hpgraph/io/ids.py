"""Whole numbers that are names of vertices: when they are taken for such, and the indices that vertices then get."""

from __future__ import annotations

import numpy as np

from hpgraph.io.arcs import Array


def is_sparse(source: Array, target: Array, largest: int) -> bool:
    """Whether ids leave more than half of 0 .. largest unused."""
    if largest + 1 > 4 * source.size:
        return True
    used = np.zeros(largest + 1, np.bool_)
    used[source] = True
    used[target] = True
    return 2 * int(np.count_nonzero(used)) < largest + 1


def in_order(source: Array, target: Array) -> tuple[Array, Array, Array]:
    """Source and target as positions in the ascending array of all ids, and that array."""
    ids, place = np.unique(np.concatenate((source, target)), return_inverse=True)
    return place[: len(source)], place[len(source) :], ids
