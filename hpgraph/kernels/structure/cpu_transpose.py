"""The transpose on the CPU: a parallel counting sort by column; of few entries SciPy's, which needs no compiling.

Each thread takes a range of rows with equally many entries and makes a histogram of its columns. The prefix sum of all
histograms says where each thread's entries of a column begin, and then all threads write at once (F. G. Gustavson, "Two
fast algorithms for sparse matrices: multiplication and permuted transposition", ACM TOMS 4(3), 1978, with a histogram
for each thread).
"""

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.entries.cpu_extract import bits_of, room
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, prange, prefetch, team
from hpgraph.kernels.runtime.cpu.tasks import share_bounds

# Entries from which on several threads, and a histogram for each, pay. Up to there SciPy's counting sort takes some
# milliseconds longer, once a matrix, and spares a second of compiling.
PARALLEL_ENTRIES = 1 << 19
# Prefetch distance, in entries, of the places to write to, which are random.
PREFETCH_PLACES = np.uintp(24)


def transpose(csr: CSR) -> CSR:
    """The transpose, its rows sorted; duplicates keep their order."""
    nnz, (rows, columns) = csr.nnz, csr.shape
    if nnz <= PARALLEL_ENTRIES:
        return csr.transpose()
    with team() as shares:
        check_memory(csr.nbytes + 16 * columns * shares, "the transpose of a CSR matrix", "cpu")
        counts = np.zeros((shares, columns), dtype=np.int64)
        indptr = np.zeros(columns + 1, dtype=np.int64)
        indices = np.empty(nnz, dtype=csr.indices.dtype)
        values, data = room(csr.data, nnz)
        cuts = share_bounds(csr.indptr, shares)
        _transpose(cuts, csr.indptr, csr.indices, bits_of(csr.data), counts, indptr, indices, values)
    return CSR((columns, rows), indptr, indices, data, validate=False)


@njit(parallel=LOOPS, cache=True, nogil=True)
def _transpose(cuts, indptr, indices, data, counts, offsets, out, values):
    # Numba types a parallel loop's index twice, and compiles functions called with it twice.
    for share in prange(cuts.size - 1):
        _count(cuts, np.int64(share), indptr, indices, counts)
    begin_shares(counts, offsets)
    for share in prange(cuts.size - 1):
        _scatter(cuts, np.int64(share), indptr, indices, data, counts, out, values)


@njit(nogil=True)
def _count(cuts, share, indptr, indices, counts):
    own_counts = counts[share]
    for p in range(np.uintp(indptr[cuts[share]]), np.uintp(indptr[cuts[share + 1]])):
        own_counts[np.uintp(indices[p])] += 1


@njit(nogil=True)
def begin_shares(counts, indptr):
    """Counts by share and column become the places where these entries begin; columns end at ``indptr[1:]``."""
    total = 0
    for column in range(counts.shape[1]):
        for share in range(counts.shape[0]):
            found = counts[share, column]
            counts[share, column] = total
            total += found
        indptr[column + 1] = total


@njit(nogil=True)
def _scatter(cuts, share, indptr, indices, data, starts, out, values):
    place = starts[share]
    last = indptr[cuts[share + 1]]
    for row in range(cuts[share], cuts[share + 1]):
        for p in range(np.uintp(indptr[row]), np.uintp(indptr[row + 1])):
            if p + PREFETCH_PLACES < last:
                soon = place[np.uintp(indices[p + PREFETCH_PLACES])]
                prefetch(out, soon)
                if data.size:
                    prefetch(values, soon)
            column = np.uintp(indices[p])
            target = np.uintp(place[column])
            place[column] += 1
            out[target] = row
            if data.size:
                values[target] = data[p]
