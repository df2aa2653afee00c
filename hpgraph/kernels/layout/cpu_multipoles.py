"""Repulsion between all points in O(n), by multipole and local expansions of a tree.

L. Greengard, V. Rokhlin, "A fast algorithm for particle simulations", J. Comput. Phys. 73 (1987), in complex numbers:
the field of a mass m at w is m / (z - w), the conjugate of the force. Pairs of nodes
interact, as in W. Dehnen, "A hierarchical O(N) force calculation algorithm", J. Comput. Phys. 179 (2002); a node's
candidates are what its parent left open. Terms up to the third degree in both nodes' extents.
"""

import math
from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.layout import DEPTH, SIDE_BITS
from hpgraph.kernels.runtime.cpu.bits import bit_length
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, tasks, team, vertex
from hpgraph.kernels.structure.cpu_spanning_forest import stable_order

ZERO, ONE, TINY = np.float32(0), np.float32(1), np.finfo(np.float64).tiny
ROUNDING = 64 * np.finfo(np.float64).eps
# Most points of a leaf.
LEAF = 32
# Points that a thread takes at a time: each time it descends from the root.
CHUNK = 1024
# Nodes of a tree over points in Morton order: first point and the one after the last, right child (0 for a leaf; the
# left one is the next node), centre of mass, mass, second and third moments about it, and a radius around it that
# holds all points.
Tree = namedtuple("Tree", "first last right centre mass second third radius")


def repulsion(points: Any, mass: Any, theta: float) -> Any:
    """`hpgraph.kernels.layout.Layout.repulsion`, for 0 < theta <= 1: of the radii of two nodes to their distance."""
    n = len(points)
    corner = np.array([points[:, d].min() for d in range(2)])
    side = max(*(float(points[:, d].max() - corner[d]) for d in range(2)), TINY)
    codes, there, weights, force = np.empty(n, np.int64), np.empty(n, np.complex128), np.empty(n), np.empty((n, 2))
    with team() as threads:
        _find_codes(points, corner, 1.0 / side, codes)
        # Nonnegative floats are in the order of their bits.
        order = stable_order(codes.view(np.float64))
        ordered = _put_in_order(order, codes, points, mass, 1.0 / side, there, weights)
        tree = _build(ordered, there, weights)
        _push(tree, order, there, weights, theta, 1.0 / side, force, threads)
    return force


@part
def _apart(number):
    """The bits of a number below 2³¹, interleaved with zeros."""
    number = (number | number << 16) & 0x0000FFFF0000FFFF
    number = (number | number << 8) & 0x00FF00FF00FF00FF
    number = (number | number << 4) & 0x0F0F0F0F0F0F0F0F
    number = (number | number << 2) & 0x3333333333333333
    return (number | number << 1) & 0x5555555555555555


@njit(cache=True, nogil=True, parallel=LOOPS)
def _find_codes(points, corner, inverse, codes):
    """The Morton codes of the cells of points, in a square that begins at a corner; `inverse` of its side."""
    most = (1 << SIDE_BITS) - 1
    for i in prange(codes.size):
        x = min(np.int64((points[i, 0] - corner[0]) * inverse * most), most)
        y = min(np.int64((points[i, 1] - corner[1]) * inverse * most), most)
        codes[i] = _apart(x) | _apart(y) << 1


@njit(cache=True, nogil=True, parallel=LOOPS)
def _put_in_order(order, codes, points, mass, inverse, there, weights):
    """Codes in Morton order; positions, of a square of side 1, and masses."""
    ordered = np.empty_like(codes)
    for i in prange(order.size):
        v = vertex(order, i)
        ordered[i], weights[i] = codes[v], mass[v]
        there[i] = complex(points[v, 0] * inverse, points[v, 1] * inverse)
    return ordered


