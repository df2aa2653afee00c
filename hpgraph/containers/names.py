"""Names of vertices, and the way back from a name to its vertex.

Names may be of any hashable type, and two are the same where Python says so: 1, 1.0 and True are one name.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from hpgraph.containers.name_arrays import as_array, python_values, text_by_length
from hpgraph.containers.name_lookup import HashedNames, SortedNumbers
from hpgraph.containers.vertices import checked_index, id
from hpgraph.core.device import is_cuda, to_device, unmasked
from hpgraph.formats.ownership import own

# Names compared with one that is unknown: comparing is slow, and a message must come at once.
_COMPARED = 200_000
# Names that a graph shows of itself, and characters of each.
_SHOWN = 3
_LONGEST_SHOWN = 40


class Names:
    """One name for each vertex.

    ``array`` (numpy.ndarray of shape (n,)): of text, whole numbers or floats where all names are such, else of objects;
    cannot be written to. Text is of fixed width, or of NumPy's StringDType where that takes less memory.
    """

    def __init__(self, array: np.ndarray[Any, Any] | Callable[[], np.ndarray[Any, Any]]) -> None:
        """Of an array, which is copied if it can be written to; or of a function that makes one when asked for."""
        if callable(array):
            self._make = array
        else:
            self.array = _locked(array)

    @cached_property
    def array(self) -> np.ndarray[Any, Any]:  # noqa: D102 (the class describes it)
        return _locked(self._make())

    def __getstate__(self) -> dict[str, Any]:
        # What can be built again is left out.
        return {"array": self.array}

    def check(self) -> None:
        """Refuse names of which two are the same; what they are looked up by is kept."""
        self._table  # noqa: B018

    def take(self, vertices: Any) -> Names:
        """The names of some vertices, put together when they are first asked for."""
        return Names(lambda: self.array[to_device(vertices, "cpu")])

    def with_more(self, names: list[Any]) -> Names:
        """These names, and others behind them."""
        more = as_array(names)
        if not len(more):
            return self
        if self.array.dtype.kind == more.dtype.kind and more.dtype.kind in "iufUT":
            return Names(np.concatenate((self.array, more)))
        return Names(as_array([*python_values(self.array), *python_values(more)]))

    def places_of(self, names: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The vertices of many names, -1 for what is no name: an int64 array."""
        if isinstance(self._table, SortedNumbers) and names.dtype.kind in "iu":
            return self._table.find_all(names)
        if isinstance(self._table, HashedNames):
            return self._table.find_listed(python_values(names))
        return np.array([self._table.find(name) for name in python_values(names)], dtype=np.int64)

    @property
    def some(self) -> str:
        """The first names, as a message shows them."""
        shown = [text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
                 for text in map(repr, python_values(self.array[:_SHOWN]))]  # fmt: skip
        return ", ".join(shown + ["..."] * (len(self.array) > _SHOWN))

    def __contains__(self, name: Any) -> bool:
        return self._table.find(name) >= 0

    def index_of(self, name: Any) -> int:
        """The vertex of a name."""
        if getattr(name, "shape", None) == () and not isinstance(name, np.generic):
            name = name.item()  # an array without dimensions stands for its value
        index = self._table.find(name)
        if index < 0:
            raise self._unknown(name)
        return index

    def indices_of(self, names: Any) -> np.ndarray[Any, Any]:
        """The vertices of many names: an int64 array of shape (k,)."""
        if not isinstance(names, np.ndarray):
            names = to_device(names, "cpu") if is_cuda(names) or hasattr(names, "__array__") else as_array(list(names))
        names = names.reshape(-1)
        if isinstance(self._table, SortedNumbers) and names.dtype.kind in "iu":
            indices = self._table.find_all(names)
            if names.size and indices.min() < 0:
                raise self._unknown(names[indices < 0][0].item())
            return indices
        listed = python_values(names)
        if isinstance(self._table, HashedNames) and not any(isinstance(name, id) for name in listed):
            indices = self._table.find_listed(listed)
            if listed and indices.min() < 0:
                raise self._unknown(listed[int(np.flatnonzero(indices < 0)[0])])
            return indices
        return np.array([self._index_of_either(name) for name in listed], dtype=np.int64)

    def _index_of_either(self, name: Any) -> int:
        return checked_index(name, len(self.array), "index") if isinstance(name, id) else self.index_of(name)

    @cached_property
    def _table(self) -> SortedNumbers | HashedNames:
        return (SortedNumbers if self.array.dtype.kind in "iu" else HashedNames)(self.array)

    def _unknown(self, name: Any) -> ValueError:
        """What to raise where no vertex has this name: the message shows those that come near."""
        asked = f"no vertex is named {name!r}"
        twin = _as_other_type(name)
        meant = f": did you mean {twin!r}? Names" if twin is not None and self._table.find(twin) >= 0 else "; names"
        if isinstance(name, str) and meant == "; names":
            known = [text for text in python_values(self.array[:_COMPARED]) if isinstance(text, str)]
            if near := difflib.get_close_matches(name, known, n=3):
                return ValueError(f"{asked}: did you mean {' or '.join(map(repr, near))}?")
        index = f"{int(name)}" if isinstance(name, int | np.integer) and 0 <= name < len(self.array) else "i"
        by_index = f"hpgraph.id({index}) is the vertex of index {index}"
        return ValueError(f"{asked}{meant} are such as {self.some}; {by_index}")


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
    """One name for each vertex.

    Returns Names or None: none too where names are 0, 1, ..., n - 1 in this order: a vertex without a name goes by its
    index.
    """
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
    made = Names(array)
    made.check()
    return made
