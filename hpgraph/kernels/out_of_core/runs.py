"""Runs of adjacent pages, loaded by one request and processed as one window."""

from collections.abc import Container, Iterator
from typing import NamedTuple

import numpy as np

from hpgraph.formats import Pages


class Run(NamedTuple):
    """Pages ``begin`` to ``end`` of a matrix, one window."""

    begin: int
    end: int


def runs_of(pages: np.ndarray, first_arc: np.ndarray, most: int, together: int | None = None) -> list[Run]:
    """Divide ascending page numbers into runs of adjacent ones with at most `most` arcs, or single pages."""
    found: list[Run] = []
    begin = end = -1
    for page in pages.tolist():
        many = together is not None and page - begin >= together
        if page != end or many or first_arc[page + 1] - first_arc[begin] > most:
            if begin >= 0:
                found.append(Run(begin, end))
            begin = page
        end = page + 1
    if begin >= 0:
        found.append(Run(begin, end))
    return found


def gaps(run: Run, kept: Container[int]) -> Iterator[tuple[int, int]]:
    """The ranges of a run that are not cached."""
    begin = run.begin
    for page in range(run.begin, run.end + 1):
        if page == run.end or page in kept:
            if begin < page:
                yield begin, page
            begin = page + 1


def most_stored(pages: Pages, arcs: int) -> int:
    """Most stored bytes of adjacent pages with this number of arcs, or of a single page."""
    first, offset = pages.first_arc, pages.offset
    if len(first) < 2:
        return 0
    end = np.maximum(np.searchsorted(first, first[:-1] + arcs, side="right") - 1, np.arange(1, len(first)))
    return int((offset[end] - offset[:-1]).max())


def rows_of(pages: Pages, run: Run) -> tuple[int, int]:
    """The rows with arcs in a run: the first, and the one past the last."""
    return int(pages.first_row[run.begin]), int(pages.last_row[run.end - 1]) + 1
