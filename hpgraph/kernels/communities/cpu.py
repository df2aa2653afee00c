"""Local moving on the CPU: batch by batch, each vertex moves to the neighbouring community of largest gain.

V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks", J. Stat.
Mech. (2008). All vertices of a batch choose by the state before it and move together, and sums are of integers, so that
the result does not depend on the threads. Batches are drawn anew in each round, so that two neighbours of one batch do
not swap communities for ever; of two singletons in one batch, only the higher number joins the lower (H. Lu, M.
Halappanavar, A. Kalyanaraman, "Parallel heuristics for scalable community detection", Parallel Computing 47, 2015).
Only vertices with a neighbour that moved to another community are examined again (V. A. Traag, "Faster unfolding of
communities: speeding up the Louvain algorithm", Physical Review E 92, 2015), and of these only those that may gain: a
bound says by how much a vertex's community is the best, as in k-means with bounds (G. Hamerly, "Making k-means even
faster", SDM 2010), and neighbours that move take from it what they change at most.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.communities import batches
from hpgraph.kernels.communities.cpu_aggregate import group_strengths
from hpgraph.kernels.communities.cpu_batches import count_active, divide, list_active
from hpgraph.kernels.communities.cpu_choice import (
    AHEAD,
    MAX,
    PREFETCH_ARCS,
    drawn,
    expected,
    fetch,
    is_before,
    mask_for,
    pays,
    slot_of,
    tables,
)  # fmt: skip
from hpgraph.kernels.communities.cpu_map_equation import alone_score, flow_of, flow_score, settle, shift_cuts
from hpgraph.kernels.communities.cpu_size_limit import keep_to_limit
from hpgraph.kernels.communities.level import Level, summed_by
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import copy_items, njit, part, peek, prefetch, put, team, vertex
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.tasks import tasks
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.stop import is_stopped

# Chunk: at most this many vertices; and arcs of a batch up to which one thread does all, since distributing them takes
# as long.
CHUNK, ALONE = 256, 4096
# Slack of a vertex that chooses again if any neighbour moves.
UNKNOWN = -(2**60)
# As batches.MANY_MOVES, which is the GPU's: here to examine a vertex takes longer than to wake it.
MANY_MOVES = 1 / 2
# Communities, each numbered by a vertex: the label of each vertex, and each community's strengths, number of vertices,
# and load, the original vertices, under a size limit.
Groups = namedtuple("Groups", "label sent received size load")
# Parameters of the choice. `alone`: vertices may leave for a community of their own. `fetching`: rows are long enough
# to prefetch. `communities`: upper bound of the communities of vertices with arcs. `load`: of each vertex; `limit`: of
# a community, 0 for none.
Rule = namedtuple(
    "Rule", "sent received penalty two_sided alone fetching given communities joined load limit bits seed"
)
# Active vertices, and those with arcs that may move; a round's vertices by batch, where each batch begins, by
# worker where its share of each begins, and work by batch; each vertex's batch; their targets; counters; the load that
# vertices from each priority on would add to each community; `slack`: a lower bound of the weight between a vertex and
# its community, less the best score in others, while these keep their strengths.
Space = namedtuple("Space", "active joined listed begins starts work batch target counter demand slack")


def move_vertices(
    level: Level, label: Any, resolution: float, seed: int, few: tuple[float, float], *, alone: bool = False,
    limit: int = 0,
) -> tuple[Any, int]:  # fmt: skip
    """Communities of higher quality, numbered by any vertex, from those in ``label``; and the number of moves."""
    arcs, n = level.arcs, len(label)
    label, ids = label.copy(), label.dtype
    if arcs.nnz == 0:
        return label, 0
    degrees = arcs.degrees
    joined = int(np.count_nonzero(degrees))
    bits = batches.batch_bits(joined, arcs.nnz)
    present = int(np.count_nonzero(np.bincount(label[degrees > 0])))
    communities, given = joined if alone else present, present < joined
    load = level.size if limit else level.sent[:0]
    loads = summed_by(label, load, n) if limit else load
    groups = Groups(label, *group_strengths(level, label, n), np.bincount(label, minlength=n), loads)
    rule = Rule(
        level.sent, level.received, level.penalty(resolution), level.is_two_sided, alone, pays(arcs, joined), given,
        communities, joined, load, limit, bits, np.uint64(seed),
    )  # fmt: skip
    listed, target, counter = np.empty(n, ids), np.empty(n, ids), np.zeros(32, np.int64)
    free = degrees > 0 if level.movable is None else (degrees > 0) & level.movable
    demand = np.zeros((batches.PRIORITIES if limit else 0, n), np.int64)
    slack, batch = np.full(n, UNKNOWN, np.int64), np.zeros(n, np.uint8)
    begins = np.empty((1 << bits) + 1, np.int64)
    with team() as threads:
        starts = np.empty((threads if n > ALONE else 1, 1 << bits), np.int64)
        space = Space(
            free.copy(), free, listed, begins, starts, np.empty_like(starts), batch, target, counter, demand, slack
        )
        found = tables(threads, min(int(degrees.max()), communities))
        rows, shares = Rows(arcs.indptr, arcs.indices, arcs.data), (*few, MANY_MOVES)
        moves = _move(rows, groups, rule, space, flow_of(level, label), found, shares)
    return label, moves


@part(whole=True, counts_references=False)
def _fetch_own(groups, sent, listed, i, end):
    """Prefetch the state of the next vertices."""
    if i + 2 * AHEAD < end:
        v = vertex(listed, i + 2 * AHEAD)
        prefetch(groups.label, v)
        prefetch(sent, v)
    if i + AHEAD < end:
        prefetch(groups.sent, vertex(groups.label, vertex(listed, i + AHEAD)))


# Inlined: a call would reload all arrays from the stack for each vertex, a tenth of the time.
@part(whole=True, counts_references=False, forceinline=True)
def _sum_arcs(rows, groups, rule, table, v, own):
    """Sum the weights of a vertex's arcs by community, in `table`; returns how many there are, and the sum of its own.

    Branch-free: whether a community is new is unpredictable. Sums of free slots are 0.
    """
    label, (keys, sums, used) = groups.label, table
    first, last = peek(rows.indptr, v), peek(rows.indptr, v + 1)
    mask, count = mask_for(min(last - first, rule.communities)), np.int64(0)
    is_long = last - first > MAX
    for at in range(first, last):
        if is_long:
            prefetch(label, vertex(rows.indices, min(at + PREFETCH_ARCS, last - 1)))
        u = vertex(rows.indices, at)
        if u == v:
            continue
        c, weight = vertex(label, u), np.int64(entry(rows.data, at))
        slot = slot_of(keys, mask, c)
        is_new = np.int64(peek(keys, slot) < 0)
        put(used, count, slot)
        count += is_new
        put(keys, slot, c)
        put(sums, slot, weight + peek(sums, slot))
    return count, peek(sums, slot_of(keys, mask, own))


@part(whole=True, counts_references=False)
def _choose(rows, groups, rule, space, flow, table, begin, end, turn):
    """Choose the target community of each vertex in a range of the list; `flow`: by the map equation, or None."""
    label, size = groups.label, groups.size
    (keys, sums, used), seed, (round_, bits) = table, rule.seed, turn
    for i in range(begin, end):
        if rule.fetching:
            fetch(rows, label, space.listed, i, end)
            _fetch_own(groups, rule.sent, space.listed, i, end)
        v = vertex(space.listed, i)
        own = vertex(label, v)
        count, inside = _sum_arcs(rows, groups, rule, table, v, own)
        # A community without neighbours of the vertex would have no score above 0.
        best, joining, second, alone = own, inside, 0.0, 0.0
        if flow is not None:
            alone = alone_score(flow, rule, v, inside)
            most = flow_score(flow, groups, rule, v, own, inside, inside, alone)
        else:
            most = np.float64(inside) - expected(groups, rule, v, own, own)
        batch = peek(space.batch, v)
        for k in range(count):
            slot = peek(used, k)
            c, weight = peek(keys, slot), peek(sums, slot)
            put(keys, slot, -1)
            put(sums, slot, 0)
            if c == own:
                continue
            if flow is not None:
                score = flow_score(flow, groups, rule, v, c, weight, inside, alone)
            else:
                score = np.float64(weight) - expected(groups, rule, v, c, own)
            if rule.limit and peek(groups.load, c) + peek(rule.load, v) > rule.limit:
                second = max(second, score)
                continue
            # Branch-free but for ties: which is better is unpredictable.
            is_better = score > most
            if score == most and best != own:
                is_better = is_before(c, best, v, seed)
            second = max(second, min(score, most))
            best, joining = (c, weight) if is_better else (best, joining)
            most = max(most, score)
        if rule.alone and most < 0 and peek(size, v) == 0:
            # The vertex leaves for the empty community with its own number, which no other vertex takes.
            best, joining = v, np.int64(0)
        if flow is not None:
            # Otherwise hubs are examined in every round, as some neighbour always moves.
            space.slack[v] = flow.around[v] // batches.LONG_ROW
        else:
            space.slack[v] = joining - np.int64(np.ceil(second))
        if best > own and peek(size, own) == 1 and peek(size, best) == 1:
            # Singletons swap only between batches; one under another vertex's number may be of any batch.
            apart = vertex(label, best) == best and drawn(best, round_, seed, bits) != batch
            best, space.slack[v] = (best, space.slack[v]) if apart else (own, UNKNOWN)
        space.target[i] = best
        if flow is not None:
            flow.moving[v] = best != own


@part(whole=True, counts_references=False)
def _add(array, at, value, shared):
    """Add to an array's element, atomically if threads share it."""
    if shared:
        fetch_add(array, at, value)
    else:
        put(array, at, peek(array, at) + value)


