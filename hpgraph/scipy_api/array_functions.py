"""Functions of `scipy.sparse` under their names, each a thin wrapper of a method or function of hpgraph."""

import operator
import os
from typing import Any

import numpy as np

from hpgraph.algebra.mxm import kron, mxm
from hpgraph.algebra.operands import as_matrix
from hpgraph.algebra.select import select
from hpgraph.core.device import by_dlpack, is_sparse_matrix
from hpgraph.core.number import whole
from hpgraph.core.replace import replacing
from hpgraph.scipy_api.construct import diags, eye, random
from hpgraph.scipy_api.matrix import Matrix
from hpgraph.scipy_api.vector import Vector
from hpgraph.semiring import Semiring, get_semiring


def identity(n: int, dtype: Any = float, *, device: str = "cpu", format: str | None = None) -> Any:
    """The identity matrix of n rows, `scipy.sparse.identity`; the parameters are those of `eye`."""
    return eye(n, dtype=dtype, device=device, format=format)


def eye_array(
    m: int, n: int | None = None, *, k: int = 0, dtype: Any = float, device: str = "cpu", format: str | None = None
) -> Any:
    """Ones on a diagonal: `eye`, with the arguments of `scipy.sparse.eye_array`."""
    return eye(m, n, k, dtype, device=device, format=format)


def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, dtype: Any = None, format: str | None = None
) -> Any:
    """A matrix from its diagonals: `diags`, with the arguments of `scipy.sparse.diags_array`."""
    return diags(diagonals, offsets, shape, dtype, format=format)


def random_array(
    shape: tuple[int, int], *, density: float = 0.01, dtype: Any = None, rng: Any = None, data_sampler: Any = None,
    device: str = "cpu", format: str | None = None, random_state: Any = None,
) -> Any:  # fmt: skip
    """A random sparse matrix: `random`, with the arguments of `scipy.sparse.random_array`.

    The shape must have two dimensions. The numbers are not those that SciPy draws from the same seed.
    """
    if len(shape) != 2:
        raise ValueError(f"shape must be (rows, columns), not {tuple(shape)}: a Matrix has two dimensions")
    return random(*shape, density, dtype, rng, data_sampler, device=device, format=format, random_state=random_state)


def spdiags(data: Any, diags: Any, m: Any = None, n: int | None = None, format: str | None = None) -> Any:
    """A matrix whose diagonals are the rows of an array, `scipy.sparse.spdiags`.

    Column j of each row is placed in column j of the matrix, whose shape is ``(m, n)``, or ``m`` as a pair; by default
    both are the length of the rows. Zeros of `data` are not stored, as in SciPy's CSR.

    Examples
    --------
    >>> hpg.spdiags([[1, 2, 3], [4, 5, 6]], [0, 1], 3, 3).toarray()
    array([[1, 5, 0],
           [0, 2, 6],
           [0, 0, 3]])
    """
    from scipy.sparse import dia_array

    rows = np.atleast_2d(np.asarray(data))
    if m is None and n is None:
        m = n = rows.shape[1]
    elif n is None:
        m, n = m
    made = dia_array((rows, np.atleast_1d(np.asarray(diags))), shape=(whole(m, "m"), whole(n, "n")))
    return Matrix(made).asformat(format)


def kronsum(A: Any, B: Any, format: str | None = None) -> Any:
    """The Kronecker sum of two square matrices, ``kron(I, A) + kron(B, I)``: `scipy.sparse.kronsum`.

    Examples
    --------
    >>> hpg.kronsum([[0, 1], [1, 0]], [[5]]).toarray()
    array([[5, 1],
           [1, 5]])
    """
    A, B = (given if isinstance(given, Matrix) else Matrix(given) for given in (A, B))
    for name, given in (("A", A), ("B", B)):
        if given.shape[0] != given.shape[1]:
            raise ValueError(f"{name} must be square, not of shape {given.shape}")
    ones = [eye(given.shape[0], dtype=given.dtype, device=given.device) for given in (B, A)]
    return (kron(ones[0], A) + kron(B, ones[1])).asformat(format)


