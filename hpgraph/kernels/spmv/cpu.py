"""The generalized product y<mask> accum= A (+.x) x<active> by rows: each row reduces the messages of its entries.

Tasks of about equal numbers of arcs (`hpgraph.kernels.runtime.cpu.schedule`) are scheduled dynamically. Rows too long
for one task are split; one thread joins the partial results in order, so results depend neither on the number of
threads nor on the schedule.
"""

import functools
from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.formats import CSR, Bitmask, RowFormat, attached
from hpgraph.kernels.runtime.cpu.fork_join import in_parallel
from hpgraph.kernels.runtime.cpu.kernel import SERIAL, interruptible, njit, tasks, team
from hpgraph.kernels.runtime.cpu.rows import Rows
from hpgraph.kernels.runtime.cpu.schedule import Schedule, schedule
from hpgraph.kernels.spmv.cpu_fold import (
    FEW,
    PREFETCH_ENTRIES,
    Product,
    at,
    convert,
    fetch_ahead,
    fold,
    fold_in_turn,
    fold_short_rows,
    is_allowed,
    join,
    write,
)
from hpgraph.kernels.spmv.cpu_pairs import pull_pairs
from hpgraph.semiring.arithmetic import BINARY
from hpgraph.semiring.semiring import Gather

# Prefetch distance of a row's first entries, in rows.
PREFETCH_ROWS = 32
NO_BITS = np.empty(0, np.uint64)


# Flags of the senders, or None; the rows that may be written, and those that received, as bits.
# The last two are both None, or arrays that may be empty: so one compilation serves all combinations.
Sets = namedtuple("Sets", "active mask complement received")
_ALL = None, None, False, None
_EMPTY = np.empty(0, np.uint8), NO_BITS, False, NO_BITS


@njit(error_model="numpy", forceinline=True)
def _allows(mask, complement, v):
    if mask is None:
        return True
    return is_allowed(mask, complement, v)


@njit(error_model="numpy", forceinline=True)
def _note(received, word, bits):
    """Mark rows of one word that received messages."""
    if received is not None and received.size:
        received[word] |= bits


@njit(error_model="numpy", counts_references=False)
def _block(product, state, rows, begin, end, longest, sets, out):
    """Pull into the rows begin..end, except long ones."""
    terminal, identity, indptr, indices = product.terminal, product.identity, rows.indptr, rows.indices
    active, mask, complement = sets.active, sets.mask, sets.complement
    for start in range(begin, end, 64):
        bits, stop = np.uint64(0), min(start + 64, end)
        if active is None and mask is None:
            done = fold_short_rows(product, terminal, product.accum, state, rows, start, stop, out, 0)
            if done:
                continue
        for v in range(start, stop):
            first, last = at(indptr, v), at(indptr, v + 1)
            soon = first + PREFETCH_ENTRIES
            if terminal is not None:
                # Rows that end early are only read at their beginnings.
                soon = max(soon, at(indptr, min(v + PREFETCH_ROWS, out.size)))
            fetch_ahead(indices, rows.data, soon)
            if last - first > longest or not _allows(mask, complement, v):
                continue
            value, found = fold(product, terminal, identity, state, rows, first, last, active, v, identity)
            write(product.accum, out, v, value, found)
            # Branch-free: the branch is unpredictable.
            bits |= np.uint64(found) << np.uint64(v & 63)
        _note(sets.received, start >> 6, bits)


@njit(error_model="numpy", counts_references=False)
def _tasks(worker, product, state, rows, plan, sets, out, counter, part, part_found):
    """One thread's loop: take tasks, first the pieces of long rows."""
    n_pieces = plan.piece_row.size
    n_tasks = n_pieces + plan.bounds.size - 1
    for task in tasks(counter, n_tasks):
        if task < n_pieces:
            v = plan.piece_row[task]
            if _allows(sets.mask, sets.complement, v):
                part[task], part_found[task] = fold(
                    product, product.terminal, product.identity, state, rows, plan.piece_begin[task],
                    plan.piece_end[task], sets.active, v, product.identity,
                )  # fmt: skip
        else:
            b = task - n_pieces
            _block(product, state, rows, plan.bounds[b], plan.bounds[b + 1], plan.longest, sets, out)


