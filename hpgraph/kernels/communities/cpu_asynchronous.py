"""Label propagation on the CPU, block by block of vertices.

A block of consecutive vertices is updated by one thread, in ascending or descending order; each vertex sees the labels
just taken in its block, and those before the batch in the other blocks of its batch, so that the result does not depend
on the threads. The memory of a block is contiguous: batches of single vertices drawn from everywhere take eight times
as long on a road network.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.communities.batches import EVIDENCE
from hpgraph.kernels.communities.cpu_choice import drawn, is_before, mask_for, slot_of, tables
from hpgraph.kernels.communities.level import Level
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import SERIAL, copy_items, njit, part, peek, put, tasks, team, vertex
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.stop import is_stopped

# Number of blocks, and limits of their size: threads share the blocks of a batch. With 64 of up to 16,384 a grid of
# 1,000 x 1,000 has a modularity of .91, with 256 of up to 4,096 it has .87 and takes longer.
BLOCKS, MIN, MAX = 64, 4, 16384
BATCH_BITS = 2
# Labels as other blocks and as the own block see them, active vertices, and those woken by other blocks. The woken wait
# until the batch ends; `touched`: blocks that have any; `around`: the weight around each vertex.
State = namedtuple("State", "label fresh active woken touched around")


def asynchronous_labels(level: Level, seed: int, rounds: int, few: float) -> Any:
    """Labels after rounds in which each vertex takes the label of largest weight around it.

    Ties of labels with an eighth of the weight around the vertex are broken by one random order for all vertices; else
    it keeps its own, or a random order of its own decides.
    """
    arcs, n = level.arcs, len(level.sent)
    label = np.arange(n, dtype=arcs.indices.dtype)
    if arcs.nnz == 0:
        return label
    size = min(MAX, max(MIN, n // BLOCKS))
    flags = np.zeros(n, np.bool_)
    around = level.sent + level.received if level.is_two_sided else level.sent
    state = State(label, label.copy(), arcs.degrees > 0, flags, np.zeros(-(-n // size), np.bool_), around)
    with team(alone=arcs.nnz <= SERIAL) as threads:
        found = tables(threads, int(arcs.degrees.max()))
        rows = Rows(arcs.indptr, arcs.indices, arcs.data)
        _spread(rows, state, found, np.zeros(32, np.int64), np.uint64(seed), rounds, int(few * n), size)
    return label


@part(counts_references=False)
def _heaviest(rows, state, v, begin, end, table, around, seed):
    """The label of largest weight around a vertex of the block begin..end."""
    keys, sums, used = table
    first, last = peek(rows.indptr, v), peek(rows.indptr, v + 1)
    mask = mask_for(last - first)
    count = 0
    own = vertex(state.fresh, v)
    most, best = np.int64(0), own
    for at in range(first, last):
        u = vertex(rows.indices, at)
        if u == v:
            continue
        c = vertex(state.fresh, u) if begin <= u < end else vertex(state.label, u)
        weight = np.int64(entry(rows.data, at))
        if c == own:
            most += weight
            continue
        slot = slot_of(keys, mask, c)
        if peek(keys, slot) < 0:
            put(keys, slot, c)
            put(used, count, slot)
            count += 1
        else:
            weight += peek(sums, slot)
        put(sums, slot, weight)
    least = EVIDENCE * np.float64(around)
    for k in range(count):
        slot = peek(used, k)
        c, weight = peek(keys, slot), peek(sums, slot)
        put(keys, slot, -1)
        if weight < most:
            continue
        if weight > most:
            most, best = weight, c
        elif most >= least:
            best = c if is_before(c, best, 0, seed) else best
        elif best != own:
            best = c if is_before(c, best, v, seed) else best
    return best


@part(counts_references=False)
def _update_block(rows, state, begin, end, size, table, seed, backwards):
    """Update the vertices of a block in order; returns the number of changed labels."""
    changed = 0
    for i in range(begin, end):
        v = end - 1 - (i - begin) if backwards else i
        if not state.active[v]:
            continue
        state.active[v] = False
        best = _heaviest(rows, state, v, begin, end, table, state.around[v], seed)
        if best == state.fresh[v]:
            continue
        changed += 1
        state.fresh[v] = best
        for at in range(peek(rows.indptr, v), peek(rows.indptr, v + 1)):
            u = vertex(rows.indices, at)
            if begin <= u < end:
                state.active[u] = state.active[u] or state.fresh[u] != best
            elif not state.woken[u]:
                state.woken[u] = True
                state.touched[u // size] = True
    return changed


@part(counts_references=False)
def _turn(block, round_, seed):
    """Random bits of a block, redrawn in each round: its batch, and in the last bit the direction of its update."""
    return drawn(block, round_, seed, BATCH_BITS + 1)


@part(counts_references=False)
def _batch(worker, rows, state, found, counter, batch, round_, seed, size):
    n, changed = state.label.size, 0
    for block in tasks(counter, state.touched.size):
        turn = _turn(block, round_, seed)
        if turn >> 1 == batch:
            table = found.keys[worker], found.sums[worker], found.used[worker]
            begin, end = block * size, min(n, (block + 1) * size)
            changed += _update_block(rows, state, begin, end, size, table, seed, turn & 1)
    fetch_add(counter, 16, changed)


@part(counts_references=False)
def _publish(worker, state, batch, round_, seed, size, workers):
    """Make the new labels of a batch visible to other blocks, and activate the vertices that it activated there."""
    n, blocks = state.label.size, state.touched.size
    for block in range(blocks * worker // workers, blocks * (worker + 1) // workers):
        begin, end = block * size, min(n, (block + 1) * size)
        if _turn(block, round_, seed) >> 1 == batch:
            copy_items(state.label, begin, state.fresh, begin, end - begin)
        if state.touched[block]:
            state.touched[block] = False
            for v in range(begin, end):
                state.active[v] |= state.woken[v]
                state.woken[v] = False


@njit(cache=True, nogil=True)
def _spread(rows, state, found, counter, seed, rounds, few, size):
    workers = found.keys.shape[0]
    for round_ in range(rounds):
        changed = 0
        for batch in range(1 << BATCH_BITS):
            counter[:] = 0
            in_parallel(workers, _batch, (rows, state, found, counter, batch, round_, seed, size))
            changed += counter[16]
            in_parallel(workers, _publish, (state, batch, round_, seed, size, workers))
        if changed <= few or is_stopped():
            break
