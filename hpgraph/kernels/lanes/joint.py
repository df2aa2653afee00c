"""Traversals of up to 64 lanes with one joint frontier, superstep after superstep, in one compiled call.

Three words a vertex: of the lanes that have `seen` it, of those in whose frontier it is, and of those in whose next
frontier. A push offers the word of a vertex along its arcs, and who is new in it is ``front[u] & ~seen[v]``; a pull
joins the words of a vertex's in-neighbours until every lane that still listens has heard (M. Then et al., VLDB'14;
"bottom-up with early termination", H. Liu et al., iBFS, SIGMOD'16). A vertex stands once in the joint frontier.

Properties lie lane after lane, so that a lane's arrays are those of a run of its own. A pull writes them by squares of
64 vertices and 64 lanes: the words of 64 vertices are transposed, and each lane in turn updates its vertices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from hpgraph.kernels.runtime.cpu.bit_matrix import SIDE, transpose
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.claim import BUFFER, cycles, flush
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, prefetch, vertex
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, LOOPS, STEP
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.kernels.runtime.cpu.work_stealing import (
    ALONE,
    OTHER,
    TAIL,
    collect,
    dismiss,
    enter,
    leads,
    leave,
    open_gate,
    report,
    set_out,
    shut_gate,
    take,
)
from hpgraph.kernels.runtime.direction import PULL, PUSH, joint_direction
from hpgraph.kernels.traversal.thin import LEADER_ARCS
from hpgraph.semiring.atomics import atomic_or
from hpgraph.semiring.jit import call
from hpgraph.semiring.stop import is_stopped

# As in `hpgraph.kernels.traversal.direction_optimizing`.
PUSH_ARCS, PUSH_MOST, PULL_ROWS = 512, 64, 1024
PREFETCH_ROWS, PREFETCH_ARCS, PREFETCH_PULLS, ARCS_A_LINE = 8, 4, 32, 16
# A pull becomes a queue before the next push.
LIST = 2
# Words that the leader keeps from one call to the next, behind STEP and ACTIVE: direction; vertices in the queue, or -1
# where there is none; which half of the double buffers is read; pairs of a vertex and a lane in the frontier; arcs that
# leave the joint frontier, and the same for each lane by itself; arcs that the last superstep looked at; vertices that
# may still hear; lanes that still have a frontier; the frontier before.
DIRECTION, LISTED, TURN, PAIRS, ARCS, LANE_ARCS, LOOKED, OPEN, LIVE, ACTIVE_BEFORE, ARCS_BEFORE = range(2, 13)
# Rows of the trace; pairs settled while few lanes met; whether the lanes had better go on one by one.
ROW, APART, PARTED = 13, 14, 15
PROGRESS = 16
# Tallies of a superstep.
FOUND, SETTLED, LEAVING, CARRIED, SEEN, WAITING = range(6)
# On the board: lanes of the next frontier.
_LIVE = OTHER
ONE = np.uint64(1)
NONE = np.uint64(0)

choose_direction = part(joint_direction)


class Program(NamedTuple):
    """A program's functions, as `hpgraph.kernels.runtime.lane_functions` has them; `edge_cond` may be None."""

    gather: Any
    update: Any
    edge_cond: Any


class Search(NamedTuple):
    """Words of the vertices, and queues; of what comes in twos, one half is read and the other filled."""

    seen: Any
    fronts: Any
    queues: Any


class Scratch(NamedTuple):
    """Room of one worker: claims (vertex, lanes, and by whom along which arc), a square of bits twice, messages.

    `by` and `messages` are None where a message is the same whoever sends it, `counts` where nobody counts.
    """

    claimed: Any
    lanes: Any
    by: Any
    square: Any
    messages: Any
    counts: Any


class Order(NamedTuple):
    """What a superstep is to do: its number, which half is read, which lanes live, whether the leader works alone."""

    step: Any
    turn: Any
    live: Any
    alone: Any
    backward: Any


