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
    return np.float64(space.slack[v]) < (0.0 if flow is not None else expected(groups, rule, v, c, c))


@part(whole=True, counts_references=False)
def _share(worker, space):
    """The range of vertices of a worker."""
    n, workers = space.active.size, space.starts.shape[0]
    return n * worker // workers, n * (worker + 1) // workers


@part(whole=True, counts_references=False)
def count_active(worker, rows, groups, rule, space, flow, round_):
    """Draw the batches of a share of the active vertices, of 2^`rule.bits`, and count these and their arcs by batch.

    Vertices that cannot gain are deactivated first; the batch of inactive ones is 0.
    """
    begin, end = _share(worker, space)
    count, work = space.starts[worker], space.work[worker]
    count[:] = 0
    work[:] = 0
    for v in range(begin, end):
        batch = np.int64(0)
        if space.active[v]:
            is_active = _may_move(groups, rule, space, flow, v)
            space.active[v] = is_active
            if is_active:
                batch = drawn(v, round_, rule.seed, rule.bits)
                count[batch] += 1
                work[batch] += peek(rows.indptr, v + 1) - peek(rows.indptr, v)
        space.batch[v] = batch


@part(whole=True, counts_references=False)
def divide(rows, rule, space):
    """Merge the batches to as many as the active vertices need; returns the bits of their number.

    Sets ``begins``, the first of each batch in the list; ``work[0]``; and in `starts` the first of each worker's share.
    """
    starts, work, count = space.starts, space.work, np.int64(0)
    for worker in range(starts.shape[0]):
        for k in range(starts.shape[1]):
            count += starts[worker, k]
    bits, each = batches.MIN_BITS, batches.NEIGHBOUR_BATCHES * (rows.indices.size // rule.joined)
    while bits < rule.bits and rule.joined << bits < each * count:
        bits += 1
    total, merged = np.int64(0), 1 << (rule.bits - bits)
    for batch in range(1 << bits):
        space.begins[batch] = total
        arcs = np.int64(0)
        for worker in range(starts.shape[0]):
            first = total
            for k in range(batch * merged, (batch + 1) * merged):
                total += starts[worker, k]
                arcs += work[worker, k]
            starts[worker, batch] = first
        work[0, batch] = arcs
    space.begins[1 << bits] = total
    return bits


@part(whole=True, counts_references=False)
def list_active(worker, space, merging):
    """List a share of the active vertices by batch; `merging`: bits by which the numbers of batches become shorter."""
    begin, end = _share(worker, space)
    place = space.starts[worker]
    for v in range(begin, end):
        if space.active[v]:
            batch = np.int64(space.batch[v]) >> merging
            space.batch[v] = batch
            space.listed[place[batch]] = v
            place[batch] += 1
