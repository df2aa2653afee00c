"""Subgraph isomorphism on the CPU: backtracking over the pattern's vertices in a fixed order.

V. Bonnici et al., "A subgraph isomorphism algorithm and its application to biochemical data", BMC Bioinformatics 14
(2013), for the order; V. Carletti, P. Foggia, A. Saggese, M. Vento, "Challenging the time complexity of exact
subgraph isomorphism for huge and dense graphs with VF3", IEEE TPAMI 40 (2018). Candidates of a vertex are the shortest
row among the neighbours of those that have been chosen for its own neighbours. Others are looked up: in marks of the
chosen ones' neighbours, where setting these costs less than searches in rows.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import LOOPS, interruptible, njit, part, peek, prange, put, team, vertex
from hpgraph.kernels.runtime.cpu.rows import place_in_row
from hpgraph.kernels.runtime.cpu.tasks import tasks
from hpgraph.kernels.structure import Rows, Steps
from hpgraph.semiring.stop import is_stopped

# For each step: the chosen vertex, and its remaining candidates, a row of the graph or vertices (row -1); and whether
# neighbours of the chosen vertex are marked. For each vertex: bits of the marking steps, by arcs to it and from it.
State = namedtuple("State", "chosen at end inward marked to_it from_it")
# First vertices that a thread takes at a time. Neighbours are marked where candidates are at least a sixteenth as many:
# setting a mark and taking it back takes a sixteenth of the time of a search.
_CHUNK, _MARKS = 16, 16


def count_mappings(rows: Rows, steps: Steps) -> int:
    """`hpgraph.kernels.structure.Mappings.count_mappings` on the CPU, on all threads."""
    with team() as threads:
        return int(_count(rows, steps, threads))


def list_mappings(rows: Rows, steps: Steps, limit: int) -> Any:
    """`hpgraph.kernels.structure.Mappings.list_mappings` on the CPU, on one thread."""
    p, blocks, left = len(steps.begin) - 1, [], limit
    state, depth, size = _state(rows, steps), -2, 1024
    while left > 0 and depth != -1:
        found = np.empty((min(size, left), p), np.int64)
        with interruptible():
            count, depth = _search(rows, steps, state, depth, 0, len(rows.allowed), found, True)
        blocks.append(found[:count])
        left -= count
        size = min(2 * size, 1 << 20)
    return np.concatenate(blocks) if blocks else np.empty((0, p), np.int64)


@njit(cache=True, nogil=True)
def _state(rows, steps):
    p, n = steps.begin.size - 1, rows.allowed.size
    chosen, at, end = np.zeros(p, np.int64), np.zeros(p, np.int64), np.zeros(p, np.int64)
    # Only directed patterns look up arcs from a vertex.
    size = n if steps.outward.any() else 0
    marks = np.zeros(n, np.uint64), np.zeros(size, np.uint64)
    return State(chosen, at, end, np.zeros(p, np.bool_), np.zeros(p, np.bool_), marks[0], marks[1])


@part(counts_references=False)
def _mark(rows, steps, state, i, on):
    """Set or take back the marks of a step, of the kinds that later ones look up."""
    u, bit = state.chosen[i], np.uint64(1) << np.uint64(i)
    has_in_arcs, sent = False, False
    for k in range(steps.begin[i + 1], steps.begin[steps.begin.size - 1]):
        if steps.other[k] == i:
            sent |= steps.outward[k]
            has_in_arcs |= not steps.outward[k]
    if has_in_arcs:
        for at in range(rows.indptr[u], rows.indptr[u + 1]):
            v = vertex(rows.indices, at)
            put(state.to_it, v, peek(state.to_it, v) | bit if on else peek(state.to_it, v) & ~bit)
    if sent:
        for at in range(rows.in_indptr[u], rows.in_indptr[u + 1]):
            v = vertex(rows.in_indices, at)
            put(state.from_it, v, peek(state.from_it, v) | bit if on else peek(state.from_it, v) & ~bit)
    state.marked[i] = on


@part(counts_references=False)
def _pays(rows, state, i):
    """Whether marking a step's neighbours costs less than searching them for the candidates of the next step."""
    u, candidates = state.chosen[i], abs(state.end[i + 1] - state.at[i + 1])
    degree = rows.indptr[u + 1] - rows.indptr[u] + rows.in_indptr[u + 1] - rows.in_indptr[u]
    return degree <= _MARKS * candidates


