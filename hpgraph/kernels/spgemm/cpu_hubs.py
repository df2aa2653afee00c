"""Dot products at the places of a mask: choice between binary search and look-up, and bitmaps of hubs.

A hub is a long row that many places need. Its bitmap is built once for the product, and the short rows are looked up in
it; otherwise each of their entries would be searched in the long row, or the whole long row looked up in theirs.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.bits import bit_length
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.spmv.cpu_fold import at, vertex

# Cost of one step of a binary search, in look-ups of an entry in a bitmap.
SEARCH_STEP = 4
# Work is estimated from at most this many rows, uniformly strided.
SAMPLE = 1 << 14
# A hub has at least 128 entries. At most 256 hubs get a bitmap, all in 8 MiB, for products of at least 2²¹ look-ups.
HUB_ENTRIES, HUBS, HUB_BYTES, HUB_WORK = 128, 256, 1 << 23, 1 << 21


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
    """The rows of Bᵀ that are worth a bitmap.

    ``mask`` (CSR, shape (m, n)); ``a`` (CSR, shape (m, l)); ``b_turned`` (CSR, shape (n, l)). Returns ``hub_of`` (int32
    array, shape (n,)): the bitmap of each row, -1 for none; ``hubs`` (uint64 array, shape (bitmaps · words,)): the
    bitmaps, concatenated.
    """
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
