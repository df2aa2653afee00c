"""Triangles of symmetric matrices completed, on the CPU: what the transpose writes goes before each row.

Rows of an upper triangle are all that comes after the diagonal, and its columns, read row by row, what comes before
it, in order: each arc is written to its place at once, and nothing is sorted or merged.
"""

import numpy as np
from numba import prange

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, put, vertex
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.structure import mirroring

# Edges up to which a sort takes some milliseconds, and spares a second of compiling.
FEW = 1 << 17
# Edges at a time, and buckets for their columns: writes that miss both caches and TLB take ten times as long.
CHUNK, BUCKETS = 1 << 21, 256


def mirrored(triangle: CSR) -> CSR:
    """`hpgraph.kernels.structure.Structure.mirrored` on the CPU."""
    nnz, n = triangle.nnz, triangle.shape[0]
    if nnz <= FEW:
        return mirroring.mirrored(triangle)
    with team() as shares:
        check_memory(2 * triangle.nbytes + 8 * n * shares, "a graph with its edges both ways", "cpu")
        places, indptr = np.zeros((shares, n), np.int64), np.zeros(n + 1, np.int64)
        indices = np.empty(2 * nnz, triangle.indices.dtype)
        cuts = np.searchsorted(triangle.indptr, np.linspace(0, nnz, shares + 1).astype(np.int64)).astype(np.int64)
        cuts[0], cuts[-1] = 0, n
        _mirror(cuts, triangle.indptr, triangle.indices, places, indptr, indices)
    return CSR((n, n), indptr, indices, None, validate=False)


@njit(parallel=LOOPS, cache=True, nogil=True)
def _mirror(cuts, indptr, indices, places, ends, out):
    for share in prange(cuts.size - 1):
        own = places[share]
        for p in range(peek(indptr, peek(cuts, share)), peek(indptr, peek(cuts, share + 1))):
            column = vertex(indices, p)
            put(own, column, peek(own, column) + 1)
    total = np.int64(0)
    for row in range(ends.size - 1):
        for share in range(places.shape[0]):
            found = places[share, row]
            places[share, row] = total
            total += found
        total += indptr[row + 1] - indptr[row]
        ends[row + 1] = total
    for share in prange(cuts.size - 1):
        _write(np.int64(share), cuts, indptr, indices, places[share], ends, out)


@part
def _write(share, cuts, indptr, indices, place, ends, out):
    """Write a share's rows in place, and its columns by way of buckets, so that writes stay within a few pages."""
    first, last = peek(cuts, share), peek(cuts, share + 1)
    shift = np.int64(0)
    while place.size >> shift >= BUCKETS:
        shift += 1
    fill, rows, columns = np.empty(BUCKETS + 1, np.int64), np.empty(CHUNK, out.dtype), np.empty(CHUNK, out.dtype)
    row, p = first, peek(indptr, first)
    while p < peek(indptr, last):
        stop = min(p + CHUNK, peek(indptr, last))
        fill[:] = 0
        for q in range(p, stop):
            fill[np.uintp((vertex(indices, q) >> shift) + 1)] += 1
        for bucket in range(BUCKETS):
            fill[bucket + 1] += fill[bucket]
        for q in range(p, stop):
            while q >= peek(indptr, row + 1):
                row += 1
            column = vertex(indices, q)
            # Own columns end the row.
            put(out, peek(ends, row + 1) - (peek(indptr, row + 1) - q), peek(indices, q))
            at = fill[np.uintp(column >> shift)]
            fill[np.uintp(column >> shift)] = at + 1
            put(rows, at, out.dtype.type(row))
            put(columns, at, peek(indices, q))
        for q in range(stop - p):
            column = vertex(columns, q)
            target = peek(place, column)
            put(place, column, target + 1)
            put(out, target, peek(rows, q))
        p = stop
