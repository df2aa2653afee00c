"""Union, intersection and difference of two matrices, with the operator in the same pass.

Rows are sorted, so a row of the result is a two-way merge. Tasks of about equal numbers of entries merge their rows and
concatenate them by a single-pass prefix sum (`hpgraph.kernels.runtime.cpu.handover`): no counting pass is needed.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.handover import cut, hand_over, new_ends
from hpgraph.kernels.runtime.cpu.kernel import interruptible, njit, part, tasks, team
from hpgraph.kernels.runtime.cpu.rows import beside
from hpgraph.kernels.runtime.cpu.tasks import task_bounds
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.spmv.cpu_fold import at, convert, vertex, weight
from hpgraph.semiring.jit import call

# A CSR matrix; for an operand, also the value of a pattern's entries, and of absent ones.
Entries = namedtuple("Entries", "indptr indices data one fill", defaults=(True, True))

# Entries of two patterns up to which SciPy's union takes some milliseconds at most, and spares seconds of compiling.
FEW_ENTRIES = 1 << 20

# Distribution of rows: the bounds of runs, the entries of the widest, the end of each, and the number of the next.
Runs = namedtuple("Runs", "bounds room ends following")


@part(error_model="numpy", forceinline=True)
def _put(function, x, y, i, j, indices, data, k, zero, nonzero):
    """Write one entry; returns the place of the next one."""
    # Unsigned: Numba checks signed indices for being negative.
    indices[np.uint64(k)] = j
    if data is None:
        return k + 1
    value = convert(zero, call(function, x, y, i, j))
    data[np.uint64(k)] = value
    if nonzero is None:
        return k + 1
    # Branch-free: the next entry overwrites a zero.
    return k + (value != zero)


@njit(error_model="numpy", counts_references=False)
def _merge_rows(both, left, right, nonzero, a, b, begin, end, out, zero):
    """Merge the rows begin..end consecutively, the first at 0; returns the number of their entries."""
    k = 0
    for i in range(begin, end):
        p, p_end, q, q_end = at(a.indptr, i), at(a.indptr, i + 1), at(b.indptr, i), at(b.indptr, i + 1)
        while p < p_end and q < q_end:
            ja, jb = vertex(a.indices, p), vertex(b.indices, q)
            if ja == jb:
                if both is not None:
                    x, y = weight(a.data, p, a.one), weight(b.data, q, b.one)
                    k = _put(both, x, y, i, ja, out.indices, out.data, k, zero, nonzero)
                p += 1
                q += 1
            elif ja < jb:
                if left is not None:
                    k = _put(left, weight(a.data, p, a.one), b.fill, i, ja, out.indices, out.data, k, zero, nonzero)
                p += 1
            else:
                if right is not None:
                    k = _put(right, a.fill, weight(b.data, q, b.one), i, jb, out.indices, out.data, k, zero, nonzero)
                q += 1
        if left is not None:
            while p < p_end:
                ja = vertex(a.indices, p)
                k = _put(left, weight(a.data, p, a.one), b.fill, i, ja, out.indices, out.data, k, zero, nonzero)
                p += 1
        if right is not None:
            while q < q_end:
                jb = vertex(b.indices, q)
                k = _put(right, a.fill, weight(b.data, q, b.one), i, jb, out.indices, out.data, k, zero, nonzero)
                q += 1
        out.indptr[i + 1] = k
    return k


@part(error_model="numpy")
def _merge_runs(worker, both, left, right, nonzero, a, b, runs, out, zero):
    loose, values = np.empty(runs.room, out.indices.dtype), beside(out.data, runs.room)
    for run in tasks(runs.following, runs.bounds.size - 1):
        begin, end = runs.bounds[run], runs.bounds[run + 1]
        own = Entries(out.indptr, loose, values, True, True)
        count = _merge_rows(both, left, right, nonzero, a, b, begin, end, own, zero)
        hand_over(runs.ends, run, begin, end, out.indptr, count, loose, values, out.indices, out.data)


@njit(cache=True, nogil=True, error_model="numpy")
def _merge(both, left, right, nonzero, a, b, runs, out, zero, workers):
    in_parallel(workers, _merge_runs, (both, left, right, nonzero, a, b, runs, out, zero))


# The same for one thread: faster to compile.
@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _merge_alone(both, left, right, nonzero, a, b, out, zero):
    _merge_rows(both, left, right, nonzero, a, b, 0, a.indptr.size - 1, out, zero)


def _arguments(csr: CSR, ids: Any) -> tuple[Any, Any]:
    return plain(csr.indptr), plain(csr.indices.astype(ids, copy=False))


def merge(
    a: CSR, b: CSR, both: Any, left: Any, right: Any, dtype: Any, *, fills: tuple[Any, Any] = (True, True),
    nonzero: bool = False,
) -> CSR:  # fmt: skip
    """Merge two matrices of one shape with sorted rows, free of duplicates; the values of a pattern are True."""
    ids = np.result_type(a.indices.dtype, b.indices.dtype)
    dtype = None if dtype is None else np.dtype(dtype)
    kind, x, y = (np.dtype(bool) if given is None else given for given in (dtype, a.dtype, b.dtype))
    if dtype is None and None not in (both, left, right) and a.nnz + b.nnz <= FEW_ENTRIES:
        # The sum of canonical patterns is canonical; its values are all True.
        sum_ = a.pattern.to_scipy(bool) + b.pattern.to_scipy(bool)
        return CSR(a.shape, sum_.indptr.astype(np.int64), sum_.indices.astype(ids), None, validate=False)
    room = _room(a, b, left is not None, right is not None)
    most = int(room[-1])
    size = ids.itemsize + (0 if dtype is None else dtype.itemsize)
    check_memory(most * size, f"a result of up to {most} entries", "cpu")
    indptr, indices = np.zeros(len(a.indptr), np.int64), np.empty(most, ids)
    data = None if dtype is None else np.empty(most, dtype)
    first = Entries(*_arguments(a, ids), plain(a.data), True, x.type(fills[0]))
    second = Entries(*_arguments(b, ids), plain(b.data), True, y.type(fills[1]))
    what = both, left, right, True if nonzero else None, first, second
    out = Entries(indptr, indices, data)
    bounds = task_bounds(a.indptr + b.indptr)
    if len(bounds) == 2:
        with interruptible():
            _merge_alone(*what, out, kind.type(0))
    else:
        runs = Runs(bounds, int(np.diff(room[bounds]).max()), new_ends(len(bounds) - 1), np.zeros(1, np.int64))
        with team() as workers:
            _merge(*what, runs, out, kind.type(0), workers)
    nnz = int(indptr[-1])
    return CSR(a.shape, indptr, cut(indices, nnz), cut(data, nnz), validate=False)


def _room(a: CSR, b: CSR, left: bool, right: bool) -> Any:
    """Prefix sum of each row's bound."""
    if left and right:
        return a.indptr + b.indptr
    if left or right:
        return a.indptr if left else b.indptr
    return a.indptr if a.nnz <= b.nnz else b.indptr
