"""Kernels compiled ahead: the packages of data ``hpgraph_kernels_cu13`` and ``cu12``, if one is installed.

`wheels/kernels.py` makes them. An entry is named by the fingerprint of the sources, types and architecture that it was
made of, so that one of another version of the library is never found.
"""

import functools
import importlib.util
from pathlib import Path

from hpgraph.core.device import cuda_extra


@functools.cache
def folder() -> Path | None:
    """Where the kernels for this driver lie; code of CUDA 12 runs by a newer driver, too."""
    releases = ("cu13", "cu12") if cuda_extra() == "cuda13" else ("cu12",)
    for release in releases:
        spec = importlib.util.find_spec(f"hpgraph_kernels_{release}")
        if spec is not None and spec.origin is not None:
            return Path(spec.origin).parent
    return None
