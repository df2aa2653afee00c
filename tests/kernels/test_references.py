"""Kernels that count no references to arrays call functions that make some: none may stay behind."""

from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp
from numba.core.runtime import _nrt_python, rtsys

import hpgraph as hpg


def longest(a, b):
    pair = np.empty(2)
    pair[0], pair[1] = a, b
    return pair[::-1].max()


class Farthest(hpg.VertexProgram):
    """The largest weight met on the way, through an array of each message's own."""

    worst = hpg.Property("float64", initial=np.inf)

    def gather(source, weight, target):
        return longest(source.worst, weight)

    reduce = "min"

    def update(vertex, message):
        return min(vertex.worst, longest(message, 0.0))


@pytest.fixture(autouse=True)
def counted() -> Iterator[None]:
    """Numba counts what it allocates only if it is asked to."""
    was = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    yield
    if not was:
        _nrt_python.memsys_disable_stats()


def alive() -> int:
    counts = rtsys.get_allocation_stats()
    return int(counts.alloc - counts.free)


def test_what_a_program_makes_is_freed() -> None:
    path = hpg.Graph.from_edges(np.arange(5), np.arange(1, 6), np.array([1.0, 4.0, 2.0, 3.0, 5.0]))
    worst = np.full(6, np.inf)
    worst[0] = 0.0
    before, made = alive(), rtsys.get_allocation_stats().alloc
    found = hpg.run(Farthest(), path, active=[0], worst=worst).worst
    assert found.tolist() == [0.0, 1.0, 4.0, 4.0, 4.0, 5.0]
    assert rtsys.get_allocation_stats().alloc > made
    assert alive() == before


def test_what_an_operator_makes_is_freed() -> None:
    a = sp.csr_array(np.array([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]))
    b = sp.csr_array(np.array([[4.0, 5.0, 0.0], [0.0, 1.0, 0.0]]))
    before = alive()
    joined = hpg.Matrix(a).ewise_mult(hpg.Matrix(b), longest)
    assert joined.toarray().tolist() == [[4.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    assert alive() == before
