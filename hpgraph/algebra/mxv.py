"""The products of a matrix and a vector over a semiring, y⟨mask⟩ accum= A ⊕.⊗ x: GrB_mxv and GrB_vxm.

Everything is checked before anything is written: an error leaves the output as it was.
"""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.algebra.operands import as_mask, as_matrix, as_operand, check_accum
from hpgraph.algebra.write import structure_after, write_allowed
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.public import vector_of_values
from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import array_module, is_cuda
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.runtime.direction import product_pushes
from hpgraph.kernels.spmv.product_plan import plan, swapped
from hpgraph.semiring import BinaryOp, Semiring, get_binary, get_semiring


def mxv(
    A: Any,
    x: Any,
    semiring: Semiring | str = "plus_times",
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """The product of a matrix and a vector over a semiring: ``y⟨mask⟩ accum= A ⊕.⊗ x``.

    Parameters
    ----------
    A : Matrix, shape (m, n)
        Or a sparse array of SciPy or CuPy. ``A.T`` is not copied.
    x : array or Vector, shape (n,)
        The vector, on the matrix's device. Absent entries of a `Vector` are ignored.
    semiring : Semiring or str, default "plus_times"
        Addition and multiplication; the operator's first operand is the matrix entry.
    mask : Bitmask, array of bool or Vector, shape (m,), optional
        Entries of the result to compute: those where an array or a Vector is present and nonzero; the Bitmask
        ``vector.structure`` is a mask of all present entries.
    complement : bool, default False
        Whether to use the complement of the mask.
    accum : BinaryOp, str or function, optional
        Combines `out` and the product t: ``out[i] = accum(out[i], t[i])``. Entries without a product are unchanged.
    replace : bool, default False
        Whether entries of `out` outside the mask are dropped rather than kept; in an array they become the identity of
        the semiring's addition.
    out : array or Vector, shape (m,), optional
        Destination, written in place within the mask only. It is unchanged if an error is raised.

    Returns
    -------
    array or Vector, shape (m,)
        `out` if given; else a Vector if `x` is one, and an array otherwise. For entries without a product, an array
        holds the identity of the semiring's addition (for instance 0 for plus, inf for min), and a Vector is absent.

    Notes
    -----
    The operation is GrB_mxv of the GraphBLAS C API specification. Over bool, plus and times are logical or and and.

    Examples
    --------
    >>> A = hpg.Matrix([[0, 4.0, 1.0], [0, 0, 0], [0, 2.0, 0]])
    >>> A.mxv(np.array([np.inf, 0, 3.0]), "min_plus")
    array([ 4., inf,  2.])
    >>> distance = np.array([3.0, 0, 9.0])
    >>> hpg.mxv(A, distance, "min_plus", mask=distance > 5, accum="min", out=distance)
    array([3., 0., 2.])
    """
    A, ring = as_matrix(A, "A"), get_semiring(semiring)
    if type(x) is A._array_type and x.ndim == 1 and mask is accum is out is None and not complement:
        return multiply(A, x, ring)
    return multiply_masked(A, ring, x, mask, complement, accum, replace, out)


def vxm(
    x: Any,
    A: Any,
    semiring: Semiring | str = "plus_times",
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    out: Any = None,
) -> Any:
    """The product of a vector and a matrix over a semiring: ``yᵀ⟨mask⟩ accum= xᵀ ⊕.⊗ A``.

    The vector, of shape (m,), is the first operand of the semiring's operator. Other parameters and errors are those of
    `mxv`; the result has an entry for each column.

    Examples
    --------
    >>> A = hpg.Matrix([[0, 4.0], [2.0, 0]])
    >>> hpg.vxm(hpg.Vector.from_indices([1], [3.0], 2), A, "min_plus").to_indices()
    (array([0], dtype=int32), array([5.]))
    """
    transposed, ring = as_matrix(A, "A").T, swapped(get_semiring(semiring))
    return mxv(transposed, x, ring, mask, complement, accum, replace, out)


def multiply_masked(
    A: MatrixStorage,
    semiring: Semiring,
    x: Any,
    mask: Any,
    complement: bool,
    accum: BinaryOp | str | None,
    replace: bool,
    out: Any,
) -> Any:
    """`Matrix.mxv`."""
    values = as_operand(x.values if isinstance(x, VectorStorage) else x, "x", A.device)
    active = x.present if isinstance(x, VectorStorage) else None
    rows, columns = A.shape
    if values.shape != (columns,):
        raise ValueError(f"x must have shape ({columns},) for a product with shape {A.shape}, not {values.shape}")
    allowed = as_mask(mask, "mask", rows, A.device)
    if complement:
        if allowed is None:
            raise ValueError("complement=True needs a mask to complement")
        allowed = ~allowed
    op = None if accum is None else get_binary(accum)
    if op is not None and out is None:
        raise ValueError("accum combines the product with the values of out: give out, too")
    product = _Product(A, semiring, values, active, allowed)
    if out is None:
        result, received = product.compute(with_received=isinstance(x, VectorStorage))
        return vector_of_values(result, received) if isinstance(x, VectorStorage) else result
    held = out.values if isinstance(out, VectorStorage) else out
    _check_out(held, product.dtype, rows, A.device)
    if op is not None:
        check_accum(op, held.dtype, product.dtype)
    if isinstance(out, VectorStorage):
        if product.fits(held) and (op is None or out.present is None):
            received = Bitmask.zeros(rows, A.device)
            product.pull(held, op, received)
            out._present = structure_after(out.present, received, allowed, op is not None, replace)
            return out
        # The type of the sum determines the computation, that of the output only the storage.
        return write_allowed(vector_of_values(*product.compute(with_received=True)), out, allowed, op, replace)
    if product.fits(held):
        product.pull(held, op, None)
    else:
        # An array has all entries: a product overwrites all of them, but accumulates only where it has an entry.
        result, received = product.compute(with_received=op is not None)
        write_allowed(vector_of_values(result, received), vector_of_values(held), allowed, op)
    if replace and allowed is not None:
        held[~allowed.to_bool()] = product.reduce.identity_for(held.dtype)
    return out


class _Product:
    """One product with checked operands."""

    def __init__(
        self, A: MatrixStorage, semiring: Semiring, values: Any, active: Bitmask | None, allowed: Bitmask | None
    ) -> None:
        stored = A.stored_dtype
        self.gather, self.reduce, self.dtype = plan(semiring, stored, values.dtype)
        self.A, self.values, self.active, self.allowed = A, values, active, allowed
        self.backend = kernels(A.device)

    def fits(self, out: Any) -> bool:
        """Whether the product can be written straight into an array."""
        xp = array_module(out)
        return out.dtype == self.dtype and out.flags.c_contiguous and not xp.may_share_memory(out, self.values)

    def compute(self, *, with_received: bool) -> tuple[Any, Bitmask | None]:
        """The product in a new array, with identities for absent entries; and, on request, its structure."""
        rows, device = self.A.shape[0], self.A.device
        xp = array_module(device)
        senders = self._senders()
        if senders is not None:
            columns, frontier = senders
            out = xp.full(rows, self.reduce.identity_for(self.dtype), dtype=self.dtype)
            touched = self.backend.push(
                columns, self.gather, self.reduce, (self.values,), frontier, out, mask=self.allowed
            )
            return out, Bitmask.from_indices(touched, rows) if with_received else None
        if self.allowed is None:
            out = xp.empty(rows, self.dtype)
        else:
            # The mask's other entries are not written by the product.
            out = xp.full(rows, self.reduce.identity_for(self.dtype), dtype=self.dtype)
        received = Bitmask.zeros(rows, device) if with_received else None
        self.pull(out, None, received)
        return out, received

    def pull(self, out: Any, op: BinaryOp | None, received: Bitmask | None) -> None:
        """Write the product to every allowed row, or, with an operator, accumulate it."""
        self.backend.pull(
            self.A.rows,
            self.gather,
            self.reduce,
            (self.values,),
            out,
            active=self.active,
            mask=self.allowed,
            accum=op,
            received=received,
        )

    def _senders(self) -> tuple[CSR, Any] | None:
        """The matrix in CSC and the columns to push, if these are few and the transpose exists."""
        columns = None if self.active is None else self.A.columns_if_built
        if columns is None or self.active is None:
            return None
        frontier = self.active.to_indices()
        arcs = int((columns.indptr[frontier + 1] - columns.indptr[frontier]).sum())
        return (columns, frontier) if product_pushes(arcs, columns.nnz) else None


def _check_out(held: Any, dtype: np.dtype[Any], rows: int, device: str) -> None:
    if not isinstance(held, np.ndarray) and not is_cuda(held):
        raise TypeError(f"out must be an array or a Vector, not {type(held).__name__}")
    if is_cuda(held) != (device == "cuda"):
        raise TypeError(f'out must lie where the matrix lies, on "{device}": move it, or the matrix with .to()')
    if held.shape != (rows,):
        raise ValueError(f"out must have shape ({rows},) for a result of that length, not {held.shape}")
    if isinstance(held, np.ndarray) and not held.flags.writeable:
        raise ValueError("out is read-only: give an array that can be written")
    if not held.dtype.isnative or not np.can_cast(dtype, held.dtype, "same_kind"):
        raise TypeError(f"a product of type {dtype} cannot be written to out, which is {held.dtype}: give {dtype}")


_PLUS_TIMES = get_semiring("plus_times")


class _Plan(NamedTuple):
    """Kernel, functions and types of ``A ⊕.⊗ x`` for one type of x."""

    stored: Any
    gather: Any
    reduce: Any
    dtype: np.dtype[Any]
    backend: Any
    empty: Any


def multiply(A: MatrixStorage, x: Any, semiring: Semiring = _PLUS_TIMES, out: Any = None) -> Any:
    """``A ⊕.⊗ x``, an array of shape (m,), into ``out`` if given, which may lie in another GPU's memory."""
    x, plan = _planned(A, x, semiring)
    if len(x) != A.shape[1]:
        raise ValueError(f"x must have length {A.shape[1]} for a matrix of shape {A.shape}, not {len(x)}")
    if out is None:
        out = plan.empty(A.shape[0], plan.dtype)
    plan.backend.pull(plan.stored, plan.gather, plan.reduce, (x if x.flags.c_contiguous else x.copy(),), out)
    return out


def product_dtype(A: MatrixStorage, x: Any, semiring: Semiring) -> np.dtype[Any]:
    """The type of ``A ⊕.⊗ x``."""
    return _planned(A, x, semiring)[1].dtype


def multiply_dense(A: MatrixStorage, X: Any) -> Any:
    """``A @ X``, of shape (m, k), for an array ``X`` of shape (n, k) on the matrix's device."""
    X, plan = _planned(A, X, _PLUS_TIMES)
    rows, columns = A.shape
    if len(X) != columns:
        raise ValueError(f"A of shape {A.shape} cannot be multiplied by an array of shape {X.shape}")
    if X.shape[1] == 1:
        return multiply(A, X[:, 0]).reshape(rows, 1)
    out = plan.empty((rows, X.shape[1]), plan.dtype)
    if out.size:
        X = X if X.flags.c_contiguous else X.copy()
        plan.backend.pull_dense(plan.stored, plan.gather, plan.reduce, (X,), out)
    return out


def _planned(A: MatrixStorage, x: Any, semiring: Semiring) -> tuple[Any, _Plan]:
    """An array in the form that kernels require, and the plan of a product for its type."""
    A.require_here()
    try:
        return x, A._plans[semiring, x.dtype]
    except KeyError:
        x = as_operand(x, "x", A.device)
    stored = A.rows
    code = plan(semiring, stored.dtype, x.dtype)
    found = _Plan(stored, *code, kernels(A.device), array_module(A.device).empty)
    A._plans[semiring, x.dtype] = found
    return x, found
