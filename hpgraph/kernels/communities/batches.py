"""Batches: the vertices that choose a community at the same time, drawn anew in each round."""

from __future__ import annotations

import math

# In a batch everyone chooses by what was before it. There are enough batches that a vertex has half a neighbour of its
# own batch: then the modularity is that of sequential methods within their own spread (kron18, 29 arcs a vertex: .0834
# to .0838 with 64 batches, .0818 with 8; road1000, 3 arcs: .9880 with 4 as with 64). Each batch goes through memory
# anew.
NEIGHBOURS = 1 / 2
FEWEST, MOST = 4, 64
# In the first round there are two: most vertices are alone then, and pair with the best of their neighbours rather than
# with whom others joined before. That finds planted communities better (5,000 vertices, mixing 1/2: mutual information
# .787 in place of .753).
FIRST_BITS = 1
# A round that moves less than this share of the vertices is the last: what is left, the next level does at less cost.
FEW_MOVES = 1 / 50
ROUNDS = 32
# Rounds of refinement: who has not found anybody after these stays alone. The modularity is that of 8 rounds (kron18
# .0902, cnr-2000 .9130); of a single one it is .0004 less.
REFINING_ROUNDS = 3
# While more than this share of the vertices moves in a round, everyone is looked at again in the next.
MANY_MOVES = 1 / 4


def batch_bits(n: int, arcs: int) -> int:
    """How many bits of a hash say to which batch a vertex belongs.

    Parameters
    ----------
    n, arcs : int
        How many vertices and arcs there are.

    Returns
    -------
    int

    Examples
    --------
    >>> batch_bits(10, 20), batch_bits(1000, 16_000), batch_bits(10**6, 10**8)
    (2, 5, 6)
    """
    batches = min(MOST, max(FEWEST, arcs // max(n, 1) / NEIGHBOURS))
    return math.ceil(math.log2(batches))
