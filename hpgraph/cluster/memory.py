"""Storage of a block's vertex properties, and copies between it and messages.

On the CPU messages are read from the properties and written into them. On a GPU they go through pinned host memory,
which mirrors the properties that other blocks send.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.cluster.exchange import Content
from hpgraph.cluster.grid import Numbering
from hpgraph.core.device import Device, array_module, require_cupy
from hpgraph.formats import Frontier


class Memory:
    """Properties in host memory, in local numbers."""

    device: Device = "cpu"

    def __init__(self, numbering: Numbering, dtypes: tuple[np.dtype, ...]) -> None:
        self.numbering = numbering
        xp = array_module(self.device)
        self.properties: tuple[Any, ...] = tuple(xp.empty(numbering.size, dtype) for dtype in dtypes)

    def put(self, values: np.ndarray) -> Any:
        """A host array, moved to the kernels' device."""
        return values

    def get(self, values: Any) -> np.ndarray:
        """A device array, moved to the host for a message."""
        found: np.ndarray = values
        return found

    def own(self, i: int, ids: np.ndarray | None = None) -> np.ndarray:
        """A property of own vertices, or of some, counted from the first of their range."""
        values = self.properties[i][self.numbering.own]
        return self.get(values if ids is None else values[self.put(ids)])

    def place(self, i: int) -> np.ndarray:
        """The array into which messages write a property, in local numbers."""
        found: np.ndarray = self.properties[i]
        return found

    def frontier(self, vertices: Frontier) -> Frontier:
        """The frontier, in the form that messages left it in, on the kernels' device."""
        return vertices

    def written(self, received: dict[int, Content], read: tuple[int, ...]) -> None:
        """Copy to the device what messages have written to `place`."""


class DeviceMemory(Memory):
    """Properties in the memory of CuPy's current GPU."""

    device: Device = "cuda"

    def __init__(self, numbering: Numbering, dtypes: tuple[np.dtype, ...]) -> None:
        super().__init__(numbering, dtypes)
        self._mirrors: dict[int, np.ndarray] = {}

    def put(self, values: np.ndarray) -> Any:
        """Copies."""
        return require_cupy().asarray(values)

    def get(self, values: Any) -> np.ndarray:
        """Copies into pinned memory; waits for the GPU."""
        host = self._pinned(len(values), values.dtype)
        if len(values):
            require_cupy().ascontiguousarray(values).get(out=host)
        return host

    @staticmethod
    def _pinned(count: int, dtype: np.dtype) -> np.ndarray:
        """An array in pinned memory from CuPy's pool."""
        if not count:
            return np.empty(0, dtype)
        require_cupy()
        import cupyx  # type: ignore[import-untyped]

        made: np.ndarray = cupyx.empty_pinned(count, dtype)
        return made

    def place(self, i: int) -> np.ndarray:
        """The property's mirror in pinned memory."""
        if i not in self._mirrors:
            self._mirrors[i] = self._pinned(self.numbering.size, self.properties[i].dtype)
        return self._mirrors[i]

    def frontier(self, vertices: Frontier) -> Frontier:
        """Copies a list."""
        return Frontier(vertices.n, ids=self.put(vertices.ids))

    def written(self, received: dict[int, Content], read: tuple[int, ...]) -> None:
        """Copies the changed parts of the mirrors."""
        for peer, content in received.items():
            there = self.numbering.range(peer)
            for i in read:
                mirror, values = self.place(i)[there], self.properties[i][there]
                if content.ids is None:
                    values[...] = self.put(mirror)
                elif len(content.ids):
                    values[self.put(content.ids)] = self.put(mirror[content.ids])


def memory_on(device: Device) -> type[Memory]:
    """The memory class of a device."""
    return DeviceMemory if device == "cuda" else Memory
