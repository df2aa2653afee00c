"""Checks of a container's content, once, on construction.

Ids are int32 if they fit and int64 otherwise, by content; offsets are always int64, so that a graph of more than 2³¹
arcs whose vertices fit 32 bits takes four bytes an arc. Values have one of the types that every kernel supports.
"""

import operator
from typing import Any

import numpy as np

from hpgraph.core.device import anywhere, array_module, first_true, unmasked
from hpgraph.core.number import value_type

INT32_MAX = int(np.iinfo(np.int32).max)
INT64_MAX = int(np.iinfo(np.int64).max)

# A dict as an ordered set: the values of a matrix are checked at each call.
VALUE_DTYPES = dict.fromkeys(
    np.dtype(name)
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
        "complex64", "complex128",
    )
)  # fmt: skip


def index_dtype(n: int) -> np.dtype[Any]:
    """The smallest id type for n vertices, and n itself: int32 up to n = 2³¹ - 1, int64 beyond.

    n itself must fit because kernels use it as "none". Raises ValueError if it is negative or does not fit 64 bits.

    Examples
    --------
    >>> from hpgraph.formats import index_dtype
    >>> index_dtype(2**31 - 1), index_dtype(2**31)
    (dtype('int32'), dtype('int64'))
    """
    if n < 0 or n > INT64_MAX:
        raise ValueError(f"n must lie in 0..2**63 - 1 to be counted in 64 bits, not {n}")
    return np.dtype(np.int32 if n <= INT32_MAX else np.int64)


def as_shape(shape: Any) -> tuple[int, int]:
    """The shape as two Python integers, neither negative."""
    try:
        rows, columns = (operator.index(length) for length in shape)
    except (TypeError, ValueError):
        raise TypeError(f"shape must be two whole numbers (rows, columns), not {shape!r}") from None
    if rows < 0 or columns < 0:
        raise ValueError(f"shape must not be negative, not {(rows, columns)}")
    index_dtype(max(rows, columns))
    return rows, columns


def as_ids(array: Any, name: str, bound: int, axis: str, *, low: int = 0, ndim: int = 1, check: bool = True) -> Any:
    """The array as contiguous int32 or int64 ids in low..bound-1; int32 and int64 arrays are not converted.

    `check=False` skips the check of the range, which on CUDA synchronizes the stream.
    """
    array = unmasked(array, name)
    given = getattr(array, "dtype", None)
    xp = array_module(array)
    array = xp.asarray(array)
    if array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension{'s'[: ndim > 1]}, not shape {array.shape}")
    if array.size == 0 and array.dtype.kind == "f":
        # An empty list becomes float64.
        array = array.astype(index_dtype(bound))
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, not {array.dtype}: convert it with .astype(numpy.int64)")
    # As unsigned integers negative ids are large: usually one pass suffices.
    if check and array.size and (low or int(array.view(array.dtype.str.replace("i", "u")).max()) >= bound):
        least, largest = int(array.min()), int(array.max())
        if least < low or largest >= bound:
            wrong = least if least < low else largest
            allowed = f"ids are {low}..{bound - 1}" if bound else "so it can hold no id"
            raise IndexError(f"{name} holds {wrong}, and there {_counted(bound, axis)}: {allowed}")
    if given not in (np.int32, np.int64):
        array = array.astype(index_dtype(bound))
    return xp.ascontiguousarray(array)


def _counted(count: int, axis: str) -> str:
    if count == 1:
        return f"is 1 {axis}"
    return f"are {count} {'vertices' if axis == 'vertex' else axis + 's'}"


def as_offsets(indptr: Any, name: str, segments: int, total: int) -> Any:
    """The array as int64 offsets: segments + 1, from 0 to the total, ascending. Synchronizes on CUDA."""
    xp = array_module(indptr)
    indptr = xp.asarray(unmasked(indptr, name))
    if indptr.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, not {indptr.dtype}: convert it with .astype(numpy.int64)")
    if indptr.shape != (segments + 1,):
        raise ValueError(f"{name} must have one offset more than the {segments} rows it divides, not {indptr.shape}")
    first, last = indptr[[0, -1]].tolist()
    if first != 0 or last != total:
        raise ValueError(f"{name} must run from 0 to the number of entries, {total}, not from {first} to {last}")
    if anywhere(indptr[1:] < indptr[:-1]):
        row = first_true(indptr[1:] < indptr[:-1])
        raise ValueError(f"{name} must not decrease; it does at row {row}: sort the entries by row")
    return xp.ascontiguousarray(indptr, dtype=np.int64)


def as_values(data: Any, name: str, shape: tuple[int, ...]) -> Any:
    """The array as contiguous values of a type that every kernel supports; None stays None."""
    if data is None:
        return None
    xp = array_module(data)
    data = xp.asarray(unmasked(data, name))
    if data.shape != shape:
        raise ValueError(f"{name} must have one value for each index, shape {shape}, not {data.shape}")
    as_value_dtype(data.dtype, name)
    if not data.dtype.isnative:
        data = data.astype(data.dtype.newbyteorder("="))
    if xp is not np and data.dtype.kind == "c" and data.data.ptr % data.itemsize:
        # The GPU loads a complex number in one access, which must be aligned to its size.
        return data.copy()
    return xp.ascontiguousarray(data)


def as_value_dtype(dtype: Any, name: str, *, real: bool = False) -> np.dtype[Any]:
    """The dtype, checked to be supported by every kernel; with `real` also by graph algorithms: not complex."""
    dtype = value_type(dtype, name)
    if dtype.newbyteorder("=") in VALUE_DTYPES and not (real and dtype.kind == "c"):
        return dtype
    allowed = "float32 or float64" if real else "float32, float64, complex64 or complex128"
    known = "complex128" if dtype.kind == "c" else "float64"
    hint = "take .real or abs() first" if real and dtype.kind == "c" else f"convert it with .astype(numpy.{known})"
    raise TypeError(f"{name} must be bool, int8..int64, uint8..uint64, {allowed}, not {dtype}: {hint}")


def bits_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A type of the values' width, to move them: an unsigned integer or, for 16 bytes, complex128."""
    return np.dtype(f"u{dtype.itemsize}") if dtype.itemsize <= 8 else np.dtype(np.complex128)
