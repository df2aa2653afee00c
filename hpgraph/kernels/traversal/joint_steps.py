"""One superstep of a joint frontier on the CPU: a worker's chunks of a push, of a pull, or of listing the frontier.

Three words a vertex, a bit per source: `seen`, frontier, and next frontier. A push claims ``front[u] & ~seen[v]`` along
each arc (u, v); a pull ORs the words of a vertex's in-neighbours until every unsettled source is found (M. Then et al.,
VLDB'14; "bottom-up with early termination", H. Liu et al., iBFS, SIGMOD'16). The joint frontier contains a vertex once.
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu.bits import SIDE, popcount
from hpgraph.kernels.runtime.cpu.claim import BUFFER, flush
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, prefetch, vertex
from hpgraph.kernels.runtime.cpu.work_stealing import OTHER
from hpgraph.kernels.traversal.delivery import NONE, settle, settle_square
from hpgraph.kernels.traversal.direction_optimizing import ARCS_A_LINE, PREFETCH_PULLS, PREFETCH_ROWS
from hpgraph.semiring.atomics import atomic_or

# On the board: sources with a non-empty next frontier.
LIVING = OTHER
# Neighbours between two tests for early exit.
AT_ONCE = 4


# Words of the vertices, and queues; `fronts` and `queues` are double buffers.
Words = namedtuple("Words", "seen fronts queues")

# Work space of one worker: claims (vertex and word), two squares of bits, and the counts of a survey or None.
Scratch = namedtuple("Scratch", "claimed sources square counts")

# A superstep: its number, the half of the double buffers to read, live sources, whether one worker is alone.
Order = namedtuple("Order", "step turn live alone backward")

# Parameters of a run.
# `dead_end`: a reached vertex with up to so many arcs reaches no unsettled vertex; `early`: whether a pull exits a row
# early.
Policy = namedtuple("Policy", "alpha beta forced limit dead_end early")


@part(counts_references=False)
def joined(a, b):
    """Sums of two tuples of totals: vertices, pairs, out-arcs of the vertices, and of the pairs."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


@part(counts_references=False)
def _join(words, v, bits, alone):
    """Set bits of a word; return its value before."""
    if alone:
        before = peek(words, v)
        words[v] = before | bits
        return before
    return atomic_or(words, v, bits)


@part(counts_references=False)
def push(program, arcs, search, order, begin, end, policy, board, scratch, filled):
    """Push words of queue[begin:end]; the number of claims in the scratch, and totals of those settled when full."""
    front, queue = search.fronts[order.turn], search.queues[order.turn]
    totals = (0, 0, 0, 0)
    for i in range(begin, end):
        prefetch(arcs.indptr, vertex(queue, min(i + PREFETCH_ROWS, end - 1)))
        u = vertex(queue, i)
        bits = peek(front, u)
        front[u] = NONE
        first, last = peek(arcs.indptr, u), peek(arcs.indptr, u + 1)
        for k in range(last - first):
            # Neighbours often share neighbours: workers that scan in opposite orders contend less for them.
            j = last - 1 - k if order.backward else first + k
            v = vertex(arcs.indices, j)
            fresh = bits & ~peek(search.seen, v)
            if fresh == NONE:
                continue
            fresh &= ~_join(search.seen, v, fresh, order.alone)
            if fresh == NONE:
                continue
            scratch.claimed[filled] = v
            scratch.sources[filled] = fresh
            filled += 1
            if filled == BUFFER:
                totals = joined(totals, settle_claims(program, arcs, search, order, policy, board, scratch, filled))
                filled = 0
    return filled, totals


