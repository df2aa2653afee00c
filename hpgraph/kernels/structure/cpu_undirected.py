"""Symmetric patterns of edges in any order, on the CPU: both directions sorted, without duplicates and loops.

Arcs are first divided among blocks of rows, small enough to be sorted in cache, and then the threads sort blocks (O.
Polychroniou, K. A. Ross, "A comprehensive study of main-memory partitioning and its application to large-scale
comparison- and radix-sort", SIGMOD'14). NumPy sorts, by vector instructions where the processor has some.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, in_python, njit, peek, prange, put, tasks, team
from hpgraph.kernels.structure import mirroring
from hpgraph.kernels.structure.cpu_mirrored import MAX_BLOCKS, MAX_SORTED, append, key_type

# Elements of a block.
BLOCK = 1 << 15


def undirected(n: int, source: Any, target: Any) -> CSR:
    """`hpgraph.kernels.structure.Structure.undirected` on the CPU."""
    m = len(source)
    if m <= MAX_SORTED:
        return mirroring.undirected(n, source, target)
    ids, below = index_dtype(n), max(n - 1, 1).bit_length()
    blocks = min(max(2 * m // BLOCK, 1), MAX_BLOCKS)
    shift = max(below - (blocks - 1).bit_length(), 0)
    blocks = ((n - 1) >> shift) + 1
    keys = key_type(shift + below)
    with team() as shares:
        check_memory(2 * m * (np.dtype(keys).itemsize + ids.itemsize), "the graph of the edges", "cpu")
        fill = np.zeros((shares, blocks), np.int64)
        _divide(source, target, shift, below, fill, None)
        starts, fill = block_starts(fill)
        key = np.empty(starts[-1], keys)
        _divide(source, target, shift, below, fill, key)
        blocks_of_keys, many = np.split(key, starts[1:-1]), 8 * shares
        with in_python(), ThreadPoolExecutor(shares) as threads:
            list(threads.map(_sort_all, (blocks_of_keys[first::many] for first in range(many))))
        begins, indptr = np.zeros(blocks + 1, np.int64), np.zeros(n + 1, np.int64)
        _count_different(starts, key, begins, shares)
        np.cumsum(begins, out=begins)
        column = np.empty(begins[-1], ids)
        _write(shift, below, starts, begins, key, column, indptr, shares)
    return CSR((n, n), indptr, column, None, validate=False)


def block_starts(counts: Any) -> tuple[Any, Any]:
    """The starts of blocks, and where each share begins in each block, from the counts of shares by block."""
    ends = np.cumsum(counts.T).reshape(counts.shape[::-1]).T
    return np.append(0, ends[-1]), ends - counts


def _sort_all(arrays: Iterable[Any]) -> None:
    """Sort several arrays in one task: submitting a task takes as long as sorting some thousand keys."""
    for keys in arrays:
        keys.sort()


@njit(parallel=LOOPS, cache=True, nogil=True)
def _divide(source, target, shift, below, fill, key):
    """Write both arcs of each edge to their blocks, or, where `key` is None, count them."""
    shares = fill.shape[0]
    for share in prange(shares):
        place = fill[share]
        for edge in range(source.size * share // shares, source.size * (share + 1) // shares):
            u, v = np.int64(peek(source, edge)), np.int64(peek(target, edge))
            if u != v:
                append(u, v, shift, below, place, key)
                append(v, u, shift, below, place, key)


@njit(parallel=LOOPS, cache=True, nogil=True)
def _count_different(starts, key, found, threads):
    following = np.zeros(1, np.int64)
    for _ in prange(threads):
        for block in tasks(following, starts.size - 1):
            count = np.int64(starts[block + 1] > starts[block])
            for p in range(peek(starts, block) + 1, peek(starts, block + 1)):
                count += peek(key, p) != peek(key, p - 1)
            found[block + 1] = count


@njit(parallel=LOOPS, cache=True, nogil=True)
def _write(shift, below, starts, begins, key, column, indptr, threads):
    """Write the columns of each block without duplicates, and the ends of its rows."""
    following = np.zeros(1, np.int64)
    for _ in prange(threads):
        for block in tasks(following, starts.size - 1):
            row, k, last = block << shift, peek(begins, block), np.int64(-1)
            first, mask = row, (np.int64(1) << below) - 1
            for p in range(peek(starts, block), peek(starts, block + 1)):
                arc = np.int64(peek(key, p))
                if arc == last:
                    continue
                while row < first + (arc >> below):
                    row += 1
                    put(indptr, row, k)
                put(column, k, column.dtype.type(arc & mask))
                last, k = arc, k + 1
            while row < min(first + (1 << shift), indptr.size - 1):
                row += 1
                put(indptr, row, k)
