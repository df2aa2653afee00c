"""Alternating trees of blossoms, odd cycles that are shrunk to one vertex, with their duals.

J. Edmonds, "Maximum matching and a polyhedron with 0,1-vertices", Journal of Research of the NBS 69B (1965). `now` is
by how much the duals of the tree have changed. That of a labelled vertex or blossom is stored without its own change,
which is added or subtracted when the label changes or the search ends. The leader of a blossom is the first vertex of
its largest child, so that few vertices change their leader.
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.runtime.cpu.heap import precedes, push
from hpgraph.kernels.runtime.cpu.part import part

# Outer: reached from the root by an even number of edges; inner: by an odd number.
NONE, OUTER, INNER = range(3)
# Where `Search.count` has the number of vertices to scan and of those scanned, of vertices near the tree, of inner
# blossoms, of events, and the last stamp; where `Search.end` has the ends of the edge that augments.
QUEUED, SCANNED, NEAR, INNERS, EVENTS, STAMP = range(6)

# Of vertices: the mate, and the dual; the first vertex of the outermost blossom, the next one in the same blossom.
# Of that first vertex: the outermost blossom. Of blossoms, the first n being the vertices: dual, first and last vertex,
# size, the one around it, the child with the base, the base, the next child of the same blossom with the edge to it.
# Numbers of blossoms that are free, and how many these are.
Forest = namedtuple(
    "Forest", "mate price leader following holder dual first last size parent child base sibling link spare spares"
)
# Of blossoms: label, and the edge by which an inner one was reached; a stamp. Of vertices: the dual change at which the
# nearest outer vertex is adjacent by a tight edge, and that vertex. Lists that `count` describes, events as a heap; the
# dual change at which the search ends.
Search = namedtuple("Search", "label entry mark nearest before queue near inner keys events count bound end stack")


@part
def top(forest, v):
    """The outermost blossom of a vertex."""
    return forest.holder[forest.leader[v]]


@part
def shift(forest, b, change):
    """Add to the duals of the vertices of a blossom."""
    v = forest.first[b]
    while True:
        forest.price[v] += change
        if v == forest.last[b]:
            break
        v = forest.following[v]


@part
def _queue(forest, search, b):
    """Queue the vertices of an outer blossom for scanning; the search ends if one of their duals is 0."""
    v = forest.first[b]
    while True:
        search.queue[search.count[QUEUED]] = v
        search.count[QUEUED] += 1
        if precedes(forest.price[v], search.bound[0]):
            search.bound[0], search.end[0], search.end[1] = forest.price[v], v, -1
        if v == forest.last[b]:
            break
        v = forest.following[v]


@part
def label_outer(forest, search, b, now):
    """Label a blossom at even distance from the root; its vertices' duals fall, its own rises."""
    search.label[b] = OUTER
    shift(forest, b, now)
    forest.dual[b] -= now * 2
    _queue(forest, search, b)


@part
def label_inner(forest, search, b, now, outer, inner):
    """Label a blossom that an edge reached; duals of its vertices rise, its own falls to 0, where it is expanded."""
    shift(forest, b, -now)
    _make_inner(forest, search, b, now, outer, inner)


@part
def _make_inner(forest, search, b, now, outer, inner):
    count = search.count
    search.label[b], search.entry[0, b], search.entry[1, b] = INNER, outer, inner
    search.inner[count[INNERS]] = b
    count[INNERS] += 1
    forest.dual[b] += now * 2
    if b >= forest.mate.size and precedes(forest.dual[b] * 0.5, search.bound[0]):
        count[EVENTS] = push(search.keys, search.events, count[EVENTS], forest.dual[b] * 0.5, b)


@part
def _climb(forest, search, b):
    """From an outer blossom towards the root: the matched edge, the inner blossom, and the edge that reached it."""
    base = forest.base[b]
    mate = forest.mate[base]
    above = top(forest, mate)
    return base, mate, above, search.entry[0, above], search.entry[1, above]


@part
def _parent(forest, search, b):
    """The outer blossom before an outer one in the tree; -1 at the root."""
    if forest.mate[forest.base[b]] < 0:
        return np.int64(-1)
    return top(forest, _climb(forest, search, b)[3])


@part
def _common_ancestor(forest, search, one, other):
    """The first common predecessor of two outer blossoms."""
    search.count[STAMP] += 1
    stamp = search.count[STAMP]
    while True:
        if one >= 0:
            if search.mark[one] == stamp:
                return one
            search.mark[one] = stamp
            one = _parent(forest, search, one)
        one, other = other, one


@part
def _join(forest, b, other, inside, outside):
    forest.sibling[b], forest.link[0, b], forest.link[1, b] = other, inside, outside


