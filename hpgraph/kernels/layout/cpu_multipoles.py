"""Repulsion between all points in O(n), by multipole and local expansions of a tree.

L. Greengard, V. Rokhlin, "A fast algorithm for particle simulations", J. Comput. Phys. 73 (1987), in complex numbers:
the field of a mass m at w is m / (z - w), the conjugate of the force. Pairs of nodes interact, as in W. Dehnen, "A
hierarchical O(N) force calculation algorithm", J. Comput. Phys. 179 (2002); a node's candidates are what its parent
left open. Terms up to the third degree in both nodes' extents.
"""

import math
from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.layout import DEPTH, SIDE_BITS
from hpgraph.kernels.runtime.cpu.bits import bit_length
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, put, tasks, team, vertex
from hpgraph.kernels.structure.cpu_spanning_forest import stable_order

ZERO, ONE, TINY = np.float32(0), np.float32(1), np.finfo(np.float64).tiny
ROUNDING = 64 * np.finfo(np.float64).eps
# Maximum number of points of a leaf.
LEAF = 32
# Points that a thread takes at a time: each time it descends from the root.
CHUNK = 1024
# Nodes of a tree over points in Morton order: first point and the one after the last, right child (0 for a leaf; the
# left one is the next node), centre of mass, a radius around it that holds all points, mass, second and third moments
# about the centre, complex numbers as points.
Tree = namedtuple("Tree", "first last right x y radius mass qx qy ox oy")


def repulsion(points: Any, mass: Any, theta: float) -> Any:
    """`hpgraph.kernels.layout.Layout.repulsion`, for 0 < theta < 1: of the radii of two nodes to their distance.

    Points of a leaf that are nearer than 2⁻²⁴ of its radius count as coincident.
    """
    n = len(points)
    corner = np.array([points[:, d].min() for d in range(2)])
    inverse = 1.0 / max(*(float(points[:, d].max() - corner[d]) for d in range(2)), TINY)
    codes, position, weights, force = np.empty(n, np.int64), np.empty((n, 2)), np.empty(n), np.empty((n, 2))
    with team() as threads:
        _find_codes(points, corner, inverse, codes)
        # Nonnegative floats are in the order of their bits.
        order = stable_order(codes.view(np.float64))
        ordered = _put_in_order(order, codes, points, corner, mass, inverse, position, weights)
        tree = _build(ordered, position, weights)
        _push(tree, order, position, weights, theta, inverse, force, threads)
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
def _put_in_order(order, codes, points, corner, mass, inverse, position, weights):
    """Codes in Morton order; positions, of a square of side 1, and masses."""
    ordered = np.empty_like(codes)
    for i in prange(order.size):
        v = vertex(order, i)
        ordered[i], weights[i] = codes[v], mass[v]
        position[i, 0], position[i, 1] = (points[v, 0] - corner[0]) * inverse, (points[v, 1] - corner[1]) * inverse
    return ordered


@njit(cache=True, nogil=True)
def _build(codes, position, weights):
    """The tree, parents before children."""
    first, last, right = _divide(codes)
    return Tree(first, last, right, *_moments(first, last, right, position, weights))


@part
def _divide(codes):
    """Points of each node, and its right child. Points of one cell are divided by halves."""
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
    return first[:count], last[:count], right[:count]


