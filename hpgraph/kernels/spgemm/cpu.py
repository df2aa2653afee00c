"""The product of two sparse matrices over a semiring on the CPU, row by row: C[i, :] = ⊕ₖ A[i, k] ⊗ B[k, :].

F. G. Gustavson, "Two fast algorithms for sparse matrices: multiplication and permuted transposition", ACM TOMS 4(3),
1978. A row is accumulated in a sparse accumulator (SPA; J. Gilbert, C. Moler, R. Schreiber, "Sparse matrices in
MATLAB", SIAM J. Matrix Anal. Appl. 13(1), 1992): a dense array of one value a column. Its nonzero columns are kept in a
two-level bitmap instead of a list, so that they are read in ascending order without a sort. Rows of at most 24 pairs
are merged by insertion instead. Each row is computed by one thread in the order of A's entries: results are bitwise the
same on any number of threads.

A row has at most as many entries as pairs. If memory suffices for that bound, one pass computes runs of rows and
concatenates them by a chained scan (`hpgraph.kernels.runtime.cpu.handover`), and unused memory is freed. Otherwise
a symbolic pass counts the entries of every row, and a numeric pass computes them in place.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, free_memory, prefix_sum
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.bits import lowest_bit, popcount
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.handover import cut, hand_over, new_ends
from hpgraph.kernels.runtime.cpu.kernel import interruptible, njit, tasks, team
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.spgemm.cpu_rows import ROW, TASK_PAIRS, bits_beside, functions_of, operands, pairs_of_rows, share
from hpgraph.kernels.spmv.cpu_fold import FEW, at, convert, is_set, join, vertex, weight
from hpgraph.semiring.jit import call

# Pairs of a row up to which insertion is faster than the accumulator.
INSERTION_PAIRS = 24


# A thread's sparse accumulator: values, their bitmap of two levels, and that of excluded columns or None.
Accumulator = namedtuple("Accumulator", "bitmap values excluded")

# Distribution of rows: the pairs of each, the bounds of runs, the most entries of a run.
Runs = namedtuple("Runs", "pairs bounds room")


@njit(inline="always")
def _is_excluded(excluded, j):
    return excluded is not None and is_set(excluded, j)


@njit(error_model="numpy")
def _insertion_point(indices, begin, end, j):
    """Insertion point of column j in the sorted indices[begin:end], searched from the end."""
    while end > begin and vertex(indices, end - 1) >= j:
        end -= 1
    return end


@njit(error_model="numpy")
def _insert_row(functions, a, i, b, excluded, indices, data, begin):
    """Insert the entries of row i, or its columns where `data` is None, from `begin` on; returns where they end."""
    end = begin
    for p in range(at(a.indptr, i), at(a.indptr, i + 1)):
        k = vertex(a.indices, p)
        for q in range(at(b.indptr, k), at(b.indptr, k + 1)):
            j = vertex(b.indices, q)
            if _is_excluded(excluded, j):
                continue
            s = _insertion_point(indices, begin, end, j)
            if s == end or vertex(indices, s) != j:
                for t in range(end, s, -1):
                    indices[t] = indices[t - 1]
                    if data is not None:
                        data[t] = data[t - 1]
                indices[s] = j
                if data is not None:
                    data[s] = functions.zero
                end += 1
            if data is not None:
                x, y = weight(a.data, p, a.one), weight(b.data, q, b.one)
                value = convert(functions.zero, call(functions.product, x, y, i, k, j))
                data[s] = join(functions.reduce, data[s], value)
    return end


@njit(error_model="numpy", counts_references=False)
def _accumulate_row(functions, a, i, b, excluded, bitmap, values, indices, data, place):
    """Write the entries of row i by an accumulator, or count them if `values` is None; returns their end."""
    bits, words_of_row = bitmap
    low, high = words_of_row.size, -1
    for p in range(at(a.indptr, i), at(a.indptr, i + 1)):
        k = vertex(a.indices, p)
        x = weight(a.data, p, a.one)
        for q in range(at(b.indptr, k), at(b.indptr, k + 1)):
            j = vertex(b.indices, q)
            if _is_excluded(excluded, j):
                continue
            if values is not None:
                # Columns without an entry hold the identity, so that the first value needs no branch.
                value = convert(functions.zero, call(functions.product, x, weight(b.data, q, b.one), i, k, j))
                values[j] = join(functions.reduce, at(values, j), value)
            word = j >> 6
            before = at(bits, word)
            if before == 0:
                words_of_row[word >> 6] |= np.uint64(1) << np.uint64(word & 63)
                low, high = min(low, word >> 6), max(high, word >> 6)
            bits[word] = before | (np.uint64(1) << np.uint64(j & 63))
    for group in range(low, high + 1):
        words = words_of_row[group]
        words_of_row[group] = 0
        while words:
            word = (group << 6) + lowest_bit(words)
            words &= words - np.uint64(1)
            columns = bits[word]
            bits[word] = 0
            if values is None:
                place += popcount(columns)
                continue
            while columns:
                j = (word << 6) + lowest_bit(columns)
                columns &= columns - np.uint64(1)
                indices[place] = j
                data[place] = values[j]
                values[j] = functions.zero
                place += 1
    return place


@njit(error_model="numpy")
def _exclude(excluded, mask, i, exclude):
    """Set the bits of a mask row's columns, or clear them again."""
    if excluded is not None:
        for q in range(at(mask.indptr, i), at(mask.indptr, i + 1)):
            j = vertex(mask.indices, q)
            if exclude:
                excluded[j >> 6] |= np.uint64(1) << np.uint64(j & 63)
            else:
                excluded[j >> 6] = 0


