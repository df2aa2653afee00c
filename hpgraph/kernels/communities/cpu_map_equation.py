"""The two-level map equation on the CPU: a vertex's gain in a community, and the cuts of communities.

M. Rosvall, C. T. Bergstrom, "Maps of random walks on complex networks reveal community structure", PNAS 105 (2008). A
community costs what entering it, leaving it and visiting its vertices take, and all entries together cost more the more
there are. Flows are sums of integers, so that the result does not depend on the threads.
"""

import math
from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.communities.level import Level, summed_by
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex
from hpgraph.kernels.runtime.cpu.weights import entry
from hpgraph.semiring.atomics import fetch_add

# The weight between each community and others, and of all; around each vertex; and which vertices of a batch are about
# to move. Half a unit of weight is a share `inverse` of all; an arc is counted from `sides` sides.
Flow = namedtuple("Flow", "cut across around moving inverse sides")


def flow_of(level: Level, label: Any) -> Flow | None:
    """Data of local moving by the map equation; None for other objectives, which use other kernels."""
    flow = empty_flow(level)
    if flow is None:
        return None
    arcs, n = level.arcs, len(label)
    row, weight = arcs.expand_rows(), np.ones(arcs.nnz, np.int64) if arcs.data is None else arcs.data
    cut = summed_by(label[row], weight * (label[row] != label[arcs.indices]), n)
    around = summed_by(row, weight * (row != arcs.indices), n)
    return flow._replace(cut=cut, across=cut.sum(keepdims=True), around=around)


def empty_flow(level: Level) -> Flow | None:
    """`flow_of` with sums that `set_cuts` has to compute."""
    if not level.flow:
        return None
    n, one = len(level.sent), np.zeros(1, np.int64)
    inverse, sides = 0.5 / level.total, 1 if level.directed else 2
    return Flow(np.zeros(n, np.int64), one, np.zeros(n, np.int64), np.zeros(n, np.bool_), inverse, sides)


@part(whole=True, counts_references=False)
def set_cuts(arcs, label, flow):
    """Compute the sums of a level that may be smaller, from its arcs and its communities."""
    n, across = label.size, np.int64(0)
    for c in range(n):
        flow.cut[c] = 0
    for v in range(n):
        own, around, cut = vertex(label, v), np.int64(0), np.int64(0)
        for at in range(peek(arcs.indptr, v), peek(arcs.indptr, v + 1)):
            u, weight = vertex(arcs.indices, at), peek(arcs.data, at)
            around += weight * np.int64(u != v)
            cut += weight * np.int64(vertex(label, u) != own)
        flow.around[v] = around
        flow.cut[own] += cut
        across += cut
    flow.across[0] = across


@part(whole=True)
def move_between_cuts(flow, v, own, to, inside, joining):
    """Move one vertex, which arcs of weights `inside` and `joining` join to its old and its new community."""
    flow.cut[own] += 2 * inside - flow.around[v]
    flow.cut[to] += flow.around[v] - 2 * joining
    flow.across[0] += 2 * (inside - joining)


@part(whole=True)
def bits_saved(flow, sent, received):
    """Minus the map equation, up to the entropy of the visits."""
    bits = -_information(flow, flow.sides * flow.across[0])
    for c in range(sent.size):
        bits += _saved(flow, flow.cut[c], sent[c], received[c])
    return bits


@part(whole=True)
def _information(flow, halves):
    """``p log2 p`` of a flow, in halves of units."""
    p = np.float64(halves) * flow.inverse
    return p * math.log2(p) if halves > 0 else 0.0


@part(whole=True)
def _saved(flow, cut, sent, received):
    """The bits that a community saves, from the weight between it and others and the flow of its vertices."""
    both, net = flow.sides * cut, sent - received
    out = both + net
    return _information(flow, out) + _information(flow, both - net) - _information(flow, out + 2 * received)


@part(whole=True)
def alone_score(flow, rule, v, inside):
    """Bits that a vertex saves in a community of its own; `inside`: its weight to its present community."""
    across = flow.sides * (peek(flow.across, 0) + 2 * inside)
    return _saved(flow, peek(flow.around, v), peek(rule.sent, v), peek(rule.received, v)) - _information(flow, across)


@part(whole=True)
def flow_score(flow, groups, rule, v, c, weight, inside, alone):
    """Bits that a vertex saves in a community, less those that it saves alone; `weight` joins the two."""
    around, sent, received = peek(flow.around, v), peek(rule.sent, v), peek(rule.received, v)
    cut, all_sent, all_received = peek(flow.cut, c), peek(groups.sent, c), peek(groups.received, c)
    if vertex(groups.label, v) == c:
        # Evaluated as if the vertex were removed and joined again.
        cut, all_sent, all_received = cut - around + 2 * weight, all_sent - sent, all_received - received
    gain = _saved(flow, cut + around - 2 * weight, all_sent + sent, all_received + received)
    gain -= _saved(flow, cut, all_sent, all_received)
    return gain - _information(flow, flow.sides * (peek(flow.across, 0) + 2 * (inside - weight))) - alone


@part(whole=True)
def shift_cuts(rows, groups, space, flow, begin, end, sign):
    """Add the arcs between communities of a range of moving vertices to the cuts, or subtract them."""
    total = np.int64(0)
    for i in range(begin, end):
        v = vertex(space.listed, i)
        if not flow.moving[v]:
            continue
        own, cut = vertex(groups.label, v), np.int64(0)
        for at in range(peek(rows.indptr, v), peek(rows.indptr, v + 1)):
            u = vertex(rows.indices, at)
            c = vertex(groups.label, u)
            if c != own:
                weight = np.int64(entry(rows.data, at))
                cut += weight
                if not flow.moving[u]:
                    # The arc back, which a moving vertex counts itself.
                    fetch_add(flow.cut, c, sign * weight)
                    total += weight
        fetch_add(flow.cut, own, sign * cut)
        total += cut
    fetch_add(flow.across, 0, sign * total)


@part(whole=True)
def settle(space, flow, begin, end):
    """Clear the moving flags of a batch's vertices."""
    for i in range(begin, end):
        flow.moving[vertex(space.listed, i)] = False
