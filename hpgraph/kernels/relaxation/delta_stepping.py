"""Delta-stepping and Bellman–Ford: messages lower values in place, and a vertex that changed sends again.

The label-correcting loop for any idempotent monoid (min for distances, max for widths, ...) in one compiled call.
In one bucket it is Bellman–Ford. In several it is delta-stepping: vertices of better values send first (U. Meyer,
P. Sanders, "Δ-stepping: a parallelizable shortest path algorithm", J. Algorithms, 2003), and a worker continues alone
with the few vertices that fall back into the current bucket (the bucket fusion of Y. Zhang et al., "Optimizing ordered
graph algorithms with GraphIt", CGO'20). The width of a bucket is given, or follows from the values that wait.
"""

from collections import namedtuple

from hpgraph.kernels.relaxation.buckets import (
    BLOCK,
    BUCKETS,
    DENSITY,
    LOST,
    NARROWEST,
    ORIGIN,
    SPAN,
    Store,
    bucket_of,
    draw,
    draw_all,
    give_back,
    hand_back,
    is_short,
    last_block,
    put,
    recover,
    spread,
)
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.functions_tuple import functions_tuple
from hpgraph.kernels.runtime.cpu.kernel import is_stopped, njit, part
from hpgraph.kernels.runtime.cpu.prefetch import fence, peek, peek_after, prefetch, vertex
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, STEP, cycles, log
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.weights import entry, prefetch_entry
from hpgraph.kernels.runtime.cpu.work_stealing import (
    ALONE,
    begin_together,
    collect,
    end_together,
    leads,
    report,
    set_out,
    take,
)
from hpgraph.kernels.runtime.direction import PUSH
from hpgraph.kernels.traversal.thin import LEADER_ARCS
from hpgraph.semiring.atomics import compare_and_swap
from hpgraph.semiring.jit import call

# Bucket fusion: a worker continues with its own bucket while it has at most this many blocks, for at most this many
# arcs.
MAX_OWN_BLOCKS, MAX_OWN_ARCS = 16, 4096
# Capacity of the ring buffer for such vertices while they fit one block; a power of two.
FIFO = 256
# A frontier of fewer blocks is divided into chunks of an eighth of a block, so that every worker gets some.
MIN_BLOCKS = 32
# Prefetch distance in senders; arcs prefetched of each; arcs in a cache line.
PREFETCH_SENDERS, PREFETCH_MAX, PREFETCH_STRIDE = 8, 64, 8
# A superstep costs 0.3 µs alone and 1 to 2 µs with helpers, as much as some thousand arcs. Buckets widen where
# supersteps send fewer than MIN_ARCS arcs, and narrow to the first width if these send NARROWING times as many.
MIN_ARCS, NARROWING = 1024, 16
# Arcs of a superstep to aim at if no width is given. The width is adapted every `BUCKETS` supersteps at least: values
# that decay, as products of probabilities do, would come to lie in one bucket.
TARGET_ARCS = 2048
# Without a given width, buckets begin once the arcs of the vertices reached were sent `UNORDERED_PASSES` times: to
# order costs more than it saves a search that repeats less, as on a graph of low diameter. They are given up after all
# arcs were sent `ORDERED_PASSES` times: if messages may be better than the value of their sender, best values first
# repeats ever more work.
UNORDERED_PASSES, ORDERED_PASSES = 4, 16
# Reached arcs are estimated from the targets of this many arcs, evenly spaced, once MIN_REACHED are reached.
SAMPLE, MIN_REACHED = 1024, 32
# Words of the progress that persist between calls, after STEP and ACTIVE: the current bucket; the superstep at which
# the buckets were last filled, the arcs sent since, and those before; and the arcs at which to look whether the search
# repeats itself. Then the tallies of a superstep.
NOW, SINCE, ARCS, TOTAL, NEXT_CHECK = range(2, 7)
PROGRESS = 7
SENDERS, SENT = range(2)


# The program's functions.
Functions = functions_tuple(__name__, "Functions", "gather reduce cond edge_cond")


# The value beyond which a vertex does not send, state of the leader, and the limit to the supersteps. `scale` holds
# where buckets begin and how narrow they are (`hpgraph.kernels.relaxation.buckets`); `initial` the first values of the
# vertices in `sample`.
Course = namedtuple("Course", "ceiling progress scale sample initial trace limit")

