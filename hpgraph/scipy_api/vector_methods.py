"""Methods of Vector from NumPy's arrays, SciPy's arrays of one dimension and GraphBLAS.

Operators do not use NumPy's dispatch, as `numpy.lib.mixins.NDArrayOperatorsMixin` would: with a CuPy array on the left
that calls the CuPy array first, which accepts any object on the GPU, and would ignore absent entries.
"""

import operator
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from hpgraph.algebra import apply, elementwise, extract, reduce, select
from hpgraph.algebra import assign as assignment
from hpgraph.algebra.assign import set_entries
from hpgraph.algebra.extract import entry_of, take_entries
from hpgraph.algebra.operands import as_mask, is_number
from hpgraph.algebra.selection import as_axis
from hpgraph.containers.matrix_source import FORMATS
from hpgraph.containers.public import matrix_of_csr
from hpgraph.containers.vector import VectorStorage, is_sparse_vector
from hpgraph.core.device import array_module, device_of, is_sparse_matrix, native
from hpgraph.core.number import beyond_range, one_of, whole
from hpgraph.formats import CSR, Bitmask, index_dtype


class Indexing(VectorStorage):
    """Indexing of a `Vector`."""

    def __getitem__(self, key: Any) -> Any:
        """Entries at an index, a slice, integers, a mask, a Bitmask, or the true entries of a Vector of bool.

        An int gives the value, 0 for an absent entry; other keys give a vector, in which absent entries stay absent.
        With None before or after the key, the vector is a row or a column of a matrix.

        Examples
        --------
        >>> v = hpg.Vector([5, 6, 7])
        >>> int(v[-1]), v[::2].values
        (7, array([5, 7]))
        """
        keys = key if isinstance(key, tuple) else (key,)
        axes = tuple(given for given in keys if given is not None)
        axis = self._axis(axes or ...)
        if isinstance(axis, int) and len(axes) == len(keys):
            return entry_of(self, axis)
        if isinstance(axis, int) or len(keys) > len(axes) + 1:
            raise IndexError(f"the index {key!r} of a vector selects neither a vector nor a matrix")
        part: Any = take_entries(self, axis)
        return part if len(axes) == len(keys) else part.reshape((1, -1) if keys[0] is None else (-1, 1))

    def __setitem__(self, key: Any, x: Any) -> None:
        set_entries(self, self._axis(key), x)

    def _axis(self, key: Any) -> Any:
        if isinstance(key, tuple):
            # An ellipsis beside another key stands for no axis.
            key = tuple(given for given in key if given is not Ellipsis) or (...,)
            if len(key) != 1:
                raise IndexError(f"too many indices: a vector has 1 axis, and the index needs {len(key)}")
            (key,) = key
        if key is Ellipsis:
            return range(self.size)
        if isinstance(key, Bitmask | VectorStorage):
            if isinstance(key, VectorStorage) and key.dtype != np.bool_:
                raise IndexError(f"a Vector as an index must be a mask of bool, not {key.dtype}: give v[w != 0]")
            allowed = as_mask(key, "the mask", self.size, self.device)
            assert allowed is not None
            return allowed.to_indices()
        return as_axis(key, self.size, "index", self.device)

    def todense(self) -> Any:
        """The same as `toarray`, as for SciPy's sparse arrays."""
        return self.toarray()

    def resize(self, size: int | tuple[int]) -> None:
        """Change the length in place: entries beyond it are dropped, new ones are absent (GrB_Vector_resize).

        Examples
        --------
        >>> v = hpg.Vector([5, 6, 7])
        >>> v.resize(10)
        >>> v.nvals, v.size
        (3, 10)
        """
        size = whole(size[0] if isinstance(size, tuple) and len(size) == 1 else size, "size", least=0)
        ids = index_dtype(size)
        indices, values = self.to_indices()
        kept = indices < size
        self._become(type(self)._of(indices[kept].astype(ids), values[kept], size, self._fill, before=self.format))


