"""Nearest neighbours on the GPU: the algorithm of `hpgraph.kernels.nearest.cpu`."""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet

KERNELS = KernelSet("nearest.cuh", "nearest neighbours", {"<{Real}>": "keep_nearest"})


def keep_nearest(products: Any, squares: Any, row: int, column: int, nearest: tuple[Any, Any]) -> None:
    """`hpgraph.kernels.nearest.Nearest.keep_nearest`."""
    distance, index = nearest
    rows, columns = products.shape
    sizes = (np.int64(size) for size in (rows, columns, row, column))
    k = np.int32(distance.shape[1])
    KERNELS.of(Real=products.dtype).each("keep_nearest", 32 * rows, products, squares, *sizes, k, distance, index)
