"""Arrays of other libraries, PyTorch's and JAX's among them, as NumPy or CuPy sees them: the same memory."""

from typing import Any

import numpy as np

from hpgraph.core.device import is_cuda, native, require_cupy

# DLPack's device types that NumPy reads: kDLCPU and kDLCUDAHost.
_HOST = (1, 3)


def shared(array: Any) -> Any:
    """An array by its array interface or else by DLPack; objects with neither are returned unchanged."""
    seen = native(array)
    known = isinstance(seen, np.ndarray | np.generic) or is_cuda(seen)
    return by_dlpack(seen) if not known and hasattr(seen, "__dlpack__") else seen


def by_dlpack(array: Any) -> Any:
    """An array in NumPy, or in CuPy where it lies on a GPU."""
    kind, _ = array.__dlpack_device__()
    return (np if kind in _HOST else require_cupy()).from_dlpack(array)
