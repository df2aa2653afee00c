"""Sources of the arcs of a graph on a cluster, from which blocks are loaded, also after a loss."""

from __future__ import annotations

import re
from typing import Any, Protocol

import numpy as np
from distributed import Client, Future

from hpgraph.cluster import worker
from hpgraph.cluster.grid import Grid, Order
from hpgraph.containers.graph import Graph
from hpgraph.core.device import Device
from hpgraph.core.devices import even_ranges

# A grid whose largest block has this many times the mean number of arcs is cut again, with vertices scattered.
UNEVEN = 1.25
# Names of saved blocks in the folder of a checkpoint.
_SAVED = re.compile(r"graph-[0-9a-f]{32}", re.ASCII)


class Source(Protocol):
    """A source of a graph on a cluster."""

    def load(
        self, client: Client, graph: str, grid: Grid, placed: dict[int, str], device: Device
    ) -> list[Future]:
        """Load blocks on workers; futures of their numbers of arcs."""

    def table(self, graph: str) -> dict[str, Any]:
        """Its description in a checkpoint's table, by which another client finds it."""


class InMemory:
    """A graph in the client's memory, kept there as long as blocks may have to be loaded again."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def grid(self, rows: int, columns: int, order: str) -> tuple[Grid, np.ndarray]:
        """A grid of blocks of about equal size, and their numbers of arcs.

        ``order``: whether vertices keep their order, which suits graphs whose arcs are short in it; "auto" scatters
        them if blocks would be uneven.
        """
        n = self.graph.n_vertices
        made: list[tuple[int, int, Grid, np.ndarray]] = []
        for name in ("given", "scattered"):
            if order in ("auto", name):
                grid = self._cut(rows, columns, Order(n) if name == "given" else Order.scattered(n))
                arcs = self._arcs(grid)
                if arcs.max(initial=0) <= UNEVEN * max(arcs.mean(), 1):
                    return grid, arcs
                made.append((int(arcs.max()), len(made), grid, arcs))
        return min(made)[2:]

    def _cut(self, rows: int, columns: int, order: Order) -> Grid:
        graph, blocks = self.graph, rows * columns
        arcs = np.zeros(graph.n_vertices + 1, np.int64)
        arcs[1 + order.positions(np.arange(graph.n_vertices))] = graph.out_degree + graph.in_degree + 1
        return Grid(rows, columns, even_ranges(np.cumsum(arcs), blocks, multiple=1), order)

    def _arcs(self, grid: Grid) -> np.ndarray:
        """Arcs of each block."""
        columns = grid.columns
        owner = grid.owner(grid.order.positions(np.arange(self.graph.n_vertices)))
        csr = self.graph.out_csr
        source = np.repeat((owner // columns * columns).astype(np.int32), csr.degrees)
        return np.bincount(source + (owner % columns).astype(np.int32)[csr.indices], minlength=grid.blocks)

    def load(
        self, client: Client, graph: str, grid: Grid, placed: dict[int, str], device: Device
    ) -> list[Future]:
        """Cut blocks, and send each to its worker."""
        futures, csr = [], self.graph.out_csr
        for first in range(0, grid.blocks, grid.columns):
            wanted = [block for block in range(first, first + grid.columns) if block in placed]
            if not wanted:
                continue
            # The arcs of one row of the grid at a time.
            begin, end = grid.bounds[first], grid.bounds[first + grid.columns]
            vertices = grid.order.vertices(np.arange(begin, end))
            counts = csr.degrees[vertices]
            shift = np.repeat(csr.indptr[vertices] - (np.cumsum(counts) - counts), counts)
            arcs = np.arange(int(counts.sum())) + shift
            sources = np.repeat(np.arange(begin, end), counts)
            targets = grid.order.positions(csr.indices[arcs])
            blocks = grid.block_of(sources, targets)
            ids = np.int32 if grid.n < 1 << 31 else np.int64
            for block in wanted:
                some = blocks == block
                parts = [sources[some].astype(ids), targets[some].astype(ids)]
                weights = None if csr.data is None else csr.data[arcs[some]]
                sent = client.scatter([*parts, weights], workers=[placed[block]], hash=False)
                futures.append(
                    client.submit(
                        worker.place, graph, grid.table(), block, device, *sent, workers=[placed[block]], pure=False
                    )
                )
        return futures

    def table(self, graph: str) -> dict[str, Any]:
        """No other process has the graph, so its blocks are saved."""
        return {"kind": "saved", "name": f"graph-{graph}"}


class Saved:
    """Blocks in a checkpoint's folder."""

    def __init__(self, path: str, name: str) -> None:
        self.path, self.name = path, name

    def load(
        self, client: Client, graph: str, grid: Grid, placed: dict[int, str], device: Device
    ) -> list[Future]:
        """Let each worker read its own."""
        table = grid.table()
        return [
            client.submit(
                worker.place_saved, graph, table, block, device, self.path, self.name, workers=[address], pure=False
            )
            for block, address in placed.items()
        ]

    def table(self, graph: str) -> dict[str, Any]:
        """Their folder."""
        return {"kind": "saved", "name": self.name}


class File:
    """An ``.hpg`` file that all workers reach under the same path."""

    def __init__(self, path: str) -> None:
        self.path = path

    def load(
        self, client: Client, graph: str, grid: Grid, placed: dict[int, str], device: Device
    ) -> list[Future]:
        """Let each worker read the pages with arcs of its blocks."""
        return [
            client.submit(
                worker.place_pages, graph, grid.table(), block, device, self.path, workers=[address], pure=False
            )
            for block, address in placed.items()
        ]

    def table(self, graph: str) -> dict[str, Any]:
        """Its path."""
        return {"kind": "file", "path": self.path}


def source_of(checkpoint: str, table: dict[str, Any]) -> Source:
    """The source that the table of a checkpoint names."""
    if table["kind"] == "file":
        return File(str(table["path"]))
    if not _SAVED.fullmatch(table["name"]):
        raise ValueError(f"{table['name']!r} is no name of saved blocks")
    return Saved(checkpoint, table["name"])
