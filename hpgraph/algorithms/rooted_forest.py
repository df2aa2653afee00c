"""A rooted spanning forest by the Euler tour technique, with array operations only.

R. E. Tarjan, U. Vishkin, "An efficient parallel biconnectivity algorithm", SIAM Journal on Computing 14 (1985). The
Euler tour of a tree is a list of its arcs in both directions. List ranking by pointer doubling (J. C. Wyllie, "The
complexity of parallel computations", Cornell 1979) gives the position of each arc: the first of the two arcs of an edge
leads from parent to child, and its position orders the vertices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels


class RootedForest(NamedTuple):
    """A spanning forest, in int64 arrays of shape (n,) on the graph's device.

    Attributes
    ----------
    parent : array
        The vertex above each; itself where it is a root, which is the least vertex of its component.
    number : array
        Preorder number of each vertex, from 0: the descendants of a vertex follow it contiguously.
    size : array
        Number of descendants of each vertex, itself included.
    """

    parent: Any
    number: Any
    size: Any


def rooted_forest(arcs: CSR) -> RootedForest:
    """A rooted spanning forest with its preorder, of symmetric arcs in canonical order."""
    n, backend, xp = arcs.shape[0], kernels(arcs.device), array_module(arcs.device)
    plain = arcs.with_data(None, copy=False)
    one, at = backend.spanning_forest(plain)
    one, other = one.astype(np.int64), plain.indices[at].astype(np.int64)
    count, tree = backend.components(plain, True)
    tree, vertices = tree.astype(np.int64), xp.arange(n, dtype=np.int64)
    roots = xp.full(count, n, np.int64)
    backend.minimum_at(roots, tree, vertices)

    # Both arcs of each edge, by source and then by target; sorted by target and then source, the reverse of each.
    source, target = xp.concatenate([one, other]), xp.concatenate([other, one])
    sorted_ = xp.argsort(source * n + target)
    source, target = source[sorted_], target[sorted_]
    back = xp.argsort(target * n + source)
    first = xp.searchsorted(source, xp.arange(n + 1, dtype=np.int64))
    # Sorted, not counted: most vertices often lie in one tree, and would contend for one counter.
    ends = xp.searchsorted(xp.sort(tree), xp.arange(count + 1)).astype(np.int64, copy=False)
    place = _tour(source, back, first, roots[tree], tree, ends, xp)

    down = xp.flatnonzero(place < place[back])
    parent, number, size = vertices, xp.empty(n, np.int64), xp.empty(n, np.int64)
    child, leads = target[down], xp.zeros(len(source), np.int64)
    leads[place[down]] = 1
    sizes = ends[1:] - ends[:-1]
    number[roots], size[roots] = ends[:-1], sizes
    # No arc leads to a root: count the roots before.
    number[child] = xp.cumsum(leads)[place[down]] + tree[child]
    size[child] = (place[back[down]] - place[down] + 1) // 2
    parent[child] = source[down]
    return RootedForest(parent, number, size)


def _tour(source: Any, back: Any, first: Any, root: Any, tree: Any, ends: Any, xp: Any) -> Any:
    """The place of each arc in a walk around all trees, one after the other; `ends` are the vertices before each."""
    arcs = len(source)
    if arcs == 0:
        return xp.empty(0, np.int64)
    here = xp.arange(arcs, dtype=np.int64)
    # After an arc comes the one that follows its reverse around the vertex.
    following = here + 1
    last = following == first[source + 1]
    following[last] = first[source[last]]
    following = following[back]
    closed = (following == first[source[following]]) & (source[following] == root[source[following]])
    following[closed] = here[closed]
    steps = (~closed).astype(np.int64)
    for _ in range(arcs.bit_length()):
        steps += steps[following]
        following = following[following]
    tree = tree[source]
    # A tree of so many vertices has two arcs fewer than twice as many.
    return 2 * (ends[tree + 1] - tree - 1) - 1 - steps
