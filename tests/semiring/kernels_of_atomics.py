"""Kernels of which several threads run one at once, and contend for the same elements."""

from numba import njit

from hpgraph.semiring.atomics import atomic_load, atomic_or, compare_and_swap, fetch_add


@njit(nogil=True)
def count(counters, tickets, where):
    for i in range(where.size):
        tickets[i] = fetch_add(counters, where[i], 1)


@njit(nogil=True)
def set_bits(words, seen, where):
    for i in range(where.size):
        bit = 1 << (where[i] & 7)
        seen[i] = (atomic_or(words, where[i] >> 3, bit) & bit) != 0


@njit(nogil=True)
def minimum(best, where, values):
    for i in range(where.size):
        old = atomic_load(best, where[i])
        while values[i] < old and not compare_and_swap(best, where[i], old, values[i]):
            old = atomic_load(best, where[i])


@njit
def swap(array, index, expected, desired):
    return compare_and_swap(array, index, expected, desired)
