"""Nearest neighbours: the smallest distances of each row, selected from tiles of a matrix product."""

from typing import Any, Protocol


class Nearest(Protocol):
    """Interface of a backend."""

    def search(self, points: Any, k: int) -> Any:
        """The k nearest others of each of some points, to the precision of their type; of equals the lower index.

        ``points``: floating array of shape (n, d), contiguous. Returns an int64 array of shape (n, k), ascending by
        distance.
        """
