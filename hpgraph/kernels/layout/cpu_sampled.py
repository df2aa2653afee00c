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


def sampled_epochs(place: Any, arcs: CSR, steps: Any, how: Sampling) -> Any:
    """Positions after an epoch for each step length; see `hpgraph.kernels.layout.Layout`."""
    here, there = place.astype(np.float32), np.empty(place.shape, np.float32)
    rows, curve = Rows(arcs.indptr, arcs.indices, arcs.data), tuple(map(np.float32, (how.a, how.b, how.repulsion)))
    followed = float(arcs.data.sum(dtype=np.float64)) * (2 + how.negatives)
    with team() as threads:
        threads = threads if followed > 2 * TASK_ENTRIES else 1
        for epoch, step in enumerate(steps):
            draws = np.int64(how.negatives), np.int64(how.seed)
            _epoch(rows, here, there, np.int64(epoch), np.float32(step), curve, draws, threads)
            here, there = there, here
    return here


@part
def _bounded(move):
    return min(max(move, -_FARTHEST), _FARTHEST)


@njit(cache=True, nogil=True, parallel=LOOPS, heavy=True)
def _epoch(rows, here, there, epoch, step, curve, draws, threads):
    indptr, indices, chances, _ = rows
    (a, b, repulsion), (negatives, seed) = curve, draws
    following, n = np.zeros(1, np.int64), indptr.size - 1
    now, later, count = np.float32(epoch), np.float32(epoch + 1), np.uint64(n)
    pull, push = np.float32(-2) * a * b, np.float32(2) * repulsion * b
    for _ in prange(threads):
        for chunk in tasks(following, n, CHUNK):
            for v in range(chunk, min(chunk + CHUNK, n)):
                x, y, key = here[v, 0], here[v, 1], bits(seed, v, epoch)
                for p in range(peek(indptr, v), peek(indptr, v + 1)):
                    chance = peek(chances, p)
                    if not np.floor(later * chance) > np.floor(now * chance):
                        continue
                    u = vertex(indices, p)
                    for _end in range(2):
                        dx, dy = x - here[u, 0], y - here[u, 1]
                        square = dx * dx + dy * dy
                        if square > _ZERO:
                            power = square**b
                            factor = pull * power / (square * (_ONE + a * power))
                            x += step * _bounded(factor * dx)
                            y += step * _bounded(factor * dy)
                    for _draw in range(negatives):
                        key += GOLDEN
                        u = np.int64(((mixed(key) >> _HALF) * count) >> _HALF)
                        dx, dy = x - here[u, 0], y - here[u, 1]
                        square = dx * dx + dy * dy
                        if u != v and square > _ZERO:
                            factor = push / ((_NEAREST + square) * (_ONE + a * square**b))
                            x += step * _bounded(factor * dx)
                            y += step * _bounded(factor * dy)
                there[v, 0], there[v, 1] = x, y
