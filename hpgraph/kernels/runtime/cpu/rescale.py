"""The end of an iteration that divides by a length."""

from typing import Any

import numpy as np


def rescale(values: Any, factor: float, before: Any) -> float:
    """Multiply an array by a number, and sum up how far that is from another.

    ``values`` (float32 or float64 array of shape (n,), n > 0): multiplied in place.
    """
    values *= values.dtype.type(factor)
    before -= values
    return float(np.abs(before, out=before).sum(dtype=np.float64))
