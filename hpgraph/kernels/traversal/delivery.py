"""Messages and updates of a multi-source traversal on the CPU, for messages that do not depend on their sender.

The properties of each source are contiguous, so that its arrays are those of a separate run. If many vertices receive
at once they are updated by squares of 64 vertices and 64 sources: the words of 64 vertices are transposed, and for each
source in turn its vertices are updated, whose properties are contiguous.

A survey has no program: it counts. Numba prunes the branch after a None only if it is a separate argument.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.bits import SIDE, lowest_bit, popcount, transpose
from hpgraph.kernels.runtime.cpu.functions_tuple import functions_tuple
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import prefetch_each
from hpgraph.semiring.jit import call

ONE, NONE = np.uint64(1), np.uint64(0)
# Number of receivers among 64 vertices from which on all of them are updated without a branch. A vector of bytes costs
# as much as some eight separate updates.
DENSE = 8
# Prefetch distance of properties, in sources.
PREFETCH_SOURCES = 6


# A program's `hpgraph.kernels.runtime.functions`; `settle` is None if an update may branch.
Program: Any = functions_tuple(__name__, "Program", "gather update settle")

# A program with its data: properties as flat arrays, parameters, and the number of vertices.
Running = namedtuple("Running", "gather update settle state world n")


@part(counts_references=False)
def running(program, state, world, n):
    """A program with its data; None for None."""
    if program is not None:
        return Running(program.gather, program.update, program.settle, state, world, n)
    return None


@part(counts_references=False)
def _gathered(program, source, v):
    """The message to v in a source, which reads neither its sender nor its arc."""
    place = np.uint64(source * program.n + v)
    return call(program.gather, program.state, v, place, 1, v, place)


@part(counts_references=False)
def _updated(program, step, source, v, message):
    place = np.uint64(source * program.n + v)
    return call(program.update, program.state, v, place, message, program.world, step)


@part(counts_references=False)
def settle(program, step, v, bits, counts):
    """Update a vertex in the sources in which it received; return those in which it changes."""
    left = bits
    while left:
        source = lowest_bit(left)
        left &= left - ONE
        if _is_refused(program, step, source, v, counts):
            bits &= ~(ONE << np.uint64(source))
    return bits


@part(counts_references=False)
def _is_refused(program, step, source, v, counts):
    if program is not None:
        return not _updated(program, step, source, v, _gathered(program, source, v))
    _count(counts, source, 1)
    return False


@part(counts_references=False)
def _count(counts, source, number):
    if counts is not None:
        counts[source] += number


@part(counts_references=False)
def settle_square(program, step, base, square, counts):
    """Update the receivers among 64 vertices by source; ``square[0]`` holds received bits, then the changed ones."""
    received, sources = square[0], square[1]
    for i in range(SIDE):
        sources[i] = received[i]
    transpose(sources)
    if program is not None:
        _settle_sources(program, step, base, received, sources)
    else:
        for source in range(SIDE):
            _count(counts, source, popcount(sources[source]))


@part(counts_references=False)
def _settle_sources(program, step, base, received, sources):
    refused = NONE
    for source in range(SIDE):
        bits = sources[source]
        prefetch_each(program.state, (source + PREFETCH_SOURCES) * program.n + base)
        if bits:
            if popcount(bits) >= DENSE and base + SIDE <= program.n:
                changed = _settle_all(program.settle, program, step, source, base, bits)
            else:
                changed = _settle_some(program, step, source, base, bits)
            sources[source] = changed
            refused |= bits ^ changed
    if refused:
        transpose(sources)
        for i in range(SIDE):
            received[i] = sources[i]


@part(counts_references=False)
def _settle_some(program, step, source, base, bits):
    """Update the receivers among 64 vertices from `base` on in a source; return the changed ones."""
    left = bits
    while left:
        v = base + lowest_bit(left)
        flag = left & (~left + ONE)
        left ^= flag
        if not _updated(program, step, source, v, _gathered(program, source, v)):
            bits ^= flag
    return bits


@part(counts_references=False)
def _settle_all(settling, program, step, source, base, bits):
    """The same, branch-free over all vertices, so that the compiler vectorizes it."""
    if settling is not None:
        refused, at = NONE, source * program.n
        for i in range(SIDE):
            v = base + i
            received = (bits >> np.uint64(i)) & ONE != NONE
            message = _gathered(program, source, v)
            again = call(settling, program.state, v, np.uint64(at + v), message, program.world, step, received)
            refused |= np.uint64(again) << np.uint64(i)
        return bits & ~refused
    return _settle_some(program, step, source, base, bits)
