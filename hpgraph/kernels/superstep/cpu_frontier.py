"""Supersteps whose cost is proportional to their frontier: top-down from a list, and APPLY of the receivers.

`run_small` runs consecutive supersteps on one thread while frontiers stay small: entering a parallel region costs more
than such a superstep. `push_many` and `apply_many` divide one large superstep among threads. Each thread owns a range
of targets, so there are no atomics, and every target joins its messages in the order of the frontier: results are the
same bit for bit on any number of threads.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.claim import claim, mark, test
from hpgraph.kernels.runtime.cpu.functions_tuple import functions_tuple
from hpgraph.kernels.runtime.cpu.kernel import is_stopped, njit, part, prange, prefetch, tasks, vertex
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, LOOPS, STEP, cycles, log
from hpgraph.kernels.runtime.cpu.weights import entry_or, prefetch_entry
from hpgraph.kernels.spmv.cpu_fold import convert, join
from hpgraph.semiring.jit import call

# Words of the progress of `run_small` after STEP and ACTIVE: the out-arcs of the frontier, and which of the two queues
# (a double buffer) is read.
ARCS, SWAPPED = 2, 3
# Rows up to this length are scanned for the first target of a range; longer ones are searched by bisection.
SHORT = 16
# Vertices of a block. One thread computes its sum, and the blocks' sums are added in order, so that a sum does not
# depend on the number of threads. A multiple of 64: each word of a bitmask has one writer.
BLOCK = 4096
# Rows that a thread takes at a time: a multiple of 64, so that each word of a bitmask has one writer.
ROWS = 1024


# A program's functions; see `hpgraph.kernels.runtime.functions`. Of programs whose arcs reply to their sources: the
# reply, and whether an arc replies. Of programs with a width: read a message, write one, and one that changes none.
Functions: Any = functions_tuple(
    __name__, "Functions", "gather reduce edge_cond cond update load aggregate reply reply_cond take put neutral",
    defaults=(None, None, None, None, None),
)  # fmt: skip

# The frontier, room for the next one (a double buffer), and room for the list of receivers.
Queues = namedtuple("Queues", "current following listed")

# Messages, flat; bitmap of the receivers; bitmap of the settled vertices, if each vertex receives only once.
# The first message is joined to `identity`, so that min and max ignore a NaN that arrives first.
Inbox = namedtuple("Inbox", "message received settled identity")

# Arcs by rows, of which `first` is the first, None if they are all; `one` is the weight of a pattern's entries.
Stretch = namedtuple("Stretch", "indptr indices data one first", defaults=(None,))

# Targets that a push may reach, and whether the ids of a row ascend, so that they can be searched for.
Targets = namedtuple("Targets", "low high is_sorted")


# Numba prunes the branch after a None only if it is a separate argument: so a width of one costs nothing.
@part(forceinline=True)
def _row(first, indptr, size, v):
    """Begin and end of row `v` among the arcs of the window."""
    if first is None:
        return indptr[v], indptr[v + 1]
    return max(indptr[v] - first, 0), min(indptr[v + 1] - first, size)


@part(forceinline=True)
def _take(take, messages, v):
    """The message of `v`."""
    if take is None:
        return messages[v]
    return call(take, messages, v)


@part(forceinline=True)
def _put(put, messages, v, message):
    """Write the message of `v`."""
    if put is None:
        messages[v] = message
    else:
        call(put, messages, v, message)


@part(forceinline=True)
def _neutral(neutral, identity):
    """The message that changes none."""
    if neutral is None:
        return identity
    return call(neutral, identity)


@part(forceinline=True)
def _is_settled(settled, v):
    if settled is None:
        return False
    return test(settled, v)


@part(forceinline=True)
def _settle(settled, v):
    if settled is not None:
        mark(settled, v)


@part(forceinline=True)
def _unsettled(settled, word, bits):
    if settled is None:
        return bits
    return bits & ~settled[word]


@part(forceinline=True)
def _turn(cell, step):
    if cell is not None:
        cell[0] = step


@part(error_model="numpy", forceinline=True)
def _receive(functions, inbox, sent, v):
    """Join a message to those of `v`; true for the first."""
    if test(inbox.received, v):
        joined = join(functions.reduce, _take(functions.take, inbox.message, v), sent)
        _put(functions.put, inbox.message, v, joined)
        return False
    mark(inbox.received, v)
    joined = join(functions.reduce, _neutral(functions.neutral, inbox.identity), sent)
    _put(functions.put, inbox.message, v, joined)
    return True


@part(error_model="numpy", forceinline=True)
def _gather_row_replies(functions, state, arcs, inbox, u):
    """Reduce the replies of the out-arcs of `u`; returns whether there was one."""
    found, value = False, _neutral(functions.neutral, inbox.identity)
    for j in range(arcs.indptr[u], arcs.indptr[u + 1]):
        v = vertex(arcs.indices, j)
        weight = entry_or(arcs.data, j, arcs.one)
        if call(functions.reply_cond, state, u, weight, v):
            reply = convert(value, call(functions.reply, state, u, weight, v))
            value = join(functions.reduce, value, reply)
            found = True
    if found:
        _put(functions.put, inbox.message, u, value)
    return found


@part(error_model="numpy", forceinline=True)
def _gather_all_replies(reply, functions, state, arcs, inbox, frontier, size, listed):
    """Gather replies at the first `size` vertices of `frontier`, before messages are sent; list the receivers."""
    count = 0
    if reply is not None:
        for i in range(size):
            u = np.int64(frontier[i])
            if _gather_row_replies(functions, state, arcs, inbox, u):
                mark(inbox.received, u)
                listed[count] = u
                count += 1
    return count


@part(error_model="numpy", forceinline=True, counts_references=False)
def _send(functions, state, arcs, inbox, frontier, size, targets, listed, count):
    """Push from the first `size` of `frontier`; append receivers to `count` others in `listed`, if given."""
    neutral = _neutral(functions.neutral, inbox.identity)
    low, high, is_sorted = targets
    for i in range(size):
        if is_stopped():
            break
        u = np.int64(frontier[i])
        j, end = _row(arcs.first, arcs.indptr, arcs.indices.size, u)
        if is_sorted and end - j > SHORT and low > 0:
            j += np.searchsorted(arcs.indices[j:end], low)
        while j < end:
            v = vertex(arcs.indices, j)
            if v >= high and is_sorted:
                break
            if low <= v < high and not _is_settled(inbox.settled, v) and call(functions.cond, state, v):
                weight = entry_or(arcs.data, j, arcs.one)
                if call(functions.edge_cond, state, u, weight, v):
                    sent = convert(neutral, call(functions.gather, state, u, weight, v))
                    if _receive(functions, inbox, sent, v) and listed.size:
                        listed[count] = v
                        count += 1
                        prefetch(arcs.indptr, v)
            j += 1
    return count


@part(error_model="numpy", forceinline=True)
def _renew(functions, state, inbox, v, world, step):
    """UPDATE at one vertex; whether it changed."""
    _settle(inbox.settled, v)
    return call(functions.update, state, v, _take(functions.take, inbox.message, v), world, step)


@part(error_model="numpy", forceinline=True)
def _update(functions, state, inbox, v, world, step, sums):
    """APPLY at one vertex: the update and what it adds to the sums; whether it changed."""
    before = call(functions.load, state, v)
    changed = _renew(functions, state, inbox, v, world, step)
    call(functions.aggregate, state, before, v, world, step, sums)
    return changed


@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def run_small(functions, state, world, arcs, inbox, queues, progress, trace, most, cell):
    """Supersteps on one thread, until no vertex is active, over `most` arcs leave the frontier, or the trace is full.

    `cell`, if any, holds the superstep's number. The trace holds cycles. The frontier is in `queues.current` or, if
    `progress[SWAPPED]`, in `queues.following`.
    """
    queue, following, listed = queues
    step, size, leaving, rows = progress[STEP], progress[ACTIVE], progress[ARCS], 0
    swapped = progress[SWAPPED]
    if swapped:
        queue, following = following, queue
    n = arcs.indptr.size - 1
    while size > 0 and leaving <= most and rows < trace.shape[0]:
        began = cycles()
        step += 1
        rows += 1
        _turn(cell, step)
        replied = _gather_all_replies(functions.reply, functions, state, arcs, inbox, queue, size, listed)
        received = _send(functions, state, arcs, inbox, queue, size, Targets(0, n, False), listed, replied)
        changed, arcs_left = 0, 0
        for i in range(received):
            v = np.int64(listed[i])
            inbox.received[v >> 6] = 0
            changes = _renew(functions, state, inbox, v, world, step)
            begin, end = arcs.indptr[v], arcs.indptr[v + 1]
            # The next superstep reads its arcs.
            prefetch(arcs.indices, begin)
            prefetch_entry(arcs.data, begin)
            # Branch-free: the branch is unpredictable.
            following[changed] = v
            changed += changes
            arcs_left += changes * (end - begin)
        log(trace, rows, 0, size, leaving, cycles() - began)
        # After a stop the results are discarded: end the loop.
        size, leaving = 0 if is_stopped() else changed, arcs_left
        queue, following = following, queue
        swapped = 1 - swapped
    progress[STEP], progress[ACTIVE], progress[ARCS], progress[SWAPPED] = step, size, leaving, swapped


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def push_many(functions, state, arcs, is_sorted, inbox, frontier, bounds):
    """Push from all of `frontier`; each thread to a range of targets between two of the `bounds`, multiples of 64."""
    unlisted = np.empty(0, arcs.indices.dtype)
    for p in prange(bounds.size - 1):
        targets = Targets(bounds[p], bounds[p + 1], is_sorted)
        _send(functions, state, arcs, inbox, frontier, frontier.size, targets, unlisted, 0)


@part(error_model="numpy", forceinline=True, counts_references=False)
def _gather_reply_block(functions, state, arcs, inbox, frontier, begin, end):
    for i in range(begin, end):
        u = np.int64(frontier[i])
        if _gather_row_replies(functions, state, arcs, inbox, u):
            claim(inbox.received, u, False)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def gather_replies(functions, state, arcs, inbox, frontier, workers):
    """Gather the replies of the out-arcs of all of `frontier`."""
    counter = np.zeros(1, np.int64)
    for _ in prange(workers):
        for begin in tasks(counter, frontier.size, ROWS):
            _gather_reply_block(functions, state, arcs, inbox, frontier, begin, min(begin + ROWS, frontier.size))


@part(error_model="numpy", forceinline=True, counts_references=False)
def _apply_block(functions, state, inbox, world, step, indptr, block, changed, at, sums):
    """Update the receivers and clear their bits; list changed vertices in ``changed[at:]``. Their number, and arcs."""
    count, arcs = 0, 0
    for word in range(block * (BLOCK >> 6), min((block + 1) * (BLOCK >> 6), inbox.received.size)):
        bits = _unsettled(inbox.settled, word, inbox.received[word])
        inbox.received[word] = 0
        v = word << 6
        while bits:
            received = bits & np.uint64(1) != np.uint64(0)
            if received and _update(functions, state, inbox, v, world, step, sums):
                changed[at + count] = v
                count += 1
                arcs += indptr[v + 1] - indptr[v]
            bits >>= np.uint64(1)
            v += 1
    return count, arcs


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def apply_many(functions, state, inbox, world, step, indptr, room, counts, sums):
    """Update the receivers, by blocks of vertices; `room` lists a block's changed vertices, ascending, at its offset.

    A row of ``counts`` receives a block's number of changed vertices and of their out-arcs; its sums are added to a row
    of ``sums``, which is zero before.
    """
    for block in prange(counts.shape[0]):
        counts[block, 0], counts[block, 1] = _apply_block(
            functions, state, inbox, world, step, indptr, block, room, block * BLOCK, sums[block]
        )


@njit(parallel=LOOPS, cache=True, nogil=True)
def close_up(room, counts, following):
    """Compact the lists of all blocks from `room` into `following`."""
    at = np.zeros(counts.shape[0], np.int64)
    for block in range(1, counts.shape[0]):
        at[block] = at[block - 1] + counts[block - 1, 0]
    for block in prange(counts.shape[0]):
        for k in range(counts[block, 0]):
            following[at[block] + k] = room[block * BLOCK + k]
