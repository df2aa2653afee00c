"""Recursive edges: each level of the recursion chooses one of four quadrants of the adjacency matrix.

A draw decides four levels at once, by an alias table of the 256 paths (A. J. Walker, "An efficient method for
generating discrete random variables with general distributions", ACM TOMS 3 (1977); L. Hübschle-Schneider, P. Sanders,
"Linear work generation of R-MAT graphs", Network Science 8 (2020)). Draws are halves of words of SplitMix64 at a
counter, so that an edge depends on the seed and its number alone, on either device. Vertex ids are permuted by a
bijection of words of as many bits: products by odd numbers, and shifts, as in the finalizer of SplitMix64.
"""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.number import generator
from hpgraph.semiring.counter_random import GOLDEN, mixed

# Levels of a draw, half a word; and words an edge, up to 32 levels.
LEVELS, WORDS = 4, 4


class Recursion(NamedTuple):
    """How edges are drawn: levels, a table of paths of `LEVELS` levels, a seed, odd factors that permute vertices.

    ``table``: uint32 array (256); above eight bits the share of draws that take this path, below them the other path.
    """

    levels: int
    table: Any
    seed: int
    factors: tuple[int, int, int]


def recursion(levels: int, probabilities: tuple[float, float, float], seed: int) -> Recursion:
    """The recursion by the probabilities of the quadrants (0, 0), (0, 1), (1, 0); the rest is that of (1, 1)."""
    rng = generator(seed)
    words = [int(word) for word in rng.integers(1 << 63, size=4)]
    return Recursion(levels, _alias_table(probabilities), words[0], (words[1] | 1, words[2] | 1, words[3] | 1))


def _alias_table(probabilities: tuple[float, float, float]) -> np.ndarray:
    """Walker's table of the paths of `LEVELS` levels: four bits of the row, above four of the column."""
    quadrants = np.array([*probabilities, max(1 - sum(probabilities), 0.0)]).reshape(2, 2)
    probability = np.ones((1, 1))
    for _ in range(LEVELS):
        probability = np.kron(probability, quadrants)
    share, other = probability.ravel() * probability.size, np.arange(probability.size)
    few, many = np.flatnonzero(share < 1).tolist(), np.flatnonzero(share >= 1).tolist()
    while few and many:
        below = few.pop()
        other[below] = above = many[-1]
        share[above] -= 1 - share[below]
        if share[above] < 1:
            few.append(many.pop())
    share[few + many] = 1
    return (np.minimum(share * 2**24, 2**24 - 1).astype(np.uint32) << np.uint32(8)) | other.astype(np.uint32)


def recursive_edges(model: Recursion, count: int, ids: Any) -> tuple[Any, Any]:
    """`hpgraph.kernels.sampling.Sampling.recursive_edges` in NumPy."""
    edge, source, target = np.arange(count, dtype=np.uint64), *np.zeros((2, count), np.uint64)
    words = -(-model.levels // (2 * LEVELS))
    for at in range(words):
        word = mixed(np.uint64(model.seed) + (edge * np.uint64(WORDS) + np.uint64(at)) * np.uint64(GOLDEN))
        for bits in (word.astype(np.uint32), (word >> np.uint64(32)).astype(np.uint32)):
            entry = model.table[bits & np.uint32(255)]
            path = np.where(bits >> np.uint32(8) < entry >> np.uint32(8), bits, entry) & np.uint32(255)
            source = source << np.uint64(LEVELS) | path >> np.uint32(LEVELS)
            target = target << np.uint64(LEVELS) | path % np.uint32(1 << LEVELS)
    beyond = np.uint64(words * 2 * LEVELS - model.levels)
    source, target = (_permuted(model, end >> beyond).astype(ids) for end in (source, target))
    return source, target


def _permuted(model: Recursion, vertex: Any) -> Any:
    mask, half = np.uint64((1 << model.levels) - 1), np.uint64((model.levels + 1) // 2)
    for factor in model.factors:
        vertex = (vertex * np.uint64(factor) + np.uint64(factor >> 32)) & mask
        vertex = vertex ^ vertex >> half
    return vertex
