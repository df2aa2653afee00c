"""Names of vertices, and the way back from a name to its vertex."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np

# Names compared with one that is unknown: comparing is slow, and a message must come at once.
_COMPARED = 200_000


def as_names(names: Iterable[Any] | None, n: int) -> np.ndarray[Any, Any] | None:
    """One name for each vertex, as an array.

    Parameters
    ----------
    names : iterable or None
        Strings, integers or other hashable values.
    n : int
        Number of vertices.

    Returns
    -------
    numpy.ndarray of shape (n,) or None
        Of strings or integers where all names are such, else of objects.

    Raises
    ------
    ValueError
        When there are more or fewer names than vertices.
    TypeError
        When it is not a sequence.

    Examples
    --------
    >>> as_names(["a", "b"], 2)
    array(['a', 'b'], dtype='<U1')
    """
    if names is None:
        return None
    if isinstance(names, str | bytes) or not hasattr(names, "__iter__"):
        raise TypeError(f"names must be a sequence with one name for each vertex, not {names!r}")
    if not isinstance(names, np.ndarray):
        names = _array_of(list(names))
    if names.shape != (n,):
        raise ValueError(f"names must hold one name for each of the {n} vertices, not shape {names.shape}")
    return names


def _array_of(names: list[Any]) -> np.ndarray[Any, Any]:
    kinds = set(map(type, names))
    if kinds == {str} or kinds == {int}:
        array = np.array(names)
        # Whole numbers beyond 64 bits become objects or floats, which would not be the names given.
        if array.dtype.kind in "iU":
            return array
    array = np.empty(len(names), dtype=object)
    for position, name in enumerate(names):
        array[position] = name
    return array


def number_names(names: np.ndarray[Any, Any]) -> dict[Any, int]:
    """The vertex of each name.

    Raises
    ------
    ValueError
        When two vertices have the same name.

    Examples
    --------
    >>> number_names(np.array(["a", "b"]))
    {'a': 0, 'b': 1}
    """
    listed = names.tolist()
    numbers = {name: vertex for vertex, name in enumerate(listed)}
    if len(numbers) < len(listed):
        vertex = next(vertex for vertex, name in enumerate(listed) if numbers[name] != vertex)
        raise ValueError(
            f"vertices {vertex} and {numbers[listed[vertex]]} are both named {listed[vertex]!r}: names must differ "
            "to be looked up"
        )
    return numbers


def unknown_name(name: object, numbers: dict[Any, int]) -> ValueError:
    """What to raise where no vertex has this name: the message shows those that come near.

    Examples
    --------
    >>> print(unknown_name("libc", {"libc6": 0, "bash": 1}))
    no vertex is named 'libc': did you mean 'libc6'?
    """
    known = [text for text in numbers if isinstance(text, str)][:_COMPARED]
    near = difflib.get_close_matches(str(name), known, n=3) if isinstance(name, str) else []
    if near:
        return ValueError(f"no vertex is named {name!r}: did you mean {' or '.join(map(repr, near))}?")
    some = ", ".join(repr(text) for text in list(numbers)[:3])
    return ValueError(f"no vertex is named {name!r}; names are such as {some}")
