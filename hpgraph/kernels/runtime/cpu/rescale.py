"""The end of an iteration that divides by a length."""

from typing import Any

import numpy as np


def rescale(values: Any, factor: float, before: Any) -> float:
    """Multiply a float array by a number in place, and sum up how far that is from another."""
    values *= values.dtype.type(factor)
    before -= values
    return float(np.abs(before, out=before).sum(dtype=np.float64))
