"""Window buffers on the CPU, and least memory."""

from __future__ import annotations

import numpy as np

from hpgraph.formats import Pages
from hpgraph.kernels.out_of_core.reading import Region
from hpgraph.kernels.out_of_core.runs import most_stored


def least_memory(pages: Pages) -> int:
    """Least bytes of a store: offsets, and two pages being processed."""
    return 8 * (pages.shape[0] + 1) + (2 * of_page(pages) if pages.n_pages else 0)


def of_page(pages: Pages) -> int:
    """Bytes of the largest page while it is processed: as read, and decoded."""
    of_id = 0 if pages.encoding == "none" else pages.id_dtype.itemsize
    of_arc = of_id + (0 if pages.dtype is None else pages.dtype.itemsize)
    return int(np.diff(pages.offset).max()) + int(np.diff(pages.first_arc).max()) * of_arc


class Slot:
    """Buffers of one window."""

    def __init__(self, pages: Pages, arcs: int, decodes: bool) -> None:
        self.stored = Region.buffer(most_stored(pages, arcs))
        self.ids = np.empty(arcs if decodes else 0, pages.id_dtype)
        self.values = None if pages.dtype is None else Region.buffer(arcs * pages.dtype.itemsize)
        # Stored bytes of pages that this window loaded and that may be cached.
        self.brought: dict[int, np.ndarray | None] = {}
