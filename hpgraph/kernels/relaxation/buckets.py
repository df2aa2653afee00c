"""Vertices that wait to send, in bins by the value they have: each worker's own, of blocks out of one store.

As in the Δ-stepping of the GAP Benchmark Suite (S. Beamer, K. Asanović, D. Patterson, arXiv:1508.03619), no worker
looks into another's bins while it works, and a vertex that has moved to a lower bin stays in the old one too, to be
passed over there. Here a flag for each vertex says whether it waits at all: the bins only say where to look, so the
store is bounded, and what it has no room for is found again by the flags.

A bin is a number: the place in the store behind its last vertex, or 0 while it is empty. The place tells the last
block; ``link`` leads from each block to the one before, which is full, and ends at -1. A row of ``bins`` is one
worker's: its bins in ascending order, that of the vertices beyond all of them, and a list of blocks to use again.
"""

from __future__ import annotations

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import vertex
from hpgraph.kernels.runtime.cpu.work_stealing import LINE, OTHER
from hpgraph.semiring.atomics import fetch_add

# Vertices in a block.
BLOCK = 64
# Bins in ascending order; then that of the vertices beyond, and the list of free blocks.
BINS = 64
FREE = BINS + 1
ROW = -(-(BINS + 2) // LINE) * LINE
# On the board: how many blocks of the store were ever used, and whether it was too small.
USED, LOST = OTHER, OTHER + LINE
# Where the first bin begins, and bins per unit of value, now and at the most; 0 where all values share one bin.
ORIGIN, DENSITY, NARROWEST = range(3)


@part
def bin_of(value, origin, density, now):
    """The bin of a value, not below the bin ``now``."""
    place = (value - origin) * density
    # What is no number, of infinite values, comes at once.
    if not place > now:
        return now
    return BINS if place >= BINS else int(place)


@part
def put(v, bin_, row, store, link, board):
    """Add a vertex to a bin."""
    place = row[bin_]
    if place % BLOCK == 0:
        block = row[FREE] - 1
        if block >= 0:
            row[FREE] = link[block] + 1
        else:
            block = fetch_add(board, USED, 1)
            if block >= link.size:
                board[LOST] = 1
                return
        link[block] = place // BLOCK - 1
        place = block * BLOCK
    store[place] = v
    row[bin_] = place + 1


@part
def last_block(place):
    """The last block of a bin, -1 where it is empty."""
    return (place - 1) // BLOCK if place > 0 else -1


@part
def give_back(block, row, link):
    """Add a block to those to use again."""
    link[block] = row[FREE] - 1
    row[FREE] = block + 1


@part
def is_short(place, link, most):
    """Whether a bin has ``most`` blocks at the most."""
    block = last_block(place)
    while block >= 0 and most > 0:
        block = link[block]
        most -= 1
    return block < 0


@part
def draw(bins, bin_, link, work):
    """Empty a bin of every worker into rows of ``work``, each a block and the vertices in it; return how many."""
    found = 0
    for worker in range(bins.shape[0]):
        place = bins[worker, bin_]
        bins[worker, bin_] = 0
        block = last_block(place)
        count = place - block * BLOCK
        while block >= 0:
            work[found, 0] = block
            work[found, 1] = count
            found += 1
            block, count = link[block], BLOCK
    return found


@part
def hand_back(bins, found, link, work):
    """Share the blocks drawn among the workers, to use again."""
    for i in range(found):
        give_back(work[i, 0], bins[i % bins.shape[0]], link)


@part
def spread(values, waiting, bins, found, store, link, work, board, scale):
    """Sort the blocks drawn from the last bin, beyond all others, anew: the least value begins the first bin.

    Returns whether anybody waited there.
    """
    if values.size == 0:
        return False
    any_, least = False, values[0]
    for i in range(found):
        for place in range(work[i, 0] * BLOCK, work[i, 0] * BLOCK + work[i, 1]):
            v = vertex(store, place)
            if waiting[v] and (not any_ or values[v] < least):
                any_, least = True, values[v]
    if any_:
        scale[ORIGIN] = least
        for i in range(found):
            for place in range(work[i, 0] * BLOCK, work[i, 0] * BLOCK + work[i, 1]):
                v = vertex(store, place)
                if waiting[v]:
                    put(v, bin_of(values[v], scale[ORIGIN], scale[DENSITY], 0), bins[0], store, link, board)
    hand_back(bins, found, link, work)
    return any_


@part
def recover(values, waiting, bins, store, link, board, scale):
    """Fill the bins with all who wait: they took more room than there is, as many a vertex stood in several."""
    if values.size == 0:
        return False
    any_, least = False, values[0]
    for v in range(waiting.size):
        if waiting[v] and (not any_ or values[v] < least):
            any_, least = True, values[v]
    scale[ORIGIN] = least
    board[USED] = board[LOST] = 0
    for worker in range(bins.shape[0]):
        for k in range(bins.shape[1]):
            bins[worker, k] = 0
    for v in range(waiting.size):
        if waiting[v]:
            put(v, bin_of(values[v], scale[ORIGIN], scale[DENSITY], 0), bins[0], store, link, board)


def room(n: int, workers: int) -> int:
    """Blocks for every vertex twice, and for those that are begun in each bin of each worker.

    Parameters
    ----------
    n, workers : int

    Returns
    -------
    int
    """
    return 2 * blocks_of(n) + workers * (BINS + 2)


def blocks_of(n: int) -> int:
    """Blocks that so many vertices fill.

    Parameters
    ----------
    n : int

    Returns
    -------
    int
    """
    return -(-n // BLOCK)
