"""COO: the row, the column and the value of each entry. For building, and for interchange."""

from dataclasses import InitVar, dataclass
from typing import Any, Self

import numpy as np

from hpgraph.core.device import array_module, is_cuda
from hpgraph.formats.checks import as_ids, as_shape, as_value_dtype, as_values, index_dtype
from hpgraph.formats.csr import CSR
from hpgraph.formats.duplicates import Duplicates
from hpgraph.formats.interchange import check_places, cupy_values, hand_out
from hpgraph.formats.storage import Storage


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class COO(Storage):
    """A sparse matrix as triplets, in any order, duplicates allowed.

    Parameters
    ----------
    shape : (int, int)
    row, col : array of integers, shape (nnz,)
        Position of each entry; int32 and int64 are kept, other types are converted to `index_dtype`.
    data : array, shape (nnz,), optional
        Value of each entry; None makes a pattern.
    validate, copy : bool, default True
        As for `Storage`, also for errors.

    Examples
    --------
    >>> from hpgraph.formats import COO
    >>> COO((2, 3), [0, 1, 1], [2, 0, 0]).to_csr()
    <CSR 2x3, 2 entries, pattern, cpu, 32 bytes>
    """

    shape: tuple[int, int]
    row: Any
    col: Any
    data: Any = None
    validate: InitVar[bool] = True
    copy: InitVar[bool] = True

    def __post_init__(self, validate: bool, copy: bool) -> None:
        if not validate:
            return
        rows, columns = as_shape(self.shape)
        row = as_ids(self.row, "row", rows, "row")
        col = as_ids(self.col, "col", columns, "column")
        if len(row) != len(col):
            raise ValueError(f"row and col must have the same length, not {len(row)} and {len(col)}")
        ids = np.promote_types(row.dtype, col.dtype)
        row, col = row.astype(ids, copy=False), col.astype(ids, copy=False)
        self._take((rows, columns), copy, row=row, col=col, data=as_values(self.data, "data", row.shape))

    @property
    def nnz(self) -> int:
        """Number of stored entries, including duplicates and explicit zeros."""
        return len(self.row)

    @classmethod
    def from_scipy(cls, matrix: Any, *, pattern: bool = False) -> Self:
        """Convert any SciPy or CuPy sparse array or matrix, on its device; duplicates are kept.

        Parameters and errors are those of `CSR.from_scipy`.
        """
        if not hasattr(matrix, "tocoo") or len(getattr(matrix, "shape", ())) != 2:
            raise TypeError(
                f"matrix must be a two-dimensional SciPy or CuPy sparse array, not {type(matrix).__name__}: "
                "wrap a dense array in scipy.sparse.coo_array"
            )
        if not pattern:
            as_value_dtype(matrix.dtype, "the matrix")
        check_places(matrix)
        coo = matrix.tocoo()
        ids = index_dtype(max(coo.shape))
        made = cls(coo.shape, coo.row, coo.col, None if pattern else coo.data, copy=coo is matrix)
        row, col = made.row.astype(ids, copy=False), made.col.astype(ids, copy=False)
        return cls(made.shape, row, col, made.data, validate=False)

    @classmethod
    def from_csr(cls, csr: CSR) -> Self:
        """Convert from CSR, sorted by row; columns and values are shared."""
        return cls(csr.shape, csr.expand_rows(), csr.indices, csr.data, validate=False)

    def to_csr(self, duplicates: Duplicates = "sum") -> CSR:
        """Convert to CSR with sorted rows without duplicates, as `CSR.from_coo`."""
        return CSR.from_coo(self.row, self.col, self.data, self.shape, duplicates=duplicates)

    def to_scipy(self, dtype: Any = None, *, copy: bool = False) -> Any:
        """Convert to a SciPy COO array, or a CuPy COO matrix; parameters and errors are those of `CSR.to_scipy`."""
        row, col, data = (hand_out(array, copy) for array in (self.row, self.col, self.data))
        if data is None:
            data = array_module(self.row).ones(self.nnz, dtype=np.float64 if dtype is None else dtype)
        if is_cuda(self.row):
            from cupyx.scipy import sparse

            return sparse.coo_matrix((cupy_values(data), (row, col)), shape=self.shape)
        from scipy import sparse

        return sparse.coo_array((data, (row, col)), shape=self.shape, copy=False)

    def transpose(self) -> "COO":
        """The transpose, which shares the arrays."""
        return COO(self.shape[::-1], self.col, self.row, self.data, validate=False)
