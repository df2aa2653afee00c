"""Windows over pages as parts of a superstep on the CPU: messages are joined to those of the windows before.

Each thread owns rows, or a range of targets, so there are no atomic operations, and the messages of a vertex are
reduced in the order of the arcs, on any number of threads: results are bitwise reproducible.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from hpgraph.kernels.runtime.cpu.bits import lowest_bit
from hpgraph.kernels.runtime.cpu.claim import mark, test
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.weights import entry_or
from hpgraph.kernels.spmv.cpu_fold import convert, fold
from hpgraph.kernels.superstep.cpu_frontier import SHORT, _is_settled, _neutral, _receive
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.jit import call
from hpgraph.semiring.stop import is_stopped

# Rows that a thread takes at a time: a multiple of 64, so that each word of a bitmask has one writer.
ROWS = 512


class Stretch(NamedTuple):
    """A `Window` as kernels take it; `one` is the weight of a pattern's entries."""

    indptr: Any
    indices: Any
    data: Any
    one: Any
    begin: int
    end: int
    first: int


def ranges(window: Any, n: int, parts: int) -> np.ndarray:
    """Ranges of targets with about equal numbers of arcs, by whole words of a bitmask."""
    sample = np.sort(window.indices[:: max(1, len(window.indices) // 1024)])
    inner = sample[len(sample) * np.arange(1, parts) // parts].astype(np.int64) & ~63
    return np.concatenate(([0], inner, [n]))


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def push_window(functions, state, window, inbox, frontier, bounds):
    """Push from the rows `frontier`; each thread owns a range of targets between two of the `bounds`."""
    for p in prange(bounds.size - 1):
        low, high = bounds[p], bounds[p + 1]
        for i in range(frontier.size):
            if is_stopped():
                break
            u = np.int64(frontier[i])
            j = max(window.indptr[u] - window.first, 0)
            end = min(window.indptr[u + 1] - window.first, window.indices.size)
            if end - j > SHORT and low > 0:
                j += np.searchsorted(window.indices[j:end], low)
            while j < end:
                v = vertex(window.indices, j)
                if v >= high:
                    break
                if v >= low and not _is_settled(inbox.settled, v) and call(functions.cond, state, v):
                    weight = entry_or(window.data, j, window.one)
                    if call(functions.edge_cond, state, u, weight, v):
                        neutral = _neutral(functions.neutral, inbox.identity)
                        sent = convert(neutral, call(functions.gather, state, u, weight, v))
                        _receive(functions, state, inbox, sent, v)
                j += 1


@part(error_model="numpy", forceinline=True, counts_references=False)
def _waits(functions, terminal, state, inbox, v):
    """Whether a message could still change the result of `v`."""
    if _is_settled(inbox.settled, v) or not call(functions.cond, state, v):
        return False
    if terminal is not None and test(inbox.received, v):
        return not call(terminal, inbox.message[v])
    return True


# Separate functions: in a parallel loop Numba treats a write to an attribute's array as dead.
@part(error_model="numpy", forceinline=True, counts_references=False)
def _pull_row(functions, terminal, state, window, inbox, active, v):
    """Fold the messages of the active neighbours of `v`."""
    first = max(window.indptr[v] - window.first, 0)
    last = min(window.indptr[v + 1] - window.first, window.indices.size)
    if first < last and _waits(functions, terminal, state, inbox, v):
        value = inbox.message[v] if test(inbox.received, v) else inbox.identity
        value, found = fold(
            functions.gather, functions.reduce, terminal, inbox.identity, state, window.indices, window.data, first,
            last, active, v, window.one, value,
        )  # fmt: skip
        if found:
            inbox.message[v] = value
            mark(inbox.received, v)


@part(error_model="numpy", forceinline=True, counts_references=False)
def _pull_some_of_row(functions, terminal, state, window, inbox, active, v):
    """The same if `edge_cond` filters arcs."""
    first = max(window.indptr[v] - window.first, 0)
    last = min(window.indptr[v + 1] - window.first, window.indices.size)
    if first < last and _waits(functions, terminal, state, inbox, v):
        for j in range(first, last):
            u = vertex(window.indices, j)
            weight = entry_or(window.data, j, window.one)
            if active[u] != 0 and call(functions.edge_cond, state, u, weight, v):
                neutral = _neutral(functions.neutral, inbox.identity)
                sent = convert(neutral, call(functions.gather, state, u, weight, v))
                _receive(functions, state, inbox, sent, v)
                if terminal is not None and call(terminal, inbox.message[v]):
                    break


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def pull_window(functions, terminal, state, window, inbox, active, workers):
    """Fold the messages of active neighbours in every row that may receive; without `edge_cond`."""
    counter = np.full(1, window.begin & ~np.int64(ROWS - 1))
    for _ in prange(workers):
        while True:
            begin = fetch_add(counter, 0, ROWS)
            if begin >= window.end or is_stopped():
                break
            for v in range(max(begin, window.begin), min(begin + ROWS, window.end)):
                _pull_row(functions, terminal, state, window, inbox, active, v)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def pull_window_some(functions, terminal, state, window, inbox, active, workers):
    """The same if `edge_cond` filters arcs."""
    counter = np.full(1, window.begin & ~np.int64(ROWS - 1))
    for _ in prange(workers):
        while True:
            begin = fetch_add(counter, 0, ROWS)
            if begin >= window.end or is_stopped():
                break
            for v in range(max(begin, window.begin), min(begin + ROWS, window.end)):
                _pull_some_of_row(functions, terminal, state, window, inbox, active, v)


@part(error_model="numpy", forceinline=True, counts_references=False)
def _pull_heads(functions, state, inbox, neighbour, waiting, active, one, word):
    """64 vertices, if they are waiting."""
    bits = waiting[word]
    while bits:
        v = (word << 6) + np.int64(lowest_bit(bits))
        bits &= bits - np.uint64(1)
        u = np.int64(neighbour[v])
        if u >= 0 and test(active, u) and call(functions.edge_cond, state, u, one, v):
            sent = convert(inbox.identity, call(functions.gather, state, u, one, v))
            _receive(functions, state, inbox, sent, v)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def pull_heads(functions, state, inbox, neighbour, waiting, active, one):
    """Bottom-up step along the resident neighbour of each waiting vertex."""
    for word in prange(waiting.size):
        _pull_heads(functions, state, inbox, neighbour, waiting, active, one, word)
