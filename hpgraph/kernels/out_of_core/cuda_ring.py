"""Ring of window buffers on the GPU."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import Pages
from hpgraph.kernels.out_of_core import MAX_PAGES
from hpgraph.kernels.out_of_core.cuda_host import addressed
from hpgraph.kernels.out_of_core.page_replacement import ring_within
from hpgraph.kernels.out_of_core.runs import most_stored

# Windows in the ring, from memory and from a disk.
SLOTS, REQUESTS = 4, 9


def shares_of(pages: Pages, budget: int, window_bytes: int, resident: bool, shares: int) -> tuple[int, int, int]:
    """Division of a budget in bytes of all stores: arcs of a window, windows in the ring, bytes for cached pages."""
    if pages.n_pages == 0:
        return 1, 2, 0
    together = min(window_bytes // int(np.diff(pages.offset).max()), MAX_PAGES)
    ring = ring_within(
        budget, "memory", shares, _tables(pages), _of_page(pages), SLOTS if resident else REQUESTS, together
    )  # fmt: skip
    arcs = int(np.diff(pages.first_arc).max()) * ring.together
    taken = ring.slots * (most_stored(pages, arcs) + arcs * (0 if pages.dtype is None else pages.dtype.itemsize))
    return arcs, ring.slots, max(ring.left - taken, 0)


def least_memory(pages: Pages) -> int:
    """Least bytes of a store: tables, and two pages being processed."""
    return _tables(pages) + (2 * _of_page(pages) if pages.n_pages else 0)


def _of_page(pages: Pages) -> int:
    of_values = 0 if pages.dtype is None else pages.dtype.itemsize
    return int(np.diff(pages.offset).max()) + int(np.diff(pages.first_arc).max()) * of_values


def _tables(pages: Pages) -> int:
    return 8 * (pages.shape[0] + 1) + 48 * (pages.n_pages + 1)


class Slot:
    """Buffers of one window."""

    def __init__(self, pages: Pages, arcs: int, from_file: bool) -> None:
        most = most_stored(pages, arcs)
        self.stored = cupy.empty(most, np.uint8)
        self.values = None if pages.dtype is None else cupy.empty(arcs, pages.dtype)
        self.pinned = addressed(most + (1 << 14)) if from_file else None
        self.pinned_values = (
            addressed(arcs * pages.dtype.itemsize + (1 << 14)) if from_file and pages.dtype is not None else None
        )
        self.ready = cupy.cuda.Event(disable_timing=True)
        # The pool's memory may still be in use by earlier launches: copying streams have to wait for them.
        self.free = cupy.cuda.Event(disable_timing=True)
        self.free.record()
        # Ranges of pages copied for the current window, and the addresses of all of its pages.
        self.brought: list[tuple[int, int]] = []
        self.places = np.empty(0, np.uint64)


def pages_are_damaged(damaged: Any) -> bool:
    """Whether a kernel found a damaged page; waits for the device, and resets the flag."""
    if not int(damaged[0]):
        return False
    damaged.fill(0)
    return True
