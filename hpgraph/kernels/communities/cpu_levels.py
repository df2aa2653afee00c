"""The levels of the Leiden method below some size in one kernel: there calls from Python would take most of the time.

Steps and results are those of the single functions of `hpgraph.kernels.communities.Communities`, on one thread.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.communities import batches
from hpgraph.kernels.communities.cpu import ALONE, MANY_MOVES, UNKNOWN, Groups, Rule, Space, move_alone
from hpgraph.kernels.communities.cpu_aggregate import (
    Members,
    add_strengths,
    between_rows,
    list_members,
    multiply_shares,
    represent,
    sum_row,
)
from hpgraph.kernels.communities.cpu_choice import LINE, tables
from hpgraph.kernels.communities.level import Level
from hpgraph.kernels.runtime.cpu.kernel import SERIAL, is_stopped, njit, part, team
from hpgraph.kernels.runtime.cpu.rows import Rows

# A level, and what all levels share: the null model, `total` of its strengths and `weights` of all arcs; the key of
# the draws; shares of moves that end rounds and levels; arcs that the next level must have, and the share of this one's
# that it may, to be refined; and the most levels.
Arcs = namedtuple("Arcs", "indptr indices data sent received")
Given = namedtuple("Given", "penalty two_sided resolution scale total weights key few least floor most limit")
# Refined levels of a call are at most so many.
DEPTH = 64
_batch_bits = part(batches.batch_bits)


def finish_levels(
    level: Level, label: Any, quality: float, resolution: float, key: int, few: tuple[float, float], *, alone: bool,
    refines: bool, left: tuple[float, float], least: float, limit: float, largest: int,
) -> Any:  # fmt: skip
    """See `hpgraph.kernels.communities.Communities`."""
    arcs = level.arcs
    if arcs.nnz == 0 or largest or level.movable is not None or level.flow:
        return None
    # Where one thread would choose for each batch anyway.
    bits = batches.batch_bits(int(np.count_nonzero(arcs.degrees)), arcs.nnz)
    # Parts of each level are kept for all vertices, also for those without arcs.
    if arcs.nnz > max(SERIAL, ALONE << bits) or len(label) > max(SERIAL, arcs.nnz):
        return None
    data = np.ones(arcs.nnz, np.int64) if arcs.data is None else arcs.data
    first = Arcs(arcs.indptr, arcs.indices, data, level.sent, level.received)
    given = Given(
        level.penalty(resolution), level.is_two_sided, float(resolution), float(level.scale), float(level.total),
        float(level.total * (2 if level.directed else 1)), np.uint64(key), few, least, *left, float(limit),
    )  # fmt: skip
    with team():
        made = _finish(first, label, quality, given, tables(1, len(label)), alone, refines)
    parts, coarse, *found = made
    if len(parts):
        shape = len(coarse.sent), len(coarse.sent)
        arcs = CSR(shape, coarse.indptr, coarse.indices, coarse.data, validate=False, copy=False)
        level = level._replace(arcs=arcs, sent=coarse.sent, received=coarse.received)
    return list(parts), level, *found


@part
def _moved(arcs, label, within, given, found, seed, alone):
    """Local moving, which changes the labels, or refinement of the communities in `within`; returns the moves."""
    n, rows = label.size, Rows(arcs.indptr, arcs.indices, arcs.data)
    if rows.indices.size == 0:
        return 0
    size, sent = np.zeros(n, np.int64), np.zeros(n, np.int64)
    received = np.zeros(n, np.int64) if given.two_sided else sent
    add_strengths(label, arcs.sent, arcs.received, given.two_sided, sent, received)
    free = np.empty(n, np.bool_)
    joined, present = _count_joined(rows.indptr, label, size, free, np.zeros(n, np.bool_))
    bits, load, refining = _batch_bits(joined, rows.indices.size), arcs.sent[:0], within.size > 0
    rule = Rule(
        arcs.sent, arcs.received, within, given.penalty, given.two_sided, refining, alone,
        rows.indices.size > LINE * joined, present < joined, joined if alone else present, joined, load, 0, bits, seed,
    )  # fmt: skip
    space = Space(
        free.copy(), free, np.empty_like(label), np.empty((1 << bits) + 1, np.int64), np.empty(1 << bits, np.int64),
        np.zeros(n, np.uint8), np.empty_like(label), np.zeros(32, np.int64), np.zeros((0, n), np.int64),
        np.full(0 if refining else n, UNKNOWN, np.int64),
    )  # fmt: skip
    groups = Groups(label, sent, received, size, load)
    few, least = (0.0, 0.0) if refining else given.few
    rounds = batches.REFINING_ROUNDS if refining else batches.ROUNDS
    return move_alone(rows, groups, rule, space, None, found, rounds, (few, least, MANY_MOVES))


@part(counts_references=False)
def _count_joined(indptr, label, size, free, held):
    """Count each community's vertices, and all vertices with arcs and their communities, which `held` marks."""
    joined = present = 0
    for v in range(label.size):
        c, has_arcs = label[v], indptr[v + 1] > indptr[v]
        size[c] += 1
        free[v] = has_arcs
        if has_arcs:
            joined += 1
            present += not held[c]
            held[c] = True
    return joined, present


