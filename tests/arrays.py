"""Arrays on the device under test, and back."""

from typing import Any

import numpy as np

from hpgraph.core.device import to_device


def host(array: Any) -> Any:
    """The array as NumPy's, wherever it lies; what is no array, as one."""
    return np.asarray(to_device(array, "cpu"))


def listed(array: Any) -> Any:
    """The array as a list of Python's numbers; None as it is."""
    return None if array is None else host(array).tolist()


def put(device: str, array: Any) -> Any:
    """The array on the device."""
    return to_device(array, device)
