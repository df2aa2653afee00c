"""Multi-source traversal of up to 64 sources with a joint frontier, in one compiled call.

One parallel region spans all supersteps, as in a traversal from one source
(`hpgraph.kernels.traversal.direction_optimizing`). A superstep pushes from the queue of the joint frontier, or every
vertex pulls that is unsettled in a live source (`hpgraph.kernels.traversal.joint_steps`). If the frontiers hardly
overlap, separate searches are faster: the run predicts that and returns.
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu.bits import popcount
from hpgraph.kernels.runtime.cpu.claim import flush
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import is_stopped, njit, part
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, STEP, cycles
from hpgraph.kernels.runtime.cpu.work_stealing import (
    ALONE,
    TAIL,
    begin_together,
    collect,
    end_together,
    leads,
    report,
    set_out,
    take,
)
from hpgraph.kernels.runtime.direction import PULL, PUSH, Seen, traversal_direction
from hpgraph.kernels.traversal.delivery import NONE, running
from hpgraph.kernels.traversal.direction_optimizing import PULL_ROWS, PUSH_ARCS, PUSH_MAX
from hpgraph.kernels.traversal.joint_steps import LIVING, Order, Scratch, joined, list_front, pull, push, settle_claims
from hpgraph.kernels.traversal.thin import LEADER_ARCS
from hpgraph.semiring.atomics import atomic_or

# Testing a word costs as much as testing the bits of this many searches: fewer sources do not share a frontier.
WORD_COST = 6
# After a pull, the frontier is listed before the next push.
LIST = 2
# Words of the progress that persist between calls, after STEP and ACTIVE: direction; vertices in the queue, or -1
# while it is filled; which half of the double buffers is read; pairs of a vertex and a source in the frontier; out-arcs
# of the joint frontier, and of the separate frontiers; arcs that the last superstep examined; unsettled vertices;
# sources with a non-empty frontier; the size of the last frontier, and its arcs.
DIRECTION, LISTED, TURN, PAIRS, ARCS, SOURCE_ARCS, EXAMINED, OPEN, LIVE, ACTIVE_BEFORE, ARCS_BEFORE = range(2, 13)
# Rows of the trace; by how many arcs of a separate search the joint run has cost more than all of these; whether to
# continue with separate searches.
ROW, LOSS, SEPARATE = range(13, 16)
PROGRESS = 16
# Excess cost allowed to a joint run, in separate searches: frontiers may overlap later.
MAX_LOSS = 2
# Tallies of a superstep.
FOUND, SETTLED, LEAVING, CARRIED, SEEN, WAITING = range(6)

choose_direction = part(traversal_direction)


# State shared by the workers; totals of a survey: reached, levels, last level, and sum of 1 / level by source.
Shared = namedtuple("Shared", "board progress trace totals inverse")


@part(counts_references=False)
def _begin(out_indptr, board, progress, policy):
    """By the leader: choose the next superstep's direction, and set up its chunks, or those of listing the frontier."""
    n = out_indptr.size - 1
    if progress[LISTED] < 0:
        # The frontier was listed for a push.
        progress[LISTED] = board[TAIL]
        direction = PUSH
    else:
        direction = policy.forced
        if direction < 0:
            seen = Seen(
                progress[DIRECTION], progress[ACTIVE], progress[ACTIVE_BEFORE], progress[ARCS], progress[ARCS_BEFORE],
                progress[EXAMINED], progress[OPEN], progress[SOURCE_ARCS], popcount(np.uint64(progress[LIVE])),
            )  # fmt: skip
            direction = choose_direction(seen, 0, n, out_indptr[n], policy.alpha, policy.beta)
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
        grain = min(max(PUSH_ARCS * queued // max(arcs, 1), 1), PUSH_MAX)
        set_out(board, 0, queued, grain, arcs + queued < LEADER_ARCS)
    else:
        set_out(board, 0, n, PULL_ROWS, n <= PULL_ROWS)


@part(counts_references=False)
def _total(counts, sums, step):
    """Add the vertices settled in a superstep to the totals of each source."""
    if counts is not None:
        for source in range(sums.inverse.size):
            count = 0
            for worker in range(counts.shape[0]):
                count += counts[worker, source]
                counts[worker, source] = 0
            if count:
                sums.totals[source, 0] += count
                sums.totals[source, 1] += count * step
                sums.totals[source, 2] = step
                sums.inverse[source] += count / step


@part(counts_references=False)
def _end(shared, counts, all_arcs, began):
    """By the leader: collect the tallies of a superstep, and log it."""
    board, progress, trace = shared.board, shared.progress, shared.trace
    active, arcs, carried = progress[ACTIVE], progress[ARCS], progress[SOURCE_ARCS]
    progress[ACTIVE_BEFORE], progress[ARCS_BEFORE] = progress[ACTIVE], progress[ARCS]
    progress[ACTIVE], progress[PAIRS] = collect(board, FOUND), collect(board, SETTLED)
    progress[EXAMINED], waiting = collect(board, SEEN), collect(board, WAITING)
    if progress[DIRECTION] == PULL:
        progress[OPEN] = waiting
    else:
        progress[EXAMINED] = progress[ARCS]
    progress[ARCS], progress[SOURCE_ARCS] = collect(board, LEAVING), collect(board, CARRIED)
    progress[LISTED] = board[TAIL]
    progress[LIVE] = board[LIVING]
    board[LIVING] = 0
    progress[TURN] = 1 - progress[TURN]
    _total(counts, shared, progress[STEP])
    row = progress[ROW]
    progress[ROW] = row + 1
    trace[row, 0], trace[row, 1], trace[row, 2] = progress[DIRECTION], active, progress[EXAMINED]
    trace[row, 3], trace[row, 4] = cycles() - began, progress[PAIRS]
    if progress[DIRECTION] == PUSH:
        progress[LOSS] += WORD_COST * arcs - carried
        sparse = progress[SOURCE_ARCS] < WORD_COST * progress[ARCS]
        progress[SEPARATE] = sparse and progress[LOSS] > MAX_LOSS * all_arcs


@part(counts_references=False)
def _report(board, totals, alone):
    report(board, FOUND, totals[0], alone)
    report(board, SETTLED, totals[1], alone)
    report(board, LEAVING, totals[2], alone)
    report(board, CARRIED, totals[3], alone)


@part(counts_references=False)
def _work(worker, program, out, in_, search, shared, space, counts, policy):
    """One worker from the first superstep to the last; the leader continues while there is room in the trace."""
    own = None
    if counts is not None:
        own = counts[worker]
    scratch = Scratch(space.claimed[worker], space.sources[worker], space.square[worker], own)
    board, progress = shared.board, shared.progress
    leading = leads(board)
    turn, began, goes_on = 0, 0, False
    while True:
        if leading:
            if progress[LISTED] >= 0:
                began = cycles()
            full = progress[ROW] == shared.trace.shape[0]
            over = progress[ACTIVE] == 0 or progress[STEP] == policy.limit or full or progress[SEPARATE] != 0
            goes_on = not (is_stopped() or (over and progress[LISTED] >= 0))
            if goes_on:
                _begin(out.indptr, board, progress, policy)
        turn = begin_together(board, leading, goes_on, turn)
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
                filled, sums = push(program, out, search, order, begin, end, policy, board, scratch, filled)
                totals = joined(totals, sums)
            sums = settle_claims(program, out, search, order, policy, board, scratch, filled)
            _report(board, joined(totals, sums), alone)
        elif direction == LIST:
            while True:
                begin, end = take(board, worker, alone)
                if begin == end:
                    break
                filled = list_front(out.indptr, search, order, begin, end, policy, board, scratch.claimed, filled)
            flush(scratch.claimed, filled, search.queues[order.turn], board)
        else:
            totals, examined, waiting, live = (0, 0, 0, 0), 0, 0, NONE
            while True:
                begin, end = take(board, worker, alone)
                if begin == end:
                    break
                sums, arcs, open_, received = pull(program, in_, out.indptr, search, order, begin, end, policy, scratch)
                totals = joined(totals, sums)
                examined += arcs
                waiting += open_
                live |= received
            _report(board, totals, alone)
            report(board, SEEN, examined, alone)
            report(board, WAITING, waiting, alone)
            atomic_or(board, LIVING, np.int64(live))
        end_together(board, leading)
        if leading and direction != LIST:
            _end(shared, counts, out.indptr[out.indptr.size - 1], began)


@njit(cache=True, nogil=True, counts_references=False)
def run_supersteps(program, state, world, out, in_, search, shared, scratch, policy):
    """Run supersteps until no vertex is active, or to the limit, or the trace is full, or separate searches are faster.

    A call with the same arrays, a fresh gate and a longer trace continues.
    """
    program = running(program, state, world, out.indptr.size - 1)
    given = program, out, in_, search, shared, scratch, scratch.counts, policy
    in_parallel(scratch.claimed.shape[0], _work, given)
