"""Edges between blocks of vertices on the CPU, in parallel: the draws of `hpgraph.kernels.sampling.blocks`."""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, put, team
from hpgraph.kernels.sampling import blocks
from hpgraph.kernels.sampling.blocks import DRAWN, Blocks
from hpgraph.kernels.sampling.cpu_draws import MAX_SERIAL
from hpgraph.kernels.sampling.cpu_random import GOLDEN, below, mixed, unit


def block_edges(model: Blocks, ids: Any) -> tuple[Any, Any]:
    """`hpgraph.kernels.sampling.Sampling.block_edges` on the CPU."""
    count = int(model.ends[-1])
    if count <= MAX_SERIAL:
        return blocks.block_edges(model, ids)
    source, target = np.empty(count, ids), np.empty(count, ids)
    with team() as threads:
        _propose(*model[:-1], np.uint64(model.seed), source, target, np.int64(threads))
    return source, target


@part
def _word(seed, proposal, draw):
    return mixed(seed + np.uint64(proposal * DRAWN + draw) * GOLDEN)


@njit(cache=True, nogil=True, parallel=LOOPS)
def _propose(ends, first, size, rate, probability, weight, vertex, seed, source, target, shares):
    for share in prange(shares):
        begin, end = source.size * share // shares, source.size * (share + 1) // shares
        at = np.searchsorted(ends, begin, side="right") - 1
        for proposal in range(begin, end):
            while proposal >= peek(ends, at + 1):
                at += 1
            often, p, one, other = peek(rate, at), peek(probability, at), first[at, 0], first[at, 1]
            within = one == other
            if often == 0:
                row = (proposal - peek(ends, at)) // size[at, 1]
                one, other = one + row, other + (proposal - peek(ends, at) - row * size[at, 1])
            else:
                one += below(_word(seed, proposal, 0), size[at, 0])
                other += below(_word(seed, proposal, 1), size[at, 1])
            kept = often > 0
            if weight is not None:
                p = min(p * peek(weight, one) * peek(weight, other), 1.0)
                if often > 0:
                    # p and p / (1 - p) bound the logarithm from below and above, mostly closely enough.
                    drawn = unit(_word(seed, proposal, 2)) * often
                    kept = drawn < p or (drawn * (1 - p) < p and drawn < -np.log1p(-p))
            if often == 0:
                # Within a block both orders of a pair are proposed.
                kept = unit(_word(seed, proposal, 2)) < p and not (within and one >= other)
            one, other = (one, other) if kept else (0, 0)
            if vertex is not None:
                one, other = peek(vertex, one), peek(vertex, other)
            put(source, proposal, source.dtype.type(one))
            put(target, proposal, target.dtype.type(other))
