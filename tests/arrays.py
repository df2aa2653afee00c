"""Arrays on the device under test, and back."""

from typing import Any

import numpy as np

from hpgraph.core.device import to_device


def host(array: Any) -> Any:
    """The array as NumPy's, wherever it lies; what is no array, as one."""
    return np.asarray(to_device(array, "cpu"))


def put(device: str, array: Any) -> Any:
    """The array on the device."""
    return to_device(array, device)