class Shared(NamedTuple):
    """What the workers share; a survey has totals of each lane: reached, levels, last level, and 1 / level summed."""

    board: Any
    progress: Any
    trace: Any
    totals: Any
    inverse: Any


class Policy(NamedTuple):
    """What decides how supersteps go.

    `dead_end`: a vertex that is reached and has up to so many arcs reaches nobody; `early`: whether a pull leaves a row
    once all have heard; `patience`: pairs that may be settled one by one before the lanes part.
    """

    alpha: Any
    beta: Any
    forced: Any
    limit: Any
    dead_end: Any
    early: Any
    patience: Any


@part
def _join(words, v, bits, alone):
    """Set bits of a word; what it was before."""
    if alone:
        before = peek(words, v)
        words[v] = before | bits
        return before
    return atomic_or(words, v, bits)


@part
def _permitted(program, state, n, u, weight, v, bits):
    """The lanes in which a message goes along an arc."""
    if program is not None:
        return _let_through(program.edge_cond, state, n, u, weight, v, bits)
    return bits


@part
def _let_through(edge_cond, state, n, u, weight, v, bits):
    if edge_cond is not None:
        left = bits
        while left:
            lane = lowest_bit(left)
            left &= left - ONE
            at = lane * n
            if not call(edge_cond, state, u, np.uint64(at + u), weight, v, np.uint64(at + v)):
                bits &= ~(ONE << np.uint64(lane))
    return bits


@part
def _settle(program, state, world, step, n, u, weight, v, bits, counts):
    """Send a message from u to v in some lanes, and update v there; the lanes in which it changes."""
    left = bits
    while left:
        lane = lowest_bit(left)
        left &= left - ONE
        refused = _refused(program, state, world, step, n, u, weight, v, lane, counts)
        bits &= ~(np.uint64(refused) << np.uint64(lane))
    return bits


@part
def _refused(program, state, world, step, n, u, weight, v, lane, counts):
    if program is not None:
        at = lane * n
        message = call(program.gather, state, u, np.uint64(at + u), weight, v, np.uint64(at + v))
        return not call(program.update, state, v, np.uint64(at + v), message, world, step)
    _count(counts, lane, 1)
    return False


@part
def _count(counts, lane, number):
    if counts is not None:
        counts[lane] += number


@part
def _push(program, state, world, arcs, search, order, begin, end, policy, board, scratch, filled):
    """Offer the words of queue[begin:end] along their arcs; claims in the scratch, and the totals of those settled."""
    n = arcs.indptr.size - 1
    front, queue = search.fronts[order.turn], search.queues[order.turn]
    totals = (0, 0, 0, 0)
    for i in range(begin, end):
        prefetch(arcs.indptr, vertex(queue, min(i + PREFETCH_ROWS, n - 1)))
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
            fresh = _permitted(program, state, n, u, entry(arcs.data, j), v, fresh)
            if fresh == NONE:
                continue
            fresh &= ~_join(search.seen, v, fresh, order.alone)
            if fresh == NONE:
                continue
            scratch.claimed[filled] = v
            scratch.lanes[filled] = fresh
            _note(scratch.by, filled, u, j)
            filled += 1
            if filled == BUFFER:
                some = _queue(program, state, world, arcs, search, order, policy, board, scratch, filled)
                totals = _sum(totals, some)
                filled = 0
    return filled, totals


