"""The product of two sparse matrices at the places of a mask only, on the CPU.

Two methods, whose costs depend on the matrices (`masked_work` estimates both):

- *dots*: for each place (i, j) of the mask the product of row i of A and column j of B
  (`hpgraph.kernels.spgemm.cpu_masked_dots`).
- *rows*: Gustavson's row-wise product (`hpgraph.kernels.spgemm.cpu`), whose sparse accumulator only accepts the columns
  of the mask's row.

Both write into arrays of the mask's length. A run of rows is written from where the mask's run begins, without places
that got no value; at the end the runs are compacted. So a product needs no memory besides its result: page faults on
fresh memory cost as much as the work. Each value is computed by one thread, in the order of the inner index.
"""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.bits import bit_length
from hpgraph.kernels.runtime.cpu.handover import cut
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, njit, prange, put, tasks, team
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.spgemm.cpu_masked_dots import SAMPLE, SEARCH_STEP, Hubs, dots, hubs_of, pays_to_search
from hpgraph.kernels.spgemm.cpu_rows import TASK_PAIRS, functions_of, operands, pairs_of_rows, share
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.spmv.cpu_fold import at, convert, join, vertex, weight
from hpgraph.semiring.jit import call


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _dot_work(m_indptr, m_indices, a_indptr, b_lengths, work):
    for i in prange(m_indptr.size - 1):
        length, total = at(a_indptr, i + 1) - at(a_indptr, i), 0
        if length:
            for p in range(at(m_indptr, i), at(m_indptr, i + 1)):
                other = at(b_lengths, vertex(m_indices, p))
                total += length * SEARCH_STEP * bit_length(other) if pays_to_search(length, other) else other
            total += 2 * length
        work[i] = total


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _sampled_work(m_indptr, m_indices, a_indptr, a_indices, row_lengths, column_lengths, step):
    """The work of every `step`-th row, by dots and by rows."""
    by_dots, by_rows = 0, 0
    for sample in prange((m_indptr.size + step - 2) // step):
        i = sample * step
        length = at(a_indptr, i + 1) - at(a_indptr, i)
        if length and at(m_indptr, i) < at(m_indptr, i + 1):
            for m in range(at(m_indptr, i), at(m_indptr, i + 1)):
                other = at(column_lengths, vertex(m_indices, m))
                by_dots += length * SEARCH_STEP * bit_length(other) if pays_to_search(length, other) else other
            # Accepting a column costs one look-up in the mask's row.
            by_rows += at(m_indptr, i + 1) - at(m_indptr, i)
            for p in range(at(a_indptr, i), at(a_indptr, i + 1)):
                by_rows += 2 * at(row_lengths, vertex(a_indices, p))
    return by_dots, by_rows


def masked_work(mask: CSR, a: CSR, row_lengths: Any, column_lengths: Any) -> tuple[int, int]:
    """Estimated costs of a product at the places of a mask, in entries read; lengths are those of B."""
    step = max(1, mask.shape[0] // SAMPLE)
    arrays = (plain(array) for array in (mask.indptr, mask.indices, a.indptr, a.indices, row_lengths, column_lengths))
    with team():
        by_dots, by_rows = _sampled_work(*arrays, step)
    return step * int(by_dots), step * int(by_rows)


@njit(error_model="numpy")
def _row_runs(functions, mask, a, b, columns, bounds, counter, out):
    """One thread's loop, by rows: takes runs of rows until none is left."""
    # Position of each column in the mask's row, from 1; negative until it gets a value, 0 if it is absent.
    stands = np.zeros(columns, np.int64)
    for run in tasks(counter, bounds.size - 1):
        place = at(mask.indptr, bounds[run])
        for i in range(bounds[run], bounds[run + 1]):
            start, stop = at(mask.indptr, i), at(mask.indptr, i + 1)
            for m in range(start, stop):
                stands[vertex(mask.indices, m)] = -(m + 1)
                out.data[m] = functions.zero
            for p in range(at(a.indptr, i), at(a.indptr, i + 1)):
                k = vertex(a.indices, p)
                x = weight(a.data, p, a.one)
                for q in range(at(b.indptr, k), at(b.indptr, k + 1)):
                    j = vertex(b.indices, q)
                    m = abs(at(stands, j)) - 1
                    if m >= 0:
                        y = weight(b.data, q, b.one)
                        sent = convert(functions.zero, call(functions.product, x, y, i, k, j))
                        out.data[m] = join(functions.reduce, at(out.data, m), sent)
                        stands[j] = m + 1
            begin = place
            for m in range(start, stop):
                j = vertex(mask.indices, m)
                put(out.indices, place, mask.indices[m])
                put(out.data, place, at(out.data, m))
                place += np.int64(at(stands, j) > 0)
                stands[j] = 0
            out.indptr[i + 1] = place - begin


@njit(parallel=LOOPS, heavy=True, cache=True, nogil=True, error_model="numpy")
def _rows(functions, mask, a, b, columns, bounds, threads, out):
    counter = np.zeros(1, np.int64)
    for _ in prange(threads):
        _row_runs(functions, mask, a, b, columns, bounds, counter, out)


@njit(cache=True, nogil=True)
def _close_up(bounds, m_indptr, indptr, indices, values):
    """Compact the runs, in place."""
    for run in range(bounds.size - 1):
        begin, end = indptr[bounds[run]], indptr[bounds[run + 1]]
        gap = m_indptr[bounds[run]] - begin
        if gap:
            for place in range(begin, end):
                indices[place] = indices[place + gap]
                values[place] = values[place + gap]


def _room(mask: CSR, dtype: np.dtype[Any], more: int = 0) -> Rows:
    """Arrays for a result as large as its mask: row lengths from 1 on, indices and values."""
    needed = mask.nnz * (dtype.itemsize + mask.indices.itemsize) + more
    check_memory(needed, f"a product at {mask.nnz} places", "cpu")
    lengths = np.zeros(mask.shape[0] + 1, np.int64)
    return Rows(lengths, np.empty(mask.nnz, mask.indices.dtype), np.empty(mask.nnz, dtype))


def _closed(mask: CSR, bounds: np.ndarray, made: Rows) -> CSR:
    """The result, compacted."""
    indptr, indices, values, _ = made
    np.cumsum(indptr, out=indptr)
    nnz = int(indptr[-1])
    if nnz == mask.nnz:
        return CSR(mask.shape, mask.indptr, mask.indices, values, validate=False)
    _close_up(bounds, plain(mask.indptr), indptr, indices, values)
    # Unused memory is only freed if it is more than half: the next product would fault it in again, which can take as
    # long as the product.
    kept = cut if 2 * nnz < mask.nnz else lambda array, length: array[:length]
    return CSR(mask.shape, indptr, kept(indices, nnz), kept(values, nnz), validate=False)


def multiply_by_dots(mask: CSR, a: CSR, b_turned: CSR, product: Any, reduce: Any) -> CSR:
    """The product at the places of a mask, by dot products with rows of the transposed right-hand factor."""
    dtype = product.dtype
    made = _room(mask, dtype)
    work = np.empty(mask.shape[0], np.int64)
    with team() as threads:
        _dot_work(plain(mask.indptr), plain(mask.indices), plain(a.indptr), b_turned.degrees, work)
        weighed = product.reads_b and b_turned.data is not None
        hubs = None if weighed else Hubs(*hubs_of(mask, a, b_turned, work.sum()))
        bounds = share(work, threads)
        functions = functions_of(product, reduce, True)
        counts = True if product.semiring.counts else None
        kernel = dots.alone if work.sum() <= TASK_PAIRS else dots
        kernel(functions, counts, *operands(mask, a, b_turned, product), hubs, a.shape[1], bounds, threads, made)
    return _closed(mask, bounds, made)


def multiply_by_rows(mask: CSR, a: CSR, b: CSR, product: Any, reduce: Any) -> CSR:
    """The product at the places of a mask, by rows of the right-hand factor."""
    dtype = product.dtype
    with team() as threads:
        made = _room(mask, dtype, 8 * threads * b.shape[1])
        pairs = pairs_of_rows(a, b)
        bounds = share(pairs, threads)
        kernel = _rows.alone if pairs.sum() <= TASK_PAIRS else _rows
        kernel(functions_of(product, reduce), *operands(mask, a, b, product), b.shape[1], bounds, threads, made)
    return _closed(mask, bounds, made)
