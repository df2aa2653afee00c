"""The levels of the Leiden and the Louvain method below some size in one kernel, on one thread.

There calls from Python would take most of the time, and threads would wait for each other. Vertices move one after
another: each chooses by what the vertices before it did, in a pseudorandom order; those whose bound their neighbours'
moves use up are examined again in turn, as in the batches of `hpgraph.kernels.communities.cpu` (V. A. Traag, L.
Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected communities", Scientific Reports 9, 2019:
fast local moving).
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.communities import batches
from hpgraph.kernels.communities.cpu import ALONE
from hpgraph.kernels.communities.cpu_aggregate import (
    Members,
    Numbered,
    add_strengths,
    between_rows,
    count_parts,
    list_members,
    list_parts,
    multiply_shares,
)
from hpgraph.kernels.communities.cpu_map_equation import (
    alone_score,
    bits_saved,
    empty_flow,
    flow_score,
    move_between_cuts,
    set_cuts,
)
from hpgraph.kernels.communities.cpu_refinement import (
    PRESENT,
    Arcs,
    Order,
    Parts,
    expected_without,
    refine_community,
)
from hpgraph.kernels.communities.level import Ending, Level
from hpgraph.kernels.runtime.cpu.kernel import SERIAL, interruptible, is_stopped, njit, part, peek, put, vertex
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.sampling.cpu_random import GOLDEN, below, mixed

# What all levels share: the null model, `total` of its strengths and `weights` of all arcs; the key of
# the draws; shares of moves that end rounds and levels; arcs that the next level must have, and the share of this one's
# that it may, to be refined; and the most levels. `plain`: all levels are kept, and one that gains at most `gain`
# is the last.
Given = namedtuple("Given", "penalty two_sided resolution total weights key few least floor most limit plain gain")
# Communities, each numbered by a vertex, as of `hpgraph.kernels.communities.cpu`.
Groups = namedtuple("Groups", "label sent received size")
# The sum of the weights to each community, with `PRESENT` if it is among `used`, 0 else; vertices that wait for this
# round and for the next, and which do; and each vertex's slack, as of `hpgraph.kernels.communities.cpu`.
Space = namedtuple("Space", "sums used queue later waits slack")
# Maximum number of levels of a call that are kept.
DEPTH = 64


def finish_levels(
    level: Level, label: Any, quality: float, resolution: float, key: int, ending: Ending, *, alone: bool, refines: bool
) -> Any:
    """See `hpgraph.kernels.communities.Communities`."""
    arcs = level.arcs
    if arcs.nnz == 0 or level.movable is not None:
        return None
    # Only if a single thread would choose for each batch anyway.
    bits = batches.batch_bits(int(np.count_nonzero(arcs.degrees)), arcs.nnz)
    # Parts of each level are kept for all vertices, also for those without arcs.
    if arcs.nnz > max(SERIAL, ALONE << bits) or len(label) > max(SERIAL, arcs.nnz):
        return None
    data = np.ones(arcs.nnz, np.int64) if arcs.data is None else arcs.data
    first = Arcs(arcs.indptr, arcs.indices, data, level.sent, level.received)
    given = Given(
        level.penalty(resolution), level.is_two_sided, float(resolution), float(level.total),
        float(level.total * (2 if level.directed else 1)), np.uint64(key), ending.few, ending.least, *ending.left,
        float(ending.limit), ending.gain is not None, ending.gain or 0.0,
    )  # fmt: skip
    with interruptible():
        parts, coarse, *found = _finish(first, label, quality, given, alone, refines, empty_flow(level))
    if len(parts):
        shape = len(coarse.sent), len(coarse.sent)
        arcs = CSR(shape, coarse.indptr, coarse.indices, coarse.data, validate=False, copy=False)
        level = level._replace(arcs=arcs, sent=coarse.sent, received=coarse.received)
    return list(parts), level, *found


@part
def _moved(arcs, label, given, space, flow, seed, alone):
    """Local moving, which changes the labels; returns the moves.

    ``flow``: by the map equation, or None.
    """
    size, sent = np.zeros(label.size, np.int64), np.zeros(label.size, np.int64)
    received = np.zeros(label.size, np.int64) if given.two_sided else sent
    add_strengths(label, arcs.sent, arcs.received, given.two_sided, sent, received)
    groups = Groups(label, sent, received, size)
    count = _draw_order(arcs.indptr, label, size, space, seed)
    if flow is not None:
        set_cuts(arcs, label, flow)
    return _move(arcs, groups, given, space, flow, count, alone)


@part(counts_references=False)
def _draw_order(indptr, label, size, space, seed):
    """Count each community's vertices, and list those with arcs in a pseudorandom order; returns their number."""
    count = np.int64(0)
    for v in range(label.size):
        size[label[v]] += 1
        space.waits[v] = indptr[v + 1] > indptr[v]
        if space.waits[v]:
            at = below(mixed(seed + np.uint64(v) * GOLDEN), count + 1)
            space.queue[count] = space.queue[at]
            space.queue[at] = v
            count += 1
    return count