@part(counts_references=False)
def _number(label, present, number):
    """Number communities in the order of their labels; `present` has -1 for each. Returns how many there are."""
    count = 0
    for v in range(label.size):
        present[label[v]] = 0
    for c in range(label.size):
        if present[c] == 0:
            present[c] = count
            count += 1
    for v in range(label.size):
        number[v] = present[label[v]]
    return count


@part(counts_references=False)
def _sum_rows(rows, number, groups, made, table, indptr):
    for c in range(indptr.size - 1):
        length, begin, end = sum_row(rows, number, groups, made, table, c), indptr[c], groups.ends[c]
        for at in range(length):
            made[0][begin + at] = made[0][end + at]
            made[1][begin + at] = made[1][end + at]
        indptr[c + 1] = begin + length


@part
def _represented(label):
    made = np.empty_like(label)
    represent(label, np.full(label.size, -1, label.dtype), made)
    return made


@part
def _coarse(arcs, label, given, found):
    """The graph of the communities, and the number of each vertex's."""
    n, rows = label.size, Rows(arcs.indptr, arcs.indices, arcs.data)
    number = np.empty_like(label)
    count = _number(label, np.full(n, -1, label.dtype), number)
    sent = np.zeros(count, np.int64)
    received = np.zeros(count, np.int64) if given.two_sided else sent
    add_strengths(number, arcs.sent, arcs.received, given.two_sided, sent, received)
    starts, ends = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    groups = Members(starts, np.empty_like(label), ends, rows.indices.size > LINE * n)
    list_members(rows.indptr, number, starts, groups.members, ends)
    made = np.empty_like(arcs.indices), np.empty_like(arcs.data)
    indptr, table = np.zeros(count + 1, np.int64), (found.keys[0], found.sums[0], found.used[0])
    _sum_rows(rows, number, groups, made, table, indptr)
    return Arcs(indptr, made[0][: indptr[count]].copy(), made[1][: indptr[count]].copy(), sent, received), number


@part
def _coarser(arcs, label, given, found, seed, refines):
    """The level of communities or of their refined parts, the number of each vertex in it, and its communities."""
    one = label
    if refines:
        one = np.arange(label.size).astype(label.dtype)
        _moved(arcs, one, label, given, found, seed, False)
    coarse, number = _coarse(arcs, _represented(one), given, found)
    inherited = np.arange(coarse.sent.size).astype(label.dtype)
    if refines:
        first = _represented(label)
        for v in range(label.size):
            inherited[number[v]] = number[first[v]]
    return coarse, number, inherited


@part
def _quality(arcs, label, given):
    """`hpgraph.algorithms.communities.quality_of`."""
    n = label.size
    sent = np.zeros(n, np.int64)
    received = np.zeros(n, np.int64) if given.two_sided else sent
    add_strengths(label, arcs.sent, arcs.received, given.two_sided, sent, received)
    between = between_rows(Rows(arcs.indptr, arcs.indices, arcs.data), label, 0, n)
    shares = multiply_shares(sent, received, given.total)
    return 1 - between / given.weights - given.resolution * (given.scale * shares)


@njit(cache=True, nogil=True)
def _finish(arcs, label, quality, given, found, alone, refines):
    n = label.size
    if np.isnan(quality):
        quality = _quality(arcs, label, given)
    parts, kept, depth, changed = np.empty((DEPTH, n), label.dtype), 0, 0, False
    # The last level that was refined, or the first, and the communities of its vertices.
    base, communities, until = arcs, label, label
    while depth < given.limit and kept < DEPTH:
        moved, seed = label.copy(), given.key + np.uint64(2 * depth)
        moves = _moved(arcs, moved, label[:0], given, found, seed, alone)
        if (depth == 0 and moves <= given.least * n) or (not refines and moves == 0) or is_stopped():
            break
        seed += np.uint64(1)
        coarse, number, inherited = _coarser(arcs, moved, given, found, seed, refines)
        better = _quality(coarse, inherited, given)
        if better < quality:
            # Simultaneous moves may lower the modularity: the next level is of the communities before them.
            coarse, number, inherited = _coarser(arcs, label, given, found, seed, refines)
            better = quality
        refined = refines
        if refines:
            for v in range(n):
                parts[kept, v] = number[parts[kept - 1, v] if kept else v]
            base, communities, kept = coarse, inherited, kept + 1
            refines = given.floor <= coarse.indices.size <= given.most * arcs.indices.size
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
        # As few moves as end the rounds of a level end the levels.
        if label.size == size or (not refined and moves <= given.few[0] * size):
            break
    return parts[:kept], base, communities, quality
