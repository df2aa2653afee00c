"""Sources of the arcs of a graph on a cluster, from which blocks are loaded, also after a loss.

Each defines how to load the blocks that are `placed` on workers (`loadings`), and how a new client finds it (`table`).
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from distributed import Client

from hpgraph.cluster.blocks import Block
from hpgraph.cluster.checkpoints import load_block
from hpgraph.cluster.errors import ClusterError
from hpgraph.cluster.grid import Grid, Order
from hpgraph.containers.graph import Graph
from hpgraph.containers.row_blocks import row_blocks
from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.core.device import Device
from hpgraph.core.devices import even_ranges
from hpgraph.formats import Bitmask
from hpgraph.io.hpg_reader import GraphFile
from hpgraph.io.opening import in_pages

# A grid whose largest block has this many times the mean number of arcs is cut again, with vertices scattered.
UNEVEN = 1.25
# Names of saved blocks in the folder of a checkpoint.
_SAVED = re.compile(r"graph-[0-9a-f]{32}", re.ASCII)


# Loading of a block by a worker: its number, and ``make(grid, block, device, *arguments)``; arguments may be futures.
Loading = tuple[int, Callable[..., Block], tuple[Any, ...]]


class InMemory:
    """A graph in the client's memory, kept there as long as blocks may have to be loaded again."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def grid(self, rows: int, columns: int, order: str) -> tuple[Grid, np.ndarray]:
        """A grid of blocks of about equal size, and their numbers of arcs; "auto" scatters vertices if needed."""
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

    def loadings(self, client: Client, grid: Grid, placed: dict[int, str]) -> Iterator[Loading]:
        """Cut blocks, and send each to its worker."""
        csr = self.graph.out_csr
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
            for block in wanted:
                of_block = blocks == block
                parts = [sources[of_block].astype(grid.ids), targets[of_block].astype(grid.ids)]
                weights = None if csr.data is None else csr.data[arcs[of_block]]
                sent = client.scatter([*parts, weights], workers=[placed[block]], hash=False)
                yield block, Block, tuple(sent)

    def table(self, graph: str) -> dict[str, Any]:
        """No other process has the graph, so its blocks are saved."""
        return {"kind": "saved", "name": f"graph-{graph}"}


class Saved(NamedTuple):
    """Blocks in a checkpoint's folder."""

    path: str
    name: str

    def loadings(self, client: Client, grid: Grid, placed: dict[int, str]) -> Iterator[Loading]:
        """Each worker reads its own."""
        return ((block, load_block, tuple(self)) for block in placed)

    def table(self, graph: str) -> dict[str, Any]:
        """Their folder."""
        return {"kind": "saved", "name": self.name}


class File(NamedTuple):
    """An ``.hpg`` file that all workers can read under the same path, and the `checksum_of` it."""

    path: str
    checksum: int

    def loadings(self, client: Client, grid: Grid, placed: dict[int, str]) -> Iterator[Loading]:
        """Each worker reads the pages with arcs of its blocks."""
        return ((block, _of_pages, tuple(self)) for block in placed)

    def table(self, graph: str) -> dict[str, Any]:
        """Its path and checksum."""
        return {"kind": "file", **self._asdict()}


def checksum_of(file: GraphFile) -> int:
    """The checksum of a file's header, its last four bytes; the header contains those of the whole file."""
    return int.from_bytes(file.header.to_bytes()[-4:], "little")


def _of_pages(grid: Grid, block: int, device: Device, path: str, checksum: int) -> Block:
    """A block of an ``.hpg`` file."""
    file = GraphFile(Path(path))
    streamed = in_pages(file, StreamedGraph)
    if checksum_of(file) != checksum:
        raise ClusterError(f"{path} holds another graph than when it was opened: keep it, or call Graph.open anew")
    row = grid.row_of(block)
    begin, end = grid.bounds[row[0]], grid.bounds[row[-1] + 1]
    rows = Bitmask.from_indices(grid.order.vertices(np.arange(begin, end)), grid.n)
    none = np.empty(0, grid.ids)
    parts: list[tuple[Any, ...]] = [(none, none, None if streamed.dtype is None else np.empty(0, streamed.dtype))]
    for found in row_blocks(streamed, weighted=True, rows=rows):
        targets = grid.order.positions(found.csr.indices)
        is_own = grid.owner(targets) % grid.columns == block % grid.columns
        sources = grid.order.positions(found.sources[is_own])
        weights = None if found.csr.data is None else found.csr.data[is_own]
        parts.append((sources.astype(grid.ids), targets[is_own].astype(grid.ids), weights))
    return Block.of_parts(grid, block, device, parts)


def source_of(checkpoint: str, table: dict[str, Any]) -> File | Saved:
    """The source that the table of a checkpoint names."""
    if table["kind"] == "file":
        return File(str(table["path"]), int(table["checksum"]))
    if not _SAVED.fullmatch(table["name"]):
        raise ValueError(f"{table['name']!r} is no name of saved blocks")
    return Saved(checkpoint, table["name"])
