"""Indexing ``A[...]``, entries as arrays, and changes of structure: resize, reshape, eliminate_zeros, setdiag."""

import operator
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from hpgraph.algebra.assign_matrix import assigned_values, set_selected
from hpgraph.algebra.extract import select, take
from hpgraph.algebra.selection import parse
from hpgraph.algebra.tuples import csr_from_tuples
from hpgraph.algebra.write import without_zeros
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.writable_views import WritableViews
from hpgraph.core.device import array_module, is_sparse_matrix, unmasked
from hpgraph.core.locks import Lock
from hpgraph.core.number import one_of
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.checks import as_shape
from hpgraph.scipy_api.vector import Vector
from hpgraph.semiring import BinaryOp, Monoid

# An assignment makes the arrays anew: of two at once, one would be lost.
_assigning = Lock()


class Indexing(WritableViews):
    """Indexing of a `Matrix`."""

    def __getitem__(self, key: Any) -> Any:
        """Entries, rows, columns and submatrices, as for `scipy.sparse.csr_array`; the key may be a Matrix of bool.

        A result of one dimension is a `Vector`, in which entries that the matrix does not store are absent.

        Examples
        --------
        >>> A = hpg.Matrix([[1, 0, 2], [0, 3, 0]])
        >>> int(A[0, 2]), A[1], A[:, [2, 0]].toarray().tolist()
        (2, <Vector of 3, 1 present, int64, cpu>, [[2, 1], [0, 0]])
        """
        return select(self, parse(self._key(key), self.shape, self.device))

    def __setitem__(self, key: Any, x: Any) -> None:
        with _assigning:
            set_selected(self, parse(self._key(key), self.shape, self.device), x)

    def __iter__(self) -> Iterator[Vector]:
        return (self[row] for row in range(self.shape[0]))

    def _key(self, key: Any) -> Any:
        """The key, with a sparse mask replaced by the positions of its true entries."""
        if not (isinstance(key, MatrixStorage) or is_sparse_matrix(key)):
            return key
        mask = key if isinstance(key, MatrixStorage) else type(self)(key)
        if mask.dtype != bool:
            raise IndexError(f"a sparse index must be a mask of bool, not {mask.dtype}: give A[B != 0]")
        if mask.shape != self.shape:
            raise IndexError(f"bool index 0 has shape {mask.shape} instead of {self.shape}")
        places = without_zeros(mask.csr)
        return places.expand_rows(), places.indices


