"""Matrix products at the places of a mask on the GPU: code generation for `masked_dots.cuh`, and launches."""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR
from hpgraph.kernels.entries.cuda_marks import keep_marked, mark_true
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.row_bins import address, words
from hpgraph.kernels.spgemm.cuda import TITLE, by_rows, multiply_code, run

SOURCE = "masked_dots.cuh"
# As in the CUDA source.
THREADS, MUCH, PIECE, PLACES = 256, 4096, 256, 1024
# Bits of a block's filter, 16 to 32 KiB; twice as many if these hold every row exactly.
MIN_BITS, MAX_BITS = 1 << 17, 1 << 18
# Blocks for each multiprocessor.
RESIDENT = 8
# Work is estimated from at most this many rows, uniformly strided.
SAMPLE = 1 << 15
KERNELS = (
    "hpgraph::turn_places<Multiply, false>", "hpgraph::turn_places<Multiply, true>", "hpgraph::list_tasks<Multiply>",
    "hpgraph::dots_at_places<Multiply>",
)  # fmt: skip
# The source needs a struct Multiply; kernels without a product get an empty one.
_NOTHING = "struct Multiply {};\n"


def masked_work(mask: CSR, a: CSR, row_lengths: Any, column_lengths: Any) -> tuple[int, int]:
    """`hpgraph.kernels.spgemm.cpu_masked.masked_work` on the GPU, estimated from a sample of the rows; waits for it."""
    ids = np.result_type(mask.indices.dtype, a.indices.dtype)
    name = f"masked_work<{'int' if ids.itemsize == 4 else 'long long'}>"
    module = load(SOURCE, prologue=_NOTHING, names=(f"hpgraph::{name}",), title=TITLE)
    totals = cupy.zeros(2, np.uint64)
    rows = mask.shape[0]
    step = max(1, rows // SAMPLE)
    run(module, name, -(-rows * 32 // (step * THREADS)), THREADS, 0, mask.indptr,
        mask.indices.astype(ids, copy=False), a.indptr, a.indices.astype(ids, copy=False), np.int64(rows),
        np.int64(step), row_lengths, column_lengths, totals)  # fmt: skip
    dots, by_row = totals.tolist()
    return step * dots, step * by_row


def multiply_by_dots(mask: CSR, a: CSR, b_turned: CSR, product: Any, reduce: Any) -> CSR:
    """`cpu_masked.multiply_by_dots` on the GPU; waits for the places computed from B's side and for the entries."""
    places, (rows, inner), columns, dtype = mask.nnz, a.shape, b_turned.shape[0], product.dtype
    ids = np.result_type(*(csr.indices.dtype for csr in (mask, a, b_turned)))
    room = 2 * dtype.itemsize + 3 * ids.itemsize + 10
    check_memory(places * room, f"a product at {places} places", "cuda")
    prologue, ltoir = multiply_code(product, reduce, a.data is not None, b_turned.data is not None, ids)
    module = load(SOURCE, prologue=prologue, ltoir=ltoir, names=KERNELS, title=TITLE)
    held = [csr.indices.astype(ids, copy=False) for csr in (mask, a, b_turned)]

    def operands(*turned: Any) -> Any:
        return words(
            address(mask.indptr), address(held[0]), address(a.indptr), address(held[1]), address(a.data),
            address(b_turned.indptr), address(held[2]), address(b_turned.data), *map(address, turned),
        )  # fmt: skip

    reach, turned = cupy.empty(places, ids), cupy.zeros(columns + 1, np.int64)
    blocks = -(-places // PLACES)
    plain = operands(reach, None, None, None)
    run(module, "turn_places<Multiply, false>", blocks, THREADS, 0, plain, np.int64(rows), np.int64(places), turned[1:],
        None, None)  # fmt: skip
    turned = cupy.cumsum(turned)
    n_turned = int(turned[-1])
    turned_row, turned_place = cupy.empty(n_turned, ids), cupy.empty(n_turned, np.int64)
    if n_turned:
        run(module, "turn_places<Multiply, true>", blocks, THREADS, 0, plain, np.int64(rows), np.int64(places),
            turned.copy(), turned_row, turned_place)  # fmt: skip
    else:
        columns = 0
    both = operands(reach, turned, turned_row, turned_place)
    tasks = cupy.empty((_most_tasks(rows, a.nnz, places) + _most_tasks(columns, b_turned.nnz, n_turned), 2), np.int64)
    # Tasks, the next task, and the next row of either side.
    counters = cupy.zeros(4, np.uint64)
    run(module, "list_tasks<Multiply>", -(-(rows + columns) // THREADS), THREADS, 0, both, np.int64(rows),
        np.int64(columns), tasks, counters)  # fmt: skip
    bits = 1 << (inner - 1).bit_length()
    bits = bits if bits <= 2 * MAX_BITS else MAX_BITS
    bits = max(MIN_BITS, bits)
    blocks = multiprocessors() * RESIDENT
    shares = (np.int32(max(1, min(32, lines // (blocks * THREADS // 32)))) for lines in (rows, columns))
    values, found = cupy.empty(places, dtype), cupy.empty(places, np.bool_)
    run(module, "dots_at_places<Multiply>", blocks, THREADS, bits // 8, both, np.int64(rows), np.int64(columns),
        *shares, np.uint32(bits), tasks, counters, values, found)  # fmt: skip
    at_places = CSR(mask.shape, mask.indptr, held[0], values, validate=False)
    return keep_marked(at_places, mark_true(found))


def _most_tasks(rows: int, entries: int, places: int) -> int:
    """Upper bound of the number of pieces: each divided row leaves one that is not full."""
    # Two numbers whose product is more than MUCH have a sum of at least twice its root.
    return places // PIECE + min(rows, (entries + places) // (2 * int(MUCH**0.5))) + 1


def multiply_by_rows(mask: CSR, a: CSR, b: CSR, product: Any, reduce: Any) -> CSR:
    """`hpgraph.kernels.spgemm.cpu_masked.multiply_by_rows` on the GPU."""
    return by_rows(a, b, product, reduce, mask, within=True)