@part(whole=True, counts_references=False)
def _apply_moves(groups, rule, space, begin, end, shared):
    """Apply the moves of a range of the list; vertices that stay get target -1. Returns the number of moves."""
    moves = 0
    for i in range(begin, end):
        v, to = vertex(space.listed, i), np.int64(space.target[i])
        own = vertex(groups.label, v)
        if to < 0:
            # No room in the target now: the vertex chooses again in the next round.
            space.slack[v] = UNKNOWN
            continue
        space.active[v] = False
        if to == own:
            space.target[i] = -1
            continue
        moves += 1
        groups.label[v], space.target[i] = to, own
        _add(groups.size, own, -1, shared)
        _add(groups.size, to, 1, shared)
        if rule.limit:
            _add(groups.load, own, -rule.load[v], shared)
            _add(groups.load, to, rule.load[v], shared)
        _add(groups.sent, own, -rule.sent[v], shared)
        _add(groups.sent, to, rule.sent[v], shared)
        if rule.two_sided:
            _add(groups.received, own, -rule.received[v], shared)
            _add(groups.received, to, rule.received[v], shared)
    return moves


@part(whole=True, counts_references=False)
def _wake(rows, groups, space, begin, end, shared):
    """Take from the slack of the neighbours of moved vertices, and activate those that lose by it.

    Neighbours of a later batch chose after the move.
    """
    for i in range(begin, end):
        before = np.int64(space.target[i])
        if before >= 0:
            v = vertex(space.listed, i)
            to, batch = vertex(groups.label, v), peek(space.batch, v)
            for at in range(peek(rows.indptr, v), peek(rows.indptr, v + 1)):
                u = vertex(rows.indices, at)
                if peek(space.batch, u) > batch:
                    continue
                c, weight = vertex(groups.label, u), np.int64(entry(rows.data, at))
                change = weight if c == to else (-2 * weight if c == before else -weight)
                _add(space.slack, u, change, shared)
                if change < 0:
                    space.active[u] = True