@part
def shrink(forest, search, v, u, now):
    """Make a blossom of the cycle that a tight edge between outer vertices closes."""
    one, other = top(forest, v), top(forest, u)
    c = _common_ancestor(forest, search, one, other)
    _join(forest, one, other, v, u)
    while one != c:
        base, mate, b, outer, inner = _climb(forest, search, one)
        _join(forest, b, one, mate, base)
        one = top(forest, outer)
        _join(forest, one, b, outer, inner)
    while other != c:
        base, mate, b, outer, inner = _climb(forest, search, other)
        _join(forest, other, b, base, mate)
        other = top(forest, outer)
        _join(forest, b, other, inner, outer)
    forest.spares[0] -= 1
    b = forest.spare[forest.spares[0]]
    forest.child[b], forest.base[b], forest.parent[b] = c, forest.base[c], -1
    search.label[b], forest.dual[b] = OUTER, now * -2
    _enclose(forest, search, b, now)


@part
def _enclose(forest, search, b, now):
    """Put the children of a blossom into it: the largest keeps its leader."""
    c = forest.child[b]
    largest, x = c, forest.sibling[c]
    while x != c:
        if forest.size[x] > forest.size[largest]:
            largest = x
        x = forest.sibling[x]
    leader, size = forest.first[largest], 0
    forest.first[b], forest.last[b], forest.holder[leader] = leader, forest.last[largest], b
    while True:
        if search.label[x] == OUTER:
            forest.dual[x] += now * 2
        else:
            forest.dual[x] -= now * 2
            shift(forest, x, now * 2)
            _queue(forest, search, x)
        search.label[x], forest.parent[x] = NONE, b
        size += forest.size[x]
        if x != largest:
            _lead(forest, x, leader)
            forest.following[forest.last[b]], forest.last[b] = forest.first[x], forest.last[x]
        x = forest.sibling[x]
        if x == c:
            break
    forest.size[b] = size


@part
def _lead(forest, b, leader):
    v = forest.first[b]
    while True:
        forest.leader[v] = leader
        if v == forest.last[b]:
            break
        v = forest.following[v]


@part
def expand(forest, search, b, now):
    """Put the children of an inner blossom in its place: those on the even way through it stay in the tree."""
    c, length = forest.child[b], 0
    x = c
    while True:
        forest.parent[x] = -1
        forest.holder[forest.first[x]] = x
        if forest.first[x] != forest.first[b]:
            _lead(forest, x, forest.first[x])
        x = forest.sibling[x]
        length += 1
        if x == c:
            break
    outer, inner = search.entry[0, b], search.entry[1, b]
    entered, begin = top(forest, inner), 0
    while x != entered:
        x = forest.sibling[x]
        begin += 1
    # From the child that was entered to that of the base, in the direction of an even number of edges.
    x = c
    for i in range(1, length + 1):
        previous, x = x, forest.sibling[x]
        place = i if begin % 2 == 1 else i % length
        if place == begin:
            _make_inner(forest, search, x, now, outer, inner)
        elif (place > begin) == (begin % 2 == 0):
            search.label[x] = NONE
            shift(forest, x, now)
        elif (place - begin) % 2 == 1:
            shift(forest, x, now)
            label_outer(forest, search, x, now)
        elif begin % 2 == 0:
            _make_inner(forest, search, x, now, forest.link[1, x], forest.link[0, x])
        else:
            _make_inner(forest, search, x, now, forest.link[0, previous], forest.link[1, previous])
    search.label[b] = NONE
    forest.spare[forest.spares[0]] = b
    forest.spares[0] += 1


@part
def rebase(forest, stack, b, v):
    """Match all vertices of a blossom but one among themselves."""
    n, depth = forest.mate.size, 1
    stack[0, 0], stack[1, 0] = b, v
    while depth > 0:
        depth -= 1
        b, v = stack[0, depth], stack[1, depth]
        if b < n:
            continue
        t = v
        while forest.parent[t] != b:
            t = forest.parent[t]
        stack[0, depth], stack[1, depth] = t, v
        depth += 1
        place, x = 0, forest.child[b]
        while x != t:
            x = forest.sibling[x]
            place += 1
        # Every second edge: from the former base on, or after the new one.
        c = forest.child[b]
        x, until = (c, t) if place % 2 == 0 else (forest.sibling[t], forest.sibling[c])
        while x != until:
            inside, outside = forest.link[0, x], forest.link[1, x]
            forest.mate[inside], forest.mate[outside] = outside, inside
            following = forest.sibling[x]
            stack[0, depth], stack[1, depth] = x, inside
            stack[0, depth + 1], stack[1, depth + 1] = following, outside
            depth += 2
            x = forest.sibling[following]
        forest.child[b], forest.base[b] = t, v
