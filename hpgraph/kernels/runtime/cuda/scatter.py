"""Writes to places of an array that come from data, where several may meet."""

from __future__ import annotations

from typing import Any

import numpy as np


def minimum_at(target: Any, at: Any, values: Any) -> None:
    """`hpgraph.kernels.runtime.cpu.scatter.minimum_at` on the GPU."""
    import cupyx

    # CuPy's atomic minimum knows 64-bit integers without a sign only.
    cupyx.scatter_min(target.view(np.uint64), at, values.view(np.uint64))