@part
def _moments(first, last, right, position, weights):
    """Centre of mass, radius and moments of each node."""
    count = first.size
    x, y, mass, radius = np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    qx, qy, ox, oy = np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    for node in range(count - 1, -1, -1):
        total, middle, q, o, most = 0.0, 0j, 0j, 0j, 0.0
        if right[node] == 0:
            for i in range(first[node], last[node]):
                total += weights[i]
                middle += weights[i] * complex(position[i, 0], position[i, 1])
            middle /= max(total, TINY)
            for i in range(first[node], last[node]):
                shift = complex(position[i, 0], position[i, 1]) - middle
                square = shift * shift
                q += weights[i] * square
                o += weights[i] * (square * shift)
                most = max(most, shift.real * shift.real + shift.imag * shift.imag)
            most = math.sqrt(most)
        else:
            children = (node + 1, right[node])
            for child in children:
                total += mass[child]
                middle += mass[child] * complex(x[child], y[child])
            middle /= max(total, TINY)
            for child in children:
                shift, second = complex(x[child], y[child]) - middle, complex(qx[child], qy[child])
                square = mass[child] * (shift * shift)
                q += second + square
                o += complex(ox[child], oy[child]) + shift * (3 * second + square)
                most = max(most, math.sqrt(shift.real * shift.real + shift.imag * shift.imag) + radius[child])
        x[node], y[node], mass[node] = middle.real, middle.imag, total
        qx[node], qy[node], ox[node], oy[node] = q.real, q.imag, o.real, o.imag
        # At least the rounding of the centre, so that no expansion mistakes it for a distance.
        radius[node] = most + ROUNDING * (abs(middle.real) + abs(middle.imag))
    return x, y, radius, mass, qx, qy, ox, oy


@part(counts_references=False)
def _divided(tree, node, square, lists, begin, end, near, distant, opened):
    """Classify a node's candidates: distant nodes, candidates of its children, leaves too near.

    Candidates are `lists[begin:end]`; those of children follow them. Returns where these end, and the numbers of the
    others; -1 first where an array is too short.
    """
    x, y, radius, inner = peek(tree.x, node), peek(tree.y, node), peek(tree.radius, node), peek(tree.right, node) > 0
    top, close, apart = end, 0, 0
    for i in range(begin, end):
        waiting = 1
        put(opened, 0, peek(lists, i))
        while waiting:
            waiting -= 1
            other = peek(opened, waiting)
            if top == lists.size or close == near.size or apart == distant.size:
                return -1, 0, 0
            dx, dy = x - peek(tree.x, other), y - peek(tree.y, other)
            reach, right = radius + peek(tree.radius, other), peek(tree.right, other)
            if reach * reach < square * (dx * dx + dy * dy):
                put(distant, apart, other)
                apart += 1
            elif right > 0 and (not inner or peek(tree.radius, other) > radius):
                put(opened, waiting, right)
                put(opened, waiting + 1, other + 1)
                waiting += 2
            elif inner:
                put(lists, top, other)
                top += 1
            else:
                put(near, close, other)
                close += 1
    return top, close, apart


@part(counts_references=False, error_model="numpy", fastmath={"reassoc", "contract"})
def _expanded(tree, node, distant, count, expansion):
    """Add the fields of distant nodes to a local expansion."""
    ax, ay, bx, by, cx, cy, dx, dy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        other = vertex(distant, i)
        x, y = peek(tree.x, node) - peek(tree.x, other), peek(tree.y, node) - peek(tree.y, other)
        inverse = 1 / (x * x + y * y)
        x, y = x * inverse, -y * inverse
        x2, y2 = x * x - y * y, 2 * x * y
        x3, y3 = x2 * x - y2 * y, x2 * y + y2 * x
        x4, y4 = x2 * x2 - y2 * y2, 2 * x2 * y2
        m, qx, qy = peek(tree.mass, other), peek(tree.qx, other), peek(tree.qy, other)
        ox, oy = peek(tree.ox, other), peek(tree.oy, other)
        ax += m * x + (qx * x3 - qy * y3) + (ox * x4 - oy * y4)
        ay += m * y + (qx * y3 + qy * x3) + (ox * y4 + oy * x4)
        bx -= m * x2 + 3 * (qx * x4 - qy * y4)
        by -= m * y2 + 3 * (qx * y4 + qy * x4)
        cx += m * x3
        cy += m * y3
        dx -= m * x4
        dy -= m * y4
    expansion[0] += complex(ax, ay)
    expansion[1] += complex(bx, by)
    expansion[2] += complex(cx, cy)
    expansion[3] += complex(dx, dy)


