"""Edges between blocks of vertices: two vertices are joined with a probability of their own, or of their blocks.

Pairs of vertices are proposed by a Poisson process: two blocks get a Poisson number of proposals, each a pair drawn at
random, so that a pair of rate r is proposed at least once with probability 1 - exp(-r), independently of all others
(J. F. C. Kingman, "Poisson Processes" (1993), sections 2.2 and 5.1); those of lower probability are thinned. What is
proposed again is the same edge. Between blocks that are dense every pair is proposed once. Draws are SplitMix64 at a
counter, so that a proposal depends on the seed and its number alone, on either device.
"""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.semiring.counter_random import GOLDEN, mixed

# Words of a proposal: for either vertex, and for whether it is kept.
DRAWN = 3


class Blocks(NamedTuple):
    """Proposals between pairs of blocks.

    ``ends``: int64 (b + 1), how many proposals there are before each pair of blocks; ``first``, ``size``: int64 (b, 2),
    of the vertices of either block; ``rate``: float64 (b), of each pair of vertices, 0 where each is proposed once;
    ``probability``: float64 (b), or what the product of two weights is multiplied by; ``weight``,
    ``vertex``: float64 and int64 (n), on the device, by the numbers of vertices in blocks, or None; ``seed``.
    """

    ends: Any
    first: Any
    size: Any
    rate: Any
    probability: Any
    weight: Any
    vertex: Any
    seed: int


def block_edges(model: Blocks, ids: Any) -> tuple[Any, Any]:
    """`hpgraph.kernels.sampling.Sampling.block_edges` in NumPy."""
    proposal = np.arange(model.ends[-1])
    at = np.searchsorted(model.ends, proposal, side="right") - 1
    counters = proposal.astype(np.uint64) * np.uint64(DRAWN) + np.arange(DRAWN, dtype=np.uint64)[:, None]
    words = mixed(np.uint64(model.seed) + counters * np.uint64(GOLDEN))
    once, size = model.rate[at] == 0, model.size[at]
    # Pairs that are proposed once are in row-major order.
    place = np.divmod(proposal - model.ends[at], size[:, 1])
    one, other = (model.first[at, end] + np.where(once, place[end], _below(words[end], size[:, end])) for end in (0, 1))
    probability = model.probability[at]
    if model.weight is not None:
        with np.errstate(over="ignore"):
            probability = np.minimum(probability * model.weight[one] * model.weight[other], 1)
    share = (words[2] >> np.uint64(11)).astype(np.float64) * 2.0**-53
    with np.errstate(divide="ignore"):
        kept = np.where(once, share < probability, share * model.rate[at] < -np.log1p(-probability))
    # Within a block both orders of a pair are proposed.
    kept &= ~once | (model.first[at, 0] != model.first[at, 1]) | (one < other)
    one, other = np.where(kept, one, 0), np.where(kept, other, 0)
    if model.vertex is not None:
        one, other = model.vertex[one], model.vertex[other]
    return one.astype(ids), other.astype(ids)


def _below(word: Any, count: Any) -> Any:
    count, half = count.astype(np.uint64), np.uint64(32)
    high, low = (word >> half) * count, (word & np.uint64((1 << 32) - 1)) * count
    return ((high + (low >> half)) >> half).astype(np.int64)
