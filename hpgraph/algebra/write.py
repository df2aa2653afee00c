"""The write-back that ends every operation: out⟨mask⟩ accum= result, for matrices and for vectors.

It is that of the GraphBLAS C API specification (section 2.3, "GraphBLAS operations: masks, accumulators and replace").
Everything is checked before anything is computed or written: an error leaves the output as it was.
"""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.algebra.operands import as_mask, check_accum, check_same_device
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.public import matrix_of_csr, vector_of_values
from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import everywhere, is_cuda, is_sparse_matrix
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.spmv.product_plan import value_dtype
from hpgraph.semiring import BinaryOp, get_binary
from hpgraph.semiring.entry import entry_function


class Target(NamedTuple):
    """The checked target of a write.

    ``out`` (Matrix, Vector or None): written in place, and keeps its type; None makes a new one; ``allowed`` (CSR,
    Bitmask or None): the mask of a matrix, from `as_matrix_mask`; of a vector the entries that may be written; None for
    all; ``complement`` (bool): whether a matrix's mask is complemented; ``accum`` (BinaryOp or None); ``replace``
    (bool).
    """

    out: Any
    allowed: Any
    complement: bool
    accum: BinaryOp | None
    replace: bool

    def write(self, result: Any, *, masked: bool = False) -> Any:
        """Write a CSR with sorted rows, or a Vector; ``masked``: whether it has allowed entries only."""
        if isinstance(result, VectorStorage):
            if self.out is None:
                present = self.allowed
                return result if present is None else vector_of_values(result.values, result.structure & present)
            return write_allowed(result, self.out, self.allowed, self.accum, self.replace)
        out, allowed, complement, accum, replace = self
        new = result if masked else restrict(result, allowed, complement)
        if out is None:
            return matrix_of_csr(new)
        if accum is not None:
            joined = _join(out.csr, new, accum, out.dtype)
            final = restrict(joined, allowed, complement) if replace else joined
        elif allowed is None or replace:
            final = new if new.dtype == out.stored_dtype or out.dtype == np.bool_ else new.astype(out.dtype)
        else:
            final = _join(restrict(out.csr, allowed, not complement), new, get_binary("second"), out.dtype)
        return out._rebind(final)


def target(
    shape: tuple[int, ...], dtype: np.dtype[Any], device: str, mask: Any, complement: bool, accum: Any, replace: bool,
    out: Any,
) -> Target:  # fmt: skip
    """The checked target for a result of the given shape, of one or two dimensions."""
    if len(shape) == 1:
        allowed: Any = as_mask(mask, "mask", shape[0], device)
    else:
        allowed = as_matrix_mask(mask, shape, device)  # type: ignore[arg-type]
    return _checked(shape, dtype, device, allowed, complement, accum, replace, out)


def write(
    result: CSR, out: Any, allowed: CSR | None = None, complement: bool = False, accum: Any = None,
    replace: bool = False, *, masked: bool = False,
) -> Any:  # fmt: skip
    """Check the target and write a matrix with sorted rows."""
    end = _checked(
        result.shape, value_dtype(result.dtype), result.device, allowed, complement, accum, replace, out
    )  # fmt: skip
    return end.write(result, masked=masked)


def _checked(
    shape: tuple[int, ...], dtype: np.dtype[Any], device: str, allowed: Any, complement: bool, accum: Any,
    replace: bool, out: Any,
) -> Target:  # fmt: skip
    if complement and allowed is None:
        raise ValueError("complement=True needs a mask to complement")
    if complement and isinstance(allowed, Bitmask):
        allowed = ~allowed
    op = None if accum is None else get_binary(accum)
    if out is not None:
        _check_out(shape, dtype, device, out, op)
    elif op is not None:
        raise ValueError("accum combines the result with the values of out: give out, too")
    return Target(out, allowed, complement, op, replace)


