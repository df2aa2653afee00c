"""Rows of features in host memory, fetched for the vertices of a batch."""

from typing import Any

import numpy as np

from hpgraph.core.device import array_module, native, require_cupy, to_device
from hpgraph.kernels.backend import sampling


class FeatureRows:
    """A matrix in host memory with a row for each vertex, and on a GPU a copy of the rows fetched most often.

    The GPU gathers rows of page-locked memory itself; of other memory they are gathered here and copied.
    """

    def __init__(self, given: Any, name: str, n: int, device: str, hot: Any) -> None:
        self._rows, self._device = _matrix(given, name, n), device
        self._seen = _as_device_array(self._rows) if device == "cuda" else None
        self._slot = None
        if len(hot):
            xp = array_module(device)
            self._cached = self.empty(len(hot))
            self._fetch(hot, self._cached)
            self._slot = xp.full(n, -1, np.int32)
            self._slot[hot] = xp.arange(len(hot), dtype=np.int32)

    @property
    def read_by_device(self) -> bool:
        """Whether a GPU gathers rows itself."""
        return self._seen is not None

    @property
    def takes_order(self) -> bool:
        """Whether `fetch` reads rows in the given `order`."""
        return self._slot is None

    def empty(self, count: int) -> Any:
        """An uninitialized array of `count` rows on the device."""
        return array_module(self._device).empty((count, *self._rows.shape[1:]), self._rows.dtype)

    def fetch(self, vertex: Any, found: Any, order: Any = None) -> None:
        """Write the rows of vertices; of `order` as for `hpgraph.kernels.sampling.Sampling.fetch_rows`."""
        if self._slot is None:
            self._fetch(vertex, found, order)
            return
        slot = self._slot[vertex]
        near, far = (array_module(slot).flatnonzero(side) for side in (slot >= 0, slot < 0))
        found[near] = self._cached[slot[near]]
        rows = self.empty(len(far))
        self._fetch(vertex[far], rows)
        found[far] = rows

    def _fetch(self, vertex: Any, found: Any, order: Any = None) -> None:
        """Write rows from host memory."""
        if self._seen is not None:
            sampling(self._device).fetch_rows(self._seen, vertex, found, order)
        elif self._device == "cuda":
            found.set(np.ascontiguousarray(self._rows[to_device(vertex, "cpu")]))
        else:
            sampling(self._device).fetch_rows(self._rows, vertex, found)


def _matrix(given: Any, name: str, n: int) -> Any:
    """A matrix with a row for each vertex, as an array over the same memory."""
    if not (hasattr(given, "__array__") or hasattr(given, "__dlpack__")) or hasattr(given, "__cuda_array_interface__"):
        raise TypeError(f"{name} must be a NumPy array or a CPU tensor, not {type(given).__name__}")
    array = native(given.detach() if hasattr(given, "detach") else given)
    if not array.ndim or len(array) != n:
        raise ValueError(f"{name} must have a row for each of {n} vertices, not shape {array.shape}")
    return array


def _as_device_array(rows: Any) -> Any:
    """A CuPy array over the same memory, if it is page-locked; else None."""
    cupy = require_cupy()
    if not rows.flags.c_contiguous or not rows.size or rows.dtype.kind not in "biufc":
        return None
    # Null where the GPU cannot read it.
    pointer = cupy.cuda.runtime.pointerGetAttributes(rows.ctypes.data).devicePointer
    if not pointer:
        return None
    memory = cupy.cuda.UnownedMemory(pointer, rows.nbytes, rows, cupy.cuda.Device().id)
    return cupy.ndarray(rows.shape, rows.dtype, cupy.cuda.MemoryPointer(memory, 0))