@part(counts_references=False)
def _gathered(tree, position, weights, node, near, count, sources):
    """Positions relative to a node's centre, and masses, of points of leaves; returns their number, -1 if too many."""
    x, y, filled = peek(tree.x, node), peek(tree.y, node), 0
    for i in range(count):
        begin, end = peek(tree.first, near[i]), peek(tree.last, near[i])
        if filled + end - begin > sources.shape[1]:
            return -1
        for j in range(begin, end):
            sources[0, filled] = position[j, 0] - x
            sources[1, filled] = position[j, 1] - y
            sources[2, filled] = weights[j]
            filled += 1
    return filled


@part(counts_references=False, error_model="numpy", fastmath={"reassoc", "contract"})
def _pushed(x, y, sources, count):
    """The force of near points on one of unit mass."""
    fx, fy = ZERO, ZERO
    # Branch-free, so that it is vectorized.
    for j in range(count):
        dx, dy = x - sources[0, j], y - sources[1, j]
        square = dx * dx + dy * dy
        share = sources[2, j] / (square if square > ZERO else ONE)
        fx += share * dx
        fy += share * dy
    return fx, fy


@njit(cache=True, nogil=True, error_model="numpy")
def _push(tree, order, position, weights, theta, inverse, force, threads):
    following = np.zeros(1, np.int64)
    in_parallel(threads, _push_chunks, (tree, order, position, weights, theta, inverse, force, following))


@part(error_model="numpy")
def _push_chunks(worker, tree, order, position, weights, theta, inverse, force, following):
    # Candidates of the queued nodes, concatenated lists; a node's leaves too near for expansions, and their points;
    # distant nodes.
    lists, near, distant = np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.int64)
    sources, opened = np.empty((3, 1024), np.float32), np.empty(2 * DEPTH, np.int64)
    stack, expansions = np.empty((2 * DEPTH, 3), np.int64), np.empty((2 * DEPTH, 4), np.complex128)
    for chunk in tasks(following, order.size, CHUNK):
        low, high = chunk, min(chunk + CHUNK, order.size)
        lists[0], waiting = 0, 1
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, 1
        expansions[0] = 0
        while waiting:
            waiting -= 1
            node, begin, end = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
            top, close, apart = _divided(tree, node, theta * theta, lists, begin, end, near, distant, opened)
            while top < 0:
                lists, near = np.concatenate((lists, lists)), np.empty(2 * near.size, np.int64)
                distant = np.empty(2 * distant.size, np.int64)
                top, close, apart = _divided(tree, node, theta * theta, lists, begin, end, near, distant, opened)
            _expanded(tree, node, distant, apart, expansions[waiting])
            a, b, c, d = expansions[waiting]
            if tree.right[node] > 0:
                for child in (tree.right[node], node + 1):
                    if tree.first[child] < high and tree.last[child] > low:
                        h = complex(tree.x[child] - tree.x[node], tree.y[child] - tree.y[node])
                        stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = child, end, top
                        expansions[waiting, 0] = a + h * (b + h * (c + h * d))
                        expansions[waiting, 1] = b + h * (2 * c + 3 * h * d)
                        expansions[waiting, 2] = c + 3 * h * d
                        expansions[waiting, 3] = d
                        waiting += 1
                continue
            count = _gathered(tree, position, weights, node, near, close, sources)
            while count < 0:
                sources = np.empty((3, 2 * sources.shape[1]), np.float32)
                count = _gathered(tree, position, weights, node, near, close, sources)
            for i in range(max(low, tree.first[node]), min(high, tree.last[node])):
                x, y = position[i, 0] - tree.x[node], position[i, 1] - tree.y[node]
                h = complex(x, y)
                far = a + h * (b + h * (c + h * d))
                fx, fy = _pushed(np.float32(x), np.float32(y), sources, count)
                m, v = weights[i] * inverse, vertex(order, i)
                force[v, 0], force[v, 1] = m * (far.real + fx), m * (fy - far.imag)
