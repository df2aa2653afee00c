"""The inner loop of every pull: folds the messages of a row's entries into one value.

A matrix semiring and a vertex program have the same form: ``gather(state, source, weight, target)`` computes the
message of an entry, ``reduce(a, b)`` combines two. Numba inlines both (`hpgraph.semiring.jit`).
"""

import numpy as np
from numba import types

from hpgraph.kernels.runtime.cpu.functions_tuple import functions_tuple
from hpgraph.kernels.runtime.cpu.kernel import njit, part
from hpgraph.kernels.runtime.cpu.prefetch import peek as at
from hpgraph.kernels.runtime.cpu.prefetch import prefetch, put, vertex
from hpgraph.kernels.runtime.cpu.weights import entry_or as weight
from hpgraph.semiring.intrinsic import intrinsic
from hpgraph.semiring.jit import call

# Prefetch distance, in entries: some 4,000 bytes. Hardware prefetching alone reaches half of the memory's bandwidth.
PREFETCH_ENTRIES = 512
# Entries of a short row: all are computed, whether they exist or not.
SHORT = 4
# Rows of one length, up to EQUAL entries, are folded without masks, if among 64 rows there are up to RUNS of them: a
# run costs two mispredictions, each as much as four entries, and a mask an entry a row or more.
EQUAL, RUNS = 8, 8

# The functions of a product (`accum` and `terminal` may be None), and the identity of its monoid.
Product = functions_tuple(__name__, "Product", "gather reduce accum terminal identity")


@intrinsic(lambda like, value: type(like)(value))
def convert(typingctx, like, value):
    """`value` in the type of `like`; nonzero becomes True if that is bool."""
    kind = types.unliteral(like)
    if kind != value and not isinstance(value, types.Number | types.Boolean):
        return None
    if isinstance(value, types.Complex) and not isinstance(kind, types.Complex | types.Boolean):
        return None

    def generate(context, builder, sig, args):
        if isinstance(kind, types.Boolean):
            return context.is_true(builder, sig.args[1], args[1])
        return context.cast(builder, args[1], sig.args[1], kind)

    return kind(like, value), generate


