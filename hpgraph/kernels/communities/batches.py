"""Batches: vertices that choose a community simultaneously, redrawn in each round."""

import math

# Vertices of a batch choose by the state before it. There are enough batches that a vertex has half a neighbour in its
# own batch: then the modularity is that of sequential methods within their own spread (kron18, 29 arcs a vertex: .0834
# to .0838 with 64 batches, .0818 with 8; road1000, 3 arcs: .9880 with 4 as with 64). Each batch is another pass through
# memory, so that rounds count only active neighbours: with 64 batches in all rounds modularity is the same.
NEIGHBOUR_BATCHES = 2
MIN_BITS, MAX_BITS = 2, 6
# Stop after a round that moves less than the first share of all vertices, or less than the second share of the vertices
# it examined: the next level does the rest at less cost. With both, planted communities are found as by rounds to the
# end (`python -m benchmarks planted`). Without communities, as in uniform random graphs, a few moves reactivate nearly
# all vertices for long, and the second ends it; with few active vertices a round still costs its batches.
MIN_MOVES = 1 / 200, 1 / 25
# The same of Leiden's, which refinement keeps from doing the rest later: modularity is .0000 to .0039 higher than by
# the shares above on 21 graphs, most on meshes, and time 1.00 to 1.19 of theirs (uniform random graphs).
MIN_MOVES_LEIDEN = 1 / 1000, 1 / 100
ROUNDS = 32
# Rounds of refinement: a vertex not joined after these stays alone. The modularity is that of 8 rounds (kron18 .0902,
# cnr-2000 .9130); of a single one it is .0004 less.
REFINING_ROUNDS = 3
# Asynchronous labels: ties of labels with at least this share of the weight around a vertex are broken by one order for
# all vertices, so that communities grow together where ties are the rule (a grid of 1,000 x 1,000: modularity .91).
# Labels with less are no evidence: a vertex keeps its own, or a random order of its own decides. With one order for
# these as well, a label floods planted communities before they form (5,000 vertices, mixing 1/2: mutual information 0
# in place of .999); without any, the grid falls into pairs.
EVIDENCE = 1 / 8
# If more than this share of the vertices has moved in a round, all are examined in the next.
MANY_MOVES = 1 / 4
# On the GPU a neighbour's move reactivates a vertex of L arcs with a probability of 1 / 2^k, where 2^k is the power of
# two above L / LONG_ROW, so that it costs at most LONG_ROW arcs on average. On the CPU, by the map equation, neighbours
# with a share of 1 / LONG_ROW of its weight must move. Otherwise hubs would be examined in every round, as some
# neighbour always moves.
LONG_ROW = 128
# With a size limit, the vertices of a batch that choose one community join it in the order of geometric priorities: all
# of a priority or none, so that at least half of the room is taken as a rule. One of the last in 512 has the highest.
PRIORITIES = 10


def batch_bits(n: int, arcs: int) -> int:
    """Number of hash bits that select a vertex's batch."""
    batches = min(1 << MAX_BITS, max(1 << MIN_BITS, NEIGHBOUR_BATCHES * (arcs // max(n, 1))))
    return math.ceil(math.log2(batches))