def _of_row(name: str, what: str) -> Callable[..., Any]:
    """A method of `Matrix`, applied to the vector as one row."""

    def method(self: Any, axis: Any = None, **options: Any) -> Any:
        if axis not in (None, 0, -1, (0,), (-1,)):
            raise ValueError(f"axis must be None, 0 or -1, not {axis!r}: a vector has one axis")
        return getattr(self.row, name)(**options)

    method.__name__ = name
    method.__qualname__ = f"RowMethods.{name}"
    method.__doc__ = f"""{what}, absent entries counted as 0.

        Parameters
        ----------
        axis : {{None, 0, -1}}, optional
            The only one.
        **options : object
            As for `Matrix.{name}`.

        Returns
        -------
        scalar
            On CUDA, of a sum or an extreme, an array without dimensions.

        Raises
        ------
        ValueError
            When there is no such axis.
        """
    return method


class RowMethods(Indexing):
    """Methods of `hpgraph.Vector` that SciPy's one-dimensional arrays have."""

    @property
    def row(self) -> Any:
        """The vector as a Matrix of one row."""
        indices, values = self.to_indices()
        indptr = array_module(self.device).asarray([0, len(indices)], dtype=np.int64)
        return matrix_of_csr(CSR((1, self.size), indptr, indices, values, validate=False))

    sum = _of_row("sum", "The sum")
    mean = _of_row("mean", "The mean")
    min = _of_row("min", "The least value")
    max = _of_row("max", "The largest value")
    argmin = _of_row("argmin", "The index of the least value")
    argmax = _of_row("argmax", "The index of the largest value")
    nanmin = _of_row("nanmin", "The least value that is not NaN")
    nanmax = _of_row("nanmax", "The largest value that is not NaN")
    count_nonzero = _of_row("count_nonzero", "How many values are not zero")

    def nonzero(self) -> tuple[Any]:
        """The indices of nonzero entries, in a tuple."""
        indices, values = self.to_indices()
        return (indices[values != 0],)

    def dot(self, other: Any) -> Any:
        """The inner product with a vector or an array of the same length, or the product with a matrix or a number.

        Examples
        --------
        >>> int(hpg.Vector.from_indices([0, 2], [1, 2], 3).dot([5, 6, 7]))
        19
        """
        if is_number(other):
            return self.multiply(other)
        if getattr(other, "ndim", 1) != 1:
            return self @ other
        other = self._vector(other)
        if other.size != self.size:
            raise ValueError(f"other must have length {self.size}, not {other.size}")
        product = self.multiply(other)
        return product.to_indices()[1].sum()

    def multiply(self, other: Any) -> Self:
        """The element-wise product with a number, an array or a vector; present where all operands are."""
        return operator.mul(self, other if is_number(other) else self._vector(other))

    def power(self, n: Any, dtype: Any = None) -> Self:
        """Every value raised to a power, as for `Matrix.power`."""
        return self._from_row(self.row.power(n, dtype))

    def maximum(self, other: Any) -> Any:
        """The element-wise maximum, as for `Matrix.maximum`: absent entries count as 0.

        Examples
        --------
        >>> hpg.Vector([-1, 2]).maximum(hpg.Vector([0, 5])).toarray()
        array([0, 5])
        """
        return self._beside_row(other, "maximum")

    def minimum(self, other: Any) -> Any:
        """The element-wise minimum, as for `Matrix.minimum`: absent entries count as 0."""
        return self._beside_row(other, "minimum")

    def reshape(self, *shape: Any, order: str = "C", copy: bool = False) -> Any:
        """The same values in another shape of the same size, as for `Matrix.reshape`: a Vector or a Matrix."""
        return self.row.reshape(*shape, order=order, copy=copy)

    def tocoo(self, copy: bool = True) -> Any:
        """A copy as a one-dimensional SciPy COO array; on CUDA as a CuPy matrix of one row."""
        if self.device == "cuda":
            return self.row.tocoo()
        from scipy.sparse import coo_array

        indices, values = self.to_indices()
        return coo_array((values, (indices,)), shape=self.shape)

    def tocsr(self, copy: bool = True) -> Any:
        """A copy as a one-dimensional SciPy CSR array; on CUDA as a CuPy matrix of one row."""
        return self.tocoo().tocsr()

    def asformat(self, format: str | None, copy: bool = True) -> Any:
        """The vector in a class of SciPy or CuPy, as for `tocoo`; dense for "array", itself for None."""
        one_of(format, "format", FORMATS)
        if format in ("array", "dense"):
            return self.toarray()
        return self if format is None else self.tocoo(copy).asformat(format)

    def transpose(self, axes: Any = None, copy: bool = False) -> Self:
        """The vector itself, or a copy: a vector has one axis."""
        if axes is not None and tuple(axes) not in ((0,), (-1,)):
            raise ValueError(f"axes must be None or (0,), not {axes!r}: a vector has one axis")
        return self.copy() if copy else self

    def eliminate_zeros(self) -> None:
        """Drop entries whose value is zero, in place."""
        indices, values = self.to_indices()
        kept = values != 0
        self._become(type(self)._of(indices[kept], values[kept], self.size, self._fill, before=self.format))

    def _vector(self, other: Any) -> Any:
        return other if isinstance(other, RowMethods) else type(self)(other)

    def _from_row(self, row: Any) -> Self:
        return row.reshape(-1)

    def _beside_row(self, other: Any, name: str) -> Any:
        if not is_number(other):
            is_array = not isinstance(other, RowMethods) and not is_sparse_vector(other)
            other = np.reshape(other, (1, -1)) if is_array else self._vector(other).row
            if not is_array and other.shape != self.row.shape:
                raise ValueError(f"inconsistent shapes {self.shape} and {other.shape[1:]}")
        result = getattr(self.row, name)(other)
        return self._from_row(result) if hasattr(result, "csr") else result.ravel()


