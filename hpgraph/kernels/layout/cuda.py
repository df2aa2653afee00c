"""Barnes and Hut's forces on the GPU: the algorithm of `hpgraph.kernels.layout.cpu`."""

from typing import Any

import numpy as np

from hpgraph.kernels.layout import DEPTH, SIDE_BITS, in_order
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet

KERNELS = KernelSet(
    "barnes_hut.cuh", "layout", {"": "build_tree push_apart find_codes"}, threads=128,
    prologue=f"namespace hpgraph {{ constexpr int DEPTH = {DEPTH}, SIDE_BITS = {SIDE_BITS}; }}",
)  # fmt: skip


def repulsion(points: Any, mass: Any, theta: float) -> Any:
    """`hpgraph.kernels.layout.cpu.repulsion` on the GPU; waits for it, for the extent of the points."""
    import cupy

    n = len(points)
    force = cupy.zeros((n, 2))
    if n < 2:
        return force
    kernels, count = KERNELS.of(), np.int64(n)

    def codes_of(points: Any, corner: Any, inverse: float) -> Any:
        codes = cupy.empty(n, np.int64)
        kernels.each("find_codes", n, points, corner, np.float64(inverse), count, codes)
        return codes

    order, codes, there, mass, sums, side = in_order(cupy.ascontiguousarray(points), mass, codes_of)
    tree = tuple(cupy.empty((4, n - 1), np.int64))
    sides = cupy.empty(n - 1)
    kernels.each("build_tree", n, codes, count, np.float64(side), *tree, sides)
    square = np.float64(theta * theta)
    kernels.each("push_apart", n, *tree, sides, order, there, sums, mass, count, square, force)
    return force
