"""The generalized product on the GPU: launches.

Kernels run on CuPy's current device and stream; temporaries come from CuPy's pool. Only the first call with a matrix
waits for the device, to bin its rows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.formats import CSR, HYB, SELL, Bitmask, RowFormat
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cuda.compile import Module
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK, Bins, bins
from hpgraph.kernels.runtime.cuda.specialization import Specialization, contiguous, launch, specialize_for
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv import check_pull
from hpgraph.kernels.spmv.cuda_choice import CHOICE_ENTRIES, Multiply, by_time, may_time, predict
from hpgraph.kernels.spmv.cuda_column_blocks import by_blocks, multiply_by_blocks, staged_type
from hpgraph.kernels.spmv.cuda_sell import by_slices
from hpgraph.kernels.spmv.cuda_stretches import by_stretches
from hpgraph.kernels.spmv.origin import csr_of
from hpgraph.semiring.semiring import Gather

PULL_ROWS = ("pull_slab", "pull_tail", "pull_long")


def pull(
    rows: RowFormat,
    gather: Any,
    reduce: Any,
    state: tuple[Any, ...],
    out: Any,
    *,
    active: Bitmask | None = None,
    mask: Bitmask | None = None,
    complement: bool = False,
    accum: Any = None,
    received: Bitmask | None = None,
    ignores: frozenset[str] = frozenset(),
) -> None:
    """Reduce the messages of every row; see `hpgraph.kernels.spmv.cpu.pull`, whose arguments are the same.

    A whole product (no active set, mask, accumulator or `received`) of a large matrix uses the kernels predicted to be
    fastest: see `hpgraph.kernels.spmv.cuda_choice`. Otherwise reduction of a row stops when the monoid's terminal value
    is reached. Results are bitwise reproducible. Two launches for a CSR matrix, three for HYB, two more with `accum`,
    which takes memory for another `out`.
    """
    import cupy

    if active is None and mask is None and accum is None and received is None:
        if complement or len(out) != rows.shape[0] or not out.flags.c_contiguous:
            check_pull(rows, out, active, mask, complement, received)
        multiply = whole_product(rows, gather, reduce, tuple([a.dtype for a in state]), out.dtype, ignores)
        multiply(contiguous(state), out)
        return
    check_pull(rows, out, active, mask, complement, received)
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


def whole_product(
    rows: RowFormat, gather: Any, reduce: Any, state_dtypes: tuple[Any, ...], dtype: Any, ignores: frozenset[str]
) -> Multiply:
    """The product over all entries and rows, as a callable: prepared once, so that a call only launches.

    Returns callable: takes the state, a tuple of contiguous arrays, and the array to write.
    """
    import cupy

    kept = _whole_products(rows)
    key = cupy.cuda.runtime.getDevice(), gather, reduce, state_dtypes, dtype, ignores, techniques.switched
    multiply = kept.get(key)
    if multiply is None:
        timed = may_time(reduce.idempotent or dtype.kind in "iub")
        ways = ways_of(rows, gather, reduce, state_dtypes, dtype, ignores, timed)
        multiply = kept[key] = by_time(ways, timed)
    return multiply


def ways_of(
    rows: RowFormat, gather: Any, reduce: Any, state_dtypes: tuple[Any, ...], dtype: Any, ignores: frozenset[str],
    timed: bool, slices: bool = False,
) -> dict[str, tuple[float, Callable[[], Multiply]]]:  # fmt: skip
    """The methods available for a whole product.

    Returns dict: by name, predicted seconds and a function that prepares it.
    """
    special = specialize_for(rows, gather, reduce, state_dtypes, dtype, None, False)
    unrestricted = struct(None, None, None, 0)
    own = "hyb" if isinstance(rows, HYB) else "sell" if isinstance(rows, SELL) else "rows"
    ways: dict[str, tuple[float, Callable[[], Multiply]]] = {own: (0.0, lambda: directly(rows, special, unrestricted))}
    staged = staged_type(rows, gather, reduce, state_dtypes, dtype, ignores)
    ring = isinstance(gather, Gather)
    targets = gather.semiring.multiply.position if ring else "target" not in ignores
    # A HYB matrix keeps the CSR that it was made of.
    stretched = (timed or isinstance(rows, CSR)) and not (targets or reduce.ends_on_anything)
    if rows.nnz < CHOICE_ENTRIES or (staged is None and not stretched):
        return ways
    operand = staged or (state_dtypes[0] if state_dtypes else dtype)
    predicted = predict(rows, operand.itemsize, dtype.itemsize, timed, slices)
    ways[own] = predicted[own], ways[own][1]
    if stretched and "stretches" in predicted:
        csr = csr_of(rows)
        ways["stretches"] = predicted["stretches"], lambda: by_stretches(csr, special)
    if staged is not None and "blocks" in predicted:
        held = staged
        ways["blocks"] = (
            predicted["blocks"],
            lambda: functools.partial(
                multiply_by_blocks, by_blocks(rows, gather, reduce, state_dtypes, dtype, held)
            ),
        )
    if timed and isinstance(rows, CSR) and "sell" in predicted:
        ways["sell"] = predicted["sell"], lambda: _in_slices(SELL.from_csr(csr_of(rows)), special, unrestricted)
    if timed and isinstance(rows, CSR) and techniques.hyb:
        ways["hyb"] = predicted["hyb"], lambda: _in_hyb(HYB.from_csr(csr_of(rows)), special, unrestricted)
    return ways


def _in_slices(rows: SELL, special: Specialization, sets: Any) -> Multiply:
    multiply = by_slices(rows, special, sets)

    # `by_slices` returns addresses only; this closure keeps the matrix alive.
    def of_rows(state: tuple[Any, ...], out: Any, kept: SELL = rows) -> None:
        multiply(state, out)

    return of_rows


def _in_hyb(rows: HYB, special: Specialization, sets: Any) -> Multiply:
    """A product over a HYB matrix that this closure keeps alive."""
    multiply = directly(rows, special, sets)

    def of_rows(state: tuple[Any, ...], out: Any, kept: HYB = rows) -> None:
        multiply(state, out)

    return of_rows


@attached
def _whole_products(rows: RowFormat) -> dict[tuple[Any, ...], Multiply]:
    return {}


def directly(rows: RowFormat, special: Specialization, sets: Any) -> Multiply:
    """A product that gathers from the whole vector. Holds addresses of the matrix, not the matrix."""
    if isinstance(rows, SELL):
        return by_slices(rows, special, sets)
    module, n, binned = special.load("spmv.cuh", *PULL_ROWS), rows.shape[0], bins(rows)
    tail = struct(*tail_of(rows))
    grid = (-(-n // BLOCK),)
    slab, constants = None, tuple[Any, ...]()
    if isinstance(rows, HYB):
        slab = module.function("hpgraph::pull_slab<Product>")
        constants = struct(rows.ell.indices, rows.ell.data), np.int64(n), np.int64(rows.width), sets

    def multiply(state: tuple[Any, ...], out: Any) -> None:
        arguments = special.gather.arguments(state)
        if slab is not None and n:
            slab(grid, (BLOCK,), (arguments, *constants, out))
        if binned.blocks:
            pull_rows(module, arguments, tail, binned, sets, out)

    return multiply


def tail_of(rows: CSR | HYB) -> tuple[Any, ...]:
    """Fields of ``struct Tail`` of spmv.cuh: the rows beyond the slab; for CSR, all."""
    if isinstance(rows, CSR):
        return None, rows.indptr, rows.indices, rows.data, 0
    return rows.tail_rows, rows.tail_indptr, rows.tail_indices, rows.tail_data, 1


def pull_rows(module: Module, gather: Any, tail: Any, binned: Bins, sets: Any, out: Any) -> None:
    """Launch the kernels for the rows beyond the slab: binned rows, and joining of long ones."""
    import cupy

    part = found = None
    if binned.pieces:
        part, found = cupy.empty((binned.pieces, *out.shape[1:]), out.dtype), cupy.empty(binned.pieces, np.bool_)
    launch(module, "pull_tail", binned.blocks, gather, tail, binned.arguments, sets, out, part, found)
    joiners = -(-binned.long_rows // (BLOCK // 32))
    long_rows = np.int64(binned.long_rows)
    launch(module, "pull_long", joiners, tail, binned.long_slots, binned.first_piece, long_rows, sets, out, part, found)
