"""Names of vertices, and the lookup of a vertex by name.

Names are of any hashable type, and equal as in Python: 1, 1.0 and True are one name.
"""

import difflib
import operator
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np

from hpgraph.containers.name_arrays import as_array, python_values, text_by_length
from hpgraph.containers.vertices import checked_index, id
from hpgraph.core.device import is_cuda, to_device, unmasked
from hpgraph.formats.interchange import own

# Names compared with one that is unknown: comparing is slow, and a message must come at once.
_COMPARED = 200_000
# Names that a graph shows of itself, and characters of each.
_SHOWN = 3
_LONGEST_SHOWN = 40


class Names:
    """One name for each vertex.

    ``array`` (numpy.ndarray of shape (n,), read-only): of text, integers or floats if all names are such, else of
    objects. Text is of fixed width, or of NumPy's StringDType if that takes less memory.
    """

    def __init__(self, array: np.ndarray[Any, Any] | Callable[[], np.ndarray[Any, Any]]) -> None:
        """From an array, which is copied if it is writable, or from a function that returns one on first use."""
        if callable(array):
            self._make = array
        else:
            self.array = _locked(array)

    @cached_property
    def array(self) -> np.ndarray[Any, Any]:  # noqa: D102 (the class describes it)
        return _locked(self._make())

    def __getstate__(self) -> dict[str, Any]:
        # The lookup table can be rebuilt.
        return {"array": self.array}

    def check(self) -> None:
        """Refuse duplicate names; the lookup table is kept."""
        self._table  # noqa: B018

    def take(self, vertices: Any) -> "Names":
        """The names of some vertices, gathered on first use."""
        return Names(lambda: self.array[to_device(vertices, "cpu")])

    def with_more(self, names: list[Any]) -> "Names":
        """These names, and others behind them."""
        more = as_array(names)
        if not len(more):
            return self
        if self.array.dtype.kind == more.dtype.kind and more.dtype.kind in "iufUT":
            return Names(np.concatenate((self.array, more)))
        return Names(as_array([*python_values(self.array), *python_values(more)]))

    def places_of(self, names: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The vertices of many names, -1 for what is no name: an int64 array."""
        return self._table.find_all(names)

    @property
    def some(self) -> str:
        """The first names, formatted for a message."""
        texts = [text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
                 for text in map(repr, python_values(self.array[:_SHOWN]))]  # fmt: skip
        return ", ".join(texts + ["..."] * (len(self.array) > _SHOWN))

    def __contains__(self, name: Any) -> bool:
        return self._table.find(name) >= 0

    def index_of(self, name: Any) -> int:
        """The vertex of a name."""
        if getattr(name, "shape", None) == () and not isinstance(name, np.generic):
            name = name.item()  # an array without dimensions
        index = self._table.find(name)
        if index < 0:
            raise self._unknown(name)
        return index

    def indices_of(self, names: Any) -> np.ndarray[Any, Any]:
        """The vertices of many names: an int64 array of shape (k,)."""
        if not isinstance(names, np.ndarray):
            names = to_device(names, "cpu") if is_cuda(names) or hasattr(names, "__array__") else as_array(list(names))
        names = names.reshape(-1)
        ids = [i for i, name in enumerate(names) if isinstance(name, id)] if names.dtype == object else []
        indices = self._table.find_all(names)
        indices[ids] = [checked_index(names[i], len(self.array), "index") for i in ids]
        if names.size and indices.min() < 0:
            unknown = indices.argmin()
            raise self._unknown(python_values(names[unknown : unknown + 1])[0])
        return indices

    @cached_property
    def _table(self) -> "SortedNumbers | HashedNames":
        return (SortedNumbers if self.array.dtype.kind in "iu" else HashedNames)(self.array)

    def _unknown(self, name: Any) -> ValueError:
        """The error for an unknown name, which suggests similar ones."""
        message = f"no vertex is named {name!r}"
        other = _as_other_type(name)
        meant = f": did you mean {other!r}? Names" if other is not None and self._table.find(other) >= 0 else "; names"
        if isinstance(name, str) and meant == "; names":
            known = [text for text in python_values(self.array[:_COMPARED]) if isinstance(text, str)]
            if near := difflib.get_close_matches(name, known, n=3):
                return ValueError(f"{message}: did you mean {' or '.join(map(repr, near))}?")
        index = f"{int(name)}" if isinstance(name, int | np.integer) and 0 <= name < len(self.array) else "i"
        by_index = f"hpgraph.id({index}) is the vertex of index {index}"
        return ValueError(f"{message}{meant} are such as {self.some}; {by_index}")


def _locked(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def _as_other_type(name: Any) -> int | str | None:
    """A number as text, text as a number."""
    if isinstance(name, str) and name.isascii() and name.lstrip("+-").isdecimal() and len(name) < 20:
        return int(name)
    return str(name) if isinstance(name, int | np.integer) else None


def as_names(names: Iterable[Any] | None, n: int) -> Names | None:
    """One name for each vertex; None too where names are 0, 1, ..., n - 1 in this order, which are the indices."""
    if names is None:
        return None
    if isinstance(names, str | bytes) or not hasattr(names, "__iter__"):
        raise TypeError(f"names must be a sequence with one name for each vertex, not {names!r}")
    names = unmasked(names, "names")
    array = to_device(names, "cpu") if isinstance(names, np.ndarray) or is_cuda(names) else as_array(list(names))
    if array.shape != (n,):
        raise ValueError(f"names must hold one name for each of the {n} vertices, not shape {array.shape}")
    if array.dtype.kind == "O":
        plain = as_array(array.tolist())
        array = plain if plain.dtype.kind in "iufT" else array
    elif array.dtype.kind == "U" and n:
        by_length = text_by_length(array.tolist())
        array = array if by_length is None else by_length
    if n == 0 or (array.dtype.kind in "iu" and array[0] == 0 and np.array_equal(array, np.arange(n))):
        return None
    if array.dtype.kind == "O":
        for name in array.tolist():
            try:
                hash(name)
            except TypeError:
                raise TypeError(f"names must be hashable, and {name!r} is not") from None
    array = own(array, names)
    array.flags.writeable = False
    named = Names(array)
    named.check()
    return named


class HashedNames:
    """The vertex of each name by its hash, 12 to 16 bytes a name; the names are not copied."""

    def __init__(self, names: np.ndarray[Any, Any]) -> None:
        hashes = np.fromiter(map(hash, python_values(names)), np.int64, len(names))
        order = np.argsort(hashes, kind="stable")
        self._names, self._hashes = names, hashes[order]
        self._order = order.astype(np.int32) if len(names) < 1 << 31 else order
        # For one name, Python's own search takes half of NumPy's time.
        self._listed = self._hashes.data
        collisions = np.flatnonzero(self._hashes[1:] == self._hashes[:-1])
        if collisions.size:
            self._refuse_mixed_types(collisions)

    def _refuse_mixed_types(self, alike: np.ndarray[Any, Any]) -> None:
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
            key = hash(name)
        except TypeError:  # what has no hash is no name
            return -1
        hashes, at = self._listed, bisect_left(self._listed, key)
        while at < len(hashes) and hashes[at] == key:
            vertex = int(self._order[at])
            stored = self._names[vertex]
            if stored is name or stored == name:
                return vertex
            at += 1
        return -1

    def find_all(self, given: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The vertices of many names, -1 for what is no name."""
        names = python_values(given)
        try:
            hashes = np.fromiter(map(hash, names), np.int64, len(names))
        except TypeError:
            return np.array([self.find(name) for name in names], dtype=np.int64)
        if not len(self._hashes):
            return np.full(len(names), -1)
        order = np.argsort(hashes)
        places = np.empty(len(names), dtype=np.int64)
        places[order] = np.minimum(self._hashes.searchsorted(hashes[order]), len(self._hashes) - 1)
        indices = np.where(self._hashes[places] == hashes, self._order[places], -1)
        stored = python_values(self._names[np.maximum(indices, 0)])
        for place, (name, other, vertex) in enumerate(zip(names, stored, indices.tolist(), strict=True)):
            if vertex >= 0 and not (other is name or other == name):
                indices[place] = self.find(name)
        return indices


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
        # In the names' own type, since NumPy would otherwise convert all of them to a common type.
        place = int(self._sorted.searchsorted(self._sorted.dtype.type(number)))
        if self._sorted[place] != number:
            return -1
        return place if self._order is None else int(self._order[place])

    def find_all(self, names: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The vertices, with -1 for what is no name."""
        if names.dtype.kind not in "iu":
            return np.array([self.find(name) for name in python_values(names)], dtype=np.int64)
        if self._sorted.size == 0:
            return np.full(names.shape, -1)
        inside = (names >= self._least) & (names <= self._most)
        numbers = names.astype(self._sorted.dtype)
        # Sorted, each search starts near the last one's result: several times as fast for many names.
        order = np.argsort(numbers)
        places = np.empty(numbers.size, dtype=np.int64)
        places[order] = self._sorted.searchsorted(numbers[order])
        places = np.minimum(places, self._sorted.size - 1)
        present = inside & (self._sorted[places] == numbers)
        return np.where(present, places if self._order is None else self._order[places], -1)


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
