"""Rows of features in host memory, fetched for the vertices of a batch."""

import contextlib
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import array_module, native, require_cupy, to_device
from hpgraph.formats import index_dtype
from hpgraph.kernels.backend import sampling


class _Transfer(NamedTuple):
    """Rows of a source, perhaps in a page-locked buffer, and their places in the array of a name; None: in order."""

    name: Any
    source: Any
    vertex: Any
    place: Any
    buffer: Any = None


# Arrays by name, and what is written to them.
Prepared = tuple[dict[Any, Any], list[_Transfer]]


class FeatureRows:
    """A matrix in host memory with a row for each vertex, or a dict of such, and copies of some rows on the device.

    The GPU gathers rows of page-locked memory itself. Others are gathered here, into page-locked buffers.
    """

    def __init__(self, features: Any, n: int, device: str, hot: Any) -> None:
        self._device, self._named = device, isinstance(features, Mapping)
        self._rows = {
            name: _matrix(given, f"features[{name!r}]" if self._named else "features", n)
            for name, given in (features.items() if self._named else ((None, features),))
        }
        self._read = self._rows if device == "cpu" else {name: _on_device(rows) for name, rows in self._rows.items()}
        # The narrowest type of ids: they are sorted byte by byte.
        self._ids = index_dtype(n)
        # Buffers, each with the event of its last reading.
        self._free = deque[tuple[Any, Any]]()
        self._slot: Any = None
        if len(hot):
            prepared, xp = self.prepare(hot), array_module(device)
            self.fetch(prepared)
            self._cached, self._slot = prepared[0], xp.full(n, -1, np.int32)
            self._slot[hot] = xp.arange(len(hot), dtype=np.int32)

    def prepare(self, vertex: Any) -> Prepared:
        """Memory for the rows of vertices, and where `fetch` reads them; waits for the GPU where it is asked for them.

        On a GPU this is the memory of the current stream.
        """
        xp, transfers, place = array_module(self._device), list[_Transfer](), None
        out = {name: xp.empty((len(vertex), *rows.shape[1:]), rows.dtype) for name, rows in self._rows.items()}
        if self._slot is not None:
            slot = self._slot[vertex]
            near, place = (xp.flatnonzero(side) for side in (slot >= 0, slot < 0))
            vertex, slot = vertex[place], slot[near].astype(np.int64)
            transfers += [_Transfer(name, cached, slot, near) for name, cached in self._cached.items()]
        if self._device == "cuda":
            # In the order of memory: from several gigabytes, random rows are read at two fifths of the link's rate.
            order = vertex.astype(self._ids, copy=False).argsort()
            vertex, place = vertex[order], order if place is None else place[order]
        for name, source in self._read.items():
            transfers.append(self._gathered(name, vertex, place) if source is None
                             else _Transfer(name, source, vertex, place))  # fmt: skip
        return out, transfers

    def fetch(self, prepared: Prepared) -> Any:
        """The rows, written on the current stream."""
        out, transfers = prepared
        for name, source, vertex, place, buffer in transfers:
            sampling(self._device).fetch_rows(source, vertex, out[name], place)
            if buffer is not None:
                self._free.append((buffer, require_cupy().cuda.get_current_stream().record()))
        return out if self._named else out[None]

    def _gathered(self, name: Any, vertex: Any, place: Any) -> _Transfer:
        """Rows that the GPU cannot read, in a buffer that it can."""
        rows, count, cupy = self._rows[name], len(vertex), require_cupy()
        nbytes, buffer = rows.nbytes // max(len(rows), 1) * count, np.empty(0, np.uint8)
        with contextlib.suppress(IndexError):
            buffer, read = self._free.popleft()
            read.synchronize()
        if len(buffer) < nbytes:
            buffer = np.frombuffer(cupy.cuda.alloc_pinned_memory(2 * nbytes), np.uint8)
        gathered = buffer[:nbytes].view(rows.dtype).reshape(count, *rows.shape[1:])
        sampling("cpu").fetch_rows(rows, to_device(vertex, "cpu"), gathered)
        return _Transfer(name, _on_device(gathered), cupy.arange(count), place, buffer)


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
