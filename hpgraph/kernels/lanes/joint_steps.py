"""One superstep of a joint frontier on the CPU: a worker's share of a push, of a pull, or of listing the frontier.

Three words a vertex: of the lanes that have `seen` it, of those in whose frontier it is, and of those in whose next
frontier. A push offers the word of a vertex along its arcs, and who is new in it is ``front[u] & ~seen[v]``; a pull
joins the words of a vertex's in-neighbours until every lane that still listens has heard (M. Then et al., VLDB'14;
"bottom-up with early termination", H. Liu et al., iBFS, SIGMOD'16). A vertex stands once in the joint frontier.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.kernels.lanes.delivery import NONE, settle, settle_square
from hpgraph.kernels.runtime.cpu.bit_matrix import SIDE
from hpgraph.kernels.runtime.cpu.bits import popcount
from hpgraph.kernels.runtime.cpu.claim import BUFFER, flush
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, prefetch, vertex
from hpgraph.kernels.runtime.cpu.work_stealing import OTHER
from hpgraph.kernels.traversal.direction_optimizing import ARCS_A_LINE, PREFETCH_PULLS, PREFETCH_ROWS
from hpgraph.semiring.atomics import atomic_or

# On the board: lanes of the next frontier.
LIVING = OTHER
# Neighbours between two looks at whether all have heard.
AT_ONCE = 4


class Search(NamedTuple):
    """Words of the vertices, and queues; of what comes in twos, one half is read and the other filled."""

    seen: Any
    fronts: Any
    queues: Any


class Scratch(NamedTuple):
    """Room of one worker: claims (vertex and lanes), two squares of bits, and counts, None where nobody counts."""

    claimed: Any
    lanes: Any
    square: Any
    counts: Any


class Order(NamedTuple):
    """What a superstep is to do: its number, which half is read, which lanes live, whether the leader works alone."""

    step: Any
    turn: Any
    live: Any
    alone: Any
    backward: Any


class Policy(NamedTuple):
    """What decides how supersteps go.

    `dead_end`: a vertex that is reached and has up to so many arcs reaches nobody; `early`: whether a pull leaves a row
    once all have heard; `price`: cycles that a search by itself takes for a vertex; `patience`: cycles by which being
    together may be dearer before the lanes part.
    """

    alpha: Any
    beta: Any
    forced: Any
    limit: Any
    dead_end: Any
    early: Any
    price: Any
    patience: Any


@part
def joined(a, b):
    """Sums of two tuples of totals: vertices, pairs, arcs that leave the vertices, and the same for each lane."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


@part
def _join(words, v, bits, alone):
    """Set bits of a word; what it was before."""
    if alone:
        before = peek(words, v)
        words[v] = before | bits
        return before
    return atomic_or(words, v, bits)


@part
def push(program, arcs, search, order, begin, end, policy, board, scratch, filled):
    """Offer the words of queue[begin:end] along their arcs, with claims in the scratch from `filled` on.

    Returns how many claims the scratch then holds, and the totals of those settled meanwhile.
    """
    front, queue = search.fronts[order.turn], search.queues[order.turn]
    totals = (0, 0, 0, 0)
    for i in range(begin, end):
        prefetch(arcs.indptr, vertex(queue, min(i + PREFETCH_ROWS, end - 1)))
        u = vertex(queue, i)
        bits = peek(front, u)
        front[u] = NONE
        first, last = peek(arcs.indptr, u), peek(arcs.indptr, u + 1)
        for k in range(last - first):
            # Neighbours often share neighbours: two workers that go from opposite ends contend for them once.
            j = last - 1 - k if order.backward else first + k
            v = vertex(arcs.indices, j)
            fresh = bits & ~peek(search.seen, v)
            if fresh == NONE:
                continue
            fresh &= ~_join(search.seen, v, fresh, order.alone)
            if fresh == NONE:
                continue
            scratch.claimed[filled] = v
            scratch.lanes[filled] = fresh
            filled += 1
            if filled == BUFFER:
                totals = joined(totals, settle_claims(program, arcs, search, order, policy, board, scratch, filled))
                filled = 0
    return filled, totals


@part
def settle_claims(program, arcs, search, order, policy, board, scratch, filled):
    """Update who was claimed, and queue who changes; totals.

    Not done while claiming: an atomic operation waits for all earlier writes, and these are random ones.
    """
    following = search.fronts[1 - order.turn]
    found, pairs, leaving, carried, kept, live = 0, 0, 0, 0, 0, NONE
    for i in range(filled):
        v = vertex(scratch.claimed, i)
        bits = settle(program, order.step, v, scratch.lanes[i], scratch.counts)
        if bits == NONE:
            continue
        live |= bits
        lanes, degree = popcount(bits), peek(arcs.indptr, v + 1) - peek(arcs.indptr, v)
        pairs += lanes
        carried += lanes * degree
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


@part
def _listen(front, indices, first, last, wanted, early):
    """Join the words of in-neighbours until all that is wanted is there; it, and where the search ended."""
    heard, j = NONE, first
    while j + AT_ONCE <= last:
        for k in range(AT_ONCE):
            heard |= peek(front, vertex(indices, j + k))
        j += AT_ONCE
        if early and wanted & ~heard == NONE:
            return wanted, j
    while j < last:
        heard |= peek(front, vertex(indices, j))
        j += 1
        if early and wanted & ~heard == NONE:
            break
    return heard & wanted, j


@part
def _hear(arcs, front, v, wanted, early):
    """What lanes of a vertex hear, and how many arcs that took."""
    first, last = peek(arcs.indptr, v), peek(arcs.indptr, v + 1)
    heard, j = _listen(front, arcs.indices, first, last, wanted, early)
    return heard, j - first


@part
def pull(program, arcs, out_indptr, search, order, begin, end, policy, scratch):
    """Let the vertices begin..end listen; totals, arcs looked at, who waits on, and the lanes of the next frontier."""
    n = arcs.indptr.size - 1
    front, following = search.fronts[order.turn], search.fronts[1 - order.turn]
    heard = scratch.square[0]
    found, pairs, leaving, carried, looked, waiting, live = 0, 0, 0, 0, 0, 0, NONE
    for base in range(begin, end, SIDE):
        stop, some = min(base + SIDE, end), 0
        for v in range(base, stop):
            wanted = order.live & ~peek(search.seen, v)
            bits = NONE
            if wanted:
                soon = peek(arcs.indptr, min(v + PREFETCH_PULLS, n))
                prefetch(arcs.indices, soon)
                prefetch(arcs.indices, soon + ARCS_A_LINE)
                bits, arcs_read = _hear(arcs, front, v, wanted, policy.early)
                looked += arcs_read
                some += popcount(bits)
                search.seen[v] |= bits
                waiting += bits != wanted
            heard[v - base] = bits
        if some >= SIDE:
            for i in range(stop - base, SIDE):
                heard[i] = NONE
            settle_square(program, order.step, base, scratch.square, scratch.counts)
        elif some:
            # Fewer pairs than lanes: each by itself, rather than lane by lane.
            for v in range(base, stop):
                heard[v - base] = settle(program, order.step, v, heard[v - base], scratch.counts)
        for v in range(base, stop):
            bits = heard[v - base]
            following[v] = bits
            if bits:
                live |= bits
                lanes, degree = popcount(bits), peek(out_indptr, v + 1) - peek(out_indptr, v)
                found += 1
                pairs += lanes
                leaving += degree
                carried += lanes * degree
    return (found, pairs, leaving, carried), looked, waiting, live


@part
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
