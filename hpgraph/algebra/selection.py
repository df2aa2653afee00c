"""The index in ``A[...]``: indices, slices, index arrays and masks, checked and normalized.

An axis is selected by an int, by a `range` (a slice of known length) or by an array of ids, none negative. Combinations
follow NumPy's rules: slices and arrays select rows times columns, two arrays select individual positions.
"""

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.core.device import array_module, is_cuda, unmasked
from hpgraph.formats import index_dtype

Axis = Any  # int, range, or integer array of one dimension (of two for individual positions)


@dataclass(frozen=True)
class Selection:
    """A selection of positions in a matrix.

    ``rows, columns`` (int, range or integer array): of the two axes; ``pointwise`` (bool): whether two arrays, then of
    the same shape, select entries one by one; otherwise all rows by all columns; ``shape`` (tuple of int): NumPy's
    shape of the selection, with the axes that None adds.
    """

    rows: Axis
    columns: Axis
    pointwise: bool
    shape: tuple[int, ...]


def size_of(axis: Axis) -> int:
    """Number of indices that an axis selects."""
    return 1 if isinstance(axis, int) else len(axis)


def ids_of(axis: Axis, length: int, device: str) -> Any:
    """The indices that an axis selects, as an array."""
    xp, dtype = array_module(device), index_dtype(length)
    if isinstance(axis, int):
        axis = range(axis, axis + 1)
    if isinstance(axis, range):
        return xp.arange(axis.start, axis.stop, axis.step, dtype=dtype)
    return axis.astype(dtype, copy=False)


def index_of(axis: Axis) -> Any:
    """An array index equivalent to an axis."""
    if isinstance(axis, range):
        # A range may run down to index 0, for which a slice must not end at -1; an empty one may begin there.
        return slice(axis.start, axis.stop if axis.stop >= 0 else None, axis.step) if axis else slice(0)
    return axis


def is_whole(axis: Axis, length: int) -> bool:
    """Whether an axis selects all indices in their order."""
    return isinstance(axis, range) and axis == range(length)


def as_axis(index: Any, length: int, axis: str, device: str) -> Axis:
    """An index along one axis, negative ones from the end; None selects all of it."""
    if index is None:
        return range(length)
    if isinstance(index, slice):
        return range(*index.indices(length))
    if isinstance(index, range):
        if len(index) and not (min(index[0], index[-1]) >= 0 and max(index[0], index[-1]) < length):
            index = np.asarray(index)
        else:
            return index
    whole = _as_int(index)
    if whole is not None:
        return _within(whole, length, axis)
    ids = as_index_array(index, device)
    if ids.dtype == np.bool_:
        if ids.shape != (length,):
            raise IndexError(f"bool index of the {axis}s has shape {ids.shape} instead of {(length,)}")
        return ids.nonzero()[0]
    if ids.ndim != 1:
        raise IndexError(f"indices along one axis must have one dimension, not shape {ids.shape}")
    return _checked(ids, length, axis)


def parse(key: Any, shape: tuple[int, int], device: str) -> Selection:
    """The selection of ``A[key]``."""
    items = _items(key, device)
    axes: list[Axis] = []
    sizes: list[int] = []  # of the result so far
    advanced: list[tuple[int, int]] = []  # (position in axes, in sizes) of ints and arrays
    names = ("row", "column")
    for item in items:
        if item is None:
            sizes.append(1)
        elif getattr(item, "dtype", None) == np.bool_ and item.ndim == 2:
            if item.shape != shape:
                raise IndexError(f"bool index 0 has shape {item.shape} instead of {shape}")
            for ids in item.nonzero():
                advanced.append((len(axes), len(sizes)))
                axes.append(ids)
        else:
            at = len(axes)
            axis = _axis(item, shape[at], names[at], device)
            if isinstance(axis, range):
                sizes.append(len(axis))
            else:
                advanced.append((at, len(sizes)))
            axes.append(axis)
    rows, columns = axes
    arrays = [axes[at] for at, _ in advanced if not isinstance(axes[at], int)]
    common: tuple[int, ...] = ()
    if arrays:
        try:
            common = np.broadcast_shapes(*(ids.shape for ids in arrays))
        except ValueError:
            shapes = " ".join(str(ids.shape) for ids in arrays)
            raise IndexError(
                f"shape mismatch: index arrays could not be broadcast together with shapes {shapes}"
            ) from None
        place = advanced[0][1]
        if len(advanced) == 2 and advanced[1][1] != place:
            place = 0  # separated by other keys: NumPy puts their axes first
        sizes[place:place] = common
    if len(sizes) > 2:
        raise IndexError(
            f">2D is not supported: the index selects shape {tuple(sizes)}, and a matrix has two dimensions"
        )
    pointwise = len(advanced) == 2 and bool(arrays)
    if pointwise and len(arrays) == 2 and _is_outer(rows, columns):
        rows, columns, pointwise = rows[:, 0], columns.reshape(-1), False
    elif pointwise:
        xp = array_module(device)
        # Copies: views from NumPy's broadcasting are read-only, and Numba would compile for them separately.
        rows, columns = (xp.broadcast_to(xp.asarray(ids), common).copy() for ids in (rows, columns))
    return Selection(rows, columns, pointwise, tuple(sizes))


