"""SpMM, the product of a sparse and a dense matrix over any semiring: one row of the result at a time.

Every entry of the sparse row is combined with a contiguous row of X, so that the loop over columns is the inner one and
LLVM vectorizes it. And SDDMM, products of two dense matrices at the entries of a sparse one, by stretches of entries.
"""

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import overload
from numba.np.arrayobj import populate_array

from hpgraph.formats import CSR, RowFormat
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, SERIAL, interruptible, njit, prange, tasks, team, vertex
from hpgraph.kernels.runtime.cpu.prefetch import prefetch_place
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.schedule import Schedule, schedule
from hpgraph.kernels.spmv.cpu import arrays, checked_where_needed, plain, product_of
from hpgraph.kernels.spmv.cpu_fold import FEW, convert, join, weight
from hpgraph.semiring import get_semiring
from hpgraph.semiring.intrinsic import instruction, intrinsic
from hpgraph.semiring.jit import call

# Bytes of a line of the cache.
LINE = 64


@intrinsic(lambda array, c: array[:, c])
def _column(typingctx, array, c):
    """``array[:, c]``, borrowed: reference counting would be an atomic operation in an inner loop."""
    view = types.Array(array.dtype, 1, "A")

    def generate(context, builder, signature, args):
        matrix = context.make_array(signature.args[0])(context, builder, args[0])
        strides = cgutils.unpack_tuple(builder, matrix.strides)
        column = context.make_array(view)(context, builder)
        populate_array(
            column, data=builder.gep(matrix.data, [args[1]]), shape=cgutils.unpack_tuple(builder, matrix.shape)[:1],
            strides=strides[:1], itemsize=matrix.itemsize, meminfo=None,
        )  # fmt: skip
        return column._getvalue()

    return view(array, types.int64), generate


def columns(state, c):
    """The arrays of a tuple: column `c` of those with two dimensions in C order, the others unchanged."""
    return tuple(array[:, c] if array.ndim == 2 else array for array in state)


@overload(columns)
def _columns(state, c):
    parts = [f"_column(state[{i}], c)" if array.ndim == 2 else f"state[{i}]" for i, array in enumerate(state)]
    namespace = {"_column": _column}
    exec(f"def impl(state, c):\n    return ({''.join(part + ', ' for part in parts)})\n", namespace)
    return namespace["impl"]


@instruction(lambda state, row: types.none(state, types.int64), lambda state, row: None)
def fetch_row(context: Any, builder: Any, sig: Any, args: Any) -> None:
    """Prefetch all lines of a row of a matrix in C order, if it is all that a product reads, for reading."""
    if [array.ndim for array in sig.args[0]] != [2]:
        return
    kind, given = sig.args[0][0], builder.extract_value(args[0], 0)
    count = cgutils.unpack_tuple(builder, context.make_array(kind)(context, builder, given).shape)[1]
    first, step = builder.mul(args[1], count), LINE // context.get_abi_sizeof(context.get_data_type(kind.dtype))
    with cgutils.for_range_slice(builder, count.type(0), count, count.type(step), count.type) as (column, _):
        prefetch_place(context, builder, kind, given, builder.add(first, column))


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


# Columns summed at a time for each entry, which bounds the memory to this many numbers an entry.
COLUMNS = 8


def reduce_messages(csr: CSR, message: Any, reduce: Any, state: tuple[Any, ...], rows: Any, out: Any) -> None:
    """`hpgraph.kernels.spmv.Products.reduce_messages`."""
    width = max((one.shape[1] for one in state if one.ndim == 2), default=0)
    summed = out.ndim == 1 and width > 0
    step = COLUMNS if summed and message.over == "edge" else max(width, 1)
    if out.ndim == 1:
        out[:] = 0
    gather = message.compiled(out.dtype)
    for begin in range(0, max(width, 1), step):
        part = tuple(np.ascontiguousarray(one[:, begin : begin + step]) if one.ndim == 2 else one for one in state)
        found = np.empty((len(out), min(step, max(width, 1) - begin)), out.dtype)
        pull_dense(csr, gather, reduce, part if rows is None else (*part, rows), found)
        if out.ndim == 1:
            out += found.sum(1)
        else:
            out[:] = found


# Products of two numbers that a thread takes at a time: some 20 microseconds.
TASK = 65536


@njit(cache=True, nogil=True, parallel=LOOPS, error_model="numpy", fastmath={"reassoc", "contract"})
def _sample(indptr, indices, rows, size, x, y, out, workers):
    """Stretch t of `size` entries begins in row rows[t]."""
    counter, entries = np.zeros(1, np.int64), indices.size
    for _ in prange(workers):
        for task in tasks(counter, rows.size):
            row = rows[task]
            for e in range(task * size, min((task + 1) * size, entries)):
                while e >= indptr[row + 1]:
                    row += 1
                column = vertex(indices, e)
                for h in range(x.shape[1]):
                    total = out.dtype.type(0)
                    for c in range(x.shape[2]):
                        total += x[row, h, c] * y[column, h, c]
                    out[e, h] = total


@njit(cache=True, nogil=True, parallel=LOOPS, error_model="numpy")
def _first(indptr, indices, values, x, extreme, first, workers):
    counter, rows = np.zeros(1, np.int64), first.shape[0]
    for _ in prange(workers):
        for begin in tasks(counter, rows, 64):
            for row in range(begin, min(begin + 64, rows)):
                for e in range(indptr[row], indptr[row + 1]):
                    column = vertex(indices, e)
                    for c in range(x.shape[1]):
                        message = x[column, c]
                        if values is not None:
                            message = message * values[e]
                        if first[row, c] < 0 and message == extreme[row, c]:
                            first[row, c] = e


def sample_dense(csr: CSR, x: Any, y: Any, out: Any, half: str | None = None) -> None:
    """`hpgraph.kernels.spmv.Products.sample_dense`."""
    assert half is None
    size = max(1, TASK // max(1, x.shape[1] * x.shape[2]))
    rows = np.searchsorted(csr.indptr, np.arange(0, csr.nnz, size), side="right") - 1
    with team() as workers:
        _sample(csr.indptr, csr.indices, rows, size, x, y, out, workers)


def extreme_entries(csr: CSR, x: Any, extreme: Any, first: Any) -> None:
    """`hpgraph.kernels.spmv.Products.extreme_entries`."""
    first.fill(-1)
    with team() as workers:
        _first(csr.indptr, csr.indices, csr.data, x, extreme, first, workers)