def find(A: Any) -> tuple[Any, Any, Any]:
    """Rows, columns and values of the nonzero entries of a matrix, in order of rows: `scipy.sparse.find`.

    Examples
    --------
    >>> [array.tolist() for array in hpg.find([[0, 2], [3, 0]])]
    [[0, 1], [1, 0], [2, 3]]
    """
    made = Matrix(A)
    made.eliminate_zeros()
    row, column, data = made.to_coo()
    return row, column, data


def issparse(x: object) -> bool:
    """Whether an object is a `Matrix`, or a sparse array of SciPy or CuPy."""
    from scipy.sparse import issparse

    cupy = type(x).__module__.startswith("cupyx.scipy.sparse") and is_sparse_matrix(x)
    return isinstance(x, Matrix) or cupy or bool(issparse(x))


def save_npz(file: Any, matrix: Any, compressed: bool = True) -> None:
    """Write a matrix on the CPU or GPU to a path or a file object, in the format of `scipy.sparse.save_npz`.

    An existing file is replaced atomically.
    """
    from scipy.sparse import save_npz

    made = (matrix if isinstance(matrix, Matrix) else Matrix(matrix)).to("cpu").tocsr()
    if not isinstance(file, str | os.PathLike):
        save_npz(file, made, compressed)
        return
    path = os.fspath(file)
    # NumPy adds the suffix.
    with replacing(path if path.endswith(".npz") else f"{path}.npz") as target:
        save_npz(target, made, compressed)


def load_npz(file: Any) -> Matrix:
    """Read a matrix written by `save_npz`, here or of SciPy, from a path or a file object.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> hpg.save_npz(file, hpg.eye(3))
    >>> _ = file.seek(0)
    >>> hpg.load_npz(file)
    <Matrix 3x3, 3 entries, float64, csr, cpu>
    """
    from scipy.sparse import load_npz

    return Matrix(load_npz(file))


def permute_dims(A: Any, axes: Any = None, copy: bool = False) -> Any:
    """A matrix or a vector with its axes in another order, by default reversed: `scipy.sparse.permute_dims`."""
    given = _matrix_or_vector(A)
    order = tuple(range(given.ndim))[::-1] if axes is None else tuple(whole(axis, "axes") for axis in axes)
    places = [axis + given.ndim if axis < 0 else axis for axis in order]
    if sorted(places) != list(range(given.ndim)):
        raise ValueError(f"axes must be an order of the {given.ndim} axes, not {axes!r}")
    transposed = given.T if places == [1, 0] else given
    return transposed.copy() if copy else transposed


def swapaxes(A: Any, axis1: int, axis2: int) -> Any:
    """A matrix or a vector with two axes swapped, `scipy.sparse.swapaxes`."""
    given = _matrix_or_vector(A)
    for axis in (axis1, axis2):
        if not -given.ndim <= whole(axis, "an axis") < given.ndim:
            raise ValueError(f"axis {axis} is out of bounds: there are {given.ndim} axes")
    return given if (axis1 - axis2) % given.ndim == 0 else given.T


def matrix_transpose(A: Any) -> Matrix:
    """The transpose of a matrix, `scipy.sparse.matrix_transpose`; a ValueError if `A` has one dimension."""
    given = _matrix_or_vector(A)
    if given.ndim != 2:
        raise ValueError("A must have two dimensions, as a Matrix has")
    return given.mT


def expand_dims(A: Any, /, *, axis: int = 0) -> Matrix:
    """A vector as a matrix of one row, or with ``axis=1`` of one column: `scipy.sparse.expand_dims`."""
    given = _matrix_or_vector(A)
    if given.ndim != 1:
        raise ValueError("A must have one dimension: a Matrix has no third")
    if axis not in (-2, -1, 0, 1):
        raise ValueError(f"axis {axis} is out of bounds: the result has 2 axes")
    return given.reshape(1, -1) if axis in (0, -2) else given.reshape(-1, 1)