@part(whole=True, counts_references=False)
def _choose_chunks(worker, rows, groups, rule, space, flow, found, begin, end, turn):
    chunk = max(1, min(CHUNK, (end - begin) // (8 * found.keys.shape[0])))
    table = found.keys[worker], found.sums[worker], found.used[worker]
    for task in tasks(space.counter, end - begin, chunk):
        at = begin + task
        _choose(rows, groups, rule, space, flow, table, at, min(end, at + chunk), turn)


@part(whole=True, counts_references=False)
def _wake_chunks(worker, rows, groups, space, listed):
    for at in tasks(space.counter, listed, CHUNK):
        _wake(rows, groups, space, at, min(listed, at + CHUNK), True)


@part(whole=True, counts_references=False)
def _shift_share(worker, rows, groups, space, flow, begin, end, share, sign):
    at = begin + worker * share
    shift_cuts(rows, groups, space, flow, min(at, end), min(end, at + share), sign)


@part(whole=True, counts_references=False)
def _apply_share(worker, groups, rule, space, begin, end, share):
    at = begin + worker * share
    made = _apply_moves(groups, rule, space, min(at, end), min(end, at + share), True)
    fetch_add(space.counter, 16, made)


@part(whole=True, counts_references=False)
def _move_alone(rows, groups, rule, space, flow, found, begin, end, turn):
    """Choose and move the vertices of a small batch on one thread; returns the number of moves."""
    _choose(rows, groups, rule, space, flow, (found.keys[0], found.sums[0], found.used[0]), begin, end, turn)
    if rule.limit:
        keep_to_limit(groups, rule, space, begin, end, turn[0])
    if flow is not None:
        shift_cuts(rows, groups, space, flow, begin, end, -1)
    moves = _apply_moves(groups, rule, space, begin, end, False)
    if flow is not None:
        shift_cuts(rows, groups, space, flow, begin, end, 1)
        settle(space, flow, begin, end)
    return moves


@njit(cache=True, nogil=True)
def _move(rows, groups, rule, space, flow, found, shares):
    workers = found.keys.shape[0]
    few, least, many = shares
    n, each = groups.label.size, rows.indices.size // rule.joined
    # If communities are given, few moves are expected.
    total, last = 0, 0 if rule.given else n
    for round_ in range(batches.ROUNDS):
        in_parallel(space.starts.shape[0], count_active, (rows, groups, rule, space, flow, round_))
        bits = divide(rows, rule, space)
        in_parallel(space.starts.shape[0], list_active, (space, rule.bits - bits))
        turn, listed = (round_, bits), space.begins[1 << bits]
        if listed == 0 or is_stopped():
            break
        moves = 0
        for batch in range(1 << bits):
            begin, end = space.begins[batch], space.begins[batch + 1]
            if begin == end:
                continue
            if workers == 1 or space.work[0, batch] <= ALONE:
                moves += _move_alone(rows, groups, rule, space, flow, found, begin, end, turn)
                continue
            space.counter[:] = 0
            in_parallel(workers, _choose_chunks, (rows, groups, rule, space, flow, found, begin, end, turn))
            if is_stopped():
                # Some vertices have no target.
                break
            if rule.limit:
                keep_to_limit(groups, rule, space, begin, end, round_)
            share = (end - begin + workers - 1) // workers
            if flow is not None:
                in_parallel(workers, _shift_share, (rows, groups, space, flow, begin, end, share, -1))
            if end - begin <= ALONE:
                moves += _apply_moves(groups, rule, space, begin, end, False)
            else:
                in_parallel(workers, _apply_share, (groups, rule, space, begin, end, share))
                moves += space.counter[16]
            if flow is not None:
                in_parallel(workers, _shift_share, (rows, groups, space, flow, begin, end, share, 1))
                settle(space, flow, begin, end)
        waking, last = max(last, moves) <= many * n, moves
        total += moves
        if moves <= few * n or moves <= least * listed:
            break
        if not waking:
            copy_items(space.active, 0, space.joined, 0, n)
            space.slack[:] = UNKNOWN
        elif workers == 1 or moves * each <= ALONE:
            _wake(rows, groups, space, 0, listed, False)
        else:
            space.counter[0] = 0
            in_parallel(workers, _wake_chunks, (rows, groups, space, listed))
    return total
