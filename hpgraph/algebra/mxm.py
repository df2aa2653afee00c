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

# Turning a matrix costs about as much as looking up this many entries for each of its own.
TURN = 16
# Columns for each entry from which a matrix is first narrowed to the columns that it uses.
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
        A sparse array of SciPy or CuPy serves as well. ``A.T`` is as good as a matrix of its own.
    B : Matrix, shape (l, n)
        On the same device.
    semiring : Semiring or str, default "plus_times"
        What adds and multiplies. Positional operators give, of A[i, k] and B[k, j], the indices i (firsti), k (firstj,
        secondi) or j (secondj), as int64.
    mask : Matrix, shape (m, n), optional
        The places to compute. It counts by value: present and not zero; for what is present whatever its value, give
        ``M.structure``.
    complement : bool, default False
        Compute the places that the mask leaves out instead.
    accum : BinaryOp, str or function, optional
        Joins what `out` holds with the result, where both have an entry.
    replace : bool, default False
        Whether entries of `out` that the mask does not allow are dropped, rather than kept.
    out : Matrix, shape (m, n), optional
        Where to write; it keeps its type of values. If an error is raised it is left as it was.

    Returns
    -------
    Matrix, shape (m, n)
        `out` where given. It has an entry wherever a pair of entries is multiplied, even if their sum is zero.

    Notes
    -----
    Without a mask, or with one that is complemented, rows are computed after F. G. Gustavson, "Two fast algorithms for
    sparse matrices", ACM TOMS 4(3), 1978; their entries are counted first where memory may not hold as many as there
    could be (on CUDA always). At the places of a mask either the dot product of each place is computed, from the rows
    of A and of the transpose of B, or Gustavson's rows, restricted to the mask: the one that reads fewer entries. Sums
    are made in the order of the inner index, so results repeat bit for bit. The matrix's transpose is kept once it was
    needed.

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
    """The whole product, or what of it is not excluded."""
    rows, columns = a.shape[0], b.shape[1]
    backend = kernels(a.device)
    used = None
    if columns > SPARSE * b.nnz and not product.reads_columns:
        # Rows are built in arrays as long as there are columns: only those that B uses can have entries.
        xp = array_module(b.indices)
        used = xp.unique(b.indices)
        b = _narrow(b, used)
        exclude = None if exclude is None else _narrow(exclude, used)
    made: CSR = backend.multiply(a, b, product, add, exclude)
    indices = made.indices if used is None else used[made.indices]
    ids = index_dtype(max(rows, columns))
    return CSR((rows, columns), made.indptr, indices.astype(ids, copy=False), made.data, validate=False)


def _narrow(csr: CSR, used: Any) -> CSR:
    """The matrix's columns that are among those used, numbered in their order."""
    xp = array_module(csr.indices)
    place = xp.minimum(xp.searchsorted(used, csr.indices), len(used) - 1)
    ids = place.astype(index_dtype(len(used)))
    numbered = CSR((csr.shape[0], len(used)), csr.indptr, ids, csr.data, validate=False)
    return kernels(csr.device).keep_entries(numbered, used[place] == csr.indices)


def _at_places(mask: CSR, a: CSR, B: MatrixStorage, product: Product, add: Monoid) -> CSR:
    """The product at the places of a mask, the cheaper way."""
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
    """Entries of each row of B, whether or not its CSR is built."""
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
        A sparse array of SciPy or CuPy, or a dense array, serves as well.
    B : Matrix, shape (k, l)
        On the same device.
    op : BinaryOp, str or function, default "times"
        ``f(a, b)`` makes the entry [i k + p, j l + q] of A[i, j] and B[p, q].
    mask, complement, accum, replace, out
        As for `mxm`.
    format : str, optional
        A format of SciPy's or CuPy's, "csr" for instance, in which the result is to be.

    Returns
    -------
    Matrix, shape (m k, n l)
        `out` where given.

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