@njit(error_model="numpy", counts_references=False)
def _join_pieces(product, plan, part, part_found, sets, out):
    for i in range(plan.long_rows.size):
        v = plan.long_rows[i]
        if _allows(sets.mask, sets.complement, v):
            value, found = product.identity, False
            for piece in range(plan.long_pieces[i], plan.long_pieces[i + 1]):
                if part_found[piece]:
                    value = join(product.reduce, value, part[piece])
                    found = True
            write(product.accum, out, v, value, found)
            _note(sets.received, v >> 6, np.uint64(found) << np.uint64(v & 63))


# Python passes plain tuples: Numba takes three times as long, some 3 microseconds, to recognize a named one.
@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _pull(product, state, arcs, chosen, out, shares, pieces, workers):
    indptr, indices, data = arcs
    rows, sets, plan = Rows(indptr, indices, data, convert(product.identity, 1)), Sets(*chosen), Schedule(*shares)
    counter, part, part_found = pieces
    in_parallel(workers, _tasks, (product, state, rows, plan, sets, out, counter, part, part_found))
    _join_pieces(product, plan, part, part_found, sets, out)


# The same for one thread, compiled separately: this takes a third of the time, and needs no threading layer.
@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _pull_alone(product, state, arcs, chosen, out):
    indptr, indices, data = arcs
    rows, sets = Rows(indptr, indices, data, convert(product.identity, 1)), Sets(*chosen)
    _block(product, state, rows, 0, out.size, rows.indptr[rows.indptr.size - 1], sets, out)


# The same for few entries. What is not given is empty, so that one compilation serves all combinations.
@njit(cache=True, nogil=True, error_model="numpy", counts_references=False)
def _pull_few(product, terminal, state, arcs, chosen, out):
    indptr, indices, data = arcs
    rows, sets = Rows(indptr, indices, data, convert(product.identity, 1)), Sets(*chosen)
    for v in range(out.size):
        if is_allowed(sets.mask, sets.complement, v):
            value, found = fold_in_turn(product, terminal, state, rows, sets.active, v)
            write(product.accum, out, v, value, found)
            _note(sets.received, v >> 6, np.uint64(found) << np.uint64(v & 63))


def pull(
    rows: RowFormat, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any, *, active: Bitmask | None = None,
    mask: Bitmask | None = None, complement: bool = False, accum: Any = None, received: Bitmask | None = None,
) -> None:  # fmt: skip
    """Reduce the messages of every row: ``out[v] = reduce over entries (u, w) of row v of gather(state, u, w, v)``.

    Row v of ``rows`` lists the sources of v: the transpose of a graph's adjacency matrix; their CSR is read. ``out``,
    shape (n,), is written in place: a row without messages gets the monoid's identity, or, with `accum`, is left alone.
    ``active``: sources that send; ``mask``: rows to write; ``received``: overwritten with the rows to which an entry
    contributed. Reduction of a row stops within four entries of the monoid's terminal value. Results are bitwise the
    same on any number of threads. Besides the result this takes at most 32 bytes for each 16384 arcs or rows, kept with
    the matrix, a byte for each source if `active` is given, and for a hub of h entries h / 16384 values. ``any_pair``
    and other idempotent sums of ones keep a byte a row.
    """
    if rows.nnz == 0:
        _pull_nothing(reduce, out, mask, complement, accum, received)
        return
    csr: CSR = rows.csr
    alone = csr.nnz + csr.shape[0] <= SERIAL
    simple = mask is accum is None and (active is None or not alone)
    if simple and pull_pairs(csr, arrays(csr), gather, reduce, active, out, received):
        return
    gather = checked_where_needed(gather, csr, state)
    few = csr.nnz + csr.shape[0] <= FEW
    sets: tuple[Any, ...] = _EMPTY if few else _ALL
    if not active is mask is received is None:
        senders = sets[0] if active is None else active.to_bool().view(np.uint8)
        allowed, written = (NO_BITS if bits is None else bits.words for bits in (mask, received))
        if received is not None:
            written[:] = 0
        sets = senders, allowed, bool(complement), written
    product = product_of(gather, reduce, accum, out.dtype)
    what = product, tuple([plain(array) for array in state]), arrays(csr), sets, out
    if alone:
        with interruptible():
            if few:
                _pull_few(product, product.terminal, *what[1:])
            else:
                _pull_alone(*what)
        return
    with team() as workers:
        plan = schedule(csr)
        pieces = plan.piece_row.size
        # The next task; the values of pieces, and whether there are any.
        room = np.zeros(1, np.int64), np.empty(pieces, out.dtype), np.zeros(pieces, np.bool_)
        _pull(*what, tuple(plan), room, workers)


