"""Symmetric matrices from their upper triangles, on the CPU: entries of the transpose precede each row.

Rows of an upper triangle are the entries after the diagonal, and its columns, read row by row, those before
it, in order: nothing is sorted or merged. Arcs are first divided by their columns among blocks of rows whose result
fits the cache, and then each thread completes one block after the other: every line of the result is written once (H.
Beamer, K. Asanović, D. Patterson, "Reducing PageRank communication via propagation blocking", IPDPS'17).
"""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, part, peek, prange, prefetch, put, tasks, team, vertex
from hpgraph.kernels.runtime.cpu.tasks import share_bounds
from hpgraph.kernels.structure import mirroring
from hpgraph.kernels.structure.cpu_transpose import begin_shares

# Edges up to which a sort takes some milliseconds, and spares a second of compiling.
MAX_SORTED = 1 << 17
# Bytes of a block's result, and maximum number of blocks: each is written at its own position, and needs a TLB entry.
_BLOCK_BYTES, MAX_BLOCKS = 1 << 19, 512
# Prefetch distance in a block, in entries of 32 bits: no processor foresees the next lines of so many blocks, and the
# first store to a line would wait for memory.
LINE = 16


def mirrored(triangle: CSR) -> CSR:
    """`hpgraph.kernels.structure.Structure.mirrored` on the CPU."""
    nnz, n = triangle.nnz, triangle.shape[0]
    if nnz <= MAX_SORTED:
        return mirroring.mirrored(triangle)
    blocks = min(max(2 * triangle.indices.nbytes // _BLOCK_BYTES, 1), MAX_BLOCKS)
    below = (n - 1).bit_length()
    shift = max(below - (blocks - 1).bit_length(), 0)
    blocks = ((n - 1) >> shift) + 1
    with team() as shares:
        check_memory(4 * triangle.nbytes, "a graph with its edges both ways", "cpu")
        indptr, indices = np.zeros(n + 1, np.int64), np.empty(2 * nnz, triangle.indices.dtype)
        key, fill = np.empty(nnz, key_type(shift + below)), np.zeros((shares, blocks), np.int64)
        cuts = share_bounds(triangle.indptr, shares)
        _mirror(cuts, shift, below, triangle.indptr, triangle.indices, fill, key, indptr, indices)
    return CSR((n, n), indptr, indices, None, validate=False)


def key_type(bits: int) -> Any:
    """The type of an arc in a block: the number of its row in the block above the bits of its column."""
    return np.uint32 if bits <= 32 else np.uint64


@njit(parallel=LOOPS, cache=True, nogil=True)
def _mirror(cuts, shift, below, indptr, indices, fill, key, ends, out):
    for share in prange(cuts.size - 1):
        for p in range(peek(indptr, peek(cuts, share)), peek(indptr, peek(cuts, share + 1))):
            append(vertex(indices, p), 0, shift, below, fill[share], None)
    starts = np.zeros(fill.shape[1] + 1, np.int64)
    begin_shares(fill, starts)
    for share in prange(cuts.size - 1):
        _divide(indptr, indices, peek(cuts, share), peek(cuts, share + 1), shift, below, fill[share], key)
    following = np.zeros(1, np.int64)
    for _ in prange(cuts.size - 1):
        place = np.empty(1 << shift, np.int64)
        for block in tasks(following, starts.size - 1):
            _complete(block, shift, below, indptr, indices, starts, key, place, ends, out)


@part
def _divide(indptr, indices, first, last, shift, below, fill, key):
    """Write the arcs of some rows, reversed, to the blocks of their columns."""
    for row in range(first, last):
        for p in range(peek(indptr, row), peek(indptr, row + 1)):
            append(vertex(indices, p), row, shift, below, fill, key)


@part
def append(u, v, shift, below, place, key):
    """Write an arc to the block of its row, or, where `key` is None, count it."""
    block = u >> shift
    at = peek(place, block)
    put(place, block, at + 1)
    if key is not None:
        prefetch(key, at + LINE)
        put(key, at, key.dtype.type(((u - (block << shift)) << below) | v))


@part
def _complete(block, shift, below, indptr, indices, starts, key, place, ends, out):
    """Complete the rows of a block: its distributed entries, then the stored ones."""
    first, begin, end = block << shift, peek(starts, block), peek(starts, block + 1)
    last, mask = min(first + (1 << shift), indptr.size - 1), (np.int64(1) << below) - 1
    for row in range(first, last):
        put(place, row - first, 0)
    for p in range(begin, end):
        row = np.int64(peek(key, p)) >> below
        put(place, row, peek(place, row) + 1)
    reached = peek(indptr, first) + begin
    for row in range(first, last):
        found, own = peek(place, row - first), peek(indptr, row)
        put(place, row - first, reached)
        reached += found
        for p in range(own, peek(indptr, row + 1)):
            put(out, reached + (p - own), peek(indices, p))
        reached += peek(indptr, row + 1) - own
        put(ends, row + 1, reached)
    for p in range(begin, end):
        arc = np.int64(peek(key, p))
        at = peek(place, arc >> below)
        put(place, arc >> below, at + 1)
        put(out, at, out.dtype.type(arc & mask))
