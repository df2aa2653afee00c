"""The buckets of delta-stepping: vertices that wait to send, best values first; each worker has its own buckets.

The best values are the least; if the number of buckets per unit of value is negative, the greatest, as for widest
paths. If no width is given, it follows from the values that wait whenever the overflow bucket is distributed.

As in the delta-stepping of the GAP Benchmark Suite (S. Beamer, K. Asanović, D. Patterson, arXiv:1508.03619), buckets
(its bins) are thread-local, and a vertex that moves to a lower bucket stays in the old one too, where it is skipped. A
vertex waits only if its `waiting` flag is set. So the store of vertices is bounded: on overflow, the buckets are
rebuilt from the `waiting` flags.

A bucket is a linked list of blocks of 64 vertices in one store, represented by the place after its last vertex, or 0
if it is empty. ``link`` maps each block to the one before, which is full, and ends at -1. A row of ``buckets`` belongs
to one worker: its buckets in ascending order, the overflow bucket, and the free list of blocks.
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import vertex
from hpgraph.kernels.runtime.cpu.work_stealing import LINE, OTHER
from hpgraph.semiring.atomics import fetch_add

# Vertices in a block.
BLOCK = 64
# Buckets in ascending order; then the overflow bucket for values beyond, and the free list of blocks.
BUCKETS = 64
FREE = BUCKETS + 1
ROW = -(-(BUCKETS + 2) // LINE) * LINE
# On the board: the number of blocks ever used, and whether the store overflowed.
USED, LOST = OTHER, OTHER + LINE
# Best value of the first bucket; buckets per unit of value, now and at most; 0 where all values share one bucket. Then
# the number of buckets over the values that wait, from which the buckets per unit follow; 0 if these are given, and
# negative while all values share one bucket, until much has been sent again.
ORIGIN, DENSITY, NARROWEST, SPAN = range(4)
SCALE = 4
# Buckets per unit of value if all waiting values are equal: others overflow.
FINEST = 1e300


# The memory of all buckets.
# `vertices` (array of vertex ids): blocks of vertices; `link` (int32 array): the block before each block; `drawn`
# (int32 array of shape (blocks, 2)): the blocks of this superstep, and their numbers of vertices; `buckets` (int64
# array of shape (workers, buckets)): each worker's buckets; `board` (int64 array): shared by the workers.
Store = namedtuple("Store", "vertices link drawn buckets board")


@part
def bucket_of(value, origin, density, now):
    """The bucket of a value, not below the bucket ``now``."""
    place = (value - origin) * density
    # A NaN (from infinite values) compares false: it goes to the current bucket.
    if not place > now:
        return now
    return BUCKETS if place >= BUCKETS else int(place)


@part
def put(v, bucket, row, store):
    """Add a vertex to a bucket of a worker's row."""
    link = store.link
    place = row[bucket]
    if place % BLOCK == 0:
        block = row[FREE] - 1
        if block >= 0:
            row[FREE] = link[block] + 1
        else:
            block = fetch_add(store.board, USED, 1)
            if block >= link.size:
                store.board[LOST] = 1
                return
        link[block] = place // BLOCK - 1
        place = block * BLOCK
    store.vertices[place] = v
    row[bucket] = place + 1


@part
def last_block(place):
    """The last block of a bucket, -1 if it is empty."""
    return (place - 1) // BLOCK if place > 0 else -1


@part
def give_back(block, row, link):
    """Put a block on the free list."""
    link[block] = row[FREE] - 1
    row[FREE] = block + 1


@part
def is_short(place, link, most):
    """Whether a bucket has at most ``most`` blocks."""
    block = last_block(place)
    while block >= 0 and most > 0:
        block = link[block]
        most -= 1
    return block < 0


@part
def draw(store, bucket, found):
    """Append the blocks of a bucket of every worker to ``store.drawn`` after the first `found`; return their number."""
    buckets, link, drawn = store.buckets, store.link, store.drawn
    for worker in range(buckets.shape[0]):
        place = buckets[worker, bucket]
        buckets[worker, bucket] = 0
        block = last_block(place)
        count = place - block * BLOCK
        while block >= 0:
            drawn[found, 0] = block
            drawn[found, 1] = count
            found += 1
            block, count = link[block], BLOCK
    return found


@part
def hand_back(store, found):
    """Distribute the drawn blocks round-robin to the workers' free lists."""
    for i in range(found):
        give_back(store.drawn[i, 0], store.buckets[i % store.buckets.shape[0]], store.link)


@part
def empty(store):
    """Empty all buckets, after the store overflowed."""
    store.board[USED] = store.board[LOST] = 0
    for worker in range(store.buckets.shape[0]):
        for k in range(store.buckets.shape[1]):
            store.buckets[worker, k] = 0


@part
def set_scale(scale, least, greatest):
    """Begin the first bucket at the best waiting value; without a given width, span all waiting values."""
    descends = scale[DENSITY] < 0
    scale[ORIGIN] = greatest if descends else least
    if scale[SPAN] > 0:
        reach = float(greatest) - float(least)
        # If the best value is infinite, it is alone in the first bucket.
        density = min(scale[SPAN] / reach, FINEST) if 0 < reach < np.inf else FINEST
        scale[DENSITY] = -density if descends else density


@part
def draw_all(store):
    """Move the blocks of all buckets into rows of ``store.drawn``; return their number."""
    found = 0
    for bucket in range(BUCKETS + 1):
        found = draw(store, bucket, found)
    return found


@part
def spread(found, values, waiting, store, scale):
    """Distribute the drawn vertices, from their best value on; whether any of them waited."""
    if values.size == 0:
        return False
    vertices, drawn = store.vertices, store.drawn
    any_, least, greatest = False, values[0], values[0]
    for i in range(found):
        for place in range(drawn[i, 0] * BLOCK, drawn[i, 0] * BLOCK + drawn[i, 1]):
            v = vertex(vertices, place)
            if waiting[v]:
                if not any_:
                    any_, least, greatest = True, values[v], values[v]
                elif values[v] < least:
                    least = values[v]
                elif values[v] > greatest:
                    greatest = values[v]
    if any_:
        set_scale(scale, least, greatest)
        for i in range(found):
            for place in range(drawn[i, 0] * BLOCK, drawn[i, 0] * BLOCK + drawn[i, 1]):
                v = vertex(vertices, place)
                if waiting[v]:
                    put(v, bucket_of(values[v], scale[ORIGIN], scale[DENSITY], 0), store.buckets[0], store)
    hand_back(store, found)
    return any_


@part
def recover(values, waiting, store, scale):
    """Rebuild the buckets from the `waiting` flags, after the store overflowed with stale copies."""
    if values.size == 0:
        return
    any_, least, greatest = False, values[0], values[0]
    for v in range(waiting.size):
        if waiting[v]:
            least = values[v] if not any_ or values[v] < least else least
            greatest = values[v] if not any_ or values[v] > greatest else greatest
            any_ = True
    set_scale(scale, least, greatest)
    empty(store)
    for v in range(waiting.size):
        if waiting[v]:
            put(v, bucket_of(values[v], scale[ORIGIN], scale[DENSITY], 0), store.buckets[0], store)
