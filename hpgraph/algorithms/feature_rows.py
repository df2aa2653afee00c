"""Rows of features in host memory, fetched for the vertices of a batch."""

import contextlib
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from hpgraph.core.device import array_module, native, require_cupy, to_device
from hpgraph.formats import index_dtype
from hpgraph.kernels.backend import sampling

# Arrays by name; and for each the arguments of the function that writes it, and the buffer that is read, or None.
Prepared = tuple[dict[Any, Any], list[tuple[tuple[Any, ...], Any]]]


class FeatureRows:
    """A matrix in host memory, a row a vertex, or a dict of such; a GPU gathers its page-locked rows itself."""

    def __init__(self, features: Any, n: int, device: str, hot: Any) -> None:
        self._device, self._named = device, isinstance(features, Mapping)
        self._rows = {
            name: _matrix(given, f"features[{name!r}]" if self._named else "features", n)
            for name, given in (features.items() if self._named else ((None, features),))
        }
        if device == "cpu":
            return
        self._read = {name: _on_device(rows) for name, rows in self._rows.items()}
        # The narrowest type of ids: they are sorted byte by byte.
        self._ids = index_dtype(n)
        # Buffers, each with the event of its last reading.
        self._free = deque[tuple[Any, Any]]()
        self._cached, self._slot = dict[Any, Any](), None
        if len(hot):
            cached, cupy = self.prepare(hot), require_cupy()
            self.fetch(cached)
            self._cached, self._slot = cached[0], cupy.full(n, -1, np.int32)
            self._slot[hot] = cupy.arange(len(hot), dtype=np.int32)

    def prepare(self, vertex: Any) -> Prepared:
        """Memory of the current stream for the rows of vertices, and where `fetch` reads them; may wait for the GPU."""
        xp = array_module(self._device)
        out = {name: xp.empty((len(vertex), *rows.shape[1:]), rows.dtype) for name, rows in self._rows.items()}
        if self._device == "cpu":
            return out, [((rows, vertex, out[name]), None) for name, rows in self._rows.items()]
        # In the order of memory: from several gigabytes, random rows are read at two fifths of the link's rate.
        order, transfers = vertex.astype(self._ids, copy=False).argsort(), list[tuple[tuple[Any, ...], Any]]()
        vertex = vertex[order]
        slot = None if self._slot is None else self._slot[vertex]
        for name, source in self._read.items():
            read = (source, vertex, None) if source is not None else self._gathered(self._rows[name], vertex, slot)
            transfers.append(((*read[:2], out[name], order, slot, self._cached.get(name)), read[2]))
        return out, transfers

    def fetch(self, prepared: Prepared) -> Any:
        """The rows, written on the current stream."""
        out, transfers = prepared
        for arguments, buffer in transfers:
            sampling(self._device).fetch_rows(*arguments)
            if buffer is not None:
                self._free.append((buffer, require_cupy().cuda.get_current_stream().record()))
        return out if self._named else out[None]

    def _gathered(self, rows: Any, vertex: Any, slot: Any) -> tuple[Any, Any, Any]:
        """Rows that are not cached in a buffer that the GPU can read, where each is there, and the buffer."""
        cupy = require_cupy()
        if slot is None:
            place = cupy.arange(len(vertex))
        else:
            place, vertex = (slot < 0).cumsum() - 1, vertex[slot < 0]
        nbytes, buffer = rows.nbytes // max(len(rows), 1) * len(vertex), np.empty(0, np.uint8)
        with contextlib.suppress(IndexError):
            buffer, read = self._free.popleft()
            read.synchronize()
        if len(buffer) < nbytes:
            buffer = np.frombuffer(cupy.cuda.alloc_pinned_memory(2 * nbytes), np.uint8)
        gathered = buffer[:nbytes].view(rows.dtype).reshape(len(vertex), *rows.shape[1:])
        sampling("cpu").fetch_rows(rows, to_device(vertex, "cpu"), gathered)
        return _on_device(gathered), place, buffer


def _matrix(given: Any, name: str, n: int) -> Any:
    """A matrix with a row for each vertex, as an array over the same memory."""
    if not (hasattr(given, "__array__") or hasattr(given, "__dlpack__")) or hasattr(given, "__cuda_array_interface__"):
        raise TypeError(f"{name} must be a NumPy array or a CPU tensor, not {type(given).__name__}")
    array = native(given.detach() if hasattr(given, "detach") else given)
    if not array.ndim or len(array) != n:
        raise ValueError(f"{name} must have a row for each of {n} vertices, not shape {array.shape}")
    return array


def _on_device(rows: Any) -> Any:
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
