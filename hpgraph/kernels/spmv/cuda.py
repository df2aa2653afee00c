"""The generalized product on the GPU: launches.

Kernels run on CuPy's current device and stream; temporaries come from CuPy's pool. Only the first call with a matrix
waits for the device, to bin its rows.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import cupy, prefix_sum
from hpgraph.formats import CSR, ROW_FORMATS, SELL, Bitmask, RowFormat, attached
from hpgraph.kernels.runtime.cuda.compile import Module
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK, Bins, bins
from hpgraph.kernels.runtime.cuda.specialization import Specialization, contiguous, launch, specialize_for
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cuda_choice import CHOICE_ENTRIES, Multiply, by_time, may_time, predict
from hpgraph.kernels.spmv.cuda_column_blocks import by_blocks, multiply_by_blocks, staged_type
from hpgraph.kernels.spmv.cuda_stretches import by_stretches
from hpgraph.semiring.semiring import Gather

# As in sell.cuh.
PIECE_WIDTH = 64
SLICES = ("pull_slices", "join_slices")


class Pieces(NamedTuple):
    """The division of slices into pieces."""

    arguments: Any  # ``struct Slices`` of sell.cuh
    pieces: int
    wide: int  # slices with several pieces
    arrays: tuple[Any, ...]  # kept alive for `arguments`; the last lists the slices with several pieces


@attached
def pieces_of(rows: SELL) -> Pieces:
    """The pieces of a matrix, computed once on the device; waits for it."""
    width = (rows.slices[1:] - rows.slices[:-1]) // 32
    # A slice without entries has a piece too: its rows are written.
    each = cupy.maximum(-(-width // PIECE_WIDTH), 1)
    first = prefix_sum(each)
    pieces = int(first[-1])
    owner = (cupy.searchsorted(first, cupy.arange(pieces), side="right") - 1).astype(np.uint32)
    wide = cupy.flatnonzero(each > 1).astype(np.uint32)
    arguments = struct(rows.slices, first, owner, len(each), rows.shape[0], pieces)
    return Pieces(arguments, pieces, len(wide), (first, owner, wide))


def by_slices(rows: SELL, special: Specialization, sets: Any) -> Callable[[tuple[Any, ...], Any], None]:
    """A product as a callable: one launch, or two if a slice is wide. Holds addresses of the matrix only."""
    module, cut, order = special.load("sell.cuh", *SLICES), pieces_of(rows), np.uint64(rows.order.data.ptr)
    slots, warps = struct(rows.indices, rows.data), BLOCK // 32
    blocks, joining, kept = -(-cut.pieces // warps), -(-cut.wide // warps), cut.pieces * 32 if cut.wide else 0

    def multiply(state: tuple[Any, ...], out: Any) -> None:
        part, found = cupy.empty((kept, *out.shape[1:]), out.dtype), cupy.empty(kept, np.bool_)
        where = order, cut.arguments, sets, out, part, found
        launch(module, "pull_slices", blocks, special.gather.arguments(state), slots, *where)
        launch(module, "join_slices", joining, cut.arrays[2], np.int64(cut.wide), *where)

    return multiply


PULL_ROWS = ("pull_slab", "pull_tail", "pull_long")


def pull(
    rows: RowFormat, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any, *, active: Bitmask | None = None,
    mask: Bitmask | None = None, complement: bool = False, accum: Any = None, received: Bitmask | None = None,
) -> None:  # fmt: skip
    """Reduce the messages of every row; see `hpgraph.kernels.spmv.cpu.pull`, whose arguments are the same.

    A whole product (no active set, mask, accumulator or `received`) of a large matrix uses the kernels predicted to be
    fastest: see `hpgraph.kernels.spmv.cuda_choice`. Otherwise reduction of a row stops when the monoid's terminal value
    is reached. Results are bitwise reproducible. ``accum`` takes memory for another `out`.
    """
    if active is None and mask is None and accum is None and received is None:
        pull_all(rows, gather, reduce, state, out)
        return
    state = contiguous(state)
    special = specialize_for(rows, gather, reduce, tuple(a.dtype for a in state), out.dtype, accum, active is not None)
    result, bits = out, None if received is None else received.words
    if accum is not None:
        result = cupy.empty_like(out)
        bits = cupy.empty((len(out) + 63) // 64, np.uint64) if bits is None else bits
    if bits is not None:
        bits.fill(0)
    sets = struct(None if active is None else active.words, None if mask is None else mask.words, bits, int(complement))
    directly(rows, special, sets)(state, result)
    if accum is not None:
        module, n = special.load("spmv.cuh", "accumulate"), len(out)
        launch(module, "accumulate", -(-n // BLOCK), result, bits, np.int64(n), out)


def pull_all(
    rows: RowFormat, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any, ignores: frozenset[str] = frozenset()
) -> None:
    """`pull` of all messages into all rows; `ignores`: vertices of an arc that `gather` does not read."""
    multiply = whole_product(rows, gather, reduce, tuple([a.dtype for a in state]), out.dtype, ignores)
    multiply(contiguous(state), out)


def whole_product(
    rows: RowFormat, gather: Any, reduce: Any, state_dtypes: tuple[Any, ...], dtype: Any, ignores: frozenset[str]
) -> Multiply:
    """The product over all entries and rows, as a callable: prepared once, so that a call only launches."""
    where = cupy.cuda.runtime.getDevice(), techniques.switched
    return _whole_product(rows, gather, reduce, state_dtypes, dtype, ignores, where)


@attached
def _whole_product(
    rows: RowFormat, gather: Any, reduce: Any, state_dtypes: tuple[Any, ...], dtype: Any, ignores: frozenset[str],
    where: Any,
) -> Multiply:  # fmt: skip
    timed = may_time(reduce.idempotent or dtype.kind in "iub")
    return by_time(ways_of(rows, gather, reduce, state_dtypes, dtype, ignores, timed), timed)


def ways_of(
    rows: RowFormat, gather: Any, reduce: Any, state_dtypes: tuple[Any, ...], dtype: Any, ignores: frozenset[str],
    timed: bool,
) -> dict[str, tuple[float, Callable[[], Multiply]]]:  # fmt: skip
    """The methods available for a whole product: predicted seconds, and a function that prepares it, by name."""
    special = specialize_for(rows, gather, reduce, state_dtypes, dtype, None, False)
    unrestricted = struct(None, None, None, 0)
    own = "rows" if rows.name == "csr" else rows.name
    ways: dict[str, tuple[float, Callable[[], Multiply]]] = {own: (0.0, lambda: directly(rows, special, unrestricted))}
    staged = staged_type(rows, gather, reduce, state_dtypes, dtype, ignores)
    ring = isinstance(gather, Gather)
    targets = gather.semiring.multiply.position if ring else "target" not in ignores
    # Other formats keep the CSR that they were made of.
    stretched = (timed or rows.csr is rows) and not (targets or reduce.ends_on_anything)
    if rows.nnz < CHOICE_ENTRIES or (staged is None and not stretched):
        return ways
    operand = staged or (state_dtypes[0] if state_dtypes else dtype)
    predicted = predict(rows, operand.itemsize, dtype.itemsize, timed)
    ways[own] = predicted[own], ways[own][1]
    if stretched and "stretches" in predicted:
        csr = rows.csr
        ways["stretches"] = predicted["stretches"], lambda: by_stretches(csr, special)
    if staged is not None and "blocks" in predicted:
        held = staged
        ways["blocks"] = (
            predicted["blocks"],
            lambda: functools.partial(multiply_by_blocks, by_blocks(rows, gather, reduce, state_dtypes, dtype, held)),
        )
    if timed and own == "rows" and techniques.hyb:
        for name in predicted.keys() & ROW_FORMATS.keys():
            ways[name] = predicted[name], functools.partial(_kept, ROW_FORMATS[name], rows.csr, special, unrestricted)
    return ways


def _kept(kind: type[RowFormat], csr: CSR, special: Specialization, sets: Any) -> Multiply:
    """A product in another format, which this closure keeps alive."""
    rows = kind.from_csr(csr)
    multiply = directly(rows, special, sets)

    def of_rows(state: tuple[Any, ...], out: Any, kept: RowFormat = rows) -> None:
        multiply(state, out)

    return of_rows


# Formats with separate kernels.
OWN_KERNELS: dict[type[RowFormat], Callable[..., Multiply]] = {SELL: by_slices}


def directly(rows: RowFormat, special: Specialization, sets: Any) -> Multiply:
    """A product that gathers from the whole vector. Holds addresses of the matrix, not the matrix."""
    own = OWN_KERNELS.get(type(rows))
    if own is not None:
        return own(rows, special, sets)
    module, n = special.load("spmv.cuh", *PULL_ROWS), rows.shape[0]
    binned = None if rows.tail is None else bins(rows)
    grid, (tail, continues) = (-(-n // BLOCK),), tail_of(rows)
    held = rows.slab
    # Without a slab, its kernel writes the identity to rows that are not in the tail.
    slab = module.function("hpgraph::pull_slab<Product>") if continues and n else None
    entries, width = (struct(None, None), 0) if held is None else (struct(held.indices, held.data), held.width)
    constants = entries, np.int64(n), np.int64(width), sets

    def multiply(state: tuple[Any, ...], out: Any) -> None:
        arguments = special.gather.arguments(state)
        if slab is not None:
            slab(grid, (BLOCK,), (arguments, *constants, out))
        if binned is not None and binned.blocks:
            pull_rows(module, arguments, tail, binned, sets, out)

    return multiply


def tail_of(rows: RowFormat) -> tuple[Any, bool]:
    """``struct Tail`` of spmv.cuh: the rows beyond the slab; and whether these continue its results."""
    tail = rows.tail
    continues = rows.slab is not None or (tail is not None and tail.rows is not None)
    return struct(*(tail or (None,) * 4), int(continues)), continues


def pull_rows(module: Module, gather: Any, tail: Any, binned: Bins, sets: Any, out: Any) -> None:
    """Launch the kernels for the rows beyond the slab: binned rows, and joining of long ones."""
    part = found = None
    if binned.pieces:
        part, found = cupy.empty((binned.pieces, *out.shape[1:]), out.dtype), cupy.empty(binned.pieces, np.bool_)
    launch(module, "pull_tail", binned.blocks, gather, tail, binned.arguments, sets, out, part, found)
    joiners = -(-binned.long_rows // (BLOCK // 32))
    long_rows = np.int64(binned.long_rows)
    launch(module, "pull_long", joiners, tail, binned.long_slots, binned.first_piece, long_rows, sets, out, part, found)
