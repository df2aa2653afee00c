"""Neighbours as numbers: each object that NetworkX lists next to a node is equal to a node, and we want which."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

import numpy as np

Int64s = np.ndarray[Any, np.dtype[np.int64]]
# Rows of which two neighbours are looked at, and the share of them above which a rule is taken for one.
_ASKED = 1 << 10
_MOST = 0.9
# Places of a table for each value in it: 64 bytes, where a dict has some 100.
_PLACES = 8


def neighbors_of(nodes: list[Any], rows: list[Any]) -> tuple[Int64s, Int64s]:
    """Who is next to whom, in the order in which NetworkX lists neighbours; parallel edges count once.

    Parameters
    ----------
    nodes : list
        The nodes, which get the numbers 0, 1, ...
    rows : list of mappings
        The neighbours of each.

    Returns
    -------
    indptr : int64 array of shape (n + 1,)
    indices : int64 array
        Both arcs of an undirected edge are there, as in ``graph.adj``.

    Examples
    --------
    >>> neighbors_of(["a", "b"], [{"b": {}, "a": {}}, {"a": {}}])
    (array([0, 2, 3]), array([1, 0, 0]))
    """
    indptr = np.zeros(len(nodes) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=indptr[1:])
    size = int(indptr[-1])
    if _are_integers(nodes):
        ends = np.fromiter(chain.from_iterable(rows), np.int64, size)
        return indptr, _Places(np.array(nodes, np.int64)).of(ends)
    found = _by_address(nodes, rows, size) if size > _ASKED else None
    if found is None and size:
        found = _by_hash(nodes, rows, size)
    if found is None:
        number_of = dict(zip(nodes, range(len(nodes)), strict=True))
        found = np.fromiter(map(number_of.__getitem__, chain.from_iterable(rows)), np.int64, size)
    return indptr, found


class _Places:
    """Where each of some distinct integers lies: by a table where they are close together, else by a search."""

    def __init__(self, known: Int64s) -> None:
        self.known = known
        self.lowest, highest = int(known.min()), int(known.max())
        self.table: Int64s | None = None
        if highest - self.lowest < _PLACES * len(known):
            self.table = np.zeros(highest - self.lowest + 1, np.int64)
            self.table[known - self.lowest] = np.arange(len(known))

    def of(self, wanted: Int64s) -> Int64s:
        """The place of each; that of a value which is not known is any."""
        if self.table is not None:
            return self.table.take(wanted - self.lowest, mode="clip")
        order, turn = np.argsort(self.known), np.argsort(wanted)
        # In ascending order the search goes through the known values once, from cache.
        at = np.searchsorted(self.known[order], wanted[turn])
        places = np.empty(len(wanted), np.int64)
        places[turn] = order.take(at, mode="clip")
        return places


def _are_integers(nodes: list[Any]) -> bool:
    return set(map(type, nodes)) == {int} and min(nodes) >= -(1 << 62) and max(nodes) < 1 << 62


def _by_address(nodes: list[Any], rows: list[Any], size: int) -> Int64s | None:
    """By where the objects lie, without a look into them; None unless they are the nodes' objects, as a rule."""
    known = _addresses(np.fromiter(nodes, object, len(nodes)))
    places = _Places(known)
    sample = list(chain.from_iterable(islice(row, 2) for row in rows[:: max(1, len(rows) // _ASKED)]))
    asked = _addresses(np.fromiter(sample, object, len(sample)))
    if np.count_nonzero(known[places.of(asked)] == asked) <= _MOST * len(asked):
        return None
    ends = np.fromiter(chain.from_iterable(rows), object, size)
    wanted = _addresses(ends)
    numbers = places.of(wanted)
    others = known[numbers] != wanted
    if others.any():
        equal = _by_hash(nodes, [ends[others].tolist()], int(others.sum()))
        if equal is None:
            return None
        numbers[others] = equal
    return numbers


def _by_hash(nodes: list[Any], rows: list[Any], size: int) -> Int64s | None:
    """By their hashes, without a look at the nodes that they are equal to; None where two nodes have the same hash."""
    known = np.fromiter(map(hash, nodes), np.int64, len(nodes))
    ascending = np.sort(known)
    if (ascending[1:] == ascending[:-1]).any():
        return None
    wanted = np.fromiter(map(hash, chain.from_iterable(rows)), np.int64, size)
    numbers = _Places(known).of(wanted)
    return numbers if (known[numbers] == wanted).all() else None


def _addresses(objects: np.ndarray[Any, Any]) -> Int64s:
    # An array of objects holds pointers; an object takes 16 bytes at the least, so sixteenths tell them apart.
    return np.frombuffer(objects.tobytes(), np.intp) >> 4
