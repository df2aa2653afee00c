"""A 4-ary heap: parallel arrays of keys and vertices, the least key first; complex keys are pairs."""

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek


@part
def precedes(key, other):
    """Whether a key is less than another; of pairs, by the second parts where the first are equal."""
    return key.real < other.real or (key.real == other.real and key.imag < other.imag)


@part
def push(keys, vertices, size, key, vertex):
    """Insert an element; there is room for it. Returns the new size."""
    at = size
    while at > 0:
        above = (at - 1) >> 2
        if not precedes(key, peek(keys, above)):
            break
        keys[at], vertices[at] = peek(keys, above), peek(vertices, above)
        at = above
    keys[at], vertices[at] = key, vertex
    return size + 1


@part
def pop(keys, vertices, size):
    """Remove the first element. Returns the new size."""
    size -= 1
    key, vertex = peek(keys, size), peek(vertices, size)
    at = 0
    while True:
        least = 4 * at + 1
        if least >= size:
            break
        for child in range(least + 1, min(least + 3, size - 1) + 1):
            if precedes(peek(keys, child), peek(keys, least)):
                least = child
        if not precedes(peek(keys, least), key):
            break
        keys[at], vertices[at] = peek(keys, least), peek(vertices, least)
        at = least
    keys[at], vertices[at] = key, vertex
    return size
