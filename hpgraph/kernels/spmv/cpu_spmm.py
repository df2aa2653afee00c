"""The product of a sparse and a dense matrix over any semiring, for ``A @ X``: a row of the result at a time.

Every entry of the sparse row meets a whole row of X, which lies in one piece in memory, so that the loop over columns
is the inner one and LLVM makes vector instructions of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from hpgraph.formats import CSR, HYB
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.saturation import checked_where_needed
from hpgraph.kernels.runtime.cpu.schedule import schedule
from hpgraph.kernels.runtime.cpu.tasks import next_task
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.spmv import check_pull_dense
from hpgraph.kernels.spmv.cpu import arrays, operators, plain
from hpgraph.kernels.spmv.cpu_columns import columns
from hpgraph.kernels.spmv.cpu_fold import convert, join, vertex, weight
from hpgraph.kernels.spmv.origin import csr_of
from hpgraph.semiring.jit import call

# Below this many arithmetic operations one thread does it all.
SERIAL = 32768


@njit(error_model="numpy")
def _add(gather, reduce, state, u, w, v, values):
    """One entry's messages, one a column, into the row's values."""
    for c in range(values.size):
        message = convert(values[c], call(gather, columns(state, c), u, w, v))
        values[c] = join(reduce, values[c], message)


@njit(error_model="numpy")
def _block(gather, reduce, identity, one, state, indptr, indices, data, begin, end, longest, out):
    """Rows begin..end; long ones become the identity."""
    for v in range(begin, end):
        values = out[v]
        values[:] = identity
        first, last = indptr[v], indptr[v + 1]
        if last - first <= longest:
            for j in range(first, last):
                _add(gather, reduce, state, vertex(indices, j), weight(data, j, one), v, values)


@njit(parallel=True, cache=True, nogil=True, error_model="numpy")
def _pull_dense(gather, reduce, identity, one, state, indptr, indices, data, bounds, longest, piece_row, piece_begin,
                piece_end, out, workers):
    n_pieces = piece_row.size
    n_tasks = n_pieces + bounds.size - 1
    part = np.full((n_pieces, out.shape[1]), identity, out.dtype)
    counter = np.zeros(1, np.int64)
    for _ in prange(workers):
        while True:
            task = next_task(counter)
            if task >= n_tasks:
                break
            if task < n_pieces:
                for j in range(piece_begin[task], piece_end[task]):
                    _add(gather, reduce, state, vertex(indices, j), weight(data, j, one), piece_row[task], part[task])
            else:
                b = task - n_pieces
                _block(gather, reduce, identity, one, state, indptr, indices, data, bounds[b], bounds[b + 1], longest,
                       out)
    # Pieces of long rows in their order.
    for piece in range(n_pieces):
        v = piece_row[piece]
        for c in range(out.shape[1]):
            out[v, c] = join(reduce, out[v, c], part[piece, c])


# The same for one thread: quicker to compile.
@njit(cache=True, nogil=True, error_model="numpy")
def _pull_dense_alone(gather, reduce, identity, one, state, indptr, indices, data, out):
    _block(gather, reduce, identity, one, state, indptr, indices, data, 0, out.shape[0], indptr[indptr.size - 1], out)


def pull_dense(rows: CSR | HYB, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any) -> None:
    """Product with a dense matrix: `hpgraph.kernels.spmv.cpu.pull` for every column at once.

    Parameters
    ----------
    rows : CSR or HYB, shape (n, m)
    gather : Function
        As for `pull`; called once for each entry and column, with that column of the state.
    reduce : Monoid
    state : tuple of arrays
        Arrays of shape (m, k) in C order are split in columns; those of one dimension are passed as they are.
    out : array, shape (n, k), C order
        Overwritten.

    Raises
    ------
    ValueError
        When `out` has not the shape that `rows` and `state` ask for, or is not in C order.
    """
    check_pull_dense(rows, state, out)
    rows = csr_of(rows)
    reduce_, _, _, identity, one = operators(reduce, None, out.dtype)
    gather = checked_where_needed(gather, rows, state)
    what = gather, reduce_, identity, one, tuple(plain(array) for array in state), *arrays(rows)
    if (rows.nnz + rows.shape[0]) * max(out.shape[1], 1) <= SERIAL:
        _pull_dense_alone(*what, out)
        return
    plan = schedule(rows)
    tasks = plan.bounds, plan.longest, plan.piece_row, plan.piece_begin, plan.piece_end
    with team() as workers:
        _pull_dense(*what, *tasks, out, workers)
