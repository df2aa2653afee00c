"""Atomics on the CPU: no update is lost and none is made twice when threads contend."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from raising import raises

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMBERS = [*INTEGERS, "float32", "float64"]
THREADS = 4
# Some milliseconds of work a thread: of 20,000 updates the first thread has made its share when the next one begins.
UPDATES = 1_000_000


def contend(kernel, shared, *split):
    """Run a kernel on several threads that begin together, each with every fourth element of some arrays.

    What lies side by side in these arrays, the threads come to at about the same time. (A loop of `prange` takes four
    times as long to compile.)
    """
    together = threading.Barrier(THREADS)
    shares = [tuple(array[first::THREADS].copy() for array in split) for first in range(THREADS)]

    def work(share):
        together.wait()
        kernel(shared, *share)

    kernel(shared[:0].copy(), *(array[:0].copy() for array in split))  # Compiles it.
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, shares))
    for first, share in enumerate(shares):
        for array, part in zip(split, share, strict=True):
            array[first::THREADS] = part


@pytest.mark.parametrize("dtype", NUMBERS)
def test_fetch_add_counts_every_update(dtype):
    from kernels_of_atomics import count

    where = np.random.default_rng(0).integers(0, 3, UPDATES)
    counters = np.zeros(3, dtype)
    tickets = np.zeros(where.size, dtype)
    contend(count, counters, tickets, where)
    assert np.array_equal(counters, np.bincount(where).astype(dtype))
    if np.dtype(dtype).itemsize >= 4:
        for counter in range(3):  # every value was handed out once
            taken = np.sort(tickets[where == counter])
            assert np.array_equal(taken, np.arange(taken.size))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_atomic_or_reports_the_first_to_set_a_bit(dtype):
    from kernels_of_atomics import set_bits

    # Eight bits a word, and each bit is set by two threads.
    where = np.repeat(np.arange(UPDATES // 2), 2)
    words = np.zeros(UPDATES // 16, dtype)
    seen = np.zeros(where.size, bool)
    contend(set_bits, words, seen, where)
    assert np.array_equal(words.astype(np.uint8), np.full(words.size, 255))
    assert np.array_equal(seen[::2], ~seen[1::2])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_compare_and_swap_keeps_the_minimum(dtype):
    from kernels_of_atomics import minimum

    where = np.repeat(np.arange(UPDATES // THREADS), THREADS)
    values = np.random.default_rng(2).integers(0, 120, where.size).astype(dtype)
    best = np.full(UPDATES // THREADS, 127, dtype)
    contend(minimum, best, where, values)
    assert np.array_equal(best, values.reshape(-1, THREADS).min(axis=1))


def test_compare_and_swap_of_floats_compares_bits():
    from kernels_of_atomics import swap

    values = np.array([np.nan, 0.0])
    assert swap(values, 0, np.nan, 1.0) and values[0] == 1.0
    assert not swap(values, 1, -0.0, 1.0) and values[1] == 0.0


def test_what_cannot_be_atomic_is_refused():
    from kernels_of_atomics import swap
    from numba.core.errors import TypingError

    raises(TypingError, "contiguous 1-d array", swap, np.zeros((2, 2)), 0, 0, 1)
    raises(TypingError, "contiguous 1-d array", swap, np.zeros(8)[::2], 0, 0, 1)
    raises(TypingError, "complex128", swap, np.zeros(2, complex), 0, 0, 1)
