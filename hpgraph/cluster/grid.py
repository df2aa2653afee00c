"""A graph's arcs as a grid of blocks, and its vertices as ranges.

After A. Buluç, K. Madduri, "Parallel breadth-first search on distributed memory systems", SC'11. Vertices are ordered
and cut into r × c ranges, one for each block. Block (i, j) holds the arcs from the c ranges of the i-th row of the grid
to the r ranges of its j-th column. Values of sources travel along rows, to c - 1 others, messages along columns, to r -
1.

A block has local vertex numbers: its column's ranges one after another, then those of its row. Each range begins at a
word of a bitmask, so that bits are cut and sent without shifting.
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np

from hpgraph.formats import index_dtype

WORD = 64


class Order(NamedTuple):
    """Vertices' own order, or position ``v * factor mod n``, which scatters hubs and needs no memory."""

    n: int
    factor: int = 1

    @classmethod
    def scattered(cls, n: int) -> Self:
        """The order that scatters n vertices."""
        factor = max(int(n * 0.6180339887498949), 1)
        while math.gcd(factor, max(n, 1)) != 1:
            factor += 1
        return cls(n, factor)

    def positions(self, vertices: np.ndarray) -> np.ndarray:
        """Positions of vertices."""
        return _times(vertices, self.factor, self.n)

    def vertices(self, positions: np.ndarray) -> np.ndarray:
        """The vertices at positions: the inverse of `positions`."""
        return _times(positions, 1 if self.factor == 1 else pow(self.factor, -1, self.n), self.n)


def _times(numbers: np.ndarray, factor: int, n: int) -> np.ndarray:
    """``numbers * factor mod n`` of numbers below n, without a product beyond 64 bits."""
    numbers = np.asarray(numbers, np.int64)
    if factor == 1:
        return numbers
    bits = max(62 - n.bit_length(), 1)
    product = np.zeros_like(numbers)
    for shift in range((factor.bit_length() - 1) // bits * bits, -1, -bits):
        product = ((product << bits) % n + numbers * (factor >> shift & ((1 << bits) - 1)) % n) % n
    return product


def shape_for(blocks: int) -> tuple[int, int]:
    """Rows and columns of the squarest grid of this many blocks; no more rows than columns."""
    rows = next(r for r in range(math.isqrt(blocks), 0, -1) if blocks % r == 0)
    return rows, blocks // rows


class Grid:
    """The vertices and arcs of each block: block b owns the positions ``bounds[b]`` to ``bounds[b + 1]``."""

    def __init__(self, rows: int, columns: int, bounds: np.ndarray, order: Order) -> None:
        self.rows, self.columns, self.blocks = rows, columns, rows * columns
        self.bounds, self.order = np.asarray(bounds, np.int64), order
        #: Number of vertices, and type of their ids.
        self.n, self.ids = order.n, index_dtype(order.n)

    def size(self, block: int) -> int:
        """Number of vertices that a block owns."""
        return int(self.bounds[block + 1] - self.bounds[block])

    def row_of(self, block: int) -> list[int]:
        """The blocks of the same row, including itself: they have the same sources."""
        first = block // self.columns * self.columns
        return list(range(first, first + self.columns))

    def column_of(self, block: int) -> list[int]:
        """The blocks of the same column, including itself: they have the same targets."""
        return list(range(block % self.columns, self.blocks, self.columns))

    def block_of(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The blocks of arcs, whose ends are given by position."""
        owner = self.owner
        return owner(sources) // self.columns * self.columns + owner(targets) % self.columns

    def owner(self, positions: np.ndarray) -> np.ndarray:
        """The blocks that own the vertices at positions."""
        return np.searchsorted(self.bounds, positions, side="right") - 1

    def table(self) -> dict[str, Any]:
        """The grid as plain numbers, for a file."""
        return {
            "rows": self.rows, "columns": self.columns, "bounds": self.bounds.tolist(), "n": self.order.n,
            "factor": self.order.factor,
        }  # fmt: skip

    @classmethod
    def of_table(cls, table: dict[str, Any]) -> Self:
        """The grid that `table` describes."""
        rows, columns, n, factor = (int(table[name]) for name in ("rows", "columns", "n", "factor"))
        bounds = np.array(table["bounds"], np.int64)
        if rows < 1 or columns < 1 or bounds.shape != (rows * columns + 1,):
            raise ValueError(f"{rows} x {columns} blocks with bounds of shape {bounds.shape}")
        if bounds[0] != 0 or bounds[-1] != n or (np.diff(bounds) < 0).any() or math.gcd(factor, max(n, 1)) != 1:
            raise ValueError(f"bounds that do not rise from 0 to {n}, or a factor, {factor}, that divides it")
        return cls(rows, columns, bounds, Order(n, factor))


class Numbering:
    """Local vertex numbers of a block: `first` of each block of its column and row; some of `size` have no vertex."""

    def __init__(self, grid: Grid, block: int) -> None:
        self.grid, self.block = grid, block
        column, row = grid.column_of(block), grid.row_of(block)
        self.first: dict[int, int] = {}
        self.size = 0
        for member in [*column, *(other for other in row if other != block)]:
            self.first[member] = self.size
            self.size += -(-grid.size(member) // WORD) * WORD
        # Kernels do not accept empty arrays.
        self.size = max(self.size, WORD)
        #: The numbers of its own vertices, and their type.
        self.own, self.dtype = self.range(block), index_dtype(self.size)

    def range(self, member: int) -> slice:
        """The numbers of the vertices that a block of its column or row owns."""
        return slice(self.first[member], self.first[member] + self.grid.size(member))

    def words(self, member: int) -> slice:
        """Their words in a bitmask."""
        first = self.first[member] // WORD
        return slice(first, first + -(-self.grid.size(member) // WORD))

    def vertices(self) -> np.ndarray:
        """The vertex of each number; -1 if none: int64 array."""
        found = np.full(self.size, -1, np.int64)
        bounds = self.grid.bounds
        for member in self.first:
            found[self.range(member)] = self.grid.order.vertices(np.arange(bounds[member], bounds[member + 1]))
        return found

    def numbers(self, positions: np.ndarray) -> np.ndarray:
        """The numbers of vertices of its column or row, given by position."""
        shift = np.zeros(self.grid.blocks, np.int64)
        for member, first in self.first.items():
            shift[member] = first - self.grid.bounds[member]
        return (positions + shift[self.grid.owner(positions)]).astype(self.dtype)
