"""Barnes and Hut's forces on the CPU."""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.layout import DEPTH, SIDE_BITS, in_order
from hpgraph.kernels.layout.cpu_sampled import sampled_epochs as sampled_epochs
from hpgraph.kernels.runtime.cpu.bits import bit_length
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, tasks, team

# Points that a thread takes at a time.
CHUNK = 64
# A binary tree over ordered points: children of inner nodes (inner, or ~leaf), first and last point, side.
Tree = namedtuple("Tree", "left right first last side")


def repulsion(points: Any, mass: Any, theta: float) -> Any:
    """Repulsive force on each point; coincident points do not act on each other."""
    n = len(points)
    force = np.zeros((n, 2))
    if n < 2:
        return force
    order, codes, there, mass, sums, side = in_order(points, mass)
    left, right, first, last = (np.empty(n - 1, np.int64) for _ in range(4))
    tree = Tree(left, right, first, last, np.empty(n - 1))
    with team() as threads:
        _build(codes, side, *tree)
        _push(tree, order, there, sums, mass, theta * theta, force, threads)
    return force


@part
def _shared(codes, i, j):
    """Length of the common prefix of two codes; equal codes are extended by their indices."""
    if j < 0 or j >= codes.size:
        return np.int64(-1)
    x = peek(codes, i) ^ peek(codes, j)
    return 64 - bit_length(x) if x else 128 - bit_length(i ^ j)


@njit(cache=True, nogil=True, parallel=LOOPS)
def _build(codes, side, left, right, first, last, sides):
    for node in prange(codes.size - 1):
        # Numba's parallel loop indices are unsigned.
        i = np.int64(node)
        step = 1 if _shared(codes, i, i + 1) > _shared(codes, i, i - 1) else -1
        least = _shared(codes, i, i - step)
        most = 2
        while _shared(codes, i, i + most * step) > least:
            most *= 2
        length, stride = 0, most // 2
        while stride:
            if _shared(codes, i, i + (length + stride) * step) > least:
                length += stride
            stride //= 2
        end = i + length * step
        shared = _shared(codes, i, end)
        split, stride = 0, length
        while stride > 1:
            stride = (stride + 1) // 2
            if _shared(codes, i, i + (split + stride) * step) > shared:
                split += stride
        at = i + split * step + min(step, 0)
        low, high = min(i, end), max(i, end)
        left[i] = ~at if low == at else at
        right[i] = ~(at + 1) if high == at + 1 else at + 1
        first[i], last[i] = low, high
        # The two bits above those of the cells are zeros; points of one cell may be as far apart as it is wide.
        sides[i] = side * 2.0 ** -min((shared - 64 + 2 * SIDE_BITS) // 2, SIDE_BITS)


@njit(cache=True, nogil=True, parallel=LOOPS)
def _push(tree, order, points, sums, mass, square, force, threads):
    following, n = np.zeros(1, np.int64), order.size
    for _ in prange(threads):
        stack = np.empty(DEPTH, np.int64)
        for chunk in tasks(following, n, CHUNK):
            for i in range(chunk, min(chunk + CHUNK, n)):
                x, y, fx, fy = points[i, 0], points[i, 1], 0.0, 0.0
                stack[0], count = 0, 1
                while count:
                    count -= 1
                    node = stack[count]
                    if node < 0:
                        begin, end, side = ~node, ~node + 1, 0.0
                    else:
                        begin, end, side = tree.first[node], tree.last[node] + 1, tree.side[node]
                    m = sums[end, 0] - sums[begin, 0]
                    if node < 0:
                        dx, dy, m = x - points[begin, 0], y - points[begin, 1], mass[begin]
                    elif m > 0:
                        dx, dy = x - (sums[end, 1] - sums[begin, 1]) / m, y - (sums[end, 2] - sums[begin, 2]) / m
                    else:
                        continue
                    far = dx * dx + dy * dy
                    if node < 0 or (side * side < square * far and not begin <= i < end):
                        if far > 0:
                            fx += m * dx / far
                            fy += m * dy / far
                    else:
                        stack[count], stack[count + 1] = tree.left[node], tree.right[node]
                        count += 2
                force[order[i], 0], force[order[i], 1] = mass[i] * fx, mass[i] * fy
