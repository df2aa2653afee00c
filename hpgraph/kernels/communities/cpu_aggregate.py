"""The graph of communities, or of their refined parts, on the CPU: the rows of their members, summed by target.

One thread refines a community, and then numbers and lists its parts. The part of a vertex is first the position of one
of its members among all vertices by community; parts are numbered in the order of these, so that those of a community
are consecutive.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.communities.cpu_choice import MAX, PREFETCH_ARCS, fetch, mask_for, pays, slot_of, tables
from hpgraph.kernels.communities.cpu_map_equation import Flow, flow_of
from hpgraph.kernels.communities.cpu_refinement import Arcs, Null, Order, Parts, refine_community
from hpgraph.kernels.communities.level import Level
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, prefetch, put, team, vertex
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.tasks import task_bounds, tasks
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.semiring.stop import is_stopped

# Arcs from which threads share a pass: fewer take less time than a thread that has to wait for a core.
_MIN_SHARED = 1 << 18
# Vertices by community or part: start of each, and start of its concatenated arcs.
Members = namedtuple("Members", "starts vertices ends")
# The number of each vertex's part; and of each part what it sends and receives, and the first part of its community.
Numbered = namedtuple("Numbered", "number sent received inherited")


def aggregate_communities(
    level: Level, label: Any, refining: tuple[float, int] | None = None
) -> tuple[Level, Any, Any]:
    """See `hpgraph.kernels.communities.Communities`."""
    arcs, n, ids, is_two_sided = level.arcs, len(label), label.dtype, level.is_two_sided
    check_memory(20 * arcs.nnz, "the graph of the communities", "cpu")
    by, position = _empty_members(n, ids), np.empty(n, ids)
    list_members(arcs.indptr, label, by, position)
    (resolution, seed), flow = refining or (0.0, 0), flow_of(level, position) if refining else None
    most, sent = (int(np.diff(by.starts).max(initial=0)), np.empty(n, np.int64)) if refining else (0, level.sent[:0])
    parts = Parts(position, sent, np.empty_like(sent) if is_two_sided else sent)
    closed = np.zeros(n, np.bool_) if level.movable is None else ~level.movable
    order = Order(by.vertices, closed, pays(arcs, n))
    made, sent = _empty_members(n, ids), np.zeros(n, np.int64)
    numbered = Numbered(np.empty(n, ids), sent, np.zeros_like(sent) if is_two_sided else sent, np.empty(n, ids))
    rows = Arcs(arcs.indptr, arcs.indices, arcs.data, level.sent, level.received)
    null = Null(level.penalty(resolution) if level.total else 0.0, is_two_sided)
    with team() as threads:
        # Pages that no community of a thread is large enough for take no memory.
        space = (
            np.zeros((threads, most), np.int64),
            np.empty((threads, most + 1), ids),
            np.zeros((threads, 8), np.int64),
        )
        count = _divide(
            rows, null, parts, order, by, space, flow, np.uint64(seed), refining is not None, task_bounds(by.ends),
            np.zeros(n, np.int64), made, numbered, np.zeros(32, np.int64),
        )  # fmt: skip
        ends, number = made.ends[: count + 1], numbered.number
        groups = Members(made.starts[: count + 1], made.vertices, ends)
        found = tables(threads, min(count, int(np.diff(ends).max(initial=0))))
        wide, weight, lengths = np.empty(arcs.nnz, ids), np.empty(arcs.nnz, np.int64), np.zeros(count + 1, np.int64)
        _sum(
            rows, number, groups, order.fetching, (wide, weight), lengths, found, task_bounds(ends),
            np.zeros(16, np.int64),
        )  # fmt: skip
        indptr = np.zeros(count + 1, np.int64)
        np.cumsum(lengths[:-1], out=indptr[1:])
        indices, data = np.empty(indptr[-1], ids), np.empty(indptr[-1], np.int64)
        _close_up(ends, indptr, wide, weight, indices, data)
    coarse = CSR((count, count), indptr, indices, data, validate=False, copy=False)
    sent = numbered.sent[:count].copy()
    received = numbered.received[:count].copy() if is_two_sided else sent
    return level.of_parts(coarse, sent, received, number), number, numbered.inherited[:count].copy()


def _empty_members(n: int, ids: Any) -> Members:
    return Members(np.zeros(n + 1, np.int64), np.empty(n, ids), np.zeros(n + 1, np.int64))


def weight_between(arcs: CSR, label: Any) -> int:
    """Total weight of the arcs between communities.

    ``arcs``: those of a level, or without weights; ``label`` (integer array of shape (n,)). Returns int: in the level's
    units; an edge counts from both of its ends.
    """
    rows = Rows(arcs.indptr, arcs.indices, arcs.data)
    if arcs.nnz < _MIN_SHARED:
        each = np.zeros(1, np.int64)
        _between.alone(rows, label, each)
        return int(each[0])
    with team() as threads:
        each = np.zeros(threads, np.int64)
        _between(rows, label, each)
    return int(each.sum())


def group_strengths(level: Level, label: Any, count: int) -> tuple[Any, Any]:
    """Strengths of communities, sent and received: the same array twice if the graph is undirected."""
    sent = np.zeros(count, np.int64)
    received = np.zeros(count, np.int64) if level.is_two_sided else sent
    add_strengths(label, level.sent, level.received, level.is_two_sided, sent, received)
    return sent, received


def quality_terms(level: Level, label: Any, count: int, between: int | None) -> tuple[int, float]:
    """See `hpgraph.kernels.communities.Communities`."""
    sent, received = group_strengths(level, label, count)
    shares = multiply_shares(sent, received, float(level.total))
    return weight_between(level.arcs, label) if between is None else between, shares


def represented(label: Any) -> Any:
    """`hpgraph.kernels.communities.Communities.represented` on the CPU."""
    made = np.empty_like(label)
    represent(label, np.full(len(label), -1, label.dtype), made)
    return made


def in_order(label: Any) -> Any:
    """See `hpgraph.kernels.communities.Communities`."""
    made = np.empty_like(label)
    number_by_first(label, np.full(len(label), -1, label.dtype), made)
    return made


@njit(cache=True, nogil=True, counts_references=False)
def add_strengths(label, sent, received, two_sided, group_sent, group_received):
    """Add what vertices send and receive to the sums of their communities."""
    for v in range(label.size):
        group_sent[label[v]] += sent[v]
        if two_sided:
            group_received[label[v]] += received[v]


@njit(cache=True, nogil=True, counts_references=False)
def multiply_shares(sent, received, total):
    """Over communities, the sum of the shares that they send times those that they receive."""
    shares = 0.0
    for c in range(sent.size):
        shares += (sent[c] / total) * (received[c] / total)
    return shares


@njit(cache=True, nogil=True, counts_references=False)
def represent(label, least, made):
    """The smallest vertex of each vertex's community; `least` has -1 for each label."""
    for v in range(label.size):
        c = label[v]
        if least[c] < 0:
            least[c] = v
        made[v] = least[c]


