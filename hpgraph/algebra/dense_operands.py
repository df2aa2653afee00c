"""Dense operands and masks, as users give them and as kernels take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.containers.vector import VectorStorage
from hpgraph.core.device import is_cuda, native, unmasked
from hpgraph.formats import Bitmask
from hpgraph.formats.checks import as_value_dtype
from hpgraph.semiring import BinaryOp


def as_operand(x: Any, name: str, device: str) -> Any:
    """A dense operand as an array, if it lies on the device and kernels serve its type."""
    x = native(unmasked(x, name))
    if is_cuda(x) != (device == "cuda"):
        place = "GPU" if is_cuda(x) else "CPU"
        move = "cupy.asarray" if device == "cuda" else "cupy.asnumpy"
        raise TypeError(
            f'{name} lies on the {place} and the matrix on "{device}": give {move}({name}), or move the matrix by .to()'
        )
    if device == "cpu":
        x = np.asarray(x)
    kind = as_value_dtype(x.dtype, name)
    return x if kind.isnative else x.astype(kind.newbyteorder("="))


def as_mask(mask: Any, name: str, n: int, device: str) -> Bitmask | None:
    """A mask as a Bitmask of the allowed entries; None for None, which allows everything."""
    if mask is None:
        return None
    if isinstance(mask, Bitmask):
        length, place = mask.n, mask.device
    elif isinstance(mask, VectorStorage):
        length, place = mask.size, mask.device
    elif hasattr(mask, "tocsr"):
        raise TypeError(f"{name} must be a Bitmask, an array of bool or a Vector, not a {type(mask).__name__}")
    else:
        flags = native(unmasked(mask, name))
        flags = flags if is_cuda(flags) else np.asarray(flags)
        if flags.dtype != np.bool_:
            raise TypeError(
                f"{name} must be a Bitmask, an array of bool or a Vector, not an array of {flags.dtype}: "
                f"give {name} != 0, or Bitmask.from_indices for a list of places"
            )
        if flags.ndim != 1:
            raise ValueError(f"{name} must have one dimension, not shape {flags.shape}")
        length, place = len(flags), "cuda" if is_cuda(flags) else "cpu"
    if length != n:
        raise ValueError(f"{name} must have length {n}, that of the result, not {length}")
    if place != device:
        raise TypeError(f'{name} lies on "{place}" and the matrix on "{device}": move one of them with .to()')
    if isinstance(mask, Bitmask):
        return mask
    if isinstance(mask, VectorStorage):
        true = Bitmask.from_bool(mask.values != 0)
        return true if mask.present is None else true & mask.present
    return Bitmask.from_bool(flags)


def check_accum(op: BinaryOp, held: np.dtype[Any], given: np.dtype[Any]) -> None:
    """Refuse an accumulator whose result the output cannot hold."""
    natural = op.result_dtype(held, given)
    # Whole numbers that a Python function returns are int64 whatever they were.
    wraps = op.result == "returned" and natural.kind in "iu" and held.kind in "iu"
    if not wraps and not np.can_cast(natural, held, "same_kind"):
        raise TypeError(f"accum gives {natural}, which cannot be written to out, which is {held}")
