"""Products in which every pair of entries counts as 1: values of the matrix are not read, and often nothing else.

If all sources are active, a row's result is its length. If some are, entries are first marked regardless of rows: each
entry becomes a bit, whether its source is active, and a row's count is the difference of the bits' prefix sums at its
ends (popcounts). If one active source suffices for a row, and rows have more than six entries in the mean, each row is
searched instead, four entries at a time, until four contain one. Either way few branches depend on the length of a row,
which is unpredictable.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.formats import CSR, Bitmask, attached
from hpgraph.kernels.runtime.cpu.bits import popcount
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, prange, prefetch, put, tasks, team
from hpgraph.kernels.runtime.cpu.schedule import schedule
from hpgraph.kernels.spmv.cpu_fold import at, convert, vertex

# Mean entries of a row up to which counting all is faster than searching for one.
COUNTED_MEAN = 6
# Prefetch distance in entries, entries of a cache line, and prefetch distance of a row's first entries, in rows.
PREFETCH_ENTRIES, LINE, PREFETCH_ROWS = 1024, 16, 32


# The flags of up to `most` entries as bits, and the number of set bits before each word.
Marks = namedtuple("Marks", "bits before most")


def pull_pairs(
    rows: CSR, arrays: tuple[Any, ...], gather: Any, reduce: Any, active: Bitmask | None, out: Any,
    received: Bitmask | None,
) -> bool:  # fmt: skip
    """`hpgraph.kernels.spmv.cpu.pull` if every entry sends 1, without reading values."""
    semiring = getattr(gather, "semiring", None)
    if semiring is None or semiring.multiply.cpp != "pair":
        return False
    counts = semiring.counts and out.dtype.kind != "b"
    if not (counts or reduce.idempotent):
        return False
    identity = reduce.identity_for(out.dtype)
    if active is None:
        _pull_all(rows, counts, identity, out, received)
        return True
    words = Bitmask.zeros(len(out)).words if received is None else received.words
    words[:] = 0
    senders = active.to_bool().view(np.uint8)
    with team() as workers:
        _pull_some(
            True if counts else None, True if counts or rows.nnz <= COUNTED_MEAN * len(out) else None, identity,
            arrays[0], arrays[1], senders, schedule(rows), out, words, workers,
        )  # fmt: skip
    return True


def _pull_all(rows: CSR, counts: bool, identity: Any, out: Any, received: Bitmask | None) -> None:
    """All sources are active: results follow from the lengths of rows."""
    has_entries = _has_entries(rows)
    if counts:
        np.subtract(rows.indptr[1:], rows.indptr[:-1], out=out, casting="unsafe")
    else:
        out.fill(1)
        if has_entries is not None:
            np.copyto(out, identity, where=~has_entries)
    if received is not None:
        received.words[:] = (Bitmask.full(len(out)) if has_entries is None else Bitmask.from_bool(has_entries)).words


@attached
def _has_entries(rows: CSR) -> Any:
    """Flags of the rows with entries, an array of bool; None if all have some."""
    has_entries = rows.indptr[1:] != rows.indptr[:-1]
    return None if has_entries.all() else has_entries


@njit(error_model="numpy", forceinline=True)
def _bits_of(flags, indices, begin, count):
    """The flags of `count` entries as bits, the first one lowest."""
    bits = np.uint64(0)
    for j in range(begin + count - 1, begin - 1, -1):
        bits += bits + np.uint64(at(flags, vertex(indices, j)))
    return bits


@njit(error_model="numpy")
def _mark(flags, indices, begin, end, marks):
    """Mark the entries begin..end whose flags are set; returns their number."""
    total = np.int64(0)
    whole = (end - begin) >> 6
    for i in range(whole):
        first = begin + 64 * i
        for line in range(0, 64, LINE):
            prefetch(indices, first + PREFETCH_ENTRIES + line)
        word = np.uint64(0)
        # Independent chains hide latency.
        for chain in range(0, 64, 8):
            word |= _bits_of(flags, indices, first + chain, 8) << np.uint64(chain)
        put(marks.bits, i, word)
        put(marks.before, i, total)
        total += popcount(word)
    word = _bits_of(flags, indices, begin + 64 * whole, (end - begin) & 63)
    put(marks.bits, whole, word)
    put(marks.before, whole, total)
    return total + popcount(word)


@njit(error_model="numpy", forceinline=True)
def _found_before(marks, j):
    """Number of marks among the first `j` entries."""
    below = (np.uint64(1) << np.uint64(j & 63)) - np.uint64(1)
    return at(marks.before, j >> 6) + popcount(at(marks.bits, j >> 6) & below)


@njit(error_model="numpy", forceinline=True)
def _any_of_four(flags, indices, j, last):
    """The flags of four entries from `j` on, ORed; indices are clamped to the last."""
    a, b = at(flags, vertex(indices, min(j, last))), at(flags, vertex(indices, min(j + 1, last)))
    c, d = at(flags, vertex(indices, min(j + 2, last))), at(flags, vertex(indices, min(j + 3, last)))
    return (a | b) | (c | d)


@njit(error_model="numpy", forceinline=True)
def _any_set(flags, indices, begin, end):
    """Whether any of the entries begin..end, if there are any, has its flag set; the matrix has at least one entry."""
    last = max(end - 1, 0)
    found = _any_of_four(flags, indices, begin, last) & np.uint8(begin < end)
    j = begin + 4
    # No break: with one, Numba would count references to the arrays at every row, by atomic operations.
    while found == 0 and j < end:
        found = _any_of_four(flags, indices, j, last)
        j += 4
    return np.int64(found)


@njit(error_model="numpy", forceinline=True)
def _value(counts, identity, found):
    """The result of a row with `found` active sources."""
    if counts is None:
        return convert(identity, 1) if found else identity
    return convert(identity, found)


@njit(error_model="numpy")
def _search(identity, indptr, indices, flags, begin, end, longest, out, received):
    """Rows begin..end, except long ones; each row's search ends early."""
    for start in range(begin, end, 64):
        bits = np.uint64(0)
        for v in range(start, min(start + 64, end)):
            first, last = at(indptr, v), at(indptr, v + 1)
            prefetch(indices, at(indptr, min(v + PREFETCH_ROWS, out.size)))
            if last - first <= longest:
                found = _any_set(flags, indices, first, last)
                put(out, v, _value(None, identity, found))
                bits |= np.uint64(found) << np.uint64(v & 63)
        received[start >> 6] = bits


