"""The write-back that ends every operation whose result is a vector, out⟨mask⟩ accum= result: `write`, for vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algebra.dense_operands import as_mask, check_accum
from hpgraph.containers.public import vector_of_values
from hpgraph.containers.vector import VectorStorage
from hpgraph.formats import Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import BinaryOp, get_binary
from hpgraph.semiring.entry import entry_function


def write_vector(
    result: VectorStorage,
    out: Any,
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
    replace: bool = False,
) -> VectorStorage:
    """Write a vector to `out` with mask and accumulator, as for `Matrix.mxv`.

    ``out`` is written in place and keeps its type; None makes a new vector.
    """
    allowed = check_write_vector(result.size, result.dtype, result.device, out, mask, complement, accum)
    if out is None:
        return result if allowed is None else vector_of_values(result.values, result.structure & allowed)
    return write_allowed(result, out, allowed, None if accum is None else get_binary(accum), replace)


def write_allowed(
    result: VectorStorage, out: Any, allowed: Bitmask | None, accum: BinaryOp | None, replace: bool = False
) -> Any:
    """`write_vector` after its checks; `allowed`: the entries that may be written, None for all."""
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
    # A vector that had every entry keeps them unless some are dropped, which waits for the device to know.
    out._present = None if final is None or (held is None and final.count() == final.n) else final
    return out


def structure_after(
    held: Bitmask | None, given: Bitmask, allowed: Bitmask | None, joined: bool, replace: bool
) -> Bitmask | None:
    """The structure of a vector after a write; None means all entries.

    ``held``: its structure before; ``given``: that of the result; ``allowed``: the mask; ``joined``: whether there is
    an accumulator, which keeps entries that the result lacks.
    """
    if joined:
        after = None if held is None else held | given
        if not replace or allowed is None:
            return after
        return allowed if after is None else after & allowed
    if allowed is None or replace:
        return given
    kept = ~allowed if held is None else held.and_not(allowed)
    return kept | given


def check_write_vector(
    size: int,
    dtype: np.dtype[Any],
    device: str,
    out: Any,
    mask: Any = None,
    complement: bool = False,
    accum: BinaryOp | str | None = None,
) -> Bitmask | None:
    """The checks of `write_vector`, before the result is computed.

    Returns the entries that may be written; None for all.
    """
    allowed = as_mask(mask, "mask", size, device)
    if complement:
        if allowed is None:
            raise ValueError("complement=True needs a mask to complement")
        allowed = ~allowed
    if out is None:
        if accum is not None:
            raise ValueError("accum joins the result with what out holds: give out as well")
        return allowed
    if not isinstance(out, VectorStorage):
        raise TypeError(f"out must be a Vector, not {type(out).__name__}: wrap it, hpg.Vector(out), and pass that")
    if out.size != size:
        raise ValueError(f"out must have length {size}, that of the result, not {out.size}")
    if out.device != device:
        raise TypeError(f'out lies on "{out.device}" and the result on "{device}": move one of them with .to()')
    if isinstance(out.values, np.ndarray) and not out.values.flags.writeable:
        raise ValueError("out is read-only: give a vector that can be written")
    if accum is not None:
        check_accum(get_binary(accum), out.dtype, dtype)
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(f"a result of type {dtype} cannot be written to out, which is {out.dtype}: give {dtype}")
    return allowed
