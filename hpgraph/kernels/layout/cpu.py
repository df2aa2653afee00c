"""Barnes and Hut's forces on the CPU, and steps of ForceAtlas2.

A node is a range of the Morton order, so that its mass and centre are differences of running sums.
"""

import math
from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.layout import DEPTH, FASTEST, MIN_EFFICIENCY, RISE, SIDE_BITS, WILD, Forces, length_of
from hpgraph.kernels.layout.cpu_sampled import sampled_epochs as sampled_epochs
from hpgraph.kernels.runtime.cpu.bits import bit_length
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, tasks, team

# Points that a thread takes at a time.
CHUNK = 64
# Up to so many points all pairs take less time than a tree.
FEW = 2048
# A binary tree over ordered points: children of inner nodes (inner, or ~leaf), first and last point, side.
Tree = namedtuple("Tree", "left right first last side")


def repulsion(points: Any, mass: Any, theta: float) -> Any:
    """Repulsive force on each point; coincident points do not act on each other."""
    n = len(points)
    force = np.zeros((n, 2))
    if n < 2:
        return force
    if theta == 0 or n <= FEW:
        with team():
            _push_each(points, mass, force)
        return force
    order, codes, there, mass, sums, side = _in_order(points, mass)
    left, right, first, last = (np.empty(n - 1, np.int64) for _ in range(4))
    tree = Tree(left, right, first, last, np.empty(n - 1))
    with team() as threads:
        _build(codes, side, *tree)
        _push(tree, order, there, sums, mass, theta * theta, force, threads)
    return force


def _in_order(points: Any, mass: Any) -> tuple[Any, Any, Any, Any, Any, float]:
    """Points in Morton order.

    Returns which they are, their codes, points and masses in this order, exclusive sums of mass and of mass times
    position, of shape (n + 1, 3), and the side of the square that holds them.
    """
    corner = points.min(axis=0)
    side = max(float((points.max(axis=0) - corner).max()), np.finfo(np.float64).tiny)
    codes = _morton_codes(points, corner, 1.0 / side)
    order = np.argsort(codes, kind="stable")
    there, weights = points[order], mass[order]
    sums = np.zeros((len(points) + 1, 3))
    sums[1:, 0] = weights
    np.multiply(weights[:, None], there, out=sums[1:, 1:])
    return order, codes[order], there, weights, np.cumsum(sums, axis=0), side


def _morton_codes(points: Any, corner: Any, inverse: float) -> Any:
    """The Morton codes of the cells of points, in a square that begins at a corner; `inverse` of its side."""
    most = (1 << SIDE_BITS) - 1
    cells = np.minimum((points - corner) * inverse * most, most).astype(np.int64)
    return _apart(cells[:, 0]) | _apart(cells[:, 1]) << 1


def _apart(number: Any) -> Any:
    """The bits of numbers below 2³¹, interleaved with zeros."""
    for shift, mask in ((16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF), (4, 0x0F0F0F0F0F0F0F0F),
                        (2, 0x3333333333333333), (1, 0x5555555555555555)):  # fmt: skip
        number = (number | number << shift) & mask
    return number


def stress_moves(place: Any, pivots: Any, wanted: Any, weight: Any) -> Any:
    """`hpgraph.kernels.layout.Layout.stress_moves` on the CPU."""
    moves = np.empty((len(place), 2))
    with team():
        _sum_stress(place, place[pivots], wanted, weight, moves)
    return moves


def combined(
    place: Any, pushed: Any, pulled: Any, mass: Any, before: Any, how: Forces
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The force on each vertex, its swinging, and the global swinging and traction."""
    force = how.scaling * pushed
    force += pulled / mass[:, None] if how.distributed_action else pulled
    far = 1.0 if how.strong_gravity else np.maximum(length_of(place), np.finfo(np.float64).tiny)[:, None]
    force -= how.gravity * mass[:, None] * place / far
    swing = mass * length_of(force - before)
    return force, swing, np.array([swing.sum(), (mass * length_of(force + before)).sum() / 2])


def moved(place: Any, force: Any, swing: Any, totals: Any, pace: Any, tolerance: float) -> tuple[Any, Any]:
    """Places after a step, and its speed and efficiency."""
    pace = _next_pace(len(place), totals, pace, tolerance)
    return place + force * (pace[0] / (1 + np.sqrt(pace[0] * swing)))[:, None], pace


def _next_pace(n: int, totals: Any, pace: Any, tolerance: float) -> Any:
    """The next global speed, as fast as swinging lets, never rising by more than half; and the efficiency."""
    (swinging, traction), (speed, efficiency) = totals.tolist(), pace.tolist()
    if swinging <= 0 or traction <= 0:
        return pace
    estimate = 0.05 * math.sqrt(n)
    least = math.sqrt(estimate)
    allowed = tolerance * max(least, min(10.0, estimate * traction / (n * n)))
    if swinging / traction > WILD:
        if efficiency > MIN_EFFICIENCY:
            efficiency *= 0.5
        allowed = max(allowed, tolerance)
    target = allowed * efficiency * traction / swinging
    if swinging > allowed * traction:
        if efficiency > MIN_EFFICIENCY:
            efficiency *= 0.7
    elif speed < FASTEST:
        efficiency *= 1.3
    return np.array([speed + min(target - speed, RISE * speed), efficiency])


@part
def _shared(codes, i, j):
    """Length of the common prefix of two codes; equal codes are extended by their indices."""
    if j < 0 or j >= codes.size:
        return np.int64(-1)
    x = peek(codes, i) ^ peek(codes, j)
    return 64 - bit_length(x) if x else 128 - bit_length(i ^ j)


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
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


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _push_each(points, mass, force):
    n = mass.size
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        low = chunk * CHUNK
        some = min(CHUNK, n - low)
        x, y, fx, fy = np.zeros(CHUNK), np.zeros(CHUNK), np.zeros(CHUNK), np.zeros(CHUNK)
        for i in range(some):
            x[i], y[i] = points[low + i, 0], points[low + i, 1]
        for j in range(n):
            xj, yj, m = points[j, 0], points[j, 1], mass[j]
            # All at once: vectorized.
            for i in range(CHUNK):
                dx, dy = x[i] - xj, y[i] - yj
                far = dx * dx + dy * dy
                share = m / (far if far > 0 else 1.0)
                fx[i] += share * dx
                fy[i] += share * dy
        for i in range(some):
            force[low + i, 0], force[low + i, 1] = mass[low + i] * fx[i], mass[low + i] * fy[i]


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _sum_stress(place, pivots, wanted, weight, moves):
    n = moves.shape[0]
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        low = chunk * CHUNK
        some = min(CHUNK, n - low)
        x, y, fx, fy = np.zeros(CHUNK), np.zeros(CHUNK), np.zeros(CHUNK), np.zeros(CHUNK)
        for i in range(some):
            x[i], y[i] = place[low + i, 0], place[low + i, 1]
        for p in range(pivots.shape[0]):
            xp, yp = pivots[p, 0], pivots[p, 1]
            for i in range(some):
                dx, dy = x[i] - xp, y[i] - yp
                length = max(math.sqrt(dx * dx + dy * dy), 1e-300)
                share = wanted[p, low + i] / length - weight[p, low + i]
                fx[i] += share * dx
                fy[i] += share * dy
        for i in range(some):
            moves[low + i, 0], moves[low + i, 1] = fx[i], fy[i]


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
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