@part(whole=True, counts_references=False, forceinline=True)
def _sum_row(arcs, label, space, v, count):
    """Sum the weights of a vertex's arcs by community; returns how many other than its own there are.

    Branch-free: whether a community is new is unpredictable.
    """
    for at in range(peek(arcs.indptr, v), peek(arcs.indptr, v + 1)):
        u = vertex(arcs.indices, at)
        if u == v:
            continue
        c, weight = vertex(label, u), peek(arcs.data, at)
        before = peek(space.sums, c)
        is_new = np.int64(before == 0)
        put(space.used, count, c)
        put(space.sums, c, before + weight + is_new * PRESENT)
        count += is_new
    return count


@part(whole=True, counts_references=False, forceinline=True)
def _add(arcs, groups, given, v, c, sign):
    """Add a vertex to a community, or take it out."""
    put(groups.size, c, peek(groups.size, c) + sign)
    put(groups.sent, c, peek(groups.sent, c) + sign * peek(arcs.sent, v))
    if given.two_sided:
        put(groups.received, c, peek(groups.received, c) + sign * peek(arcs.received, v))


@part(whole=True, counts_references=False, forceinline=True)
def _choose(arcs, groups, given, space, flow, v, own, alone):
    """The best community of a vertex that is in none, and the margin over the second best.

    By the map equation also moves the vertex's arcs between the cuts of the two.
    """
    sums = space.sums
    put(sums, own, np.int64(PRESENT))
    count = _sum_row(arcs, groups.label, space, v, 0)
    joining = inside = peek(sums, own) - PRESENT
    put(sums, own, 0)
    # A community without neighbours of the vertex would have no score above 0.
    best, second, others, bits = own, 0.0, peek(groups.size, own), 0.0
    if flow is not None:
        # Its scores are of a vertex in its community.
        _add(arcs, groups, given, v, own, 1)
        bits = alone_score(flow, arcs, v, inside)
        most = flow_score(flow, groups, arcs, v, own, inside, inside, bits)
    else:
        most = np.float64(joining) - expected_without(arcs, groups, given, v, own)
    if alone and most < 0 and others > 0:
        # The vertex leaves for an empty community: there is one, as its own has others.
        best, joining, most = v, 0, 0.0
        while peek(groups.size, best) > 0:
            best = best + 1 if best + 1 < groups.size.size else 0
    for k in range(count):
        c = vertex(space.used, k)
        weight = peek(sums, c) - PRESENT
        put(sums, c, 0)
        if flow is not None:
            score = flow_score(flow, groups, arcs, v, c, weight, inside, bits)
        else:
            score = np.float64(weight) - expected_without(arcs, groups, given, v, c)
        # Branch-free: which is better is unpredictable.
        is_better = score > most
        second = max(second, min(score, most))
        best, joining = (c, weight) if is_better else (best, joining)
        most = max(most, score)
    if flow is not None:
        _add(arcs, groups, given, v, own, -1)
        if best != own:
            move_between_cuts(flow, v, own, best, inside, joining)
        return best, peek(flow.around, v) // batches.LONG_ROW
    return best, joining - np.int64(np.ceil(second))


