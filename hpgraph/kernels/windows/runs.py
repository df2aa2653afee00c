"""Pages put together: adjacent ones are brought by one request, and worked on as one window."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from hpgraph.formats import Pages


class Pieces(NamedTuple):
    """Pages ``begin`` to ``end`` of a matrix, which become one window."""

    begin: int
    end: int


def runs_of(pages: np.ndarray, first_arc: np.ndarray, most: int) -> list[Pieces]:
    """Cut ascending page numbers into stretches of adjacent ones with at most so many arcs, or a page alone.

    Parameters
    ----------
    pages : integer array
        Ascending.
    first_arc : integer array
        `Pages.first_arc`.
    most : int
        Arcs.

    Returns
    -------
    list of Pieces

    Examples
    --------
    >>> runs_of(np.array([0, 1, 2, 5]), np.arange(7) * 10, 20)
    [Pieces(begin=0, end=2), Pieces(begin=2, end=3), Pieces(begin=5, end=6)]
    """
    found: list[Pieces] = []
    begin = end = -1
    for page in pages.tolist():
        if page != end or first_arc[page + 1] - first_arc[begin] > most:
            if begin >= 0:
                found.append(Pieces(begin, end))
            begin = page
        end = page + 1
    if begin >= 0:
        found.append(Pieces(begin, end))
    return found


def rows_of(pages: Pages, run: Pieces) -> tuple[int, int]:
    """The rows that have arcs in a run: the first, and the one past the last."""
    return int(pages.first_row[run.begin]), int(pages.last_row[run.end - 1]) + 1
