"""Kernels whose threads contend for the same elements."""

from numba import njit, prange

from hpgraph.semiring.atomics import atomic_load, atomic_or, compare_and_swap, fetch_add


@njit(parallel=True)
def count(counters, tickets, where, step):
    for i in prange(where.size):
        tickets[i] = fetch_add(counters, where[i], step)


@njit(parallel=True)
def set_bits(words, seen, where):
    for i in prange(where.size):
        bit = 1 << (where[i] & 7)
        seen[i] = (atomic_or(words, where[i] >> 3, bit) & bit) != 0


@njit(parallel=True)
def minimum(best, where, values):
    for i in prange(where.size):
        old = atomic_load(best, where[i])
        while values[i] < old and not compare_and_swap(best, where[i], old, values[i]):
            old = atomic_load(best, where[i])


@njit
def swap(array, index, expected, desired):
    return compare_and_swap(array, index, expected, desired)
