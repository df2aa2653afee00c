"""Reductions and prefix sums of arrays, on CUDA by kernels that CuPy ships compiled.

CuPy implements ``any``, ``all``, ``count_nonzero``, ``mean`` and sums into a wider type by CUB's templates, which NVRTC
compiles anew for each: 1.5 to 3 s twice over, on an H200's host. Without CUB its kernel for a single number is one
block, which reads 27 GB/s. Sums and maxima in the type of an array need neither: their kernels are in CuPy's libraries.
So arrays are converted to such a type first, in blocks.
"""

from contextlib import nullcontext
from typing import Any

import numpy as np

from hpgraph.core.device import array_module, is_cuda

# Elements that are converted at a time on CUDA: 128 MB of them, enough to fill a GPU.
_STRETCH = 1 << 24


def anywhere(mask: Any) -> bool:
    """Whether any element is true; waits for the GPU."""
    if not mask.size:
        return False
    return bool(mask.view(np.uint8).max()) if is_cuda(mask) else bool(mask.any())


def everywhere(mask: Any) -> bool:
    """Whether all elements of a mask are true; waits for the GPU."""
    if not mask.size:
        return True
    return bool(mask.view(np.uint8).min()) if is_cuda(mask) else bool(mask.all())


def first_true(mask: Any) -> int:
    """Index of the first true element, 0 if there is none; waits for the GPU."""
    return int((mask.view(np.uint8) if is_cuda(mask) else mask).argmax())


def count(mask: Any) -> int:
    """How many elements are true; waits for the GPU."""
    return int(total(mask, np.int64)) if is_cuda(mask) else int(np.count_nonzero(mask))


def total(array: Any, dtype: Any) -> Any:
    """The sum of all elements, in a type that may be wider than theirs; waits for the GPU."""
    wide = np.dtype(dtype)
    if not is_cuda(array):
        return array.sum(dtype=wide)
    if array.dtype == wide:
        return wide.type(array.sum().item())
    parts = [array[start : start + _STRETCH].astype(wide).sum() for start in range(0, array.size, _STRETCH)]
    # All are under way before the first is waited for.
    return np.array([part.item() for part in parts], wide).sum()


def prefix_sum(lengths: Any) -> Any:
    """Exclusive prefix sum, with the total at the end: the `indptr` of rows of these lengths, on their device."""
    xp = array_module(lengths)
    with lengths.device if is_cuda(lengths) else nullcontext():
        offsets = xp.zeros(len(lengths) + 1, np.int64)
        xp.cumsum(lengths, out=offsets[1:])
    return offsets
