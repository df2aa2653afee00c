"""Sums and counts that CuPy makes without CUB's templates, for what is worked out once a graph.

CuPy hands reductions with a function of their own, ``count_nonzero``, ``all`` and sums into a wider type among them, to
CUB, and NVRTC then compiles CUB's headers anew for each: 1.5 to 3 s twice over, on an H200's host. Its own kernels take
two compilations of 80 ms, and a fraction of a millisecond more on arrays of many millions.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def quickly_compiled() -> Iterator[None]:
    """Context manager and decorator: reductions in it go by CuPy's own kernels; without CuPy nothing changes.

    Sums, minima and maxima in the type of an array are CUB's all the same, which CuPy brings compiled.

    Examples
    --------
    >>> with quickly_compiled():
    ...     sum([1, 2])
    3
    """
    if "cupy" not in sys.modules:
        yield
        return
    from cupy._core import _accelerator

    # Of the process: what another thread reduces meanwhile is as right by either.
    usual = _accelerator.get_reduction_accelerators()
    _accelerator.set_reduction_accelerators([])
    try:
        yield
    finally:
        _accelerator.set_reduction_accelerators(usual)
