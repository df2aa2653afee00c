"""Bridges and biconnected components from any spanning forest, with array operations only.

X. Dong, L. Wang, Y. Gu, Y. Sun, "Provably fast and space-efficient parallel biconnectivity", PPoPP'23, after R. E.
Tarjan, U. Vishkin, "An efficient parallel biconnectivity algorithm", SIAM Journal on Computing 14 (1985). The skeleton
is the graph without the back edges, and without the tree edges from a parent to a child with a subtree that reaches no
vertex outside the parent's subtree. Its connected components are the biconnected components, each without its top
vertex.

The forest is rooted by the Euler tour technique (Tarjan, Vishkin). The Euler tour of a tree is a list of its arcs in
both directions. List ranking by pointer doubling (J. C. Wyllie, "The complexity of parallel computations", Cornell
1979) gives the position of each arc: the first of the two arcs of an edge leads from parent to child, and its position
orders the vertices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import array_module, check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels


class Reach(NamedTuple):
    """The least and the greatest preorder number that non-tree edges reach from each vertex's subtree, or in it."""

    low: Any
    high: Any


class Blocks(NamedTuple):
    """Biconnected components by their vertices, in int64 arrays."""

    label: Any  # the component of the edge from each vertex to its parent; -1 for roots
    top: Any  # the top vertex of each component


def searched(arcs: CSR) -> tuple[RootedForest, Any, Reach]:
    """A spanning forest, a mask of the tree arcs, and the reach of each vertex.

    ``arcs``: symmetric, rows ascending, no arc twice; loops are ignored.
    """
    check_memory(150 * arcs.shape[0] + 30 * arcs.nnz, "a rooted spanning forest", arcs.device)
    plain = arcs.with_data(None, copy=False)
    forest, source, target = rooted_forest(plain), plain.expand_rows(), plain.indices
    of_tree = (forest.parent[target] == source) | (forest.parent[source] == target)
    others = matrix_of_csr(kernels(arcs.device).keep_entries(plain, ~of_tree))
    number, xp = forest.number, array_module(arcs.device)
    low = _below(xp.minimum(number, others.mxv(number, "min_second")), forest, xp.minimum)
    high = _below(xp.maximum(number, others.mxv(number, "max_second")), forest, xp.maximum)
    return forest, of_tree, Reach(low, high)


def _below(values: Any, forest: RootedForest, better: Any) -> Any:
    """The best value over each vertex's subtree: a range query by two intervals of a sparse table."""
    xp = array_module(values)
    table, found = xp.empty_like(values), xp.empty_like(values)
    table[forest.number] = values
    rest, width = xp.arange(len(values)), 1
    while len(rest):
        size = forest.size[rest]
        done = size < 2 * width
        here, begin = rest[done], forest.number[rest[done]]
        found[here] = better(table[begin], table[begin + size[done] - width])
        table, rest = better(table[:-width], table[width:]), rest[~done]
        width *= 2
    return found


def bridge_ends(arcs: CSR) -> Any:
    """The child and the parent of each bridge, shape (k, 2)."""
    xp = array_module(arcs.device)
    forest, _, reach = searched(arcs)
    below = reach.high < forest.number + forest.size
    ends = xp.flatnonzero((reach.low >= forest.number) & below & (forest.parent != xp.arange(arcs.shape[0])))
    return xp.stack([ends, forest.parent[ends]], axis=1)


def blocks(arcs: CSR) -> tuple[RootedForest, Blocks]:
    """The biconnected components."""
    backend, xp = kernels(arcs.device), array_module(arcs.device)
    forest, of_tree, reach = searched(arcs)
    parent, number, size = forest
    above = parent
    plain = (reach.low < number[above]) | (reach.high >= number[above] + size[above])
    source, target = arcs.expand_rows(), arcs.indices
    lower = xp.where(number[source] > number[target], source, target)
    apart = (number[lower] >= number[source] + size[source]) | (number[lower] >= number[target] + size[target])
    kept = xp.where(of_tree, plain[lower], apart)
    count, part = backend.components(backend.keep_entries(arcs.with_data(None, copy=False), kept), True)
    has_parent = parent != xp.arange(arcs.shape[0])
    used = xp.zeros(count, np.int64)
    used[part[has_parent]] = 1
    label = xp.where(has_parent, (xp.cumsum(used) - 1)[part], -1)
    top = xp.empty(int(used.sum()), np.int64)
    hangs = xp.flatnonzero(has_parent & (label != label[parent]))
    top[label[hangs]] = parent[hangs]
    return forest, Blocks(label, top)


class RootedForest(NamedTuple):
    """A spanning forest, in int64 arrays of shape (n,) on the graph's device."""

    parent: Any  # the vertex above each; itself where it is a root, which is the least vertex of its component
    number: Any  # preorder number from 0: the descendants of a vertex follow it contiguously
    size: Any  # number of descendants, the vertex itself included


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
