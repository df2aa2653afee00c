"""Whole numbers that are names of vertices: when they are taken for such, and the indices that vertices then get."""

from __future__ import annotations

import numpy as np

from hpgraph.io.arcs import Array


def is_sparse(source: Array, target: Array, largest: int) -> bool:
    """Whether ids leave more than half of 0 .. largest unused.

    Parameters
    ----------
    source, target : arrays of ids, at least one each
    largest : int
        Of all.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_sparse(np.array([0, 1]), np.array([7, 7]), 7), is_sparse(np.array([0, 1]), np.array([2, 3]), 3)
    (True, False)
    """
    if largest + 1 > 4 * source.size:
        return True
    used = np.zeros(largest + 1, np.bool_)
    used[source] = True
    used[target] = True
    return 2 * int(np.count_nonzero(used)) < largest + 1


def in_order(source: Array, target: Array) -> tuple[Array, Array, Array]:
    """Ids by their places among all that occur.

    Parameters
    ----------
    source, target : arrays of ids

    Returns
    -------
    source, target : int64 arrays
    ids : array
        Ascending.

    Examples
    --------
    >>> in_order(np.array([70, 10]), np.array([40, 70]))
    (array([2, 0]), array([1, 2]), array([10, 40, 70]))
    """
    ids, place = np.unique(np.concatenate((source, target)), return_inverse=True)
    return place[: len(source)], place[len(source) :], ids
