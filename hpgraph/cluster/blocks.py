"""A block of a graph: its arcs in local vertex numbers, in the form that the engine requires."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

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
    """Arcs of a row and a column of the grid, in local numbers; ``unlike``: different weights were merged unasked."""

    def __init__(
        self, grid: Grid, block: int, device: Device, sources: np.ndarray, targets: np.ndarray,
        weights: np.ndarray | None, duplicates: Duplicates | None = "min",
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
    def of_parts(
        cls, grid: Grid, block: int, device: Device, parts: list[Any], duplicates: Duplicates | None = "min"
    ) -> Self:
        """A block from concatenated lists of arcs."""
        columns: list[Any] = [None if c[0] is None else np.concatenate(c) for c in zip(*parts, strict=True)]
        return cls(grid, block, device, columns[0], columns[1], columns[2], duplicates)

    @classmethod
    def of_csr(cls, grid: Grid, block: int, device: Device, csr: CSR) -> "Block":
        """A block from arcs in local numbers, each once."""
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


def block_bytes(grid: Grid, block: int, arcs: int, weight: int, properties: int) -> int:
    """Predicted memory of a block while a program runs; `weight` and `properties` are bytes an arc and a vertex."""
    number = Numbering(grid, block)
    vertices = number.size * (_OF_VERTEX + properties) + grid.size(block) * (_OF_OWN + 16)
    return 2 * arcs * (number.dtype.itemsize + weight) + vertices
