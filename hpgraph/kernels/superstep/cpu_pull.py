"""Bottom-up steps: each vertex that may receive folds the messages of its active in-neighbours.

The arcs are all, or those of a window over pages: messages are then joined to those of the windows before. Each thread
owns rows, and the messages of a vertex are combined in the order of the arcs, on any number of threads: results are
bitwise reproducible.
"""

import numpy as np

from hpgraph.kernels.runtime.cpu.bits import lowest_bit
from hpgraph.kernels.runtime.cpu.claim import mark, test
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, prange, tasks, vertex
from hpgraph.kernels.runtime.cpu.weights import entry_or
from hpgraph.kernels.spmv.cpu_fold import convert, fold, join
from hpgraph.kernels.superstep.cpu_frontier import ROWS, _is_settled, _neutral, _put, _receive, _row, _take
from hpgraph.semiring.jit import call


@part(error_model="numpy", forceinline=True, counts_references=False)
def _may_receive(functions, terminal, state, inbox, v):
    """Whether a message could still change the result of `v`."""
    if _is_settled(inbox.settled, v) or not call(functions.cond, state, v):
        return False
    if terminal is not None and test(inbox.received, v):
        return not call(terminal, inbox.message[v])
    return True


@part(forceinline=True)
def _received_before(joins, functions, inbox, v):
    """Whether `v` has received before, replies or messages of another part, and their combination."""
    found, value = False, _neutral(functions.neutral, inbox.identity)
    if joins is not None:
        found = test(inbox.received, v)
        if found:
            value = _take(functions.take, inbox.message, v)
    return found, value


# Separate functions: in a parallel loop Numba treats a write to an attribute's array as dead.
@part(error_model="numpy", forceinline=True)
def _pull_row(functions, terminal, joins, state, arcs, inbox, active, v):
    """Fold the messages of the active in-neighbours of `v` into what it has received so far."""
    found, value = _received_before(joins, functions, inbox, v)
    begin, end = _row(arcs.first, arcs.indptr, arcs.indices.size, v)
    for j in range(begin, end):
        u = vertex(arcs.indices, j)
        if test(active, u):
            weight = entry_or(arcs.data, j, arcs.one)
            if call(functions.edge_cond, state, u, weight, v):
                sent = convert(value, call(functions.gather, state, u, weight, v))
                value = join(functions.reduce, value, sent)
                found = True
                if terminal is not None and call(terminal, value):
                    break
    if found:
        _put(functions.put, inbox.message, v, value)
        mark(inbox.received, v)


@part(error_model="numpy", forceinline=True, counts_references=False)
def _pull_rows(functions, terminal, joins, state, arcs, inbox, active, begin, end):
    for v in range(begin, end):
        if _may_receive(functions, terminal, state, inbox, v):
            _pull_row(functions, terminal, joins, state, arcs, inbox, active, v)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def pull_some(functions, terminal, joins, state, arcs, inbox, active, rows, workers):
    """Bottom-up step: each row that may receive combines messages of active in-neighbours that pass `edge_cond`.

    `joins` is None if no vertex has received before; ``rows``: the first row, and the one past the last.
    """
    first, last = rows
    counter = np.full(1, first & ~np.int64(ROWS - 1))
    for _ in prange(workers):
        for begin in tasks(counter, last, ROWS):
            _pull_rows(
                functions, terminal, joins, state, arcs, inbox, active, max(begin, first), min(begin + ROWS, last)
            )


@part(error_model="numpy", forceinline=True, counts_references=False)
def _fold_row(functions, terminal, state, window, inbox, active, v):
    """Fold the messages of the active neighbours of `v`."""
    first, last = _row(window.first, window.indptr, window.indices.size, v)
    if first < last and _may_receive(functions, terminal, state, inbox, v):
        value = inbox.message[v] if test(inbox.received, v) else inbox.identity
        value, found = fold(functions, terminal, inbox.identity, state, window, first, last, active, v, value)
        if found:
            inbox.message[v] = value
            mark(inbox.received, v)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def pull_window(functions, terminal, state, window, inbox, active, rows, workers):
    """Fold the messages of active neighbours in every row that may receive, as `pull_some`; without `edge_cond`."""
    first, last = rows
    counter = np.full(1, first & ~np.int64(ROWS - 1))
    for _ in prange(workers):
        for begin in tasks(counter, last, ROWS):
            for v in range(max(begin, first), min(begin + ROWS, last)):
                _fold_row(functions, terminal, state, window, inbox, active, v)


@part(error_model="numpy", forceinline=True, counts_references=False)
def _pull_hub_cache(functions, state, inbox, neighbour, waiting, active, one, word):
    """`pull_hub_cache` for one word: the waiting ones of 64 vertices."""
    bits = waiting[word]
    while bits:
        v = (word << 6) + np.int64(lowest_bit(bits))
        bits &= bits - np.uint64(1)
        u = np.int64(neighbour[v])
        if u >= 0 and test(active, u) and call(functions.edge_cond, state, u, one, v):
            sent = convert(inbox.identity, call(functions.gather, state, u, one, v))
            _receive(functions, inbox, sent, v)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def pull_hub_cache(functions, state, inbox, neighbour, waiting, active, one):
    """Bottom-up step along the resident neighbour of each waiting vertex."""
    for word in prange(waiting.size):
        _pull_hub_cache(functions, state, inbox, neighbour, waiting, active, one, word)
