"""The inner loop of every pull: the messages of some entries of one row, folded into one value.

A matrix semiring and a vertex program arrive in the same form: ``gather(state, source, weight, target)`` makes the
message of an entry, ``reduce(a, b)`` joins two. Both are arguments that Numba inlines (`hpgraph.semiring.jit`).
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import overload

from hpgraph.kernels.cpu.loads import peek as at
from hpgraph.kernels.cpu.loads import vertex
from hpgraph.kernels.cpu.weights import entry as weight
from hpgraph.semiring.jit import call


def convert(like, value):
    """`value` in the type of `like`; what is not zero becomes True where that is bool."""
    return type(like)(value)


@overload(convert, inline="always")
def _convert(like, value):
    if like == value:
        return lambda like, value: value
    if isinstance(like, types.Boolean):
        return lambda like, value: value != 0
    kind = like
    return lambda like, value: kind(value)


@njit(inline="always")
def is_set(words, v):
    """Whether bit `v` of a bitmask is set."""
    return (words[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != np.uint64(0)


@njit(inline="always")
def is_allowed(mask, complement, v):
    """Whether row `v` may be written; an empty `mask` allows all."""
    return mask.size == 0 or is_set(mask, v) != complement


@njit(error_model="numpy", forceinline=True)
def message(gather, state, indices, data, j, v, one):
    """What entry `j` of row `v` sends, in the type of the result."""
    return convert(one, call(gather, state, vertex(indices, j), weight(data, j, one), v))


@njit(error_model="numpy", forceinline=True)
def join(reduce, a, b):
    """Two messages as one, in their own type (Numba would widen small integers)."""
    return convert(a, call(reduce, a, b))


@njit(error_model="numpy", forceinline=True)
def _join_if(reduce, there, a, b):
    """`join`, or `a` alone: both are worked out, so that the processor has nothing to guess."""
    joined = join(reduce, a, b)
    return joined if there else a


@njit(error_model="numpy", forceinline=True)
def fold(gather, reduce, terminal, identity, state, indices, data, begin, end, v, one, value):
    """Fold the messages of entries begin..end, which point into row `v`, into `value`.

    Four at a time in four chains, because one alone would wait for each result before it starts the next. The last
    four are taken without branches: how long a row is cannot be foreseen, and a wrong guess costs as much as they all.
    Where there are fewer, messages of other entries are made as well and passed over.

    Parameters
    ----------
    gather, reduce : Function
    terminal : Function or None
        Tells of a value whether nothing more can change it.
    identity : scalar
        The monoid's, in the type of the result.
    state : tuple of arrays
    indices, data : array, array or None
        Of at least one entry.
    begin, end, v : int64
    one : scalar
        A pattern's weight, in the type of the result.
    value : scalar
        Where to start from, in the type of the result.

    Returns
    -------
    value
    """
    a, b, c, d = value, identity, identity, identity
    j = begin
    while j + 4 < end:
        a = join(reduce, a, message(gather, state, indices, data, j, v, one))
        b = join(reduce, b, message(gather, state, indices, data, j + 1, v, one))
        c = join(reduce, c, message(gather, state, indices, data, j + 2, v, one))
        d = join(reduce, d, message(gather, state, indices, data, j + 3, v, one))
        j += 4
        if terminal is not None and (call(terminal, a) | call(terminal, b) | call(terminal, c) | call(terminal, d)):
            j = end
    last = indices.size - 1
    a = _join_if(reduce, j < end, a, message(gather, state, indices, data, min(j, last), v, one))
    b = _join_if(reduce, j + 1 < end, b, message(gather, state, indices, data, min(j + 1, last), v, one))
    c = _join_if(reduce, j + 2 < end, c, message(gather, state, indices, data, min(j + 2, last), v, one))
    d = _join_if(reduce, j + 3 < end, d, message(gather, state, indices, data, min(j + 3, last), v, one))
    return join(reduce, join(reduce, a, b), join(reduce, c, d))


@njit(error_model="numpy", forceinline=True)
def fold_active(gather, reduce, terminal, state, indices, data, begin, end, v, active, one, value):
    """`fold` over the entries whose source is in the bitmask `active`; also returns whether there was any."""
    found = False
    for j in range(begin, end):
        if is_set(active, vertex(indices, j)):
            found = True
            value = join(reduce, value, message(gather, state, indices, data, j, v, one))
            if terminal is not None and call(terminal, value):
                break
    return value, found


@njit(error_model="numpy", forceinline=True)
def fold_slab(gather, reduce, terminal, state, slab, data, rows, start, count, allowed, active, one, values):
    """`fold` over what an ELL slab holds of up to 64 rows, slot by slot: the rows of a slot lie side by side.

    Parameters
    ----------
    gather, reduce, terminal, state, active, one
        As for `fold`.
    slab, data : array, array or None
        The slab, flat: slot k of row v at ``k * rows + v``.
    rows : int64
        Rows of the matrix.
    start, count : int64
        First row, and how many.
    allowed : uint64
        Which of them to fold.
    values : array, shape (64,)
        Where to start from, and the folds.

    Returns
    -------
    uint64
        Rows in which any entry took part.
    """
    found = np.uint64(0)
    if terminal is None and (active is None or active.size == 0):
        for k in range(slab.size // rows):
            first, live = k * rows + start, False
            for i in range(count):
                if at(slab, first + i) >= 0:
                    live = True
                    sent = message(gather, state, slab, data, first + i, start + i, one)
                    values[i] = join(reduce, values[i], sent)
                    if k == 0:
                        found |= np.uint64(1) << np.uint64(i)
            if not live:
                break
        return found & allowed
    going = allowed
    for k in range(slab.size // rows):
        first, live = k * rows + start, False
        for i in range(count):
            bit = np.uint64(1) << np.uint64(i)
            if going & bit and at(slab, first + i) >= 0:
                live = True
                if active is None or active.size == 0 or is_set(active, vertex(slab, first + i)):
                    found |= bit
                    sent = message(gather, state, slab, data, first + i, start + i, one)
                    values[i] = join(reduce, values[i], sent)
                    if terminal is not None and call(terminal, values[i]):
                        going &= ~bit
        if not live:
            break
    return found