@njit(error_model="numpy")
def _count_runs(worker, a, b, mask, pairs, bounds, columns, counter, counts):
    """One thread's loop: take runs of rows and count each row's entries."""
    bits = bits_beside(pairs, columns)
    bitmap, excluded = (bits, bits_beside(pairs, bits.size)), bits_beside(mask, columns)
    few = np.empty(INSERTION_PAIRS, b.indices.dtype)
    for run in tasks(counter, bounds.size - 1):
        for i in range(bounds[run], bounds[run + 1]):
            if pairs[i] == 0:
                counts[i] = 0
            elif at(a.indptr, i + 1) - at(a.indptr, i) == 1 and mask is None:
                counts[i] = pairs[i]
            else:
                _exclude(excluded, mask, i, True)
                if pairs[i] <= INSERTION_PAIRS:
                    counts[i] = _insert_row(None, a, i, b, excluded, few, None, 0)
                else:
                    counts[i] = _accumulate_row(None, a, i, b, excluded, bitmap, None, few, None, 0)
                _exclude(excluded, mask, i, False)


@njit(error_model="numpy", counts_references=False)
def _fill_rows(functions, a, b, mask, pairs, span, accumulator, out, place, insertion):
    """Compute the rows of a span consecutively, the first at `place`; returns where they end.

    ``insertion``: None, for few pairs in all, if none are inserted, which is half of the code.
    """
    bitmap, values, excluded = accumulator
    for i in range(span[0], span[1]):
        if pairs[i]:
            _exclude(excluded, mask, i, True)
            if insertion is not None and pairs[i] <= insertion:
                place = _insert_row(functions, a, i, b, excluded, out.indices, out.data, place)
            else:
                place = _accumulate_row(functions, a, i, b, excluded, bitmap, values, out.indices, out.data, place)
            _exclude(excluded, mask, i, False)
        out.indptr[i + 1] = place
    return place


@njit(error_model="numpy")
def _new_accumulator(zero, mask, pairs, columns, data):
    bits = bits_beside(pairs, columns)
    bitmap = bits, bits_beside(pairs, bits.size)
    return Accumulator(bitmap, np.full(columns, zero, data.dtype), bits_beside(mask, columns))


@njit(cache=True, nogil=True, error_model="numpy")
def _count(a, b, mask, pairs, bounds, columns, threads, counts):
    in_parallel(threads, _count_runs, (a, b, mask, pairs, bounds, columns, np.zeros(1, np.int64), counts))


