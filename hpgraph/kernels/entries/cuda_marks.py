"""Entries of a matrix marked in a bitmap on the GPU, and the matrix of those: see marks.cuh."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hpgraph.core.c_types import ID_TYPES, WORD_TYPES
from hpgraph.core.device import cupy
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.structs import struct

SOURCE = "marks.cuh"
THREADS = 256
# Entries of a tile: as in tiles.cuh.
TILE = 8 * THREADS


@dataclass(frozen=True)
class Marks:
    """Marked entries."""

    words: Any  # uint32: a bit for each entry
    before: Any  # int64: marks before each word; the last element counts all
    entries: int  # marked or not

    @classmethod
    def empty(cls, entries: int) -> Self:
        """Empty marks; a kernel with `blocks` blocks must call ``mark_tile`` on them, and then `add_up`."""
        words = entries // 32 + 1
        return cls(cupy.empty(words, np.uint32), cupy.empty(words + 1, np.int64), entries)

    @property
    def blocks(self) -> int:
        """Blocks of a marking kernel."""
        return self.entries // TILE + 1

    @property
    def argument(self) -> Any:
        """``struct Marks``, by value."""
        return struct(self.words, self.before)

    def add_up(self) -> Self:
        """Turn the counts of words into prefix sums."""
        return type(self)(self.words, cupy.cumsum(self.before), self.entries)

    def count(self) -> int:
        """Number of marked entries; waits for the device."""
        return int(self.before[-1])


def _kernel(name: str) -> Any:
    return load(SOURCE, names=(name,), title="marked entries").function(name)


def mark_true(wanted: Any) -> Marks:
    """Marks of the entries for which an array of bool, shape (nnz,), is true."""
    name, marks = "hpgraph::mark_true", Marks.empty(len(wanted))
    _kernel(name)((marks.blocks,), (THREADS,), (wanted, np.int64(marks.entries), marks.argument))
    return marks.add_up()


def keep_marked(csr: CSR, marks: Marks) -> CSR:
    """The marked entries of a matrix, in order; itself if all are. Waits for the device, for their number."""
    kept = marks.count()
    if kept == csr.nnz:
        return csr
    width = 1 if csr.data is None else csr.data.itemsize
    name = f"hpgraph::keep_marked<{ID_TYPES[csr.indices.itemsize]}, {WORD_TYPES[width]}>"
    indptr, indices = cupy.empty(len(csr.indptr), np.int64), cupy.empty(kept, csr.indices.dtype)
    data = None if csr.data is None else cupy.empty(kept, csr.data.dtype)
    blocks = -(-max(csr.nnz, len(csr.indptr)) // TILE)
    rows, entries = np.int64(csr.shape[0]), np.int64(csr.nnz)
    arguments = csr.indptr, rows, csr.indices, csr.data, entries, marks.argument, indptr, indices, data
    _kernel(name)((blocks,), (THREADS,), arguments)
    return CSR(csr.shape, indptr, indices, data, validate=False)


def keep_entries(csr: CSR, flags: Any) -> CSR:
    """`hpgraph.kernels.entries.cpu.keep_entries` on the GPU; waits for the device, for the number of entries kept."""
    return keep_marked(csr, mark_true(cupy.ascontiguousarray(flags)))
