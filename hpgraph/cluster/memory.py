"""Storage of a block's vertex properties, and copies between it and messages.

On the CPU messages are read from the properties and written into them. On a GPU they go through pinned host memory,
which mirrors the properties that other blocks send.
"""

from typing import Any

import numpy as np

from hpgraph.cluster.exchange import Content
from hpgraph.cluster.grid import Numbering
from hpgraph.core.device import Device, array_module, require_cupy, to_device
from hpgraph.formats import Frontier


class Memory:
    """Properties in the memory of a device, "cpu" or "cuda", CuPy's current GPU; in local numbers."""

    def __init__(self, device: Device, numbering: Numbering, dtypes: tuple[np.dtype, ...]) -> None:
        self.device, self.numbering = device, numbering
        #: Whether messages go through pinned host memory.
        self.mirrored = device == "cuda"
        xp = array_module(device)
        self.properties: tuple[Any, ...] = tuple(xp.empty(numbering.size, dtype) for dtype in dtypes)
        self._mirrors: dict[int, np.ndarray] = {}

    def put(self, values: np.ndarray) -> Any:
        """A host array, on the kernels' device."""
        return to_device(values, self.device)

    def get(self, values: Any) -> np.ndarray:
        """An array on the host, for a message; from a GPU a copy in pinned memory, which synchronizes."""
        if not self.mirrored:
            return values
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

        return cupyx.empty_pinned(count, dtype)

    def own(self, i: int, ids: np.ndarray | None = None) -> np.ndarray:
        """A property of all or some own vertices, counted from the first of their range."""
        values = self.properties[i][self.numbering.own]
        return self.get(values if ids is None else values[self.put(ids)])

    def place(self, i: int) -> np.ndarray:
        """The array into which messages write a property, in local numbers: itself, or its mirror in pinned memory."""
        if not self.mirrored:
            return self.properties[i]
        if i not in self._mirrors:
            self._mirrors[i] = self._pinned(self.numbering.size, self.properties[i].dtype)
        return self._mirrors[i]

    def frontier(self, vertices: Frontier) -> Frontier:
        """The frontier on the kernels' device: in the form of the messages, on a GPU a list."""
        return Frontier(vertices.n, ids=self.put(vertices.ids)) if self.mirrored else vertices

    def written(self, received: dict[int, Content], read: tuple[int, ...]) -> None:
        """Copy to a GPU the values that messages have written to `place`."""
        for peer, content in received.items() if self.mirrored else ():
            rows = self.numbering.range(peer)
            for i in read:
                mirror, values = self.place(i)[rows], self.properties[i][rows]
                if content.ids is None:
                    values[...] = self.put(mirror)
                elif len(content.ids):
                    values[self.put(content.ids)] = self.put(mirror[content.ids])
