"""Where the properties of a block's vertices lie, and how values get from there to messages and back.

On the CPU messages are read from the properties and written into them. On a GPU they go by way of pinned memory of the
host, in which what other blocks tell has a mirror of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.cluster.exchange import Told
from hpgraph.cluster.grid import Numbering
from hpgraph.core.device import Device, array_module, require_cupy
from hpgraph.formats import Frontier


class Memory:
    """Properties in the memory of the host.

    Attributes
    ----------
    properties : tuple of arrays
        By the block's numbers.
    """

    device: Device = "cpu"

    def __init__(self, numbering: Numbering, dtypes: tuple[np.dtype, ...]) -> None:
        self.numbering = numbering
        xp = array_module(self.device)
        self.properties: tuple[Any, ...] = tuple(xp.empty(numbering.size, dtype) for dtype in dtypes)

    def put(self, values: np.ndarray) -> Any:
        """An array of the host where kernels read it."""
        return values

    def get(self, values: Any) -> np.ndarray:
        """An array of the device where messages are made of it."""
        found: np.ndarray = values
        return found

    def own(self, i: int, ids: np.ndarray | None = None) -> np.ndarray:
        """A property of own vertices, of some of them counted from the beginning of their range."""
        values = self.properties[i][self.numbering.own]
        return self.get(values if ids is None else values[self.put(ids)])

    def place(self, i: int) -> np.ndarray:
        """Where messages write a property, by the block's numbers."""
        found: np.ndarray = self.properties[i]
        return found

    def frontier(self, who: Frontier) -> Frontier:
        """Who is active, in the form that messages left it in, where kernels read it."""
        return who

    def heard(self, came: dict[int, Told], read: tuple[int, ...]) -> None:
        """Take over what messages have written to `place`."""


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
        """An array in pinned memory, of CuPy's pool."""
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

    def frontier(self, who: Frontier) -> Frontier:
        """Copies a list."""
        return Frontier(who.n, ids=self.put(who.ids))

    def heard(self, came: dict[int, Told], read: tuple[int, ...]) -> None:
        """Copies what has changed in the mirrors."""
        for peer, said in came.items():
            there = self.numbering.range(peer)
            for i in read:
                mirror, values = self.place(i)[there], self.properties[i][there]
                if said.ids is None:
                    values[...] = self.put(mirror)
                elif len(said.ids):
                    values[self.put(said.ids)] = self.put(mirror[said.ids])


def memory_on(device: Device) -> type[Memory]:
    """What keeps the properties of blocks on a device."""
    return DeviceMemory if device == "cuda" else Memory