@njit(error_model="numpy")
def _fill_runs(worker, functions, a, b, mask, runs, columns, counter, ends, out):
    """One thread: take runs until none is left."""
    accumulator = _new_accumulator(functions.zero, mask, runs.pairs, columns, out.data)
    loose, values = np.empty(runs.room, out.indices.dtype), np.empty(runs.room, out.data.dtype)
    for run in tasks(counter, runs.bounds.size - 1):
        begin, end = runs.bounds[run], runs.bounds[run + 1]
        if ends is None:
            _fill_rows(
                functions, a, b, mask, runs.pairs, (begin, end), accumulator, out, out.indptr[begin], INSERTION_PAIRS
            )
        else:
            own = Rows(out.indptr, loose, values, True)
            count = _fill_rows(
                functions, a, b, mask, runs.pairs, (begin, end), accumulator, own, np.int64(0), INSERTION_PAIRS
            )
            hand_over(ends, run, begin, end, out.indptr, count, loose, values, out.indices, out.data)


@njit(cache=True, nogil=True, error_model="numpy")
def _fill(functions, a, b, mask, runs, columns, threads, ends, out):
    """Compute every row at its place in `out.indptr`; with `ends`, a chained scan builds that and joins runs."""
    in_parallel(threads, _fill_runs, (functions, a, b, mask, runs, columns, np.zeros(1, np.int64), ends, out))


# The same for one thread: faster to compile.
@njit(cache=True, nogil=True, error_model="numpy")
def _fill_alone(functions, a, b, mask, pairs, columns, out, insertion):
    accumulator = _new_accumulator(functions.zero, mask, pairs, columns, out.data)
    _fill_rows(functions, a, b, mask, pairs, (0, pairs.size), accumulator, out, np.int64(0), insertion)


def multiply(a: CSR, b: CSR, product: Any, reduce: Any, exclude: CSR | None = None) -> CSR:
    """The product of two matrices over a semiring, rows sorted; contributions that cancel leave an entry.

    Rows of the factors are sorted and free of duplicates; ``exclude``: a pattern of entries not to compute. Each thread
    takes an array of n values and n/8 bytes, and memory for a run of rows.
    """
    rows, columns = a.shape[0], b.shape[1]
    dtype, ids = product.dtype, b.indices.dtype
    pairs = pairs_of_rows(a, b)
    work = int(pairs.sum()) + ROW * rows
    alone = work <= TASK_PAIRS
    # Prefix sum of each row's bound: its number of pairs, or of columns.
    room = prefix_sum(np.minimum(pairs, columns))
    nnz, size = int(room[-1]), dtype.itemsize + ids.itemsize
    counted = not alone and nnz * size > free_memory("cpu") // 2
    mask, first, second = operands(exclude, a, b, product)
    what = functions_of(product, reduce), first, second, mask
    indptr = np.zeros(rows + 1, np.int64)
    with interruptible() if alone else team() as threads:
        check_memory((threads or 1) * columns * (dtype.itemsize + 1), "work space of a matrix product", "cpu")
        bounds = None if threads is None else share(pairs, threads)
        if counted:
            _count(first, second, mask, pairs, bounds, columns, threads, indptr[1:])
            np.cumsum(indptr, out=indptr)
            nnz = int(indptr[-1])
        check_memory(nnz * size, f"a product of {'' if counted else 'up to '}{nnz} entries", "cpu")
        out = Rows(indptr, np.empty(nnz, ids), np.empty(nnz, dtype))
        if bounds is None:
            _fill_alone(*what, pairs, columns, out, None if work <= FEW else INSERTION_PAIRS)
        else:
            ends, widest = (None, 0) if counted else (new_ends(len(bounds) - 1), int(np.diff(room[bounds]).max()))
            _fill(*what, Runs(pairs, bounds, widest), columns, threads, ends, out)
    nnz = int(indptr[-1])
    return CSR((rows, columns), indptr, cut(out.indices, nnz), cut(out.data, nnz), validate=False)
