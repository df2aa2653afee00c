"""The buckets of multi-source delta-stepping, shared by all sources.

A vertex waits in the bucket of its least changed value; the bits of a word are the sources in which it waits. Values
are relative to an origin of each source, so that different sources use the same buckets at the same time.
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

# The place of a vertex in no bucket.
NOWHERE = BUCKETS + 1


class Values(NamedTuple):
    """The property, for up to 64 sources.

    ``flat`` (array of length n * k): the values of a vertex are contiguous; ``k`` (int): number of sources; ``origins``
    (float64 array of length k): origin of each source's values.
    """

    flat: Any
    k: Any
    origins: Any


class Waiting(NamedTuple):
    """Waiting vertices.

    ``words`` (uint64 array of length n): bits of the sources in which each vertex waits; ``places`` (int8 array of
    length n): the lowest bucket that each was put in since it last sent.
    """

    words: Any
    places: Any


@part(forceinline=True)
def mark_waiting(v, searches, bucket, waiting, row, store, alone):
    """Mark a vertex as waiting in further sources, the least of whose values lies in `bucket`.

    `take_word` resets the vertex's place before it clears the word, so that a later addition to the word sees that.
    """
    words, places = waiting.words, waiting.places
    if alone:
        before = peek(words, v)
        words[v] = before | searches
    else:
        before = atomic_or(words, v, searches)
    if before == np.uint64(0) or bucket < places[v]:
        places[v] = bucket
        put(v, bucket, row, store)


@part(forceinline=True)
def take_word(v, waiting, alone):
    """Take and clear the word of sources in which a vertex waits."""
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
    """Of a word of sources of a vertex: those that send in this bucket, and the least bucket of the others."""
    if step.density == 0:
        return word, NOWHERE
    flat, origins, at = values.flat, values.origins, v * values.k
    near, later = np.uint64(0), NOWHERE
    while word:
        search = lowest_bit(word)
        flag = word & (~word + np.uint64(1))
        word ^= flag
        bucket = bucket_of(peek(flat, at + search), peek(origins, search), step.density, step.now)
        if bucket == step.now:
            near |= flag
        else:
            later = min(later, bucket)
    return near, later


@part
def _least_key(v, word, values):
    """The least value of a vertex in some sources, relative to their origins."""
    least = np.inf
    at = v * values.k
    while word:
        search = lowest_bit(word)
        word &= word - np.uint64(1)
        least = min(least, float(peek(values.flat, at + search)) - values.origins[search])
    return least


@part
def _begin_at(least, values):
    """Advance all origins by `least`, if it is finite."""
    if -np.inf < least < np.inf:
        for search in range(values.k):
            values.origins[search] += least


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
    """Rebuild the buckets from the waiting words, after the store overflowed with stale copies."""
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
