"""Construction of matrices: identities, diagonals, random matrices. Names and arguments are SciPy's."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.algebra.tuples import csr_from_tuples
from hpgraph.core.device import array_module, check_memory, device_of, is_sparse_matrix, normalize_device, unmasked
from hpgraph.core.number import real, whole
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.checks import as_shape, as_value_dtype
from hpgraph.scipy_api.matrix import Matrix
from hpgraph.scipy_api.vector import Vector
from hpgraph.semiring.dtypes import real_dtype


def eye(
    m: int, n: int | None = None, k: int = 0, dtype: Any = float, *, device: str = "cpu", format: str | None = None
) -> Any:
    """Ones on a diagonal.

    Parameters
    ----------
    m : int
        Number of rows.
    n : int, optional
        Number of columns; `m` by default.
    k : int, default 0
        Number of the diagonal; above the main one if positive.
    dtype : dtype, default float64
        Type of the ones. None makes a pattern.
    device : {"cpu", "cuda"}
        Device of the matrix.
    format : str, optional
        Format of the result in SciPy or CuPy, for instance "csr".

    Returns
    -------
    Matrix, shape (m, n)
        With `format` a sparse array of SciPy or CuPy.

    Examples
    --------
    >>> hpg.eye(2, 3, k=1).toarray()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    rows, columns = as_shape((m, m if n is None else n))
    length = _length(rows, columns, whole(k, "k"))
    check_memory(32 * length + 8 * rows, f"a matrix of {rows} rows", device)
    xp = array_module(normalize_device(device))
    data = None if dtype is None else xp.ones(length, dtype=as_value_dtype(dtype, "dtype"))
    return _on_diagonal(xp.arange(length, dtype=np.int64), data, (rows, columns), whole(k, "k")).asformat(format)


def diag(v: Any, k: int = 0) -> Any:
    """The matrix with a vector on its diagonal, or the diagonal of a matrix.

    Parameters
    ----------
    v : Vector, array or Matrix
        The diagonal; absent entries of a Vector are not stored. From a Matrix the diagonal is extracted.
    k : int, default 0
        Number of the diagonal.

    Returns
    -------
    Matrix, or for a matrix a Vector
        The smallest square matrix with the vector on its k-th diagonal (GrB_Matrix_diag).

    Examples
    --------
    >>> hpg.diag([1, 2], k=1).toarray()
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    >>> hpg.diag(hpg.Matrix([[1, 2], [0, 0]])).to_indices()
    (array([0], dtype=int32), array([1]))
    """
    k = whole(k, "k")
    if is_sparse_matrix(v) or getattr(v, "ndim", 1) == 2:
        A = v if isinstance(v, Matrix) else Matrix(v)
        length = _length(*A.shape, k)
        xp = array_module(A.device)
        places = xp.arange(length, dtype=np.int64)
        return A[places + max(-k, 0), places + max(k, 0)]
    given = v if isinstance(v, Vector) else Vector(v)
    indices, values = given.to_indices()
    size = given.size + abs(k)
    return _on_diagonal(indices.astype(np.int64), values, (size, size), k)


def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, dtype: Any = None, *, format: str | None = None) -> Any:
    """A matrix from its diagonals.

    Parameters
    ----------
    diagonals : sequence of arrays, or one array
        Values of each diagonal; an array of length one is broadcast.
    offsets : sequence of int, or int, default 0
        Numbers of the diagonals.
    shape : (int, int), optional
        By default the smallest square shape that holds the diagonals.
    dtype : dtype, optional
        Type of the values; by default that of the arrays.
    format : str, optional
        As for `eye`.

    Returns
    -------
    Matrix
        On the device of the arrays. Zeros are stored.

    Examples
    --------
    >>> hpg.diags([[-1], [2], [-1]], [-1, 0, 1], shape=(3, 3), dtype=int).toarray()
    array([[ 2, -1,  0],
           [-1,  2, -1],
           [ 0, -1,  2]])
    """
    if not hasattr(diagonals, "__len__") or getattr(diagonals, "ndim", 1) == 0 or not len(diagonals):
        raise ValueError(f"diagonals must be an array, or a list of one diagonal at least, not {diagonals!r}")
    if offsets is None or np.isscalar(offsets) or getattr(offsets, "ndim", 1) == 0:
        single = not hasattr(diagonals[0], "__len__") and not getattr(diagonals[0], "ndim", 0)
        diagonals = [diagonals] if single else list(diagonals)
        offsets = [offsets]
    offsets = [whole(k, "offsets") for k in (offsets.tolist() if hasattr(offsets, "tolist") else offsets)]
    xp = array_module(device_of(*(d for d in diagonals if hasattr(d, "dtype"))))
    arrays = [xp.atleast_1d(xp.asarray(unmasked(d, "a diagonal"))) for d in diagonals]
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
    return Matrix._of(CSR.from_coo(row, column, data, (rows, columns))).asformat(format)


