"""Writes to places of an array that come from data, where several may meet."""

from typing import Any

import numpy as np


def minimum_at(target: Any, at: Any, values: Any) -> None:
    """``target[at] = min(target[at], values)``, of int64 numbers not negative; a place may come more than once."""
    np.minimum.at(target, at, values)
