"""Random walks on the CPU: several at a time step by step, to overlap memory latency."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import njit, part, peek, prefetch, put, tasks, team, vertex
from hpgraph.kernels.runtime.cpu.rows import Rows, place_in_row
from hpgraph.kernels.sampling import STEP_SHIFT, TRIES, Bias, Sums
from hpgraph.kernels.sampling.cpu_random import below, bits, by_weight, unit

# Walks that a thread interleaves.
GROUP = 64


def walks(arcs: CSR, sums: Sums | None, starts: Any, length: int, seed: int, bias: Bias | None) -> Any:
    """Walks along random arcs, a row each, -1 after the end of one that cannot continue.

    Random numbers depend on ``seed``, 64 signed bits, the walk's index and the step.
    """
    found = np.empty((len(starts), length + 1), arcs.indices.dtype)
    rows, flat, running = Rows(arcs.indptr, arcs.indices), found.reshape(-1), None if sums is None else sums.running
    with team() as threads:
        if bias is None:
            _walk(rows, running, starts, np.int64(length), np.int64(seed), flat, threads)
        else:
            _walk_biased(rows, running, starts, np.int64(length), np.int64(seed), Bias(*bias), flat, threads)
    return found


@part
def _pick(rows, running, v, word):
    """Position of a random arc of a vertex; -1 if it has none of positive weight."""
    begin, end = peek(rows.indptr, v), peek(rows.indptr, v + 1)
    if begin == end:
        return np.int64(-1)
    if running is None:
        return begin + below(word, end - begin)
    if not peek(running, end - 1) > 0:
        return np.int64(-1)
    return by_weight(running, begin, end, word)


@part
def _walk_groups(worker, rows, running, starts, length, seed, found, following):
    total, wide = starts.size, length + 1
    current, place = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    for first in tasks(following, total, GROUP):
        count = min(GROUP, total - first)
        for i in range(count):
            current[i] = starts[first + i]
            put(found, (first + i) * wide, starts[first + i])
            prefetch(rows.indptr, current[i])
        for step in range(length):
            for i in range(count):
                place[i] = -1
                if current[i] >= 0:
                    place[i] = _pick(rows, running, current[i], bits(seed, first + i, step))
                    prefetch(rows.indices, place[i])
            for i in range(count):
                current[i] = vertex(rows.indices, place[i]) if place[i] >= 0 else -1
                put(found, (first + i) * wide + step + 1, current[i])
                prefetch(rows.indptr, current[i])


@njit(cache=True, nogil=True)
def _walk(rows, running, starts, length, seed, found, threads):
    in_parallel(threads, _walk_groups, (rows, running, starts, length, seed, found, np.zeros(1, np.int64)))


@part
def _factor(rows, bias, before, x):
    if x == before:
        return bias.back
    return bias.near if place_in_row(rows.indptr, rows.indices, before, x) >= 0 else bias.away


@part
def _biased_pick(rows, running, bias, before, v, seed, walk, step):
    """Position of a random arc of a second-order walk: by rejection sampling, then by a scan of the whole row."""
    most = max(bias.back, bias.near, bias.away)
    counter = (step << STEP_SHIFT) + 1
    for _ in range(TRIES):
        at = _pick(rows, running, v, bits(seed, walk, counter))
        if at < 0:
            return at
        if unit(bits(seed, walk, counter + 1)) * most < _factor(rows, bias, before, vertex(rows.indices, at)):
            return at
        counter += 2
    begin, end = peek(rows.indptr, v), peek(rows.indptr, v + 1)
    total = 0.0
    for at in range(begin, end):
        total += _factor(rows, bias, before, vertex(rows.indices, at)) * _weight(running, begin, at)
    x, sofar = unit(bits(seed, walk, counter)) * total, 0.0
    last: Any = np.int64(-1)
    for at in range(begin, end):
        part = _factor(rows, bias, before, vertex(rows.indices, at)) * _weight(running, begin, at)
        sofar += part
        if part > 0:
            last = at
            if sofar > x:
                break
    return last


@part
def _weight(running, begin, at):
    if running is None:
        return 1.0
    return peek(running, at) - (peek(running, at - 1) if at > begin else 0.0)


@part(counts_references=False)
def _walk_biased_groups(worker, rows, running, starts, length, seed, bias, found, following):
    total, wide = starts.size, length + 1
    for first in tasks(following, total, GROUP):
        for walk in range(first, min(first + GROUP, total)):
            before, v = np.int64(-1), vertex(starts, walk)
            put(found, walk * wide, v)
            for step in range(length):
                at = np.int64(-1)
                if v >= 0 and before < 0:
                    at = _pick(rows, running, v, bits(seed, walk, step << STEP_SHIFT))
                elif v >= 0:
                    at = _biased_pick(rows, running, bias, before, v, seed, walk, step)
                before, v = v, np.int64(-1)
                if at >= 0:
                    v = vertex(rows.indices, at)
                put(found, walk * wide + step + 1, v)


@njit(cache=True, nogil=True)
def _walk_biased(rows, running, starts, length, seed, bias, found, threads):
    in_parallel(threads, _walk_biased_groups, (rows, running, starts, length, seed, bias, found, np.zeros(1, np.int64)))
