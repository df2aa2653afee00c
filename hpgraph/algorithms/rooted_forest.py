"""A spanning forest with roots, by the Euler tour technique: array operations, where a search would go step by step.

R. E. Tarjan, U. Vishkin, "An efficient parallel biconnectivity algorithm", SIAM Journal on Computing 14 (1985). A tree
whose edges are gone along in both directions is a list of arcs. How far each is from the list's end, found by doubling
the steps (J. C. Wyllie, "The complexity of parallel computations", Cornell 1979), says which way leads down and when a
vertex is met first.
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
        Vertices by number, from 0: a vertex comes before those below it, and these follow each other.
    size : array
        How many vertices are below each, itself among them: they have the numbers from its own on.
    """

    parent: Any
    number: Any
    size: Any


def rooted_forest(arcs: CSR) -> RootedForest:
    """A spanning forest of a graph, and the order in which a walk around it meets the vertices.

    ``arcs``: symmetric, rows ascending, no arc twice.
    """
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
    # Sorted, not counted: most vertices often lie in one tree, and would wait for each other at one counter.
    ends = xp.searchsorted(xp.sort(tree), xp.arange(count + 1)).astype(np.int64, copy=False)
    place = _tour(source, back, first, roots[tree], tree, ends, xp)

    down = xp.flatnonzero(place < place[back])
    parent, number, size = vertices, xp.empty(n, np.int64), xp.empty(n, np.int64)
    child, leads = target[down], xp.zeros(len(source), np.int64)
    leads[place[down]] = 1
    sizes = ends[1:] - ends[:-1]
    number[roots], size[roots] = ends[:-1], sizes
    # Each root before has been met without an arc that leads to it.
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
