"""Whether a matrix is its own transpose, on the CPU: one pass over the arcs, in the order in which they lie.

Let f be a random hash of the vertices, and g one of the weights. The sum of f(i) f(j) g(w) over the arcs (i, j, w)
above the diagonal is that over those below it if each arc has its reverse. If not, the difference is a polynomial in
the f(i) other than zero, at a random point, and is zero with a probability of about 2^-58; R. Freivalds, "Probabilistic
machines can use less running time", 1977, tests products of matrices alike. The keys of the hashes are drawn anew by
each process: a file that passes without being symmetric cannot be made on purpose.
"""

import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import int64, uint64

from hpgraph.core.config import config
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.sampling.cpu_random import mixed
from hpgraph.kernels.structure.cpu_transpose import PARALLEL_ENTRIES

Array = np.ndarray[Any, Any]

# Of vertices, and of weights: with one key, equal small numbers would have equal hashes in a quarter of all processes,
# and an arc from i to j of weight w would pass for the reverse of one from w to i of weight j.
_KEY, _WEIGHT_KEY = np.uint64(secrets.randbits(64)), np.uint64(secrets.randbits(64))
# Arcs at a time: their rows fit L1.
_CHUNK = 1024
# Arcs that a thread takes at a time.
_PIECE = 1 << 18
_ALL = np.uint64(2**64 - 1)
# Entries of all matrices that this process has checked.
_checked = 0


def is_symmetric(csr: CSR) -> bool:
    """Whether a square matrix is canonical and equals its transpose, values included; NaN equals NaN."""
    global _checked
    _checked += csr.nnz
    if _checked <= PARALLEL_ENTRIES:
        # SciPy's transpose needs no kernel; the kernel is loaded once this path has taken as long as loading does.
        return csr.is_canonical() and csr.is_symmetric()
    begins = np.arange(0, csr.nnz, _PIECE)
    rows = np.searchsorted(csr.indptr, begins, side="right") - 1

    bits, magnitude, infinity = _bits_of(csr.data)

    def sums_of(row: int, begin: int) -> tuple[int, int]:
        end = min(begin + _PIECE, csr.nnz)
        return _sums(csr.indptr, row, begin, end, csr.indices, bits, magnitude, infinity, _KEY, _WEIGHT_KEY)  # type: ignore[no-any-return]

    pieces = rows.tolist(), begins.tolist()
    if len(rows) <= 1:
        found = list(map(sums_of, *pieces))
    else:
        with ThreadPoolExecutor(config.threads) as threads:
            found = list(threads.map(sums_of, *pieces))
    return not any(falls for falls, _ in found) and sum(int(excess) for _, excess in found) % 2**64 == 0


def _bits_of(values: Array | None) -> tuple[Array, np.uint64, np.uint64]:
    """The bits of values; those that say how large one is; and the largest of these, beyond which there is NaN."""
    if values is None:
        return np.empty(0, np.uint64), _ALL, _ALL
    bits = values.view(f"u{values.itemsize}")
    if values.dtype.kind != "f":
        return bits, _ALL, _ALL
    infinity = np.array(np.inf, values.dtype).view(bits.dtype)
    return bits, np.uint64(2 ** (8 * values.itemsize - 1) - 1), np.uint64(infinity)


@njit(cache=True, nogil=True)
def _sums(indptr, row, begin, end, indices, bits, magnitude, infinity, key, weight_key):
    """How often ids fall or repeat among arcs begin..end, which begin in a row, and upper less lower hashes."""
    rows, factors = np.empty(_CHUNK, indices.dtype), np.ones(_CHUNK, np.uint64)
    # The first arc follows another one of its row, or none.
    falls, excess = int64(indptr[row] < begin and indices[begin] <= indices[begin - 1]), uint64(0)
    for start in range(begin, end, _CHUNK):
        part = indices[start : start + _CHUNK]
        count = min(part.size, end - start)
        # The row of each arc: how many rows begin at it, summed up.
        rows[:] = 0
        row_end = indptr[row + 1]
        current = row
        while row_end < start + count:
            rows[row_end - start] += 1
            row += 1
            row_end = indptr[row + 1]
        for p in range(count):
            current += rows[p]
            rows[p] = current
        # Loops over arrays alone, free of branches, are vectorized.
        weights = bits[start : start + count]
        for p in range(weights.size):
            # Normalize zeros and NaN.
            word = uint64(weights[p])
            size = word & magnitude
            word = uint64(0) if size == 0 else word
            factors[p] = mixed((magnitude if size > infinity else word) ^ weight_key)
        for p in range(1, count):
            falls += (rows[p] == rows[p - 1]) & (part[p] <= part[p - 1])
        for p in range(count):
            i, j = rows[p], part[p]
            term = mixed(uint64(i) + key) * mixed(uint64(j) + key) * factors[p]
            excess += term if j > i else uint64(0)
            excess -= term if j < i else uint64(0)
        if start + count < end:
            falls += row_end > start + count and indices[start + count] <= indices[start + count - 1]
    return falls, excess
