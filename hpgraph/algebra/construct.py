"""Making matrices: identities, diagonals, random ones, and others put together. Names and arguments are SciPy's."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hpgraph.algebra.tuples import csr_from_tuples
from hpgraph.device import array_module, check_memory, device_of, normalize_device
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.checks import as_shape, as_value_dtype
from hpgraph.matrix.matrix import Matrix
from hpgraph.vector.vector import Vector


def eye(m: int, n: int | None = None, k: int = 0, dtype: Any = float, *, device: str = "cpu") -> Matrix:
    """Ones on a diagonal.

    Parameters
    ----------
    m : int
        Rows.
    n : int, optional
        Columns; as many as rows by default.
    k : int, default 0
        Which diagonal; above the main one if positive.
    dtype : dtype, default float64
        Type of the ones. None makes a pattern.
    device : {"cpu", "cuda"}
        Where.

    Returns
    -------
    Matrix, shape (m, n)

    Raises
    ------
    ValueError
        When the shape is negative.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.eye(2, 3, k=1).toarray()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    rows, columns = as_shape((m, m if n is None else n))
    length = _length(rows, columns, operator.index(k))
    xp = array_module(normalize_device(device))
    data = None if dtype is None else xp.ones(length, dtype=as_value_dtype(dtype, "dtype"))
    return _on_diagonal(xp.arange(length, dtype=np.int64), data, (rows, columns), operator.index(k))


def diag(v: Any, k: int = 0) -> Any:
    """The matrix with a vector on its diagonal, or the diagonal of a matrix.

    Parameters
    ----------
    v : Vector, array or Matrix
        What stands on the diagonal; where a Vector is absent there is no entry. Of a Matrix the diagonal is taken.
    k : int, default 0
        Which diagonal.

    Returns
    -------
    Matrix, or for a matrix a Vector
        A square matrix with room for the vector on its k-th diagonal (GrB_Matrix_diag).

    Raises
    ------
    ValueError
        When `v` has neither one dimension nor is a matrix.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.diag([1, 2], k=1).toarray()
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    >>> hpg.diag(hpg.Matrix([[1, 2], [0, 0]])).to_indices()
    (array([0], dtype=int32), array([1]))
    """
    k = operator.index(k)
    if hasattr(v, "tocsr") or getattr(v, "ndim", 1) == 2:
        A = v if isinstance(v, Matrix) else Matrix(v)
        length = _length(*A.shape, k)
        xp = array_module(A.device)
        places = xp.arange(length, dtype=np.int64)
        return A[places + max(-k, 0), places + max(k, 0)]
    given = v if isinstance(v, Vector) else Vector(v)
    indices, values = given.to_indices()
    size = given.size + abs(k)
    return _on_diagonal(indices.astype(np.int64), values, (size, size), k)


