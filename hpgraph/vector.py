"""Vector: one value for each index, some of which may be absent."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algebra.methods import Entrywise
from hpgraph.device import Device, array_module, device_of, is_cuda, normalize_device, to_device
from hpgraph.formats import Bitmask, index_dtype
from hpgraph.formats.checks import as_value_dtype
from hpgraph.vector_operators import Operators


class Vector(Operators, Entrywise):
    """Values on the CPU or on the GPU, and which of them are present.

    Parameters
    ----------
    values : array or sequence, shape (n,)
        A value for each index. Arrays that serve as they are are shared, not copied.
    present : Bitmask or array of bool, shape (n,), optional
        Which entries are present; all by default.

    Raises
    ------
    ValueError
        When there is not one dimension, or lengths differ.
    TypeError
        When values are complex or of another type that no kernel serves, or arrays lie on different devices.

    Notes
    -----
    Products take absent entries to be no entries at all. Where an array is asked for (`values`, ``numpy.asarray``),
    something fills their places: 0 from `from_indices`, from a product the identity of its addition, such as inf for
    a distance. Operators and NumPy's functions work entry by entry; an entry of the result is present where it
    is in all operands.

    Examples
    --------
    >>> import numpy as np, hpgraph as hpg
    >>> v = hpg.Vector.from_indices([0, 3], [1.5, 2.5], 5)
    >>> v
    <Vector of 5, 2 present, float64, cpu>
    >>> (2 * v + 1).to_indices()
    (array([0, 3], dtype=int32), array([4., 6.]))
    >>> v.reduce("max")
    np.float64(2.5)
    """

    def __init__(self, values: Any, present: Any = None) -> None:
        if isinstance(values, Vector):
            present = values.present if present is None else present
            values = values.values
        values = _as_array(values)
        if values.ndim != 1:
            raise ValueError(f"values must have one dimension, not shape {values.shape}")
        as_value_dtype(values.dtype, "values")
        if present is not None and not isinstance(present, Bitmask):
            flags = _as_array(present)
            if flags.dtype != np.bool_:
                raise TypeError(
                    f"present must be a Bitmask or an array of bool, not {flags.dtype}: for a list of indices use "
                    "Vector.from_indices"
                )
            present = Bitmask.from_bool(flags)
        if present is not None:
            if present.n != len(values):
                raise ValueError(f"present must have one flag for each of the {len(values)} values, not {present.n}")
            device_of(values, present.words)
        self._values = values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))
        self._present: Bitmask | None = present
        if is_cuda(values):
            # By this CuPy's arrays leave array + vector to us; NumPy looks at the class, and finds its method there.
            self.__dict__["__array_ufunc__"] = None

    @classmethod
    def from_indices(cls, indices: Any, values: Any, size: int, *, fill: Any = 0) -> Vector:
        """A vector of which some entries are present, on the device of the indices.

        Parameters
        ----------
        indices : array or sequence of integers, shape (m,)
            Which entries; no index twice.
        values : array or sequence, shape (m,), or scalar
            Their values.
        size : int
            Length of the vector.
        fill : scalar, default 0
            What fills the places of absent entries.

        Returns
        -------
        Vector

        Raises
        ------
        IndexError
            When an index is negative or not below `size`.
        ValueError
            When lengths differ, or an index is given twice.
        """
        indices = _as_array(indices)
        if indices.size == 0:
            indices = indices.astype(index_dtype(size))
        xp = array_module(device_of(indices, values if getattr(values, "ndim", 0) else None))
        values = xp.asarray(values)
        if values.ndim and values.shape != indices.shape:
            raise ValueError(f"values must be a scalar or have shape {indices.shape}, as indices, not {values.shape}")
        present = Bitmask.from_indices(indices, size)
        if present.count() != len(indices):
            raise ValueError("indices holds an index more than once: combine its values first")
        held = xp.full(size, fill, dtype=as_value_dtype(values.dtype, "values"))
        held[indices] = values
        return cls(held, present)

    @classmethod
    def full(cls, size: int, value: Any, dtype: Any = None, device: str = "cpu") -> Vector:
        """A vector of one value throughout.

        Parameters
        ----------
        size : int
            Length.
        value : scalar
            The value.
        dtype : dtype, optional
            Type; by default that of the value.
        device : {"cpu", "cuda"}
            Where.

        Returns
        -------
        Vector
        """
        return cls(array_module(device).full(size, value, dtype=dtype or np.asarray(value).dtype))

    @property
    def values(self) -> Any:
        """A value for each index, absent ones filled: the array itself, not a copy."""
        return self._values

    @property
    def present(self) -> Bitmask | None:
        """Which entries are present; None where all are."""
        return self._present

    @property
    def structure(self) -> Bitmask:
        """Which entries are present, whatever their values: as a mask, the structural one."""
        return Bitmask.full(self.size, self.device) if self._present is None else self._present

    @property
    def size(self) -> int:
        """Length, absent entries counted."""
        return len(self._values)

    @property
    def shape(self) -> tuple[int]:
        """The length, as a shape."""
        return (self.size,)

    @property
    def ndim(self) -> int:
        """1."""
        return 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        dtype: np.dtype[Any] = self._values.dtype
        return dtype

    @property
    def nvals(self) -> int:
        """Number of entries that are present; on CUDA this waits for the stream."""
        return self.size if self._present is None else self._present.count()

    @property
    def device(self) -> Device:
        """Where the vector lies: "cpu" or "cuda"."""
        return device_of(self._values)

    def to_indices(self) -> tuple[Any, Any]:
        """The present entries.

        Returns
        -------
        indices : integer array, shape (nvals,)
            Ascending.
        values : array, shape (nvals,)
            Their values.
        """
        indices = self.structure.to_indices()
        return indices, self._values[indices]

    def to(self, device: str) -> Vector:
        """The vector on a device; itself where it lies there already.

        Parameters
        ----------
        device : {"cpu", "cuda"}
            Where to.

        Returns
        -------
        Vector
        """
        device = normalize_device(device)
        if device == self.device:
            return self
        return Vector(to_device(self._values, device), None if self._present is None else self._present.to(device))

    def copy(self) -> Vector:
        """The vector over arrays of its own.

        Returns
        -------
        Vector
        """
        return Vector(self._values.copy(), None if self._present is None else self._present.copy())

    def astype(self, dtype: Any) -> Vector:
        """The vector with values of another type.

        Parameters
        ----------
        dtype : dtype
            bool, an integer or a float type.

        Returns
        -------
        Vector
        """
        return Vector(self._values.astype(as_value_dtype(dtype, "dtype")), self._present)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if self.device == "cuda":
            raise TypeError("a vector on the GPU does not turn into a NumPy array by itself: use v.to('cpu')")
        return np.array(self._values, dtype=dtype, copy=copy)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device != "cuda" or self._present is not None:
            # CuPy's functions take whatever has this for an array, and would forget what is absent.
            raise AttributeError("only a vector on the GPU without absent entries is an array to others: use v.values")
        interface: dict[str, Any] = self._values.__cuda_array_interface__
        return interface

    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        entries = "all" if self._present is None else f"{self.nvals:,}"
        return f"<Vector of {self.size:,}, {entries} present, {self.dtype}, {self.device}>"


def _as_array(values: Any) -> Any:
    if is_cuda(values):
        return values
    if hasattr(values, "__cuda_array_interface__"):
        return array_module("cuda").asarray(values)
    return np.asarray(values)