def _check_out(shape: tuple[int, ...], dtype: np.dtype[Any], device: str, out: Any, accum: BinaryOp | None) -> None:
    name = "Vector" if len(shape) == 1 else "Matrix"
    if not isinstance(out, VectorStorage if len(shape) == 1 else MatrixStorage):
        raise TypeError(f"out must be a {name}, not {type(out).__name__}: wrap it, hpg.{name}(out), and pass that")
    if out.shape != tuple(shape):
        wanted, found = (shape[0], out.shape[0]) if len(shape) == 1 else (tuple(shape), out.shape)
        what = "length" if len(shape) == 1 else "shape"
        raise ValueError(f"out must have {what} {wanted}, that of the result, not {found}")
    check_same_device("out", out.device, "the result", device)
    if isinstance(out, VectorStorage) and isinstance(out.values, np.ndarray) and not out.values.flags.writeable:
        raise ValueError("out is read-only: give a vector that can be written")
    if accum is not None:
        check_accum(accum, out.dtype, dtype)
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(f"a result of type {dtype} cannot be written to out, which is {out.dtype}: give {dtype}")


def _join(held: CSR, result: CSR, op: BinaryOp, dtype: np.dtype[Any]) -> CSR:
    """The union; entries of only one matrix are cast."""
    types = value_dtype(held.dtype), value_dtype(result.dtype)
    both, first, second = (entry_function(get_binary(name), *types, dtype) for name in (op, "first", "second"))
    return kernels(held.device).merge(held, result, both, first, second, dtype)


def write_allowed(
    result: VectorStorage, out: Any, allowed: Bitmask | None, accum: BinaryOp | None, replace: bool = False
) -> Any:
    """Write a vector into another; `allowed`: the entries that may be written, None for all."""
    backend, held, types = kernels(out.device), out.present, (out.dtype, result.dtype, out.dtype)
    given = result.structure if allowed is None else result.structure & allowed
    first, second = (entry_function(get_binary(op), *types) for op in ("first", "second"))
    if accum is not None:
        both = entry_function(accum, *types)
        values = backend.zip_entries(out.values, result.values, held, given, both, first, second, out.dtype)
    else:
        values = backend.zip_entries(out.values, result.values, None, given, second, first, None, out.dtype)
    out.values[...] = values
    final = structure_after(held, given, allowed, accum is not None, replace)
    # A vector without absent entries remains full unless some are dropped; counting them synchronizes the device.
    out._present = None if final is None or (held is None and final.count() == final.n) else final
    return out


def structure_after(
    held: Bitmask | None, given: Bitmask, allowed: Bitmask | None, joined: bool, replace: bool
) -> Bitmask | None:
    """The structure of a vector after a write, None for all entries, by those before, of result and mask."""
    if joined:
        after = None if held is None else held | given
        if not replace or allowed is None:
            return after
        return allowed if after is None else after & allowed
    if allowed is None or replace:
        return given
    kept = ~allowed if held is None else held.and_not(allowed)
    return kept | given


def as_matrix_mask(mask: Any, shape: tuple[int, int], device: str) -> CSR | None:
    """A mask of the result's `shape` as a pattern with sorted rows; None for None, which allows everything."""
    if mask is None:
        return None
    csr = _csr_of(mask)
    if csr.shape != tuple(shape):
        raise ValueError(f"mask must have shape {tuple(shape)}, that of the result, not {csr.shape}")
    check_same_device("mask", csr.device, "the matrix", device)
    return without_zeros(csr).with_data(None)


def _csr_of(mask: Any) -> CSR:
    if isinstance(mask, MatrixStorage):
        return mask.csr
    if is_sparse_matrix(mask):
        return MatrixStorage(mask).csr
    if (isinstance(mask, np.ndarray) or is_cuda(mask)) and mask.dtype == np.bool_ and mask.ndim == 2:
        return MatrixStorage(mask).csr
    raise TypeError(
        f"mask must be a Matrix, a sparse array or a two-dimensional array of bool, not {type(mask).__name__}: for "
        "places whatever their values give A.structure"
    )


def without_zeros(csr: CSR) -> CSR:
    """A matrix without its explicit zeros."""
    if csr.data is None:
        return csr
    if everywhere(csr.data != 0):
        return csr
    kind = value_dtype(csr.dtype)
    return kernels(csr.device).select_entries(csr, entry_function(get_binary("ne"), kind, kind), 0)


def restrict(csr: CSR, mask: CSR | None, complement: bool = False) -> CSR:
    """The entries of a matrix with sorted rows that a mask allows."""
    if mask is None:
        return csr
    keep = entry_function(get_binary("first"), value_dtype(csr.dtype), bool)
    both, left = (None, keep) if complement else (keep, None)
    return kernels(csr.device).merge(csr, mask, both, left, None, csr.dtype)