def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, dtype: Any = None) -> Matrix:
    """The matrix of some diagonals.

    Parameters
    ----------
    diagonals : sequence of arrays, or one array
        Values of each diagonal; an array of length one fills it.
    offsets : sequence of int, or int, default 0
        Which diagonals.
    shape : (int, int), optional
        By default square, with room for the diagonals.
    dtype : dtype, optional
        Type of the values; by default that of the arrays.

    Returns
    -------
    Matrix
        On the device of the arrays. Zeros are stored.

    Raises
    ------
    ValueError
        When there are not as many offsets as diagonals, an offset is given twice, or a diagonal's length does not fit.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.diags([[-1], [2], [-1]], [-1, 0, 1], shape=(3, 3), dtype=int).toarray()
    array([[ 2, -1,  0],
           [-1,  2, -1],
           [ 0, -1,  2]])
    """
    if np.isscalar(offsets) or getattr(offsets, "ndim", 1) == 0:
        single = not hasattr(diagonals[0], "__len__") and not getattr(diagonals[0], "ndim", 0)
        diagonals = [diagonals] if single else list(diagonals)
        offsets = [offsets]
    offsets = [operator.index(k) for k in (offsets.tolist() if hasattr(offsets, "tolist") else offsets)]
    xp = array_module(device_of(*(d for d in diagonals if hasattr(d, "dtype"))))
    arrays = [xp.atleast_1d(xp.asarray(d)) for d in diagonals]
    if len(arrays) != len(offsets):
        raise ValueError(f"offsets must be as many as diagonals, {len(arrays)}, not {len(offsets)}")
    if len(set(offsets)) != len(offsets):
        raise ValueError(f"offsets must differ, not {offsets}: add the diagonals first")
    if shape is None:
        size = len(arrays[0]) + abs(offsets[0])
        shape = (size, size)
    rows, columns = as_shape(shape)
    kind = as_value_dtype(np.result_type(*arrays) if dtype is None else dtype, "dtype")
    placed: list[tuple[Any, Any, Any]] = []
    for at, (values, k) in enumerate(zip(arrays, offsets, strict=True)):
        length = _length(rows, columns, k)
        if length == 0 and not -rows <= k <= columns:
            raise ValueError(f"offset {k} (position {at}) lies outside of a matrix of shape {(rows, columns)}")
        if len(values) != length and len(values) != 1:
            raise ValueError(
                f"diagonal {at} (offset {k}) must have length {length} in a matrix of shape {(rows, columns)}, or "
                f"length 1 to fill it, not {len(values)}"
            )
        place = xp.arange(length, dtype=np.int64)
        placed.append((place + max(-k, 0), place + max(k, 0), xp.broadcast_to(values.astype(kind), (length,))))
    row, column, data = (xp.concatenate([part[at] for part in placed]) for at in range(3))
    return Matrix._of(CSR.from_coo(row, column, data, (rows, columns)))


