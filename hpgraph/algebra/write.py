"""The write-back that ends every operation whose result is a matrix: out⟨mask⟩ accum= result.

It is that of the GraphBLAS C API specification (section 2.3, "GraphBLAS operations: masks, accumulators and replace").
Everything is checked before anything is written: an error leaves the output as it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algebra.dense_operands import check_accum
from hpgraph.algebra.mask import restrict
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.public import matrix_of_csr
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.spmv.product_plan import value_dtype
from hpgraph.semiring import BinaryOp, get_binary
from hpgraph.semiring.entry import entry_function


def write(
    result: CSR,
    out: Any,
    mask: CSR | None = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
    *,
    masked: bool = False,
) -> Any:
    """Write a result with sorted rows to `out`, with mask (of `as_matrix_mask`) and accumulator."""
    check_write(result.shape, value_dtype(result.dtype), result.device, out, mask, complement, accum)
    if out is None:
        return matrix_of_csr(result if masked else restrict(result, mask, complement))
    allowed = result if masked else restrict(result, mask, complement)
    held = out.csr
    if accum is not None:
        joined = _join(held, allowed, get_binary(accum), out.dtype)
        final = restrict(joined, mask, complement) if replace else joined
    elif mask is None or replace:
        final = allowed if allowed.dtype == out.stored_dtype or out.dtype == np.bool_ else allowed.astype(out.dtype)
    else:
        final = _join(restrict(held, mask, not complement), allowed, get_binary("second"), out.dtype)
    return out._rebind(final)


def check_write(
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    device: str,
    out: Any,
    mask: CSR | None = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
) -> None:
    """What `write` would refuse, said before the result is computed."""
    if complement and mask is None:
        raise ValueError("complement=True needs a mask to complement")
    if out is None:
        if accum is not None:
            raise ValueError("accum joins the result with what out holds: give out as well")
        return
    if not isinstance(out, MatrixStorage):
        raise TypeError(f"out must be a Matrix, not {type(out).__name__}: wrap it, hpg.Matrix(out), and pass that")
    if out.shape != tuple(shape):
        raise ValueError(f"out must have shape {tuple(shape)}, that of the result, not {out.shape}")
    if out.device != device:
        raise TypeError(f'out lies on "{out.device}" and the result on "{device}": move one of them with .to()')
    if accum is not None:
        check_accum(get_binary(accum), out.dtype, dtype)
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(f"a result of type {dtype} cannot be written to out, which is {out.dtype}: give {dtype}")


def _join(held: CSR, result: CSR, op: BinaryOp, dtype: np.dtype[Any]) -> CSR:
    """The union; entries of one matrix alone pass through a cast."""
    types = value_dtype(held.dtype), value_dtype(result.dtype)
    first, second = (entry_function(get_binary(name), *types, dtype) for name in ("first", "second"))
    made: CSR = kernels(held.device).merge(held, result, entry_function(op, *types, dtype), first, second, dtype)
    return made
