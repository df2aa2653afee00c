"""The one place that chooses a backend: which kernels serve a device, and what both of them offer."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Protocol, cast

from hpgraph.core.device import Device, normalize_device, require_cupy
from hpgraph.kernels.betweenness import Betweenness
from hpgraph.kernels.entries import Entries
from hpgraph.kernels.relaxation import Relaxation
from hpgraph.kernels.runtime import Runtime
from hpgraph.kernels.spgemm import MatrixProducts
from hpgraph.kernels.spmv import Products
from hpgraph.kernels.structure import Structure
from hpgraph.kernels.superstep import General
from hpgraph.kernels.sweep import Sweep
from hpgraph.kernels.traversal import Traversal


class Backend(
    Traversal, Relaxation, Sweep, General, Products, MatrixProducts, Entries, Structure, Betweenness, Runtime, Protocol
):  # fmt: skip
    """The contracts of all rooms: `hpgraph.kernels.cpu` and `hpgraph.kernels.cuda` both keep to them."""


if TYPE_CHECKING:
    from hpgraph.kernels import cpu, cuda

    # Here a type checker says where one of them does not.
    _cpu: Backend = cpu
    _cuda: Backend = cuda


def kernels(device: str) -> Backend:
    """The kernels for a device.

    Parameters
    ----------
    device : {"cpu", "cuda"}
        Which.

    Returns
    -------
    Backend
        The module `hpgraph.kernels.cpu` or `hpgraph.kernels.cuda`.

    Raises
    ------
    MissingExtraError, DeviceError
        When CUDA is asked for and cannot be had.
    """
    return _kernels(normalize_device(device))


@functools.cache
def _kernels(device: Device) -> Backend:
    if device == "cuda":
        require_cupy()
    return cast(Backend, importlib.import_module(f"hpgraph.kernels.{device}"))
