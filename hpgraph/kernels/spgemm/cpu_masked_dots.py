"""Dot products of rows of A and columns of B, at the places of a mask, on the CPU.

Place (i, j) of the mask is the dot product of row i of A and column j of B, a row of Bᵀ. Row i is scattered into a
bitmap, in which the entries of row j are looked up; if row j is much longer, each entry of row i is searched in row j
instead. So a hub costs no more than its partners. A hub that many places need gets a bitmap of its own, once for the
product, in which the short rows are looked up.

Loops over the entries of a row have no break: with one, Numba would count references to the arrays, at every place of
the mask, by atomic operations on one shared word.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.bits import bit_length
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, prange, put, tasks, team
from hpgraph.kernels.runtime.cpu.rows import beside, lower_bound
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.spmv.cpu_fold import at, convert, is_set, join, vertex, weight
from hpgraph.semiring.jit import call

# Cost of one step of a binary search, in look-ups of an entry in a bitmap.
SEARCH_STEP = 4
# Work is estimated from at most this many rows, uniformly strided.
SAMPLE = 1 << 14
# A hub has at least 128 entries. At most 256 hubs get a bitmap, all in 8 MiB, for products of at least 2²¹ look-ups.
HUB_ENTRIES, HUBS, HUB_BYTES, HUB_WORK = 128, 256, 1 << 23, 1 << 21


# A row of A by column: a bitmap of its entries, and their values, or `one` for each.
Spread = namedtuple("Spread", "bits data one")

# The bitmap of each row of Bᵀ, -1 for none; the bitmaps, concatenated.
Hubs = namedtuple("Hubs", "of bits")


@njit(error_model="numpy")
def pays_to_search(few, many):
    """Whether to search a list of `many` for `few` entries, rather than look up all of the many."""
    return few * SEARCH_STEP * 2 < many and few * SEARCH_STEP * bit_length(many) < many


@njit(cache=True, nogil=True, error_model="numpy")
def _gains(m_indptr, m_indices, a_indptr, b_lengths, step, gains):
    """For every column, the look-ups that a bitmap of its row of Bᵀ would save the sampled rows of the mask."""
    for i in range(0, m_indptr.size - 1, step):
        length = at(a_indptr, i + 1) - at(a_indptr, i)
        for m in range(at(m_indptr, i), at(m_indptr, i + 1)):
            j = vertex(m_indices, m)
            other = at(b_lengths, j)
            if other >= HUB_ENTRIES and length < other:
                searched = length * SEARCH_STEP * bit_length(other) if pays_to_search(length, other) else other
                gains[j] += searched - length


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _mark_hubs(chosen, b_indptr, b_indices, words, hubs):
    for h in prange(chosen.size):
        for q in range(at(b_indptr, chosen[h]), at(b_indptr, chosen[h] + 1)):
            k = vertex(b_indices, q)
            hubs[h * words + (k >> 6)] |= np.uint64(1) << np.uint64(k & 63)


def hubs_of(mask: CSR, a: CSR, b_turned: CSR, work: int) -> tuple[np.ndarray, np.ndarray]:
    """The bitmap of each row of Bᵀ, int32, -1 for none; and the bitmaps of those worth one, uint64, concatenated."""
    words = (a.shape[1] + 63) >> 6
    most = min(HUBS, HUB_BYTES // (8 * max(words, 1))) if work >= HUB_WORK else 0
    hub_of = np.full(b_turned.shape[0], -1, np.int32)
    chosen = np.empty(0, np.int64)
    if most:
        gains = np.zeros(len(hub_of), np.int64)
        step = max(1, mask.shape[0] // SAMPLE)
        _gains(plain(mask.indptr), plain(mask.indices), plain(a.indptr), b_turned.degrees, step, gains)
        chosen = np.flatnonzero(gains)
        if len(chosen) > most:
            chosen = chosen[np.argpartition(gains[chosen], -most)[-most:]]
        hub_of[chosen] = np.arange(len(chosen), dtype=np.int32)
    hubs = np.zeros(len(chosen) * words, np.uint64)
    if len(chosen):
        with team():
            _mark_hubs(chosen, plain(b_turned.indptr), plain(b_turned.indices), words, hubs)
    return hub_of, hubs


# Numba prunes the branch after a None only if it is a separate argument.
@njit(error_model="numpy", forceinline=True)
def _is_ended(terminal, value):
    if terminal is None:
        return False
    return call(terminal, value)


@njit(error_model="numpy", forceinline=True)
def _copy_entry(spread, k, data, p):
    if data is not None:
        spread[k] = data[p]


@njit(error_model="numpy", counts_references=False)
def _dot_by_search(functions, i, a, first, last, j, b, begin, end):
    value, found = functions.zero, False
    p = first
    while p < last and begin < end:
        k = vertex(a.indices, p)
        p += 1
        begin = lower_bound(b.indices, begin, end, k)
        if begin < end and vertex(b.indices, begin) == k:
            sent = call(functions.product, weight(a.data, p - 1, a.one), weight(b.data, begin, b.one), i, k, j)
            value = join(functions.reduce, value, convert(functions.zero, sent))
            found = True
            if _is_ended(functions.terminal, value):
                p = last
    return value, found


@njit(error_model="numpy", counts_references=False)
def _dot_by_look_up(functions, i, spread, largest, j, b, begin, end):
    value, found = functions.zero, False
    q = begin
    while q < end and vertex(b.indices, q) <= largest:
        k = vertex(b.indices, q)
        q += 1
        if is_set(spread.bits, k):
            sent = call(functions.product, weight(spread.data, k, spread.one), weight(b.data, q - 1, b.one), i, k, j)
            value = join(functions.reduce, value, convert(functions.zero, sent))
            found = True
            if _is_ended(functions.terminal, value):
                q = end
    return value, found


@njit(error_model="numpy")
def _count_common(bits, offset, largest, b_indices, begin, end):
    """Number of the sorted b_indices[begin:end] that are set in bits[offset:]; branch-free."""
    count: Any = 0
    while begin + 8 <= end and vertex(b_indices, begin + 7) <= largest:
        for step in range(8):
            k = vertex(b_indices, begin + step)
            count += np.int64((at(bits, offset + (k >> 6)) >> np.uint64(k & 63)) & np.uint64(1))
        begin += 8
    # No bit beyond the largest is set.
    for q in range(begin, min(begin + 8, end)):
        k = vertex(b_indices, q)
        count += np.int64((at(bits, offset + (k >> 6)) >> np.uint64(k & 63)) & np.uint64(1))
    return count


@njit(error_model="numpy", counts_references=False)
def _dot_with_hub(functions, i, a, first, last, j, one, hubs, offset):
    """`_dot_by_look_up` with roles swapped, for a row of B without values."""
    value, found = functions.zero, False
    p = first
    while p < last:
        k = vertex(a.indices, p)
        if is_set(hubs, 64 * offset + k):
            sent = call(functions.product, weight(a.data, p, a.one), one, i, k, j)
            value = join(functions.reduce, value, convert(functions.zero, sent))
            found = True
            if _is_ended(functions.terminal, value):
                p = last
        p += 1
    return value, found


@njit(error_model="numpy")
def _dot_runs(functions, counts, mask, a, b, hubs, inner, bounds, counter, out):
    """One thread's loop, by dots: take runs of rows of the mask, compute them, and write their lengths."""
    # Local variables: Numba would count references to a tuple's arrays, at every place of the mask.
    m_indptr, m_indices, a_indptr, a_indices = mask.indptr, mask.indices, a.indptr, a.indices
    b_indptr, b_indices, indptr, indices, values = b.indptr, b.indices, out.indptr, out.indices, out.data
    bits = np.zeros((inner + 63) >> 6, np.uint64)
    spread = Spread(bits, beside(a.data, inner), a.one)
    for run in tasks(counter, bounds.size - 1):
        place = at(m_indptr, bounds[run])
        for i in range(bounds[run], bounds[run + 1]):
            first, last = at(a_indptr, i), at(a_indptr, i + 1)
            start = place
            if first == last or at(m_indptr, i) == at(m_indptr, i + 1):
                indptr[i + 1] = 0
                continue
            for p in range(first, last):
                k = vertex(a_indices, p)
                bits[k >> 6] |= np.uint64(1) << np.uint64(k & 63)
                _copy_entry(spread.data, k, a.data, p)
            largest = vertex(a_indices, last - 1)
            for m in range(at(m_indptr, i), at(m_indptr, i + 1)):
                j = vertex(m_indices, m)
                begin, end = at(b_indptr, j), at(b_indptr, j + 1)
                value, has_entry = functions.zero, False
                if hubs is not None and hubs.of[j] >= 0 and last - first < end - begin:
                    offset = hubs.of[j] * bits.size
                    if counts is not None:
                        common = _count_common(hubs.bits, offset, inner, a_indices, first, last)
                        value, has_entry = convert(functions.zero, common), common > 0
                    else:
                        value, has_entry = _dot_with_hub(functions, i, a, first, last, j, b.one, hubs.bits, offset)
                elif pays_to_search(last - first, end - begin):
                    value, has_entry = _dot_by_search(functions, i, a, first, last, j, b, begin, end)
                elif counts is not None:
                    common = _count_common(bits, 0, largest, b_indices, begin, end)
                    value, has_entry = convert(functions.zero, common), common > 0
                else:
                    value, has_entry = _dot_by_look_up(functions, i, spread, largest, j, b, begin, end)
                # Written unconditionally, to stay branch-free: a place that is not kept is overwritten.
                put(indices, place, m_indices[m])
                put(values, place, value)
                place += np.int64(has_entry)
            indptr[i + 1] = place - start
            for p in range(first, last):
                bits[vertex(a_indices, p) >> 6] = 0


@njit(parallel=LOOPS, heavy=True, cache=True, nogil=True, error_model="numpy")
def dots(functions, counts, mask, a, b, hubs, inner, bounds, threads, out):
    """Compute the runs of rows between ``bounds``, each into ``out`` from the start of the mask's run; lengths by row.

    ``b`` is Bᵀ; ``hubs`` is None if it has values; ``counts``, True or None: whether a dot product counts common
    entries.
    """
    counter = np.zeros(1, np.int64)
    for _ in prange(threads):
        _dot_runs(functions, counts, mask, a, b, hubs, inner, bounds, counter, out)
