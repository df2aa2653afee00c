"""Forces on the CPU, of few points by all pairs, and steps of ForceAtlas2."""

import math
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.layout import (
    FASTEST,
    LINEAR,
    LOGARITHM,
    MIN_EFFICIENCY,
    RISE,
    SQUARE,
    WILD,
    Forces,
    length_of,
)  # fmt: skip
from hpgraph.kernels.layout.cpu_multipoles import repulsion as repulsion_of_nodes
from hpgraph.kernels.layout.cpu_sampled import sampled_epochs as sampled_epochs
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, peek, prange, team, vertex
from hpgraph.kernels.runtime.cpu.rows import Rows

# Points that a thread takes at a time.
CHUNK = 64
# Vertices of a block, whose squared steps are summed together.
STRETCH = 1024
# Number of points up to which all pairs take less time than a tree.
FEW = 256
# From 1 on expansions do not converge. On a ring, whose forces nearly cancel, the error is 1.5% at 0.8, 2.8% at 0.9,
# and 12% at 0.95; by Barnes and Hut's algorithm 13% at 1.2.
MAX_THETA = 0.9


def repulsion(points: Any, mass: Any, theta: float) -> Any:
    """Repulsive force on each point; coincident points do not act on each other."""
    n = len(points)
    if theta > 0 and n > FEW:
        return repulsion_of_nodes(points, mass, min(theta, MAX_THETA))
    force = np.empty((n, 2))
    with team():
        _repel(points, mass, force)
    return force


def attraction(arcs: CSR, place: Any, law: int = LINEAR, least: float = 1e-300) -> Any:
    """`hpgraph.kernels.layout.Layout.attraction` on the CPU."""
    force = np.empty((len(place), 2))
    with team():
        _attract(Rows(arcs.indptr, arcs.indices, arcs.data), place, np.int64(law), least, force)
    return force


def displaced(place: Any, force: Any, share: Any, bound: float, least: float) -> tuple[Any, Any]:
    """`hpgraph.kernels.layout.Layout.displaced` on the CPU."""
    found = np.empty_like(place)
    squares = np.empty(-(-len(place) // STRETCH))
    with team():
        _displace(place, force, share, bound, least, found, squares)
    return found, squares.sum()


def stress_moves(place: Any, pivots: Any, wanted: Any, weight: Any) -> Any:
    """`hpgraph.kernels.layout.Layout.stress_moves` on the CPU."""
    moves = np.empty((len(place), 2))
    with team():
        _sum_stress(place, place[pivots], wanted, weight, moves)
    return moves


def combined(
    place: Any, pushed: Any, pulled: Any, mass: Any, before: Any, forces: Forces
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The force on each vertex, its swinging, and the global swinging and traction."""
    force = forces.scaling * pushed
    force += pulled / mass[:, None] if forces.distributed_action else pulled
    far = 1.0 if forces.strong_gravity else np.maximum(length_of(place), np.finfo(np.float64).tiny)[:, None]
    force -= forces.gravity * mass[:, None] * place / far
    swing = mass * length_of(force - before)
    return force, swing, np.array([swing.sum(), (mass * length_of(force + before)).sum() / 2])


def moved(place: Any, force: Any, swing: Any, totals: Any, pace: Any, tolerance: float) -> tuple[Any, Any]:
    """Positions after a step, and its speed and efficiency."""
    pace = _adapt_speed(len(place), totals, pace, tolerance)
    return place + force * (pace[0] / (1 + np.sqrt(pace[0] * swing)))[:, None], pace


def _adapt_speed(n: int, totals: Any, pace: Any, tolerance: float) -> Any:
    """The next global speed, limited by the swinging and to 1.5 times the last one; and the efficiency."""
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


@njit(cache=True, nogil=True, parallel=LOOPS, error_model="numpy")
def _attract(rows, place, law, least, force):
    for v in prange(rows.indptr.size - 1):
        x, y, fx, fy = place[v, 0], place[v, 1], 0.0, 0.0
        for p in range(peek(rows.indptr, v), peek(rows.indptr, v + 1)):
            u, share = vertex(rows.indices, p), peek(rows.data, p)
            dx, dy = place[u, 0] - x, place[u, 1] - y
            if law != LINEAR:
                length = math.sqrt(dx * dx + dy * dy)
                held = max(length, least)
                share *= held if law == SQUARE else math.log1p(length) / held if law == LOGARITHM else 1 / held
            fx += share * dx
            fy += share * dy
        force[v, 0], force[v, 1] = fx, fy


@njit(cache=True, nogil=True, parallel=LOOPS, error_model="numpy")
def _displace(place, force, share, bound, least, found, squares):
    for chunk in prange(squares.size):
        total = 0.0
        for v in range(chunk * STRETCH, min(chunk * STRETCH + STRETCH, share.size)):
            x, y = share[v] * force[v, 0], share[v] * force[v, 1]
            factor = bound / max(math.sqrt(x * x + y * y), least)
            x, y = factor * x, factor * y
            found[v, 0], found[v, 1] = place[v, 0] + x, place[v, 1] + y
            total += x * x + y * y
        squares[chunk] = total


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _repel(points, mass, force):
    n = mass.size
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        low = chunk * CHUNK
        size = min(CHUNK, n - low)
        x, y, fx, fy = np.zeros(CHUNK), np.zeros(CHUNK), np.zeros(CHUNK), np.zeros(CHUNK)
        for i in range(size):
            x[i], y[i] = points[low + i, 0], points[low + i, 1]
        for j in range(n):
            xj, yj, m = points[j, 0], points[j, 1], mass[j]
            # Branch-free, so that it is vectorized.
            for i in range(CHUNK):
                dx, dy = x[i] - xj, y[i] - yj
                far = dx * dx + dy * dy
                share = m / (far if far > 0 else 1.0)
                fx[i] += share * dx
                fy[i] += share * dy
        for i in range(size):
            force[low + i, 0], force[low + i, 1] = mass[low + i] * fx[i], mass[low + i] * fy[i]


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _sum_stress(place, pivots, wanted, weight, moves):
    n = moves.shape[0]
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        low = chunk * CHUNK
        size = min(CHUNK, n - low)
        x, y, fx, fy = np.zeros(CHUNK), np.zeros(CHUNK), np.zeros(CHUNK), np.zeros(CHUNK)
        for i in range(size):
            x[i], y[i] = place[low + i, 0], place[low + i, 1]
        for p in range(pivots.shape[0]):
            xp, yp = pivots[p, 0], pivots[p, 1]
            for i in range(size):
                dx, dy = x[i] - xp, y[i] - yp
                square = dx * dx + dy * dy
                share = wanted[p, low + i] / (math.sqrt(square) if square > 0 else math.inf) - weight[p, low + i]
                fx[i] += share * dx
                fy[i] += share * dy
        for i in range(size):
            moves[low + i, 0], moves[low + i, 1] = fx[i], fy[i]
