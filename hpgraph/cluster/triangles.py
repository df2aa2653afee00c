"""Triangles over a grid of blocks.

After A. S. Tom, G. Karypis, "A 2D parallel triangle counting algorithm for distributed-memory architectures", ICPP'19.
Each edge becomes one arc, from lower to higher degree. A triangle u → w → v, u → v has its three arcs in three blocks:
that of u → w is in the row of the block of u → v, that of w → v in its column. Each block counts the triangles that its
own arcs close, in a stage for the middles w of each column of the grid. Blocks start with different columns, so that no
block serves all others at once.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hpgraph.cluster.blocks import Block
from hpgraph.cluster.compiling import compiling_once
from hpgraph.cluster.exchange import Content, Exchange, degrees_of
from hpgraph.cluster.grid import Grid
from hpgraph.cluster.job import BlockResult, Job, Share
from hpgraph.cluster.mesh import Mesh
from hpgraph.cluster.messages import ALL, ARCS, Header, MessageError, packed
from hpgraph.core.work_clock import now
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.runtime.direction import PULL
from hpgraph.kernels.structure.cpu_block_triangles import Closing, Middles, count_between

# Returns the arrays that receive a message.
_Receiver = Callable[[Header], list[np.ndarray]]


class TriangleRun:
    """The triangle count of one block."""

    def __init__(self, job: Job, block: Block, share: Share, mesh: Mesh) -> None:
        self.job, self.block, self.mesh = job, block, mesh
        self.numbering = number = block.numbering
        self.grid = grid = number.grid
        self.row, self.column = divmod(number.block, grid.columns)
        # Tails are the row's vertices, heads the column's, in the order of ranges.
        self.tails, self.heads = _bounds(grid, grid.row_of(number.block)), _bounds(grid, grid.column_of(number.block))

    def go(self, restored: Any, save: Any, report: Callable[[int, int], None]) -> BlockResult:
        """Run all stages; the result's ``count``: the triangles at each own vertex."""
        self._direct(self._degrees())
        begun, rows = self.mesh.sent, []
        tail, head = np.zeros(self.tails[-1], np.int64), np.zeros(self.heads[-1], np.int64)
        for stage in range(self.grid.columns):
            began, sent = now(), self.mesh.sent
            middles = self._fetched(stage)
            closing = Closing(self.closing.indptr, self.closing.indices)
            with compiling_once("triangles", "count"):
                at_tail, at_head, at_middle = count_between(middles, closing, len(head))
            tail += at_tail
            head += at_head
            head += self._returned(stage, at_middle)
            examined = len(middles.tails) + len(middles.heads)
            rows.append((PULL, self.grid.n, examined, now() - began, self.mesh.sent - sent, 0, 0))
            report(stage + 1, self.grid.n)
        count = self._folded(tail, head)
        table = np.array(rows, np.int64)
        return BlockResult({"count": count}, np.empty(0, np.uint32), {}, table, begun)

    def _degrees(self) -> np.ndarray:
        """Degrees of all vertices with local numbers."""
        number = self.numbering
        degree = np.zeros(number.size, np.int64)
        degree[number.own] = degrees_of(self.block, self.mesh, False, self.job.counted)
        for backwards in (False, True):
            Exchange(number, self.mesh, backwards).spread(0, Content(None, [degree[number.own]]), [degree])
        return degree

    def _direct(self, degree: np.ndarray) -> None:
        """Keep of each edge the arc to the vertex of higher degree; heads are ranks from here on."""
        number, csr = self.numbering, self.block.graph.out_csr
        ranges = map(number.range, self.grid.column_of(number.block))
        heads = np.concatenate([np.arange(rows.start, rows.stop) for rows in ranges])
        key = _keys(degree, self.block.vertices, self.grid.n)
        self.degree, self.key = degree[heads], np.sort(key[heads])
        #: The head of each rank.
        self.order = np.argsort(key[heads])
        rank = np.empty(number.size, self.grid.ids)
        rank[heads[self.order]] = np.arange(len(heads), dtype=self.grid.ids)
        counts, kept = [np.zeros(1, np.int64)], [np.empty(0, self.grid.ids)]
        for member in self.grid.row_of(number.block):
            rows = number.range(member)
            begin, end = csr.indptr[rows.start], csr.indptr[rows.stop]
            lengths, targets = np.diff(csr.indptr[rows.start : rows.stop + 1]), csr.indices[begin:end]
            up = np.repeat(key[rows], lengths) < key[targets]
            counts.append(np.bincount(np.repeat(np.arange(len(lengths)), lengths)[up], minlength=len(lengths)))
            kept.append(rank[targets[up]])
        indptr = np.cumsum(np.concatenate(counts))
        shape = int(self.tails[-1]), int(self.heads[-1])
        transpose = kernels("cpu").transpose
        #: Tails of the in-arcs of each head; heads of the out-arcs of each tail, ascending.
        self.reaching = transpose(CSR(shape, indptr, np.concatenate(kept), validate=False))
        self.closing = transpose(self.reaching)

    def _partners(self, stage: int) -> tuple[int, int]:
        """The column of the middles of a stage, and the column whose block has this one's vertices as middles."""
        turn = self.row + stage
        return (self.column + turn) % self.grid.columns, (self.column - turn) % self.grid.columns

    def _fetched(self, stage: int) -> Middles:
        """The middles of a stage, with their in-arcs and out-arcs."""
        grid, columns, step = self.grid, self.grid.columns, 2 * stage
        column, asking = self._partners(stage)
        block = self.row * columns
        blocks = grid.column_of(column)
        n_middles = sum(grid.size(b) for b in blocks)
        received: dict[int, list[np.ndarray]] = {}
        outgoing: dict[int, list[Any]] = {}
        receivers: dict[int, _Receiver] = {}
        own_rows = [self.degree, self.reaching.indptr, self.reaching.indices]
        if column == self.column:
            received[block + column] = own_rows
        else:
            outgoing[block + asking] = packed(ARCS, ALL, step, len(self.degree), own_rows)
            receivers[block + column] = self._receiver(received, block + column, step, [n_middles, n_middles + 1])
        for row, peer in enumerate(grid.column_of(self.column)):
            wanted = (self.column + row + stage) % columns
            begin, end = self.tails[wanted], self.tails[wanted + 1]
            indptr = self.closing.indptr[begin : end + 1]
            rows = [indptr - indptr[0], self.closing.indices[indptr[0] : indptr[-1]]]
            if row == self.row:
                received[-1] = rows
            else:
                outgoing[peer] = packed(ARCS, ALL, step, len(rows[0]) - 1, rows)
                receivers[peer] = self._receiver(received, peer, step, [grid.size(row * columns + column) + 1])
        self.mesh.exchange(outgoing, receivers)
        degree, begin, tails = received.pop(block + column)
        reaching = CSR((n_middles, int(self.tails[-1])), begin, tails, copy=False)
        parts = [received[-1 if row == self.row else peer] for row, peer in enumerate(grid.column_of(self.column))]
        first = np.cumsum(np.concatenate([[0], *(np.diff(indptr) for indptr, _ in parts)]))
        heads = np.concatenate([heads_of_part for _, heads_of_part in parts])
        leaving = CSR((n_middles, int(self.heads[-1])), first, heads, copy=False)
        places = np.concatenate([np.arange(grid.bounds[b], grid.bounds[b + 1]) for b in blocks])
        key = _keys(degree, grid.order.vertices(places), grid.n)
        order = np.argsort(key)
        above = np.searchsorted(self.key, key[order], side="right")
        return Middles(reaching.indptr, reaching.indices, order, leaving.indptr, leaving.indices, above)

    def _returned(self, stage: int, middle: np.ndarray) -> np.ndarray:
        """Send the counts at the middles to the block that has them as heads; receive those at this block's heads."""
        column, asking = self._partners(stage)
        if column == self.column:
            return middle
        received: dict[int, list[np.ndarray]] = {}
        block, step = self.row * self.grid.columns, 2 * stage + 1
        receiver = self._receiver(received, block + asking, step, [int(self.heads[-1])], arcs=False)
        self.mesh.exchange({block + column: packed(ARCS, ALL, step, len(middle), [middle])}, {block + asking: receiver})
        return received[block + asking][0]

    def _receiver(
        self, received: dict[int, list[np.ndarray]], peer: int, step: int, lengths: list[int], *, arcs: bool = True
    ) -> _Receiver:
        """Accepts int64 arrays of these lengths and, in a message of arcs, ids."""

        def take(header: Header) -> list[np.ndarray]:
            wanted: list[tuple[np.dtype, int]] = [(np.dtype(np.int64), length) for length in lengths]
            if arcs and len(header.arrays) == len(wanted) + 1:
                wanted.append((self.grid.ids, min(header.arrays[-1][1], self.job.arcs)))
            if (header.kind, header.step, list(header.arrays)) != (ARCS, step, wanted):
                raise MessageError(f"arrays {header.arrays} of step {header.step}; {wanted} of {step} were expected")
            received[peer] = [np.empty(count, dtype) for dtype, count in wanted]
            return received[peer]

        return take

    def _folded(self, tail: np.ndarray, head: np.ndarray) -> np.ndarray:
        """Counts at own vertices over all blocks: at tails along rows, at heads along columns."""
        number, step = self.numbering, 2 * self.grid.columns
        placed = np.empty_like(head)
        placed[self.order] = head
        total = np.zeros(self.grid.size(number.block), np.int64)
        for backwards, found, bounds, blocks in (
            (False, placed, self.heads, self.grid.column_of(number.block)),
            (True, tail, self.tails, self.grid.row_of(number.block)),
        ):
            parts = {b: found[begin:end] for b, begin, end in zip(blocks, bounds, bounds[1:], strict=False)}
            total += parts.pop(number.block)
            outgoing = {b: Content(None, [part]) for b, part in parts.items()}
            for content in Exchange(number, self.mesh, backwards).fold(step, outgoing, total.dtype).values():
                total += content.values[0]
        return total


def _bounds(grid: Grid, blocks: Iterable[int]) -> np.ndarray:
    return np.cumsum([0, *(grid.size(block) for block in blocks)])


def _keys(degree: np.ndarray, vertices: np.ndarray, n: int) -> np.ndarray:
    """Keys in the order of degrees, then of vertices; degrees are capped if both do not fit."""
    return np.minimum(degree, ((1 << 63) - 1) // max(n, 1) - 1) * n + vertices