@njit(inline="always")
def is_set(words, v):
    """Whether bit `v` of a bitmask is set."""
    return (words[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != np.uint64(0)


@njit(inline="always")
def is_allowed(mask, complement, v):
    """Whether row `v` may be written; an empty `mask` allows all."""
    return mask.size == 0 or is_set(mask, v) != complement


@njit(error_model="numpy", forceinline=True)
def message(gather, state, rows, j, v):
    """The message of entry `j` of row `v`, in the type of the result."""
    return convert(rows.one, call(gather, state, vertex(rows.indices, j), weight(rows.data, j, rows.one), v))


@njit(error_model="numpy", forceinline=True)
def join(reduce, a, b):
    """Reduce two messages, in their own type (Numba would widen small integers)."""
    return convert(a, call(reduce, a, b))


# Compiled once, whether `there` is a constant or not: after inlining, LLVM removes what a constant makes redundant.
@part(error_model="numpy", forceinline=True)
def _fold_entry(does, state, rows, active, j, is_present, v, value, found):
    """Fold entry `j` if it is there and its source active; sets `found` if so.

    The result is computed unconditionally, from the matrix's first entry if need be, to stay branch-free.
    """
    j = j if is_present else 0
    if active is not None:
        takes_part = at(active, vertex(rows.indices, j))
        takes_part = takes_part if is_present else np.uint8(0)
        found |= takes_part
        is_present = takes_part != np.uint8(0)
    joined = join(does.reduce, value, message(does.gather, state, rows, j, v))
    return (joined if is_present else value), found


@part(error_model="numpy", forceinline=True)
def _fold_four(does, state, rows, active, j, end, whole, v, values, found):
    """Fold the entries j, j + 1, j + 2 and j + 3 into one value each: all if `whole`, else those before `end`."""
    a, b, c, d = values
    a, found = _fold_entry(does, state, rows, active, j, whole | (j < end), v, a, found)
    b, found = _fold_entry(does, state, rows, active, j + 1, whole | (j + 1 < end), v, b, found)
    c, found = _fold_entry(does, state, rows, active, j + 2, whole | (j + 2 < end), v, c, found)
    d, found = _fold_entry(does, state, rows, active, j + 3, whole | (j + 3 < end), v, d, found)
    return (a, b, c, d), found


@njit(error_model="numpy", forceinline=True)
def _any_ended(terminal, values):
    a, b, c, d = values
    return call(terminal, a) | call(terminal, b) | call(terminal, c) | call(terminal, d)


@njit(error_model="numpy", forceinline=True)
def fold(does, terminal, identity, state, rows, begin, end, active, v, value):
    """Fold the messages of entries begin..end of row `v` into `value`.

    Four entries at a time, in four independent chains, to hide the latency of `reduce`. The length of a row and the
    active sources are unpredictable, and a misprediction costs as much as four entries: so all four messages are
    computed, branch-free, and unused ones discarded.

    ``active``: 1 for an active source, else 0; None for all. Extracting bits instead would double the time. Numba
    prunes the branch after a None only if it is a separate argument: so `terminal` is not in `does`.
    """
    values, found = (value, identity, identity, identity), np.uint8(0)
    j = begin
    if terminal is None:
        while j + 4 < end:
            fetch_ahead(rows.indices, rows.data, j + PREFETCH_ENTRIES)
            values, found = _fold_four(does, state, rows, active, j, end, True, v, values, found)
            j += 4
    values, found = _fold_four(does, state, rows, active, j, end, False, v, values, found)
    if terminal is not None:
        while j + 4 < end and not _any_ended(terminal, values):
            j += 4
            fetch_ahead(rows.indices, rows.data, j + PREFETCH_ENTRIES)
            values, found = _fold_four(does, state, rows, active, j, end, False, v, values, found)
    a, b, c, d = values
    value = join(does.reduce, join(does.reduce, a, b), join(does.reduce, c, d))
    return value, end > begin if active is None else found != np.uint8(0)


# Up to this many entries and rows, `fold` saves less time than a call takes outside of kernels, and each
# combination of types compiles a separate kernel.
FEW = 4096


@njit(error_model="numpy", forceinline=True)
def fold_in_turn(does, terminal, state, rows, active, v):
    """`fold` of all entries of row `v`, one after the other: this compiles in a third of the time.

    ``active``: as in `fold`; empty for all.
    """
    value, found = does.identity, False
    for j in range(at(rows.indptr, v), at(rows.indptr, v + 1)):
        if active.size == 0 or at(active, vertex(rows.indices, j)):
            value, found = join(does.reduce, value, message(does.gather, state, rows, j, v)), True
            if terminal is not None and call(terminal, value):
                break
    return value, found


# Numba prunes a branch after a None only if it is a separate argument.
@njit(error_model="numpy")
def write(accum, out, v, value, found):
    """Store the result of a row at place `v`."""
    if accum is None:
        put(out, v, value)
    elif found:
        put(out, v, convert(value, call(accum, at(out, v), value)))


@njit(error_model="numpy", forceinline=True)
def _lengths(indptr, begin, end):
    """Entries of the longest of the rows begin..end, and the number of runs of rows of one length."""
    longest, runs = at(indptr, begin + 1) - at(indptr, begin), np.int64(1)
    for v in range(begin + 1, end):
        length = at(indptr, v + 1) - at(indptr, v)
        longest = max(longest, length)
        runs += np.int64(length != at(indptr, v) - at(indptr, v - 1))
    return longest, runs


@part(error_model="numpy", forceinline=True)
def _equal_rows(width, does, accum, state, rows, begin, end, out, shift):
    """Fold rows of `width` entries each, a constant, which unrolls the loop over them."""
    j = at(rows.indptr, begin)
    for v in range(begin, end):
        fetch_ahead(rows.indices, rows.data, j + PREFETCH_ENTRIES)
        value = does.identity
        for k in range(width):
            value = join(does.reduce, value, message(does.gather, state, rows, j + k, v))
        write(accum, out, v - shift, value, True)
        j += width


@part(error_model="numpy", forceinline=True)
def _plain_rows(does, accum, state, rows, begin, end, out, shift):
    """Fold rows whose ends are predicted."""
    for v in range(begin, end):
        j, last = at(rows.indptr, v), at(rows.indptr, v + 1)
        fetch_ahead(rows.indices, rows.data, j + PREFETCH_ENTRIES)
        value, found = does.identity, last > j
        # Not `for`: Numba's ranges compute how often they run first, which takes as long as some entries.
        while j < last:
            value = join(does.reduce, value, message(does.gather, state, rows, j, v))
            j += 1
        write(accum, out, v - shift, value, found)


@njit(error_model="numpy", forceinline=True)
def _single(does, state, rows, j, end, v, value):
    """Fold the entry `j`, which must exist, into `value`, unless `end` comes first."""
    joined = join(does.reduce, value, message(does.gather, state, rows, j, v))
    return joined if j < end else value


@part(error_model="numpy", forceinline=True)
def _masked_rows(does, accum, state, rows, begin, end, out, shift):
    """Fold rows by `SHORT` entries from the first on, of which those of next rows are discarded."""
    for v in range(begin, end):
        j, last = at(rows.indptr, v), at(rows.indptr, v + 1)
        fetch_ahead(rows.indices, rows.data, j + PREFETCH_ENTRIES)
        found = last > j
        a = b = c = d = does.identity
        while True:
            a = _single(does, state, rows, j, last, v, a)
            b = _single(does, state, rows, j + 1, last, v, b)
            c = _single(does, state, rows, j + 2, last, v, c)
            d = _single(does, state, rows, j + 3, last, v, d)
            j += SHORT
            if j >= last:
                break
        value = join(does.reduce, join(does.reduce, a, b), join(does.reduce, c, d))
        write(accum, out, v - shift, value, found)


@njit(error_model="numpy", forceinline=True)
def fold_short_rows(does, terminal, accum, state, rows, begin, end, out, shift):
    """Write the folds of up to 64 rows begin..end to `out`, from begin - shift on, if most are short; else nothing.

    Returns whether they are. A few branches for all rows instead of some for each.
    """
    indptr, last = rows.indptr, at(rows.indptr, end)
    most = np.int64(SHORT)
    if terminal is None:
        most = np.int64(EQUAL)
    if last - at(indptr, begin) > most * (end - begin):
        return False
    longest, runs = _lengths(indptr, begin, end)
    if runs > RUNS or longest > most:
        if (terminal is not None and longest > SHORT) or last + SHORT > rows.indices.size:
            return False
        _masked_rows(does, accum, state, rows, begin, end, out, shift)
    elif runs > 1:
        _plain_rows(does, accum, state, rows, begin, end, out, shift)
    elif longest == 1:
        _equal_rows(1, does, accum, state, rows, begin, end, out, shift)
    elif longest == 2:
        _equal_rows(2, does, accum, state, rows, begin, end, out, shift)
    elif longest == 3:
        _equal_rows(3, does, accum, state, rows, begin, end, out, shift)
    elif longest == SHORT:
        _equal_rows(4, does, accum, state, rows, begin, end, out, shift)
    else:
        _plain_rows(does, accum, state, rows, begin, end, out, shift)
    return True


@njit(error_model="numpy", forceinline=True)
def fetch_ahead(indices, data, j):
    """Prefetch entry `j`; it need not exist."""
    prefetch(indices, j)
    if data is not None:
        prefetch(data, j)
