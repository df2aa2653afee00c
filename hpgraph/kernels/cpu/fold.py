"""The inner loop of every pull: the messages of some entries of one row, folded into one value.

A matrix semiring and a vertex program arrive in the same form: ``gather(state, source, weight, target)`` makes the
message of an entry, ``reduce(a, b)`` joins two. Both are arguments that Numba inlines (`hpgraph.semiring.jit`).
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

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


def weight(data, position, one):
    """Weight of an entry: ``data[position]``, or `one` where the matrix is a pattern and `data` is None."""
    return one if data is None else data[position]


@overload(weight, inline="always")
def _weight(data, position, one):
    if isinstance(data, types.NoneType):
        return lambda data, position, one: one
    return lambda data, position, one: at(data, position)


def slab_weight(data, k, v, one):
    """`weight` in an ELL slab."""
    return one if data is None else data[k, v]


@overload(slab_weight, inline="always")
def _slab_weight(data, k, v, one):
    if isinstance(data, types.NoneType):
        return lambda data, k, v, one: one
    return lambda data, k, v, one: data[k, v]


@intrinsic
def at(typingctx, array, position):
    """``array[position]`` of a contiguous array, for a position that is not negative.

    Numba lets negative indices count from the end, and so adds a comparison to every access; here that costs a fifth.
    """
    if not isinstance(array, types.Array) or array.ndim != 1 or array.layout != "C":
        raise TypingError(f"at() needs a contiguous 1-d array, not {array}")

    def generate(context, builder, signature, args):
        kind = signature.args[0]
        values = context.make_array(kind)(context, builder, args[0])
        pointer = builder.gep(values.data, [args[1]])
        return context.unpack_value(builder, kind.dtype, pointer)

    return array.dtype(array, types.int64), generate


def vertex(indices, position):
    """``indices[position]`` as int64, in a way that tells LLVM that it is not negative where that costs nothing."""
    return int(indices[position])


@overload(vertex, inline="always")
def _vertex(indices, position):
    if indices.dtype == types.int32:
        return lambda indices, position: np.int64(np.uint32(at(indices, position)))
    return lambda indices, position: at(indices, position)


@njit(inline="always")
def is_set(words, v):
    """Whether bit `v` of a bitmask is set."""
    return (words[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != np.uint64(0)


@njit(inline="always")
def is_allowed(mask, complement, v):
    """Whether row `v` may be written; an empty `mask` allows all."""
    return mask.size == 0 or is_set(mask, v) != complement


@njit(error_model="numpy")
def message(gather, state, indices, data, j, v, one):
    """What entry `j` of row `v` sends, in the type of the result."""
    return convert(one, call(gather, state, vertex(indices, j), weight(data, j, one), v))


@njit(error_model="numpy")
def join(reduce, a, b):
    """Two messages as one, in their own type (Numba would widen small integers)."""
    return convert(a, call(reduce, a, b))


@njit(error_model="numpy")
def fold(gather, reduce, terminal, state, indices, data, begin, end, v, active, one, value):
    """Fold the messages of entries begin..end, which point into row `v`, into `value`.

    Parameters
    ----------
    gather, reduce : Function
    terminal : Function or None
        Tells of a value whether nothing more can change it.
    state : tuple of arrays
    indices, data : array, array or None
    begin, end, v : int64
    active : uint64 array
        Bitmask of sources that send; empty where all do.
    one : scalar
        A pattern's weight, in the type of the result.
    value : scalar
        Where to start from, in the type of the result.

    Returns
    -------
    value, bool
        The fold, and whether any entry took part.
    """
    if active.size:
        found = False
        for j in range(begin, end):
            if is_set(active, vertex(indices, j)):
                found = True
                value = join(reduce, value, message(gather, state, indices, data, j, v, one))
                if terminal is not None and call(terminal, value):
                    break
        return value, found
    j = begin
    if terminal is not None:
        while j < end:
            value = join(reduce, value, message(gather, state, indices, data, j, v, one))
            if call(terminal, value):
                break
            j += 1
        return value, end > begin
    if end - begin >= 8:
        # Four chains: one alone would wait for each result before it starts the next.
        a = message(gather, state, indices, data, j, v, one)
        b = message(gather, state, indices, data, j + 1, v, one)
        c = message(gather, state, indices, data, j + 2, v, one)
        d = message(gather, state, indices, data, j + 3, v, one)
        j += 4
        while j + 4 <= end:
            a = join(reduce, a, message(gather, state, indices, data, j, v, one))
            b = join(reduce, b, message(gather, state, indices, data, j + 1, v, one))
            c = join(reduce, c, message(gather, state, indices, data, j + 2, v, one))
            d = join(reduce, d, message(gather, state, indices, data, j + 3, v, one))
            j += 4
        value = join(reduce, value, join(reduce, join(reduce, a, b), join(reduce, c, d)))
    while j < end:
        value = join(reduce, value, message(gather, state, indices, data, j, v, one))
        j += 1
    return value, end > begin


@njit(error_model="numpy")
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
    if terminal is None and active.size == 0:
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
                if active.size == 0 or is_set(active, vertex(slab, first + i)):
                    found |= bit
                    sent = message(gather, state, slab, data, first + i, start + i, one)
                    values[i] = join(reduce, values[i], sent)
                    if terminal is not None and call(terminal, values[i]):
                        going &= ~bit
        if not live:
            break
    return found
