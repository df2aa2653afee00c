"""CSR: compressed sparse rows. For pushing along arcs, and for interchange."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from hpgraph.core.device import Device, array_module, check_memory, device_of, is_cuda, is_sparse_matrix
from hpgraph.formats.checks import as_ids, as_offsets, as_shape, as_value_dtype, as_values, index_dtype
from hpgraph.formats.duplicates import Duplicates, checked_duplicates
from hpgraph.formats.interchange import own, rows_of_scipy, scipy_of_csr
from hpgraph.formats.order import RowOrder
from hpgraph.formats.protocol import Division, Tail
from hpgraph.formats.storage import backend


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class CSR(RowOrder):
    """A compressed sparse row matrix: row i has the columns ``indices[indptr[i]:indptr[i + 1]]``.

    Rows need not be sorted, nor free of duplicates; `from_scipy` and `from_coo` sort them and merge duplicates.

    Parameters
    ----------
    shape : (int, int)
    indptr : array of integers, shape (rows + 1,)
        Offsets of the rows; stored as int64.
    indices : array of integers, shape (nnz,)
        Column of each entry; int32 and int64 are kept, other types are converted to `index_dtype`.
    data : array, shape (nnz,), optional
        Value of each entry: bool, an integer or a float type. None makes a pattern.
    validate, copy : bool, default True
        As for `Storage`, also for errors.

    Examples
    --------
    >>> from hpgraph.formats import CSR
    >>> CSR((2, 3), [0, 2, 3], [0, 2, 1], [1.0, 2.0, 3.0])
    <CSR 2x3, 3 entries, float64, cpu, 60 bytes>
    """

    shape: tuple[int, int]
    indptr: Any
    indices: Any
    data: Any = None
    validate: InitVar[bool] = True
    copy: InitVar[bool] = True

    name: ClassVar[str] = "csr"

    def __post_init__(self, validate: bool, copy: bool) -> None:
        if validate:
            shape, indptr, indices, data, _ = as_rows(self.shape, self.indptr, self.indices, self.data)
            self._take(shape, copy, indptr=indptr, indices=indices, data=data)

    @property
    def nnz(self) -> int:
        """Number of stored entries, including explicit zeros."""
        return len(self.indices)

    @property
    def device(self) -> Device:
        """Device of the arrays: "cpu" or "cuda"."""
        # Read at every call of every algorithm: check only one array.
        return "cuda" if is_cuda(self.indptr) else "cpu"

    @property
    def degrees(self) -> Any:
        """Number of entries of each row, int64."""
        return self.indptr[1:] - self.indptr[:-1]

    @property
    def entry_bytes(self) -> int:
        """Bytes of one entry: its index and, if there are values, its value."""
        return int(self.indices.itemsize + (0 if self.data is None else self.data.itemsize))

    @property
    def tail(self) -> Tail:
        """All rows."""
        return Tail(None, self.indptr, self.indices, self.data)

    @property
    def csr(self) -> CSR:
        """Itself."""
        return self

    @property
    def pattern(self) -> CSR:
        """The matrix without values; cached, so that results attached to it are cached too."""
        if self.data is None:
            return self
        found: CSR | None = getattr(self, "_pattern", None)
        if found is None:
            found = self.with_data(None)
            object.__setattr__(self, "_pattern", found)
        return found

    @classmethod
    def _empty(cls, shape: tuple[int, int], dtype: Any, device: str) -> CSR:
        """A matrix without entries, with values of the given type; None makes a pattern."""
        xp = array_module(device)
        indptr, indices = xp.zeros(shape[0] + 1, np.int64), xp.zeros(0, index_dtype(max(shape)))
        return cls(shape, indptr, indices, None if dtype is None else xp.zeros(0, dtype), validate=False)

    @classmethod
    def from_csr(cls, csr: CSR) -> Self:
        """Itself: the other formats are converted from CSR."""
        return csr  # type: ignore[return-value]

    def to_csr(self) -> CSR:
        """Itself."""
        return self

    def keep(self, csr: CSR) -> Self:
        """Itself: there is nothing to record."""
        return self

    @classmethod
    def division(cls, csr: CSR) -> Division:
        """All entries are in the tail."""
        return Division(0, csr.nnz, csr.shape[0])

    @classmethod
    def from_scipy(  # type: ignore[override]
        cls, matrix: Any, *, pattern: bool = False, copy: bool = True, duplicates: Duplicates | None = "sum"
    ) -> CSR:
        """Convert any SciPy or CuPy sparse array or matrix, on its device; the input is unchanged.

        Parameters
        ----------
        matrix : scipy.sparse or cupyx.scipy.sparse array or matrix
            Two-dimensional, any format; otherwise, or if no kernel supports the values' type, a TypeError is raised.
        pattern : bool, default False
            Whether to leave the values out.
        copy : bool, default True
            Whether to copy indices and values of a canonical CSR input. Shared arrays must not be written to.
        duplicates : {"sum", "min", "max", "first", "error"} or None
            As for `from_coo`; only COO and CSR can have duplicates that SciPy does not sum itself.

        Returns
        -------
        CSR
            Rows sorted, no duplicates, explicit zeros kept.

        Examples
        --------
        >>> import scipy.sparse
        >>> from hpgraph.formats import CSR
        >>> CSR.from_scipy(scipy.sparse.eye_array(3))
        <CSR 3x3, 3 entries, float64, cpu, 68 bytes>
        """
        if not is_sparse_matrix(matrix):
            raise TypeError(
                f"matrix must be a two-dimensional SciPy or CuPy sparse array, not {type(matrix).__name__}: "
                "wrap a dense array in scipy.sparse.csr_array"
            )
        if not pattern:
            as_value_dtype(matrix.dtype, "the matrix")
        if matrix.format == "coo":
            data = None if pattern else matrix.data
            return cls.from_coo(matrix.row, matrix.col, data, matrix.shape, duplicates=duplicates, copy=copy)
        shape, arrays, copy = rows_of_scipy(matrix, pattern, copy)
        return cls.from_rows(shape, *arrays, duplicates=duplicates, copy=copy)

    @classmethod
    def from_rows(
        cls, shape: Any, indptr: Any, indices: Any, data: Any, *, duplicates: Duplicates | None = "sum",
        copy: bool = True,
    ) -> CSR:  # fmt: skip
        """Make a CSR with sorted rows without duplicates from CSR arrays with neither property.

        Parameters are those of `CSR`, and `duplicates` of `from_coo`; ids take 32 bits if they fit.

        Examples
        --------
        >>> import numpy as np
        >>> from hpgraph.formats import CSR
        >>> made = CSR.from_rows((1, 3), [0, 3], np.array([2, 0, 2]), [1, 2, 3])
        >>> made.indices, made.data
        (array([0, 2], dtype=int32), array([2, 4]))
        """
        given = indptr, indices, data
        shape, indptr, indices, data, canonical = as_rows(shape, *given)
        if not canonical:
            row = cls(shape, indptr, indices, validate=False).expand_rows()
            return cls.from_coo(row, indices, data, shape, duplicates=duplicates, copy=False)
        indices = indices.astype(index_dtype(max(shape)), copy=False)
        if copy:
            indptr, indices, data = map(own, (indptr, indices, data), given)
        return cls(shape, indptr, indices, data, validate=False)

    @classmethod
    def from_coo(
        cls, row: Any, col: Any, data: Any = None, shape: Any = None, *, duplicates: Duplicates | None = "sum",
        copy: bool = True,
    ) -> CSR:  # fmt: skip
        """Make a CSR from the row, column and value of each entry, in any order; explicit zeros are kept.

        Parameters
        ----------
        row, col : array of integers, shape (m,)
        data : array, shape (m,), optional
            Values; None makes a pattern.
        shape : (int, int), optional
            By default the smallest that holds the entries.
        duplicates : {"sum", "min", "max", "first", "keep", "error"} or None
            Treatment of entries at the same position: their sum, minimum or maximum, the first one, all of them in the
            order given, or a ValueError. None is "min", with a `DuplicateEdgesWarning` if they differ. In a pattern
            they count once, except with "keep" and "error".
        copy : bool, default True
            Whether to copy columns and values that are already in order and could be shared. Shared arrays must not be
            written to.

        Raises
        ------
        ValueError, IndexError, DeviceMemoryError
            If lengths differ, an id is beyond the shape, or memory does not suffice.

        Examples
        --------
        >>> from hpgraph.formats import CSR
        >>> CSR.from_coo([1, 0, 1], [0, 1, 0], [5.0, 1.0, 2.0], (2, 2), duplicates="min").data
        array([1., 2.])
        """
        shape, indptr, indices, data = compressed(row, col, data, shape, duplicates, copy)
        return cls(shape, indptr, indices, data, validate=False)

    def to_scipy(self, dtype: Any = None, *, copy: bool = False) -> Any:
        """Convert to a SciPy CSR array, or a CuPy CSR matrix; a TypeError if CuPy does not support the values' type.

        Parameters
        ----------
        dtype : dtype, optional
            Type of the ones that are the values of a pattern; float64 by default. Ignored for a matrix with values.
        copy : bool, default False
            Whether to return writable copies of indices and values. Otherwise they are read-only views; on CUDA, which
            has none, always copies.

        Examples
        --------
        >>> from hpgraph.formats import CSR
        >>> A = CSR((2, 2), [0, 1, 2], [1, 0], [1.0, 2.0])
        >>> A.to_scipy().data.flags.writeable, A.to_scipy(copy=True).data.flags.writeable
        (False, True)
        """
        return scipy_of_csr(self, dtype, "copy" if copy else "read-only")

    def astype(self, dtype: Any) -> CSR:
        """The same entries with values of another type; a pattern gets ones. Itself if nothing changes."""
        dtype = as_value_dtype(dtype, "dtype")
        if self.data is None:
            return self.with_data(array_module(self.indices).ones(self.nnz, dtype=dtype), copy=False)
        return self if self.dtype == dtype else self.with_data(self.data.astype(dtype), copy=False)

    def with_data(self, data: Any, *, copy: bool = True) -> CSR:
        """The same pattern with other values, of shape (nnz,), in the order of `indices`; None gives a pattern.

        `indptr` and `indices` are shared; with ``copy=False`` so are the values, which must not be written to.
        """
        if data is None:
            return CSR(self.shape, self.indptr, self.indices, validate=False)
        device_of(self.indices, data)
        values = as_values(data, "data", self.indices.shape)
        made = CSR(self.shape, self.indptr, self.indices, own(values, data) if copy else values, validate=False)
        if self.data is None:
            object.__setattr__(made, "_pattern", self)
        return made

    def canonical(self, duplicates: Duplicates | None = "sum") -> CSR:
        """The canonical form: sorted rows without duplicates, ids of 32 bits if they fit; itself if already canonical.

        ``duplicates``: as for `from_coo`. On CUDA the check synchronizes the stream.

        Examples
        --------
        >>> import numpy as np
        >>> from hpgraph.formats import CSR
        >>> wide = CSR((1, 3), [0, 2], np.array([0, 2], dtype=np.int64))
        >>> wide.indices.dtype, wide.canonical().indices.dtype
        (dtype('int64'), dtype('int32'))
        """
        if not self.is_canonical():
            row = self.expand_rows()
            return CSR.from_coo(row, self.indices, self.data, self.shape, duplicates=duplicates, copy=False)
        ids = index_dtype(max(self.shape))
        if self.indices.dtype == ids:
            return self
        return CSR(self.shape, self.indptr, self.indices.astype(ids), self.data, validate=False)


def as_rows(shape: Any, indptr: Any, indices: Any, data: Any) -> tuple[tuple[int, int], Any, Any, Any, bool]:
    """A CSR matrix's shape and checked arrays, and whether rows are sorted and free of duplicates.

    Arrays of accepted types are not copied. The check on CUDA synchronizes the stream.
    """
    rows, columns = as_shape(shape)
    # Other types are checked before they are converted: values that are too large would wrap.
    serves = getattr(indices, "dtype", None) in (np.int32, np.int64)
    ids = as_ids(indices, "indices", columns, "column", check=not serves)
    offsets = as_offsets(indptr, "indptr", rows, len(ids))
    values = as_values(data, "data", ids.shape)
    # One pass over the columns checks both; the position of an error is searched for only if there is one.
    inside, canonical = backend(offsets, ids, values).inspect_rows(offsets, ids, columns)
    if not inside:
        as_ids(ids, "indices", columns, "column")
    return (rows, columns), offsets, ids, values, canonical


def compressed(
    row: Any, col: Any, data: Any, shape: Any, duplicates: Duplicates | None, copy: bool
) -> tuple[tuple[int, int], Any, Any, Any]:
    """`CSR.from_coo`, returning shape, offsets, columns and values."""
    checked_duplicates(duplicates, data)
    rows, columns = least_shape(row, col) if shape is None else as_shape(shape)
    ids = index_dtype(max(rows, columns))
    given = col, data
    row = as_ids(row, "row", rows, "row").astype(ids, copy=False)
    col = as_ids(col, "col", columns, "column").astype(ids, copy=False)
    if len(row) != len(col):
        raise ValueError(f"row and col must have the same length, not {len(row)} and {len(col)}")
    data = as_values(data, "data", row.shape)
    sorted_already = col, data
    device = device_of(row, col, data)
    final = len(row) * (ids.itemsize + (0 if data is None else data.itemsize)) + 8 * (rows + 1)
    check_memory(2 * final, f"a CSR matrix of {len(row)} entries", device)
    indptr, indices, data = backend(row).compress(row, col, data, (rows, columns), duplicates)
    if copy and indices is sorted_already[0]:
        indices, data = own(indices, given[0]), own(data, given[1])
    return (rows, columns), indptr, indices, data


def least_shape(row: Any, col: Any) -> tuple[int, int]:
    """One more than the largest ids, by axis; 0 where `as_ids` refuses the type."""
    xp = array_module(row)
    arrays = xp.asarray(row), xp.asarray(col)
    return tuple(int(ids.max()) + 1 if ids.size and ids.dtype.kind in "iu" else 0 for ids in arrays)  # type: ignore[return-value]