# The ceiling; where buckets begin, their number per unit of value, the current one, and whether one worker is alone.
Superstep = namedtuple("Superstep", "ceiling origin density now alone")


@part(forceinline=True)
def _relax_arc(does, state, out, waiting, u, j, step):
    """Relax the j-th arc, from u; return the bucket to put its target in, or -1."""
    v = vertex(out.indices, j)
    if not call(does.cond, state, v):
        return -1
    weight = entry(out.data, j)
    if not call(does.edge_cond, state, u, weight, v):
        return -1
    values, message = state[0], call(does.gather, state, u, weight, v)
    while True:
        old = values[v]
        new = call(does.reduce, old, message)
        # A NaN never equals itself: it must not count as a change each time.
        if new == old or new != new:
            return -1
        if step.alone:
            values[v] = new
            break
        if compare_and_swap(values, v, old, new):
            break
    if new > step.ceiling:
        return -1
    bucket = bucket_of(new, step.origin, step.density, step.now)
    # A waiting vertex is already in the bucket of its value.
    if peek_after(waiting, v) and bucket_of(old, step.origin, step.density, step.now) == bucket:
        return -1
    waiting[v] = 1
    return bucket


@part(forceinline=True)
def _prefetch_row(out, u):
    """Prefetch the first out-arcs of a vertex."""
    first, last = peek(out.indptr, u), peek(out.indptr, u + 1)
    prefetch(out.indices, first)
    prefetch_entry(out.data, first)
    for j in range(first + PREFETCH_STRIDE, min(last, first + PREFETCH_MAX), PREFETCH_STRIDE):
        prefetch(out.indices, j)
        prefetch_entry(out.data, j)


@part(counts_references=False)
def _relax(does, state, out, waiting, row, store, begin, end, step):
    """Relax the out-arcs of the waiting vertices in store[begin:end]; return their number, and the arcs relaxed."""
    indptr, indices, vertices = out.indptr, out.indices, store.vertices
    stop, sent = begin, 0
    for i in range(begin, end):
        u = vertex(vertices, i)
        vertices[stop] = u
        stop += peek(waiting, u)
        waiting[u] = 0
        prefetch(indptr, u)
    if not step.alone:
        # The flag is cleared before the value is read: a later improvement sets it again, an earlier one is read below.
        fence()
    for i in range(begin - PREFETCH_SENDERS, stop):
        if i + PREFETCH_SENDERS < stop:
            _prefetch_row(out, vertex(vertices, i + PREFETCH_SENDERS))
        if i < begin:
            continue
        u = vertex(vertices, i)
        first, last = peek(indptr, u), peek(indptr, u + 1)
        sent += last - first
        for j in range(first, last):
            bucket = _relax_arc(does, state, out, waiting, u, j, step)
            if bucket >= 0:
                # `put` inlined for a place within a block: a call would pass the whole store.
                place = row[bucket]
                if place % BLOCK != 0:
                    vertices[place] = vertex(indices, j)
                    row[bucket] = place + 1
                else:
                    put(vertex(indices, j), bucket, row, store)
    return stop - begin, sent


@part(counts_references=False)
def _relax_fifo(does, state, out, waiting, row, store, fifo, count, most, step):
    """The same for ``count`` vertices in a ring buffer, and for those that fall into the current bucket meanwhile.

    The ring is a FIFO queue, and avoids allocating a block for each vertex: a thin bucket holds one or two. Ends when
    the ring is empty or ``most`` arcs were relaxed; the remaining vertices are put back.
    """
    indptr, indices = out.indptr, out.indices
    head, senders, sent = 0, 0, 0
    while head < count and sent < most:
        u = vertex(fifo, head & (FIFO - 1))
        head += 1
        if peek(waiting, u) == 0:
            continue
        waiting[u] = 0
        if not step.alone:
            fence()
        if head < count:
            prefetch(indices, peek(indptr, vertex(fifo, head & (FIFO - 1))))
        first, last = peek(indptr, u), peek(indptr, u + 1)
        senders += 1
        sent += last - first
        for j in range(first, last):
            bucket = _relax_arc(does, state, out, waiting, u, j, step)
            if bucket == step.now and count - head < FIFO:
                v = vertex(indices, j)
                fifo[count & (FIFO - 1)] = v
                count += 1
                prefetch(indptr, v)
            elif bucket >= 0:
                put(vertex(indices, j), bucket, row, store)
    for i in range(head, count):
        put(vertex(fifo, i & (FIFO - 1)), step.now, row, store)
    return senders, sent


