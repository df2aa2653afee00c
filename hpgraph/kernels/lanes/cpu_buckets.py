"""Who waits to send in which of its lanes, in the buckets of delta-stepping that all lanes share.

A vertex waits in the bucket of its least changed value; a word says in which lanes it does. Values are counted from
an origin of each lane, so that lanes meet in the same buckets although they start at different places.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hpgraph.kernels.relaxation.buckets import (
    BLOCK,
    BUCKETS,
    DENSITY,
    bucket_of,
    empty,
    hand_back,
    put,
)
from hpgraph.kernels.runtime.cpu.bits import lowest_bit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, vertex
from hpgraph.semiring.atomics import atomic_or, compare_and_swap

# Where a vertex stands that stands in no bucket.
NOWHERE = BUCKETS + 1


class Values(NamedTuple):
    """The property of up to 64 lanes.

    Attributes
    ----------
    flat : array of length n * k
        The values of a vertex side by side.
    k : int
        Number of lanes.
    origins : float64 array of length k
        Where a lane's values are counted from.
    """

    flat: Any
    k: Any
    origins: Any


class Waiting(NamedTuple):
    """Who waits.

    Attributes
    ----------
    words : uint64 array of length n
        In which lanes.
    places : int8 array of length n
        The lowest bucket that it was put in since it last sent.
    """

    words: Any
    places: Any


@part(forceinline=True)
def announce(v, lanes, bucket, waiting, row, store, alone):
    """Let a vertex wait in some more lanes, the least of whose values lies in a bucket.

    Whoever takes the word marks the vertex as standing nowhere before, so that who adds to the word later sees that.
    """
    words, places = waiting.words, waiting.places
    if alone:
        before = peek(words, v)
        words[v] = before | lanes
    else:
        before = atomic_or(words, v, lanes)
    if before == np.uint64(0) or bucket < places[v]:
        places[v] = bucket
        put(v, bucket, row, store)


@part(forceinline=True)
def take_word(v, waiting, alone):
    """The lanes in which a vertex waits; it waits no more."""
    words, places = waiting.words, waiting.places
    places[v] = NOWHERE
    word = peek(words, v)
    if alone:
        words[v] = 0
        return word
    while not compare_and_swap(words, v, word, np.uint64(0)):
        word = peek(words, v)
    return word


@part(forceinline=True)
def split_word(word, values, v, step):
    """Of some lanes of a vertex: those that send in this bucket, and the bucket of the others."""
    if step.density == 0:
        return word, NOWHERE
    flat, origins, at = values.flat, values.origins, v * values.k
    near, later = np.uint64(0), NOWHERE
    while word:
        lane = lowest_bit(word)
        flag = word & (~word + np.uint64(1))
        word ^= flag
        bucket = bucket_of(peek(flat, at + lane), peek(origins, lane), step.density, step.now)
        if bucket == step.now:
            near |= flag
        else:
            later = min(later, bucket)
    return near, later


@part
def _least_key(v, word, values):
    """The least value of a vertex in some lanes, counted from their origins."""
    least = np.inf
    at = v * values.k
    while word:
        lane = lowest_bit(word)
        word &= word - np.uint64(1)
        least = min(least, float(peek(values.flat, at + lane)) - values.origins[lane])
    return least


@part
def _begin_at(least, values):
    """Count from another value on, where there is one."""
    if -np.inf < least < np.inf:
        for lane in range(values.k):
            values.origins[lane] += least


@part
def spread(found, values, waiting, store, scale):
    """Distribute the drawn vertices of the overflow bucket over all buckets; the first begins at their least value.

    Returns whether any of them waited.
    """
    any_, least = False, np.inf
    for i in range(found):
        for place in range(store.drawn[i, 0] * BLOCK, store.drawn[i, 0] * BLOCK + store.drawn[i, 1]):
            v = vertex(store.vertices, place)
            if waiting.words[v]:
                any_, least = True, min(least, _least_key(v, waiting.words[v], values))
    if any_:
        _begin_at(least, values)
        for i in range(found):
            for place in range(store.drawn[i, 0] * BLOCK, store.drawn[i, 0] * BLOCK + store.drawn[i, 1]):
                _put_again(vertex(store.vertices, place), values, waiting, store, scale)
    hand_back(store, found)
    return any_


@part
def recover(values, waiting, store, scale):
    """Rebuild the buckets from who waits, after the store overflowed: many vertices stood there more than once."""
    least = np.inf
    for v in range(waiting.words.size):
        if waiting.words[v]:
            least = min(least, _least_key(v, waiting.words[v], values))
    _begin_at(least, values)
    empty(store)
    for v in range(waiting.words.size):
        _put_again(v, values, waiting, store, scale)


@part
def _put_again(v, values, waiting, store, scale):
    if waiting.words[v]:
        bucket = bucket_of(_least_key(v, waiting.words[v], values), 0.0, scale[DENSITY], 0)
        waiting.places[v] = bucket
        put(v, bucket, store.buckets[0], store)
