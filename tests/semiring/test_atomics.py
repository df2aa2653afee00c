"""Atomics on the CPU: no update is lost and none is made twice when threads contend."""

from __future__ import annotations

import numpy as np
import pytest

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMBERS = [*INTEGERS, "float32", "float64"]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_fetch_add_counts_every_update(dtype):
    from kernels_of_atomics import count

    where = np.random.default_rng(0).integers(0, 3, 20_000)
    counters = np.zeros(3, dtype)
    tickets = np.zeros(where.size, dtype)
    count(counters, tickets, where, 1)
    assert np.array_equal(counters, np.bincount(where).astype(dtype))
    if np.dtype(dtype).itemsize >= 4:
        for counter in range(3):  # every value was handed out once
            taken = np.sort(tickets[where == counter])
            assert np.array_equal(taken, np.arange(taken.size))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_atomic_or_reports_the_first_to_set_a_bit(dtype):
    from kernels_of_atomics import set_bits

    where = np.random.default_rng(1).integers(0, 64, 20_000)
    words = np.zeros(8, dtype)
    seen = np.zeros(where.size, bool)
    set_bits(words, seen, where)
    assert np.array_equal(words.astype(np.uint8), np.full(8, 255))
    assert (~seen).sum() == 64
    assert np.array_equal(np.sort(where[~seen]), np.arange(64))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_compare_and_swap_keeps_the_minimum(dtype):
    from kernels_of_atomics import minimum

    rng = np.random.default_rng(2)
    where = rng.integers(0, 4, 20_000)
    values = rng.integers(0, 120, where.size).astype(dtype)
    best = np.full(4, 127, dtype)
    minimum(best, where, values)
    assert best.tolist() == [values[where == i].min() for i in range(4)]


def test_compare_and_swap_of_floats_compares_bits():
    from kernels_of_atomics import swap

    values = np.array([np.nan, 0.0])
    assert swap(values, 0, np.nan, 1.0) and values[0] == 1.0
    assert not swap(values, 1, -0.0, 1.0) and values[1] == 0.0


def test_what_cannot_be_atomic_is_refused():
    from kernels_of_atomics import swap
    from numba.core.errors import TypingError

    with pytest.raises(TypingError, match="contiguous 1-d array"):
        swap(np.zeros((2, 2)), 0, 0, 1)
    with pytest.raises(TypingError, match="contiguous 1-d array"):
        swap(np.zeros(8)[::2], 0, 0, 1)
    with pytest.raises(TypingError, match="complex128"):
        swap(np.zeros(2, complex), 0, 0, 1)
