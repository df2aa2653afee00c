"""A block of a graph: its arcs in local vertex numbers, as the engine takes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from hpgraph.cluster.grid import Grid, Numbering
from hpgraph.containers.graph import Graph
from hpgraph.core.caller import warnings_collected
from hpgraph.core.device import Device, to_device
from hpgraph.core.errors import DuplicateEdgesWarning
from hpgraph.formats import CSR
from hpgraph.formats.duplicates import Duplicates, duplicate_error

# Bytes for each vertex with a local number: its id, two offsets of rows, a message, and its bits.
_OF_VERTEX = 8 + 2 * 8 + 8 + 1
# Bytes for each own vertex: two queues, and the list of receivers.
_OF_OWN = 3 * 4


class Block:
    """Arcs from the sources of a row of the grid to the targets of a column.

    Attributes
    ----------
    graph : Graph
        Its arcs in local numbers, each once.
    numbering : Numbering
    unlike : bool
        Whether duplicate arcs of unlike weight were merged although `duplicates` was None.
    """

    def __init__(
        self, grid: Grid, block: int, sources: np.ndarray, targets: np.ndarray, weights: np.ndarray | None,
        device: Device = "cpu", duplicates: Duplicates | None = "min",
    ) -> None:  # fmt: skip
        self.numbering, self.device = Numbering(grid, block), device
        numbering, merged = self.numbering, "min" if duplicates == "error" else duplicates
        with warnings_collected() as warned:
            self.graph = Graph.from_edges(
                numbering.numbers(sources), numbering.numbers(targets), weights, numbering.size, duplicates=merged
            )
        self.unlike = DuplicateEdgesWarning in warned
        if duplicates == "error" and (repeats := len(sources) - self.graph.n_edges):
            arcs, counts = np.unique(np.stack([sources, targets]), axis=1, return_counts=True)
            ends = grid.order.vertices(arcs[:, counts > 1].T).tolist()
            raise duplicate_error(min(map(tuple, ends)), repeats)
        # Out-degree and in-degree of each own vertex in the whole graph; known after the first run.
        self.degrees: dict[bool, np.ndarray] = {}
        self._kept: dict[Any, CSR] = {}

    @classmethod
    def of_csr(cls, grid: Grid, block: int, csr: CSR, device: Device = "cpu") -> Block:
        """A block of other arcs with the same numbering."""
        made = object.__new__(cls)
        made.numbering, made.device = Numbering(grid, block), device
        made.graph, made.unlike = Graph(csr, directed=True), False
        made.degrees, made._kept = {}, {}
        return made

    @cached_property
    def vertices(self) -> np.ndarray:
        """The vertex of each local number."""
        return self.numbering.vertices()

    @cached_property
    def resident(self) -> Graph:
        """The graph on the device."""
        return self.graph.to(self.device)

    @cached_property
    def resident_vertices(self) -> Any:
        """`vertices` on the device."""
        return to_device(self.vertices, self.device)

    def once(self, key: Any, make: Callable[[], CSR]) -> CSR:
        """The result of `make`, cached under `key`: some of the arcs in another layout."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    @property
    def nbytes(self) -> int:
        """Bytes of the arcs, including those by target once they exist."""
        return int(self.graph.nbytes)


def block_bytes(grid: Grid, block: int, arcs: int, weight: int, properties: int) -> int:
    """Predicted memory of a block while a program runs.

    ``weight``: bytes of a weight; 0 if there are none; ``properties``: bytes of a vertex's properties.
    """
    known = Numbering(grid, block).size
    ids = 4 if known < 1 << 31 else 8
    return 2 * arcs * (ids + weight) + known * (_OF_VERTEX + properties) + grid.size(block) * (_OF_OWN + 16)
