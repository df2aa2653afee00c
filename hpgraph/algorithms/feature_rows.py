"""Rows of features in host memory, fetched for the vertices of a batch."""

from typing import Any

import numpy as np

from hpgraph.core.device import array_module, require_cupy, to_device


class FeatureRows:
    """A matrix in host memory with a row for each vertex, and on a GPU a copy of the rows fetched most often.

    The GPU gathers rows of page-locked memory itself; of other memory they are gathered here and copied.
    """

    def __init__(self, given: Any, name: str, n: int, device: str, hot: Any) -> None:
        self._rows, self._device = _matrix(given, name, n), device
        self._seen = _seen_by_device(self._rows) if device == "cuda" else None
        self._slot = None
        if len(hot):
            xp = array_module(device)
            self._cached = self._fetched(hot)
            self._slot = xp.full(n, -1, np.int32)
            self._slot[hot] = xp.arange(len(hot), dtype=np.int32)

    def at(self, vertex: Any) -> Any:
        """The rows of vertices, on the device."""
        if self._slot is None:
            return self._fetched(vertex)
        slot = self._slot[vertex]
        found, far = self._cached[slot], slot < 0
        found[far] = self._fetched(vertex[far])
        return found

    def _fetched(self, vertex: Any) -> Any:
        """The rows from host memory."""
        if self._seen is not None:
            # In the order of memory: of some gigabytes, rows at random are read at two fifths of the link's rate.
            xp, order = array_module(vertex), array_module(vertex).argsort(vertex)
            found = xp.empty((len(vertex), *self._seen.shape[1:]), self._seen.dtype)
            found[order] = self._seen[vertex[order]]
            return found
        return to_device(self._rows[to_device(vertex, "cpu")], self._device)


def _matrix(given: Any, name: str, n: int) -> Any:
    """A matrix with a row for each vertex, as an array over the same memory."""
    if not (hasattr(given, "__array__") or hasattr(given, "__dlpack__")) or hasattr(given, "__cuda_array_interface__"):
        raise TypeError(f"{name} must be a NumPy array or a CPU tensor, not {type(given).__name__}")
    made = np.asarray(given.detach() if hasattr(given, "detach") else given)
    if not made.ndim or len(made) != n:
        raise ValueError(f"{name} must have a row for each of {n} vertices, not shape {made.shape}")
    return made


def _seen_by_device(rows: Any) -> Any:
    """The same memory as an array of CuPy's, if it is page-locked."""
    cupy = require_cupy()
    if not rows.flags.c_contiguous or not rows.size or rows.dtype.kind not in "biufc":
        return None
    # Null where the GPU cannot read it.
    there = cupy.cuda.runtime.pointerGetAttributes(rows.ctypes.data).devicePointer
    if not there:
        return None
    memory = cupy.cuda.UnownedMemory(there, rows.nbytes, rows, cupy.cuda.Device().id)
    return cupy.ndarray(rows.shape, rows.dtype, cupy.cuda.MemoryPointer(memory, 0))