@part
def _sum(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


@part
def _note(by, place, u, j):
    if by is not None:
        by[place, 0], by[place, 1] = u, j


@part
def _by(by, place, v):
    """Who claimed, along which arc; where that does not matter, anyone."""
    if by is not None:
        return by[place, 0], by[place, 1]
    return v, 0


@part
def _queue(program, state, world, arcs, search, order, policy, board, scratch, filled):
    """Update who was claimed, and queue who changes: how many vertices, pairs, and arcs of either."""
    n = arcs.indptr.size - 1
    following = search.fronts[1 - order.turn]
    found, pairs, leaving, carried, kept, live = 0, 0, 0, 0, 0, NONE
    for i in range(filled):
        v = vertex(scratch.claimed, i)
        u, j = _by(scratch.by, i, v)
        bits = _settle(
            program, state, world, order.step, n, u, entry(arcs.data, j), v, scratch.lanes[i], scratch.counts
        )
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
        atomic_or(board, _LIVE, np.int64(live))
    return found, pairs, leaving, carried


@part
def _listen(front, indices, first, last, wanted, early):
    """Join the words of in-neighbours until all that is wanted is there; it, and where the search ended."""
    heard, j = NONE, first
    while j + 4 <= last:
        heard |= peek(front, vertex(indices, j)) | peek(front, vertex(indices, j + 1))
        heard |= peek(front, vertex(indices, j + 2)) | peek(front, vertex(indices, j + 3))
        j += 4
        if early and wanted & ~heard == NONE:
            return wanted, j
    while j < last:
        heard |= peek(front, vertex(indices, j))
        j += 1
        if early and wanted & ~heard == NONE:
            break
    return heard & wanted, j


@part
def _hear(program, state, arcs, front, messages, v, wanted, early):
    """What lanes of a vertex hear, and how many arcs that took; messages that depend on who sends are kept."""
    first, last = peek(arcs.indptr, v), peek(arcs.indptr, v + 1)
    if messages is not None:
        return _hear_messages(program, state, arcs, front, messages, v, wanted, early)
    heard, j = _listen(front, arcs.indices, first, last, wanted, early)
    return heard, j - first


@part
def _hear_messages(program, state, arcs, front, messages, v, wanted, early):
    n = arcs.indptr.size - 1
    first, last = peek(arcs.indptr, v), peek(arcs.indptr, v + 1)
    heard, j = NONE, first
    while j < last:
        u = vertex(arcs.indices, j)
        bits = peek(front, u) & wanted & ~heard
        if bits:
            weight = entry(arcs.data, j)
            bits = _permitted(program, state, n, u, weight, v, bits)
            heard |= bits
            while bits:
                lane = lowest_bit(bits)
                bits &= bits - ONE
                at = lane * n
                messages[(lane << 6) + (v & 63)] = call(
                    program.gather, state, u, np.uint64(at + u), weight, v, np.uint64(at + v)
                )
        j += 1
        if early and heard == wanted:
            break
    return heard, j - first


@part
def _message(program, state, messages, lane, at, weight, v):
    if messages is not None:
        return messages[(lane << 6) + (v & 63)]
    return call(program.gather, state, v, np.uint64(at + v), weight, v, np.uint64(at + v))


@part
def _renew(program, state, world, step, n, lane, base, bits, weight, messages):
    """Update those of 64 vertices from `base` on that heard in a lane; who changes."""
    left, at = bits, lane * n
    while left:
        v = base + lowest_bit(left)
        flag = left & (~left + ONE)
        left ^= flag
        message = _message(program, state, messages, lane, at, weight, v)
        if not call(program.update, state, v, np.uint64(at + v), message, world, step):
            bits ^= flag
    return bits


@part
def _deliver(program, state, world, step, n, base, weight, scratch):
    """Update those of 64 vertices that heard, lane after lane; the first half of the square then has who changed."""
    heard, lanes = scratch.square[0], scratch.square[1]
    for i in range(SIDE):
        lanes[i] = heard[i]
    transpose(lanes)
    _deliver_lanes(program, state, world, step, n, base, weight, heard, lanes, scratch.messages, scratch.counts)


@part
def _deliver_lanes(program, state, world, step, n, base, weight, heard, lanes, messages, counts):
    if program is not None:
        _renew_lanes(program, state, world, step, n, base, weight, heard, lanes, messages)
    else:
        for lane in range(SIDE):
            _count(counts, lane, popcount(lanes[lane]))


@part
def _renew_lanes(program, state, world, step, n, base, weight, heard, lanes, messages):
    refused = NONE
    for lane in range(SIDE):
        bits = lanes[lane]
        if bits:
            lanes[lane] = _renew(program, state, world, step, n, lane, base, bits, weight, messages)
            refused |= bits ^ lanes[lane]
    if refused:
        transpose(lanes)
        for i in range(SIDE):
            heard[i] = lanes[i]


@part
def _pull(program, state, world, arcs, out_indptr, search, order, begin, end, policy, scratch):
    """Let the vertices begin..end listen; vertices, pairs, arcs of either, arcs looked at, and who still waits."""
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
                bits, arcs_read = _hear(program, state, arcs, front, scratch.messages, v, wanted, policy.early)
                looked += arcs_read
                some += popcount(bits)
                search.seen[v] |= bits
                waiting += bits != wanted
            heard[v - base] = bits
        if some:
            for i in range(stop - base, SIDE):
                heard[i] = NONE
            _deliver(program, state, world, order.step, n, base, entry(arcs.data, 0), scratch)
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
def _list(out_indptr, search, order, begin, end, policy, board, buffer, filled):
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


@part
def _begin(out_indptr, search, board, progress, policy):
    """By the leader: choose the next superstep's direction, and share out its work, or that of listing the frontier."""
    n = out_indptr.size - 1
    if progress[LISTED] < 0:
        # The frontier has just been listed for a push.
        progress[LISTED] = board[TAIL]
        direction = PUSH
    else:
        direction = policy.forced
        if direction < 0:
            direction = choose_direction(
                progress[DIRECTION], progress[ACTIVE], progress[ACTIVE_BEFORE], progress[ARCS], progress[ARCS_BEFORE],
                progress[LANE_ARCS], popcount(np.uint64(progress[LIVE])), progress[LOOKED], progress[OPEN], n,
                out_indptr[n], policy.alpha, policy.beta,
            )  # fmt: skip
        if direction == PUSH and progress[DIRECTION] == PULL:
            progress[LISTED] = -1
            progress[DIRECTION] = LIST
            board[TAIL] = 0
            set_out(board, 0, n, PULL_ROWS, n <= PULL_ROWS)
            return
    progress[STEP] += 1
    progress[DIRECTION] = direction
    board[TAIL] = 0
    if direction == PUSH:
        queued, arcs = progress[LISTED], progress[ARCS]
        grain = min(max(PUSH_ARCS * queued // max(arcs, 1), 1), PUSH_MOST)
        set_out(board, 0, queued, grain, arcs + queued < LEADER_ARCS)
    else:
        set_out(board, 0, n, PULL_ROWS, n <= PULL_ROWS)


@part
def _end(board, progress):
    """By the leader: collect the tallies of a superstep."""
    progress[ACTIVE_BEFORE], progress[ARCS_BEFORE] = progress[ACTIVE], progress[ARCS]
    progress[ACTIVE], progress[PAIRS] = collect(board, FOUND), collect(board, SETTLED)
    progress[LOOKED], waiting = collect(board, SEEN), collect(board, WAITING)
    if progress[DIRECTION] == PULL:
        progress[OPEN] = waiting
    else:
        progress[LOOKED] = progress[ARCS]
    progress[ARCS], progress[LANE_ARCS] = collect(board, LEAVING), collect(board, CARRIED)
    progress[LISTED] = board[TAIL]
    progress[LIVE] = board[_LIVE]
    board[_LIVE] = 0
    progress[TURN] = 1 - progress[TURN]
    if progress[PAIRS] < 2 * progress[ACTIVE]:
        progress[APART] += progress[PAIRS]


@part
def _total(counts, sums, step):
    """Add what each lane settled in a superstep to its totals."""
    if counts is not None:
        for lane in range(sums.inverse.size):
            count = 0
            for worker in range(counts.shape[0]):
                count += counts[worker, lane]
                counts[worker, lane] = 0
            if count:
                sums.totals[lane, 0] += count
                sums.totals[lane, 1] += count * step
                sums.totals[lane, 2] = step
                sums.inverse[lane] += count / step


@part
def _report(board, totals, alone):
    report(board, FOUND, totals[0], alone)
    report(board, SETTLED, totals[1], alone)
    report(board, LEAVING, totals[2], alone)
    report(board, CARRIED, totals[3], alone)


@part
def _mine(array, worker):
    if array is not None:
        return array[worker]
    return None


@part
def _room(scratch, worker):
    """One worker's share of the scratch."""
    return Scratch(
        scratch.claimed[worker], scratch.lanes[worker], _mine(scratch.by, worker), scratch.square[worker],
        _mine(scratch.messages, worker), _mine(scratch.counts, worker),
    )  # fmt: skip


@part
def _work(worker, program, state, world, out, in_, search, scratch, shared, counts, policy):
    """One worker from the first superstep to the last; the leader goes on while there is room in the trace."""
    board, progress, trace = shared.board, shared.progress, shared.trace
    leading = leads(board)
    turn, began = 0, 0
    while True:
        if leading:
            if progress[LISTED] >= 0:
                began = cycles()
            if progress[APART] > policy.patience:
                progress[PARTED] = 1
            full = progress[ROW] == trace.shape[0]
            over = progress[ACTIVE] == 0 or progress[STEP] == policy.limit or full or progress[PARTED] != 0
            if is_stopped() or (over and progress[LISTED] >= 0):
                dismiss(board)
                break
            _begin(out.indptr, search, board, progress, policy)
            if not board[ALONE]:
                open_gate(board)
        else:
            turn = enter(board, turn)
            if turn < 0:
                break
        direction, alone = progress[DIRECTION], board[ALONE] != 0
        order = Order(progress[STEP], progress[TURN], np.uint64(progress[LIVE]), alone, worker & 1 == 1)
        filled = 0
        if direction == PUSH:
            totals = (0, 0, 0, 0)
            while True:
                begin, end = take(board, worker, alone)
                if begin == end:
                    break
                filled, some = _push(
                    program, state, world, out, search, order, begin, end, policy, board, scratch, filled
                )
                totals = _sum(totals, some)
            some = _queue(program, state, world, out, search, order, policy, board, scratch, filled)
            _report(board, _sum(totals, some), alone)
        elif direction == LIST:
            while True:
                begin, end = take(board, worker, alone)
                if begin == end:
                    break
                filled = _list(out.indptr, search, order, begin, end, policy, board, scratch.claimed, filled)
            flush(scratch.claimed, filled, search.queues[order.turn], board)
        else:
            totals, looked, waiting, live = (0, 0, 0, 0), 0, 0, NONE
            while True:
                begin, end = take(board, worker, alone)
                if begin == end:
                    break
                some, arcs, open_, heard = _pull(
                    program, state, world, in_, out.indptr, search, order, begin, end, policy, scratch
                )
                totals = _sum(totals, some)
                looked += arcs
                waiting += open_
                live |= heard
            _report(board, totals, alone)
            report(board, SEEN, looked, alone)
            report(board, WAITING, waiting, alone)
            atomic_or(board, _LIVE, np.int64(live))
        if leading:
            if not alone:
                shut_gate(board)
            if direction != LIST:
                active = progress[ACTIVE]
                _end(board, progress)
                _total(counts, shared, progress[STEP])
                row = progress[ROW]
                progress[ROW] = row + 1
                trace[row, 0], trace[row, 1], trace[row, 2] = direction, active, progress[LOOKED]
                trace[row, 3], trace[row, 4] = cycles() - began, progress[PAIRS]
        else:
            leave(board)


@njit(parallel=LOOPS, cache=True, nogil=True)
def run_supersteps(program, state, world, out, in_, search, shared, scratch, policy):
    """Run supersteps until nobody is active, or the limit, or the trace is full, or the lanes had better part.

    A call with the arrays of the last one, a fresh gate and a longer trace goes on.
    """
    for worker in prange(scratch.claimed.shape[0]):
        _work(np.int64(worker), program, state, world, out, in_, search, _room(scratch, worker),
              shared, scratch.counts, policy)
