"""A matrix by blocks of columns, as column_blocks.cuh reads it; built on the device once for each matrix.

A product that gathers from a long vector is bound by the rate of random reads from L2, in any format: 147 × 10⁹ sectors
a second on an H200. Here the columns are divided into blocks whose part of the vector fits the shared memory of a
multiprocessor (propagation blocking, see column_blocks.cuh), hottest columns first if that makes fewer partial results;
all else is read and written sequentially.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.core import reductions
from hpgraph.core.device import array_module, check_memory
from hpgraph.core.errors import DeviceMemoryError
from hpgraph.formats import CSR, RowFormat, occurrences
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.spmv.layout_cost import RATES, Shape, blocks_seconds

# As in column_blocks.cuh and spmv.cuh.
STRETCH, GROUP, BLOCK = 1024, 1024, 256
# A layout is built only if its predicted time is below this share of the fastest other method's: building takes as long
# as 20 to 60 products.
GAIN = 0.95
# Entries of a matrix: below MIN launches dominate, and below MAX ids fit 31 bits. More than MAX_BLOCKS blocks would
# leave too little shared memory for their counters.
MIN, MAX, MAX_BLOCKS = 1 << 23, 1 << 31, 1024

# A group of rows with more than HEAVY times the mean of partial results is summed by a whole thread block, which has
# eight warps, instead of one warp.
HEAVY = 2
# Cost of loading a block's part of the vector, in stretches of one multiprocessor. On an H200 it is 60 to 130 if the
# vector is in L2 or read sequentially, else 140 to 330. If it is too low, the multiprocessors that load most blocks
# finish last; if too high, these are idle.
LOADING = 200
# Hot columns: one entry in SAMPLED is read, and the hottest columns of one block must hold the share HOT of them.
SAMPLED, HOT = 64, 0.1
# To predict a product's time, so many stretches of so many adjacent entries are read.
STRETCHES, LOOK = 1024, 4096


@dataclass(frozen=True)
class Blocked:
    """Arcs by block of columns, and within it by row; arrays of the device."""

    arguments: Any  # ``struct Blocks`` of column_blocks.cuh
    # uint16 (stretches * STRETCH,): column within the block; the highest bit marks a row's last arc in the block
    arcs: Any
    weights: Any  # of the same length, or None
    first: Any  # uint32 (stretches + 1,): partial results before each stretch
    block: Any  # uint32 (stretches,)
    order: Any  # uint32: columns in the order of the blocks; None for their own
    share: Any  # uint32 (multiprocessors + 1,): first stretch of each thread block
    row: Any  # uint16 (partials,): row of each partial result within its group of GROUP rows
    bounds: Any  # uint32 (groups + 1, blocks): first partial result of each group in each block
    group_order: Any  # uint32 (groups,): groups, those summed by whole thread blocks first
    groups: Any  # ``struct Groups`` of column_blocks.cuh
    partials: int
    per_block: int  # columns of a block
    adders: int  # thread blocks of the second phase

    @property
    def nbytes(self) -> int:
        """Bytes of the layout; a product also takes `partials` values."""
        arrays = (
            self.arcs, self.weights, self.first, self.block, self.order, self.share, self.row, self.bounds,
            self.group_order,
        )  # fmt: skip
        return sum(array.nbytes for array in arrays if array is not None)


def pays(seconds: float, directly: float) -> bool:
    """Whether a product by blocks is faster than others, by the margin that building the layout requires."""
    return seconds < GAIN * directly


def worth_a_look(rows: RowFormat) -> bool:
    """Whether the size of a matrix suits products by blocks."""
    return MIN <= rows.nnz < MAX and max(rows.shape) < MAX


def layout_of(csr: CSR, found: Survey) -> Blocked:
    """The matrix by blocks of columns, made once: the first call waits for the device, and takes 32 bytes an entry."""
    if found.layout is None:
        found.layout = _place(csr, found)
        found.rank = None
    return found.layout


@dataclass
class Survey:
    """Survey of a matrix for blocks of columns, and the layout once it is built."""

    pairs: int  # partial results; an estimate
    seconds: float  # of a product, as predicted
    pays: bool  # whether products should go by blocks
    n_blocks: int  # blocks of columns,
    shift: int  # of 2**shift columns each
    hottest: float  # share of the entries in the first block
    order: Any  # uint32: columns in the order of the blocks, or None,
    rank: Any  # and the place of each column there
    layout: Blocked | None = None


def survey(csr: CSR, shape: Shape, directly: float) -> Survey | None:
    """Survey a matrix for blocks of columns, once for each size of vectors; None if it or memory does not suit.

    ``directly``: predicted seconds of the fastest other method.
    """
    if not worth_a_look(csr):
        return None
    known = _surveys(csr)
    key = shape.operand > 4, shape.result
    if key not in known:
        known[key] = _survey(csr, shape, directly)
    return known[key]


def known_survey(csr: CSR, operand: int, result: int) -> Survey | None:
    """The result of `survey` for vectors of these sizes if it has been called, else None."""
    return _surveys(csr).get((operand > 4, result))


@attached
def _surveys(csr: CSR) -> dict[tuple[bool, int], Survey | None]:
    return {}


def _survey(csr: CSR, shape: Shape, directly: float) -> Survey | None:
    import cupy

    shift = 15 if shape.operand <= 4 else 14
    n_blocks = -(-csr.shape[1] >> shift)
    if n_blocks > MAX_BLOCKS or n_blocks < 2:
        return None
    try:
        # The sort and what it moves, results and their rows, at most.
        check_memory(csr.nnz * (32 + shape.result + shape.weight), "a matrix by blocks of columns", "cuda")
    except DeviceMemoryError:
        return None
    pairs = _sample(csr, None, n_blocks, shift)
    order = rank = None
    hottest = _hottest(csr, 1 << shift)
    if hottest > HOT:
        heat = occurrences(csr.indices, csr.shape[1])
        order = cupy.argsort(-heat.astype(np.int32)).astype(np.uint32)
        rank = cupy.empty_like(order)
        rank[order] = cupy.arange(len(order), dtype=np.uint32)
        ordered = _sample(csr, rank, n_blocks, shift)
        if ordered > 0.95 * pairs:
            # No clear gain: the natural order saves the lookup.
            order = rank = None
        else:
            pairs = ordered
    loads, runs = n_blocks / multiprocessors() + 1, n_blocks * -(-csr.shape[0] // GROUP)
    seconds = blocks_seconds(shape, pairs, loads, runs, RATES["cuda"])
    return Survey(pairs, seconds, pays(seconds, directly), n_blocks, shift, hottest, order, rank)


def _hottest(csr: CSR, per_block: int) -> float:
    """Share of the entries in a block of the hottest columns, estimated from one entry in SAMPLED."""
    import cupy

    sample = cupy.sort(occurrences(csr.indices[::SAMPLED], csr.shape[1]).astype(np.int32))
    return int(reductions.total(sample[-per_block:], np.int64)) / max(int(reductions.total(sample, np.int64)), 1)


def _sample(csr: CSR, rank: Any, n_blocks: int, shift: int) -> int:
    """Estimated number of partial results: pairs of a row and a block in a sample. Waits for the device."""
    xp, stretches = array_module(csr.indices), -(-csr.nnz // LOOK)
    every = max(1, stretches // STRETCHES)
    at = (xp.arange(-(-stretches // every)) * (every * LOOK))[:, None] + xp.arange(LOOK)
    at = xp.minimum(at, csr.nnz - 1).ravel()
    row, column = xp.searchsorted(csr.indptr, at, side="right") - 1, csr.indices[at]
    pairs = row * n_blocks + ((column if rank is None else rank[column]) >> shift)
    pairs.sort()
    return min((reductions.count(pairs[1:] != pairs[:-1]) + 1) * every, csr.nnz)


def _place(csr: CSR, surveyed: Survey) -> Blocked:
    """The layout, by a stable sort of the entries by block: within a block they stay in order of their rows."""
    xp = array_module(csr.indices)
    order, rank, n_blocks, shift = surveyed.order, surveyed.rank, surveyed.n_blocks, surveyed.shift
    column = csr.indices if rank is None else rank[csr.indices]
    block = (column >> shift).astype(np.uint16)
    turn = block.argsort(kind="stable")
    block = block[turn]
    arc = (column & ((1 << shift) - 1)).astype(np.uint16)[turn]
    del column
    row = csr.expand_rows()[turn]
    last = xp.ones(csr.nnz, np.bool_)
    last[:-1] = (row[1:] != row[:-1]) | (block[1:] != block[:-1])
    arc |= last.astype(np.uint16) << 15
    # Each block starts at a stretch boundary.
    starts = xp.searchsorted(block, xp.arange(n_blocks + 1, dtype=np.uint16))
    first_stretch = xp.zeros(n_blocks + 1, np.int64)
    xp.cumsum(-(-(starts[1:] - starts[:-1]) // STRETCH), out=first_stretch[1:])
    stretches = int(first_stretch[-1])
    slot = xp.arange(csr.nnz)
    slot += (first_stretch[:-1] * STRETCH - starts[:-1])[block]
    arcs = xp.zeros(stretches * STRETCH, np.uint16)
    arcs[slot] = arc
    weights = None if csr.data is None else xp.zeros(len(arcs), csr.data.dtype)
    if weights is not None:
        weights[slot] = csr.data[turn]
    del turn, arc
    ends = xp.flatnonzero(last)
    del last
    slot, row, block = slot[ends], row[ends].astype(np.int64), block[ends].astype(np.int64)
    first = xp.searchsorted(slot, xp.arange(stretches + 1) * STRETCH).astype(np.uint32)
    groups = -(-csr.shape[0] // GROUP)
    wanted = (xp.arange(n_blocks) << 32) + (xp.arange(groups + 1) * GROUP)[:, None]
    bounds = xp.searchsorted((block << 32) + row, wanted).astype(np.uint32)
    block = (xp.searchsorted(first_stretch, xp.arange(stretches), side="right") - 1).astype(np.uint32)
    share = shares(first, block, multiprocessors())
    arguments = struct(
        arcs, first, block, order, share, np.int64(stretches), np.int64(csr.shape[1]), np.int64(1 << shift)
    )
    group_order, heavy = _by_weight(bounds)
    of_groups = struct(bounds, group_order, groups, heavy, n_blocks, csr.shape[0])
    adders = heavy + -(-(groups - heavy) // (BLOCK // 32))
    return Blocked(
        arguments, arcs, weights, first, block, order, share, (row % GROUP).astype(np.uint16), bounds, group_order,
        of_groups, len(ends), 1 << shift, adders,
    )  # fmt: skip


def _by_weight(bounds: Any) -> tuple[Any, int]:
    """Groups of rows, heavy ones first, and the number of those: of HEAVY times the mean of partial results."""
    xp = array_module(bounds)
    partials = (bounds[1:].astype(np.int64) - bounds[:-1]).sum(axis=1)
    heavy = partials > HEAVY * max(int(partials.sum()) // len(partials), GROUP)
    order = xp.concatenate((xp.flatnonzero(heavy), xp.flatnonzero(~heavy)))
    return order.astype(np.uint32), reductions.count(heavy)


def shares(first: Any, block: Any, takers: int) -> Any:
    """Balanced partition of the stretches among the thread blocks of the first phase.

    Returns uint32 array, shape (takers + 1,): first stretch of each thread block.
    """
    xp = array_module(first)
    # A stretch in which every arc ends a row takes twice as long as one without; loading a block of columns adds to it.
    cost = xp.arange(1, len(block) + 1) + first[1:] / STRETCH + LOADING * (block.astype(np.float64) + 1)
    wanted = cost[0] + (cost[-1] - cost[0]) * (xp.arange(takers + 1) / takers)
    share = xp.searchsorted(cost, wanted)
    share[0], share[-1] = 0, len(block)
    return share.astype(np.uint32)
