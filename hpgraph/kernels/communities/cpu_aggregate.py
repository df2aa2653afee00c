"""The graph of communities on the CPU: the rows of each community's members, summed by target community."""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.communities.cpu_choice import MAX, PREFETCH_ARCS, fetch, mask_for, pays, slot_of, tables
from hpgraph.kernels.communities.level import Level
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, prefetch, put, team, vertex
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.tasks import task_bounds, tasks
from hpgraph.kernels.runtime.cpu.weights import entry

# Vertices by community: start of each, and start of its concatenated arcs. `fetching`: the members' rows
# are long enough to prefetch.
Members = namedtuple("Members", "starts members ends fetching")
# Arcs from which threads share a pass: fewer take less time than a thread that has to wait for a core.
_MIN_SHARED = 1 << 18


def aggregate_communities(level: Level, label: Any) -> tuple[Level, Any]:
    """The graph of the communities, numbered in the order of their labels; and the number of each vertex's."""
    arcs, n, ids = level.arcs, len(label), label.dtype
    present = np.zeros(n, np.bool_)
    present[label] = True
    number = (np.cumsum(present, dtype=ids) - 1)[label] if n else label
    count = int(np.count_nonzero(present))
    starts, members, ends = np.zeros(count + 1, np.int64), np.empty(n, ids), np.zeros(count + 1, np.int64)
    check_memory(20 * arcs.nnz, "the graph of the communities", "cpu")
    list_members(arcs.indptr, number, starts, members, ends)
    most = min(count, int(np.diff(ends).max())) if count else 0
    wide, weight = np.empty(arcs.nnz, ids), np.empty(arcs.nnz, np.int64)
    lengths, bounds = np.zeros(count + 1, np.int64), task_bounds(ends)
    with team() as threads:
        found = tables(threads, most)
        rows = Rows(arcs.indptr, arcs.indices, arcs.data)
        groups = Members(starts, members, ends, pays(arcs, n))
        _sum(rows, number, groups, (wide, weight), lengths, found, bounds, np.zeros(16, np.int64))
        indptr = np.zeros(count + 1, np.int64)
        np.cumsum(lengths[:-1], out=indptr[1:])
        indices, data = np.empty(indptr[-1], ids), np.empty(indptr[-1], np.int64)
        _close_up(ends, indptr, wide, weight, indices, data)
    sent, received = group_strengths(level, number, count)
    coarse = CSR((count, count), indptr, indices, data, validate=False, copy=False)
    return level.of_parts(coarse, sent, received, number), number


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


def communities_of_parts(number: Any, label: Any, count: int) -> Any:
    """See `hpgraph.kernels.communities.Communities`."""
    made = np.empty(count, number.dtype)
    made[number] = number[represented(label)]
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
def list_members(indptr, number, starts, members, ends):
    """Vertices by community: start of each community, and of its concatenated arcs."""
    for v in range(number.size):
        c = number[v]
        starts[c + 1] += 1
        ends[c + 1] += indptr[v + 1] - indptr[v]
    for c in range(starts.size - 1):
        starts[c + 1] += starts[c]
        ends[c + 1] += ends[c]
    for v in range(number.size):
        c = number[v]
        members[starts[c]] = v
        starts[c] += 1
    for c in range(starts.size - 1, 0, -1):
        starts[c] = starts[c - 1]
    starts[0] = 0


@part(forceinline=True, counts_references=False)
def sum_row(rows, number, groups, made, table, c):
    """Sum the row of one community; returns its number of entries."""
    wide, weights = made
    keys, sums, used = table
    most = min(groups.ends[c + 1] - groups.ends[c], groups.starts.size - 1)
    mask = mask_for(most)
    count = np.int64(0)
    for i in range(groups.starts[c], groups.starts[c + 1]):
        if groups.fetching:
            fetch(rows, number, groups.members, i, groups.members.size)
        v = vertex(groups.members, i)
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
def _sum_tasks(worker, rows, number, groups, made, lengths, found, bounds, counter):
    table = found.keys[worker], found.sums[worker], found.used[worker]
    for task in tasks(counter, bounds.size - 1):
        for c in range(bounds[task], bounds[task + 1]):
            lengths[c] = sum_row(rows, number, groups, made, table, c)


@njit(cache=True, nogil=True, counts_references=False)
def _sum(rows, number, groups, made, lengths, found, bounds, counter):
    in_parallel(found.keys.shape[0], _sum_tasks, (rows, number, groups, made, lengths, found, bounds, counter))


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
