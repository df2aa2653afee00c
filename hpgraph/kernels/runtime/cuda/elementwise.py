"""Element by element: writes to data-dependent places, with possible collisions, and steps of recurrences."""

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import cupy


def minimum_at(target: Any, at: Any, values: Any) -> None:
    """``target[at] = min(target[at], values)``, of int64 numbers not negative; a place may come more than once."""
    # The 64-bit atomic minimum is for unsigned integers only.
    _kernel("minimum_at", "T at, uint64 value", "raw uint64 target", "atomicMin(&target[at], value)")(
        at, values.view(np.uint64), target.view(np.uint64)
    )


def three_term_step(product: Any, gain: Any, stay: Any, now: Any, before: Any, weight: float, total: Any) -> Any:
    """`hpgraph.kernels.runtime.Runtime.three_term_step`, in one pass."""
    given, step = "T gain, T stay, T now, T before, T weight", "product = gain * product + stay * now - before"
    _kernel("three_term_step", given, "T product, T total", f"{step}; total += weight * product")(
        gain, stay, now, before, weight, product, total
    )
    return product


@functools.cache
def _kernel(name: str, given: str, found: str, body: str) -> Any:
    return cupy.ElementwiseKernel(given, found, body, f"hpgraph_{name}")
