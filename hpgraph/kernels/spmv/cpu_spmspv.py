"""SpMSpV, the product with a sparse frontier: active vertices push messages along their out-arcs (top-down).

Each thread owns a range of targets and processes the whole frontier, but in each row only the columns in its range,
found by binary search. So there are no atomic operations and no message buffers, and the messages of a target are
reduced in the order of the frontier, on any number of threads. (The alternative, partitioning the frontier and merging,
is the bucketed SpMSpV of A. Azad and A. Buluç, IPDPS'17.)
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.formats import CSR, Bitmask, attached
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, SERIAL, interruptible, is_stopped, njit, prange, team
from hpgraph.kernels.runtime.cpu.rows import Rows, lower_bound
from hpgraph.kernels.spmv.cpu import NO_BITS, arrays, plain, product_of
from hpgraph.kernels.spmv.cpu_fold import convert, is_allowed, is_set, join, vertex, weight
from hpgraph.semiring.jit import call

# Rows up to this length are scanned instead of searched.
SHORT = 16


# Targets that may be written, and the results: the rows that received, as bits, and their values.
Targets = namedtuple("Targets", "mask complement seen values")


@njit(error_model="numpy", counts_references=False)
def _send(product, state, rows, is_sorted, frontier, low, high, targets, touched):
    """Push to the targets low..high; returns the number reached, which are listed in `touched` unless that is empty."""
    indptr, indices, one = rows.indptr, rows.indices, rows.one
    seen, values, count = targets.seen, targets.values, 0
    for i in range(frontier.size):
        if is_stopped():
            continue
        u = np.int64(frontier[i])
        j, end = indptr[u], indptr[u + 1]
        if is_sorted and end - j > SHORT and low > 0:
            j = lower_bound(indices, j, end, low)
        while j < end:
            v = vertex(indices, j)
            if v >= high and is_sorted:
                break
            if low <= v < high and is_allowed(targets.mask, targets.complement, v):
                sent = convert(one, call(product.gather, state, u, weight(rows.data, j, one), v))
                if is_set(seen, v):
                    values[v] = join(product.reduce, values[v], sent)
                else:
                    seen[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
                    values[v] = sent
                    if touched.size:
                        touched[count] = v
                    count += 1
            j += 1
    return count


@njit
def _list(seen, low, high, touched, count):
    """Append the set bits between low and high to a list, ascending."""
    for word in range(low >> 6, (high + 63) >> 6):
        if seen[word]:
            for v in range(word << 6, min((word << 6) + 64, high)):
                if is_set(seen, v):
                    touched[count] = v
                    count += 1


@njit(error_model="numpy")
def _write(accum, out, values, touched):
    if accum is not None:
        for i in range(touched.size):
            v = touched[i]
            out[v] = call(accum, out[v], values[v])


@njit(error_model="numpy")
def _values(accum, out):
    """The array that messages are reduced in: `out`, or a temporary one if results are accumulated into `out`."""
    if accum is None:
        return out
    return np.empty(out.size, out.dtype)


@njit(cache=True, nogil=True, error_model="numpy")
def _push_alone(product, state, arcs, frontier, limit, mask, complement, out):
    indptr, indices, data = arcs
    n, rows = out.size, Rows(indptr, indices, data, convert(product.identity, 1))
    seen = np.zeros((n + 63) >> 6, np.uint64)
    values = _values(product.accum, out)
    touched = np.empty(limit, rows.indices.dtype)
    targets = Targets(mask, complement, seen, values)
    count = _send(product, state, rows, False, frontier, 0, n, targets, touched)
    touched = np.sort(touched[:count])
    _write(product.accum, out, values, touched)
    return touched


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _push(product, state, arcs, is_sorted, frontier, bounds, mask, complement, out):
    indptr, indices, data = arcs
    n, rows = out.size, Rows(indptr, indices, data, convert(product.identity, 1))
    seen = np.zeros((n + 63) >> 6, np.uint64)
    values = _values(product.accum, out)
    parts = bounds.size - 1
    no_order, targets = np.empty(0, rows.indices.dtype), Targets(mask, complement, seen, values)
    counts = np.zeros(parts + 1, np.int64)
    for p in prange(parts):
        counts[p + 1] = _send(
            product, state, rows, is_sorted, frontier, bounds[p], bounds[p + 1], targets, no_order
        )  # fmt: skip
    for p in range(parts):
        counts[p + 1] += counts[p]
    touched = np.empty(counts[parts], rows.indices.dtype)
    for p in prange(parts):
        _list(seen, bounds[p], bounds[p + 1], touched, counts[p])
    _write(product.accum, out, values, touched)
    return touched


@attached
def is_sorted(rows: CSR) -> bool:
    """Whether each row's columns ascend; checked once a matrix."""
    return bool(rows.is_canonical())


@attached
def _targets(rows: CSR) -> Any:
    return sample_of(rows.indices)


def sample_of(indices: Any) -> Any:
    """A sample of some thousand targets, ascending."""
    return np.sort(indices[:: max(1, len(indices) // 4096)])


def target_ranges(rows: CSR, parts: int) -> Any:
    """`ranges` of the targets of a matrix."""
    return ranges(_targets(rows), rows.shape[1], parts)


def ranges(sample: Any, n: int, parts: int) -> Any:
    """Ranges of targets with about equal numbers of arcs, by whole words of a bitmask: each word has one writer."""
    inner = sample[len(sample) * np.arange(1, parts) // parts].astype(np.int64) & ~63
    return np.concatenate(([0], inner, [n]))


def push(
    rows: CSR, gather: Any, reduce: Any, state: tuple[Any, ...], frontier: Any, out: Any, *,
    mask: Bitmask | None = None, complement: bool = False, accum: Any = None,
) -> Any:  # fmt: skip
    """Push messages along the out-arcs of a frontier: ``out[v] = reduce of gather(state, u, w, v)``; returns the v.

    Row u of ``rows`` lists the targets of u: the transpose of the matrix of `pull`; ``frontier`` has no duplicates;
    ``out`` is written at the targets that got a message, and nowhere else. Messages of a target are reduced in the
    order of `frontier`: results are bitwise the same on any number of threads.
    """
    n = rows.shape[1]
    frontier = plain(frontier)
    arcs = int((rows.indptr[frontier + 1] - rows.indptr[frontier]).sum())
    product = product_of(gather, reduce, accum, out.dtype)
    arguments = product, tuple(plain(array) for array in state), arrays(rows)
    targets = NO_BITS if mask is None else mask.words, bool(complement), out
    if arcs <= SERIAL:
        with interruptible():
            return _push_alone(*arguments, frontier, min(arcs, n), *targets)
    with team() as workers:
        return _push(*arguments, is_sorted(rows), frontier, target_ranges(rows, workers), *targets)
