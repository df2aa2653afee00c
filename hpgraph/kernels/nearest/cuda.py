"""Nearest neighbours on the GPU: the algorithm of `hpgraph.kernels.nearest.cpu`.

Products in single precision are made by the matrix units, which take factors of 11 bits. A number is the sum of two of
these, and rows of all pairs of them but the least, one after the other, have the product as their own, to single
precision (S. Markidis et al., "NVIDIA tensor core programmability, performance & precision", IPDPSW'18).
"""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet

KERNELS = KernelSet("nearest.cuh", "nearest neighbours", {"<{Real}>": "keep_nearest"})
# Points of a tile, rows and columns: it fills the GPU with work.
TILE = 8192, 16384
# Rows begin at multiples of 16 bytes.
ALIGNED = 4
# Of cuBLAS: row-major operands are column-major transposes.
TRANSPOSED, AS_IT_IS, FLOAT, BY_TF32, ANY_ALGORITHM = 1, 0, 0, 77, -1


def search(points: Any, k: int) -> Any:
    """`hpgraph.kernels.nearest.Nearest.search`."""
    n = len(points)
    rows, columns = (min(n, size) for size in TILE)
    check_memory(points.itemsize * rows * columns + 16 * n * k, "a tile of distances", "cuda")
    squares = (points * points).sum(axis=1)
    distance, index = cupy.full((n, k), np.inf, points.dtype), cupy.zeros((n, k), np.int64)
    left, right = _factors(points)
    room = cupy.empty(rows * columns, points.dtype)
    for row in range(0, n, rows):
        block = left[row : row + rows]
        near = distance[row : row + rows], index[row : row + rows]
        for column in range(0, n, columns):
            others = right[column : column + columns]
            products = room[: len(block) * len(others)].reshape(len(block), len(others))
            _multiply(block, others, products)
            _keep_nearest(products, squares[column : column + columns], row, column, near)
    return index


def _factors(points: Any) -> tuple[Any, Any]:
    """Rows for the left and for the right of `_multiply`, for the products of points with each other."""
    if points.dtype != np.float32:
        return points, points
    n, d = points.shape
    check_memory(9 * points.nbytes, "points in two parts", "cuda")
    # The nearest of 11 bits.
    high = ((points.view(np.int32) + 0x1000) & ~0x1FFF).view(np.float32)
    low = points - high
    left, right = (cupy.zeros((n, -(-3 * d // ALIGNED) * ALIGNED), np.float32) for _ in range(2))
    for at, (one, other) in enumerate(((high, high), (high, low), (low, high))):
        left[:, at * d : (at + 1) * d], right[:, at * d : (at + 1) * d] = one, other
    return left, right


def _multiply(left: Any, right: Any, out: Any) -> None:
    """A tile of products, of each row of `left` with each of `right`, to the precision of their type."""
    if left.dtype != np.float32:
        cupy.matmul(left, right.T, out=out)
        return
    (rows, inner), columns = left.shape, len(right)
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    cupy.cuda.cublas.gemmEx(
        cupy.cuda.get_cublas_handle(), TRANSPOSED, AS_IT_IS, columns, rows, inner, one.ctypes.data,
        right.data.ptr, FLOAT, inner, left.data.ptr, FLOAT, inner, zero.ctypes.data,
        out.data.ptr, FLOAT, columns, BY_TF32, ANY_ALGORITHM,
    )  # fmt: skip


def _keep_nearest(products: Any, squares: Any, row: int, column: int, nearest: tuple[Any, Any]) -> None:
    """Merge a tile of squared distances into the nearest so far.

    ``products`` (floating array of shape (r, c)): of points row.. with points column..; ``squares`` (shape (c,)): of
    the lengths of the latter. ``nearest``: squared distances less the square of the point's own length, ascending,
    infinite at first, and indices, each of shape (r, k). A point is no neighbour of itself.
    """
    distance, index = nearest
    rows, columns = products.shape
    sizes = (np.int64(size) for size in (rows, columns, row, column))
    k = np.int32(distance.shape[1])
    KERNELS.of(Real=products.dtype).each("keep_nearest", 32 * rows, products, squares, *sizes, k, distance, index)
