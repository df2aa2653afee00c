"""Minimum-cost flow on one thread, by the primal network simplex method.

P. Kovács, "Minimum-cost flow algorithms: an experimental evaluation", Optimization Methods and Software 30 (2015):
block search for the entering arc, and the leaving arc that keeps the tree strongly feasible (W. H. Cunningham, "A
network simplex method", Mathematical Programming 11, 1976), so that no run of pivots without progress repeats a tree.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part

# States of an arc: without flow, in the tree, full.
_EMPTY, _TREE, _FULL = 1, 0, -1
_MIN_BLOCK = 64
Arcs = namedtuple("Arcs", "source target cost capacity flow state")
# A spanning tree with an artificial root, the last vertex. ``arc``: the one to the parent; ``up``: 1 where it leads to
# the parent, else -1. Children are linked: the first, and from each the one after and before it, -1 for none.
Tree = namedtuple("Tree", "parent arc up depth price child after before")


def network_simplex(source: Any, target: Any, cost: Any, capacity: Any, supply: Any) -> tuple[Any, bool]:
    """The flow along each arc that takes the supplies, which sum to 0, at least cost, and whether there is one.

    Costs, capacities and supplies, all int64 or all float64; capacities are positive, and there are no loops.
    """
    n, m, kind = len(supply), len(source), supply.dtype
    most = abs(cost).max(initial=0)
    # More expensive than any path.
    artificial, amount = (most + 1) * (n + 1), abs(supply)
    vertex, root = np.arange(n), np.full(n, n)
    gives = supply >= 0
    arcs = Arcs(
        np.append(source, np.where(gives, vertex, root)).astype(np.int64),
        np.append(target, np.where(gives, root, vertex)).astype(np.int64),
        np.append(cost, np.where(gives, 0, artificial)).astype(kind),
        np.append(capacity, np.full(n, max(amount.sum(), 1))).astype(kind),
        np.append(np.zeros(m), amount).astype(kind) if kind.kind == "f" else np.append(np.zeros(m, kind), amount),
        np.append(np.full(m, _EMPTY, np.int8), np.zeros(n, np.int8)),
    )
    tree = Tree(
        np.append(root, -1), np.append(vertex + m, -1), np.where(np.append(gives, True), 1, -1),
        np.append(np.ones(n, np.int64), 0), np.append(np.where(gives, 0, artificial), 0).astype(kind),
        np.append(np.full(n, -1), 0 if n else -1), np.append(np.where(vertex < n - 1, vertex + 1, -1), -1),
        np.append(vertex - 1, -1),
    )  # fmt: skip
    # Tolerance for reduced costs that should cancel out.
    least = kind.type(most * 1e-12 if kind.kind == "f" else 0)
    with interruptible():
        _solve(arcs, tree, m, least)
    left = arcs.flow[m:].max(initial=0)
    return arcs.flow[:m], bool(left <= (1e-9 * amount.sum() if kind.kind == "f" else 0))


@part
def _find_entering(arcs, price, m, begin, least):
    """Entering arc: the most negative reduced cost in the first block that has one; and where to continue."""
    block, left = max(np.int64(np.sqrt(m)), _MIN_BLOCK), m
    best, found, at = -least, np.int64(-1), begin
    while left > 0:
        for _ in range(min(block, left)):
            gain = arcs.state[at] * (arcs.cost[at] + price[arcs.source[at]] - price[arcs.target[at]])
            if gain < best:
                best, found = gain, at
            at += 1
            if at == m:
                at = 0
        left -= block
        if found >= 0:
            break
    return found, at


@part
def _common_ancestor(tree, u, v):
    """The lowest common ancestor."""
    while u != v:
        if tree.depth[u] >= tree.depth[v]:
            u = tree.parent[u]
        else:
            v = tree.parent[v]
    return u


@part
def _find_leaving(arcs, tree, first, second, top, room):
    """The residual capacity of the cycle that the entering arc closes, and the lower end of the leaving arc.

    That is -1 where the entering arc itself is the first to be full. And whether it lies on the side of `first`.
    """
    below, early = np.int64(-1), False
    u = first
    while u != top:
        e = tree.arc[u]
        left = arcs.flow[e] if tree.up[u] > 0 else arcs.capacity[e] - arcs.flow[e]
        if left < room:
            room, below, early = left, u, True
        u = tree.parent[u]
    u = second
    while u != top:
        e = tree.arc[u]
        left = arcs.capacity[e] - arcs.flow[e] if tree.up[u] > 0 else arcs.flow[e]
        # The last of several arcs that block the cycle keeps the tree strongly feasible.
        if left <= room:
            room, below, early = left, u, False
        u = tree.parent[u]
    return room, below, early


@part
def _augment_cycle(arcs, tree, entering, first, second, top, amount):
    """Augment the cycle by an amount of flow."""
    arcs.flow[entering] += arcs.state[entering] * amount
    u = first
    while u != top:
        arcs.flow[tree.arc[u]] -= tree.up[u] * amount
        u = tree.parent[u]
    u = second
    while u != top:
        arcs.flow[tree.arc[u]] += tree.up[u] * amount
        u = tree.parent[u]


@part
def _unlink(tree, v):
    after, before = tree.after[v], tree.before[v]
    if before >= 0:
        tree.after[before] = after
    else:
        tree.child[tree.parent[v]] = after
    if after >= 0:
        tree.before[after] = before


@part
def _move_subtree(tree, inside, below, outside, entering, up):
    """Reverse the path from `inside` to `below`, and attach `inside` to `outside` by the entering arc."""
    v, above, arc = inside, outside, entering
    while True:
        following, next_arc, next_up = tree.parent[v], tree.arc[v], -tree.up[v]
        _unlink(tree, v)
        first = tree.child[above]
        tree.parent[v], tree.arc[v], tree.up[v] = above, arc, up
        tree.before[v], tree.after[v], tree.child[above] = -1, first, v
        if first >= 0:
            tree.before[first] = v
        if v == below:
            break
        v, above, arc, up = following, v, next_arc, next_up


@part
def _update_potentials(tree, top, change):
    """Update the node potentials and depths of a subtree."""
    v = top
    while True:
        tree.price[v] += change
        tree.depth[v] = tree.depth[tree.parent[v]] + 1
        if tree.child[v] >= 0:
            v = tree.child[v]
            continue
        while v != top and tree.after[v] < 0:
            v = tree.parent[v]
        if v == top:
            break
        v = tree.after[v]


@njit(cache=True, nogil=True)
def _solve(arcs, tree, m, least):
    at = np.int64(0)
    while m > 0 and not is_stopped():
        entering, at = _find_entering(arcs, tree.price, m, at, least)
        if entering < 0:
            break
        u, v = arcs.source[entering], arcs.target[entering]
        first, second = (u, v) if arcs.state[entering] == _EMPTY else (v, u)
        top = _common_ancestor(tree, u, v)
        amount, below, early = _find_leaving(arcs, tree, first, second, top, arcs.capacity[entering])
        if amount > 0:
            _augment_cycle(arcs, tree, entering, first, second, top, amount)
        if below < 0:
            arcs.state[entering] = -arcs.state[entering]
            # Set exactly, despite rounding.
            arcs.flow[entering] = 0 if arcs.state[entering] == _EMPTY else arcs.capacity[entering]
            continue
        leaves = tree.arc[below]
        # Flow falls on the way up from `first`, where the arc leads up, and rises where it leads down.
        emptied = (tree.up[below] > 0) == early
        arcs.state[leaves] = _EMPTY if emptied else _FULL
        arcs.flow[leaves] = 0 if emptied else arcs.capacity[leaves]
        arcs.state[entering] = _TREE
        inside, outside = (first, second) if early else (second, first)
        up = 1 if inside == u else -1
        _move_subtree(tree, inside, below, outside, entering, up)
        # The reduced cost of the entering arc becomes 0.
        _update_potentials(tree, inside, tree.price[outside] - tree.price[inside] - up * arcs.cost[entering])
