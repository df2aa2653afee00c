"""Where few rows of a page are wanted from a file: the blocks that hold them, put together where they are neighbours.

After H. Liu, H. H. Huang, "Graphene: fine-grained IO management for graph computing", FAST'17: what is wanted is known
in blocks of 512 bytes; gaps of up to 16 blocks are read along, which costs a disk less than another request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from hpgraph.formats import Pages

BLOCK = 512
# Bytes between two requests that are read along.
GAP = 16 * BLOCK
# Requests a second of 4 KiB, and bytes a second, of a server's disk: a request costs as much as 21 KiB.
REQUEST_BYTES = int(2e9 / 93e3)


class Ranges(NamedTuple):
    """Stretches of bytes, ascending, none of which touches another.

    Attributes
    ----------
    begin, end : int64 arrays
    """

    begin: np.ndarray
    end: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes of all of them."""
        return int((self.end - self.begin).sum())


def sparse_pages(pages: Pages, rows: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The pages of which it takes less to read the wanted rows one by one than to read all.

    Parameters
    ----------
    pages : Pages
        Whose ids are stored as they are.
    rows : integer array
        Wanted, ascending.
    allowed : array of bool
        Of each page, whether it may be read in parts.

    Returns
    -------
    array of bool
        Of each page; none of which a wanted row shares with another page.
    """
    size = pages.id_dtype.itemsize
    begin, end = pages.indptr[rows], pages.indptr[rows + 1]
    begin, end = begin[end > begin], end[end > begin]
    page = np.searchsorted(pages.first_arc, begin, side="right") - 1
    last = np.searchsorted(pages.first_arc, end, side="left") - 1
    count = pages.n_pages
    blocks = np.bincount(page, (end * size + BLOCK - 1) // BLOCK - begin * size // BLOCK, minlength=count) * BLOCK
    requests = np.bincount(page, minlength=count)
    cheap = np.maximum(blocks, requests * REQUEST_BYTES) * 2 < np.diff(pages.offset)
    found = cheap & allowed & (requests > 0)
    for low, high in zip(page[last > page].tolist(), last[last > page].tolist(), strict=True):
        found[low : high + 1] = False
    return found


def requests_for(pages: Pages, rows: np.ndarray, begin: int, end: int, gap: int = GAP) -> Ranges:
    """The requests for the wanted rows of the pages begin..end, in bytes of what is stored.

    Parameters
    ----------
    pages : Pages
    rows : integer array
        Ascending.
    begin, end : int
        Pages.
    gap : int
        Bytes between two of them that are read along.

    Returns
    -------
    Ranges

    Examples
    --------
    >>> from hpgraph.formats import CSR
    >>> from hpgraph.kernels.pages import cut
    >>> pages = cut(CSR((9, 9), np.arange(10) * 1000, np.tile(np.arange(1000) % 9, 9), validate=False))
    >>> requests_for(pages, np.array([0, 1, 5]), 0, 1, gap=0)
    Ranges(begin=array([    0, 39936]), end=array([16384, 48128]))
    """
    size, first = pages.id_dtype.itemsize, pages.first_arc
    low, high = pages.indptr[rows], pages.indptr[rows + 1]
    here = (high > low) & (high > first[begin]) & (low < first[end])
    low = np.maximum(low[here], first[begin]) * size // BLOCK * BLOCK
    high = np.minimum((np.minimum(high[here], first[end]) * size + BLOCK - 1) // BLOCK * BLOCK, pages.offset[-1])
    apart = np.flatnonzero(low[1:] > high[:-1] + gap) + 1
    return Ranges(low[np.concatenate(([0], apart))], high[np.concatenate((apart - 1, [len(high) - 1]))])