def _pull_nothing(
    reduce: Any, out: Any, mask: Bitmask | None, complement: bool, accum: Any, received: Bitmask | None
) -> None:
    """`pull` from a matrix without entries: kernels may not read any."""
    if accum is None:
        where = np.True_ if mask is None else mask.to_bool() != complement
        np.copyto(out, reduce.identity_for(out.dtype), where=where)
    if received is not None:
        received.words[:] = 0


@functools.lru_cache(maxsize=1024)
def product_of(gather: Any, reduce: Any, accum: Any, dtype: np.dtype[Any]) -> Any:
    """The functions of a product; cached, since to find them takes as long as a small product."""
    return Product(
        gather,
        reduce.reduce_for(dtype),
        None if accum is None else accum.typed(dtype, dtype, dtype),
        reduce.terminal_test(dtype) if reduce.has_terminal(dtype) else None,
        reduce.identity_for(dtype),
    )


@attached
def arrays(rows: CSR) -> tuple[Any, ...]:
    """The arrays of a matrix as kernels take them."""
    return tuple(plain(array) for array in (rows.indptr, rows.indices, rows.data))


def plain(array: Any) -> Any:
    """The array as compiled kernels take it, contiguous and writable, to compile them once; aliased if read-only."""
    if array is None:
        return None
    array = np.ascontiguousarray(array)
    return array if array.flags.writeable else np.asarray(_Alias(array))


class _Alias:
    """A read-only array's memory under a writable interface."""

    def __init__(self, array: Any) -> None:
        self.array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


# Entries below which a search for the vector's extremes costs more than the checks.
_SEARCH_ENTRIES = 4096


def checked_where_needed(gather: Any, rows: CSR, state: tuple[Any, ...]) -> Any:
    """The gather, with plain sums if extremes rule out overflow: checks cost a third of a product's time."""
    if not isinstance(gather, Gather) or not (gather.semiring.multiply.cpp or "").startswith("saturated_"):
        return gather
    if rows.nnz < _SEARCH_ENTRIES or state[0].size == 0:
        return gather
    name = gather.semiring.multiply.name
    kind = gather.semiring.multiply.computing_dtype(gather.matrix_dtype, gather.vector_dtype)
    if kind.kind not in "iu":
        return gather
    low, high = _extremes(rows)
    least, largest = int(state[0].min()), int(state[0].max())
    if name != "plus":
        # A difference is a sum with a negated operand.
        low, high, least, largest = (low, high, -largest, -least) if name == "minus" else (-high, -low, least, largest)
    ends = np.iinfo(kind)
    return gather.with_multiply(BINARY[name]) if ends.min <= low + least and high + largest <= ends.max else gather


@attached
def _extremes(rows: CSR) -> tuple[int, int]:
    """The least and the largest value of a matrix."""
    return (0, 1) if rows.data is None else (int(rows.data.min()), int(rows.data.max()))
