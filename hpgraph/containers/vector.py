"""A Vector: a list of ascending indices and values, a bitmap with a value and a bit for each index, or full.

A list becomes a bitmap when its density passes 0.04, a bitmap a list when it falls below half of that: the hysteresis
of SuiteSparse:GraphBLAS for a single column (T. Davis, "Algorithm 1000", ACM TOMS 45(4), 2019, and its user guide on
GxB_BITMAP_SWITCH). Density is checked whenever entries are counted; access to the array of values, as by products,
makes a list a bitmap permanently.
"""

from typing import Any, Literal, Self

import numpy as np

from hpgraph.core.device import (
    Device,
    array_module,
    check_memory,
    device_of,
    is_cuda,
    is_masked,
    native,
    normalize_device,
    to_device,
    unmasked,
)
from hpgraph.core.locks import Lock
from hpgraph.core.number import whole
from hpgraph.formats import Bitmask, index_dtype
from hpgraph.formats.checks import as_value_dtype

VectorFormat = Literal["list", "bitmap", "full"]

# Share of the indices that are present, above which a list becomes a bitmap, and below which a bitmap becomes a list.
BITMAP_ABOVE = 0.04
LIST_BELOW = 0.02

_converting = Lock()


class VectorStorage:
    """Entries, length and place of a `hpgraph.Vector`, which describes the arguments."""

    ndim = 1
    # Exactly one of the two is not None: a list (indices, values), or dense (values, present).
    _list: tuple[Any, Any] | None
    _dense: tuple[Any, Bitmask | None] | None
    _size: int
    _fill: Any

    def __init__(self, values: Any, present: Any = None) -> None:
        if is_sparse_vector(values):
            values = self._of_scipy(values)
        if isinstance(values, VectorStorage):
            if present is None:
                self._become(values)
                return
            values = values.values
        if is_masked(values):
            unmasked_flags = ~np.ma.getmaskarray(values)
            if not unmasked_flags.all():
                present = unmasked_flags if present is None else unmasked_flags & _flags(present)
            values = values.data
        values = _as_array(values)
        if values.ndim != 1:
            raise ValueError(f"values must have one dimension, not shape {values.shape}")
        as_value_dtype(values.dtype, "values")
        if present is not None and not isinstance(present, Bitmask):
            present = Bitmask.from_bool(_flags(present))
        if present is not None:
            if present.n != len(values):
                raise ValueError(f"present must have one flag for each of the {len(values)} values, not {present.n}")
            device_of(values, present.words)
        self._set_dense(values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("=")), present)

    def _set_dense(self, values: Any, present: Bitmask | None) -> Self:
        return self._hold(values, len(values), 0, None, (values, present))

    def _set_list(self, indices: Any, values: Any, size: int, fill: Any = 0) -> Self:
        return self._hold(values, size, fill, (indices, values), None)

    def _hold(self, values: Any, size: int, fill: Any, entries: Any, dense: Any) -> Self:
        self._size, self._fill, self._list, self._dense = size, fill, entries, dense
        if is_cuda(values):
            # On the instance, so that CuPy's arrays defer array + vector to us; NumPy reads the class, and its method.
            self.__dict__["__array_ufunc__"] = None
        return self

    @classmethod
    def _of(cls, indices: Any, values: Any, size: int, fill: Any = 0, before: str = "list") -> Self:
        """The vector of entries with ascending indices, in the format of their density; `before`: former format."""
        vector = object.__new__(cls)
        entries = len(indices)
        if entries == size:
            return vector._set_dense(values, None)
        limit = BITMAP_ABOVE if before == "list" else LIST_BELOW
        vector._set_list(indices, values, size, fill)
        if entries > limit * size:
            vector._set_dense(*_spread(indices, values, size, fill))
            vector._fill = fill
        return vector

    @classmethod
    def _of_scipy(cls, array: Any) -> Self:
        """The vector of a sparse array of SciPy's, duplicates summed."""
        entries = array.tocoo(copy=True)
        entries.sum_duplicates()
        as_value_dtype(entries.dtype, "values")
        (size,) = entries.shape
        return cls._of(entries.coords[0].astype(index_dtype(size)), entries.data, size)

    def _like(self, values: Any, present: Bitmask | None) -> Self:
        """Another vector of the same class, over arrays that serve as they are."""
        return object.__new__(type(self))._set_dense(values, present)

    @property
    def format(self) -> VectorFormat:
        """The storage of the entries: "list", "bitmap" or "full". It affects only time and memory."""
        if self._list is not None:
            return "list"
        return "full" if self._held[1] is None else "bitmap"

    @property
    def _held(self) -> tuple[Any, Bitmask | None]:
        """Values and a presence bitmap; converts a list."""
        dense = self._dense
        if dense is None:
            with _converting:
                if self._dense is None:
                    assert self._list is not None
                    self._dense = _spread(*self._list, self._size, self._fill)
                    self._list = None
                dense = self._dense
        return dense

    @property
    def _values(self) -> Any:
        return self._held[0]

    @property
    def _present(self) -> Bitmask | None:
        return self._held[1]

    @_present.setter
    def _present(self, present: Bitmask | None) -> None:
        self._dense = (self._values, present)

    @property
    def _any_values(self) -> Any:
        """The array of values, of the list or the bitmap."""
        entries = self._list
        return self._held[0] if entries is None else entries[1]

    @property
    def size(self) -> int:
        """Length, absent entries counted."""
        return self._size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self._any_values.dtype

    @property
    def device(self) -> Device:
        """The vector's device: "cpu" or "cuda"."""
        return device_of(self._any_values)

    @property
    def nvals(self) -> int:
        """Number of entries that are present; on CUDA counting a bitmap waits for the stream."""
        entries = self._list
        if entries is not None:
            return len(entries[0])
        present = self._present
        return self._size if present is None else present.count()

    @property
    def nnz(self) -> int:
        """Entries that are present, SciPy's name for `nvals`."""
        return self.nvals

    @property
    def T(self) -> Self:
        """The vector itself, as for any array of one dimension."""
        return self

    def to_indices(self) -> tuple[Any, Any]:
        """Indices of the present entries, ascending, and their values: arrays of shape (nvals,)."""
        entries = self._list
        if entries is not None:
            return entries[0].copy(), entries[1].copy()
        values, present = self._held
        indices = (Bitmask.full(self._size, self.device) if present is None else present).to_indices()
        return indices, values[indices]

    def toarray(self) -> Any:
        """The vector as a dense array of its own, 0 where it is absent, if it fits."""
        check_memory(self.size * self.dtype.itemsize, "a dense vector", self.device)
        indices, values = self.to_indices()
        array = array_module(self.device).zeros(self.size, dtype=self.dtype)
        array[indices] = values
        return array

    def _become(self, other: "VectorStorage") -> Self:
        """Replace the entries by another vector's; arrays returned before do not change."""
        return self._hold(other._any_values, other._size, other._fill, other._list, other._dense)

    @classmethod
    def full(cls, size: int, value: Any, dtype: Any = None, device: str = "cpu") -> Self:
        """A vector of one value throughout, by default of that value's type."""
        size, kind = whole(size, "size", least=0), np.dtype(dtype or np.asarray(value).dtype)
        check_memory(size * kind.itemsize, "a dense vector", device)
        return cls(array_module(device).full(size, value, dtype=kind))

    @property
    def values(self) -> Any:
        """A value for each index, with the fill value for absent ones; not a copy."""
        return self._values

    @property
    def present(self) -> Bitmask | None:
        """The entries that are present; None for all."""
        return self._present

    @property
    def structure(self) -> Bitmask:
        """The entries that are present, regardless of value: the structural mask."""
        entries = self._list
        if entries is not None:
            return Bitmask.from_indices(entries[0], self.size)
        return Bitmask.full(self.size, self.device) if self._present is None else self._present

    @property
    def shape(self) -> tuple[int]:
        """The length, as a shape."""
        return (self.size,)

    def to(self, device: str) -> Self:
        """The vector on a device, "cpu" or "cuda"; itself where it lies there already."""
        device = normalize_device(device)
        if device == self.device:
            return self
        entries = self._list
        if entries is not None:
            indices, values = (to_device(array, device) for array in entries)
            return object.__new__(type(self))._set_list(indices, values, self.size, self._fill)
        present = None if self._present is None else self._present.to(device)
        return self._like(to_device(self._values, device), present)

    def copy(self) -> Self:
        """The vector over arrays of its own."""
        entries = self._list
        if entries is not None:
            return object.__new__(type(self))._set_list(entries[0].copy(), entries[1].copy(), self.size, self._fill)
        return self._like(self._values.copy(), None if self._present is None else self._present.copy())

    def astype(self, dtype: Any) -> Self:
        """The vector with values of another type."""
        kind = as_value_dtype(dtype, "dtype")
        if (entries := self._list) is not None:
            return object.__new__(type(self))._set_list(entries[0], entries[1].astype(kind), self._size)
        return self._like(self._values.astype(kind), self._present)


def _spread(indices: Any, values: Any, size: int, fill: Any) -> tuple[Any, Bitmask]:
    """A value for each index and a presence bitmap, from a list of entries."""
    device = device_of(values)
    check_memory(size * (values.itemsize + 1), f"a vector of {size} values", device)
    dense = array_module(device).full(size, fill, dtype=values.dtype)
    dense[indices] = values
    return dense, Bitmask.from_indices(indices, size)


def _flags(present: Any) -> Any:
    """The presence mask as an array of bool."""
    flags = present.to_bool() if isinstance(present, Bitmask) else _as_array(unmasked(present, "present"))
    if flags.dtype != np.bool_:
        raise TypeError(
            f"present must be a Bitmask or an array of bool, not {flags.dtype}: for a list of indices use "
            "Vector.from_indices"
        )
    return flags


def _as_array(values: Any) -> Any:
    values = native(values)
    return values if is_cuda(values) else np.asarray(values)


def is_sparse_vector(x: object) -> bool:
    """Whether it is a one-dimensional sparse array of SciPy."""
    return getattr(x, "ndim", None) == 1 and hasattr(x, "tocsr") and not isinstance(x, VectorStorage)