@part(counts_references=False)
def _begin_step(rows, steps, state, i, first, last):
    """The candidates of a step: the shortest row that must contain it, or all vertices if no row must."""
    state.at[i], state.end[i] = -1, -1
    if i == 0:
        state.at[i], state.end[i] = -2 - first, -2 - last
        return
    best = np.int64(-1)
    for k in range(steps.begin[i], steps.begin[i + 1]):
        if not steps.is_arc[k]:
            continue
        v = state.chosen[steps.other[k]]
        # An arc to an earlier vertex is one of those that arrive there.
        indptr = rows.in_indptr if steps.outward[k] else rows.indptr
        size = indptr[v + 1] - indptr[v]
        if best < 0 or size < best:
            best = size
            state.at[i], state.end[i], state.inward[i] = indptr[v], indptr[v + 1], steps.outward[k]
    if best < 0:
        state.at[i], state.end[i] = -2, -2 - rows.allowed.size


@part(counts_references=False)
def _has_arc(rows, u, v):
    """Whether there is an arc, by binary search in the shorter of both ends' rows."""
    if rows.indptr[u + 1] - rows.indptr[u] <= rows.in_indptr[v + 1] - rows.in_indptr[v]:
        return place_in_row(rows.indptr, rows.indices, u, v) >= 0
    return place_in_row(rows.in_indptr, rows.in_indices, v, u) >= 0


@part(counts_references=False)
def _fits(rows, steps, state, i, v):
    if not (rows.allowed[v] >> np.uint64(i)) & np.uint64(1):
        return False
    if steps.distinct:
        for j in range(i):
            if state.chosen[j] == v:
                return False
    for k in range(steps.begin[i], steps.begin[i + 1]):
        j = steps.other[k]
        u = state.chosen[j]
        if state.marked[j]:
            marks = state.from_it if steps.outward[k] else state.to_it
            there = (peek(marks, v) >> np.uint64(j)) & np.uint64(1) > 0
        else:
            there = _has_arc(rows, v, u) if steps.outward[k] else _has_arc(rows, u, v)
        if there != steps.is_arc[k]:
            return False
    return True


@part(counts_references=False)
def _next(rows, steps, state, i):
    """The next candidate of a step that fits, or -1. Places below -1 count vertices."""
    at, end = state.at[i], state.end[i]
    found = np.int64(-1)
    while at != end and found < 0 and not is_stopped():
        if at < 0:
            v = -2 - at
            at -= 1
        else:
            v = np.int64(rows.in_indices[at]) if state.inward[i] else np.int64(rows.indices[at])
            at += 1
        if _fits(rows, steps, state, i, v):
            found = v
    state.at[i] = at
    return found


@njit(cache=True, nogil=True, counts_references=False)
def _search(rows, steps, state, depth, first, last, found, listing):
    """Continue from a depth, -2 to begin, until `found` is full; returns the count, and the depth, -1 at the end."""
    p = state.chosen.size
    count = 0
    if depth == -2:
        depth = 0
        _begin_step(rows, steps, state, 0, first, last)
    while depth >= 0 and not (listing and count == found.shape[0]) and not is_stopped():
        if state.marked[depth]:
            _mark(rows, steps, state, depth, False)
        v = _next(rows, steps, state, depth)
        if v < 0:
            depth -= 1
            continue
        state.chosen[depth] = v
        if depth + 1 < p:
            _begin_step(rows, steps, state, depth + 1, first, last)
            if _pays(rows, state, depth):
                _mark(rows, steps, state, depth, True)
            depth += 1
            continue
        if listing:
            for i in range(p):
                found[count, i] = state.chosen[i]
        count += 1
    return count, depth


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _count(rows, steps, threads):
    following = np.zeros(1, np.int64)
    n, p = rows.allowed.size, steps.begin.size - 1
    total = 0
    for _ in prange(threads):
        state = _state(rows, steps)
        no_table = np.empty((0, p), np.int64)
        own_total = 0
        for chunk in tasks(following, n, _CHUNK):
            own_total += _search(rows, steps, state, -2, chunk, min(chunk + _CHUNK, n), no_table, False)[0]
        total += own_total
    return total
