"""Writes to data-dependent places of an array, with possible collisions."""

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import cupy


def minimum_at(target: Any, at: Any, values: Any) -> None:
    """``target[at] = min(target[at], values)``, of int64 numbers not negative; a place may come more than once."""
    # The 64-bit atomic minimum is for unsigned integers only.
    _minimum()(at, values.view(np.uint64), target.view(np.uint64))


@functools.cache
def _minimum() -> Any:
    return cupy.ElementwiseKernel(
        "T at, uint64 value", "raw uint64 target", "atomicMin(&target[at], value)", "hpgraph_minimum_at"
    )
