"""The order of a CSR's entries, and reordering: sorted, transposed, relabelled."""

from typing import Any, Self

from hpgraph.core.device import anywhere, array_module, check_memory, prefix_sum
from hpgraph.formats.checks import as_ids
from hpgraph.formats.launch import on_its_device
from hpgraph.formats.protocol import RowFormat
from hpgraph.formats.storage import backend


class RowOrder(RowFormat):
    """The part of `hpgraph.formats.CSR` that reads and changes the order of rows and columns."""

    # The matrix without values, after its first use.
    __slots__ = ("_pattern",)

    shape: tuple[int, int]
    indptr: Any
    indices: Any
    data: Any

    def _reordered(self, shape: tuple[int, ...], indptr: Any, indices: Any, data: Any) -> Self:
        return type(self)(shape, indptr, indices, data, validate=False)  # type: ignore[call-arg]

    def expand_rows(self) -> Any:
        """The row of each entry, as in COO: array of shape (nnz,), of the type of `indices`."""
        return backend(self.indptr).expand_rows(self.indptr, self.nnz, self.indices.dtype)

    def is_sorted(self) -> bool:
        """Whether the columns of every row ascend. On CUDA this synchronizes the stream."""
        return bool(backend(self.indptr).is_sorted(self.indptr, self.indices, strictly=False))

    def is_canonical(self) -> bool:
        """Whether rows are sorted and free of duplicates. On CUDA this synchronizes the stream."""
        return bool(backend(self.indptr).is_sorted(self.indptr, self.indices, strictly=True))

    def sorted(self) -> Self:
        """The same entries, each row stably sorted in ascending order of columns; itself if already sorted."""
        if self.is_sorted():
            return self
        check_memory(2 * self.nbytes, "sorting the rows of a CSR matrix", self.device)
        convert = backend(self.indptr)
        indices, data = convert.sort_rows(self.indptr, self.indices, self.data, self.shape[1])
        return self._reordered(self.shape, self.indptr, indices, data)

    def transpose(self) -> Self:
        """The transpose with sorted rows; duplicates keep their order. DeviceMemoryError if memory does not suffice.

        Examples
        --------
        >>> from hpgraph.formats import CSR
        >>> CSR((2, 3), [0, 2, 3], [0, 2, 0]).transpose().indptr
        array([0, 2, 2, 3])
        """
        check_memory(2 * self.nbytes, "the transpose of a CSR matrix", self.device)
        convert = backend(self.indptr)
        indptr, indices, data = convert.transpose(self.indptr, self.indices, self.data, self.shape[1])
        return self._reordered(self.shape[::-1], indptr, indices, data)

    def is_symmetric(self) -> bool:
        """Whether the matrix equals its transpose, values included; NaN equals NaN here.

        Exact on the CPU. On CUDA two 64-bit additive hashes of the multisets of arcs (i, j, value) and (j, i, value)
        are compared in one pass: unequal hashes prove asymmetry, and equal ones err once in 2¹²⁸ matrices, since each
        process draws its own key for the hashes. This synchronizes the stream. A comparison with the transpose would
        cost a sort.

        Hashing a multiset by the sum of its members' hashes is Clarke et al., "Incremental multiset hash functions and
        their application to memory integrity checking", ASIACRYPT 2003.
        """
        if self.shape[0] != self.shape[1]:
            return False
        return bool(backend(self.indptr).is_symmetric(self.indptr, self.indices, self.data))

    def without_diagonal(self) -> Self:
        """The matrix without the entries (i, i); itself if there are none."""
        kept = _off_diagonal(self.indptr, self.indices, self.data)
        return self if kept is None else self._reordered(self.shape, *kept)

    def permute(self, order: Any) -> Self:
        """Rows and columns relabelled: new vertex i is old vertex ``order[i]``; the result has sorted rows.

        ``order``: a permutation of 0..n-1, on the matrix's device. Raises ValueError if it is not a permutation, or the
        matrix is not square.

        Examples
        --------
        >>> from hpgraph.formats import CSR
        >>> CSR((3, 3), [0, 1, 2, 2], [1, 2]).permute([2, 1, 0]).indices
        array([0, 1], dtype=int32)
        """
        n = self.shape[0]
        if n != self.shape[1]:
            raise ValueError(f"only a square matrix can be permuted alike in rows and columns, not {self.shape}")
        xp = array_module(self.indptr)
        order = as_ids(xp.asarray(order), "order", n, "vertex").astype(self.indices.dtype, copy=False)
        inverse = xp.full(n, -1, dtype=order.dtype)
        if order.shape == (n,):
            inverse[order] = xp.arange(n, dtype=order.dtype)
        if order.shape != (n,) or anywhere(inverse < 0):
            raise ValueError(f"order must hold each of 0..{n - 1} once")
        check_memory(2 * self.nbytes, "permuting a CSR matrix", self.device)
        convert = backend(self.indptr)
        indptr = prefix_sum((self.indptr[1:] - self.indptr[:-1])[order])
        indices, data = convert.gather_segments(indptr, self.indptr[:-1][order], self.indices, self.data)
        indices, data = convert.sort_rows(indptr, inverse[indices], data, n)
        return self._reordered(self.shape, indptr, indices, data)


@on_its_device
def _off_diagonal(indptr: Any, indices: Any, data: Any) -> tuple[Any, Any, Any] | None:
    """The rows without the entries (i, i); None if there are none."""
    xp, keeps = array_module(indptr), backend(indptr).expand_rows(indptr, len(indices), indices.dtype) != indices
    loops = xp.flatnonzero(~keeps)
    if not len(loops):
        return None
    return indptr - xp.searchsorted(loops, indptr), indices[keeps], None if data is None else data[keeps]
