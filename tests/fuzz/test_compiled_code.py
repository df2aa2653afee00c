"""A share of the fuzzers that every run of the tests can afford; ``python -m tests.fuzz.<name>`` goes on from there."""

from __future__ import annotations

import pytest

from .dependencies import check as check_dependencies
from .dependencies import compiled_kernel
from .programs import check as check_program


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_dependencies(first):
    for seed in range(first, first + 20):
        check_dependencies(seed)


def test_dependencies_compiled():
    kernel = compiled_kernel()
    for seed in range(4):
        check_dependencies(seed, kernel)


@pytest.mark.parametrize("seed", range(3))
def test_programs(seed):
    check_program(seed)
