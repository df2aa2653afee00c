"""Batches: the vertices that choose a community at the same time, drawn anew in each round."""

from __future__ import annotations

import math

# In a batch everyone chooses by what was before it. There are enough batches that a vertex has half a neighbour of its
# own batch: then the modularity is that of sequential methods within their own spread (kron18, 29 arcs a vertex: .0834
# to .0838 with 64 batches, .0818 with 8; road1000, 3 arcs: .9880 with 4 as with 64). Each batch goes through memory
# anew.
NEIGHBOURS = 1 / 2
MIN, MAX_BITS = 4, 6
# A round that moves less than this share of all vertices is the last, and so is one that moves less than that share of
# those it looked at: what is left, the next level does at less cost. With both, planted communities are found as by
# rounds to the end (`python -m benchmarks planted`). Where there are none, as in uniform random graphs, a few moves
# wake nearly all for long, and the yield ends it; where few are looked at, a round costs its batches all the same.
FEW_MOVES, FEW_YIELD = 1 / 200, 1 / 25
ROUNDS = 32
# Rounds of refinement: who has not found anybody after these stays alone. The modularity is that of 8 rounds (kron18
# .0902, cnr-2000 .9130); of a single one it is .0004 less.
REFINING_ROUNDS = 3
# Asynchronous labels: of several labels of the same weight around a vertex, one order for all decides where they have
# at least this share of the weight around it, so that parts grow together where equals are what there is (a grid of
# 1,000 x 1,000: modularity .91). Where they have less, they are no evidence: a vertex keeps its own, or chance decides,
# for each vertex its own. With one order for these as well, a label runs through planted communities before they come
# about (5,000 vertices, mixing 1/2: mutual information 0 in place of .999); without any, the grid falls into pairs.
EVIDENCE = 1 / 8
# Once more than this share of the vertices has moved in a round, everyone is looked at again in the next.
MANY_MOVES = 1 / 4


def batch_bits(n: int, arcs: int) -> int:
    """How many bits of a hash say to which batch a vertex belongs."""
    batches = min(1 << MAX_BITS, max(MIN, arcs // max(n, 1) / NEIGHBOURS))
    return math.ceil(math.log2(batches))
