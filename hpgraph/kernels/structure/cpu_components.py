"""Weakly connected components by a concurrent union–find (Afforest).

M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via subgraph sampling", IPDPS'18.
Every vertex points to one with a smaller id, or to itself; an arc's union hooks the larger of two roots under the
smaller. Two neighbours of every vertex already join most of the graph into one tree, and arcs that start inside it are
then skipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.sampling import NEIGHBOURS, most_frequent
from hpgraph.kernels.structure.numbering import numbered
from hpgraph.semiring.atomics import atomic_load, compare_and_swap
from hpgraph.semiring.stop import is_stopped

# Vertices that one thread takes at a time.
CHUNK = 4096


def components(arcs: CSR, symmetric: bool) -> tuple[int, Any]:
    """Weakly connected components, numbered by their smallest vertex.

    Parameters
    ----------
    arcs : CSR
        The graph, on the CPU.
    symmetric : bool
        Whether every arc is known to have its reverse: then the arcs of the largest component are left out.

    Returns
    -------
    int
        How many there are.
    array of vertex ids, shape (n,)
        The component of every vertex.
    """
    n = arcs.shape[0]
    label = np.arange(n, dtype=arcs.indices.dtype)
    if arcs.nnz == 0:
        return n, label
    with team():
        _link_first(arcs.indptr, arcs.indices, NEIGHBOURS, label)
        _flatten(label)
        largest = most_frequent(label) if symmetric else -1
        _link_rest(arcs.indptr, arcs.indices, NEIGHBOURS, largest, label)
        _flatten(label)
    return numbered(label)


@part
def _hook(label, u, v):
    """Join the trees of two vertices: the larger root goes under the smaller."""
    a, b = atomic_load(label, u), atomic_load(label, v)
    while a != b:
        high, low = max(a, b), min(a, b)
        above = atomic_load(label, high)
        if above == low or (above == high and compare_and_swap(label, high, high, low)):
            return
        a, b = atomic_load(label, above), low


@njit(parallel=LOOPS, cache=True)
def _link_first(indptr, indices, neighbours, label):
    n = label.size
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for v in range(chunk * CHUNK, chunk * CHUNK if is_stopped() else min(n, (chunk + 1) * CHUNK)):
            for at in range(indptr[v], min(indptr[v] + neighbours, indptr[v + 1])):
                _hook(label, v, indices[at])


@njit(parallel=LOOPS, cache=True)
def _link_rest(indptr, indices, neighbours, largest, label):
    n = label.size
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for v in range(chunk * CHUNK, chunk * CHUNK if is_stopped() else min(n, (chunk + 1) * CHUNK)):
            if label[v] != largest:
                for at in range(indptr[v] + neighbours, indptr[v + 1]):
                    _hook(label, v, indices[at])


@njit(parallel=LOOPS, cache=True)
def _flatten(label):
    """Point every vertex at its root."""
    n = label.size
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for v in range(chunk * CHUNK, chunk * CHUNK if is_stopped() else min(n, (chunk + 1) * CHUNK)):
            # Roots do not move any more, so what other threads write meanwhile is as good.
            root = atomic_load(label, v)
            while root != atomic_load(label, root):
                root = atomic_load(label, root)
            label[v] = root
