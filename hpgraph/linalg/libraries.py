"""The library for a device: `scipy.sparse.linalg` or `cupyx.scipy.sparse.linalg`."""

import importlib
from typing import Any

from hpgraph.core.device import Device, is_cuda


def device_of_operator(A: Any) -> Device:
    """The device on which a matrix, an array or a linear operator multiplies."""
    if is_cuda(A) or type(A).__module__.startswith("cupyx."):
        return "cuda"
    device: Device = getattr(A, "device", "cpu")
    return device if device == "cuda" else "cpu"


def library(A: Any) -> Any:
    """The module of linear algebra for the device of a matrix."""
    return importlib.import_module(
        "scipy.sparse.linalg" if device_of_operator(A) == "cpu" else "cupyx.scipy.sparse.linalg"
    )
