"""Cache blocking of multi-source pulls on the GPU: bands of columns whose bits fit the second-level cache.

A pull loads 16 bytes of bits for each neighbour. From beyond the second-level cache such gathers have at most half the
rate, so if the bits of all vertices do not fit it, all rows search the vertices of one band after another.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, attached
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet

KERNELS = KernelSet("column_bands.cuh", "bands of columns", {"<{Index}>": "end_bands"})
# As in source_pull.cuh.
_BANDED = 256
# Bytes of a vertex's bits, and the share of the second-level cache for those of a band.
_BITS, _SHARE = 16, 2 / 3


class Bands(NamedTuple):
    """Their number, and where they end in each row: uint16 of shape (count - 1, n), empty if there is one."""

    number: int
    ends: Any


@cache
def _cache_size(device: int) -> int:
    return int(cupy.cuda.Device(device).attributes["L2CacheSize"])


@attached
def bands(arcs: CSR) -> Bands:
    """The bands of a matrix with sorted rows; cached."""
    n, device = arcs.shape[0], cupy.cuda.runtime.getDevice()
    count = max(1, -(-n * _BITS // int(_SHARE * _cache_size(device))))
    ends = cupy.empty((count - 1, n), np.uint16)
    if count > 1:
        width = -(-arcs.shape[1] // count)
        bounds = np.int64(n), np.int32(count), np.int64(width), np.int32(_BANDED)
        KERNELS.of(Index=arcs.indices.dtype).each("end_bands", n, arcs.indptr, arcs.indices, *bounds, ends)
    return Bands(count, ends)