@njit(cache=True, nogil=True, counts_references=False)
def number_by_first(label, rank, made):
    """Number communities by their first vertices; `rank` has -1 for each label."""
    count = 0
    for v in range(label.size):
        c = label[v]
        if rank[c] < 0:
            rank[c] = count
            count += 1
        made[v] = rank[c]


@part(counts_references=False)
def between_rows(rows, label, begin, end):
    """Weight of the arcs between communities of a range of rows."""
    total = np.int64(0)
    for v in range(begin, end):
        own = label[v]
        for at in range(peek(rows.indptr, v), peek(rows.indptr, v + 1)):
            # Branch-free: which arcs lead out is unpredictable.
            total += np.int64(entry(rows.data, at)) * np.int64(label[vertex(rows.indices, at)] != own)
    return total


@njit(parallel=LOOPS, cache=True, nogil=True)
def _between(rows, label, each):
    n, workers = label.size, each.size
    for worker in prange(workers):
        each[worker] = between_rows(rows, label, n * worker // workers, n * (worker + 1) // workers)


@njit(cache=True, nogil=True, counts_references=False)
def list_members(indptr, label, by, position):
    """List the vertices by community, in ascending order, and the position of each."""
    starts, members, ends = by
    for v in range(label.size):
        c = label[v]
        starts[c + 1] += 1
        ends[c + 1] += indptr[v + 1] - indptr[v]
    for c in range(starts.size - 1):
        starts[c + 1] += starts[c]
        ends[c + 1] += ends[c]
    for v in range(label.size):
        at = starts[label[v]]
        members[at], position[v], starts[label[v]] = v, at, at + 1
    for c in range(starts.size - 1, 0, -1):
        starts[c] = starts[c - 1]
    starts[0] = 0


@part(whole=True, counts_references=False)
def count_parts(members, position, begin, end, refines):
    """Number of parts of the community at begin..end, which is one part unless it was refined."""
    count = np.int64(0)
    for i in range(begin, end):
        v = vertex(members, i)
        if not refines:
            put(position, v, begin)
        count += np.int64(vertex(position, v) == i)
    return count


@part(whole=True, counts_references=False)
def list_parts(arcs, two_sided, by, position, begin, end, arc, first, made, numbered):
    """Number the parts of the community at begin..end from `first` on, and list and sum its vertices by part.

    ``arc``: arcs of the communities before it. Sums of numbers from `first` on are 0 before.
    """
    starts, listed, ends = made
    members, number, last = by.vertices, numbered.number, first
    for i in range(begin, end):
        v = vertex(members, i)
        if vertex(position, v) == i:
            put(number, v, last)
            last += 1
    for i in range(begin, end):
        v = vertex(members, i)
        p = vertex(number, vertex(members, vertex(position, v)))
        put(number, v, p)
        starts[p] += 1
        ends[p] += peek(arcs.indptr, v + 1) - peek(arcs.indptr, v)
        numbered.sent[p] += peek(arcs.sent, v)
        if two_sided:
            numbered.received[p] += peek(arcs.received, v)
    at = begin
    for p in range(first, last):
        # First the end of each part: its vertices take the last place left.
        at += starts[p]
        starts[p] = at
        arc, ends[p] = arc + ends[p], arc
        numbered.inherited[p] = first
    for i in range(end - 1, begin - 1, -1):
        v = vertex(members, i)
        p = vertex(number, v)
        starts[p] -= 1
        put(listed, starts[p], v)


@part(whole=True, counts_references=False)
def _refine_tasks(worker, arcs, null, parts, order, by, space, flow, seed, refines, bounds, counts, counter):
    sums, used, across = space[0][worker], space[1][worker], space[2][worker]
    for task in tasks(counter, bounds.size - 1):
        for c in range(bounds[task], bounds[task + 1]):
            begin, end = by.starts[c], by.starts[c + 1]
            if refines and end - begin > 1:
                if flow is not None:
                    # Entries into other communities' parts count as before these are refined.
                    across[0] = flow.across[0]
                    own = Flow(flow.cut, across, flow.around, flow.moving, flow.inverse, flow.sides)
                    refine_community(arcs, null, parts, order, begin, end, sums, used, own, seed)
                else:
                    refine_community(arcs, null, parts, order, begin, end, sums, used, None, seed)
            counts[c] = count_parts(by.vertices, parts.label, begin, end, refines)


@part(whole=True, counts_references=False)
def _list_tasks(worker, arcs, two_sided, by, position, firsts, made, numbered, bounds, counter):
    for task in tasks(counter, bounds.size - 1):
        for c in range(bounds[task], bounds[task + 1]):
            begin, end = by.starts[c], by.starts[c + 1]
            list_parts(arcs, two_sided, by, position, begin, end, by.ends[c], firsts[c], made, numbered)


@njit(cache=True, nogil=True)
def _divide(arcs, null, parts, order, by, space, flow, seed, refines, bounds, counts, made, numbered, counter):
    """Refine the communities unless they are the parts, and number and list these; returns their number."""
    workers, position, count = space[0].shape[0], parts.label, 0
    in_parallel(
        workers, _refine_tasks, (arcs, null, parts, order, by, space, flow, seed, refines, bounds, counts, counter)
    )
    if is_stopped():
        return 0
    for c in range(counts.size):
        counts[c], count = count, count + counts[c]
    counter[0] = 0
    in_parallel(workers, _list_tasks, (arcs, null.two_sided, by, position, counts, made, numbered, bounds, counter))
    made.starts[count], made.ends[count] = position.size, arcs.indices.size
    return count


@part(forceinline=True, counts_references=False)
def _sum_row(rows, number, groups, fetching, made, table, c):
    """Sum the row of one community; returns its number of entries."""
    wide, weights = made
    keys, sums, used = table
    most = min(groups.ends[c + 1] - groups.ends[c], groups.starts.size - 1)
    mask = mask_for(most)
    count = np.int64(0)
    for i in range(groups.starts[c], groups.starts[c + 1]):
        if fetching:
            fetch(rows, number, groups.vertices, i, groups.vertices.size)
        v = vertex(groups.vertices, i)
        first, last = peek(rows.indptr, v), peek(rows.indptr, v + 1)
        is_long = last - first > MAX
        for at in range(first, last):
            if is_long:
                prefetch(number, vertex(rows.indices, min(at + PREFETCH_ARCS, last - 1)))
            d = vertex(number, vertex(rows.indices, at))
            # Branch-free, as in local moving.
            slot = slot_of(keys, mask, d)
            put(used, count, slot)
            count += np.int64(peek(keys, slot) < 0)
            put(keys, slot, d)
            put(sums, slot, np.int64(entry(rows.data, at)) + peek(sums, slot))
    start = at = groups.ends[c]
    for k in range(count):
        slot = peek(used, k)
        d = peek(keys, slot)
        if d != c:
            wide[at], weights[at] = d, peek(sums, slot)
            at += 1
        put(keys, slot, -1)
        put(sums, slot, 0)
    return at - start


@part(counts_references=False)
def _sum_tasks(worker, rows, number, groups, fetching, made, lengths, found, bounds, counter):
    table = found.keys[worker], found.sums[worker], found.used[worker]
    for task in tasks(counter, bounds.size - 1):
        for c in range(bounds[task], bounds[task + 1]):
            lengths[c] = _sum_row(rows, number, groups, fetching, made, table, c)


@njit(cache=True, nogil=True, counts_references=False)
def _sum(rows, number, groups, fetching, made, lengths, found, bounds, counter):
    arguments = (rows, number, groups, fetching, made, lengths, found, bounds, counter)
    in_parallel(found.keys.shape[0], _sum_tasks, arguments)


@part(counts_references=False)
def _close_up_row(c, ends, indptr, wide, weight, indices, data):
    begin, end = peek(indptr, c), peek(indptr, c + 1)
    back = peek(ends, c) - begin
    for at in range(begin, end):
        put(indices, at, peek(wide, back + at))
    for at in range(begin, end):
        put(data, at, peek(weight, back + at))


@njit(cache=True, nogil=True, counts_references=False)
def _close_up(ends, indptr, wide, weight, indices, data):
    in_parallel(indptr.size - 1, _close_up_row, (ends, indptr, wide, weight, indices, data))
