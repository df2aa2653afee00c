"""Nearest neighbours: the smallest distances of each row, kept while tiles of a matrix product pass by."""

from typing import Any, Protocol


class Nearest(Protocol):
    """What either backend offers."""

    def factors(self, points: Any) -> tuple[Any, Any]:
        """Rows for the left and for the right of `multiply`, for the products of points with each other."""

    def multiply(self, left: Any, right: Any, out: Any) -> None:
        """A tile of products, of each row of `left` with each of `right`, to the precision of their type."""

    def keep_nearest(self, products: Any, squares: Any, row: int, column: int, nearest: tuple[Any, Any]) -> None:
        """Merge a tile of squared distances into the nearest so far.

        ``products`` (floating array of shape (r, c)): of points row.. with points column..; ``squares`` (shape (c,)):
        of the lengths of the latter. ``nearest``: squared distances less the square of the point's own length,
        ascending, infinite at first, and indices, each of shape (r, k). A point is no neighbour of itself; of equals
        the lower index is nearer.
        """