@part(whole=True, counts_references=False)
def _move(arcs, groups, given, space, flow, count, alone):
    """Move the vertices of a queue, and those whose slack their moves use up; returns the number of moves."""
    label, slack, waits, queue, later = groups.label, space.slack, space.waits, space.queue, space.later
    moves, (few, least) = 0, given.few
    for _ in range(batches.ROUNDS):
        made, woken = 0, np.int64(0)
        for i in range(count):
            v = vertex(queue, i)
            own = vertex(label, v)
            _add(arcs, groups, given, v, own, -1)
            best, slack[v] = _choose(arcs, groups, given, space, flow, v, own, alone)
            _add(arcs, groups, given, v, best, 1)
            waits[v] = False
            if best == own:
                continue
            made += 1
            label[v] = best
            for at in range(peek(arcs.indptr, v), peek(arcs.indptr, v + 1)):
                # Branch-free, too: the slack of a queued vertex is irrelevant.
                u, weight = vertex(arcs.indices, at), peek(arcs.data, at)
                c = vertex(label, u)
                change = weight if c == best else (-2 * weight if c == own else -weight)
                rest = peek(slack, u) + change
                put(slack, u, rest)
                least_rest = 0.0 if flow is not None else expected_without(arcs, groups, given, u, c)
                loses = not waits[u] and change < 0 and np.float64(rest) < least_rest
                put(later, woken, u)
                woken += np.int64(loses)
                waits[u] |= loses
        moves += made
        if made <= few * label.size or made <= least * count or is_stopped():
            break
        count, queue, later = woken, later, queue
    return moves


@part(counts_references=False)
def _sum_rows(arcs, number, groups, space, indptr, made):
    """The rows of the communities."""
    at = np.int64(0)
    for c in range(indptr.size - 1):
        put(space.sums, c, np.int64(PRESENT))
        count = np.int64(0)
        for i in range(groups.starts[c], groups.starts[c + 1]):
            count = _sum_row(arcs, number, space, vertex(groups.vertices, i), count)
        put(space.sums, c, 0)
        for k in range(count):
            d = vertex(space.used, k)
            made[0][at], made[1][at] = d, peek(space.sums, d) - PRESENT
            put(space.sums, d, 0)
            at += 1
        indptr[c + 1] = at


@part
def _coarser(arcs, label, given, space, flow, seed, refines):
    """The level of communities or of their refined parts, the number of each vertex in it, and its communities."""
    n, count = label.size, np.int64(0)
    by = Members(np.zeros(n + 1, np.int64), np.empty_like(label), np.zeros(n + 1, np.int64))
    made = Members(np.zeros(n + 1, np.int64), np.empty_like(label), np.zeros(n + 1, np.int64))
    position, number, inherited = np.empty_like(label), np.empty_like(label), np.empty_like(label)
    list_members(arcs.indptr, label, by, position)
    if refines and flow is not None:
        set_cuts(arcs, position, flow)
    sent, all_sent = np.empty(n, np.int64), np.zeros(n, np.int64)
    received, all_received = (np.empty(n, np.int64), np.zeros(n, np.int64)) if given.two_sided else (sent, all_sent)
    parts, order = Parts(position, sent, received), Order(by.vertices, np.zeros(n, np.bool_), False)
    numbered = Numbered(number, all_sent, all_received, inherited)
    for c in range(n):
        begin, end = by.starts[c], by.starts[c + 1]
        if refines and end - begin > 1:
            refine_community(arcs, given, parts, order, begin, end, space.sums, space.used, flow, seed)
        if begin < end:
            first, count = count, count + count_parts(by.vertices, position, begin, end, refines)
            list_parts(arcs, given.two_sided, by, position, begin, end, by.ends[c], first, made, numbered)
    made.starts[count] = n
    summed, indptr = (np.empty_like(arcs.indices), np.empty_like(arcs.data)), np.zeros(count + 1, np.int64)
    _sum_rows(arcs, number, made, space, indptr, summed)
    indices, data = summed[0][: indptr[count]].copy(), summed[1][: indptr[count]].copy()
    all_sent = all_sent[:count].copy()
    all_received = all_received[:count].copy() if given.two_sided else all_sent
    return Arcs(indptr, indices, data, all_sent, all_received), number, inherited[:count].copy()


