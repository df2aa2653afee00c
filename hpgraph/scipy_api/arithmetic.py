"""Arithmetic of a Matrix with another, an array or a number: ``+ - * /``, comparisons, maximum and minimum.

Names, results and errors are SciPy's: zeros of a result are not stored, and a dense result is an error or, if SciPy
returns it, dense. The work is that of `ewise_union` and `ewise_mult`.
"""

import operator
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from hpgraph.algebra.elementwise import ewise_union, join_nonzero
from hpgraph.algebra.operands import is_number
from hpgraph.algebra.write import without_zeros
from hpgraph.core.device import array_module, check_memory, is_sparse_matrix
from hpgraph.core.number import beyond_range
from hpgraph.formats import CSR
from hpgraph.scipy_api.functions import Functions

_ORDERS = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "min": np.minimum, "max": np.maximum
}  # fmt: skip


def _in_place(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """In-place form of an operator; the type of values becomes that of the result."""

    def method(self: Any, other: Any) -> Any:
        result = operation(self, other)
        return self._rebind(result.csr) if isinstance(result, Arithmetic) else result

    return method


class Arithmetic(Functions):
    """Methods of `Matrix` with a second operand."""

    def __add__(self, other: Any) -> Any:
        return self._sum(other, "plus", operator.add, "adding a nonzero number to")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._sum(other, "minus", operator.sub, "subtracting a nonzero number from")

    def __rsub__(self, other: Any) -> Any:
        return self._sum(other, "rminus", lambda a, b: b - a, "subtracting from a nonzero number")

    def _sum(self, other: Any, op: str, dense: Any, doing: str) -> Any:
        if is_number(other):
            if other == 0:
                return -self if op == "rminus" else self.copy()
            raise NotImplementedError(
                f"{doing} a sparse matrix would make it dense: use A.toarray(), or A.apply for its entries alone"
            )
        other = self._beside(other)
        if other is NotImplemented or not isinstance(other, Arithmetic):
            return other if other is NotImplemented else dense(self.toarray(), other)
        self._check_shape(other)
        return self._union(other, op)

    def __mul__(self, other: Any) -> Any:
        return self.multiply(other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if is_number(other):
            if other == 0 and not hasattr(other, "dtype"):
                # As in Python and SciPy; a zero of NumPy's gives inf.
                raise ZeroDivisionError("division of a matrix by zero: numpy.float64(0) gives inf where it has entries")
            # In float64 also where values are float32, as SciPy does.
            return self._map(lambda data: (data if data.dtype.kind == "c" else data.astype(np.float64)) / other)
        other = self._beside(other)
        if other is NotImplemented or not isinstance(other, Arithmetic):
            return other if other is NotImplemented else self.multiply(1 / other)
        return self._divide(other)

    def __rtruediv__(self, other: Any) -> Any:
        return NotImplemented

    __iadd__, __isub__, __imul__, __itruediv__ = map(_in_place, (__add__, __sub__, __mul__, __truediv__))

    def _divide(self, other: "Arithmetic") -> Any:
        """The quotient of two sparse matrices: a dense array, since it is NaN where both entries are absent."""
        self._check_shape(other)
        kind = np.result_type(self.dtype, other.dtype, np.float64)
        needed = kind.itemsize * self.shape[0] * self.shape[1]
        check_memory(needed, "a quotient of sparse matrices, which is dense", self.device)
        result = array_module(self.device).full(self.shape, np.nan, dtype=kind)
        divisor = without_zeros(other.csr)
        result[divisor.expand_rows(), divisor.indices] = 0
        quotient = self._union(other, "div").csr
        result[quotient.expand_rows(), quotient.indices] = quotient.data
        return result

    def multiply(self, other: Any) -> Any:
        """The product with a number, an array or a sparse matrix, entry by entry, as `scipy.sparse.csr_array.multiply`.

        The other is of the matrix's shape, or one that NumPy broadcasts with it: a row, a column, one element.

        Examples
        --------
        >>> hpg.Matrix([[0, 2], [3, 0]]).multiply(np.array([10, 100])).toarray()
        array([[  0, 200],
               [ 30,   0]])
        """
        if is_number(other):
            return self._map(lambda data: data * other)
        other = self._beside(other)
        if other is NotImplemented:
            return other
        if not isinstance(other, Arithmetic):
            return self._times_dense(other)
        if self.shape == other.shape:
            return join_nonzero(self, other, "times", union=False)
        if other.shape[0] == self.shape[1] == 1 and other.shape[1] != 1:
            return self @ other
        if self.shape[0] == other.shape[1] == 1 and self.shape[1] != 1:
            return other @ self
        if other.shape == (1, 1):
            return self._times_dense(other.toarray())
        if 1 not in other.shape and 1 in self.shape:
            # Multiplication commutes: the thin operand is broadcast.
            return other.multiply(self)
        return self._with(without_zeros(self._times_dense(other.toarray()).csr))

    def _times_dense(self, other: Any) -> Self:
        """The product with an array of up to two dimensions, at the entries of the matrix."""
        if other.ndim > 2:
            raise ValueError(f"B must have at most two dimensions, not shape {other.shape}")
        other = array_module(self.device).atleast_2d(other)
        try:
            shape = np.broadcast_shapes(self.shape, other.shape)
        except ValueError:
            raise ValueError(f"inconsistent shapes {self.shape} and {other.shape}") from None
        csr = self.csr if self.shape == shape else _spread(self.csr, (shape[0], shape[1]))
        if not csr.nnz:
            return self._with(csr)._map(lambda data: data * other.dtype.type(1))
        row = csr.expand_rows() if other.shape[0] > 1 else 0
        column = csr.indices if other.shape[1] > 1 else 0
        return self._with(csr)._map(lambda data: data * other[row, column])

    def maximum(self, other: Any) -> Any:
        """The element-wise maximum, absent entries counting as 0; with an array the result is an array.

        With a positive number every entry is stored, and a SparseEfficiencyWarning given.

        Examples
        --------
        >>> A = hpg.Matrix([[0, 2], [-3, 0]])
        >>> A.maximum(-A).toarray()
        array([[0, 2],
               [3, 0]])
        """
        return self._extreme(other, np.maximum, "max")

    def minimum(self, other: Any) -> Any:
        """The element-wise minimum, as `maximum`; with a negative number every entry is stored."""
        return self._extreme(other, np.minimum, "min")

    def _extreme(self, other: Any, ufunc: np.ufunc, op: str) -> Any:
        if is_number(other):
            try:
                if bool(ufunc(0, other)):
                    warn_of_density(f"{ufunc.__name__} with {other} makes every entry of the matrix a stored one")
                    return type(self)(ufunc(self.toarray(), other))
            except OverflowError:
                raise beyond_range(self.dtype) from None
            return self._with(without_zeros(self._map(lambda data: ufunc(data, other)).csr))
        other = self._beside(other)
        if other is NotImplemented:
            raise NotImplementedError(f"{ufunc.__name__} takes a number, an array or a sparse matrix")
        if not isinstance(other, Arithmetic):
            return ufunc(self.toarray(), other)
        self._check_shape(other)
        return self._union(other, op)

    def _union(self, other: Any, op: str) -> Self:
        """An operator over the union of both matrices' entries, absent ones being 0; zeros are not kept."""
        is_complex = "c" in (self.dtype.kind, other.dtype.kind)
        if (op in _ORDERS and is_complex) or (op in ("min", "max") and _any_nan(self, other)):
            # NumPy orders complex numbers by their real parts, then by the imaginary ones; the algebra has no order. Of
            # a number and NaN NumPy's extreme is NaN, that of the algebra the number.
            common = np.result_type(self.dtype, other.dtype)
            pair = self.astype(common), other.astype(common)
            left, right = (ewise_union(pair[0], 0, pair[1], 0, side).csr for side in ("first", "second"))
            return self._with(without_zeros(left.with_data(_ORDERS[op](left.data, right.data))))
        return join_nonzero(self, other, op, union=True)

    def _beside(self, other: Any) -> Any:
        """The other operand as a Matrix, or an array on the matrix's device; NotImplemented for anything else."""
        if isinstance(other, Arithmetic):
            return other
        if is_sparse_matrix(other):
            return type(self)(other)
        if other is None or isinstance(other, str | bytes | dict | set) or hasattr(other, "present"):
            return NotImplemented
        if isinstance(other, list | tuple):
            other = np.asarray(other)
        if not isinstance(getattr(other, "shape", None), tuple):
            return NotImplemented
        return self._operand(other, "B")

    def _check_shape(self, other: Any) -> None:
        if other.shape != self.shape:
            raise ValueError(f"inconsistent shapes {self.shape} and {other.shape}")


def warn_of_density(message: str) -> None:
    """SciPy's SparseEfficiencyWarning, at the user's call, which is three frames above."""
    from scipy.sparse import SparseEfficiencyWarning

    warnings.warn(message, SparseEfficiencyWarning, stacklevel=4)


def _any_nan(*matrices: Any) -> bool:
    """Whether any value is NaN; synchronizes with the GPU."""
    return any(A.dtype.kind == "f" and bool((A.csr.data != A.csr.data).any()) for A in matrices)


def _spread(csr: CSR, shape: tuple[int, int]) -> CSR:
    """A row, a column or one element broadcast to a shape, as in NumPy."""
    xp = array_module(csr.device)
    row, column, data = csr.expand_rows(), csr.indices, csr.data
    for axis in (0, 1):
        copies = shape[axis] // max(csr.shape[axis], 1)
        if csr.shape[axis] != 1 or copies == 1:
            continue
        ids = xp.repeat(xp.arange(copies, dtype=row.dtype), len(row))
        row, column = (ids, xp.tile(column, copies)) if axis == 0 else (xp.tile(row, copies), ids)
        data = None if data is None else xp.tile(data, copies)
    return CSR.from_coo(row, column, data, shape)


# Each operator's name in the algebra, its sign, and the sign of its negation.
_NAMES: dict[Callable[[Any, Any], Any], tuple[str, str, str]] = {
    operator.eq: ("eq", "==", "!="),
    operator.ne: ("ne", "!=", "=="),
    operator.lt: ("lt", "<", ">="),
    operator.le: ("le", "<=", ">"),
    operator.gt: ("gt", ">", "<="),
    operator.ge: ("ge", ">=", "<"),
}


class Comparisons(Arithmetic):
    """``== != < <= > >=`` of a `Matrix` and a number, an array or a sparse matrix."""

    # As for any class with entry-by-entry comparison.
    __hash__ = None  # type: ignore[assignment]

    __eq__, __ne__, __lt__, __le__, __gt__, __ge__ = (  # type: ignore[assignment]
        (lambda self, other, function=function: self._compare(other, function)) for function in _NAMES
    )

    def _compare(self, other: Any, function: Callable[[Any, Any], Any]) -> Any:
        op, sign, negation = _NAMES[function]
        if is_number(other):
            if not bool(function(0, other)):
                return self._with(without_zeros(self._map(lambda data: function(data, other)).csr))
            warn_of_density(f"A {sign} {other} holds where A has no entry: A {negation} {other} is sparse")
            return type(self)(function(self.toarray(), other))
        other = self._beside(other)
        if other is NotImplemented:
            return other
        if not isinstance(other, Arithmetic):
            return function(self.toarray(), other)
        if other.shape != self.shape:
            if function in (operator.eq, operator.ne):
                return function is operator.ne
            raise ValueError(f"inconsistent shapes {self.shape} and {other.shape}")
        if not function(0, 0):
            return self._union(other, op)
        warn_of_density(f"A {sign} B holds where neither has an entry: A {negation} B is sparse")
        return type(self)(function(self.toarray(), other.toarray()))
