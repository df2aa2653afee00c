"""Arrays and graphs on the device under test, and back."""

from typing import Any

import numpy as np

import hpgraph as hpg
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


def graph(csr: Any, device: str = "cpu") -> hpg.Graph:
    """The directed graph of a matrix, on the device."""
    return hpg.Graph(csr, directed=True).to(device)


def tree_of(found: Any) -> tuple[Any, Any]:
    """Levels and parents of a search as NumPy's; None for parents that were not asked for."""
    return host(found.level), None if found.parent is None else host(found.parent)
