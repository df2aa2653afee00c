"""Writes to places of an array that come from data, where several may meet."""

from typing import Any

import numpy as np


def minimum_at(target: Any, at: Any, values: Any) -> None:
    """Lower entries of an array: ``target[at] = min(target[at], values)``, as `numpy.minimum.at`.

    ``target``: written in place; ``at`` (integer array, shape (m,)): where; a place may come more than once; ``values``
    (int64 array, shape (m,), not negative): what to compare with.
    """
    np.minimum.at(target, at, values)
