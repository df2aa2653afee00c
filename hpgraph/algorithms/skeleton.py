"""Bridges and biconnected components from any spanning forest, with array operations only.

X. Dong, L. Wang, Y. Gu, Y. Sun, "Provably fast and space-efficient parallel biconnectivity", PPoPP'23, after R. E.
Tarjan, U. Vishkin, "An efficient parallel biconnectivity algorithm", SIAM Journal on Computing 14 (1985). The skeleton
is the graph without the back edges, and without the tree edges from a parent to a child with a subtree that reaches no
vertex outside the parent's subtree. Its connected components are the biconnected components, each without its top
vertex.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.rooted_forest import RootedForest, rooted_forest
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import array_module, check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels


class Reach(NamedTuple):
    """The least and the greatest preorder number that non-tree edges reach from each vertex's subtree.

    Attributes
    ----------
    low, high : int64 arrays of shape (n,)
        Over the subtree's vertices and their neighbours by non-tree edges.
    """

    low: Any
    high: Any


class Blocks(NamedTuple):
    """Biconnected components by their vertices.

    Attributes
    ----------
    label : int64 array of shape (n,)
        The component of the edge from each vertex to its parent; -1 for roots.
    top : int64 array of shape (count,)
        The top vertex of each component.
    """

    label: Any
    top: Any


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
