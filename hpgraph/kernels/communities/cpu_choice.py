"""Choosing a community on the CPU: shared parts of the loops over a vertex's neighbours.

The weight to each community around a vertex is summed in a small hash table of the thread's; batches and the order of
equals are pseudorandom, by hashes; the rows of the next vertices, which are scattered in memory, are prefetched.
"""

from collections import namedtuple

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, prefetch, vertex
from hpgraph.kernels.runtime.cpu.weights import prefetch_entry
from hpgraph.kernels.sampling.cpu_random import GOLDEN
from hpgraph.kernels.structure.cpu_greedy import mixed

# Smaller tables are left nearly empty: these 16 KiB of keys and sums fit L1, and without collisions no branch is
# mispredicted (uniform random graphs: 4 ns an arc, half as full 7).
_SPARSE = 1024
# Prefetch distance, in vertices; ids in a cache line; most arcs of a row that are prefetched before its turn. Ids of
# longer rows stream, and loops prefetch labels this many arcs ahead, inline: a call costs more.
AHEAD, LINE, MAX, PREFETCH_ARCS = 4, 16, 128, 24
# Mean length of rows from which they are prefetched if there are more arcs than a core's cache holds. With 8 to 10 arcs
# Leiden takes .56 to .96 of the time without; with 3 or 4 (grids, roads) 1.07, and 1.02 if all arcs are in the cache.
SHORT, CACHED = 6, 1 << 19
# A hash table for each worker: keys, -1 in free slots; their sums; and the slots in use.
Tables = namedtuple("Tables", "keys sums used")


def tables(workers: int, most: int) -> Tables:
    """Tables for up to `most` keys."""
    slots = _SPARSE
    while slots < 2 * most:
        slots *= 2
    return Tables(
        np.full((workers, slots), -1, np.int64),
        np.zeros((workers, slots), np.int64),
        np.empty((workers, slots // 2 + 1), np.int64),
    )


@part(whole=True)
def mask_for(most):
    """Mask of a table for up to `most` keys: sparse while the table is small."""
    slots = 8
    while slots < 2 * most or (slots < _SPARSE and slots < 8 * most):
        slots <<= 1
    return slots - 1


# Each caller inlines the update of a slot by hand, a new key or none and then the sum: in a part, or an inlined
# function, it takes up to 2.6 times as long with a branch, and up to 1.13 times without one.
@part(whole=True)
def slot_of(keys, mask, key):
    """The slot of a key, or the free one it belongs in: linear probing."""
    slot = np.int64((np.uint64(key) * GOLDEN) >> np.uint64(32)) & mask
    while peek(keys, slot) != key and peek(keys, slot) >= 0:
        slot = (slot + 1) & mask
    return slot


@part(whole=True)
def drawn(number, round_, seed, bits):
    """`bits` pseudorandom bits for each number and round."""
    key = np.uint64(number) + seed + np.uint64(round_) * GOLDEN
    return np.int64(mixed(key) >> np.uint64(64 - bits))


@part(whole=True)
def is_before(a, b, v, seed):
    """Whether a comes before b in the pseudorandom order of vertex v."""
    key = seed ^ np.uint64(v) * GOLDEN
    return mixed(np.uint64(a) ^ key) < mixed(np.uint64(b) ^ key)


@part(whole=True, counts_references=False)
def expected(groups, rule, v, c, own):
    """Expected weight in the null model between a vertex and a community without it, times the resolution."""
    sent, all_sent = peek(rule.sent, v), peek(groups.sent, c)
    if c == own:
        all_sent -= sent
    if rule.two_sided:
        received, all_received = peek(rule.received, v), peek(groups.received, c)
        if c == own:
            all_received -= received
        apart = np.float64(sent) * np.float64(all_received) + np.float64(received) * np.float64(all_sent)
    else:
        apart = 2 * np.float64(sent) * np.float64(all_sent)
    return rule.penalty * apart


def pays(arcs: CSR, joined: int) -> bool:
    """Whether prefetching pays: out-of-order execution overlaps the reads of short rows, in a cache of longer ones."""
    return arcs.nnz > (SHORT if arcs.nnz > CACHED else LINE) * joined


@part(whole=True)
def fetch(rows, label, listed, i, end):
    """Prefetch for the vertices after ``listed[i]``: row pointers first, then rows, then the neighbours' labels."""
    if i + 2 * AHEAD < end:
        prefetch(rows.indptr, vertex(listed, i + 2 * AHEAD))
    if i + AHEAD < end:
        v = vertex(listed, i + AHEAD)
        first = peek(rows.indptr, v)
        for at in range(first, min(peek(rows.indptr, v + 1), first + MAX) + LINE - 1, LINE):
            prefetch(rows.indices, at)
            prefetch_entry(rows.data, at)
            prefetch_entry(rows.data, at + LINE // 2)
    if i + 1 < end:
        v = vertex(listed, i + 1)
        first = peek(rows.indptr, v)
        for at in range(first, min(peek(rows.indptr, v + 1), first + MAX)):
            prefetch(label, vertex(rows.indices, at))
