"""Breadth-first order with a FIFO queue, on the GPU."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.elementwise import minimum_at
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.structure.cuda_components import components

KERNELS = KernelSet("fifo.cuh", "queues", {"<{Index}>": "empty_queue"}, threads=1024)
# Arcs that a block follows in the time of a grid's launches.
MAX_ARCS = 1 << 17


def fifo_order(rows: CSR, start: Any, missing: int) -> tuple[Any, Any]:
    """`hpgraph.kernels.structure.cpu_fifo.fifo_order` on the GPU, also from several vertices, in an array.

    The out-arcs of a long queue are concatenated in its order, and the first to a vertex counts; one block processes a
    short queue in one launch, through any number of levels.
    """
    n, ids = rows.shape[0], rows.indices.dtype
    predecessors = cupy.full(n, missing, ids)
    queue = cupy.empty(n, ids)
    first = 1 if isinstance(start, int) else len(start)
    queue[:first] = start
    # The number of the first arc to each vertex; arcs are numbered from 1.
    earliest = cupy.full(n, np.iinfo(np.int64).max, np.int64)
    earliest[start] = 0
    head, tail, arc = 0, first, 1
    kernels = KERNELS.of(Index=ids)
    while True:
        progress = cupy.array([head, tail, arc], np.int64)
        arguments = rows.indptr, rows.indices, np.int64(MAX_ARCS), progress, queue, predecessors, earliest
        kernels.launch("empty_queue", 1, *arguments)
        head, tail, arc = progress.tolist()
        if head == tail:
            return queue[:tail].copy(), predecessors
        found, arcs = _follow(rows, queue[head:tail], arc, earliest, predecessors)
        queue[tail : tail + len(found)] = found
        head, tail, arc = tail, tail + len(found), arc + arcs


def _follow(rows: CSR, level: Any, arc: int, earliest: Any, predecessors: Any) -> tuple[Any, int]:
    """Follow all arcs of a level at once: the vertices discovered, in order, and the number of arcs."""
    begin = rows.indptr[level]
    ends = cupy.cumsum(rows.indptr[level + 1] - begin)
    arcs = int(ends[-1])
    place = cupy.arange(arcs, dtype=np.int64)
    sender = cupy.searchsorted(ends, place, side="right")
    before = cupy.concatenate([cupy.zeros(1, np.int64), ends[:-1]])
    target = rows.indices[begin[sender] + place - before[sender]]
    place += arc
    new = earliest[target] > place
    place, sender, target = place[new], sender[new], target[new]
    minimum_at(earliest, target, place)
    first = earliest[target] == place
    found = target[first]
    predecessors[found] = level[sender[first]]
    return found, arcs


def cuthill_mckee(arcs: CSR, degree: Any, seeds: Any) -> Any:
    """`hpgraph.kernels.structure.cpu_fifo.cuthill_mckee` on the GPU, of a symmetric pattern of ascending rows.

    With vertices numbered by degree each row has its neighbours in order, so that a queue gives the order of each
    component: of all at once, as they do not meet.
    """
    n = arcs.shape[0]
    if n == 0:
        return cupy.asarray(seeds)
    every = cupy.arange(n)
    count, part = components(arcs, True)
    by_degree = cupy.argsort(degree.astype(np.int64) * n + every)
    rows, number = arcs.permute(by_degree), cupy.empty(n, np.int64)
    number[by_degree] = every
    if count == 1:
        # One queue, whose order is the answer: nothing but its start is copied to the GPU.
        return by_degree[fifo_order(rows, int(number[int(seeds[0])]), -1)[0]]
    seeds, rank = cupy.asarray(seeds), cupy.empty(n, np.int64)
    rank[seeds] = every
    first = cupy.full(count, n, np.int64)
    minimum_at(first, part, rank)
    found, _ = fifo_order(rows, number[seeds[cupy.sort(first)]], -1)
    order = by_degree[found]
    turn = cupy.empty(count, np.int64)
    turn[cupy.argsort(first)] = every[:count]
    return order[cupy.argsort(turn[part[order]] * n + every)]


def rows_both_ways(rows: CSR) -> CSR:
    """`hpgraph.kernels.structure.cpu_both_ways.rows_both_ways` on the GPU, of a pattern; waits for it."""
    if rows.is_canonical() and rows.is_symmetric():
        return rows
    back = rows.transpose()
    indices = cupy.empty(2 * rows.nnz, rows.indices.dtype)
    indices[cupy.arange(rows.nnz) + back.indptr[rows.expand_rows()]] = rows.indices
    indices[cupy.arange(rows.nnz) + rows.indptr[back.expand_rows() + 1]] = back.indices
    return CSR(rows.shape, rows.indptr + back.indptr, indices, None, validate=False)
