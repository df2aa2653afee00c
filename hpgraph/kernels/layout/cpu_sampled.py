"""Attraction along sampled arcs and repulsion from sampled vertices, on the CPU."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.layout import FARTHEST, NEAREST, Sampling
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, team, vertex
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.tasks import TASK_ENTRIES, tasks
from hpgraph.kernels.sampling.cpu_random import GOLDEN, bits, mixed

# Vertices that a thread takes at a time.
CHUNK = 64
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
_ZERO, _ONE = np.float32(0), np.float32(1)
_FARTHEST, _NEAREST = np.float32(FARTHEST), np.float32(NEAREST)


def sampled_epochs(place: Any, arcs: CSR, steps: Any, parameters: Sampling) -> Any:
    """Positions after an epoch for each step length; see `hpgraph.kernels.layout.Layout`."""
    position, next_position = place.astype(np.float32), np.empty(place.shape, np.float32)
    rows, curve = (
        Rows(arcs.indptr, arcs.indices, arcs.data),
        tuple(map(np.float32, (parameters.a, parameters.b, parameters.repulsion))),
    )
    followed = float(arcs.data.sum(dtype=np.float64)) * (2 + parameters.negatives)
    with team() as threads:
        threads = threads if followed > 2 * TASK_ENTRIES else 1
        for epoch, step in enumerate(steps):
            draws = np.int64(parameters.negatives), np.int64(parameters.seed)
            _epoch(rows, position, next_position, np.int64(epoch), np.float32(step), curve, draws, threads)
            position, next_position = next_position, position
    return position


@part
def _bounded(move):
    return min(max(move, -_FARTHEST), _FARTHEST)


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _epoch(rows, position, next_position, epoch, step, curve, draws, threads):
    indptr, indices, probabilities, _ = rows
    (a, b, repulsion), (negatives, seed) = curve, draws
    following, n = np.zeros(1, np.int64), indptr.size - 1
    now, later, count = np.float32(epoch), np.float32(epoch + 1), np.uint64(n)
    pull, push = np.float32(-2) * a * b, np.float32(2) * repulsion * b
    for _ in prange(threads):
        for chunk in tasks(following, n, CHUNK):
            for v in range(chunk, min(chunk + CHUNK, n)):
                x, y, key = position[v, 0], position[v, 1], bits(seed, v, epoch)
                for p in range(peek(indptr, v), peek(indptr, v + 1)):
                    probability = peek(probabilities, p)
                    if not np.floor(later * probability) > np.floor(now * probability):
                        continue
                    u = vertex(indices, p)
                    for _end in range(2):
                        dx, dy = x - position[u, 0], y - position[u, 1]
                        square = dx * dx + dy * dy
                        if square > _ZERO:
                            power = square**b
                            factor = pull * power / (square * (_ONE + a * power))
                            x += step * _bounded(factor * dx)
                            y += step * _bounded(factor * dy)
                    for _draw in range(negatives):
                        key += GOLDEN
                        u = np.int64(((mixed(key) >> _HALF) * count) >> _HALF)
                        dx, dy = x - position[u, 0], y - position[u, 1]
                        square = dx * dx + dy * dy
                        if u != v and square > _ZERO:
                            factor = push / ((_NEAREST + square) * (_ONE + a * square**b))
                            x += step * _bounded(factor * dx)
                            y += step * _bounded(factor * dy)
                next_position[v, 0], next_position[v, 1] = x, y
