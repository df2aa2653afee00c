"""Vector: values by index, some of which may be absent."""

from types import GenericAlias
from typing import Any, Self

import numpy as np

from hpgraph.algebra.tuples import vector_from_tuples
from hpgraph.containers.result_table import html_table
from hpgraph.core.device import to_device
from hpgraph.scipy_api.value_functions import ValueFunctions
from hpgraph.scipy_api.vector_methods import Entrywise, Operators, RowMethods
from hpgraph.semiring import BinaryOp, Monoid

# Entries shown in a notebook, and positions searched for them.
_SHOWN = 10
_LOOKED_AT = 4096


class Vector(RowMethods, Operators, Entrywise, ValueFunctions):
    """A vector on the CPU or on the GPU, with values and the set of present entries.

    Parameters
    ----------
    values : array or sequence, shape (n,)
        A value for each index. Arrays of a suitable type are shared, not copied: the vector reflects writes to them.
        Masked elements of a masked array, and elements that a SciPy sparse array does not store, are absent.
    present : Bitmask or array of bool, shape (n,), optional
        Mask of the present entries; all by default.

    Raises
    ------
    ValueError
        If an array does not have one dimension, or lengths differ.
    TypeError
        If no kernel supports the type of the values, or arrays are on different devices.

    Notes
    -----
    Products ignore absent entries. In arrays (`values`, ``numpy.asarray``) a fill value stands for them: 0 from
    `from_indices`, the identity of its addition from a product, such as inf for a distance. Operators and NumPy's
    functions are element-wise; an entry of the result is present if it is present in all operands.

    Examples
    --------
    >>> v = hpg.Vector.from_indices([0, 3], [1.5, 2.5], 5)
    >>> v
    <Vector of 5, 2 present, float64, cpu>
    >>> (2 * v + 1).to_indices()
    (array([0, 3], dtype=int32), array([4., 6.]))
    >>> v.reduce("max")
    np.float64(2.5)
    """

    __class_getitem__: Any = classmethod(GenericAlias)

    @classmethod
    def from_indices(
        cls, indices: Any, values: Any, size: int, *, fill: Any = 0, dup_op: Monoid | BinaryOp | str | None = None
    ) -> Self:
        """A sparse vector from indices and values, on the device of the indices.

        Parameters
        ----------
        indices : array or sequence of integers, shape (m,)
            Indices of the present entries.
        values : array or sequence, shape (m,), or scalar
            Their values.
        size : int
            Length of the vector.
        fill : scalar, default 0
            Fill value of absent entries.
        dup_op : Monoid, BinaryOp, str or function, optional
            Combines the values of duplicate indices, in the order given; without it duplicates are an error.

        Returns
        -------
        Vector
            Stored as a list, a bitmap or full, depending on its density (see `format`).
        """
        return vector_from_tuples(cls, indices, values, size, dup_op=dup_op, fill=fill)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if self.device == "cuda":
            raise TypeError("a vector on the GPU does not turn into a NumPy array by itself: use v.to('cpu')")
        return np.array(self._values, dtype=dtype, copy=copy)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device != "cuda" or self.format != "full":
            # CuPy's functions accept any object with this attribute, and would ignore absent entries.
            raise AttributeError("only a vector on the GPU without absent entries is an array to others: use v.values")
        return self._values.__cuda_array_interface__

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self.device != "cpu" or self.format != "full":
            raise AttributeError("only a vector on the CPU without absent entries is an array to others: use v.values")
        return self._values.__array_interface__

    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        if self.size == 1:
            return bool(self.toarray()[0])
        raise ValueError("the truth value of a vector is ambiguous: use v.nvals, v.count_nonzero() or v.values.any()")

    def __repr__(self) -> str:
        entries = "all" if self.format == "full" else f"{self.nvals:,}"
        return f"<Vector of {self.size:,}, {entries} present, {self.dtype}, {self.device}>"

    def _repr_html_(self) -> str:
        # Unless entries are a list, at least one in fifty is present: the first are near the start, or not shown.
        head = self if self.format == "list" else self[:_LOOKED_AT]
        indices, values = (to_device(array[:_SHOWN], "cpu").tolist() for array in head.to_indices())
        rows = [(f"{index:,}", f"{value:g}" if isinstance(value, float) else str(value))
                for index, value in zip(indices, values, strict=True)]  # fmt: skip
        return html_table(repr(self)[1:-1], rows + [("…", "")] * (len(rows) < self.nvals))
