"""Concatenation of matrices: horizontally, vertically, in blocks, along the diagonal. Names are SciPy's."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hpgraph.core.device import array_module, check_memory, device_of
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.checks import as_value_dtype
from hpgraph.scipy_api.matrix import Matrix


def block_array(blocks: Sequence[Sequence[Any]], dtype: Any = None, *, format: str | None = None) -> Any:
    """A matrix from a grid of blocks.

    Parameters
    ----------
    blocks : sequence of sequences of Matrix, sparse array, array or None
        Row by row; an array of one dimension is a row, and None a block without entries.
    dtype : dtype, optional
        Type of the values; by default NumPy's common type of the blocks.
    format : str, optional
        Format of the result in SciPy or CuPy, for instance "csr".

    Returns
    -------
    Matrix
        On the device of the blocks; a pattern if all of them are.

    Examples
    --------
    >>> hpg.block_array([[hpg.eye(2), None], [None, [[5.0]]]]).toarray()
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 5.]])
    """
    grid = [[None if block is None else _matrix(block) for block in row] for row in map(_listed, _listed(blocks))]
    if not grid or not grid[0] or any(len(row) != len(grid[0]) for row in grid):
        raise ValueError("blocks must be a rectangle of blocks: rows of equal length, one at least")
    given = [block for row in grid for block in row if block is not None]
    device = device_of(*(block.csr.indptr for block in given))
    heights = [
        _common([block.shape[0] for block in row if block is not None], f"row {i}") for i, row in enumerate(grid)
    ]
    widths = [
        _common([row[j].shape[1] for row in grid if row[j] is not None], f"column {j}")  # type: ignore[union-attr]
        for j in range(len(grid[0]))
    ]
    kind = as_value_dtype(np.result_type(*(block.dtype for block in given)) if dtype is None else dtype, "dtype")
    pattern = dtype is None and all(block.is_pattern for block in given)
    check_memory(sum(block.csr.nbytes for block in given), "a matrix of blocks", device)

    def csr_of(block: Matrix | None, height: int, width: int) -> CSR:
        if block is not None:
            return block.csr if pattern else block.csr.astype(kind)
        return CSR._empty((height, width), None if pattern else kind, device)

    strips = [
        _beside([csr_of(block, height, width) for block, width in zip(row, widths, strict=True)])
        for row, height in zip(grid, heights, strict=True)
    ]
    return Matrix._of(_below(strips)).asformat(format)


def hstack(blocks: Sequence[Any], dtype: Any = None, *, format: str | None = None) -> Any:
    """Matrices with equally many rows, concatenated horizontally: `block_array` of one row of blocks."""
    return block_array([_listed(blocks)], dtype, format=format)


def vstack(blocks: Sequence[Any], dtype: Any = None, *, format: str | None = None) -> Any:
    """Matrices with equally many columns, concatenated vertically: `block_array` of one column of blocks."""
    return block_array([[block] for block in _listed(blocks)], dtype, format=format)


def block_diag(blocks: Sequence[Any], dtype: Any = None, *, format: str | None = None) -> Any:
    """A block-diagonal matrix from matrices of any shapes, rows or numbers.

    Examples
    --------
    >>> hpg.block_diag([[[1, 2]], [[3]]]).toarray()
    array([[1, 2, 0],
           [0, 0, 3]])
    """
    given = [_matrix([[block]] if np.isscalar(block) else block) for block in _listed(blocks)]
    rows = [[block if i == j else None for j in range(len(given))] for i, block in enumerate(given)]
    return block_array(rows, dtype, format=format)


bmat = block_array


def _matrix(block: Any) -> Matrix:
    if isinstance(block, Matrix):
        return block
    return Matrix(array_module(block).reshape(block, (1, -1)) if np.ndim(block) == 1 else block)


def _listed(blocks: Any) -> list[Any]:
    if not isinstance(blocks, Iterable):
        raise TypeError(f"blocks must be lists of matrices, not {blocks!r}")
    return list(blocks)


def _beside(parts: list[CSR]) -> CSR:
    """Horizontal concatenation: every entry's position follows from the row offsets."""
    if len(parts) == 1:
        return parts[0]
    xp = array_module(parts[0].device)
    rows, columns = parts[0].shape[0], sum(part.shape[1] for part in parts)
    indptr = parts[0].indptr.copy()
    for part in parts[1:]:
        indptr += part.indptr
    nnz = sum(part.nnz for part in parts)
    indices = xp.empty(nnz, dtype=index_dtype(max(rows, columns)))
    data = None if parts[0].data is None else xp.empty(nnz, dtype=parts[0].data.dtype)
    start, low = indptr[:-1].copy(), 0
    for part in parts:
        place = (start - part.indptr[:-1])[part.expand_rows()] + xp.arange(part.nnz)
        indices[place] = part.indices.astype(indices.dtype, copy=False) + indices.dtype.type(low)
        if data is not None:
            data[place] = part.data
        start += part.degrees
        low += part.shape[1]
    return CSR((rows, columns), indptr, indices, data, validate=False)


def _below(parts: list[CSR]) -> CSR:
    """Vertical concatenation: the arrays are concatenated."""
    if len(parts) == 1:
        return parts[0]
    xp = array_module(parts[0].device)
    shape = sum(part.shape[0] for part in parts), parts[0].shape[1]
    ends = np.cumsum([0, *(part.nnz for part in parts)])
    indptr = xp.concatenate(
        [part.indptr[:-1] + int(start) for part, start in zip(parts, ends[:-1], strict=True)]
        + [xp.asarray(ends[-1:], dtype=np.int64)]
    )
    indices = xp.concatenate([part.indices for part in parts]).astype(index_dtype(max(shape)), copy=False)
    data = None if parts[0].data is None else xp.concatenate([part.data for part in parts])
    return CSR(shape, indptr, indices, data, validate=False)


def _common(lengths: list[int], where: str) -> int:
    if not lengths:
        raise ValueError(f"blocks in {where} are all None: give one of them a shape, for instance Matrix((m, n))")
    if len(set(lengths)) > 1:
        raise ValueError(f"blocks in {where} must have the same length along it, not {lengths}")
    return lengths[0]
