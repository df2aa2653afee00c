"""Claims of vertices by several threads, and appending them to the next frontier's queue; used by every push.

The queue is filled as in the GAP Benchmark Suite (S. Beamer, K. Asanović, D. Patterson, arXiv:1508.03619): each
worker fills a small buffer of its own and reserves room in the shared queue once per buffer, with one atomic
addition.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from hpgraph.kernels.runtime.cpu.bits import lowest_bit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import copy_items
from hpgraph.kernels.runtime.cpu.work_stealing import TAIL
from hpgraph.semiring.atomics import atomic_or, fetch_add
from hpgraph.semiring.intrinsic import instruction

# Vertices in a worker's buffer before it reserves room for them in the shared queue.
BUFFER = 1024
# Neighbours that are tested together.
AT_ONCE = 8


@part
def bit(words, v):
    """Bit ``v``, 0 or 1."""
    return (words[v >> 6] >> np.uint64(v & 63)) & np.uint64(1)


@part
def test(words, v):
    """Whether bit ``v`` is set."""
    return bit(words, v) != np.uint64(0)


def _all_set(words: Any, ids: Any, position: int) -> bool:
    return all(bit(words, int(v)) for v in ids[position : position + AT_ONCE])


@instruction(lambda words, ids, position: types.boolean(words, ids, types.int64), _all_set)
def all_set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Whether bits ``ids[position]`` and the next `AT_ONCE` - 1 are set; a loop would take much longer to compile."""
    word, whole = ir.IntType(64), ir.Constant(ir.IntType(64), 1)
    data, vertices = (context.make_array(sig.args[k])(context, builder, args[k]).data for k in (0, 1))
    for k in range(AT_ONCE):
        place = builder.gep(vertices, [builder.add(args[2], ir.Constant(word, k))], inbounds=True)
        v = builder.load(place)
        v = builder.zext(v, word) if v.type.width < word.width else v
        at = builder.gep(data, [builder.lshr(v, ir.Constant(word, 6))], inbounds=True)
        flag = builder.lshr(builder.load(at), builder.and_(v, ir.Constant(word, 63)))
        whole = builder.and_(whole, flag)
    return builder.trunc(whole, ir.IntType(1))


@part
def claim(words, v, alone):
    """Test-and-set bit ``v``: true for the caller that set it. ``alone``: no other thread writes, so no atomic."""
    flag = np.uint64(1) << np.uint64(v & 63)
    if alone:
        seen = words[v >> 6]
        words[v >> 6] = seen | flag
    else:
        seen = atomic_or(words, v >> 6, flag)
    return seen & flag == np.uint64(0)


@part
def mark(words, v):
    """Set bit ``v``; not atomic."""
    words[v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@part
def clear(words):
    """Clear all bits."""
    for i in range(words.size):
        words[i] = 0


@part
def flush(buffer, filled, queue, board):
    """Move ``filled`` vertices from a worker's buffer to the shared queue."""
    start = fetch_add(board, TAIL, filled)
    copy_items(queue, np.uint64(start), buffer, np.uint64(0), np.uint64(filled))
    return 0


@part
def list_bits(words, queue, count):
    """Append the positions of the set bits, ascending, to the ``count`` elements of ``queue``; return the new count."""
    for i in range(words.size):
        word = words[i]
        while word:
            low = word & (~word + np.uint64(1))
            queue[count] = (i << 6) + lowest_bit(word)
            count += 1
            word ^= low
    return count
