"""The product of two sparse matrices over a semiring, GrB_mxm, and their Kronecker product, GrB_kronecker."""

from typing import Any

from hpgraph.algebra.operands import as_matrix, check_same_device
from hpgraph.algebra.write import target
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.core.device import array_module, check_memory
from hpgraph.formats import CSR, attached, index_dtype, occurrences
from hpgraph.formats.checks import INT64_MAX
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.spmv.product_plan import value_dtype
from hpgraph.semiring import BinaryOp, Monoid, Semiring, get_binary, get_semiring
from hpgraph.semiring.semiring import Product, product_of

# A transposition costs about as much as this many lookups for each entry.
TURN = 16
# Ratio of columns to entries from which a matrix is first restricted to its nonempty columns.
SPARSE = 4


def mxm(
    A: Any,
    B: Any,
    semiring: Semiring | str = "plus_times",
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """The product of two sparse matrices over a semiring: ``C⟨mask⟩ accum= A ⊕.⊗ B``.

    Parameters
    ----------
    A : Matrix, shape (m, l)
        Or a sparse array of SciPy or CuPy. ``A.T`` is not copied.
    B : Matrix, shape (l, n)
        On the same device.
    semiring : Semiring or str, default "plus_times"
        Addition and multiplication. Positional operators return, for A[i, k] and B[k, j], the indices i (firsti), k
        (firstj, secondi) or j (secondj), as int64.
    mask : Matrix, shape (m, n), optional
        The positions to compute: entries that are present and nonzero; ``M.structure`` is a mask of all present
        entries.
    complement : bool, default False
        Whether to use the complement of the mask.
    accum : BinaryOp, str or function, optional
        Combines entries of `out` and of the result if both are present.
    replace : bool, default False
        Whether entries of `out` outside the mask are dropped rather than kept.
    out : Matrix, shape (m, n), optional
        Destination; it keeps its value type. It is unchanged if an error is raised.

    Returns
    -------
    Matrix, shape (m, n)
        `out` if given. It has an entry for every position with a product, even if the sum is zero.

    Notes
    -----
    Without a mask, or with a complemented one, rows are computed after F. G. Gustavson, "Two fast algorithms for sparse
    matrices", ACM TOMS 4(3), 1978; their entries are counted first if memory may not suffice for the upper bound (on
    CUDA always). With a mask, either a dot product is computed for each of its entries, from the rows of A and of the
    transpose of B, or Gustavson's rows restricted to the mask, whichever reads fewer entries. Sums are in the order of
    the inner index, so results are reproducible bit for bit. A transpose that was computed is cached.

    Examples
    --------
    The triangles of a graph, each counted once:

    >>> L = hpg.Matrix([[0, 0, 0], [1, 0, 0], [1, 1, 0]])
    >>> hpg.mxm(L, L.T, "plus_pair", mask=L).sum()
    np.int64(1)

    Shortest paths of two arcs, put together with those of one:

    >>> D = hpg.Matrix([[0, 3.0, 9.0], [0, 0, 4.0], [0, 0, 0]])
    >>> hpg.mxm(D, D, "min_plus", accum="min", out=D.copy()).toarray()
    array([[0., 3., 7.],
           [0., 0., 4.],
           [0., 0., 0.]])
    """
    A, B = as_matrix(A, "A"), as_matrix(B, "B")
    check_same_device("A", A.device, "B", B.device)
    if A.shape[1] != B.shape[0]:
        raise ValueError(
            f"A of shape {A.shape} cannot be multiplied by B of shape {B.shape}: A needs as many columns as B has rows"
        )
    semiring = get_semiring(semiring)
    shape = A.shape[0], B.shape[1]
    product = product_of(semiring, value_dtype(A.stored_dtype), value_dtype(B.stored_dtype))
    end = target(shape, product.dtype, A.device, mask, complement, accum, replace, out)
    if not A.nnz or not B.nnz:
        result = CSR._empty(shape, product.dtype, A.device)
    elif mask is None or complement:
        result = _everywhere(A.csr, B.csr, product, semiring.add, end.allowed)
    else:
        result = _at_places(end.allowed, A.csr, B, product, semiring.add)
    return end.write(result, masked=True)


def _everywhere(a: CSR, b: CSR, product: Product, add: Monoid, exclude: CSR | None) -> CSR:
    """The whole product, or its entries outside a complemented mask."""
    rows, columns = a.shape[0], b.shape[1]
    backend = kernels(a.device)
    used = None
    if columns > SPARSE * b.nnz and not product.reads_columns:
        # Rows are accumulated in arrays with an element for each column: only nonempty columns of B can have entries.
        xp = array_module(b.indices)
        used = xp.unique(b.indices)
        b = _narrow(b, used)
        exclude = None if exclude is None else _narrow(exclude, used)
    made: CSR = backend.multiply(a, b, product, add, exclude)
    indices = made.indices if used is None else used[made.indices]
    ids = index_dtype(max(rows, columns))
    return CSR((rows, columns), made.indptr, indices.astype(ids, copy=False), made.data, validate=False)


def _narrow(csr: CSR, used: Any) -> CSR:
    """The matrix restricted to the used columns, numbered in their order."""
    xp = array_module(csr.indices)
    place = xp.minimum(xp.searchsorted(used, csr.indices), len(used) - 1)
    ids = place.astype(index_dtype(len(used)))
    numbered = CSR((csr.shape[0], len(used)), csr.indptr, ids, csr.data, validate=False)
    return kernels(csr.device).keep_entries(numbered, used[place] == csr.indices)


def _at_places(mask: CSR, a: CSR, B: MatrixStorage, product: Product, add: Monoid) -> CSR:
    """The product at the entries of a mask, by the cheaper method."""
    backend = kernels(a.device)
    by_rows, by_columns = B.T.columns_if_built, B.columns_if_built
    dots, rows = backend.masked_work(mask, a, _lengths(B, by_rows), _lengths(B.T, by_columns))
    if by_columns is None:
        dots += TURN * B.nnz
    if by_rows is None:
        rows += TURN * B.nnz
    made: CSR
    if dots <= rows:
        made = backend.multiply_by_dots(mask, a, B.T.csr, product, add)
    else:
        made = backend.multiply_by_rows(mask, a, B.csr, product, add)
    return made


def _lengths(B: MatrixStorage, built: CSR | None) -> Any:
    """Number of entries of each row of B, without building its CSR."""
    return _entries_by_row(built) if built is not None else _entries_by_column(B.T.csr)


@attached
def _entries_by_row(csr: CSR) -> Any:
    return csr.degrees


@attached
def _entries_by_column(csr: CSR) -> Any:
    return occurrences(csr.indices, csr.shape[1])


def kronecker(
    A: Any,
    B: Any,
    op: BinaryOp | str | Any = "times",
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
    *,
    format: str | None = None,
) -> Any:
    """The Kronecker product of two sparse matrices with any operator: ``C⟨mask⟩ accum= A ⊗ B``.

    Parameters
    ----------
    A : Matrix, shape (m, n)
        Or a sparse array of SciPy or CuPy, or a dense array.
    B : Matrix, shape (k, l)
        On the same device.
    op : BinaryOp, str or function, default "times"
        ``f(A[i, j], B[p, q])`` is the entry [i k + p, j l + q].
    mask, complement, accum, replace, out
        As for `mxm`.
    format : str, optional
        Format of the result in SciPy or CuPy, for instance "csr".

    Returns
    -------
    Matrix, shape (m k, n l)
        `out` if given.

    Examples
    --------
    >>> hpg.kron(hpg.Matrix([[1, 2]]), hpg.Matrix([[3], [5]]), "plus").toarray()
    array([[4, 5],
           [6, 7]])
    """
    A, B = as_matrix(A, "A", dense=True), as_matrix(B, "B", dense=True)
    check_same_device("A", A.device, "B", B.device)
    op = get_binary(op)
    if op.position is not None:
        raise TypeError(f"{op.name} gives an index or needs places: a Kronecker product takes a function of two values")
    shape = A.shape[0] * B.shape[0], A.shape[1] * B.shape[1]
    if max(*shape, A.nnz * B.nnz) > INT64_MAX:
        raise ValueError(f"the Kronecker product of shape {shape} with {A.nnz * B.nnz} entries does not fit 64 bits")
    types = value_dtype(A.stored_dtype), value_dtype(B.stored_dtype)
    dtype = op.result_dtype(*types)
    end = target(shape, dtype, A.device, mask, complement, accum, replace, out)
    nnz = A.nnz * B.nnz
    needed = nnz * (index_dtype(max(shape)).itemsize + dtype.itemsize) + 8 * (shape[0] + 1)
    check_memory(needed, f"a Kronecker product of {nnz} entries", A.device)
    return end.write(kernels(A.device).kron(A.csr, B.csr, op, types, shape)).asformat(format)


kron = kronecker