def _length(rows: int, columns: int, k: int) -> int:
    """Number of elements of a diagonal."""
    return max(0, min(rows + min(k, 0), columns - max(k, 0)))


def _on_diagonal(place: Any, data: Any, shape: tuple[int, int], k: int) -> Matrix:
    """A matrix from values at ascending positions of a diagonal."""
    ids = index_dtype(max(shape))
    if len(place) == 0:
        # The diagonal may be farther away than an index can represent.
        k = 0
    row, column = (place + max(-k, 0)).astype(ids), (place + max(k, 0)).astype(ids)
    return Matrix._of(csr_from_tuples(row, column, data, shape, None))


def random(
    m: int,
    n: int,
    density: float = 0.01,
    dtype: Any = None,
    rng: Any = None,
    data_sampler: Callable[..., Any] | None = None,
    *,
    device: str = "cpu",
    format: str | None = None,
    random_state: Any = None,
    data_rvs: Callable[[int], Any] | None = None,
) -> Any:
    """A random sparse matrix: uniform values at uniformly distributed positions.

    Parameters
    ----------
    m, n : int
        Number of rows and columns.
    density : float, default 0.01
        Share of stored entries, 0 to 1.
    dtype : dtype, optional
        Type of the values, float64 by default. Floats, and both parts of complex numbers, are uniform in [0, 1);
        integers and bool are uniform over their type.
    rng : int or Generator of NumPy or CuPy, optional
        Seed or generator. The same seed gives the same matrix on the same device.
    data_sampler : callable, optional
        Source of the values instead, called as ``data_sampler(size=k)``.
    device : {"cpu", "cuda"}
        Device of the matrix and of its random numbers.
    format : str, optional
        As for `eye`.
    random_state, data_rvs : optional
        SciPy's names for `rng`, and for a sampler that is called with the number only.

    Returns
    -------
    Matrix, shape (m, n)
        With ``round(density * m * n)`` entries.

    Examples
    --------
    >>> hpg.random(4, 5, density=0.25, rng=1)
    <Matrix 4x5, 5 entries, float64, csr, cpu>
    """
    rows, columns = as_shape((m, n))
    rng = _either("rng", rng, "random_state", random_state)
    data_sampler = _either("data_sampler", data_sampler, "data_rvs", data_rvs and (lambda size: data_rvs(size)))
    if not 0 <= real(density, "density") <= 1:
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
    elif kind.kind == "c":
        data = source.random(2 * count, dtype=real_dtype(kind)).view(kind)
    else:
        # All bits of the type, in draws of 32, which both NumPy's and CuPy's generators support.
        words = source.integers(0, 2**32 - 1, size=-(-count * kind.itemsize // 4), dtype=np.uint32, endpoint=True)
        bits = words.view(np.uint8)[: count * kind.itemsize]
        data = bits % 2 == 1 if kind == np.bool_ else bits.view(kind)
    ids = index_dtype(max(rows, columns))
    row, column = (kept // columns, kept % columns) if count else (kept, kept)
    return Matrix._of(CSR.from_coo(row.astype(ids), column.astype(ids), data, (rows, columns))).asformat(format)


def _either(name: str, value: Any, older: str, older_value: Any) -> Any:
    """The value given under one of two names."""
    if value is not None and older_value is not None:
        raise TypeError(f"{older} is another name of {name}: give one of them")
    return older_value if value is None else value


def _draw(source: Any, xp: Any, places: int, count: int) -> Any:
    """`count` distinct integers below `places`, ascending; all sets are equally likely."""
    if 2 * count > places:
        # Dense case: draw the complement.
        kept = xp.ones(places, dtype=bool)
        kept[_draw(source, xp, places, places - count)] = False
        return xp.flatnonzero(kept)
    drawn = xp.zeros(0, dtype=np.int64)
    while len(drawn) < count:
        more = source.integers(0, places, size=count - len(drawn) + 16, dtype=np.int64)
        drawn = xp.unique(xp.concatenate((drawn, more)))
    # The survivors are drawn as well: otherwise the largest would be dropped.
    chosen = source.random(len(drawn)).argsort()[:count]
    return xp.sort(drawn[chosen])
