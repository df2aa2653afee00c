"""What a vertex hears in each of many lanes on the CPU, the same whoever sends it, and its update.

Properties lie lane after lane, so that a lane's arrays are those of a run of its own. Where many vertices hear at once
they are written by squares of 64 vertices and 64 lanes: the words of 64 vertices are transposed, and each lane in turn
updates its vertices, whose properties lie side by side.

A survey has no program: it counts. Numba leaves out what stands behind a None where that is an argument of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.kernels.runtime.cpu.bit_matrix import SIDE, transpose
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import prefetch_each
from hpgraph.semiring.jit import call

ONE, NONE = np.uint64(1), np.uint64(0)
# Of 64 vertices, how many hear in a lane for all of them to be updated without a branch. A vector of bytes costs what
# some eight updates by themselves do.
DENSE = 8
# Lanes ahead of the one that is written, whose properties are fetched.
PREFETCH_LANES = 6


class Program(NamedTuple):
    """A program's functions, as `hpgraph.kernels.runtime.lane_functions` has them.

    `settle` is None where an update may branch.
    """

    gather: Any
    update: Any
    settle: Any


class Running(NamedTuple):
    """A program with what it works on: properties as flat arrays, parameters, and the vertices of a lane."""

    gather: Any
    update: Any
    settle: Any
    state: Any
    world: Any
    n: Any


@part
def running(program, state, world, n):
    """A program with what it works on; None for None."""
    if program is not None:
        return Running(program.gather, program.update, program.settle, state, world, n)
    return None


@part
def _gathered(program, lane, v):
    """The message to v in a lane, which reads neither its sender nor its arc."""
    place = np.uint64(lane * program.n + v)
    return call(program.gather, program.state, v, place, 1, v, place)


@part
def _updated(program, step, lane, v, message):
    place = np.uint64(lane * program.n + v)
    return call(program.update, program.state, v, place, message, program.world, step)


@part
def settle(program, step, v, bits, counts):
    """Update a vertex in the lanes in which it heard; those in which it changes."""
    left = bits
    while left:
        lane = lowest_bit(left)
        left &= left - ONE
        if _is_refused(program, step, lane, v, counts):
            bits &= ~(ONE << np.uint64(lane))
    return bits


@part
def _is_refused(program, step, lane, v, counts):
    if program is not None:
        return not _updated(program, step, lane, v, _gathered(program, lane, v))
    _count(counts, lane, 1)
    return False


@part
def _count(counts, lane, number):
    if counts is not None:
        counts[lane] += number


@part
def settle_square(program, step, base, square, counts):
    """Update those of 64 vertices that heard, lane after lane; ``square[0]`` has who heard, and then who changed."""
    heard, lanes = square[0], square[1]
    for i in range(SIDE):
        lanes[i] = heard[i]
    transpose(lanes)
    if program is not None:
        _settle_lanes(program, step, base, heard, lanes)
    else:
        for lane in range(SIDE):
            _count(counts, lane, popcount(lanes[lane]))


@part
def _settle_lanes(program, step, base, heard, lanes):
    refused = NONE
    for lane in range(SIDE):
        bits = lanes[lane]
        prefetch_each(program.state, (lane + PREFETCH_LANES) * program.n + base)
        if bits:
            if popcount(bits) >= DENSE and base + SIDE <= program.n:
                changed = _settle_all(program.settle, program, step, lane, base, bits)
            else:
                changed = _settle_some(program, step, lane, base, bits)
            lanes[lane] = changed
            refused |= bits ^ changed
    if refused:
        transpose(lanes)
        for i in range(SIDE):
            heard[i] = lanes[i]


@part
def _settle_some(program, step, lane, base, bits):
    """Update those of 64 vertices from `base` on that heard in a lane; who changes."""
    left = bits
    while left:
        v = base + lowest_bit(left)
        flag = left & (~left + ONE)
        left ^= flag
        if not _updated(program, step, lane, v, _gathered(program, lane, v)):
            bits ^= flag
    return bits


@part
def _settle_all(settling, program, step, lane, base, bits):
    """The same, one vertex after the other whether it heard or not, of which compilers make vectors."""
    if settling is not None:
        refused, at = NONE, lane * program.n
        for i in range(SIDE):
            v = base + i
            heard = (bits >> np.uint64(i)) & ONE != NONE
            message = _gathered(program, lane, v)
            again = call(settling, program.state, v, np.uint64(at + v), message, program.world, step, heard)
            refused |= np.uint64(again) << np.uint64(i)
        return bits & ~refused
    return _settle_some(program, step, lane, base, bits)
