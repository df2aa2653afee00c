"""What SciPy's sparse arrays do in place: a Matrix is bound to new arrays, and what shares the old ones keeps them."""

from __future__ import annotations

import operator
from typing import Any, Self

import numpy as np

from hpgraph.algebra.mask import without_zeros
from hpgraph.algebra.operands import as_number, is_number
from hpgraph.device import array_module, to_device
from hpgraph.formats import CSR
from hpgraph.matrix_functions import Functions


class Canonical(Functions):
    """Explicit zeros, order and duplicates, and the diagonal of a `Matrix`."""

    def eliminate_zeros(self) -> None:
        """Drop the entries that are zero.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> A = hpg.Matrix([[1, 2], [3, 4]]).apply("minus", right=2)
        >>> A.eliminate_zeros()
        >>> A.nnz
        3
        """
        csr = self.csr
        kept = without_zeros(csr)
        if kept is not csr:
            self._rebind(kept)

    def sum_duplicates(self) -> None:
        """Nothing: duplicates were summed when the matrix was made."""

    def sort_indices(self) -> None:
        """Nothing: rows are sorted."""

    def sorted_indices(self) -> Self:
        """A copy; its rows are sorted, as the matrix's are.

        Returns
        -------
        Matrix
        """
        return self.copy()

    def prune(self) -> None:
        """Nothing: arrays are no longer than the entries."""

    def check_format(self, full_check: bool = True) -> None:
        """Check that the arrays fit each other, which they do unless somebody wrote into them.

        Parameters
        ----------
        full_check : bool, default True
            Whether to read the arrays.

        Raises
        ------
        ValueError, IndexError
            When they do not.
        """
        csr = self.csr
        if full_check:
            CSR(csr.shape, csr.indptr, csr.indices, csr.data)
            if not csr.is_canonical():
                raise ValueError("the columns of a row do not rise: indices was written to")

    def setdiag(self, values: Any, k: int = 0) -> None:
        """Set a diagonal.

        Parameters
        ----------
        values : number or array of one dimension
            If it is shorter than the diagonal the rest is left, if longer the rest is not used.
        k : int, default 0
            Which diagonal; above the main one if positive.

        Raises
        ------
        ValueError
            When there is no such diagonal, or `values` has more dimensions.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> A = hpg.Matrix([[0, 2], [3, 0]])
        >>> A.setdiag(9)
        >>> A.toarray()
        array([[9, 2],
               [3, 9]])
        """
        rows, columns = self.shape
        k = operator.index(k)
        if (k > 0 and k >= columns) or (k < 0 and -k >= rows):
            raise ValueError(f"k must name a diagonal of a matrix of shape {self.shape}, not {k}")
        xp = array_module(self.device)
        given = values if hasattr(values, "dtype") else np.asarray(values)
        values_dtype = as_number(values, self.dtype, "values").dtype if is_number(values) else given.dtype
        given = to_device(given, self.device)
        if given.ndim > 1:
            raise ValueError(f"values must be a number or have one dimension, not shape {given.shape}")
        length = min(rows + min(k, 0), columns - max(k, 0))
        data = xp.full(length, given) if given.ndim == 0 else given[:length]
        ids = xp.arange(len(data))
        # As wide as both: no value is lost.
        final = np.result_type(self.dtype, values_dtype)
        placed = CSR.from_coo(ids - min(k, 0), ids + max(k, 0), data.astype(final), self.shape)
        self._rebind(self.astype(final).ewise_add(self._of(placed), "second").csr)
