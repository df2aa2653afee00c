"""A share of the fuzzer of programs; ``python -m tests.fuzz.programs`` goes on from there."""

import pytest

from .programs import check


# One of the general loop, and a traversal.
@pytest.mark.parametrize("seed", range(2))
def test_programs(seed):
    check(seed)
