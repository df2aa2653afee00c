"""Trees in which every vertex points to the one above it."""

from __future__ import annotations

from typing import Any


def roots(above: Any) -> Any:
    """The root of every vertex's tree, by doubling the pointers: some log n rounds, each waits for the stream.

    Parameters
    ----------
    above : integer array, shape (n,)
        The vertex above each; a root is above itself.

    Returns
    -------
    integer array, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> roots(np.array([0, 0, 1, 3, 2]))
    array([0, 0, 0, 3, 0])
    """
    while True:
        farther = above[above]
        if bool((farther == above).all()):
            return above
        above = farther