@part(counts_references=False)
def settle_claims(program, arcs, search, order, policy, board, scratch, filled):
    """Update claimed vertices, and queue those that change; return totals.

    Updates are separate from claims since an atomic operation waits for all earlier writes, and these are random ones.
    """
    following = search.fronts[1 - order.turn]
    found, pairs, leaving, carried, kept, live = 0, 0, 0, 0, 0, NONE
    for i in range(filled):
        v = vertex(scratch.claimed, i)
        bits = settle(program, order.step, v, scratch.sources[i], scratch.counts)
        if bits == NONE:
            continue
        live |= bits
        sources, degree = popcount(bits), peek(arcs.indptr, v + 1) - peek(arcs.indptr, v)
        pairs += sources
        carried += sources * degree
        dead = degree <= policy.dead_end
        if dead or _join(following, v, bits, order.alone) == NONE:
            found += 1
            leaving += degree
            scratch.claimed[kept] = v
            kept += not dead
    flush(scratch.claimed, kept, search.queues[1 - order.turn], board)
    if live:
        atomic_or(board, LIVING, np.int64(live))
    return found, pairs, leaving, carried


@part(counts_references=False)
def _gather_until(front, indices, first, last, wanted, early):
    """OR the words of in-neighbours until all wanted bits are found; return these, and where the row was left."""
    received, j = NONE, first
    while j + AT_ONCE <= last:
        for k in range(AT_ONCE):
            received |= peek(front, vertex(indices, j + k))
        j += AT_ONCE
        if early and wanted & ~received == NONE:
            return wanted, j
    while j < last:
        received |= peek(front, vertex(indices, j))
        j += 1
        if early and wanted & ~received == NONE:
            break
    return received & wanted, j


@part(counts_references=False)
def _gather_row(arcs, front, v, wanted, early):
    """The wanted bits that a vertex receives, and the number of arcs examined."""
    first, last = peek(arcs.indptr, v), peek(arcs.indptr, v + 1)
    received, j = _gather_until(front, arcs.indices, first, last, wanted, early)
    return received, j - first


@part(counts_references=False)
def pull(program, arcs, out_indptr, search, order, begin, end, policy, scratch):
    """Bottom-up step of begin..end: totals, arcs examined, vertices still unsettled, sources of the next frontier."""
    n = arcs.indptr.size - 1
    front, following = search.fronts[order.turn], search.fronts[1 - order.turn]
    received = scratch.square[0]
    found, pairs, leaving, carried, examined, waiting, live = 0, 0, 0, 0, 0, 0, NONE
    for base in range(begin, end, SIDE):
        stop, listed = min(base + SIDE, end), 0
        for v in range(base, stop):
            wanted = order.live & ~peek(search.seen, v)
            bits = NONE
            if wanted:
                soon = peek(arcs.indptr, min(v + PREFETCH_PULLS, n))
                prefetch(arcs.indices, soon)
                prefetch(arcs.indices, soon + ARCS_A_LINE)
                bits, arcs_read = _gather_row(arcs, front, v, wanted, policy.early)
                examined += arcs_read
                listed += popcount(bits)
                search.seen[v] |= bits
                waiting += bits != wanted
            received[v - base] = bits
        if listed >= SIDE:
            for i in range(stop - base, SIDE):
                received[i] = NONE
            settle_square(program, order.step, base, scratch.square, scratch.counts)
        elif listed:
            # Fewer pairs than sources: update by pair, rather than by source.
            for v in range(base, stop):
                received[v - base] = settle(program, order.step, v, received[v - base], scratch.counts)
        for v in range(base, stop):
            bits = received[v - base]
            following[v] = bits
            if bits:
                live |= bits
                sources, degree = popcount(bits), peek(out_indptr, v + 1) - peek(out_indptr, v)
                found += 1
                pairs += sources
                leaving += degree
                carried += sources * degree
    return (found, pairs, leaving, carried), examined, waiting, live


@part(counts_references=False)
def list_front(out_indptr, search, order, begin, end, policy, board, buffer, filled):
    """Queue the frontier that a pull left as words, and clear the words that the next push fills."""
    front, following = search.fronts[order.turn], search.fronts[1 - order.turn]
    for v in range(begin, end):
        following[v] = NONE
        if peek(front, v):
            if peek(out_indptr, v + 1) - peek(out_indptr, v) <= policy.dead_end:
                front[v] = NONE
                continue
            buffer[filled] = v
            filled += 1
            if filled == BUFFER:
                flush(buffer, filled, search.queues[order.turn], board)
                filled = 0
    return filled
