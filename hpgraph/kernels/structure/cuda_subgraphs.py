"""Subgraph isomorphism on the GPU, by joins: `subgraphs.cuh`.

A table of partial mappings is extended by one vertex of the pattern at a time: candidates are counted and tested, and
those that fit are written at places by a prefix sum. Tables of too many candidates are divided, and each part is
extended to the end before the next: memory is bounded, and mappings come in the order of the CPU's search.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from hpgraph.core.device import cupy, free_memory, prefix_sum
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.structure import Rows, Steps

KERNELS = KernelSet("subgraphs.cuh", "subgraphs", {"<{Index}>": "find_candidates test_candidates extend_rows"})
# Candidates of a block, and words of their mask.
_TILE, _WORDS = 2048, 64
# Maximum number of candidates of a part, enough to fill a GPU, and minimum.
_MAX_PART, _MIN_PART = 1 << 26, 1 << 16


def count_mappings(rows: Rows, steps: Steps) -> int:
    """`hpgraph.kernels.structure.Mappings.count_mappings` on the GPU; waits for it."""
    search = _Search(rows, steps)
    last = len(search.joins) - 1
    return sum(search.count(part) for table in search.mappings(last) for part in search.parts(table, last))


def list_mappings(rows: Rows, steps: Steps, limit: int) -> Any:
    """`hpgraph.kernels.structure.Mappings.list_mappings` on the GPU; waits for it."""
    search = _Search(rows, steps)
    found, left = [np.empty((0, len(search.joins)), np.int64)], limit
    for table in search.mappings(len(search.joins)) if limit else ():
        found.append(cupy.asnumpy(table[:, :left]).T.astype(np.int64))
        left -= len(found[-1])
        if not left:
            break
    return np.concatenate(found)


class _Search:
    """A graph and the steps of a pattern on the device. Tables have a row for each step, a column for each mapping."""

    def __init__(self, rows: Rows, steps: Steps) -> None:
        self.rows, self.distinct = rows, np.bool_(steps.distinct)
        begins = steps.begin.tolist()
        columns = [cupy.asarray(column) for column in (steps.other, steps.outward, steps.is_arc)]
        self.joins = [
            (*(column[begin:end] for column in columns), np.int64(end - begin)) for begin, end in pairwise(begins)
        ]
        self.ids = rows.indices.dtype
        self.kernels = KERNELS.of(Index=self.ids)
        # One table per step; each may be as long as the candidates of a part.
        mapping = len(self.joins) * (len(self.joins) * self.ids.itemsize + 32)
        self.part = min(max(free_memory("cuda") // (2 * mapping), _MIN_PART), _MAX_PART)

    def mappings(self, last: int, table: Any = None, step: int = 0) -> Iterator[Any]:
        """Tables of the mappings of the steps before `last`, one part after the other."""
        table = cupy.empty((0, 1), self.ids) if table is None else table
        if step == last:
            yield table
            return
        for part in self.parts(table, step):
            extended = self.extended(part)
            if extended.shape[1]:
                yield from self.mappings(last, extended, step + 1)

    def parts(self, table: Any, step: int) -> Iterator[tuple[Any, ...]]:
        """Parts of a table, and their candidates: the step, the part, where those begin, and running sums of counts."""
        rows, width, n = self.rows, table.shape[1], np.int64(len(self.rows.allowed))
        begin, length = cupy.empty((2, width), np.int64)
        sizes = np.int64(width), np.int64(width)
        self.kernels.each(
            "find_candidates", width, rows.indptr, rows.in_indptr, n, *self.joins[step], table, *sizes, begin, length
        )
        starts = prefix_sum(length)
        total = int(starts[-1])
        inner = cupy.searchsorted(starts, cupy.arange(self.part, total, self.part)) if total > self.part else starts[:0]
        cuts = np.unique(np.concatenate(([0], cupy.asnumpy(inner), [width])))
        for low, high in pairwise(cuts):
            chunk = slice(int(low), int(high))
            yield step, table[:, chunk], width, begin[chunk], starts[chunk.start : chunk.stop + 1] - starts[chunk.start]

    def tested(self, part: tuple[Any, ...], mask: bool) -> tuple[int, Any, Any]:
        """Number of candidates, a bit for each that fits, and the number of these in each tile."""
        (step, table, width, begin, starts), rows = part, self.rows
        candidates = int(starts[-1])
        tiles = -(-candidates // _TILE)
        bits, sums = cupy.empty(tiles * _WORDS, np.uint32) if mask else None, cupy.zeros(max(tiles, 1), np.int64)
        if tiles:
            self.kernels.launch(
                "test_candidates", tiles, *rows, *self.joins[step], np.int64(step), self.distinct, table,
                np.int64(width), np.int64(len(begin)), begin, starts, np.int64(candidates), bits, sums,
            )  # fmt: skip
        return candidates, bits, sums

    def count(self, part: tuple[Any, ...]) -> int:
        """Number of fitting candidates of a part."""
        return int(self.tested(part, False)[2].sum())

    def extended(self, part: tuple[Any, ...]) -> Any:
        """The table of a part, extended by one step."""
        step, table, width, begin, starts = part
        candidates, bits, sums = self.tested(part, True)
        ends = cupy.cumsum(sums)
        found = int(ends[-1])
        made = cupy.empty((step + 1, found), self.ids)
        if found:
            self.kernels.launch(
                "extend_rows", len(sums), self.rows.indices, self.rows.in_indices, np.int64(step), table,
                np.int64(width), np.int64(len(begin)), begin, starts, np.int64(candidates), bits, ends - sums, made,
                np.int64(found),
            )  # fmt: skip
        return made
