"""Vector: one value for each index, some of which may be absent."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hpgraph.core.device import (
    array_module,
    device_of,
    is_cuda,
    is_masked,
    native,
    normalize_device,
    to_device,
    unmasked,
)
from hpgraph.formats import Bitmask
from hpgraph.formats.checks import as_value_dtype
from hpgraph.scipy_api.algebra_methods import Entrywise
from hpgraph.scipy_api.vector_indexing import Indexing
from hpgraph.scipy_api.vector_operators import Operators
from hpgraph.semiring import BinaryOp, Monoid


class Vector(Indexing, Operators, Entrywise):
    """Values on the CPU or on the GPU, and which of them are present.

    Parameters
    ----------
    values : array or sequence, shape (n,)
        A value for each index. Arrays that serve as they are are shared, not copied: the vector shows what is written
        to them. Elements that a masked array masks are absent.
    present : Bitmask or array of bool, shape (n,), optional
        Which entries are present; all by default.

    Raises
    ------
    ValueError
        When there is not one dimension, or lengths differ.
    TypeError
        When values are of a type that no kernel serves, or arrays lie on different devices.

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
            if present is None:
                self._become(values)
                return
            values = values.values
        if is_masked(values):
            there = ~np.ma.getmaskarray(values)
            if not there.all():
                present = there if present is None else there & _flags(present)
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

    @classmethod
    def from_indices(
        cls, indices: Any, values: Any, size: int, *, fill: Any = 0, dup_op: Monoid | BinaryOp | str | None = None
    ) -> Self:
        """A vector of which some entries are present, on the device of the indices.

        Parameters
        ----------
        indices : array or sequence of integers, shape (m,)
            Which entries.
        values : array or sequence, shape (m,), or scalar
            Their values.
        size : int
            Length of the vector.
        fill : scalar, default 0
            What fills the places of absent entries.
        dup_op : Monoid, BinaryOp, str or function, optional
            Combines the values given for one index, in their order; without it an index may be given once.

        Returns
        -------
        Vector
            As a list, a bitmap or full, as its density says (see `format`).

        Raises
        ------
        IndexError
            When an index is negative or not below `size`.
        ValueError
            When lengths differ, or an index is given twice and there is no `dup_op`.
        """
        from hpgraph.algebra.tuples import vector_from_tuples

        return vector_from_tuples(cls, indices, values, size, dup_op=dup_op, fill=fill)

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
        held = self._list
        if held is not None:
            return Bitmask.from_indices(held[0], self.size)
        return Bitmask.full(self.size, self.device) if self._present is None else self._present

    @property
    def shape(self) -> tuple[int]:
        """The length, as a shape."""
        return (self.size,)

    @property
    def ndim(self) -> int:
        """1."""
        return 1

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
        held = self._list
        if held is not None:
            indices, values = (to_device(array, device) for array in held)
            return object.__new__(type(self))._set_list(indices, values, self.size, self._fill)
        return Vector(to_device(self._values, device), None if self._present is None else self._present.to(device))

    def copy(self) -> Vector:
        """The vector over arrays of its own.

        Returns
        -------
        Vector
        """
        held = self._list
        if held is not None:
            return object.__new__(type(self))._set_list(held[0].copy(), held[1].copy(), self.size, self._fill)
        return Vector(self._values.copy(), None if self._present is None else self._present.copy())

    def astype(self, dtype: Any) -> Vector:
        """The vector with values of another type.

        Parameters
        ----------
        dtype : dtype
            bool, an integer, a float or a complex type.

        Returns
        -------
        Vector
        """
        kind = as_value_dtype(dtype, "dtype")
        made = self._on_list(lambda values: values.astype(kind))
        return Vector(self._values.astype(kind), self._present) if made is None else made

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if self.device == "cuda":
            raise TypeError("a vector on the GPU does not turn into a NumPy array by itself: use v.to('cpu')")
        return np.array(self._values, dtype=dtype, copy=copy)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device != "cuda" or self.format != "full":
            # CuPy's functions take whatever has this for an array, and would forget what is absent.
            raise AttributeError("only a vector on the GPU without absent entries is an array to others: use v.values")
        interface: dict[str, Any] = self._values.__cuda_array_interface__
        return interface

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self.device != "cpu" or self.format != "full":
            raise AttributeError("only a vector on the CPU without absent entries is an array to others: use v.values")
        interface: dict[str, Any] = self._values.__array_interface__
        return interface

    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        entries = "all" if self.format == "full" else f"{self.nvals:,}"
        return f"<Vector of {self.size:,}, {entries} present, {self.dtype}, {self.device}>"


def _flags(present: Any) -> Any:
    """Who is present, as an array of bool."""
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
