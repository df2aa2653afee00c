"""Refinement on the CPU: each community is divided into connected parts by one thread.

V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected communities", Scientific
Reports 9, 2019, section "Leiden algorithm". Vertices begin alone, and each that no other has joined joins the best part
of its community, one after another in a pseudorandom order; a part that was joined keeps its members, so that parts are
connected. Here a vertex takes the best part, not a random one. No part depends on other communities, so that the result
does not depend on the threads. The numbers of a community's parts are consecutive: an arc reads one number, which tells
both whether it leads out and to which part, and all sums of a community are close in memory.
"""

from collections import namedtuple

import numpy as np

from hpgraph.kernels.communities.cpu_choice import fetch
from hpgraph.kernels.communities.cpu_map_equation import alone_score, flow_score, move_between_cuts
from hpgraph.kernels.runtime.cpu.kernel import part, peek, put, vertex
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.kernels.sampling.cpu_random import GOLDEN, below, mixed

# A level: its rows, and what each vertex sends and receives; and its null model: the penalty of the product of two
# strengths, and whether those sent and received differ.
Arcs = namedtuple("Arcs", "indptr indices data sent received")
Null = namedtuple("Null", "penalty two_sided")
# The part of each vertex, the position of a member among all vertices by community; and the strengths of each.
Parts = namedtuple("Parts", "label sent received")
# Vertices by community, and those that may not join a part; whether rows are long enough to prefetch.
Order = namedtuple("Order", "vertices closed fetching")
# Added to the sum of weights to a part, or a community, that has any.
PRESENT = 1 << 60


@part(whole=True, counts_references=False, forceinline=True)
def expected_without(arcs, parts, null, v, c):
    """Expected weight between a vertex and a part or community without it, times the resolution."""
    if null.two_sided:
        return null.penalty * (
            np.float64(peek(arcs.sent, v)) * np.float64(peek(parts.received, c))
            + np.float64(peek(arcs.received, v)) * np.float64(peek(parts.sent, c))
        )
    return 2 * null.penalty * np.float64(peek(arcs.sent, v)) * np.float64(peek(parts.sent, c))


@part(whole=True, counts_references=False, forceinline=True)
def _sum_inside(arcs, label, v, begin, size, sums, used):
    """Sum the weights of a vertex's arcs in its community by part; returns how many parts there are but its own.

    Branch-free: whether a part is new is unpredictable. Other arcs count nothing, for its own.
    """
    own, count = vertex(label, v) - begin, np.int64(0)
    put(sums, own, np.int64(PRESENT))
    for at in range(peek(arcs.indptr, v), peek(arcs.indptr, v + 1)):
        c = vertex(label, vertex(arcs.indices, at)) - begin
        # Not below 0 either.
        is_inside = np.uint64(c) < np.uint64(size)
        c = c if is_inside else own
        before = peek(sums, c)
        is_new = np.int64(before == 0)
        put(used, count, c)
        put(sums, c, before + np.int64(entry(arcs.data, at)) * np.int64(is_inside) + is_new * PRESENT)
        count += is_new
    put(sums, own, 0)
    return count


@part(whole=True, counts_references=False, forceinline=True)
def _best_part(arcs, null, parts, flow, v, begin, size, sums, used):
    """The part that a vertex, alone in its own, gains most by joining; and the weight between the two."""
    count = _sum_inside(arcs, parts.label, v, begin, size, sums, used)
    own = vertex(parts.label, v)
    # A part without neighbours of the vertex would have no score above 0.
    best, joining, most, bits = own, np.int64(0), 0.0, 0.0
    if flow is not None:
        bits = alone_score(flow, arcs, v, 0)
        most = flow_score(flow, parts, arcs, v, own, 0, 0, bits)
    for k in range(count):
        at = vertex(used, k)
        c, weight = begin + at, peek(sums, at) - PRESENT
        put(sums, at, 0)
        if flow is not None:
            score = flow_score(flow, parts, arcs, v, c, weight, 0, bits)
        else:
            score = np.float64(weight) - expected_without(arcs, parts, null, v, c)
        # Branch-free: which is better is unpredictable.
        best, joining = (c, weight) if score > most else (best, joining)
        most = max(most, score)
    return best, joining


@part(whole=True, counts_references=False)
def refine_community(arcs, null, parts, order, begin, end, sums, used, flow, seed):
    """Divide the community whose vertices are at begin..end, in a pseudorandom order."""
    members, closed = order.vertices, order.closed
    for i in range(begin, end):
        v = vertex(members, i)
        at = begin + below(mixed(seed + np.uint64(v) * GOLDEN), i - begin + 1)
        put(members, i, vertex(members, at))
        put(members, at, v)
    for i in range(begin, end):
        v = vertex(members, i)
        put(parts.label, v, i)
        put(parts.sent, i, peek(arcs.sent, v))
        if null.two_sided:
            put(parts.received, i, peek(arcs.received, v))
    for i in range(begin, end):
        if order.fetching:
            fetch(arcs, parts.label, members, i, end)
        v = vertex(members, i)
        if closed[v]:
            continue
        best, joining = _best_part(arcs, null, parts, flow, v, begin, end - begin, sums, used)
        if best == i:
            continue
        put(parts.label, v, best)
        closed[vertex(members, best)] = True
        put(parts.sent, best, peek(parts.sent, best) + peek(arcs.sent, v))
        if null.two_sided:
            put(parts.received, best, peek(parts.received, best) + peek(arcs.received, v))
        if flow is not None:
            move_between_cuts(flow, v, i, best, 0, joining)