@njit(error_model="numpy")
def _count_rows(counts, identity, indptr, indices, flags, begin, end, marks, out, received):
    """Rows begin..end, except long ones, as many at a time as `marks` has room for."""
    while begin < end:
        first = at(indptr, begin)
        stop = begin + np.searchsorted(indptr[begin + 1 : end + 1], first + marks.most, side="right")
        if stop == begin:
            begin += 1
            continue
        _mark(flags, indices, first, at(indptr, stop), marks)
        so_far = np.int64(0)
        for start in range(begin & ~63, stop, 64):
            bits = np.uint64(0)
            for v in range(max(start, begin), min(start + 64, stop)):
                found = _found_before(marks, at(indptr, v + 1) - first)
                put(out, v, _value(counts, identity, found - so_far))
                bits |= np.uint64(found != so_far) << np.uint64(v & 63)
                so_far = found
            received[start >> 6] |= bits
        begin = stop


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _pull_some(counts, whole, identity, indptr, indices, flags, plan, out, received, workers):
    n_pieces, longest = plan.piece_row.size, plan.longest
    found = np.zeros(n_pieces, np.int64)
    counter = np.zeros(1, np.int64)
    for _ in prange(workers):
        marks = Marks(np.empty((longest >> 6) + 1, np.uint64), np.empty((longest >> 6) + 1, np.int64), longest)
        for task in tasks(counter, n_pieces + plan.bounds.size - 1):
            b = task - n_pieces
            if b < 0:
                begin, end = plan.piece_begin[task], plan.piece_end[task]
                if whole is None:
                    found[task] = _any_set(flags, indices, begin, end)
                else:
                    found[task] = _mark(flags, indices, begin, end, marks)
            elif whole is None:
                _search(identity, indptr, indices, flags, plan.bounds[b], plan.bounds[b + 1], longest, out, received)
            else:
                begin, end = plan.bounds[b], plan.bounds[b + 1]
                _count_rows(counts, identity, indptr, indices, flags, begin, end, marks, out, received)
    for i in range(plan.long_rows.size):
        v = plan.long_rows[i]
        total = found[plan.long_pieces[i] : plan.long_pieces[i + 1]].sum()
        out[v] = _value(counts, identity, total)
        received[v >> 6] |= np.uint64(total != 0) << np.uint64(v & 63)
