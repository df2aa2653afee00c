"""Search for a small pattern in a graph on the CPU: one vertex of the pattern after the other, in a fixed order.

V. Bonnici et al., "A subgraph isomorphism algorithm and its application to biochemical data", BMC Bioinformatics 14
(2013), of which the order is; V. Carletti, P. Foggia, A. Saggese, M. Vento, "Challenging the time complexity of exact
subgraph isomorphism for huge and dense graphs with VF3", IEEE TPAMI 40 (2018). Candidates of a vertex are the shortest
row among the neighbours of those that have been chosen for its own neighbours; the others are looked up.
"""

from collections import namedtuple
from typing import Any

import numpy as np
from numba import prange

from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.search import lower_bound
from hpgraph.kernels.runtime.cpu.tasks import next_task
from hpgraph.kernels.runtime.cpu.threads import interruptible, team
from hpgraph.kernels.structure.subgraphs import Rows, Steps
from hpgraph.semiring.stop import is_stopped

# Of each step: the vertex that is chosen, and the rest of its candidates: a row of the graph, or vertices (row -1).
State = namedtuple("State", "chosen at end inward")
# First vertices that a thread takes at a time.
_CHUNK = 16


def count_mappings(rows: Rows, steps: Steps) -> int:
    """`hpgraph.kernels.structure.Mappings.count_mappings` on the CPU, on all threads."""
    with team() as threads:
        return int(_count(rows, steps, threads))


def list_mappings(rows: Rows, steps: Steps, limit: int) -> Any:
    """`hpgraph.kernels.structure.Mappings.list_mappings` on the CPU, on one thread."""
    p, blocks, left = len(steps.begin) - 1, [], limit
    state, depth, size = _state(p), -2, 1024
    while left > 0 and depth != -1:
        found = np.empty((min(size, left), p), np.int64)
        with interruptible():
            count, depth = _search(rows, steps, state, depth, 0, len(rows.allowed), found, True)
        blocks.append(found[:count])
        left -= count
        size = min(2 * size, 1 << 20)
    return np.concatenate(blocks) if blocks else np.empty((0, p), np.int64)


def _state(p: int) -> State:
    chosen, at, end = np.zeros((3, p), np.int64)
    return State(chosen, at, end, np.zeros(p, np.bool_))


@part
def _begin_step(rows, steps, state, i, first, last):
    """The candidates of a step: the shortest row that must have it, or where none must, all vertices."""
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


@part
def _has_arc(rows, u, v):
    """By the shorter of two rows."""
    if rows.indptr[u + 1] - rows.indptr[u] <= rows.in_indptr[v + 1] - rows.in_indptr[v]:
        end = rows.indptr[u + 1]
        at = lower_bound(rows.indices, rows.indptr[u], end, v)
        return at < end and rows.indices[at] == v
    end = rows.in_indptr[v + 1]
    at = lower_bound(rows.in_indices, rows.in_indptr[v], end, u)
    return at < end and rows.in_indices[at] == u


@part
def _fits(rows, steps, state, i, v):
    if not (rows.allowed[v] >> np.uint64(i)) & np.uint64(1):
        return False
    if steps.distinct:
        for j in range(i):
            if state.chosen[j] == v:
                return False
    for k in range(steps.begin[i], steps.begin[i + 1]):
        u = state.chosen[steps.other[k]]
        if (_has_arc(rows, v, u) if steps.outward[k] else _has_arc(rows, u, v)) != steps.is_arc[k]:
            return False
    return True


@part
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


@njit(cache=True, nogil=True)
def _search(rows, steps, state, depth, first, last, found, listing):
    """Go on from a depth, -2 to begin, until `found` is full; returns how many, and the depth, -1 at the end."""
    p = state.chosen.size
    count = 0
    if depth == -2:
        depth = 0
        _begin_step(rows, steps, state, 0, first, last)
    while depth >= 0 and not (listing and count == found.shape[0]) and not is_stopped():
        v = _next(rows, steps, state, depth)
        if v < 0:
            depth -= 1
            continue
        state.chosen[depth] = v
        if depth + 1 < p:
            depth += 1
            _begin_step(rows, steps, state, depth, first, last)
            continue
        if listing:
            for i in range(p):
                found[count, i] = state.chosen[i]
        count += 1
    return count, depth


@njit(cache=True, nogil=True, parallel=LOOPS)
def _count(rows, steps, threads):
    following = np.zeros(1, np.int64)
    n, p = rows.allowed.size, steps.begin.size - 1
    total = 0
    for _ in prange(threads):
        chosen, at, end = np.zeros(p, np.int64), np.zeros(p, np.int64), np.zeros(p, np.int64)
        state = State(chosen, at, end, np.zeros(p, np.bool_))
        nothing = np.empty((0, p), np.int64)
        mine = 0
        while True:
            chunk = next_task(following, _CHUNK)
            if chunk >= n or is_stopped():
                break
            mine += _search(rows, steps, state, -2, chunk, min(chunk + _CHUNK, n), nothing, False)[0]
        total += mine
    return total
