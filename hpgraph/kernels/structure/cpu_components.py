"""Weakly connected components by a concurrent union–find (Afforest).

M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via subgraph sampling", IPDPS'18.
Every vertex points to one with a smaller id, or to itself; an arc's union hooks the larger of two roots under the
smaller, with path halving. Linking two neighbours of every vertex already joins most of the graph into one
tree, and arcs that start inside it are then skipped. Few arcs are joined by one thread, without atomics.
"""

from typing import Any

import numpy as np

from hpgraph.core.config import config
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, interruptible, is_stopped, njit, part, peek, prange, team, vertex
from hpgraph.kernels.runtime.cpu.union_find import join
from hpgraph.kernels.runtime.sampling import NEIGHBOURS, most_frequent
from hpgraph.kernels.structure.cpu_stored import interruptible_beyond
from hpgraph.semiring.atomics import atomic_load, compare_and_swap

# Vertices that one thread takes at a time.
CHUNK = 4096
# Mean degree below which few arcs lead near a root. There a vertex starts at its first neighbour's label, in the order
# of ids: without this, road networks take a third longer and lattices half as long again. With more arcs one leads to a
# small id, and the pass does not pay.
FEW_ARCS = 8
_MIN_SHARED = 1 << 18


def components(arcs: CSR, symmetric: bool) -> tuple[int, Any]:
    """Weakly connected components, numbered by their smallest vertex.

    Returns array of vertex ids, shape (n,): the component of every vertex.
    """
    n = arcs.shape[0]
    label = np.arange(n, dtype=arcs.indices.dtype)
    if arcs.nnz == 0:
        return n, label
    # With few arcs, one thread finishes before several have started; no arc of directed ones is skipped.
    if arcs.nnz < _MIN_SHARED or (config.threads == 1 and not symmetric):
        with interruptible_beyond(arcs.nnz):
            _join_rows(arcs.indptr, arcs.indices, label)
        return int(number_trees(label)), label
    left = np.zeros(1, np.bool_)
    with team():
        if arcs.nnz < FEW_ARCS * n:
            _begin(arcs.indptr, arcs.indices, label)
        _link_first(arcs.indptr, arcs.indices, NEIGHBOURS, symmetric, label, left)
        if left[0]:
            flatten(label)
            largest = most_frequent(label) if symmetric else -1
            link_rows(arcs.indptr, arcs.indices, (0, n, 0), NEIGHBOURS, largest, label)
    return int(number_trees(label)), label


def components_within(arcs: CSR, group: Any) -> tuple[int, Any]:
    """`components` of the arcs of a symmetric pattern that join vertices of one group; ``group``: of each vertex."""
    label = np.arange(arcs.shape[0], dtype=arcs.indices.dtype)
    alone = arcs.nnz < _MIN_SHARED
    with interruptible() if alone else team():
        (_link_within.alone if alone else _link_within)(arcs.indptr, arcs.indices, group, label)
    return int(number_trees(label)), label


@njit(parallel=LOOPS, cache=True)
def _link_within(indptr, indices, group, label):
    n = label.size
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for v in range(chunk * CHUNK, chunk * CHUNK if is_stopped() else min(n, (chunk + 1) * CHUNK)):
            for at in range(indptr[v], indptr[v + 1]):
                u = indices[at]
                if u < v and group[u] == group[v]:
                    hook(label, v, u)


@njit(cache=True, nogil=True, counts_references=False)
def _join_rows(indptr, indices, label):
    for v in range(label.size):
        if is_stopped():
            break
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            join(label, np.int64(v), np.int64(vertex(indices, at)))


@njit(cache=True, counts_references=False)
def number_trees(label):
    """Number the trees, in which each vertex points to a smaller one or is the root; returns their number."""
    count = 0
    for v in range(label.size):
        above = vertex(label, v)
        # Smaller vertices already have the number of their tree.
        number = np.int64(peek(label, above))
        if above == v:
            number = np.int64(count)
            count += 1
        label[v] = number
    return count


@part
def hook(label, u, v):
    """Union: hook the larger root under the smaller one, with path halving."""
    a, b = atomic_load(label, u), atomic_load(label, v)
    while a != b:
        high, low = max(a, b), min(a, b)
        above = atomic_load(label, high)
        if above == low:
            return
        if above != high:
            # Path halving; a plain store is safe because parents only decrease.
            label[high] = atomic_load(label, above)
        elif compare_and_swap(label, high, high, low):
            return
        a, b = atomic_load(label, high), low


@njit(parallel=LOOPS, cache=True)
def _begin(indptr, indices, label):
    """Point every vertex at its first neighbour's label if that neighbour has a smaller id: mostly a root by then.

    A neighbour of a larger id in the same chunk points at the vertex's label: plain stores save atomics of unions.
    """
    n = label.size
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        end = min(n, (chunk + 1) * CHUNK)
        for v in range(chunk * CHUNK, chunk * CHUNK if is_stopped() else end):
            at = indptr[v]
            if at < indptr[v + 1]:
                u = indices[at]
                if u < v:
                    label[v] = atomic_load(label, u)
                elif u < end:
                    label[u] = label[v]


@njit(parallel=LOOPS, cache=True)
def _link_first(indptr, indices, neighbours, symmetric, label, left):
    """Link the first arcs of every vertex. Sets ``left`` if arcs remain, if symmetric those to smaller ids."""
    n = label.size
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for v in range(chunk * CHUNK, chunk * CHUNK if is_stopped() else min(n, (chunk + 1) * CHUNK)):
            last = indptr[v + 1]
            end = min(indptr[v] + neighbours, last)
            for at in range(indptr[v], end):
                hook(label, v, indices[at])
            if end < last and not left[0] and not (symmetric and indices[end] > v):
                left[0] = True


@njit(parallel=LOOPS, cache=True)
def link_rows(indptr, indices, rows, skipped, largest, label):
    """Link the arcs of rows but the first few of each, except those of the largest tree.

    `rows`: where they begin and end, and the number of the first arc in `indices`, which may hold a part of the last.
    """
    begin, end, first = rows
    for chunk in prange((end - begin + CHUNK - 1) // CHUNK):
        low = begin + chunk * CHUNK
        for v in range(low, low if is_stopped() else min(end, low + CHUNK)):
            if label[v] != largest:
                for at in range(max(indptr[v] + skipped - first, 0), min(indptr[v + 1] - first, indices.size)):
                    hook(label, v, indices[at])


@njit(parallel=LOOPS, cache=True)
def flatten(label):
    """Point every vertex at its root."""
    n = label.size
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for v in range(chunk * CHUNK, chunk * CHUNK if is_stopped() else min(n, (chunk + 1) * CHUNK)):
            # Roots are final now, so a concurrent store writes the same root.
            root = atomic_load(label, v)
            while root != atomic_load(label, root):
                root = atomic_load(label, root)
            label[v] = root
