"""Cache blocking of multi-source pulls on the GPU: bands of columns whose bits fit the second-level cache.

A pull loads 16 bytes of bits for each neighbour. From beyond the second-level cache such gathers have at most half the
rate, so if the bits of all vertices do not fit it, all rows search the vertices of one band after another.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cuda.compile import load

SOURCE = "column_bands.cuh"
# As in column_bands.cuh and source_pull.cuh.
_THREADS, _BANDED = 256, 256
# Bytes of a vertex's bits, and the share of the second-level cache for those of a band.
_BITS, _SHARE = 16, 2 / 3


class Bands(NamedTuple):
    """Their number, and where they end in each row: uint16 of shape (count - 1, n), empty if there is one."""

    number: int
    ends: Any


@cache
def _cache_size(device: int) -> int:
    import cupy

    return int(cupy.cuda.Device(device).attributes["L2CacheSize"])


def kernel_name(index: str) -> str:
    """The kernel for ids of a C++ type."""
    return f"hpgraph::end_bands<{index}>"


@attached
def bands(arcs: CSR) -> Bands:
    """The bands of a matrix with sorted rows; cached."""
    import cupy

    n, device = arcs.shape[0], cupy.cuda.runtime.getDevice()
    count = max(1, -(-n * _BITS // int(_SHARE * _cache_size(device))))
    ends = cupy.empty((count - 1, n), np.uint16)
    if count > 1:
        width = -(-arcs.shape[1] // count)
        name = kernel_name("int" if arcs.indices.dtype == np.int32 else "long long")
        load(SOURCE, names=(name,), title="bands of columns").function(name)(
            (-(-n // _THREADS),), (_THREADS,),
            (arcs.indptr, arcs.indices, np.int64(n), np.int32(count), np.int64(width), np.int32(_BANDED), ends),
        )  # fmt: skip
    return Bands(count, ends)
