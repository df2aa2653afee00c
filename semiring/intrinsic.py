"""Instructions that Python has no name for, each with its meaning in Python. Imports Numba.

Under ``NUMBA_DISABLE_JIT=1``, which is how kernels are stepped through in a debugger, kernels are Python functions and
run on one thread: there an instruction is the Python function that stands beside it.
"""

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import extending


def intrinsic(in_python: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """`numba.extending.intrinsic` for a function that means the same as one in Python."""

    def decorate(compiled: Callable[..., Any]) -> Any:
        if numba.config.DISABLE_JIT:
            return functools.wraps(compiled)(in_python)
        return extending.intrinsic(compiled)

    return decorate


def element(array: Any, value: Any) -> Any:
    """A value as an element of an array, converted as compiled code does: bits that do not fit are cut off."""
    return np.asarray(value).astype(array.dtype)[()]
