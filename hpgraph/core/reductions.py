"""Sums and counts that CuPy makes without CUB's templates, for what is worked out once a graph.

CuPy hands reductions with a function of their own, ``count_nonzero``, ``all`` and sums into a wider type among them, to
CUB, and NVRTC then compiles CUB's headers anew for each: 1.5 to 3 s twice over, on an H200's host. Its own kernels take
two compilations of 80 ms, and a fraction of a millisecond more on arrays of many millions.
"""

from __future__ import annotations

import sys
from typing import Any

from hpgraph.core.process_wide import ProcessWide


def quickly_compiled() -> ProcessWide:
    """Context manager and decorator: reductions in it go by CuPy's own kernels; without CuPy nothing changes.

    Sums, minima and maxima in the type of an array are CUB's all the same, which CuPy brings compiled. The setting is
    one of the process: what another thread reduces meanwhile is as right by either.

    Examples
    --------
    >>> with quickly_compiled():
    ...     sum([1, 2])
    3
    """
    return _quickly_compiled


def _switch_off() -> Any:
    if "cupy" not in sys.modules:
        return None
    from cupy._core import _accelerator

    usual = _accelerator.get_reduction_accelerators()
    _accelerator.set_reduction_accelerators([])
    return usual


def _restore(usual: Any) -> None:
    if usual is not None:
        from cupy._core import _accelerator

        _accelerator.set_reduction_accelerators(usual)


_quickly_compiled = ProcessWide(_switch_off, _restore)
