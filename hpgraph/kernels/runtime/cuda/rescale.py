"""The end of an iteration that divides by a length, in one pass."""

from functools import cache
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.semiring.c_types import c_type

SOURCE = "rescale.cuh"
# As in apply.cuh.
_SPAN, _THREADS = 2048, 256


def kernel_name(dtype: np.dtype) -> str:
    """The kernel for values of a type, float32 or float64."""
    return f"hpgraph::rescale<{c_type(dtype)}>"


def rescale(values: Any, factor: float, before: Any) -> float:
    """`hpgraph.kernels.runtime.cpu.rescale.rescale` on the GPU; waits for it."""
    import cupy

    n, dtype = len(values), values.dtype
    sums = cupy.empty(-(-n // _SPAN), np.float64)
    _kernel(dtype, cupy.cuda.runtime.getDevice())(
        sums.shape, (_THREADS,), (np.int64(n), dtype.type(factor), before, values, sums)
    )
    return float(sums.get().sum())


@cache
def _kernel(dtype: np.dtype, device: int) -> Any:
    name = kernel_name(dtype)
    return load(SOURCE, names=(name,), title="lengths").function(name)