def _defers(other: Any) -> bool:
    return not isinstance(other, Operators) and getattr(other, "__array_ufunc__", True) is None


def _binary(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda self, other: NotImplemented if _defers(other) else self.apply_ufunc(ufunc, (self, other))


def _reflected(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda self, other: NotImplemented if _defers(other) else self.apply_ufunc(ufunc, (other, self))


def _in_place(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda self, other: NotImplemented if _defers(other) else self.apply_ufunc(ufunc, (self, other), (self,))


def _unary(ufunc: np.ufunc) -> Callable[[Any], Any]:
    return lambda self: self.apply_ufunc(ufunc, (self,))


class Operators:
    """Operators of a `hpgraph.Vector`."""

    _values: Any
    _present: Bitmask | None

    # As for any class with entry-by-entry comparison.
    __hash__ = None  # type: ignore[assignment]

    __add__, __radd__, __iadd__ = _binary(np.add), _reflected(np.add), _in_place(np.add)
    __sub__, __rsub__, __isub__ = _binary(np.subtract), _reflected(np.subtract), _in_place(np.subtract)
    __mul__, __rmul__, __imul__ = _binary(np.multiply), _reflected(np.multiply), _in_place(np.multiply)
    __truediv__, __rtruediv__ = _binary(np.true_divide), _reflected(np.true_divide)
    __itruediv__ = _in_place(np.true_divide)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide), _reflected(np.floor_divide)
    __ifloordiv__ = _in_place(np.floor_divide)
    __mod__, __rmod__, __imod__ = _binary(np.remainder), _reflected(np.remainder), _in_place(np.remainder)
    __divmod__, __rdivmod__ = _binary(np.divmod), _reflected(np.divmod)
    __pow__, __rpow__, __ipow__ = _binary(np.power), _reflected(np.power), _in_place(np.power)
    __and__, __rand__, __iand__ = _binary(np.bitwise_and), _reflected(np.bitwise_and), _in_place(np.bitwise_and)
    __or__, __ror__, __ior__ = _binary(np.bitwise_or), _reflected(np.bitwise_or), _in_place(np.bitwise_or)
    __xor__, __rxor__, __ixor__ = _binary(np.bitwise_xor), _reflected(np.bitwise_xor), _in_place(np.bitwise_xor)
    __lt__, __le__, __gt__, __ge__ = map(_binary, (np.less, np.less_equal, np.greater, np.greater_equal))
    __eq__, __ne__ = _binary(np.equal), _binary(np.not_equal)  # type: ignore[assignment]
    __neg__, __pos__, __abs__, __invert__ = map(_unary, (np.negative, np.positive, np.absolute, np.invert))

    def __matmul__(self: Any, other: Any) -> Any:
        return self._product(other, lambda vector, array: vector @ array)

    def __rmatmul__(self: Any, other: Any) -> Any:
        return self._product(other, lambda vector, array: array @ vector)

    def _product(self: Any, other: Any, with_array: Callable[[Any, Any], Any]) -> Any:
        """The product: a number for a vector, an array for a dense matrix; sparse matrices implement their own."""
        dimensions = np.ndim(other)
        if dimensions == 1:
            return self.dot(other)
        if dimensions == 0 or is_sparse_matrix(other):
            return NotImplemented
        return with_array(self.toarray(), native(other))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", ())
        if ufunc is np.matmul and method == "__call__" and not out and not options:
            left, right = inputs
            return left.__matmul__(right) if isinstance(left, Operators) else right.__rmatmul__(left)
        if ufunc.signature is not None:
            return NotImplemented
        if method != "__call__" or any(getattr(operand, "ndim", 0) > 1 for operand in (*inputs, *out)):
            return NotImplemented
        return self.apply_ufunc(ufunc, inputs, out, **options)

    def apply_ufunc(
        self, ufunc: Callable[..., Any], inputs: tuple[Any, ...], out: tuple[Any, ...] = (), **options: Any
    ) -> Any:
        """A NumPy function of Vectors, arrays and numbers, written to `out`, a tuple, if given.

        An entry of the result is present if it is present in all operands. Operands on different devices are a
        TypeError, those of different lengths a ValueError.
        """
        kind: Any = type(self)
        inputs = tuple(kind(operand) if is_sparse_vector(operand) else operand for operand in inputs)
        arrays = [_array(operand) for operand in inputs]
        targets = tuple(_array(target) for target in out)
        device_of(*arrays, *targets)
        present: Bitmask | None = None
        for operand in inputs:
            mask = operand._present if isinstance(operand, Operators) else None
            if mask is not None and mask.n == 1:
                # NumPy repeats the one value.
                (length,) = np.broadcast_shapes(*(np.shape(array) for array in arrays))
                mask = None if mask.any() else Bitmask.zeros(length, mask.device)
            if present is not None and mask is not None and mask.n != present.n:
                raise ValueError(f"operands must have the same length, not {present.n} and {mask.n}")
            present = mask if present is None else present if mask is None else present & mask
        # Values of absent entries are ignored. On CuPy's arrays NumPy's function is CuPy's.
        with np.errstate(all="ignore") if present is not None else np.errstate():
            try:
                results = ufunc(*arrays, **options, **({"out": targets} if out else {}))
            except OverflowError:
                raise beyond_range(np.result_type(*(a.dtype for a in arrays if hasattr(a, "dtype")))) from None
        if out:
            for target in out:
                if isinstance(target, Operators):
                    target._present = present
            return out[0] if len(out) == 1 else out
        if isinstance(results, tuple):
            return tuple(self._made(result, present) for result in results)
        return self._made(results, present)

    def _map(self, function: Callable[[Any], Any]) -> Any:
        return self.apply_ufunc(function, (self,))

    def _made(self, values: Any, present: Bitmask | None) -> Any:
        kind: Any = type(self)
        if values.dtype == np.float16:
            # NumPy's roots and sines of small integers.
            values = values.astype(np.float32)
        return kind(values, present)


def _array(operand: Any) -> Any:
    return operand._values if isinstance(operand, Operators) else native(operand)


class Entrywise:
    """Methods common to `hpgraph.Matrix` and `hpgraph.Vector`, under GraphBLAS's names.

    Each is the function of its name, with the matrix or vector as first operand, or as the target of an assignment.

    Examples
    --------
    >>> A = hpg.Matrix([[1, 2], [0, 0]])
    >>> A.ewise_add(A.T, "max").apply("plus", right=10).toarray()
    array([[11, 12],
           [12,  0]])
    >>> hpg.Vector([3, 1, 2]).reduce("min")
    np.int64(1)
    """

    apply = apply.apply
    assign, subassign = assignment.assign, assignment.subassign
    extract = extract.extract
    reduce = reduce.reduce
    select = select.select

    def ewise_add(self, other: Any, op: Any = "plus", **options: Any) -> Any:
        """The union with another matrix or vector: `hpgraph.ewise_add`, whose other parameters are `options`."""
        return elementwise.ewise_add(self, other, op, **options)

    def ewise_mult(self, other: Any, op: Any = "times", **options: Any) -> Any:
        """The intersection with another: `hpgraph.ewise_mult`, whose other parameters are `options`."""
        return elementwise.ewise_mult(self, other, op, **options)

    def ewise_union(self, fill: Any, other: Any, other_fill: Any, op: Any = "plus", **options: Any) -> Any:
        """The union with another, with numbers for absent entries: `hpgraph.ewise_union`, with its `options`."""
        return elementwise.ewise_union(self, fill, other, other_fill, op, **options)
