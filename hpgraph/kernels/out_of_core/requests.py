"""Requests for single rows of pages in a file: the blocks that hold them, merged if adjacent.

After H. Liu, H. H. Huang, "Graphene: fine-grained IO management for graph computing", FAST'17: needed data is known in
blocks of 512 bytes; gaps of up to 16 blocks are read too, which costs a disk less than another request.
"""

from typing import NamedTuple

import numpy as np

from hpgraph.core.device import prefix_sum
from hpgraph.formats import Pages
from hpgraph.kernels.pages.gaps import GROUP, directory_bytes, group_ends

BLOCK = 512
# Largest gap, in bytes, between two requests that is read too.
GAP = 16 * BLOCK
# Requests a second of 4 KiB, and bytes a second, of a server's disk: a request costs as much as 21 KiB.
REQUEST_BYTES = int(2e9 / 93e3)


class Ranges(NamedTuple):
    """Disjoint ranges of bytes, ascending: int64 arrays."""

    begin: np.ndarray
    end: np.ndarray

    @property
    def nbytes(self) -> int:
        """Total bytes."""
        return int((self.end - self.begin).sum())


def sparse_pages(pages: Pages, rows: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The pages, ascending, whose needed rows are cheaper to read than the whole page."""
    begin, end = pages.indptr[rows], pages.indptr[rows + 1]
    begin, end = begin[end > begin], end[end > begin]
    page = np.searchsorted(pages.first_arc, begin, side="right") - 1
    last = np.searchsorted(pages.first_arc, end, side="left") - 1
    count = pages.n_pages
    if pages.encoding == "gaps":
        groups = (end - 1 - pages.first_arc[page]) // GROUP - (begin - pages.first_arc[page]) // GROUP + 1
        each = np.diff(pages.offset) / np.maximum(-(-np.diff(pages.first_arc) // GROUP), 1)
        nbytes = np.bincount(page, groups * each[page] + BLOCK, minlength=count)
    else:
        size = pages.id_dtype.itemsize
        nbytes = np.bincount(page, (end * size + BLOCK - 1) // BLOCK - begin * size // BLOCK, minlength=count) * BLOCK
    requests = np.bincount(page, minlength=count)
    cheap = np.maximum(nbytes, requests * REQUEST_BYTES) * 2 < np.diff(pages.offset)
    found = cheap & allowed & (requests > 0)
    for low, high in zip(page[last > page].tolist(), last[last > page].tolist(), strict=True):
        found[low : high + 1] = False
    return found


def requests_for(pages: Pages, rows: np.ndarray, begin: int, end: int, gap: int = GAP) -> Ranges:
    """The requests in stored bytes for ascending rows of the pages begin..end; up to `gap` bytes between are read."""
    size, first = pages.id_dtype.itemsize, pages.first_arc
    low, high = pages.indptr[rows], pages.indptr[rows + 1]
    overlaps = (high > low) & (high > first[begin]) & (low < first[end])
    low = np.maximum(low[overlaps], first[begin]) * size // BLOCK * BLOCK
    high = np.minimum((np.minimum(high[overlaps], first[end]) * size + BLOCK - 1) // BLOCK * BLOCK, pages.offset[-1])
    return _merged(low, high, gap)


def _merged(low: np.ndarray, high: np.ndarray, gap: int) -> Ranges:
    """Merge ascending ranges with at most a gap between them."""
    if not len(low):
        return Ranges(low, high)
    apart = np.flatnonzero(low[1:] > high[:-1] + gap) + 1
    return Ranges(low[np.concatenate(([0], apart))], high[np.concatenate((apart - 1, [len(high) - 1]))])


class Directories:
    """Start of each group of arcs in pages of gaps: with it groups are read individually.

    ``known`` (array of bool): flags of the pages with a known directory.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages, self._held = pages, {}  # type: ignore[var-annotated]
        self.known = np.zeros(pages.n_pages, np.bool_)
        groups = -(-np.diff(pages.first_arc) // GROUP)
        # For each page its groups and one more element, its end.
        self._base = prefix_sum(groups + 1)
        self._places = np.zeros(int(self._base[-1]), np.int64)

    @staticmethod
    def nbytes(pages: Pages) -> int:
        """Bytes of all directories: 3 for each 32 arcs."""
        counts = np.diff(pages.first_arc)
        return sum(directory_bytes(count) + 8 * (-(-count // GROUP) + 1) for count in counts.tolist())

    def learn(self, page: int, stored: np.ndarray) -> None:
        """Keep the directory of a page whose bytes are complete."""
        if not self.known[page]:
            pages, count = self._pages, int(self._pages.first_arc[page + 1] - self._pages.first_arc[page])
            held = self._held[page] = stored[: directory_bytes(count)].copy()
            places = group_ends(held, count, int(pages.offset[page + 1] - pages.offset[page]))
            self._places[self._base[page] : self._base[page + 1]] = pages.offset[page] + places
            self.known[page] = True

    def put(self, page: int, stored: np.ndarray) -> None:
        """Write the directory to the start of the page's bytes."""
        held = self._held[page]
        stored[: len(held)] = held

    def requests(self, rows: np.ndarray, begin: int, end: int, gap: int) -> tuple[Ranges, list[np.ndarray]]:
        """As `requests_for`, and the groups of each page that the requests cover."""
        pages, base = self._pages, self._base[begin : end + 1]
        wanted_rows = rows[slice(*np.searchsorted(rows, (pages.first_row[begin], pages.last_row[end - 1] + 1)))]
        low = np.maximum(pages.indptr[wanted_rows], pages.first_arc[begin])
        high = np.minimum(pages.indptr[wanted_rows + 1], pages.first_arc[end])
        low, high = low[high > low], high[high > low]
        edges = np.zeros(int(base[-1] - base[0]) + 1, np.int64)
        np.add.at(edges, self._slot(low) - base[0], 1)
        np.add.at(edges, self._slot(high - 1) + 1 - base[0], -1)
        flags = np.cumsum(edges[:-1]) > 0
        flags[base[1:] - base[0] - 1] = False  # a page's end is not a group
        turns = base[0] + np.flatnonzero(np.diff(np.concatenate(([False], flags, [False]))))
        begins, ends = self._places[turns[::2]], self._places[turns[1::2]]
        page = np.searchsorted(pages.offset, begins, side="right") - 1
        # A page does not end at a block boundary: what follows is another page, which is read separately.
        ends = np.minimum(-(-ends // BLOCK) * BLOCK, pages.offset[page + 1])
        begins = np.maximum(begins // BLOCK * BLOCK, pages.offset[page])
        chosen = [flags[a : b - 1] for a, b in zip(base[:-1] - base[0], base[1:] - base[0], strict=True)]
        return _merged(begins, ends, gap), chosen

    def _slot(self, arcs: np.ndarray) -> np.ndarray:
        """Index among all groups of those that contain the given arcs."""
        page = np.searchsorted(self._pages.first_arc, arcs, side="right") - 1
        return self._base[page] + (arcs - self._pages.first_arc[page]) // GROUP