@part
def _adapt(progress, scale, all_arcs):
    """Choose the width of the next buckets from the arcs that a superstep of the last ones sent.

    Wide buckets repeat work, and narrow ones leave a superstep too little; the best width depends on the number of arcs
    waiting at a time, which no mean over the graph predicts. If a bucket is nearly empty, one twice as wide has little
    to repeat.
    """
    steps, arcs = progress[STEP] - progress[SINCE], progress[ARCS]
    progress[TOTAL] += arcs
    if scale[SPAN] > 0:
        scale[SPAN] = max(scale[SPAN] * min(max(arcs / (TARGET_ARCS * max(steps, 1)), 0.5), 8.0), 1.0)
        if progress[TOTAL] > ORDERED_PASSES * all_arcs:
            scale[SPAN] = scale[DENSITY] = 0
    elif scale[SPAN] == 0:
        if arcs < MIN_ARCS * steps:
            scale[DENSITY] *= 0.5
        elif arcs > NARROWING * MIN_ARCS * steps:
            scale[DENSITY] = min(2 * scale[DENSITY], scale[NARROWEST])
    progress[SINCE], progress[ARCS] = progress[STEP], 0


@part
def _repeats_work(values, all_arcs, course):
    """Whether a search without buckets sends its reached arcs too often; tested occasionally."""
    progress, sample, initial = course.progress, course.sample, course.initial
    if progress[ARCS] <= progress[NEXT_CHECK]:
        return False
    progress[NEXT_CHECK] = progress[ARCS] + progress[ARCS] // 4
    reached = 0
    for i in range(initial.size):
        reached += values[vertex(sample, i)] != initial[i]
    return reached >= MIN_REACHED and progress[ARCS] * initial.size > UNORDERED_PASSES * all_arcs * reached