def as_index_array(index: Any, device: str) -> Any:
    """An array or a sequence, as an array of integers or bool on the device."""
    xp = array_module(device)
    index = unmasked(index, "the index")
    if not is_cuda(index):
        try:
            index = np.asarray(index)
        except (ValueError, TypeError):
            raise IndexError("an index array must be rectangular and hold integers or bool") from None
    elif device == "cpu":
        raise TypeError("an index on the GPU cannot select from what lies on the CPU: move one of them first")
    if index.ndim not in (1, 2) or index.dtype.kind not in "iub":
        if not index.size and index.ndim in (1, 2):
            return xp.zeros(index.shape, dtype=np.int64)  # an empty list becomes float64
        raise IndexError(
            f"Index dimension must be 1 or 2, and its type an integer or bool; got {index.ndim} and {index.dtype}"
        )
    return xp.asarray(index)


def _items(key: Any, device: str) -> list[Any]:
    """The items of a key, with ``...`` expanded, one for each axis of a matrix."""
    parts = list(key) if isinstance(key, tuple) else [key]
    parts = [part if _is_simple(part) else as_index_array(part, device) for part in parts]
    taken = sum(2 if _is_matrix_mask(part) else part is not None and part is not Ellipsis for part in parts)
    dots = [at for at, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis")
    if taken > 2:
        raise IndexError(f"too many indices: a matrix has 2 axes, and the index needs {taken}")
    rest = [slice(None)] * (2 - taken)
    if dots:
        return parts[: dots[0]] + rest + parts[dots[0] + 1 :]
    return parts + rest


def _is_simple(part: Any) -> bool:
    return part is None or part is Ellipsis or isinstance(part, slice) or _as_int(part) is not None


def _is_matrix_mask(part: Any) -> bool:
    return getattr(part, "dtype", None) == np.bool_ and part.ndim == 2


def _axis(item: Any, length: int, axis: str, device: str) -> Axis:
    if getattr(item, "ndim", None) == 2:
        return _checked(item, length, axis)
    return as_axis(item, length, axis, device)


def _as_int(index: Any) -> int | None:
    """An integer index; a bool is not an index."""
    if isinstance(index, bool | np.bool_) or getattr(index, "ndim", None):
        return None
    if isinstance(index, np.ndarray) and index.dtype.kind not in "iu":
        return None
    try:
        return operator.index(index)
    except TypeError:
        return None


def _within(index: int, length: int, axis: str) -> int:
    if not -length <= index < length:
        raise _out_of_range(index, length, axis)
    return index + length if index < 0 else index


def _out_of_range(index: int, length: int, axis: str) -> IndexError:
    allowed = f"give {-length}..{length - 1}" if length else "there is none to give"
    name, of = ("index", "a vector of {}") if axis == "index" else (f"{axis} index", f"{{}} {axis}s")
    return IndexError(f"{name} ({index}) out of range for {of.format(length)}: {allowed}")


def _checked(ids: Any, length: int, axis: str) -> Any:
    """Ids within the axis, negative ones counted from its end."""
    if not ids.size:
        return ids.astype(index_dtype(length), copy=False)
    # As unsigned integers negative ids are the largest: usually one check suffices, and on the GPU one synchronization.
    if ids.dtype in (np.int32, np.int64) and int(ids.view(f"u{ids.itemsize}").max()) < length:
        return ids
    least, largest = int(ids.min()), int(ids.max())
    if largest >= length:
        raise _out_of_range(largest, length, axis)
    if least < -length:
        raise _out_of_range(least, length, axis)
    ids = ids.astype(np.int64, copy=False) if ids.dtype not in (np.int32, np.int64) else ids
    return ids if least >= 0 else array_module(ids).where(ids < 0, ids + length, ids)


def _is_outer(rows: Any, columns: Any) -> bool:
    """Whether two arrays, a column and a row, are an outer index."""
    return rows.ndim == 2 and rows.shape[1] == 1 and (columns.ndim == 1 or columns.shape[0] == 1)