def random(
    m: int,
    n: int,
    density: float = 0.01,
    dtype: Any = None,
    rng: Any = None,
    data_sampler: Callable[..., Any] | None = None,
    *,
    device: str = "cpu",
) -> Matrix:
    """A matrix of random values at random places.

    Parameters
    ----------
    m, n : int
        Rows and columns.
    density : float, default 0.01
        Share of the places that hold an entry, 0 to 1.
    dtype : dtype, optional
        Type of the values, float64 by default. Floats are uniform in [0, 1), integers and bool over all of their type.
    rng : int or Generator of NumPy or CuPy, optional
        Seed, or source of the numbers. The same seed gives the same matrix on the same device.
    data_sampler : callable, optional
        ``data_sampler(size=k)`` gives the values instead.
    device : {"cpu", "cuda"}
        Where; the numbers are drawn there.

    Returns
    -------
    Matrix, shape (m, n)
        With ``round(density * m * n)`` entries.

    Raises
    ------
    ValueError
        When `density` is not within 0 and 1, or there are 2**63 places or more.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.random(4, 5, density=0.25, rng=1)
    <Matrix 4x5, 5 entries, float64, csr, cpu>
    """
    rows, columns = as_shape((m, n))
    if not 0 <= density <= 1:
        raise ValueError(f"density must lie between 0 and 1, not {density!r}")
    places = rows * columns
    if places >= 1 << 63:
        raise ValueError(f"a matrix of shape {(rows, columns)} has too many places to draw from: 2**63 or more")
    xp = array_module(normalize_device(device))
    source = rng if hasattr(rng, "integers") else xp.random.default_rng(rng)
    count = round(density * places)
    check_memory(32 * count, f"a random matrix of {count} entries", device)
    kept = _draw(source, xp, places, count)
    kind = as_value_dtype(float if dtype is None else dtype, "dtype")
    if data_sampler is not None:
        data = xp.asarray(data_sampler(size=count)).astype(kind, copy=False)
    elif kind.kind == "f":
        data = source.random(count, dtype=kind)
    else:
        # All bits of the type, drawn by 32, which NumPy's and CuPy's generators have in common.
        words = source.integers(0, 2**32 - 1, size=-(-count * kind.itemsize // 4), dtype=np.uint32, endpoint=True)
        bits = words.view(np.uint8)[: count * kind.itemsize]
        data = bits % 2 == 1 if kind == np.bool_ else bits.view(kind)
    ids = index_dtype(max(rows, columns))
    row, column = (kept // columns, kept % columns) if count else (kept, kept)
    return Matrix._of(CSR.from_coo(row.astype(ids), column.astype(ids), data, (rows, columns)))


def block_array(blocks: Sequence[Sequence[Any]], dtype: Any = None) -> Matrix:
    """Matrices put together as blocks.

    Parameters
    ----------
    blocks : sequence of sequences of Matrix, sparse array, two-dimensional array or None
        Row by row; None is a block without entries.
    dtype : dtype, optional
        Type of the values; by default NumPy's common type of the blocks.

    Returns
    -------
    Matrix
        On the device of the blocks; a pattern if all of them are.

    Raises
    ------
    ValueError
        When the blocks' shapes do not fit, or all blocks of a row or a column are None.
    TypeError
        When blocks lie on different devices.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.block_array([[hpg.eye(2), None], [None, [[5.0]]]]).toarray()
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 5.]])
    """
    grid = [[None if block is None else block if isinstance(block, Matrix) else Matrix(block) for block in row]
            for row in blocks]  # fmt: skip
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
        xp = array_module(device)
        data = None if pattern else xp.zeros(0, dtype=kind)
        return CSR((height, width), xp.zeros(height + 1, np.int64), xp.zeros(0, np.int32), data, validate=False)

    strips = [
        _beside([csr_of(block, height, width) for block, width in zip(row, widths, strict=True)])
        for row, height in zip(grid, heights, strict=True)
    ]
    return Matrix._of(_below(strips))


def hstack(blocks: Sequence[Any], dtype: Any = None) -> Matrix:
    """Matrices side by side.

    Parameters
    ----------
    blocks : sequence of Matrix, sparse array or two-dimensional array
        Of as many rows each.
    dtype : dtype, optional
        As for `block_array`.

    Returns
    -------
    Matrix
    """
    return block_array([list(blocks)], dtype)


def vstack(blocks: Sequence[Any], dtype: Any = None) -> Matrix:
    """Matrices one below the other.

    Parameters
    ----------
    blocks : sequence of Matrix, sparse array or two-dimensional array
        Of as many columns each.
    dtype : dtype, optional
        As for `block_array`.

    Returns
    -------
    Matrix
    """
    return block_array([[block] for block in blocks], dtype)


def block_diag(blocks: Sequence[Any], dtype: Any = None) -> Matrix:
    """Matrices down the diagonal.

    Parameters
    ----------
    blocks : sequence of Matrix, sparse array or two-dimensional array
        Of any shapes.
    dtype : dtype, optional
        As for `block_array`.

    Returns
    -------
    Matrix

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.block_diag([[[1, 2]], [[3]]]).toarray()
    array([[1, 2, 0],
           [0, 0, 3]])
    """
    given = [block if isinstance(block, Matrix) else Matrix(block) for block in blocks]
    return block_array([[block if i == j else None for j in range(len(given))] for i, block in enumerate(given)], dtype)


bmat = block_array


def _beside(parts: list[CSR]) -> CSR:
    """Matrices of as many rows, side by side: every entry's place follows from the row pointers."""
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
    """Matrices of as many columns, one below the other: their arrays, one after the other."""
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


def _length(rows: int, columns: int, k: int) -> int:
    """Places on a diagonal."""
    return max(0, min(rows + min(k, 0), columns - max(k, 0)))


def _on_diagonal(place: Any, data: Any, shape: tuple[int, int], k: int) -> Matrix:
    """Values at some places, ascending, of a diagonal."""
    ids = index_dtype(max(shape))
    row, column = (place + max(-k, 0)).astype(ids), (place + max(k, 0)).astype(ids)
    return Matrix._of(csr_from_tuples(row, column, data, shape, None))


def _draw(source: Any, xp: Any, places: int, count: int) -> Any:
    """`count` of the numbers below `places`, ascending, each set of them as likely."""
    if 2 * count > places:
        # Few are left out: drawn, they leave the others.
        kept = xp.ones(places, dtype=bool)
        kept[_draw(source, xp, places, places - count)] = False
        return xp.flatnonzero(kept)
    drawn = xp.zeros(0, dtype=np.int64)
    while len(drawn) < count:
        more = source.integers(0, places, size=count - len(drawn) + 16, dtype=np.int64)
        drawn = xp.unique(xp.concatenate((drawn, more)))
    # Which of too many stay is drawn as well: the largest would otherwise be the ones to go.
    chosen = source.random(len(drawn)).argsort()[:count]
    return xp.sort(drawn[chosen])
