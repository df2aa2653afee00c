"""Names as arrays: of text, of numbers, or of other hashable objects."""

from typing import Any

import numpy as np

from hpgraph.core.device import is_cuda, to_device

# StringDType holds each text in 16 bytes, and longer ones in an arena (NEP 55).
_TEXT = np.dtypes.StringDType()
_SHORT = 15


def as_array(names: Any) -> np.ndarray[Any, Any]:
    """Names as a NumPy array: of text or numbers where all are such, else of objects."""
    if isinstance(names, np.ndarray) or is_cuda(names):
        return to_device(names, "cpu")
    names = list(names)
    kinds = set(map(type, names))
    for plain, scalar, made in ((int, np.integer, "iu"), (str, np.str_, "U"), (float, np.floating, "f")):
        if kinds and all(kind is plain or issubclass(kind, scalar) for kind in kinds):
            if plain is str:
                if (array := text_by_length(names)) is not None:
                    return array
                # Text of fixed width loses trailing NULs, and may take many times the memory of its characters.
                if any("\0" in name for name in names) or _is_less_by_length(names):
                    break
            array = np.array(names)
            # Whole numbers beyond 64 bits would become objects or floats: other names.
            if array.dtype.kind in made:
                return array
    array = np.empty(len(names), dtype=object)
    for position, name in enumerate(names):
        array[position] = name
    return array


def text_by_length(names: list[str]) -> np.ndarray[Any, Any] | None:
    """Text as StringDType; None if that takes more memory, or if some text is not valid Unicode."""
    if not _is_less_by_length(names):
        return None
    try:
        return np.array(names, dtype=_TEXT)
    except UnicodeEncodeError:  # half of a surrogate pair is no UTF-8
        return None


def _is_less_by_length(names: list[str]) -> bool:
    lengths = list(map(len, names))
    return 16 * len(names) + sum(length for length in lengths if length > _SHORT) < 4 * max(lengths) * len(names)


def python_values(names: np.ndarray[Any, Any]) -> list[Any]:
    """Names as Python values; dates stay NumPy's, as Python's cover a smaller range."""
    return list(names) if names.dtype.kind in "mM" else names.tolist()


def text_or_numbers(names: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Names as an array of text or of whole numbers; None where they are of other types, or of several."""
    array = as_array(names.tolist()) if names.dtype.kind == "O" else names
    return array if array.dtype.kind in "iuUT" else None