@njit(cache=True, nogil=True)
def _build(codes, there, weights):
    """The tree, parents before children. Points of one cell are divided by halves."""
    n = codes.size
    first, last, right = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    stack, count, waiting = np.empty((2 * DEPTH, 3), np.int64), 0, 1
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, -1
    while waiting:
        waiting -= 1
        begin, end, parent, node = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], count
        first[node], last[node], right[node] = begin, end, 0
        count += 1
        if parent >= 0:
            right[parent] = node
        if end - begin <= LEAF:
            continue
        low, high = begin, end
        varying = peek(codes, begin) ^ peek(codes, end - 1)
        if varying:
            # The first whose highest varying bit is set.
            bit = np.int64(1) << (bit_length(varying) - 1)
            while high - low > 1:
                middle = (low + high) >> 1
                if peek(codes, middle) & bit:
                    high = middle
                else:
                    low = middle
        else:
            high = (low + high) >> 1
        stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = high, end, node
        stack[waiting + 1, 0], stack[waiting + 1, 1], stack[waiting + 1, 2] = begin, high, -1
        waiting += 2
    centre, mass = np.empty(count, np.complex128), np.empty(count)
    second, third, radius = np.empty(count, np.complex128), np.empty(count, np.complex128), np.empty(count)
    for node in range(count - 1, -1, -1):
        total, middle, q, o, most = 0.0, 0j, 0j, 0j, 0.0
        if right[node] == 0:
            for i in range(first[node], last[node]):
                total += weights[i]
                middle += weights[i] * there[i]
            middle /= max(total, TINY)
            for i in range(first[node], last[node]):
                shift = there[i] - middle
                square = shift * shift
                q += weights[i] * square
                o += weights[i] * (square * shift)
                most = max(most, shift.real * shift.real + shift.imag * shift.imag)
            most = math.sqrt(most)
        else:
            children = (node + 1, right[node])
            for child in children:
                total += mass[child]
                middle += mass[child] * centre[child]
            middle /= max(total, TINY)
            for child in children:
                shift = centre[child] - middle
                square = mass[child] * (shift * shift)
                q += second[child] + square
                o += third[child] + shift * (3 * second[child] + square)
                most = max(most, math.sqrt(shift.real * shift.real + shift.imag * shift.imag) + radius[child])
        # No expansion takes rounding of the centre for a distance.
        most += ROUNDING * (abs(middle.real) + abs(middle.imag))
        mass[node], centre[node], second[node], third[node], radius[node] = total, middle, q, o, most
    return Tree(first[:count], last[:count], right[:count], centre, mass, second, third, radius)


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _push(tree, order, there, weights, theta, inverse, force, threads):
    following, n = np.zeros(1, np.int64), order.size
    for _ in prange(threads):
        # Candidates of the nodes that wait, one list behind the other; leaves too near for expansions; their points.
        lists, near, sources = np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty((3, 1024), np.float32)
        opened = np.empty(2 * DEPTH, np.int64)
        stack, expansions = np.empty((2 * DEPTH, 3), np.int64), np.empty((2 * DEPTH, 4), np.complex128)
        for chunk in tasks(following, n, CHUNK):
            low, high = chunk, min(chunk + CHUNK, n)
            lists[0], waiting = 0, 1
            stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, 1
            expansions[0] = 0
            while waiting:
                waiting -= 1
                node, begin, end = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
                a, b, c, d = expansions[waiting]
                centre, radius, inner = tree.centre[node], tree.radius[node], tree.right[node] > 0
                top, close = end, 0
                for i in range(begin, end):
                    opened[0], open_ = lists[i], 1
                    while open_:
                        open_ -= 1
                        other = opened[open_]
                        away = centre - tree.centre[other]
                        square = away.real * away.real + away.imag * away.imag
                        reach = radius + tree.radius[other]
                        if reach * reach < theta * theta * square:
                            inverted = complex(away.real / square, -away.imag / square)
                            m, q = tree.mass[other] * inverted, tree.second[other]
                            inverted2 = inverted * inverted
                            m2, q3 = m * inverted, q * (inverted2 * inverted)
                            a += m + q3 + tree.third[other] * (inverted2 * inverted2)
                            b -= m2 + 3 * (q3 * inverted)
                            c += m2 * inverted
                            d -= m2 * inverted2
                        elif tree.right[other] > 0 and (not inner or tree.radius[other] > radius):
                            opened[open_], opened[open_ + 1] = tree.right[other], other + 1
                            open_ += 2
                        elif inner:
                            if top == lists.size:
                                lists = np.concatenate((lists, lists))
                            lists[top] = other
                            top += 1
                        else:
                            if close == near.size:
                                near = np.concatenate((near, near))
                            near[close] = other
                            close += 1
                if inner:
                    for child in (tree.right[node], node + 1):
                        if tree.first[child] < high and tree.last[child] > low:
                            h = tree.centre[child] - centre
                            stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = child, end, top
                            expansions[waiting, 0] = a + h * (b + h * (c + h * d))
                            expansions[waiting, 1] = b + h * (2 * c + 3 * h * d)
                            expansions[waiting, 2] = c + 3 * h * d
                            expansions[waiting, 3] = d
                            waiting += 1
                    continue
                count = 0
                for i in range(close):
                    begin, end = tree.first[near[i]], tree.last[near[i]]
                    if count + end - begin > sources.shape[1]:
                        sources = np.concatenate((sources, sources), axis=1)
                    for j in range(begin, end):
                        from_ = there[j] - centre
                        sources[0, count] = from_.real
                        sources[1, count] = from_.imag
                        sources[2, count] = weights[j]
                        count += 1
                for i in range(max(low, tree.first[node]), min(high, tree.last[node])):
                    h = there[i] - centre
                    far = a + h * (b + h * (c + h * d))
                    x, y, fx, fy = np.float32(h.real), np.float32(h.imag), ZERO, ZERO
                    for j in range(count):
                        dx, dy = x - sources[0, j], y - sources[1, j]
                        square_ = dx * dx + dy * dy
                        share = sources[2, j] / (square_ if square_ > ZERO else ONE)
                        fx += share * dx
                        fy += share * dy
                    m, v = weights[i] * inverse, vertex(order, i)
                    force[v, 0], force[v, 1] = m * (far.real + fx), m * (fy - far.imag)
