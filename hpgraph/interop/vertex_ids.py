"""Columns of ids of any type, as numbers from 0 on, with the names if ids are names."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, count
from typing import Any

import numpy as np

from hpgraph.containers.name_arrays import as_array
from hpgraph.core.config import config
from hpgraph.core.device import is_cuda, native, to_device, unmasked
from hpgraph.io.arcs import in_order, is_sparse


def numbered_ends(
    source: Any,
    target: Any,
    titles: tuple[str, str] = ("source", "target"),
    names: bool | None = None,
    indices: bool = True,
) -> tuple[Any, Any, Any]:
    """The ends of arcs as numbers of vertices.

    ``source, target`` (arrays, sequences, pandas.Series or Arrow arrays, of length m): integers, or names: text, or
    other hashable values. Returns ``source, target`` (integer arrays of shape (m,)); ``names`` (array of shape (n,), or
    None): text in the order of first occurrence, sources first; integers ascending.
    """
    columns = [_column(values, title) for values, title in zip((source, target), titles, strict=True)]
    if all(hasattr(column, "dtype") and (column.dtype.kind in "iu" or not len(column)) for column in columns):
        first, second = columns
        named = names or (names is None and not indices and _sparse(first, second))
        if named and len(first) + len(second):
            return in_order(to_device(first, "cpu"), to_device(second, "cpu"))
        return first, second, None
    if names is False:
        odd = next(title for column, title in zip(columns, titles, strict=True) if _kind(column) not in "iu")
        raise ValueError(f"{odd} holds names, not indices of vertices: leave names=False out")
    for column, title in zip(columns, titles, strict=True):
        if _kind(column) == "f" and not names:
            raise TypeError(f"{title} holds floats, not whole numbers or names: names=True takes them for names")
    if not any(hasattr(column, "dtype") for column in columns) and columns[0].type == columns[1].type:
        return _by_arrow(*columns)
    return _by_hashing(_python_list(columns[0]), _python_list(columns[1]), titles)


def _kind(column: Any) -> str:
    if hasattr(column, "dtype"):
        return str(column.dtype.kind)
    import pyarrow

    return "f" if pyarrow.types.is_floating(column.type) else "T"


def _column(values: Any, title: str) -> Any:
    """Numbers as an array; anything else as an Arrow array where it is one already, else as an array too."""
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        return _of_arrow(values, title)
    values = native(unmasked(values, title))
    if not hasattr(values, "__iter__"):
        raise TypeError(f"{title} must be an array or a list, one id for each arc, not {values!r}")
    array = values if isinstance(values, np.ndarray) or is_cuda(values) else as_array(list(values))
    if array.ndim != 1:
        raise ValueError(f"{title} must be one-dimensional, one id for each arc, not of shape {array.shape}")
    if array.dtype.kind == "O":
        missing = np.array([value is None or value != value for value in array.tolist()], dtype=bool)
        _refuse_missing(title, missing)
    elif array.dtype.kind == "f":
        _refuse_missing(title, np.isnan(to_device(array, "cpu")))
    return array


def _of_arrow(values: Any, title: str) -> Any:
    import pyarrow

    try:
        if hasattr(values, "to_numpy") and type(values).__module__.startswith("pandas"):
            column = pyarrow.chunked_array([pyarrow.array(values, from_pandas=True)]) if values.dtype == object else (
                pyarrow.chunked_array(values))  # fmt: skip
        else:
            column = pyarrow.chunked_array(values) if not isinstance(values, pyarrow.ChunkedArray) else values
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        return _column(np.array([*values, None], dtype=object)[:-1], title)  # values of several types
    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    if pyarrow.types.is_null(kind) and not len(column):
        return np.empty(0, np.int64)
    if column.null_count:
        _refuse_missing(title, column.is_null().to_numpy())
    if pyarrow.types.is_integer(column.type):
        return column.to_numpy()
    if pyarrow.types.is_string(column.type) or column.type == pyarrow.string_view():
        strings = pyarrow.large_string()
        try:
            return column.cast(strings)
        except pyarrow.ArrowNotImplementedError:  # views, of which older versions have no cast
            return pyarrow.chunked_array([pyarrow.array(column.to_pylist(), strings)])
    return column


def _refuse_missing(title: str, missing: Any) -> None:
    if missing.any():
        rows = np.flatnonzero(missing)
        raise ValueError(f"{title} holds no id in {len(rows)} of its rows, the first is row {rows[0]}: drop them")


def _sparse(source: Any, target: Any) -> bool:
    """Whether ids leave more than half of the indices unused, or cannot be any."""
    if not len(source) or not len(target) or is_cuda(source) or is_cuda(target):
        return False
    least, largest = min(int(source.min()), int(target.min())), max(int(source.max()), int(target.max()))
    return least < 0 or is_sparse(source, target, largest)


def _by_arrow(source: Any, target: Any) -> tuple[Any, Any, Any]:
    """A hash table for each column, concurrently; common values are found among the distinct ones only."""
    with ThreadPoolExecutor(min(config.threads, 2)) as pool:
        ends = list(pool.map(_encoded, (source, target)))
    (first, known), (second, others) = ends
    import pyarrow

    # Those of the sources come first, so they keep their numbers.
    number, names = _encoded(pyarrow.chunked_array([known, others]))
    return first, number[len(known) :][second], as_array(names.to_pylist())


def _encoded(column: Any) -> tuple[Any, Any]:
    """The number of each value, and the values in the order in which they come."""
    encoded = column.dictionary_encode()
    if not encoded.num_chunks:
        return np.empty(0, np.int32), column.slice(0, 0).combine_chunks()
    # The dictionary of the last chunk is that of all.
    numbers = [chunk.indices.to_numpy() for chunk in encoded.chunks]
    return numbers[0] if len(numbers) == 1 else np.concatenate(numbers), encoded.chunks[-1].dictionary


def _by_hashing(source: list[Any], target: list[Any], titles: Iterable[str]) -> tuple[Any, Any, Any]:
    fresh = count()
    number_of: dict[Any, int] = {}
    ends = []
    for values, title in zip((source, target), titles, strict=True):
        try:
            numbers = [number_of[value] if value in number_of else number_of.setdefault(value, next(fresh))
                       for value in values]  # fmt: skip
        except TypeError:
            raise TypeError(f"{title} must hold whole numbers or names, which are hashable") from None
        ends.append(np.array(numbers, dtype=np.int64))
    return ends[0], ends[1], as_array(list(chain(number_of)))


def _python_list(column: Any) -> list[Any]:
    return to_device(column, "cpu").tolist() if hasattr(column, "dtype") else column.to_pylist()
