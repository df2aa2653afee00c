"""Sets of numbers and of pairs of vertices on the CPU, drawn in order, in parallel.

The gaps of uniform variables in order are exponential variables over their sum. Sums of whole blocks of gaps are gamma
variables, drawn first; the gaps of a block, scaled to its sum, are independent of it (L. Devroye, "Non-Uniform Random
Variate Generation" (1986), section V.2). So blocks are drawn by any thread, each with random numbers of its own:
SplitMix64 at a counter (G. Steele et al., "Fast splittable pseudorandom number generators", OOPSLA'14).
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.runtime.cpu.kernel import (
    LOOPS,
    interruptible,
    njit,
    part,
    peek,
    prange,
    prefetch,
    put,
    tasks,
    team,
)
from hpgraph.kernels.sampling import draws
from hpgraph.kernels.sampling.cpu_random import GOLDEN, bits, mixed, unit
from hpgraph.semiring.stop import is_stopped

# Gaps of a block: its arrays fit L1.
BLOCK = 2048
# Numbers up to which NumPy or Python takes some milliseconds, and spares seconds of compiling.
MAX_SERIAL = 1 << 17
# An edge attached in Python takes as long as so many numbers in NumPy.
SLOWER = 8
# Prefetch distance, in edges, of the ends that later edges draw.
AHEAD = 32
# Edges of a vertex beyond which an array over all vertices says which are its neighbours already, not a scan of them:
# at 48 it takes 0.7 of the time, at 16 1.3.
FEW_ENDS = 24

_MANTISSA, _ONE = np.uint64((1 << 52) - 1), np.uint64(1023 << 52)
_LOG_2, _ROOT_HALF = np.log(2.0), np.sqrt(0.5)


def sorted_draws(rng: np.random.Generator, total: int, count: int) -> Any:
    """`hpgraph.kernels.sampling.Sampling.sorted_draws` on the CPU."""
    if count <= MAX_SERIAL:
        return draws.sorted_draws(rng, total, count)
    drawn = draws.to_draw(total, count)
    while True:
        blocks = -(-(drawn + 1) // BLOCK)
        size = np.full(blocks, BLOCK)
        size[-1] -= blocks * BLOCK - (drawn + 1)
        ends = np.concatenate([[0.0], np.cumsum(rng.standard_gamma(size))])
        place, found = np.empty((blocks, BLOCK), np.int64), np.empty(blocks, np.int64)
        with team() as threads:
            _draw(np.int64(rng.integers(1 << 62)), drawn, ends, np.int64(total), place, found, threads)
            # The first of a block may repeat the last of the one before.
            ends_of = place[np.arange(blocks - 1), found[:-1] - 1]
            again = 1 + np.flatnonzero((place[1:, 0] == ends_of) & (found[1:] > 0))
            begins = np.concatenate([[0], np.cumsum(found)])
            more = int(begins[-1]) - len(again) - count
            if more >= 0:
                # A random set without a random subset is again a random set.
                absent = rng.choice(begins[-1], more + len(again), replace=False)
                absent = np.concatenate([begins[again], absent[~np.isin(absent, begins[again])][:more]])
                row = np.searchsorted(begins, absent, side="right") - 1
                place[row, absent - begins[row]] = -1
                starts = begins[:-1] - np.searchsorted(np.sort(absent), begins[:-1])
                kept = np.empty(count, np.int64)
                _keep(place, found, starts, kept, threads)
                return kept


def attachments(rng: np.random.Generator, n: int, m: int) -> tuple[Any, Any]:
    """`hpgraph.kernels.sampling.Sampling.attachments` on the CPU."""
    count = m * (n - m)
    if count * SLOWER <= MAX_SERIAL:
        return draws.attachments(rng, n, m)
    source, target = np.empty((2, count), index_dtype(n))
    drawn_by = np.zeros(n if m > FEW_ENDS else 0, source.dtype)
    with interruptible():
        _attach(np.uint64(rng.integers(1 << 62)), np.int64(m), source, target, drawn_by)
    return source, target


def rows_of_pairs(n: int, place: Any, directed: bool) -> CSR:
    """`hpgraph.kernels.sampling.Sampling.rows_of_pairs` on the CPU."""
    if len(place) <= MAX_SERIAL:
        return draws.rows_of_pairs(n, place, directed)
    indptr, column = np.zeros(n + 1, np.int64), np.empty(len(place), index_dtype(n))
    with team() as threads:
        _rows(np.int64(n), place, directed, indptr, column, np.int64(threads))
    return CSR((n, n), indptr, column, validate=False)


@part(error_model="numpy")
def _gaps(key, gap, halvings):
    """Fill an array with exponential variables; returns their sum. The loops are free of branches, and vectorized."""
    word, total = gap.view(np.uint64), 0.0
    for i in range(gap.size):
        # Odd, of 53 bits, over 2⁵³: uniform, and never 0 or 1.
        gap[i] = np.float64(np.int64((mixed(key + np.uint64(i) * GOLDEN) >> np.uint64(11)) | np.uint64(1)))
    for i in range(gap.size):
        halvings[i] = 1076 - np.int64(word[i] >> np.uint64(52))
        word[i] = (word[i] & _MANTISSA) | _ONE
    for i in range(gap.size):
        # ln x = 2 artanh((x - 1) / (x + 1)), of x from the root of a half to that of 2: to 14 digits. No library's
        # logarithm, whose last bit differs between machines.
        scaled = gap[i] * _ROOT_HALF
        s = (scaled - 1) / (scaled + 1)
        q = s * s
        tail = 1 / 7 + q * (1 / 9 + q * (1 / 11 + q * (1 / 13 + q * (1 / 15))))
        series = 1 + q * (1 / 3 + q * (1 / 5 + q * tail))
        gap[i] = max((halvings[i] - 0.5) * _LOG_2 - 2 * s * series, 0.0)
    for i in range(gap.size):
        total += gap[i]
    return total


@njit(cache=True, nogil=True, parallel=LOOPS, error_model="numpy")
def _draw(seed, drawn, ends, total, place, found, threads):
    following, unit = np.zeros(1, np.int64), total / ends[ends.size - 1]
    for _ in prange(threads):
        gaps, halvings = np.empty(BLOCK), np.empty(BLOCK)
        for block in tasks(following, found.size):
            size = min(BLOCK, drawn + 1 - block * BLOCK)
            whole = _gaps(bits(seed, block), gaps[:size], halvings)
            begin, end = ends[block], ends[block + 1]
            scale, reached, last, k = (end - begin) / whole, 0.0, np.int64(-1), 0
            # The last gap of all ends at the total.
            for i in range(min(size, drawn - block * BLOCK)):
                reached += gaps[i]
                at = min(np.int64(min(begin + reached * scale, end) * unit), total - 1)
                place[block, k] = at
                k += at > last
                last = at
            found[block] = k


@njit(cache=True, nogil=True, parallel=LOOPS)
def _keep(place, found, starts, kept, threads):
    following = np.zeros(1, np.int64)
    for _ in prange(threads):
        for block in tasks(following, found.size):
            k = starts[block]
            for i in range(found[block]):
                if place[block, i] >= 0:
                    kept[k] = place[block, i]
                    k += 1


@njit(cache=True, nogil=True)
def _attach(seed, m, source, target, drawn_by):
    first = mixed(seed)
    for edge in range(m):
        put(source, edge, 0)
        put(target, edge, edge + 1)
    soon, soon_begin = min(m + AHEAD, source.size), m + AHEAD // m * m
    for begin in range(m, source.size, m):
        for edge in range(begin, begin + m):
            put(source, edge, edge // m + m)
            if soon < source.size:
                prefetch(target, _drawn_end(first, soon, soon_begin) >> 1)
                soon += 1
                soon_begin += m if soon == soon_begin + m else 0
            key, state = first, seed
            while True:
                # Either end of an edge of earlier vertices.
                end = _drawn_end(key, edge, begin)
                one = np.int64(peek(target, end >> 1))
                other = (end >> 1) // m + m if end >> 1 >= m else 0
                drawn = one if end & 1 else other
                new = True
                if drawn_by.size > 0:
                    new = peek(drawn_by, drawn) != begin // m + m
                    put(drawn_by, drawn, begin // m + m)
                else:
                    for before in range(begin, edge):
                        new &= peek(target, before) != drawn
                if new:
                    break
                state += GOLDEN
                key = mixed(state)
            put(target, edge, drawn)
        if is_stopped():
            break


@part
def _drawn_end(key, edge, begin):
    """An end of one of the edges before `begin`: twice that edge's number, and 1 more for its target."""
    return np.int64(unit(mixed(key + np.uint64(edge) * GOLDEN)) * (2 * begin))


@part
def _begin(n, row, directed):
    return row * (n - 1) - (0 if directed else row * (row - 1) // 2)


@part
def _row_of(n, place, directed):
    """The vertex that a pair belongs to."""
    low, high = np.int64(0), n
    while high - low > 1:
        middle = (low + high) >> 1
        if _begin(n, middle, directed) <= place:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, nogil=True, parallel=LOOPS)
def _rows(n, place, directed, indptr, column, shares):
    for share in prange(shares):
        first, last = place.size * share // shares, place.size * (share + 1) // shares
        # A share ends the rows up to that of the next one's first pair.
        row = _row_of(n, peek(place, first), directed) if share else np.int64(0)
        final = _row_of(n, peek(place, last), directed) if share < shares - 1 else n
        begin, end = _begin(n, row, directed), _begin(n, row + 1, directed)
        for p in range(first, last):
            at = peek(place, p)
            while at >= end:
                row += 1
                put(indptr, row, p)
                begin, end = end, end + (n - 1 if directed else n - 1 - row)
            j = at - begin
            put(column, p, column.dtype.type(j + ((1 if j >= row else 0) if directed else row + 1)))
        while row < final:
            row += 1
            put(indptr, row, last)
