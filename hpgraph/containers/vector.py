"""What a Vector consists of: a list of entries while they are few, else an array of values and which are present.

=========  ==========================================================  =================================
format     arrays                                                      while
=========  ==========================================================  =================================
"list"     indices, ascending, and their values                        at most 1 of 25 is present
"bitmap"   a value for each index, and a bit that says if it counts    more are
"full"     a value for each index                                      all are
=========  ==========================================================  =================================

A list becomes a bitmap when its density passes 0.04, and a bitmap a list when it falls below half of that, so that a
vector near the border does not change to and fro: SuiteSparse:GraphBLAS's rule for a single column (T. Davis,
"Algorithm 1000", ACM TOMS 45(4), 2019, and its user guide on GxB_BITMAP_SWITCH). Density is looked at where entries
are counted anyway; whoever asks for the array of values, as products do, makes a list a bitmap for good.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from hpgraph.core.device import Device, array_module, check_memory, device_of, is_cuda
from hpgraph.core.locks import Lock
from hpgraph.formats import Bitmask

VectorFormat = Literal["list", "bitmap", "full"]

# Share of the indices that are present, above which a list becomes a bitmap, and below which a bitmap becomes a list.
BITMAP_ABOVE = 0.04
LIST_BELOW = 0.02

_converting = Lock()


class VectorStorage:
    """Entries, length and place of a `hpgraph.Vector`."""

    # One of the two is there; a list is (indices, values), dense is (values, present).
    _list: tuple[Any, Any] | None
    _dense: tuple[Any, Bitmask | None] | None
    _size: int
    _fill: Any

    def _set_dense(self, values: Any, present: Bitmask | None) -> Self:
        self._size = len(values)
        self._fill = 0
        self._dense, self._list = (values, present), None
        if is_cuda(values):
            # By this CuPy's arrays leave array + vector to us; NumPy looks at the class, and finds its method there.
            self.__dict__["__array_ufunc__"] = None
        return self

    def _set_list(self, indices: Any, values: Any, size: int, fill: Any = 0) -> Self:
        self._size = size
        self._fill = fill
        self._list, self._dense = (indices, values), None
        if is_cuda(values):
            self.__dict__["__array_ufunc__"] = None
        return self

    @classmethod
    def _of(cls, indices: Any, values: Any, size: int, fill: Any = 0, before: str = "list") -> Self:
        """The vector of entries whose indices rise, in the format that their density asks for.

        `before` is the format that the entries were in, where there was one.
        """
        made = object.__new__(cls)
        entries = len(indices)
        if entries == size:
            return made._set_dense(values, None)
        limit = BITMAP_ABOVE if before == "list" else LIST_BELOW
        made._set_list(indices, values, size, fill)
        if entries > limit * size:
            made._set_dense(*_spread(indices, values, size, fill))
            made._fill = fill
        return made

    @property
    def format(self) -> VectorFormat:
        """How the entries are kept: "list", "bitmap" or "full". Nothing else depends on it but time and memory."""
        if self._list is not None:
            return "list"
        return "full" if self._held[1] is None else "bitmap"

    @property
    def _held(self) -> tuple[Any, Bitmask | None]:
        """Values and who is present, as arrays; a list becomes them here."""
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
        """An array of values, whichever is there."""
        held = self._list
        return self._held[0] if held is None else held[1]

    @property
    def size(self) -> int:
        """Length, absent entries counted."""
        return self._size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        dtype: np.dtype[Any] = self._any_values.dtype
        return dtype

    @property
    def device(self) -> Device:
        """Where the vector lies: "cpu" or "cuda"."""
        return device_of(self._any_values)

    @property
    def nvals(self) -> int:
        """Number of entries that are present; on CUDA counting a bitmap waits for the stream."""
        held = self._list
        if held is not None:
            return len(held[0])
        present = self._present
        return self._size if present is None else present.count()

    def to_indices(self) -> tuple[Any, Any]:
        """The present entries.

        Returns
        -------
        indices : integer array, shape (nvals,)
            Ascending.
        values : array, shape (nvals,)
            Their values.
        """
        held = self._list
        if held is not None:
            return held[0].copy(), held[1].copy()
        values, present = self._held
        indices = (Bitmask.full(self._size, self.device) if present is None else present).to_indices()
        return indices, values[indices]

    def _become(self, other: VectorStorage) -> Self:
        """Make this vector another one; arrays that were handed out before stay as they were."""
        self._size, self._fill, self._list, self._dense = other._size, other._fill, other._list, other._dense
        if is_cuda(self._any_values):
            self.__dict__["__array_ufunc__"] = None
        return self

    def _on_list(self, function: Any) -> Self | None:
        """The vector of a function of each value, where that can be had from the list; else None."""
        held = self._list
        if held is None:
            return None
        indices, values = held
        return object.__new__(type(self))._set_list(indices, function(values), self._size)


def _spread(indices: Any, values: Any, size: int, fill: Any) -> tuple[Any, Bitmask]:
    """A value for each index, and who is present, from a list."""
    device = device_of(values)
    check_memory(size * (values.itemsize + 1), f"a vector of {size} values", device)
    held = array_module(device).full(size, fill, dtype=values.dtype)
    held[indices] = values
    return held, Bitmask.from_indices(indices, size)
