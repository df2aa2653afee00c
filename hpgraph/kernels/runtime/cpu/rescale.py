"""The end of an iteration that divides by a length."""

from __future__ import annotations

from typing import Any

import numpy as np


def rescale(values: Any, factor: float, before: Any) -> float:
    """Multiply an array by a number, and sum up how far that is from another.

    Parameters
    ----------
    values : float32 or float64 array of shape (n,), n > 0
        Multiplied in place.
    factor : float
    before : array of the same type and shape
        Of no use afterwards.

    Returns
    -------
    float
        The sum of all absolute differences, in double precision.

    Examples
    --------
    >>> values = np.array([1.0, 2.0])
    >>> rescale(values, 0.5, np.array([1.0, 0.0])), values
    (1.5, array([0.5, 1. ]))
    """
    values *= values.dtype.type(factor)
    before -= values
    return float(np.abs(before, out=before).sum(dtype=np.float64))
