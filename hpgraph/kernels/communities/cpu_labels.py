"""Label propagation on the CPU, synchronous or by colours: the most frequent label around each vertex, by rounds."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.communities.cpu_choice import mask_for, slot_of, tables
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, interruptible, is_stopped, njit, part, peek, prange, tasks, vertex
from hpgraph.kernels.runtime.cpu.threads import rest, team
from hpgraph.semiring.atomics import fetch_add

# Vertices that one thread takes at a time.
CHUNK = 256


def frequent_labels(arcs: CSR, label: Any, rounds: int) -> Any:
    """Labels after rounds in which all vertices take their neighbours' most frequent label, the least of equals.

    Vertices without a neighbour that changed in the last round are skipped, and so are loops.
    """
    label, degrees = label.copy(), arcs.degrees
    following, waking, woken = label.copy(), degrees > 0, np.zeros(len(label), np.bool_)
    with team() as threads:
        found = tables(threads, int(degrees.max()) if len(label) else 0)
        for _ in range(rounds):
            counter = np.zeros(32, np.int64)
            _round(arcs.indptr, arcs.indices, label, following, (waking, woken), found, counter)
            if not counter[16] or not rest():
                break
            label, following = following, label
            np.copyto(following, label)
            waking, woken = woken, waking
            woken[:] = False
    return label


@part
def _most_frequent(indptr, indices, label, v, table):
    """The most frequent label of a vertex's neighbours, the least of equals."""
    keys, sums, used = table
    begin, end = peek(indptr, v), peek(indptr, v + 1)
    mask = mask_for(end - begin)
    count = 0
    for at in range(begin, end):
        u = vertex(indices, at)
        if u == v:
            continue
        c = vertex(label, u)
        slot = slot_of(keys, mask, c)
        if keys[slot] < 0:
            keys[slot] = c
            sums[slot] = 0
            used[count] = slot
            count += 1
        sums[slot] += 1
    most, best = np.int64(0), vertex(label, v)
    for k in range(count):
        slot = used[k]
        if sums[slot] > most or (sums[slot] == most and keys[slot] < best):
            most, best = sums[slot], keys[slot]
        keys[slot] = -1
    return best


@part
def _chunks(indptr, indices, label, following, awake, table, counter):
    waking, woken = awake
    changed = 0
    n = label.size
    for at in tasks(counter, n, CHUNK):
        for v in range(at, min(n, at + CHUNK)):
            if waking[v]:
                best = _most_frequent(indptr, indices, label, v, table)
                if best != label[v]:
                    following[v] = best
                    changed += 1
                    for arc in range(peek(indptr, v), peek(indptr, v + 1)):
                        woken[vertex(indices, arc)] = True
    fetch_add(counter, 16, changed)


@njit(parallel=LOOPS, cache=True, nogil=True)
def _round(indptr, indices, label, following, awake, found, counter):
    for worker in prange(found.keys.shape[0]):
        table = found.keys[worker], found.sums[worker], found.used[worker]
        _chunks(indptr, indices, label, following, awake, table, counter)


def semi_synchronous_labels(indptr: Any, indices: Any, order: Any) -> Any:
    """Labels after rounds in `order`, by colours, until each vertex has one that no other around it exceeds in number.

    G. Cordasco, L. Gargano, "Community detection via semi-synchronous label propagation algorithms", BASNA 2010: of
    equals a vertex keeps its own label, else takes the greatest. Vertices of a colour are not adjacent, so that those
    of one may follow one another.
    """
    label = np.arange(len(order))
    with interruptible():
        _by_colors(indptr, indices, order, label, np.zeros(len(order), np.int64))
    return label


@njit(cache=True, nogil=True)
def _by_colors(indptr, indices, order, label, count):
    changed = True
    while changed and not is_stopped():
        changed = False
        for v in order:
            most, begin, end = 0, peek(indptr, v), peek(indptr, v + 1)
            for at in range(begin, end):
                c = label[vertex(indices, at)]
                count[c] += 1
                most = max(most, count[c])
            kept, best = count[label[v]] == most, -1
            for at in range(begin, end):
                c = label[vertex(indices, at)]
                if count[c] == most:
                    best = max(best, c)
                count[c] = 0
            if not kept:
                label[v], changed = best, True
