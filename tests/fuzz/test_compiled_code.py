"""A share of the fuzzers that every run of the tests can afford; ``python -m tests.fuzz.<name>`` goes on from there."""

from __future__ import annotations

import pytest

from .dependencies import check as check_dependencies
from .dependencies import compiled_kernel
from .programs import check as check_program


def test_dependencies():
    # So many that each kind of constant has changed.
    for seed in range(48):
        check_dependencies(seed)


def test_dependencies_compiled():
    kernel = compiled_kernel()
    for seed in range(4):
        check_dependencies(seed, kernel)


# One of the general loop, and a traversal.
@pytest.mark.parametrize("seed", range(2))
def test_programs(seed):
    check_program(seed)
