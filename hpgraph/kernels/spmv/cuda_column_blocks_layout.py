"""A matrix by blocks of columns, as column_blocks.cuh reads it; built on the device once for each matrix.

A product that gathers from a long vector is bound by the rate of random reads from L2, in any format: 147 × 10⁹ sectors
a second on an H200. Here the columns are divided into blocks whose part of the vector fits the shared memory of a
multiprocessor (propagation blocking, see column_blocks.cuh), hottest columns first if that makes fewer partial results;
all else is read and written sequentially.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.core.c_types import WORD_TYPES
from hpgraph.core.device import check_memory, count, cupy, total
from hpgraph.core.errors import DeviceMemoryError
from hpgraph.formats import CSR, RowFormat, attached, occurrences
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, multiprocessors, struct
from hpgraph.kernels.spmv.layout_cost import RATES, Shape, blocks_seconds

# As in column_blocks.cuh, column_blocks_build.cuh and spmv.cuh.
STRETCH, GROUP, BLOCK = 1024, 1024, 256
PORTION, PLACERS, LOOK = 16384, 1024, 4096
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
# To predict a product's time, one stretch of LOOK entries in EVERY is read, but at least STRETCHES of them.
EVERY, STRETCHES = 16, 4096


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


def layout_of(csr: CSR, found: "Survey") -> Blocked:
    """The matrix by blocks of columns, made once: the first call waits for the device, and takes 16 bytes an entry."""
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
    """Survey a matrix for blocks of columns, for each size of vectors; None if it or memory does not suit."""
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
    shift = 15 if shape.operand <= 4 else 14
    n_blocks = -(-csr.shape[1] >> shift)
    if n_blocks > MAX_BLOCKS or n_blocks < 2:
        return None
    try:
        # Rows, places, results and their rows, at most.
        check_memory(csr.nnz * (12 + shape.result + shape.weight), "a matrix by blocks of columns", "cuda")
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
    sample = cupy.sort(occurrences(csr.indices[::SAMPLED], csr.shape[1]).astype(np.int32))
    return int(total(sample[-per_block:], np.int64)) / max(int(total(sample, np.int64)), 1)


KERNELS = KernelSet(
    "column_blocks_build.cuh", "products by blocks of columns",
    {"<{Index}>": "sample_blocks count_blocks", "<{Index}, {Word}>": "place_arcs",
     "": "mark_last list_rows bound_groups"},
)  # fmt: skip


def _launch(csr: CSR, name: str, blocks: int, *arguments: Any, threads: int = BLOCK, shared: int = 0) -> None:
    word = WORD_TYPES[1 if csr.data is None else csr.data.itemsize]
    kernel = KERNELS.of(Index=csr.indices.dtype, Word=word).functions[name]
    kernel((blocks,), (threads,), arguments, shared_mem=shared)


def _sample(csr: CSR, rank: Any, n_blocks: int, shift: int) -> int:
    """Estimated number of partial results. Waits for the device."""
    stretches = -(-csr.nnz // LOOK)
    every = min(EVERY, max(1, stretches // STRETCHES))
    tally = cupy.zeros(1, np.uint64)
    _launch(
        csr, "sample_blocks", -(-stretches // (every * BLOCK // 32)), csr.indices, csr.indptr,
        np.int64(csr.shape[0]), rank, np.int64(csr.nnz), np.int64(every), np.int32(n_blocks), np.int32(shift),
        tally, shared=BLOCK // 32 * n_blocks * 4,
    )  # fmt: skip
    return min(int(tally[0]) * every, csr.nnz)


def _place(csr: CSR, surveyed: Survey) -> Blocked:
    order, rank, n_blocks, shift = surveyed.order, surveyed.rank, surveyed.n_blocks, surveyed.shift
    row_of = csr.expand_rows()
    pieces = -(-csr.nnz // PORTION)
    counts = cupy.empty((n_blocks, pieces), np.uint32)
    _launch(
        csr, "count_blocks", pieces, csr.indices, rank, np.int64(csr.nnz), np.int64(pieces),
        np.int32(n_blocks), np.int32(shift), counts, threads=PLACERS, shared=4 * n_blocks,
    )  # fmt: skip
    through = cupy.cumsum(counts.ravel(), dtype=np.uint32).reshape(counts.shape)
    # Each block starts at a stretch boundary.
    totals = through[:, -1].copy()
    totals[1:] -= through[:-1, -1]
    totals = totals.astype(np.int64)
    stretches_of = -(-totals // STRETCH)
    first_stretch = cupy.zeros(n_blocks + 1, np.int64)
    first_stretch[1:] = cupy.cumsum(stretches_of)
    stretches = int(first_stretch[-1])
    shift_of = first_stretch[:-1] * STRETCH - (cupy.cumsum(totals) - totals)
    offsets = through - counts + shift_of.astype(np.uint32)[:, None]
    del through
    slots = stretches * STRETCH
    arcs = cupy.zeros(slots, np.uint16)
    row_at = cupy.full(slots, 0xFFFFFFFF, np.uint32)
    weights = None if csr.data is None else cupy.zeros(slots, csr.data.dtype)
    _launch(
        csr, "place_arcs", pieces, csr.indices, row_of, csr.data,
        rank, np.int64(csr.nnz), np.int64(pieces), np.int32(n_blocks), np.int32(shift), offsets, arcs, row_at,
        weights, threads=PLACERS, shared=8 * PORTION + (4 + 2 * PLACERS // 32) * n_blocks,
    )  # fmt: skip
    del offsets
    block = (cupy.searchsorted(first_stretch, cupy.arange(stretches), side="right") - 1).astype(np.uint32)
    ends = cupy.empty(stretches, np.uint32)
    _launch(csr, "mark_last", -(-stretches * 32 // BLOCK), arcs, row_at, block, np.int64(stretches), ends)
    first = cupy.zeros(stretches + 1, np.uint32)
    first[1:] = cupy.cumsum(ends, dtype=np.uint32)
    partials = int(first[-1])
    row, whole = cupy.empty(partials, np.uint16), cupy.empty(partials, np.uint32)
    _launch(csr, "list_rows", -(-stretches * 32 // BLOCK), arcs, row_at, first, np.int64(stretches), row, whole)
    groups = -(-csr.shape[0] // GROUP)
    bounds = cupy.empty((groups + 1, n_blocks), np.uint32)
    _launch(
        csr, "bound_groups", -(-bounds.size // BLOCK), whole, first[first_stretch], np.int64(groups),
        np.int64(n_blocks), bounds,
    )  # fmt: skip
    share = shares(first, block, multiprocessors())
    arguments = struct(
        arcs, first, block, order, share, np.int64(stretches), np.int64(csr.shape[1]), np.int64(1 << shift)
    )
    group_order, heavy = _by_weight(bounds)
    of_groups = struct(bounds, group_order, groups, heavy, n_blocks, csr.shape[0])
    adders = heavy + -(-(groups - heavy) // (BLOCK // 32))
    return Blocked(
        arguments, arcs, weights, first, block, order, share, row, bounds, group_order, of_groups, partials, 1 << shift,
        adders,
    )  # fmt: skip


def _by_weight(bounds: Any) -> tuple[Any, int]:
    """Groups of rows, heavy ones first, and the number of those: of HEAVY times the mean of partial results."""
    partials = (bounds[1:].astype(np.int64) - bounds[:-1]).sum(axis=1)
    heavy = partials > HEAVY * max(int(partials.sum()) // len(partials), GROUP)
    order = cupy.concatenate((cupy.flatnonzero(heavy), cupy.flatnonzero(~heavy)))
    return order.astype(np.uint32), count(heavy)


def shares(first: Any, block: Any, takers: int) -> Any:
    """First stretch of each thread block of the first phase, uint32, shape (takers + 1,): a balanced partition."""
    # A stretch in which every arc ends a row takes twice as long as one without; loading a block of columns adds to it.
    cost = cupy.arange(1, len(block) + 1) + first[1:] / STRETCH + LOADING * (block.astype(np.float64) + 1)
    wanted = cost[0] + (cost[-1] - cost[0]) * (cupy.arange(takers + 1) / takers)
    share = cupy.searchsorted(cost, wanted)
    share[0], share[-1] = 0, len(block)
    return share.astype(np.uint32)
