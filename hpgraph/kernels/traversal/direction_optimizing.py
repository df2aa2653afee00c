"""Direction-optimizing breadth-first search and similar programs (the first message wins) in one compiled call.

A superstep is either top-down or bottom-up: it pushes from the queue of active vertices, or every unsettled vertex
pulls until it finds one active in-neighbour (S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first
search", SC'12). The loop over supersteps is inside the kernel (the kernel fusion of H. Liu and H. H. Huang, SIMD-X,
ATC'19), in one parallel region for the whole run (`hpgraph.kernels.runtime.cpu.work_stealing`), so a road network of
thousands of levels pays neither a return to Python nor a parallel region for each.

A vertex is settled by its first message. Its bit in `settled` is the test before a claim and the claim itself, and lets
a pull skip 64 settled vertices by one comparison. The queue is GAPBS's sliding queue (arXiv:1508.03619): one array to
which each vertex is appended once; a superstep's frontier is the window after the last superstep's.
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu.bits import lowest_bit
from hpgraph.kernels.runtime.cpu.claim import AT_ONCE, BUFFER, bit, claim, clear, flush, list_bits, mark, test
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.functions_tuple import functions_tuple
from hpgraph.kernels.runtime.cpu.kernel import is_stopped, njit, part
from hpgraph.kernels.runtime.cpu.prefetch import peek, prefetch, prefetch_each, rolled, vertex
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, STEP, cycles, log
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.kernels.runtime.cpu.work_stealing import (
    ALONE,
    LINE,
    OTHER,
    TAIL,
    begin_together,
    collect,
    end_together,
    is_single,
    leads,
    report,
    set_out,
    take,
)
from hpgraph.kernels.runtime.direction import PULL, PUSH, REACHED, Seen, traversal_direction
from hpgraph.kernels.traversal.thin import (
    ARCS_A_LINE,
    LEADER_ARCS,
    LONE_ARCS,
    PREFETCH_ARCS,
    PREFETCH_ROWS,
    THIN,
    Front,
    push_thin,
)
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.jit import call

# Push chunk: at most 512 out-arcs (on average) and 64 vertices. Pull chunk: 1,024 rows, a multiple of 64 so that each
# word of the next bitmask has one writer.
PUSH_ARCS, PUSH_MAX, PULL_ROWS = 512, 64, 1024
# Prefetch distance of a pull for first arcs, in vertices.
PREFETCH_PULLS = 32
# Words of the progress that persist between calls, after STEP and ACTIVE; then the tallies of a superstep.
DIRECTION, HEAD, ARCS, EXAMINED, QUEUED, SWAPPED, OPEN, ACTIVE_BEFORE, ARCS_BEFORE = range(2, 11)
# Filled rows of the trace, and of the table of thin supersteps.
ROW, THIN_ROW = 11, 12
PROGRESS = 13
FOUND, LEAVING, SEEN = range(3)
# On the board: the end of the queue when the superstep began, and how many workers have appended to it since.
_TO, _ADDED = OTHER, OTHER + LINE

_choose_direction = part(traversal_direction)


# The program's functions of an arc, and of a vertex that receives. Properties and parameters are passed beside them,
# and thin supersteps return their numbers: in fewer arguments, searches took 1.03 to 1.06 times as long.
Functions = functions_tuple(__name__, "Functions", "gather update edge_cond")

# Work space of a run: the queue; bitmaps of the settled vertices and of two frontiers; shared state; the trace.
# At first `settled` has the bits of the sources and of vertices that may not receive; bits past the last vertex are
# set. `queue[:board[TAIL]]` holds the sources. `progress` has their number and that of their arcs, and zeros. Every
# superstep writes a row of the trace (direction, active vertices, arcs examined, cycles) or of `thin`.
Space = namedtuple("Space", "queue settled active reached board progress trace thin")

# Each worker's buffer of claimed vertices, and of their messages.
Claims = namedtuple("Claims", "buffers messages")

# The same of one worker, and whether it reads the arcs of a vertex from the last.
Own = namedtuple("Own", "buffer messages backward")


# Thresholds of the direction, or a forced direction, and the limit to the supersteps. A reached vertex with up to
# `dead_end` arcs reaches no unsettled vertex: 0, or 1 in a symmetric graph, where its one arc leads back.
Policy = namedtuple("Policy", "alpha beta forced limit dead_end")


@part
def _push(does, state, world, out, space, begin, end, dead_end, own, filled):
    """Top-down step: send a message along every arc that leaves queue[begin:end].

    A claimed vertex is appended to the worker's `own` buffer with its message, behind ``filled`` others. Returns the
    number in the buffer; and, of the vertices updated when the buffer was full, the number that changed and their
    out-arcs.
    """
    indptr, indices, queue, settled = out.indptr, out.indices, space.queue, space.settled
    buffer, messages, alone = own.buffer, own.messages, space.board[ALONE] != 0
    found, arcs = 0, 0
    ahead = space.board[_TO] - 1
    for i in range(begin, end):
        # Prefetch beyond this chunk: the same worker usually takes the next one.
        prefetch(indptr, vertex(queue, min(i + PREFETCH_ROWS, ahead)))
        soon = peek(indptr, vertex(queue, min(i + PREFETCH_ARCS, ahead)))
        # Unrolled by hand: a loop would take longer to compile.
        prefetch(indices, soon)
        prefetch(indices, soon + ARCS_A_LINE)
        prefetch(indices, soon + 2 * ARCS_A_LINE)
        u = vertex(queue, i)
        first, last = peek(indptr, u), peek(indptr, u + 1)
        for k in range(last - first):
            rolled()
            j = last - 1 - k if own.backward else first + k
            v = vertex(indices, j)
            if test(settled, v):
                continue
            weight = entry(out.data, j)
            if not (call(does.edge_cond, state, u, weight, v) and claim(settled, v, alone)):
                continue
            prefetch(indptr, v)
            prefetch_each(state, v)
            buffer[filled] = v
            messages[filled] = call(does.gather, state, u, weight, v)
            filled += 1
            if filled == BUFFER:
                changed, leaving = _update_claimed(does, state, world, out, space, dead_end, own, filled)
                found += changed
                arcs += leaving
                filled = 0
    return filled, found, arcs


@part
def _update_claimed(does, state, world, out, space, dead_end, own, filled):
    """Update the vertices in a buffer; return how many change, and their out-arcs.

    Changed vertices are appended to the queue, except dead ends, with up to ``dead_end`` arcs: they count as active,
    but have no arc to an unsettled vertex.

    Updates are separate from claims since an atomic operation waits for all earlier writes, and these are random ones.
    """
    buffer, messages, step = own.buffer, own.messages, space.progress[STEP]
    changed, arcs, kept = 0, 0, 0
    for i in range(filled):
        rolled()
        v = vertex(buffer, i)
        if call(does.update, state, v, messages[i], world, step):
            degree = peek(out.indptr, v + 1) - peek(out.indptr, v)
            changed += 1
            arcs += degree
            buffer[kept] = v
            # Branch-free: the branch is unpredictable.
            kept += degree > dead_end
    flush(buffer, kept, space.queue, space.board)
    return changed, arcs


@part
def _pull(does, state, world, in_, out, space, begin, end):
    """Bottom-up step: each unsettled vertex of begin..end searches for one active in-neighbour.

    Returns how many vertices changed, their out-arcs, and the arcs examined.
    """
    indptr, indices, settled, progress = in_.indptr, in_.indices, space.settled, space.progress
    step, count, swapped = progress[STEP], progress[ACTIVE], progress[SWAPPED] != 0
    active, reached = (space.reached, space.active) if swapped else (space.active, space.reached)
    found, arcs, examined = 0, 0, 0
    n = indptr.size - 1
    # The last arc from which several neighbours are tested together; none if most vertices are active, since then the
    # first neighbour usually is.
    several = indices.size - AT_ONCE if 2 * count < n else -1
    for word in range(begin >> 6, (end + 63) >> 6):
        hits, bits = np.uint64(0), np.uint64(0)
        open_ = ~settled[word]
        while open_:
            v = (word << 6) + lowest_bit(open_)
            flag = open_ & (~open_ + np.uint64(1))
            open_ ^= flag
            first, last = peek(indptr, v), peek(indptr, v + 1)
            soon = peek(indptr, min(v + PREFETCH_PULLS, n))
            prefetch(indices, soon)
            prefetch(indices, soon + ARCS_A_LINE)
            j = first
            while j < last:
                # Branch-free for all AT_ONCE, even those past the row's end: the first active one is unpredictable.
                if j <= several:
                    active_bits = np.uint64(0)
                    for k in range(AT_ONCE):
                        active_bits |= bit(active, vertex(indices, j + k)) << np.uint64(k)
                    if last - j < AT_ONCE:
                        active_bits &= (np.uint64(1) << np.uint64(last - j)) - np.uint64(1)
                    if not active_bits:
                        j += AT_ONCE
                        continue
                    j += lowest_bit(active_bits)
                elif not test(active, vertex(indices, j)):
                    j += 1
                    continue
                u, weight = vertex(indices, j), entry(in_.data, j)
                j += 1
                if call(does.edge_cond, state, u, weight, v):
                    hits |= flag
                    if call(does.update, state, v, call(does.gather, state, u, weight, v), world, step):
                        bits |= flag
                        found += 1
                        arcs += peek(out.indptr, v + 1) - peek(out.indptr, v)
                    break
            examined += min(j, last) - first
        reached[word] = bits
        settled[word] |= hits
    return found, arcs, examined


@part
def _begin(indptr, space, policy):
    """By the leader: choose the next superstep's direction, and set up its chunks."""
    queue, board, progress, n = space.queue, space.board, space.progress, indptr.size - 1
    count, arcs = progress[ACTIVE], progress[ARCS]
    direction = policy.forced
    if direction < 0:
        seen = Seen(
            progress[DIRECTION], count, progress[ACTIVE_BEFORE], arcs, progress[ARCS_BEFORE], progress[EXAMINED],
            progress[OPEN], arcs, 1,
        )  # fmt: skip
        direction = _choose_direction(seen, REACHED, n, indptr[n], policy.alpha, policy.beta)
    front = space.reached if progress[SWAPPED] else space.active
    if direction == PUSH and not progress[QUEUED]:
        progress[HEAD] = board[TAIL]
        board[TAIL] = list_bits(front, queue, board[TAIL])
        progress[QUEUED] = 1
    elif direction == PULL and progress[QUEUED]:
        clear(front)
        # Without the dead ends: all their neighbours are settled.
        for i in range(progress[HEAD], board[TAIL]):
            mark(front, vertex(queue, i))
        progress[QUEUED] = 0
    progress[STEP] += 1
    progress[DIRECTION] = direction
    board[_TO] = board[TAIL]
    board[_ADDED] = 0
    if direction == PUSH:
        queued = board[_TO] - progress[HEAD]
        arcs -= policy.dead_end * (count - queued)
        grain = min(max(PUSH_ARCS * queued // max(arcs, 1), 1), PUSH_MAX)
        set_out(board, progress[HEAD], board[_TO], grain, arcs + queued < LEADER_ARCS)
    else:
        set_out(board, 0, n, PULL_ROWS, n <= PULL_ROWS)


@part
def _end(board, progress):
    """By the leader: collect the tallies of a superstep."""
    progress[ACTIVE_BEFORE], progress[ARCS_BEFORE] = progress[ACTIVE], progress[ARCS]
    progress[ACTIVE], progress[EXAMINED] = collect(board, FOUND), collect(board, SEEN)
    if progress[DIRECTION] == PUSH:
        progress[EXAMINED] = progress[ARCS]
        progress[HEAD] = board[_TO]
    else:
        progress[SWAPPED] = 1 - progress[SWAPPED]
    progress[ARCS] = collect(board, LEAVING)
    progress[OPEN] -= progress[ACTIVE]


@part
def _run_thin(does, state, world, out, space, policy, most, began):
    """The current superstep and all thin ones after it, by the leader without the board."""
    board, progress = space.board, space.progress
    before = progress[STEP] - 1
    # Number of arcs beyond which `_begin` chooses the direction.
    few = np.inf if policy.forced >= 0 else policy.alpha * out.indptr[out.indptr.size - 1]
    front = Front(
        progress[HEAD], board[TAIL], progress[ACTIVE], progress[ARCS], progress[OPEN], before, progress[THIN_ROW]
    )
    front, progress[ACTIVE_BEFORE], progress[ARCS_BEFORE] = push_thin(
        does, state, world, out, space, policy, front, most, few
    )
    (progress[HEAD], board[TAIL], progress[ACTIVE], progress[ARCS], progress[OPEN], progress[STEP],
     progress[THIN_ROW]) = front  # fmt: skip
    progress[EXAMINED] = progress[ARCS_BEFORE]
    progress[ROW] += 1
    log(space.trace, progress[ROW], THIN, progress[STEP] - before, 0, cycles() - began)


@part(counts_references=False)
def work(worker, does, state, world, out, in_, space, claims, policy):
    """One worker from the first superstep to the last; the leader continues while there is room in the trace."""
    board, progress = space.board, space.progress
    # Neighbours often share neighbours: workers that scan in opposite orders contend less for them.
    own = Own(claims.buffers[worker], claims.messages[worker], worker & 1 == 1)
    leading = leads(board)
    most = LONE_ARCS if is_single(board) else LEADER_ARCS
    turn, began, part, goes_on = 0, 0, worker, False
    while True:
        if leading:
            began = cycles()
            full = progress[ROW] == space.trace.shape[0] or progress[THIN_ROW] == space.thin.shape[0]
            goes_on = not (progress[ACTIVE] == 0 or progress[STEP] == policy.limit or full or is_stopped())
            if goes_on:
                _begin(out.indptr, space, policy)
                if progress[DIRECTION] == PUSH and progress[ACTIVE] + progress[ARCS] < most:
                    _run_thin(does, state, world, out, space, policy, most, began)
                    continue
        turn = begin_together(board, leading, goes_on, turn)
        if turn < 0:
            break
        direction, alone = progress[DIRECTION], board[ALONE] != 0
        if direction == PUSH:
            filled, found, arcs = 0, 0, 0
            while True:
                begin, end = take(board, part, alone)
                if begin == end:
                    break
                filled, changed, leaving = _push(
                    does, state, world, out, space, begin, end, policy.dead_end, own, filled
                )
                found += changed
                arcs += leaving
            changed, leaving = _update_claimed(does, state, world, out, space, policy.dead_end, own, filled)
            report(board, FOUND, found + changed, alone)
            report(board, LEAVING, arcs + leaving, alone)
            if not alone:
                # In the next superstep begin with the part of the queue that this worker appended.
                part = fetch_add(board, _ADDED, 1)
        else:
            found, arcs, examined = 0, 0, 0
            while True:
                begin, end = take(board, worker, alone)
                if begin == end:
                    break
                f, a, s = _pull(does, state, world, in_, out, space, begin, end)
                found += f
                arcs += a
                examined += s
            report(board, FOUND, found, alone)
            report(board, LEAVING, arcs, alone)
            report(board, SEEN, examined, alone)
        end_together(board, leading)
        if leading:
            _end(board, progress)
            progress[ROW] += 1
            log(space.trace, progress[ROW], direction, progress[ACTIVE_BEFORE], progress[EXAMINED], cycles() - began)


@njit(cache=True, nogil=True)
def run_supersteps(does, state, world, by_source, by_target, room, buffers, choices):
    """Run supersteps until no vertex is active, or the limit, or the trace or the table of thin ones is full.

    A call with the same arrays, a fresh gate and a longer trace continues. The tuples of arcs, space, claims and policy
    are plain ones, which Numba recognizes sooner.
    """
    out_indptr, out_indices, out_data = by_source
    in_indptr, in_indices, in_data = by_target
    out, in_ = Rows(out_indptr, out_indices, out_data, True), Rows(in_indptr, in_indices, in_data, True)
    space, claims, policy = Space(*room), Claims(*buffers), Policy(*choices)
    in_parallel(claims.buffers.shape[0], work, (does, state, world, out, in_, space, claims, policy))
