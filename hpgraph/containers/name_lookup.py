"""From a name to its vertex: by hashes, or by binary search where names are whole numbers."""

from __future__ import annotations

import operator
from bisect import bisect_left
from numbers import Number
from typing import Any

import numpy as np

from hpgraph.containers.name_arrays import python_values


class HashedNames:
    """The vertex of each name by its hash, 12 to 16 bytes a name: the names themselves stay where they are."""

    def __init__(self, names: np.ndarray[Any, Any]) -> None:
        hashes = np.fromiter(map(hash, python_values(names)), np.int64, len(names))
        order = np.argsort(hashes, kind="stable")
        self._names, self._hashes = names, hashes[order]
        self._order = order.astype(np.int32) if len(names) < 1 << 31 else order
        # For one name, Python's own search takes half of NumPy's time.
        self._listed = self._hashes.data
        alike = np.flatnonzero(self._hashes[1:] == self._hashes[:-1])
        if alike.size:
            self._refuse_twins(alike)

    def _refuse_twins(self, alike: np.ndarray[Any, Any]) -> None:
        """Names of one hash must differ."""
        vertices = np.unique(self._order[np.union1d(alike, alike + 1)])
        last: dict[Any, int] = {}
        for vertex, name in zip(vertices.tolist(), python_values(self._names[vertices]), strict=True):
            last[name] = vertex
        if len(last) < len(vertices):
            for vertex, name in zip(vertices.tolist(), python_values(self._names[vertices]), strict=True):
                if last[name] != vertex:
                    raise _twice(vertex, last[name], name)

    def find(self, name: Any) -> int:
        """The vertex, or -1."""
        try:
            wanted = hash(name)
        except TypeError:  # what has no hash is no name
            return -1
        hashes, at = self._listed, bisect_left(self._listed, wanted)
        while at < len(hashes) and hashes[at] == wanted:
            vertex = int(self._order[at])
            held = self._names[vertex]
            if held is name or held == name:
                return vertex
            at += 1
        return -1

    def find_listed(self, names: list[Any]) -> np.ndarray[Any, Any]:
        """The vertices of many names, -1 for what is no name."""
        try:
            wanted = np.fromiter(map(hash, names), np.int64, len(names))
        except TypeError:
            return np.array([self.find(name) for name in names], dtype=np.int64)
        if not len(self._hashes):
            return np.full(len(names), -1)
        order = np.argsort(wanted)
        places = np.empty(len(names), dtype=np.int64)
        places[order] = np.minimum(self._hashes.searchsorted(wanted[order]), len(self._hashes) - 1)
        found = np.where(self._hashes[places] == wanted, self._order[places], -1)
        held = python_values(self._names[np.maximum(found, 0)])
        for place, (name, other, vertex) in enumerate(zip(names, held, found.tolist(), strict=True)):
            if vertex >= 0 and not (other is name or other == name):
                found[place] = self.find(name)
        return found


class SortedNumbers:
    """The vertex of each of many whole numbers, by binary search: 16 bytes a name at most, none where they ascend."""

    def __init__(self, names: np.ndarray[Any, Any]) -> None:
        self._sorted, self._order = names, None
        if not (names[1:] > names[:-1]).all():
            self._order = np.argsort(names)
            self._sorted = names[self._order]
            again = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
            if again.size:
                first, second = sorted(self._order[again[0] : again[0] + 2].tolist())
                raise _twice(first, second, int(names[first]))
        self._least, self._most = (int(self._sorted[0]), int(self._sorted[-1])) if names.size else (0, -1)

    def find(self, name: Any) -> int:
        """The vertex, or -1."""
        number = _as_integer(name)
        if number is None or not self._least <= number <= self._most:
            return -1
        # In the names' own type: NumPy would convert all of them to one that holds both.
        place = int(self._sorted.searchsorted(self._sorted.dtype.type(number)))
        if self._sorted[place] != number:
            return -1
        return place if self._order is None else int(self._order[place])

    def find_all(self, names: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The vertices, with -1 for what is no name."""
        if self._sorted.size == 0:
            return np.full(names.shape, -1)
        inside = (names >= self._least) & (names <= self._most)
        wanted = names.astype(self._sorted.dtype)
        # In ascending order, where one search begins near the end of the last: several times as fast for many names.
        order = np.argsort(wanted)
        places = np.empty(wanted.size, dtype=np.int64)
        places[order] = self._sorted.searchsorted(wanted[order])
        places = np.minimum(places, self._sorted.size - 1)
        there = inside & (self._sorted[places] == wanted)
        return np.where(there, places if self._order is None else self._order[places], -1)


def _as_integer(name: Any) -> int | None:
    """The whole number that a name equals, as 5.0 equals 5."""
    try:
        return operator.index(name)
    except TypeError:
        pass
    if not isinstance(name, Number | np.generic):
        return None
    try:
        number = int(name)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number == name else None


def _twice(first: int, second: int, name: Any) -> ValueError:
    return ValueError(
        f"vertices {first} and {second} are both named {name!r}: names must differ, as vertices go by them"
    )
