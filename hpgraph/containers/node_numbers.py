"""The number of the node that each object in NetworkX's adjacency equals."""

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

from hpgraph.containers.names import SortedNumbers
from hpgraph.formats.checks import index_dtype

Int64s = np.ndarray[Any, np.dtype[np.int64]]
Indices = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
# Returns the numbers of the next `count` neighbours.
Rule = Callable[[Iterator[Any], int], Indices]
# Neighbours numbered together: several such arrays fit a core's cache.
_BLOCK = 1 << 14
# Number of rows from which two neighbours are sampled, and the share of matches above which a rule is used.
_ASKED = 1 << 10
_MAX = 0.9
# Minimum number of slots of a hash table for each value, of four bytes each; a dict takes some 100 bytes a value.
_SLOTS = 4
# Below this many values a binary search is as fast.
_FEW = 16
# 2^64 over the golden ratio: D. E. Knuth, The Art of Computer Programming, volume 3, section 6.4.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def neighbors_of(nodes: list[Any], rows: list[Any]) -> tuple[Int64s, Indices]:
    """Adjacency as ``indptr, indices``, in the order in which NetworkX lists neighbours; parallel edges count once."""
    indptr = np.zeros(len(nodes) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=indptr[1:])
    indices = np.empty(indptr[-1], index_dtype(len(nodes)))
    if indices.size:
        numbers_of, neighbors = _rule(nodes, rows), chain.from_iterable(rows)
        for begin in range(0, len(indices), _BLOCK):
            block = indices[begin : begin + _BLOCK]
            block[:] = numbers_of(neighbors, len(block))
    return indptr, indices


def _rule(nodes: list[Any], rows: list[Any]) -> Rule:
    """The fastest rule that is correct for these nodes."""
    integers = _as_integers(nodes)
    if integers is not None:
        return _integers if np.array_equal(integers, np.arange(len(integers))) else _by_value(integers)
    return _by_address(nodes, rows) or _by_hash(nodes) or _by_dict(nodes)


def _as_integers(nodes: list[Any]) -> Int64s | None:
    """The nodes as an array, if all are Python integers within 64 bits; else None."""
    if type(nodes[0]) is not int or set(map(type, nodes)) != {int}:
        return None
    try:
        return np.fromiter(nodes, np.int64, len(nodes))
    except OverflowError:
        return None


def _integers(neighbors: Iterator[Any], count: int) -> Indices:
    return np.fromiter(neighbors, np.int64, count)


def _by_value(known: Int64s) -> Rule:
    places = _Places(known)
    return lambda neighbors, count: places.find_all(_integers(neighbors, count))


def _by_address(nodes: list[Any], rows: list[Any]) -> Rule | None:
    """A rule by the objects' addresses; None unless neighbours are mostly the same objects as the nodes."""
    places = _Places(_addresses(np.fromiter(nodes, object, len(nodes))))
    sample = list(chain.from_iterable(islice(row, 2) for row in rows[:: max(1, len(rows) // _ASKED)]))
    addresses = _addresses(np.fromiter(sample, object, len(sample))) if sample else np.empty(0, np.int64)
    if np.count_nonzero(places.find_all(addresses) >= 0) <= _MAX * len(addresses):
        return None
    by_dict: Rule | None = None

    def numbers_of(neighbors: Iterator[Any], count: int) -> Indices:
        nonlocal by_dict
        objects = np.fromiter(neighbors, object, count)
        numbers = places.find_all(_addresses(objects))
        others = np.flatnonzero(numbers < 0)
        if others.size:
            by_dict = by_dict or _by_dict(nodes)
            numbers[others] = by_dict(iter(objects[others].tolist()), len(others))
        return numbers

    return numbers_of


def _by_hash(nodes: list[Any]) -> Rule | None:
    """A rule by hashes, without comparing nodes; None if two nodes have the same hash."""
    hashes = np.fromiter(map(hash, nodes), np.int64, len(nodes))
    ascending = np.sort(hashes)
    if (ascending[1:] == ascending[:-1]).any():
        return None
    places = _Places(hashes)
    return lambda neighbors, count: places.find_all(_integers(map(hash, neighbors), count))


def _by_dict(nodes: list[Any]) -> Rule:
    number_of = dict(zip(nodes, range(len(nodes)), strict=True)).__getitem__
    return lambda neighbors, count: _integers(map(number_of, neighbors), count)


class _Places:
    """Position of each of some distinct integers: hashing; colliding values go into a further table, and so on."""

    def __init__(self, known: Int64s) -> None:
        self.known = known
        numbers: Indices = np.arange(len(known), dtype=index_dtype(len(known)))
        bits = (_SLOTS * len(known)).bit_length()
        self.shift = np.uint64(64 - bits)
        self.table = np.zeros(1 << bits, numbers.dtype)
        slots = self._slots(known)
        self.table[slots] = numbers
        self.lost = np.flatnonzero(self.table[slots] != numbers)
        others = known[self.lost]
        self.others = _Places(others) if _FEW < len(others) < len(known) // 2 else SortedNumbers(others)

    def _slots(self, values: Int64s) -> Int64s:
        product = values.view(np.uint64) * _MULTIPLIER
        product >>= self.shift
        return product.view(np.int64)

    def find_all(self, wanted: Int64s) -> Indices:
        """The position of each value; -1 if unknown."""
        places = self.table.take(self._slots(wanted))
        missed = np.flatnonzero(self.known.take(places) != wanted)
        if missed.size:
            indices = self.others.find_all(wanted[missed])
            places[missed] = -1
            places[missed[indices >= 0]] = self.lost[indices[indices >= 0]]
        return places


def _addresses(objects: np.ndarray[Any, Any]) -> Int64s:
    """An array of objects holds pointers."""
    return np.frombuffer(objects, np.intp)
