"""The passes that Numba makes over the kernels: branches that no argument asks for are not compiled."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from hpgraph.kernels.runtime.cpu.kernel import KernelCompiler


def joined(x, y=None):
    if x is None:
        # Of no array: does not compile unless x is None.
        return y.nothing_of_the_kind
    if y is not None:
        return x[0] + y[0]
    else:
        return x[0]


def test_only_branches_that_can_be_taken_are_compiled():
    ours, numbas, ones = njit(joined, pipeline_class=KernelCompiler), njit(joined), np.ones(2)
    assert ours(ones, ones) == 2 and ours(ones) == ours(ones, None) == 1
    with pytest.raises(TypingError, match="nothing_of_the_kind"):
        ours(None, ones)
    # Were this to pass, Numba's own pass would do.
    with pytest.raises(TypingError, match="nothing_of_the_kind"):
        numbas(ones, ones)


@pytest.mark.parametrize("x", [1, 3, 1.5])
def test_a_variable_that_may_have_become_none_is_asked(x):
    def kept(x):
        if x > 2:
            x = None
        return -1 if x is None else x

    assert njit(kept, pipeline_class=KernelCompiler)(x) == kept(x)


def test_comparisons_with_numbers_are_made():
    @njit(pipeline_class=KernelCompiler)
    def compared(x, y):
        return (1 if x == 0 else 2), (1 if x == y else 2)

    assert compared(0, 0) == compared(0, 0.0) == (1, 1) and compared(3, 0) == (2, 2)
