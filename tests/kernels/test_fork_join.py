"""Calls divided among threads by `in_parallel`."""

import numba
import numpy as np
import pytest

import hpgraph as hpg
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import KernelCompiler
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.threads import team


@part
def _note(i, counts, amount, shift):
    counts[i] += amount * i + shift[0]


@numba.njit(nogil=True, pipeline_class=KernelCompiler)
def note_each(count, counts, amount, shift):
    in_parallel(count, _note, (counts, amount, shift))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("count", [-1, 0, 1, 2, 3, 1000])
def test_each_number_once(count: int, threads: int) -> None:
    counts = np.zeros(1001)
    with hpg.config(threads=threads), team():
        note_each(count, counts, 0.5, (3,))
    expected = 0.5 * np.arange(1001) + 3
    expected[max(count, 0) :] = 0
    assert counts.tolist() == expected.tolist()
