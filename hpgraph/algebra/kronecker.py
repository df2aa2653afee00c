"""The Kronecker product of two sparse matrices: GrB_kronecker."""

from typing import Any

from hpgraph.algebra.operands import as_matrix
from hpgraph.algebra.write import target
from hpgraph.core.device import check_memory
from hpgraph.formats import index_dtype
from hpgraph.formats.checks import INT64_MAX
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.spmv.product_plan import value_dtype
from hpgraph.semiring import BinaryOp, get_binary


def kronecker(
    A: Any,
    B: Any,
    op: BinaryOp | str | Any = "times",
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """The Kronecker product of two sparse matrices with any operator: ``C⟨mask⟩ accum= A ⊗ B``.

    Parameters
    ----------
    A : Matrix, shape (m, n)
        A sparse array of SciPy or CuPy serves as well.
    B : Matrix, shape (k, l)
        On the same device.
    op : BinaryOp, str or function, default "times"
        ``f(a, b)`` makes the entry [i k + p, j l + q] of A[i, j] and B[p, q].
    mask, complement, accum, replace, out
        As for `mxm`.

    Returns
    -------
    Matrix, shape (m k, n l)
        `out` where given.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.kron(hpg.Matrix([[1, 2]]), hpg.Matrix([[3], [5]]), "plus").toarray()
    array([[4, 5],
           [6, 7]])
    """
    A, B = as_matrix(A, "A"), as_matrix(B, "B")
    if A.device != B.device:
        raise TypeError(f'A lies on "{A.device}" and B on "{B.device}": move one of them with .to()')
    op = get_binary(op)
    if op.position is not None:
        raise TypeError(f"{op.name} gives an index of one matrix's entry: a Kronecker product needs a value of two")
    shape = A.shape[0] * B.shape[0], A.shape[1] * B.shape[1]
    if max(*shape, A.nnz * B.nnz) > INT64_MAX:
        raise ValueError(f"the Kronecker product of shape {shape} with {A.nnz * B.nnz} entries does not fit 64 bits")
    types = value_dtype(A.stored_dtype), value_dtype(B.stored_dtype)
    dtype = op.result_dtype(*types)
    end = target(shape, dtype, A.device, mask, complement, accum, replace, out)
    nnz = A.nnz * B.nnz
    needed = nnz * (index_dtype(max(shape)).itemsize + dtype.itemsize) + 8 * (shape[0] + 1)
    check_memory(needed, f"a Kronecker product of {nnz} entries", A.device)
    return end.write(kernels(A.device).kron(A.csr, B.csr, op, types, shape))


kron = kronecker