@part(counts_references=False)
def _next_bucket(values, indptr, waiting, store, course):
    """Draw the next non-empty bucket and set up its blocks as chunks of work; return their number, or 0 to end."""
    board, progress, scale, drawn = store.board, course.progress, course.scale, store.drawn
    if progress[STEP] >= min(course.limit, course.trace.shape[0]) or is_stopped():
        return 0
    progress[ACTIVE] = 0
    repeats = scale[SPAN] < 0 and _repeats_work(values, indptr[indptr.size - 1], course)
    if repeats:
        scale[SPAN], scale[DENSITY] = -scale[SPAN], scale[NARROWEST]
    if repeats or (scale[SPAN] > 0 and progress[STEP] - progress[SINCE] >= BUCKETS):
        _adapt(progress, scale, indptr[indptr.size - 1])
        progress[NOW] = 0
        if not board[LOST]:
            spread(draw_all(store), values, waiting, store, scale)
    while True:
        if board[LOST]:
            recover(values, waiting, store, scale)
            progress[NOW] = 0
        found = draw(store, progress[NOW], 0)
        if progress[NOW] == BUCKETS:
            progress[NOW] = 0
            _adapt(progress, scale, indptr[indptr.size - 1])
            if not spread(found, values, waiting, store, scale):
                return 0
        elif found > 0:
            break
        else:
            progress[NOW] += 1
    arcs = 0
    if found == 1:
        for place in range(drawn[0, 0] * BLOCK, drawn[0, 0] * BLOCK + drawn[0, 1]):
            u = vertex(store.vertices, place)
            arcs += peek(indptr, u + 1) - peek(indptr, u)
    set_out(board, 0, found * BLOCK, BLOCK // 8 if found < MIN_BLOCKS else BLOCK, found == 1 and arcs < LEADER_ARCS)
    progress[ACTIVE] = found
    return found


@part(counts_references=False)
def _end(store, course, found, began):
    """By the leader: free the drawn blocks, and log the superstep."""
    board, progress = store.board, course.progress
    hand_back(store, found)
    progress[STEP] += 1
    arcs = collect(board, SENT)
    progress[ARCS] += arcs
    log(course.trace, progress[STEP], PUSH, collect(board, SENDERS), arcs, cycles() - began)


@part(counts_references=False)
def work(worker, does, state, out, waiting, store, rings, course):
    """One worker from the first superstep to the last; the leader continues while there is room in the trace."""
    board, link, vertices, drawn = store.board, store.link, store.vertices, store.drawn
    progress, scale = course.progress, course.scale
    leading = leads(board)
    row, fifo = store.buckets[worker], rings[worker]
    turn, began, found = 0, 0, 0
    while True:
        if leading:
            began = cycles()
            found = _next_bucket(state[0], out.indptr, waiting, store, course)
        turn = begin_together(board, leading, found > 0, turn)
        if turn < 0:
            break
        alone, now, density = board[ALONE] != 0, progress[NOW], scale[DENSITY]
        step = Superstep(course.ceiling, scale[ORIGIN], density, now, alone)
        senders, sent, most = 0, 0, MAX_OWN_ARCS if density != 0 else 0
        # First the shared blocks, then the worker's own current bucket, while it has few blocks (bucket fusion).
        block, count, shared = -1, 0, True
        while True:
            if shared:
                begin, stop = take(board, worker, alone)
                if begin < stop:
                    # A chunk lies within one block.
                    block, count = drawn[begin // BLOCK, 0], drawn[begin // BLOCK, 1]
                    stop = min(stop - begin // BLOCK * BLOCK, count)
                    begin %= BLOCK
                else:
                    shared, block = False, -1
                    most += sent
            if not shared:
                if block < 0:
                    place = row[now]
                    if place == 0 or sent >= most or not is_short(place, link, MAX_OWN_BLOCKS):
                        break
                    row[now] = 0
                    block = last_block(place)
                    count = place - block * BLOCK
                    if link[block] < 0:
                        # One block: its vertices fit the ring.
                        for i in range(count):
                            fifo[i] = vertex(vertices, block * BLOCK + i)
                        give_back(block, row, link)
                        block = -1
                        s, a = _relax_fifo(does, state, out, waiting, row, store, fifo, count, most - sent, step)
                        senders += s
                        sent += a
                        continue
                begin, stop = 0, count
            s, a = _relax(does, state, out, waiting, row, store, block * BLOCK + begin, block * BLOCK + stop, step)
            senders += s
            sent += a
            if not shared:
                before = link[block]
                give_back(block, row, link)
                block, count = before, BLOCK
        report(board, SENDERS, senders, alone)
        report(board, SENT, sent, alone)
        end_together(board, leading)
        if leading:
            _end(store, course, found, began)


@njit(cache=True, nogil=True)
def relax(does, state, arcs, waiting, buckets, rings, leading):
    """Relax until no vertex waits, or for ``limit`` supersteps, or until the trace is full.

    ``waiting`` has a 1 for each of the sources; the first bucket of the store's first row holds them. ``rings`` has a
    row of `FIFO` places for each worker. A call with the same arrays, a fresh gate and a longer trace continues. The
    tuples of arcs, the store and the course are plain ones, which Numba recognizes sooner.
    """
    indptr, indices, data = arcs
    out, store, course = Rows(indptr, indices, data, True), Store(*buckets), Course(*leading)
    in_parallel(rings.shape[0], work, (does, state, out, waiting, store, rings, course))


@njit(cache=True, nogil=True, counts_references=False)
def relax_few(does, state, arcs, waiting, queues, progress, trace, ceiling, limit):
    """`relax` of few arcs, in one bucket by one thread, which compiles in a fifth of the time.

    ``queues``: the waiting vertices, `progress[ACTIVE]` of them, and room for those of the next superstep. They change
    places in each superstep, and the trace has an even number of rows: so another call finds them where they were.
    """
    indptr, indices, data = arcs
    out, step = Rows(indptr, indices, data, True), Superstep(ceiling, 0.0, 0.0, 0, True)
    now, following = queues
    while progress[ACTIVE] > 0 and progress[STEP] < min(limit, trace.shape[0]) and not is_stopped():
        began, senders, sent, found = cycles(), progress[ACTIVE], 0, 0
        for i in range(senders):
            u = vertex(now, i)
            waiting[u] = 0
            first, last = peek(indptr, u), peek(indptr, u + 1)
            sent += last - first
            for j in range(first, last):
                if _relax_arc(does, state, out, waiting, u, j, step) >= 0:
                    following[found] = vertex(indices, j)
                    found += 1
        progress[STEP] += 1
        progress[ACTIVE] = found
        log(trace, progress[STEP], PUSH, senders, sent, cycles() - began)
        now, following = following, now
