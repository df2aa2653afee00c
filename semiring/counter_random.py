"""Counter-based random numbers: the same on every device, in any order, in every run.

Philox4x32 of ten rounds: a block cipher with the seed as key and a counter as text (J. K. Salmon, M. A. Moraes, R. O.
Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11; the constants are those of its section 4.3 and
of the authors' Random123). It is stateless: seed and counters determine the number. The functions are plain Python that
kernels inline; they also accept NumPy arrays. SplitMix64 at a counter takes fewer steps: `mixed`, of a seed plus
multiples of `GOLDEN`.
"""

from typing import Any

import numpy as np

_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
# The golden ratio and √3 - 1, as fractions of 2³².
_KEY_STEPS = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_WORD = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
# SplitMix64's increment: the golden ratio as a fraction of 2⁶⁴.
GOLDEN = 0x9E3779B97F4A7C15
# Bits beyond the significand of float64 and float32, and the value of its last bit.
_DROPPED_64, _STEP_64 = np.uint64(11), 2.0**-53
_DROPPED_32, _STEP_32 = np.uint64(40), np.float32(2.0**-24)


def random_bits(seed: Any, vertex: Any, superstep: Any = 0) -> Any:
    """64 random bits from seed, vertex and superstep.

    Parameters
    ----------
    seed, vertex, superstep : integers of up to 64 bits, or NumPy arrays of such
        Any three numbers: results of calls that differ in any of them are independent. Floats are truncated.

    Returns
    -------
    uint64

    Examples
    --------
    >>> random_bits(7, 0), random_bits(7, 1)
    (np.uint64(13837866057460644397), np.uint64(14670401102720962203))
    >>> int(random_bits(7, np.arange(3), 5)[2]) == int(random_bits(7, 2, 5))
    True
    """
    key, one, two = np.uint64(np.int64(seed)), np.uint64(np.int64(vertex)), np.uint64(np.int64(superstep))
    first, second = key & _WORD, key >> _HALF
    a, b, c, d = one & _WORD, one >> _HALF, two & _WORD, two >> _HALF
    for _ in range(10):
        left, right = _MULTIPLIERS[0] * a, _MULTIPLIERS[1] * c
        a, b, c, d = (right >> _HALF) ^ b ^ first, right & _WORD, (left >> _HALF) ^ d ^ second, left & _WORD
        first, second = (first + _KEY_STEPS[0]) & _WORD, (second + _KEY_STEPS[1]) & _WORD
    return a | (b << _HALF)


def mixed(word: Any) -> Any:
    """The finalizer of SplitMix64: G. Steele et al., "Fast splittable pseudorandom number generators", OOPSLA'14."""
    word = (word ^ word >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ word >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return word ^ word >> np.uint64(31)


def uniform(seed: Any, vertex: Any, superstep: Any = 0) -> Any:
    """A uniform random number in [0, 1) from seed, vertex and superstep, for use within vertex programs.

    Parameters
    ----------
    seed, vertex, superstep : integers of up to 64 bits, or NumPy arrays of such
        Any three numbers. Use another seed for a second number of the same vertex and superstep.

    Returns
    -------
    float64
        A multiple of 2⁻⁵³.

    Notes
    -----
    The same bits on CPU and GPU, in any order: a program that uses `uniform`, `uniform32` or `random_bits` is
    reproducible for a seed. Declare the seed as a parameter, ``seed = hpg.Parameter("int64", 0)``: other values then
    need no new compilation.

    References
    ----------
    J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11:
    Philox4x32 of ten rounds.

    Examples
    --------
    An independent cascade: an activated vertex activates each neighbour with probability 0.7.

    >>> import hpgraph as hpg
    >>> class Cascade(hpg.VertexProgram):
    ...     arrived = hpg.Property("int64", initial=-1, start=0)
    ...     seed = hpg.Parameter("int64", 0)
    ...     weighted = False
    ...     reduce = "max"
    ...     def gather(source, weight, target):
    ...         return 1
    ...     def edge_cond(source, weight, target, world):
    ...         return hpg.uniform(world.seed, source.id, target.id) < 0.7
    ...     def cond(vertex):
    ...         return vertex.arrived < 0
    ...     def update(vertex, message, world):
    ...         return world.superstep
    >>> G = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], directed=False)
    >>> hpg.run(Cascade, G, active=[0], seed=7).arrived.tolist()
    [0, 1, 2, -1, -1]
    >>> float(uniform(7, 0))
    0.7501522221031126
    """
    # NumPy before 2.3 makes a number of np.float64(array) with one element; the product is float64, too.
    return (random_bits(seed, vertex, superstep) >> _DROPPED_64) * _STEP_64


def uniform32(seed: Any, vertex: Any, superstep: Any = 0) -> Any:
    """`uniform` as float32: a multiple of 2⁻²⁴, never 1.

    Parameters are those of `uniform`.

    Returns
    -------
    float32

    Examples
    --------
    >>> uniform32(7, 0)
    np.float32(0.7501522)
    """
    return np.float32(random_bits(seed, vertex, superstep) >> _DROPPED_32) * _STEP_32
