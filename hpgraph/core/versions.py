"""Versions of the library, of its dependencies, and of the machine."""

import importlib.metadata
import os
import platform
import sys
from typing import Any

from hpgraph.core.config import config
from hpgraph.core.device import require_cupy
from hpgraph.core.errors import DeviceError, MissingExtraError

_PACKAGES = (
    "numpy", "scipy", "numba", "llvmlite", "tbb", "tqdm", "networkx", "pandas", "polars", "pyarrow", "matplotlib",
    "dask", "distributed", "cupy-cuda12x", "cupy-cuda13x", "numba-cuda", "cuda-core",
)  # fmt: skip


def show_versions(file: Any = None) -> None:
    """Print what a bug report should contain: versions, the machine, settings, GPUs.

    Parameters
    ----------
    file : file object, optional
        Destination; standard output by default.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.show_versions()
    hpgraph: ...
    """
    facts = {
        "hpgraph": own_version(),
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "cores": f"{config.threads} threads of {os.cpu_count()}",
        "gpu": _gpus(),
        **{package: _version(package) for package in _PACKAGES},
        "config": repr(config),
    }
    for name, value in facts.items():
        print(f"{name}: {value}", file=file)


def own_version() -> str:
    """The version of the library, which need not be installed."""
    return sys.modules["hpgraph"].__version__  # type: ignore[no-any-return]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _gpus() -> str:
    try:
        runtime = require_cupy().cuda.runtime
    except (MissingExtraError, DeviceError) as error:
        return f"none ({error})"
    names = [runtime.getDeviceProperties(number)["name"].decode() for number in range(runtime.getDeviceCount())]
    return f"{', '.join(names)}; driver {runtime.driverGetVersion()}, runtime {runtime.runtimeGetVersion()}"