def from_dlpack(x: Any) -> Vector:
    """A vector that shares the memory of another library's array, by DLPack, without a copy.

    Parameters
    ----------
    x : object with ``__dlpack__``, shape (n,)
        An array of PyTorch, JAX or another library, on the CPU or on a GPU. `Vector` and `Matrix` accept arrays of
        PyTorch and JAX directly, also as indptr, indices and values.

    Returns
    -------
    Vector
        On the device of the array.

    Examples
    --------
    >>> values = np.array([1.0, 2.0])
    >>> hpg.from_dlpack(values).values.base is not None
    True
    """
    return Vector(by_dlpack(x))


def _matrix_or_vector(A: Any) -> Any:
    if isinstance(A, Matrix | Vector):
        return A
    return Vector(A) if getattr(A, "ndim", 2) == 1 else Matrix(A)


def tril(A: Any, k: int = 0, format: str | None = None) -> Any:
    """The entries on and below the k-th diagonal, in a `format` of SciPy or CuPy if given.

    Examples
    --------
    >>> hpg.tril(hpg.Matrix([[1, 2], [3, 4]]), -1).toarray()
    array([[0, 0],
           [3, 0]])
    """
    return select(A, "tril", k).asformat(format)


def triu(A: Any, k: int = 0, format: str | None = None) -> Any:
    """The entries on and above the k-th diagonal; parameters and result are those of `tril`.

    Examples
    --------
    >>> hpg.triu(hpg.Matrix([[1, 2], [3, 4]]), 1).toarray()
    array([[0, 2],
           [0, 0]])
    """
    return select(A, "triu", k).asformat(format)


def matrix_power(A: Any, power: int, semiring: Semiring | str = "plus_times") -> Any:
    """A power of a square matrix over a semiring: ``A ⊕.⊗ A ⊕.⊗ … ⊕.⊗ A``.

    Parameters
    ----------
    A : Matrix, shape (n, n)
        Or a sparse array of SciPy or CuPy.
    power : int, at least 0
        The number of factors.
    semiring : Semiring or str, default "plus_times"
        Addition and multiplication; the multiplication must be associative for a meaningful result.

    Returns
    -------
    Matrix, shape (n, n)
        For power 0 the identity, which is defined for plus_times only.

    Notes
    -----
    By repeated squaring, as `scipy.sparse.linalg.matrix_power`: about 2 log₂ power products.

    Examples
    --------
    The walks of three arcs, and the shortest of them:

    >>> A = hpg.Matrix([[0, 1, 2], [0, 0, 1], [1, 0, 0]])
    >>> hpg.matrix_power(A, 3).toarray()
    array([[1, 2, 4],
           [0, 1, 2],
           [2, 0, 1]])
    >>> hpg.matrix_power(A, 3, "min_plus").toarray()
    array([[3, 4, 5],
           [0, 3, 4],
           [4, 0, 3]])
    """
    A, power, semiring = as_matrix(A, "A"), operator.index(power), get_semiring(semiring)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"only a square matrix has powers, not one of shape {A.shape}")
    if power < 0:
        raise ValueError(f"power must be at least 0, not {power}")
    if power == 0:
        if semiring is not get_semiring("plus_times"):
            raise ValueError(f"the power 0 needs the identity of {semiring.name}: it is known for plus_times only")
        return eye(A.shape[0], dtype=A.dtype, device=A.device)
    result: Any = None
    squared = A
    while True:
        if power & 1:
            result = squared if result is None else mxm(result, squared, semiring)
        power >>= 1
        if not power:
            return A.copy() if result is A else result
        squared = mxm(squared, squared, semiring)
