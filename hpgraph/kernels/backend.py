"""The one place that chooses a backend: which kernels serve a device."""

from __future__ import annotations

import functools
import importlib
from types import ModuleType

from hpgraph.core.device import Device, normalize_device, require_cupy


def kernels(device: str) -> ModuleType:
    """The package of kernels for a device; both have the same functions.

    Parameters
    ----------
    device : {"cpu", "cuda"}
        Which.

    Returns
    -------
    module
        `hpgraph.kernels.cpu` or `hpgraph.kernels.cuda`.

    Raises
    ------
    MissingExtraError, DeviceError
        When CUDA is asked for and cannot be had.
    """
    return _kernels(normalize_device(device))


@functools.cache
def _kernels(device: Device) -> ModuleType:
    if device == "cuda":
        require_cupy()
    return importlib.import_module(f"hpgraph.kernels.{device}")
