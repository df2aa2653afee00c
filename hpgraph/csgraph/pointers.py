"""Trees in which every vertex points to the one above it."""

from __future__ import annotations

from typing import Any


def roots(above: Any) -> Any:
    """The root of every vertex's tree, by doubling the pointers: some log n rounds, each waits for the stream.

    ``above`` (integer array, shape (n,)): the vertex above each; a root is above itself. Returns integer array, shape
    (n,).
    """
    while True:
        farther = above[above]
        if bool((farther == above).all()):
            return above
        above = farther
