"""SpMM, the product of a sparse and a dense matrix over any semiring: one row of the result at a time.

Every entry of the sparse row is combined with a contiguous row of X, so that the loop over columns is the inner one and
LLVM vectorizes it.
"""

from typing import Any

import numpy as np

from hpgraph.formats import CSR, RowFormat
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, SERIAL, interruptible, njit, prange, tasks, team
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.saturation import checked_where_needed
from hpgraph.kernels.runtime.cpu.schedule import Schedule, schedule
from hpgraph.kernels.spmv.cpu import arrays, plain, product_of
from hpgraph.kernels.spmv.cpu_columns import LINE, columns, fetch_row
from hpgraph.kernels.spmv.cpu_fold import FEW, convert, join, vertex, weight
from hpgraph.semiring import get_semiring
from hpgraph.semiring.jit import call

# Prefetch distance in bytes of the dense matrix.
AHEAD = 4096


@njit(error_model="numpy", counts_references=False)
def _entry(rows, j):
    return vertex(rows.indices, j), weight(rows.data, j, rows.one)


@njit(error_model="numpy", counts_references=False)
def _joined(product, of, entry, v, value):
    u, w = entry
    return join(product.reduce, value, convert(value, call(product.gather, of, u, w, v)))


@njit(error_model="numpy", counts_references=False)
def _add(product, state, entry, v, values):
    """Fold one entry's messages, one a column, into the row's values."""
    for c in range(values.size):
        values[c] = _joined(product, columns(state, c), entry, v, values[c])


@njit(error_model="numpy", counts_references=False)
def _add_four(product, state, entries, v, values):
    """Fold four entries' messages: each of the row's values is read and written once."""
    first, second, third, fourth = entries
    for c in range(values.size):
        of = columns(state, c)
        value = _joined(product, of, first, v, values[c])
        value = _joined(product, of, second, v, value)
        value = _joined(product, of, third, v, value)
        values[c] = _joined(product, of, fourth, v, value)


@njit(error_model="numpy", counts_references=False)
def _fold(product, state, rows, v, begin, end, values):
    """Fold the messages of entries begin..end, one a column, into the row's values."""
    ahead, last = max(4, AHEAD // max(values.size * values.itemsize, LINE)), rows.indices.size - 1
    j = begin
    while j + 4 <= end:
        for k in range(4):
            fetch_row(state, vertex(rows.indices, min(j + k + ahead, last)))
        entries = _entry(rows, j), _entry(rows, j + 1), _entry(rows, j + 2), _entry(rows, j + 3)
        _add_four(product, state, entries, v, values)
        j += 4
    while j < end:
        fetch_row(state, vertex(rows.indices, min(j + ahead, last)))
        _add(product, state, _entry(rows, j), v, values)
        j += 1


@njit(error_model="numpy", counts_references=False)
def _block(product, state, rows, begin, end, longest, out):
    """Rows begin..end; long ones are set to the identity; ``longest`` is None if there are few entries in all."""
    for v in range(begin, end):
        values = out[v]
        values[:] = product.identity
        first, last = rows.indptr[v], rows.indptr[v + 1]
        if longest is None:
            for j in range(first, last):
                _add(product, state, _entry(rows, j), v, values)
        elif last - first <= longest:
            _fold(product, state, rows, v, first, last, values)


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def _pull_dense(product, state, arcs, shares, out, workers):
    indptr, indices, data = arcs
    rows, plan = Rows(indptr, indices, data, convert(product.identity, 1)), Schedule(*shares)
    n_pieces = plan.piece_row.size
    n_tasks = n_pieces + plan.bounds.size - 1
    part = np.full((n_pieces, out.shape[1]), product.identity, out.dtype)
    counter = np.zeros(1, np.int64)
    for _ in prange(workers):
        for task in tasks(counter, n_tasks):
            if task < n_pieces:
                v = plan.piece_row[task]
                _fold(product, state, rows, v, plan.piece_begin[task], plan.piece_end[task], part[task])
            else:
                b = task - n_pieces
                _block(product, state, rows, plan.bounds[b], plan.bounds[b + 1], plan.longest, out)
    # Join the pieces of long rows in order.
    for piece in range(n_pieces):
        v = plan.piece_row[piece]
        for c in range(out.shape[1]):
            out[v, c] = join(product.reduce, out[v, c], part[piece, c])


# The same for one thread: faster to compile.
@njit(cache=True, nogil=True, error_model="numpy")
def _pull_dense_alone(product, state, arcs, longest, out):
    indptr, indices, data = arcs
    rows = Rows(indptr, indices, data, convert(product.identity, 1))
    _block(product, state, rows, 0, out.shape[0], longest, out)


def pull_dense(rows: RowFormat, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any) -> None:
    """Product with a dense matrix: `hpgraph.kernels.spmv.cpu.pull` for every column at once.

    Arrays of ``state`` of shape (m, k) in C order are split in columns, those of one dimension passed as they are;
    ``out`` (shape (n, k), C order) is overwritten.
    """
    csr = rows.csr
    product = product_of(checked_where_needed(gather, csr, state), reduce, None, out.dtype)
    what = product, tuple(plain(array) for array in state), arrays(csr)
    work = (csr.nnz + csr.shape[0]) * max(out.shape[1], 1)
    if work <= SERIAL:
        with interruptible():
            _pull_dense_alone(*what, None if work <= FEW else csr.nnz, out)
        return
    with team() as workers:
        _pull_dense(*what, tuple(schedule(csr)), out, workers)


def multiply_dense(csr: CSR, weights: Any, x: Any, out: Any, half: str | None = None, order: Any = None) -> None:
    """`hpgraph.kernels.spmv.Products.multiply_dense`, head by head."""
    assert half is None
    weights = weights if order is None else weights[order]
    heads = 1 if weights is None or weights.ndim == 1 else weights.shape[1]
    semiring = get_semiring("plus_second" if weights is None else "plus_times")
    gather = semiring.gather(np.dtype(np.bool_) if weights is None else weights.dtype, x.dtype, out.dtype)
    if heads == 1:
        matrix = csr if weights is None else csr.with_data(weights.reshape(-1), copy=False)
        pull_dense(matrix, gather, semiring.add, (x,), out)
        return
    found = np.empty((out.shape[0], out.shape[1] // heads), out.dtype)
    for head in range(heads):
        own = slice(head * found.shape[1], (head + 1) * found.shape[1])
        matrix = csr.with_data(np.ascontiguousarray(weights[:, head]), copy=False)
        pull_dense(matrix, gather, semiring.add, (np.ascontiguousarray(x[:, own]),), found)
        out[:, own] = found