class Structure(Indexing):
    """Entries and structure of a `Matrix`."""

    @classmethod
    def from_coo(
        cls,
        rows: Any,
        columns: Any,
        values: Any = None,
        shape: Any = None,
        *,
        dup_op: Monoid | BinaryOp | str | None = "plus",
    ) -> Self:
        """A matrix from the row, the column and the value of each entry, in any order (GrB_Matrix_build).

        Parameters
        ----------
        rows, columns : array or sequence of integers, shape (m,)
            Positions of the entries.
        values : array or sequence, shape (m,), or number, optional
            Values of the entries; None makes a pattern.
        shape : (int, int), optional
            By default the smallest that holds the entries.
        dup_op : Monoid, BinaryOp, str or function, default "plus"
            Combines the values of duplicates, in the order given. None makes duplicates an error.

        Returns
        -------
        Matrix
            On the device of the arrays; explicit zeros are kept.

        Raises
        ------
        IndexError
            If an index is negative or beyond the shape.
        ValueError
            If lengths differ, no operator has the name, or there are duplicates and `dup_op` is None.
        TypeError
            If `dup_op` is not defined for values of this type.

        Examples
        --------
        >>> hpg.Matrix.from_coo([1, 0, 1], [0, 1, 0], [5, 3, 7], dup_op="max").toarray()
        array([[0, 3],
               [7, 0]])
        """
        return cls._of(csr_from_tuples(rows, columns, values, shape, dup_op))

    def to_coo(self) -> tuple[Any, Any, Any]:
        """The row, the column and the value of each entry, by rows (GrB_Matrix_extractTuples).

        Returns
        -------
        rows, columns : integer arrays, shape (nnz,)
            Positions of the entries.
        values : array, shape (nnz,)
            Values of the entries; all true for a pattern. All three are copies.

        Examples
        --------
        >>> hpg.Matrix([[0, 3], [7, 0]]).to_coo()
        (array([0, 1], dtype=int32), array([1, 0], dtype=int32), array([3, 7]))
        """
        csr = self.csr
        values = array_module(self.device).ones(csr.nnz, dtype=np.bool_) if csr.data is None else csr.data.copy()
        return csr.expand_rows(), csr.indices.copy(), values

    def nonzero(self) -> tuple[Any, Any]:
        """Rows and columns of the nonzero entries."""
        csr = without_zeros(self.csr)
        return csr.expand_rows(), csr.indices.copy()

    def eliminate_zeros(self) -> None:
        """Drop entries whose value is zero, in place."""
        csr = without_zeros(self.csr)
        if csr is not self.csr:
            self._rebind(csr)

    # Rows are always sorted and free of duplicates; SciPy's names for these properties and operations.
    has_sorted_indices = True
    has_canonical_format = True

    def sort_indices(self) -> None:
        """Do nothing: rows are always sorted."""
        self.has_sorted_indices = True

    def sum_duplicates(self) -> None:
        """Do nothing: there are no duplicates."""
        self.has_canonical_format = True

    def prune(self) -> None:
        """Do nothing: arrays have no spare capacity."""

    def sorted_indices(self) -> Self:
        """A copy; rows are always sorted."""
        return type(self)(self, format=self._format)

    def check_format(self, full_check: bool = True) -> None:
        """With `full_check`, check that shared arrays, if modified, still form a valid CSR matrix."""
        if full_check:
            csr = self.csr
            CSR(csr.shape, csr.indptr, csr.indices, csr.data, copy=False)
            if not csr.is_canonical():
                raise ValueError("a row's columns do not rise: arrays that the matrix shares were written to")

    def resize(self, *shape: Any) -> None:
        """Change the shape in place: entries beyond it are dropped, new rows and columns are empty.

        The shape is a pair or two numbers; a ValueError if it is negative or does not have two lengths.
        """
        try:
            rows, columns = as_shape(shape[0] if len(shape) == 1 else shape)
        except TypeError as error:
            raise ValueError(str(error)) from None
        part = take(self.csr, range(min(rows, self.shape[0])), range(min(columns, self.shape[1])))
        xp = array_module(self.device)
        more = xp.full(rows - part.shape[0], part.nnz, dtype=np.int64)
        indices = part.indices.astype(index_dtype(max(rows, columns)), copy=False)
        indptr = xp.concatenate((part.indptr, more))
        self._rebind(CSR((rows, columns), indptr, indices, part.data, validate=False))

    def reshape(self, *shape: Any, order: str = "C", copy: bool = False) -> Any:
        """The same values in another shape of the same size: a pair or two numbers, of which one may be -1.

        A single length makes a Vector. `order`, "C" or "F", is row-major or column-major, for both shapes. If the shape
        does not change, the result is the matrix itself unless `copy` is true.

        Examples
        --------
        >>> hpg.Matrix([[1, 0, 2], [0, 3, 0]]).reshape(3, 2).toarray()
        array([[1, 0],
               [2, 0],
               [3, 0]])
        """
        one_of(order, "order", ("C", "F"))
        places = self.shape[0] * self.shape[1]
        lengths = _without_blank(shape[0] if len(shape) == 1 else shape, places)
        if len(lengths) not in (1, 2):
            raise ValueError(f"a matrix can be given one or two dimensions, not shape {tuple(lengths)}")
        if int(np.prod(lengths, dtype=object)) != places:
            raise ValueError(f"a matrix of shape {self.shape} has {places} places and does not fit {tuple(lengths)}")
        if tuple(lengths) == self.shape:
            return type(self)(self, format=self._format) if copy else self
        if places >= 1 << 63:
            raise ValueError(f"the places of a matrix of shape {self.shape} cannot be counted in 64 bits")
        csr = self.csr if order == "C" else self.T.csr
        place = csr.expand_rows().astype(np.int64) * csr.shape[1] + csr.indices
        if len(lengths) == 1:
            values = array_module(self.device).ones(csr.nnz, dtype=np.bool_) if csr.data is None else csr.data.copy()
            return Vector._of(place.astype(index_dtype(places)), values, places)
        rows, columns = lengths
        width = max(columns if order == "C" else rows, 1)
        major, minor = place // width, place % width
        row, column = (major, minor) if order == "C" else (minor, major)
        ids = index_dtype(max(rows, columns))
        row, column = row.astype(ids, copy=False), column.astype(ids, copy=False)
        return self._with(CSR.from_coo(row, column, csr.data, (rows, columns), copy=False))

    def setdiag(self, values: Any, k: int = 0) -> None:
        """Write a number or an array to the k-th diagonal, in place.

        An array shorter than the diagonal leaves the rest unchanged; a longer one is truncated.

        Examples
        --------
        >>> A = hpg.Matrix((2, 3))
        >>> A.setdiag([5, 6], k=1)
        >>> A.toarray()
        array([[0., 5., 0.],
               [0., 0., 6.]])
        """
        rows, columns = self.shape
        k = operator.index(k)
        if (k > 0 and k >= columns) or (k < 0 and -k >= rows):
            raise ValueError(f"k exceeds array dimensions: diagonal {k} of a matrix of shape {self.shape}")
        xp = array_module(self.device)
        values = unmasked(values, "values")
        given = xp.asarray(values)
        # Complex values keep their type: the assignment refuses them if imaginary parts would be lost.
        if given.dtype.kind != "c":
            given = assigned_values(values, self)
        if given.ndim > 1:
            raise ValueError(f"values must be a number or have one dimension, not shape {given.shape}")
        length = max(0, min(rows + min(k, 0), columns - max(k, 0)))
        if given.ndim:
            length = min(length, len(given))
            given = given[:length]
        place = xp.arange(length, dtype=np.int64)
        self[place + max(-k, 0), place + max(k, 0)] = given


def _without_blank(shape: Any, places: int) -> list[int]:
    """The lengths of a shape, with -1 replaced."""
    try:
        lengths = [operator.index(length) for length in shape] if hasattr(shape, "__len__") else [operator.index(shape)]
    except TypeError:
        raise ValueError(f"shape must be whole numbers, not {shape!r}") from None
    blanks = lengths.count(-1)
    if blanks > 1:
        raise ValueError("only one length of a shape can be -1")
    if blanks:
        others = -int(np.prod(lengths, dtype=object))
        if not others or places % others:
            raise ValueError(f"{places} places do not fit shape {tuple(lengths)}")
        lengths[lengths.index(-1)] = places // others
    if min(lengths, default=0) < 0:
        raise ValueError(f"shape must not be negative, not {tuple(lengths)}")
    return lengths
