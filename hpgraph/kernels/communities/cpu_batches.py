"""The batches of a round on the CPU: which vertices may move, and in which batch each chooses."""

import numpy as np

from hpgraph.kernels.communities import batches
from hpgraph.kernels.communities.cpu_choice import drawn, expected
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex


@part(whole=True, counts_references=False)
def _may_move(groups, rule, space, flow, v):
    """Whether an active vertex may gain by a move, after its neighbours' moves since it chose."""
    if not space.joined[v]:
        return False
    c = vertex(groups.label, v)
    if rule.refining:
        return peek(groups.size, c) == 1
    return np.float64(space.slack[v]) < (0.0 if flow is not None else expected(groups, rule, v, c, c))


@part(whole=True, counts_references=False)
def round_bits(rows, groups, rule, space, flow):
    """`batches.batch_bits` from active neighbours; first deactivates vertices that cannot gain."""
    count = np.int64(0)
    for v in range(space.active.size):
        if space.active[v]:
            space.active[v] = _may_move(groups, rule, space, flow, v)
            count += np.int64(space.active[v])
    bits, each = batches.MIN_BITS, batches.NEIGHBOUR_BATCHES * (rows.indices.size // rule.joined)
    while bits < rule.bits and rule.joined << bits < each * count:
        bits += 1
    return bits


@part(whole=True, counts_references=False)
def list_active(rows, rule, space, turn):
    """List the active vertices by batch, and set each vertex's batch, 0 if inactive; returns the list's length."""
    active, listed, starts, batches_of, (round_, bits) = space.active, space.listed, space.starts, space.batch, turn
    seed, last = rule.seed, 1 << bits
    starts[:] = 0
    space.work[:] = 0
    for v in range(active.size):
        batches_of[v] = 0
        if active[v]:
            batch = drawn(v, round_, seed, bits)
            batches_of[v] = batch
            starts[batch] += 1
            space.work[batch] += peek(rows.indptr, v + 1) - peek(rows.indptr, v)
    total = 0
    for batch in range(last):
        count = starts[batch]
        starts[batch] = total
        total += count
    for v in range(active.size):
        if active[v]:
            batch = batches_of[v]
            at = starts[batch]
            listed[at] = v
            starts[batch] = at + 1
    for batch in range(last, 0, -1):
        starts[batch] = starts[batch - 1]
    starts[0] = 0
    return total
