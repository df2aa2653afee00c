"""Arcs with their reverses, on one thread: whether a matrix is symmetric, its transpose, and both joined."""

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import njit, peek, put, vertex
from hpgraph.kernels.structure.cpu_stored import within


def is_both_ways(csr: CSR) -> bool:
    """Whether rows ascend, and every arc has its reverse of the same weight; quick where the first arcs have none."""
    return bool(within(csr, _is_symmetric(csr.indptr, csr.indices, csr.data, csr.indptr[:-1].copy())))


def rows_both_ways(rows: CSR) -> CSR:
    """Rows of out-neighbours, then in-neighbours; neither sorted nor free of duplicates, and with their values.

    A symmetric matrix of ascending rows is returned as it is. Columns need not have been checked: one beyond the shape
    is an IndexError.
    """
    return rows if is_both_ways(rows) else turned(rows, True)


def incoming_rows(rows: CSR) -> CSR | None:
    """Rows of in-neighbours, with their values; None of a symmetric matrix of ascending rows. Else as above."""
    return None if is_both_ways(rows) else turned(rows, False)


def turned(rows: CSR, both: bool) -> CSR:
    """The transpose or, with `both`, the rows themselves followed by it."""
    n, ends = rows.shape[0], rows.nnz * (1 + both)
    indptr = np.zeros(n + 1, rows.indptr.dtype if ends <= np.iinfo(rows.indptr.dtype).max else np.int64)
    incoming = np.empty(n, indptr.dtype)
    within(rows, _count_ends(rows.indptr, rows.indices, both, indptr, incoming))
    indices = np.empty(ends, rows.indices.dtype)
    data = None if rows.data is None else np.empty(ends, rows.data.dtype)
    _place_ends(rows.indptr, rows.indices, rows.data, both, indptr, incoming, indices, data)
    return CSR(rows.shape, indptr, indices, data, validate=False)


def with_reverses(arcs: CSR, lightest: bool = False) -> CSR:
    """`hpgraph.kernels.structure.Structure.with_reverses` on the CPU."""
    back = turned(arcs if lightest else arcs.with_data(None), False)
    indptr, most = np.zeros(arcs.shape[0] + 1, np.int64), 2 * arcs.nnz
    indices = np.empty(most, arcs.indices.dtype)
    data = None if arcs.data is None else np.empty(most, arcs.data.dtype)
    _join(arcs.indptr, arcs.indices, arcs.data, back.indptr, back.indices, back.data, indptr, indices, data)
    # In place if the allocator can.
    indices.resize(indptr[-1], refcheck=False)
    if data is not None:
        data.resize(indptr[-1], refcheck=False)
    return CSR(arcs.shape, indptr, indices, data, validate=False)


@njit(cache=True, counts_references=False)
def _is_symmetric(indptr, indices, data, back):
    """Whether rows ascend, and every arc has its reverse of the same weight; -1 if a column is beyond the shape.

    Rows in turn meet the reverse of each arc where `back` is, as in a transpose; the first that is missing ends it.
    """
    n = back.size
    for v in range(n):
        before = -1
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            if u >= n:
                return -1
            entry = peek(back, u)
            if u <= before or entry >= peek(indptr, u + 1) or vertex(indices, entry) != v:
                return 0
            if data is not None and peek(data, entry) != peek(data, at):
                return 0
            back[u] = entry + 1
            before = u
    return 1


@njit(cache=True)
def _count_ends(indptr, indices, both, ends, incoming):
    """Ends of the rows of in-neighbours, or of `both`, and start of the in-neighbours in each."""
    n = incoming.size
    for at in range(indices.size):
        u = vertex(indices, at)
        if u >= n:
            return -1
        ends[u + 1] += 1
    for v in range(n):
        incoming[v] = ends[v] + (peek(indptr, v + 1) - peek(indptr, v) if both else 0)
        ends[v + 1] += incoming[v]
    return 0


@njit(cache=True)
def _place_ends(indptr, indices, data, both, begins, incoming, targets, values):
    for v in range(incoming.size):
        to = np.int64(peek(begins, v))
        for at in range(peek(indptr, v), peek(indptr, v + 1)):
            u = vertex(indices, at)
            back = np.int64(peek(incoming, u))
            incoming[u] = back + 1
            targets[back] = v
            if data is not None:
                values[back] = data[at]
            if both:
                targets[to] = u
                if data is not None:
                    values[to] = data[at]
                to += 1


@njit(cache=True, nogil=True, counts_references=False)
def _join(indptr, indices, weight, back_ptr, back, back_weight, ends, out, data):
    """Merge the rows of a matrix and of its transpose; branch-free while both last: the branch is unpredictable."""
    k = np.int64(0)
    for v in range(ends.size - 1):
        p, p_end = np.int64(peek(indptr, v)), np.int64(peek(indptr, v + 1))
        q, q_end = np.int64(peek(back_ptr, v)), np.int64(peek(back_ptr, v + 1))
        while p < p_end and q < q_end:
            a, b = np.int64(vertex(indices, p)), np.int64(vertex(back, q))
            put(out, k, min(a, b))
            if back_weight is not None:
                one, other = peek(weight, p), peek(back_weight, q)
                put(data, k, one if a < b or (a == b and one <= other) else other)
            elif weight is not None:
                put(data, k, peek(weight, p) * ((a <= b) & (a != v)))
            p += a <= b
            q += b <= a
            k += 1
        while p < p_end:
            put(out, k, peek(indices, p))
            if weight is not None:
                put(data, k, peek(weight, p))
            p += 1
            k += 1
        while q < q_end:
            put(out, k, peek(back, q))
            if back_weight is not None:
                put(data, k, peek(back_weight, q))
            elif weight is not None:
                put(data, k, weight.dtype.type(0))
            q += 1
            k += 1
        put(ends, v + 1, k)