@part
def _quality(arcs, label, given, flow):
    """`hpgraph.algorithms.louvain.Search.quality`."""
    n = label.size
    sent = np.zeros(n, np.int64)
    received = np.zeros(n, np.int64) if given.two_sided else sent
    add_strengths(label, arcs.sent, arcs.received, given.two_sided, sent, received)
    if flow is not None:
        set_cuts(arcs, label, flow)
        return bits_saved(flow, sent, received)
    between = between_rows(Rows(arcs.indptr, arcs.indices, arcs.data), label, 0, n)
    shares = multiply_shares(sent, received, given.total)
    return 1 - between / given.weights - given.resolution * shares


@njit(cache=True, nogil=True)
def _finish(arcs, label, quality, given, alone, refines, flow):
    n = label.size
    space = Space(
        np.zeros(n, np.int64), np.empty(n + 1, label.dtype), np.empty(n + 1, label.dtype), np.empty(n + 1, label.dtype),
        np.empty(n, np.bool_), np.empty(n, np.int64),
    )  # fmt: skip
    if np.isnan(quality):
        quality = _quality(arcs, label, given, flow)
    parts, kept, depth, changed = np.empty((DEPTH, n), label.dtype), 0, 0, False
    # The last level that was kept, or the first, and the communities of its vertices.
    base, communities, until = arcs, label, label
    while depth < given.limit and kept < DEPTH:
        moved, seed = label.copy(), given.key + np.uint64(2 * depth)
        moves = _moved(arcs, moved, given, space, flow, seed, alone)
        if (depth == 0 and moves <= given.least * n) or (not refines and moves == 0) or is_stopped():
            break
        seed += np.uint64(1)
        coarse, number, inherited = _coarser(arcs, moved, given, space, flow, seed, refines)
        better = _quality(coarse, inherited, given, flow)
        if given.plain and better <= quality:
            break
        if better < quality:
            # Simultaneous moves may lower the modularity: the next level then uses the communities before them.
            coarse, number, inherited = _coarser(arcs, label, given, space, flow, seed, refines)
            better = quality
        keeps, last = refines or given.plain, given.plain and better - quality <= given.gain
        if keeps:
            for v in range(n):
                parts[kept, v] = number[parts[kept - 1, v] if kept else v]
            base, communities, kept = coarse, inherited, kept + 1
            refines = refines and given.floor <= coarse.indices.size <= given.most * arcs.indices.size
            until = np.arange(inherited.size).astype(label.dtype)
        else:
            if not changed:
                until = np.arange(label.size).astype(label.dtype)
            communities = np.empty(until.size, label.dtype)
            for v in range(until.size):
                until[v] = number[until[v]]
                communities[v] = inherited[until[v]]
        size, changed = label.size, True
        arcs, label, quality, depth = coarse, inherited, better, depth + 1
        # The limit of moves that ends the rounds of a level also ends the levels.
        if last or label.size == size or (not keeps and moves <= given.few[0] * size):
            break
    return parts[:kept], base, communities, quality
