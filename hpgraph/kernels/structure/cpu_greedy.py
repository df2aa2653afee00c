"""Greedy choices on the CPU: independent sets and colours vertex by vertex in a given order, matchings by rounds."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, interruptible, is_stopped, njit, part, peek, prange, team, vertex

# Vertices that one thread takes at a time.
CHUNK = 1024


def independent_set(arcs: CSR, order: Any) -> Any:
    """Take each vertex, in an order of all, that has no neighbour among those taken: a mask."""
    taken, barred = np.zeros(len(order), np.bool_), np.zeros(len(order), np.bool_)
    with interruptible():
        _take(arcs.indptr, arcs.indices, order, taken, barred)
    return taken


@njit(cache=True, nogil=True)
def _take(indptr, indices, order, taken, barred):
    for i in range(order.size):
        v = vertex(order, i)
        if not barred[v]:
            if is_stopped():
                break
            taken[v] = True
            for at in range(peek(indptr, v), peek(indptr, v + 1)):
                barred[vertex(indices, at)] = True


def greedy_colors(arcs: CSR, order: Any) -> Any:
    """Give each vertex, in an order of all, the least colour, from 0, that no neighbour has yet."""
    n, ids = len(order), arcs.indices.dtype
    color = np.full(n, -1, ids)
    most = int(arcs.degrees.max()) + 2 if n else 0
    with interruptible():
        _color(arcs.indptr, arcs.indices, order, color, np.full(most, -1))
    return color


@njit(cache=True, nogil=True)
def _color(indptr, indices, order, color, user):
    """`user`: the vertex at which each colour was last seen on a neighbour."""
    for i in range(order.size):
        if is_stopped():
            break
        v = vertex(order, i)
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            c = color[vertex(indices, at)]
            if c >= 0:
                user[c] = v
        c = 0
        while user[c] == v:
            c += 1
        color[v] = c


def matching(arcs: CSR, seed: int) -> Any:
    """The mate of each vertex in a maximal matching, or -1: edges in an order drawn by ``seed``, a uint64.

    Every unmatched vertex points at the first of its edges to another; an edge that both ends point at is matched,
    round after round (J.-H. Hoepman, "Simple distributed weighted matchings", arXiv:cs/0410047).
    """
    n, ids = arcs.shape[0], arcs.indices.dtype
    mate, preferred = np.full(n, -1, ids), np.full(n, -1, ids)
    free = np.arange(n, dtype=ids)
    with team():
        while len(free):
            _prefer(arcs.indptr, arcs.indices, np.uint64(seed), mate, preferred, free)
            free = free[: _match(mate, preferred, free)]
    return mate


@part
def mixed(x):
    """A pseudorandom bijection of 64-bit integers: the finalizer of MurmurHash3 (A. Appleby)."""
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xFF51AFD7ED558CCD)
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ (x >> np.uint64(33))


@njit(cache=True, parallel=LOOPS)
def _prefer(indptr, indices, seed, mate, preferred, free):
    count = free.size
    for chunk in prange((count + CHUNK - 1) // CHUNK):
        for i in range(chunk * CHUNK, chunk * CHUNK if is_stopped() else min(count, (chunk + 1) * CHUNK)):
            v = vertex(free, i)
            # The preferred neighbour stays the first as long as it is unmatched.
            if preferred[v] >= 0 and mate[preferred[v]] < 0:
                continue
            first, best = np.uint64(0), np.int64(-1)
            for at in range(peek(indptr, v), peek(indptr, v + 1)):
                u = vertex(indices, at)
                if mate[u] < 0 and u != v:
                    key = mixed((np.uint64(min(u, v)) << np.uint64(32) | np.uint64(max(u, v))) + seed)
                    if best < 0 or key < first:
                        first, best = key, u
            preferred[v] = best


@njit(cache=True, nogil=True)
def _match(mate, preferred, free):
    """Match mutual preferences; vertices that may still be matched move to the front. Returns their number."""
    for i in range(free.size):
        v = free[i]
        u = preferred[v]
        if u >= 0 and preferred[u] == v:
            mate[v] = u
    kept = 0
    for i in range(free.size):
        v = free[i]
        if mate[v] < 0 and preferred[v] >= 0:
            free[kept] = v
            kept += 1
    return kept if not is_stopped() else 0


def matching_in_order(source: Any, target: Any, n: int) -> Any:
    """Match each edge in turn if both of its ends are free, loops left out: a mask of the edges."""
    matched = np.zeros(len(source), np.bool_)
    _match_in_turn(source, target, np.zeros(n, np.bool_), matched)
    return matched


@njit(cache=True, nogil=True)
def _match_in_turn(source, target, taken, matched):
    for i in range(source.size):
        u, v = source[i], target[i]
        if u != v and not taken[u] and not taken[v]:
            taken[u] = taken[v] = matched[i] = True


def suitors(arcs: CSR, least: float) -> Any:
    """The mate of each vertex, or -1, in a matching that takes edges by falling weight, above `least`.

    Of equals that of the smallest ends comes first. Each vertex proposes to the heaviest neighbour without a heavier
    suitor yet, and the one displaced proposes to another: nothing is sorted (F. Manne, M. Halappanavar, "New effective
    multithreaded matching algorithms", IPDPS'14). ``arcs``: of an undirected graph, with weights or without.
    """
    weights = np.ones(arcs.nnz, np.float32) if arcs.data is None else arcs.data
    suitor, best = np.full(arcs.shape[0], -1, arcs.indices.dtype), np.full(arcs.shape[0], least)
    with interruptible():
        _propose(arcs.indptr, arcs.indices, weights, suitor, best)
    mutual = suitor[suitor] == np.arange(len(suitor))
    mutual[suitor < 0] = False
    return np.where(mutual, suitor, suitor.dtype.type(-1))


@part
def _is_heavier(weight, u, v, other, x, y):
    if weight != other or y < 0:
        return weight > other
    return min(u, v) < min(x, y) or (min(u, v) == min(x, y) and max(u, v) < max(x, y))


@njit(cache=True, nogil=True)
def _propose(indptr, indices, weights, suitor, best):
    least = best[0] if best.size else 0.0
    for first in range(suitor.size):
        v = np.int64(first)
        if is_stopped():
            break
        while v >= 0:
            found, heaviest = np.int64(-1), least
            for at in range(peek(indptr, v), peek(indptr, v + 1)):
                u, weight = vertex(indices, at), np.float64(weights[at])
                if (
                    u != v
                    and _is_heavier(weight, u, v, heaviest, v, found)
                    and _is_heavier(weight, u, v, best[u], u, suitor[u])
                ):
                    found, heaviest = u, weight
            if found < 0:
                break
            displaced = np.int64(suitor[found])
            suitor[found], best[found] = v, heaviest
            v = displaced
