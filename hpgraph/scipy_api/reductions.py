"""Sums, extremes and counts of a Matrix's entries: names and results are SciPy's, absent entries count as 0."""

import operator
from typing import Any

import numpy as np

from hpgraph.algebra.mxv import multiply
from hpgraph.algebra.reduce import (
    aggregate,
    as_axis,
    extreme,
    extreme_by_row,
    place_of_extreme,
    places_by_row,
    sum_dtype,
)
from hpgraph.algebra.write import without_zeros
from hpgraph.core.device import array_module, count
from hpgraph.formats import occurrences
from hpgraph.scipy_api.products import Products


def _extreme(name: str, what: str) -> Any:
    """A method like `max`."""

    def method(self: Any, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        return self._extreme_entry(name.removeprefix("nan"), axis, out, explicit, skip_nan=name.startswith("nan"))

    method.__name__, method.__doc__ = name, f"{what}; all else is as for `max`."
    return method


class Reductions(Products):
    """Reductions of `Matrix` over all entries, each row or each column."""

    def sum(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """Sum of all entries, or with an axis, of each column (0) or each row (1), as `scipy.sparse.csr_array.sum`.

        Integers and bool are summed in 64 bits unless `dtype` is given; with `out` the sums are written there. On CUDA
        a scalar is a 0-d array, as in CuPy.

        Examples
        --------
        >>> hpg.Matrix([[0, 2], [3, 0]]).sum(axis=1)
        array([2, 3])
        """
        kind = np.dtype(sum_dtype(self.dtype) if dtype is None else dtype)
        axis = as_axis(axis)
        if axis is None:
            data = self.csr.data
            xp = array_module(self.device)
            result = xp.asarray(self.nnz, dtype=kind)[()] if data is None else data.sum(dtype=kind)
        else:
            # Entries are converted before they are summed, as in NumPy.
            summed = self if np.can_cast(self.dtype, kind) else self.astype(kind)
            summed = summed.T if axis == 0 else summed
            ones = array_module(self.device).ones(summed.shape[1], dtype=kind)
            result = multiply(summed, ones).astype(kind, copy=False)
        return _written(result, out)

    def mean(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """Mean of all entries, of each column or of each row, absent ones counted as 0; float64 for integers.

        Parameters and result are those of `sum`.
        """
        whole = self.dtype.kind in "biu"
        count = {None: self.shape[0] * self.shape[1], 0: self.shape[0], 1: self.shape[1]}[as_axis(axis)]
        final = np.dtype(dtype if dtype is not None else np.float64 if whole else self.dtype)
        total = self.sum(axis, dtype=np.float64 if whole else final)
        with np.errstate(all="ignore"):
            result = (total / count if count else total * np.nan).astype(final)
        return _written(result, out)

    def max(self, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        """Maximum of all entries, of each column or of each row; NaN if any of them is NaN.

        As `scipy.sparse.csr_array.max`: with `explicit` absent entries are ignored; with an axis the result is a Vector
        in which zeros are absent. Complex values are compared in NumPy's order, by real parts first, without an axis.
        An empty reduction is a ValueError.

        Examples
        --------
        >>> A = hpg.Matrix([[0, 2], [-3, 0]])
        >>> int(A.max()), A.max(axis=1).values
        (2, array([2, 0]))
        """
        return self._extreme_entry("max", axis, out, explicit, skip_nan=False)

    min = _extreme("min", "The smallest entry of all, of each column or of each row; NaN where one is NaN")
    nanmax = _extreme("nanmax", "The largest entry that is not NaN")
    nanmin = _extreme("nanmin", "The smallest entry that is not NaN")

    def _extreme_entry(self, name: str, axis: int | None, out: Any, explicit: bool, *, skip_nan: bool) -> Any:
        if out is not None:
            raise ValueError(f"{name} ignores out, an argument only for NumPy: omit it")
        rows = self._lines(axis, name)
        if as_axis(axis) is None:
            return extreme(rows, name, explicit=explicit, skip_nan=skip_nan)
        return extreme_by_row(rows, name, explicit=explicit, skip_nan=skip_nan)

    def argmax(self, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        """Position of the first maximum: in the matrix in row-major order, or int64 for each column or row.

        Parameters are those of `max`; an empty reduction is a ValueError.

        Examples
        --------
        >>> A = hpg.Matrix([[0, 2], [-3, 0]])
        >>> A.argmax(), A.argmax(axis=1)
        (1, array([1, 1]))
        """
        return self._place_of_extreme("max", axis, out, explicit)

    def argmin(self, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        """Position of the first minimum; parameters and result are those of `argmax`."""
        return self._place_of_extreme("min", axis, out, explicit)

    def _place_of_extreme(self, name: str, axis: int | None, out: Any, explicit: bool) -> Any:
        if out is not None:
            raise ValueError(f"arg{name} ignores out, an argument only for NumPy: omit it")
        rows = self._lines(axis, f"arg{name}")
        if as_axis(axis) is None:
            return place_of_extreme(rows, name, explicit=explicit)
        return places_by_row(rows, name, explicit=explicit)

    def _lines(self, axis: int | None, name: str) -> Any:
        """The matrix, transposed for axis 0, whose rows are compared."""
        axis = as_axis(axis)
        if self.dtype.kind == "c" and (axis is not None or name.startswith("arg")):
            raise TypeError(f"Cannot apply {name} to complex values, which have no order: take A.real or abs(A)")
        empty = 0 in self.shape if axis is None else self.shape[axis] == 0
        if empty:
            raise ValueError(f"Cannot apply {name}: a matrix of shape {self.shape} has nothing to compare there")
        return (self.T if axis == 0 else self).csr

    def diagonal(self, k: int = 0) -> Any:
        """The entries (i, i + k) as an array, with zeros for absent ones.

        Examples
        --------
        >>> hpg.Matrix([[5, 2], [3, 0]]).diagonal()
        array([5, 0])
        """
        rows, columns = self.shape
        k = operator.index(k)
        length = max(0, min(rows + min(k, 0), columns - max(k, 0)))
        result = array_module(self.device).zeros(length, dtype=self.dtype)
        if length:
            csr = self.csr
            row = csr.expand_rows()
            found = (csr.indices - row == k).nonzero()[0]
            result[row[found] + min(k, 0)] = True if csr.data is None else csr.data[found]
        return result

    def trace(self, offset: int = 0) -> Any:
        """Sum of a diagonal, numbered as for `diagonal`."""
        return self.diagonal(offset).sum()

    def getnnz(self, axis: int | None = None) -> Any:
        """Number of stored entries, explicit zeros included: in all, or int64 for each column or row, as for `sum`."""
        axis = as_axis(axis)
        if axis is None:
            return self.nnz
        if axis == 1:
            return aggregate(self.csr, "count").values
        return occurrences(self.csr.indices, self.shape[1])

    def count_nonzero(self, axis: int | None = None) -> Any:
        """Number of nonzero entries: in all, or int64 for each column or row, as for `sum`."""
        if as_axis(axis) is None and not self.is_pattern:
            return count(self.csr.data != 0)
        counted: Any = self._of(without_zeros(self.csr))
        return counted.getnnz(axis)


def _written(result: Any, out: Any) -> Any:
    if out is None:
        return result
    if out.shape != result.shape:
        raise ValueError(
            f"out must have shape {result.shape}, not {out.shape}: an output parameter of the wrong dimensions"
        )
    out[...] = result
    return out
