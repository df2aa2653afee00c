"""Matrix products at the places of a mask on the GPU: what `mxm_masked.cuh` is compiled for, and its launches."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.cuda.bins import address, words
from hpgraph.kernels.cuda.compile import load
from hpgraph.kernels.cuda.mxm import by_rows, load_product, multiply_code, run

SOURCE = "mxm_masked.cuh"
# As in the source.
THREADS, SHORT, PIECE, SHORT_BITS = 256, 64, 1024, 4096
# Bits of the filter of a block: 32 KiB, six blocks to a multiprocessor.
MOST_BITS = 1 << 18
# Entries of a row from which those of 32 rows are counted in 64 bits.
LONG_ROWS = 1 << 27
# Rows of which the work is looked at; of more only every so manieth.
SAMPLE = 1 << 15
KERNELS = ("hpgraph::dot_short<Multiply>", "hpgraph::dot_long<Multiply>", "hpgraph::keep_found<Multiply>")
# What the source needs to be read, for kernels that multiply nothing.
_NOTHING = "struct Multiply {};\n"


def masked_work(mask: CSR, a: CSR, row_lengths: Any, column_lengths: Any) -> tuple[int, int]:
    """What a product at the places of a mask would cost, in entries looked at; waits for the device.

    Parameters
    ----------
    mask : CSR, shape (m, n)
    a : CSR, shape (m, l)
    row_lengths, column_lengths : int64 array, shape (l,) and (n,)
        Entries of each row and of each column of B.

    Returns
    -------
    int, int
        By dots, and by rows; of many rows a sample tells.
    """
    import cupy

    ids = np.result_type(mask.indices.dtype, a.indices.dtype)
    name = f"masked_work<{'int' if ids.itemsize == 4 else 'long long'}>"
    module = load(SOURCE, prologue=_NOTHING, names=(f"hpgraph::{name}",), title="products of matrices")
    totals = cupy.zeros(2, np.uint64)
    rows = mask.shape[0]
    step = max(1, rows // SAMPLE)
    run(module, name, -(-rows * 32 // (step * THREADS)), THREADS, 0, mask.indptr,
        mask.indices.astype(ids, copy=False), a.indptr, a.indices.astype(ids, copy=False), np.int64(rows),
        np.int64(step), row_lengths, column_lengths, totals)  # fmt: skip
    dots, by_row = totals.tolist()
    return step * dots, step * by_row


def multiply_by_dots(mask: CSR, a: CSR, b_turned: CSR, product: Any, reduce: Any) -> CSR:
    """The product at the places of a mask, by dot products.

    Parameters
    ----------
    mask : CSR, shape (m, n)
        A pattern.
    a : CSR, shape (m, l)
    b_turned : CSR, shape (n, l)
        The transpose of the right-hand factor.
    product : Product
        ``f(a, b, i, k, j)`` makes what a pair of entries contributes.
    reduce : Monoid
        Joins contributions.

    Returns
    -------
    CSR, shape (m, n)
        Rows sorted.

    Raises
    ------
    DeviceMemoryError
        When it will not fit.
    CompileError
        When a Python function cannot be compiled for the GPU.

    Notes
    -----
    Waits for the device once, to learn how many places have an entry.
    """
    import cupy

    places, rows, inner, dtype = mask.nnz, mask.shape[0], a.shape[1], product.dtype
    ids = np.result_type(*(csr.indices.dtype for csr in (mask, a, b_turned)))
    check_memory(places * (2 * dtype.itemsize + ids.itemsize + 9), f"a product at {places} places", "cuda")
    long_rows = inner >= LONG_ROWS
    code = multiply_code(product, reduce, a.data is not None, b_turned.data is not None, ids, long_rows=long_rows)
    module = load_product(cupy.cuda.runtime.getDevice(), SOURCE, KERNELS, code)
    held = [csr.indices.astype(ids, copy=False) for csr in (mask, a, b_turned)]
    operands = words(
        address(mask.indptr), address(held[0]), address(a.indptr), address(held[1]), address(a.data),
        address(b_turned.indptr), address(held[2]), address(b_turned.data),
    )  # fmt: skip
    values, found = cupy.empty(places, dtype), cupy.empty(places, np.bool_)
    # A row is long by its entries or by its places, and leaves one piece that is not full.
    most = places // PIECE + min(rows, a.nnz // SHORT + places // PIECE) + 1
    task_row, task_begin = cupy.empty(most, ids), cupy.empty(most, np.int64)
    counters = cupy.zeros(2, np.uint64)
    run(module, "dot_short<Multiply>", -(-rows * 32 // THREADS), THREADS, 0, operands, np.int64(rows),
        np.bool_(inner <= SHORT_BITS), task_row, task_begin, counters, values, found)  # fmt: skip
    bits = max(1024, min(MOST_BITS, 1 << (inner - 1).bit_length()))
    blocks = cupy.cuda.Device().attributes["MultiProcessorCount"] * 8
    run(module, "dot_long<Multiply>", min(blocks, most), THREADS, bits // 8, operands, np.uint32(bits),
        np.bool_(inner <= bits), task_row, task_begin, counters, counters[1:], values, found)  # fmt: skip
    before = cupy.zeros(places + 1, np.int64)
    if places:
        cupy.cumsum(found, dtype=np.int64, out=before[1:])
    nnz = int(before[-1])
    if nnz == places:
        return CSR(mask.shape, mask.indptr, held[0], values, validate=False)
    indices, data = cupy.empty(nnz, ids), cupy.empty(nnz, dtype)
    run(module, "keep_found<Multiply>", -(-places // THREADS), THREADS, 0, held[0], values, found, before,
        np.int64(places), indices, data)  # fmt: skip
    return CSR(mask.shape, before[mask.indptr], indices, data, validate=False)


def multiply_by_rows(mask: CSR, a: CSR, b: CSR, product: Any, reduce: Any) -> CSR:
    """The product at the places of a mask, by rows.

    Parameters
    ----------
    mask, a, product, reduce
        As for `multiply_by_dots`.
    b : CSR, shape (l, n)
        The right-hand factor.

    Returns
    -------
    CSR, shape (m, n)
        Rows sorted.

    Raises
    ------
    DeviceMemoryError, CompileError
        As `hpgraph.kernels.cuda.mxm.multiply`.
    """
    return by_rows(a, b, product, reduce, mask, within=True)
