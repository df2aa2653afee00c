"""Chained scan: a single-pass prefix sum over tasks that concatenates results of unknown lengths.

A task computes its entries in memory of its thread's own. As soon as the tasks before it have published where they end,
it publishes where its own entries end, and copies them to their place while they are still in the cache. So no entry is
computed twice, once to be counted and once to be kept. It is the prefix sum of D. Merrill and M. Garland ("Single-pass
parallel prefix scan with decoupled look-back", NVIDIA, 2016) with a chain in place of the look-back. Tasks are taken in
order, so the first unfinished one never waits, however few threads there are.
"""

from typing import Any

import numpy as np
from numba import njit

from hpgraph.kernels.runtime.cpu.prefetch import copy_items
from hpgraph.kernels.runtime.cpu.work_stealing import wait
from hpgraph.semiring.atomics import atomic_load, fetch_add


def new_ends(tasks: int) -> np.ndarray:
    """Prefix sums, int64 of shape (tasks + 1,): start of each task's entries, -1 until known; the first is 0."""
    ends = np.full(tasks + 1, -1, np.int64)
    ends[0] = 0
    return ends


@njit
def offset_of(ends, task, count):
    """Start of a task's `count` entries. Waits until the previous task has published it; publishes its own end."""
    spins = 0
    while atomic_load(ends, task) < 0:
        spins = wait(spins)
    start = ends[task]
    fetch_add(ends, task + 1, start + count + 1)
    return start


@njit
def hand_over(ends, task, begin, end, indptr, count, loose, values, indices, data):
    """Move a task's rows begin..end to their final place, and shift their part of `indptr`, which began at 0."""
    start = offset_of(ends, task, count)
    for i in range(begin, end):
        indptr[i + 1] += start
    if count:
        copy_items(indices, np.uint64(start), loose, np.uint64(0), np.uint64(count))
        if values is not None:
            copy_items(data, np.uint64(start), values, np.uint64(0), np.uint64(count))


def cut(array: Any, length: int) -> Any:
    """Shrink an array without other references in place; the memory after it is returned to the system."""
    if array is not None and len(array) != length:
        array.resize(length, refcheck=False)
    return array
